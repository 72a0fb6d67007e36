"""The engine's property tests at length, with programs that no run has seen before: `make soak`."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential import test_engine_sequential as sequential
from tests.property import test_engine_slices as slices
from tests.property import test_engine_snapshots as snapshots
from tests.support.generated_programs import machines
from tests.support.sequential import programs

LENGTHY = settings(max_examples=400, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
MACHINES = machines(20)
TESTS: dict[Callable[..., None], tuple[st.SearchStrategy[Any], ...]] = {
    sequential.test_threads_compute_what_they_would_alone: (
        programs(20), st.integers(0, 2**16), st.sampled_from(sequential.BOARDS)),
    slices.test_single_cycles: (MACHINES,),
    slices.test_uneven_slices: (MACHINES, st.lists(st.integers(1, 60), min_size=10, max_size=60)),
    slices.test_stepping_equals_running: (MACHINES, st.data()),
    slices.test_a_predicate_after_every_commit_changes_nothing: (MACHINES,),
    slices.test_breakpoints_change_nothing: (MACHINES, st.integers(0, 100), st.integers(0, 2**16)),
    slices.test_every_cycle_is_accounted_for: (MACHINES, st.lists(st.integers(1, 700), min_size=1, max_size=5)),
    snapshots.test_run_restore_run: (MACHINES, st.integers(0, 600), st.integers(1, 600)),
    snapshots.test_going_back_and_forth: (MACHINES, st.lists(st.integers(0, 900), min_size=2, max_size=6)),
}


@pytest.mark.soak
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.__name__)
def test_at_length(test: Callable[..., None]) -> None:
    LENGTHY(given(*TESTS[test])(test.hypothesis.inner_test))()         # type: ignore[attr-defined]
