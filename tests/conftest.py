"""Options that all tests share, and the state of the process they start from."""

import signal

import pytest

# A job that a shell starts in the background ignores interrupts, and so does all that it starts; tests of interrupts need them.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="rewrite the results in tests/corpus from what comes out now; read the diff"
    )


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether results of the corpus are rewritten and not compared."""
    return bool(request.config.getoption("--update-goldens"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the fuzz processes of this session did together."""
    from tests.fuzz import summary

    passed = terminalreporter.getreports("passed")
    results = [value for report in passed for name, value in report.user_properties if name == "fuzz"]
    for line in summary.lines(results):
        terminalreporter.write_line(line)
