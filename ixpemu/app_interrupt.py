"""An interrupt from the keyboard as a question that a run asks between two slices, so that nothing is left half done.

Python raises KeyboardInterrupt wherever it happens to be: between a frame taken out of the engine and the note that it was taken,
for instance, after which a capture would hold it twice. No run is here; whoever runs decides what an interrupt ends.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """A function that says whether the user has interrupted the program since. A second interrupt acts as Python's own.

    Outside of the main thread, or where somebody else has taken the signal over, nothing is changed and the answer is no.
    """
    seen = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        if seen:
            signal.default_int_handler(number, frame)
        seen = True

    def answer() -> bool:
        return seen

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield answer
        return
    try:
        signal.signal(signal.SIGINT, note)
    except ValueError:          # only the main thread may say what a signal does
        yield answer
        return
    try:
        yield answer
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
