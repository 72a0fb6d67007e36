"""What the sub-commands share: printing, rendering of diagnostics with their source lines, arguments of the form KEY=VALUE.

No command is defined here.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Severity, Sources, UserError, as_json, one_line, render
from ixpemu.files import MOST_TEXT, decode, read_bytes, split_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ixpemu.isa.chipfile import ChipParameters

ENTRY = "core.run_slice"      # the compiled function that is compiled last
OBSERVED_ENTRY = "core.run_slice_observed"
PIPE_WIDTH = 140            # columns when the output is no terminal: wide enough for every table
MESSAGE_FORMS = ("full", "short", "json", "sarif")


def usage_error(message: str, help: str | None = None) -> UserError:
    """A wrong argument: exit code 2."""
    return UserError(Diagnostic(codes.ARGUMENT, message, help=help))


def show(renderable: RenderableType) -> None:
    """Prints a renderable on standard output, without colour and at a fixed width where that is no terminal."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(renderable)
        return
    text = StringIO()
    Console(file=text, width=PIPE_WIDTH, highlight=False, color_system=None).print(renderable)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines()))


def write_standard(content: bytes) -> None:
    """Writes bytes on standard output."""
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(content.decode("utf-8", "replace"))        # a stand-in for text alone, or one that refuses both
        return
    binary.write(content)
    binary.flush()


def read_standard() -> bytes:
    """What comes on standard input, up to the size of a text."""
    if sys.stdin is None or sys.stdin.isatty():
        raise usage_error("standard input is no file", "give one, as in  ixpemu asm FILE.uc -o - | ixpemu dis -")
    content = sys.stdin.buffer.read(MOST_TEXT + 1)
    if len(content) > MOST_TEXT:
        raise UserError(Diagnostic(codes.FILE_UNREADABLE, f"standard input is longer than {MOST_TEXT >> 20} MB"))
    return content


def show_json(values: Any) -> None:
    """Prints JSON values on standard output."""
    sys.stdout.write(json.dumps(values, indent=2) + "\n")


def sources_of(diagnostics: Iterable[Diagnostic]) -> Sources:
    """The lines of every text that the diagnostics speak of, as far as they can be read."""
    sources = Sources()
    for diagnostic in diagnostics:
        for origin in (diagnostic.origin, *(note.origin for note in diagnostic.notes)):
            if origin is None or origin.span.file in sources.lines:
                continue
            try:
                text = decode(read_bytes(origin.span.file, MOST_TEXT))
            except UserError:
                text = ""
            # A file with NULs is no text (a capture, an image): its "lines" would say nothing.
            sources.lines[origin.span.file] = split_lines(text) if text and "\0" not in text else ()
    return sources


def message_form(form: str) -> str:
    """A form of messages that there is; a usage error for another one."""
    if form not in MESSAGE_FORMS:
        raise usage_error(f"there are no messages of the form {form!r}", f"one of {', '.join(MESSAGE_FORMS)}")
    return form


def show_diagnostics(diagnostics: Sequence[Diagnostic], form: str = "full", stream: TextIO | None = None) -> None:
    """Writes diagnostics to standard error, or `stream`, in one of the forms.

    `full` has source lines, coloured on a terminal, and once for all of them how to learn more. `json` and `sarif` are one
    document, also where there is nothing to say.
    """
    out = sys.stderr if stream is None else stream
    if form == "json":
        out.write(json.dumps({"diagnostics": as_json(diagnostics)}, indent=2) + "\n")
    elif form == "sarif":
        from ixpemu import __version__
        from ixpemu.sarif import sarif_log

        out.write(json.dumps(sarif_log(diagnostics, __version__), indent=2) + "\n")
    elif form == "short":
        out.write("".join(one_line(diagnostic) + "\n" for diagnostic in diagnostics))
    else:
        _show_full(diagnostics, out)


def _show_full(diagnostics: Sequence[Diagnostic], out: TextIO) -> None:
    sources = sources_of(diagnostics)
    texts = [render(diagnostic, sources) for diagnostic in diagnostics]
    told = [found for found in diagnostics if not _wrong_usage(found)]
    if told:
        texts.append(f"more: {more(told)}")
    if out.isatty() and texts:
        from rich.console import Console

        from ixpemu.cli_messages import coloured

        console = Console(file=out, highlight=False, soft_wrap=True)
        for text in texts:
            console.print(coloured(text))
    else:
        out.write("".join(f"{text}\n" for text in texts))


def more(diagnostics: Sequence[Diagnostic]) -> str:
    """The command that explains the diagnostics; where they have several codes, that of the first error as an example."""
    first = next((found for found in diagnostics if found.severity is Severity.ERROR), diagnostics[0])
    return first.explain + (" (or another code)" if len({found.code for found in diagnostics}) > 1 else "")


def report_error(error: UserError, form: str = "full") -> int:
    """Shows the error and gives the exit code that goes with it."""
    show_diagnostics(error.diagnostics, form)
    return 2 if any(_wrong_usage(found) for found in error.diagnostics) else 1


def _wrong_usage(found: Diagnostic) -> bool:
    """Whether the mistake is on the command line: what is wrong in a file has a place there."""
    arguments = (codes.ARGUMENT, codes.APP_OVERRIDE, codes.TRAFFIC_UNKNOWN, codes.LINE_RATE, codes.CHIP_PARAMETER)
    return found.code in arguments and found.origin is None


def failed_json(error: UserError) -> dict[str, object]:
    """What `--json` prints when there is nothing but diagnostics to print."""
    return {"diagnostics": as_json(error.diagnostics)}


def key_values(option: str, texts: Sequence[str], form: str = "KEY=VALUE") -> dict[str, str]:
    """`KEY=VALUE` arguments as a dict. Raises a usage error for one without `=`, or a key given twice."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise usage_error(f"{option} {text!r} is not of the form {form}", f"write  {option} {form}")
        if key.strip() in pairs:
            raise usage_error(f"{option} gives {key.strip()!r} twice", "leave one out")
        pairs[key.strip()] = value.strip()
    return pairs


def port_files(option: str, texts: Sequence[str], ports: int) -> dict[int, Path]:
    """`PORT=FILE` arguments by port number."""
    files: dict[int, Path] = {}
    for key, value in key_values(option, texts, "PORT=FILE").items():
        if not re.fullmatch("[0-9]+", key) or int(key) >= ports or not value:
            what = "no file is named" if not value else f"there is no port {key!r}"
            raise usage_error(f"{option} {key}={value}: {what}", f"write  {option} PORT=FILE, PORT from 0 to {ports - 1}")
        if int(key) in files:
            raise usage_error(f"{option} gives port {int(key)} twice", "leave one out")
        files[int(key)] = Path(value)
    return files


def number(text: str) -> int | None:
    """A whole number as programmers write it: decimal, 0x..., 0b..., with underscores; None where it is none."""
    try:
        return int(text, 0)
    except ValueError:
        return None


def announce(text: str) -> None:
    """One line of progress on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def compile_engine(observed: bool = False, parameters: ChipParameters | None = None) -> None:
    """Compiles the engine into the user's cache unless that is done, and says so, since it takes a while.

    `observed`: the variant for chips that somebody watches, too. `parameters`: of the chip that will run; one of another layout
    than an IXP2400's has code of its own.
    """
    from ixpemu.engine.jit import COMPILED

    if not COMPILED:
        return
    from ixpemu.engine import kept_code

    if kept_code.MESSAGE is not None:
        announce(kept_code.MESSAGE)
    from ixpemu.bench.worker import compile_all
    from ixpemu.engine.state import LARGE, layout_for

    size = None if parameters is None else layout_for(parameters["chip.microengines"], parameters["chip.control_store_words"])
    if size == LARGE:
        kept = f"layout-{size[0]}-{size[1]}" + ("-observed" if observed else "")
        if not kept_code.noted(kept):
            announce("compiling the engine for a chip of this size, about half a minute, once per installation")
            compile_all(observed, parameters)
            kept_code.note(kept)
        return
    missing = [entry for entry in (ENTRY, *((OBSERVED_ENTRY,) if observed else ())) if not kept_code.holds(entry)]
    if not missing:
        return
    what = "the engine" if ENTRY in missing else "the engine that watches"
    announce(f"compiling {what} for this machine, about half a minute, once per installation")

    started = time.perf_counter()
    compile_all(observed)
    announce(f"compiled in {time.perf_counter() - started:.0f} s")
    if kept_code.MESSAGE is None and not all(map(kept_code.holds, missing)):
        announce(f"the compiled code could not be kept in {kept_code.FOLDER} (no room?); the next run compiles again")


@contextmanager
def progress_bar(shown: bool) -> Iterator[Callable[[float, str], None]]:
    """A function that takes the share done (0 to 1) and a word about it; a bar on standard error, or nothing."""
    if not shown:
        yield lambda share, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    ) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda share, text: bar.update(task, completed=share, description=text)
