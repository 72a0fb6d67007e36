"""The support table: it names everything that isa/ has and plans, and refuses a list of features that says nonsense."""

from pathlib import Path

import pytest

from ixpemu.diagnostics import UserError
from ixpemu.isa import instruction_set
from ixpemu.isa.support import support_page


def test_every_instruction_is_listed_once_as_there_or_not() -> None:
    isa = instruction_set()
    page = support_page(isa)
    for name in isa.mnemonics():
        assert f"`{name}`" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    missing = {line.split("`")[1] for line in rows if line.split(" | ")[1] == "no"}
    assert missing == isa.planned and not missing & set(isa.mnemonics())


@pytest.mark.parametrize(("row", "said"), [
    ('x = { state = "maybe", timed = "no", confidence = "H" }', "state"),
    ('x = { state = "yes", timed = "no", confidence = "sure" }', "confidence"),
    ('x = { state = "yes", timed = "no" }', "confidence"),
    ('x = { state = "yes", timed = "no", confidence = "H", wanted = 1 }', "wanted"),
])
def test_a_list_of_features_that_says_nonsense_is_refused(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "features.toml"
    path.write_text(f"[units]\n{row}\n")
    with pytest.raises(UserError, match=said):
        support_page(instruction_set(), path)
