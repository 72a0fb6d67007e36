"""A limit of time that holds in compiled code too: the process ends, and whoever started it sees by which signal."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def watched(seconds: int) -> Iterator[None]:
    """End the process if the block takes more processor time than this: nothing else interrupts compiled code."""
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
