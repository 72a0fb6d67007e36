"""Compiled equals uncompiled: the same machine in both, all of its state compared by name."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ixpemu.engine.jit import COMPILED
from tests.support.generated_programs import Machine, machines
from tests.support.uncompiled import Uncompiled, outcome

pytestmark = pytest.mark.skipif(not COMPILED, reason="this process has no compiled engine to compare")
CYCLES = 500
EXECUTED: list[int] = []


@pytest.fixture(scope="module")
def uncompiled() -> Iterator[Uncompiled]:
    with Uncompiled() as process:
        yield process


# A failure is not made smaller: each attempt takes the uncompiled engine a second, and the names of the parts say where to look.
@settings(max_examples=14, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(machine=machines(), length=st.sampled_from([0, 0, 1, 7]), watched=st.booleans())
def test_the_same_state(uncompiled: Uncompiled, machine: Machine, length: int, watched: bool) -> None:
    """And, where they are watched, the same records of what happened."""
    compiled = outcome(machine, CYCLES, length, watched)
    EXECUTED.append(int(compiled["instructions"]))
    other = uncompiled.outcome(machine, CYCLES, length, watched)
    assert {name for name in compiled.keys() | other.keys() if compiled.get(name) != other.get(name)} == set()


def test_enough_was_compared() -> None:
    """The comparison would prove nothing if the programs did not run; and uncompiled instructions are slow."""
    if not EXECUTED:
        pytest.skip("nothing was compared in this process")
    assert 1_000 < sum(EXECUTED) < 30_000
