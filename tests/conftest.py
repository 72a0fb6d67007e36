"""Options that all tests share."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="rewrite the results in tests/corpus from what comes out now; read the diff"
    )


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether results of the corpus are rewritten and not compared."""
    return bool(request.config.getoption("--update-goldens"))
