"""Generated files are what they are made from."""

from tests import fresh


def test_generated_files_are_fresh() -> None:
    assert fresh.stale() == []
