"""The Python files of an application: executed from their path, and what goes wrong in them told at its place.

They are the application's own code and run with the user's rights, like any program that is started.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Note, Origin, Span, UserError, user_error
from ixpemu.toml_file import closest


@contextmanager
def application_code(folder: Path) -> Iterator[None]:
    """Around whatever may call an application's own Python: an exception that passed through a file of `folder` becomes a
    UserError with its place there, and a UserError without a place gets that place as a note.

    Exceptions that did not pass through the application are left as they are: they are not its fault.
    """
    try:
        yield
    except UserError as error:
        place = _place(error, folder)
        if place is None:
            raise
        found = [
            each if each.origin is not None else replace(each, notes=(*each.notes, Note("caused here", place[0])))
            for each in error.diagnostics
        ]
        raise type(error)(*found) from error
    except (Exception, SystemExit) as error:
        place = _place(error, folder)
        if place is None:
            raise
        what = "ends the program" if isinstance(error, SystemExit) else f"raised {type(error).__name__}"
        text = " ".join(str(error).split())
        origin, inner = place
        raise UserError(Diagnostic(
            codes.APP_MODULE, f"{Path(origin.span.file).name} {what}{': ' if text else ''}{text}", origin=origin,
            help="correct it there; docs/applications.md says what such a file holds",
            notes=() if inner is None else (Note("the exception comes from here", inner),),
        )) from error


def _place(error: BaseException, folder: Path) -> tuple[Origin, Origin | None] | None:
    """The innermost line of the application that `error` passed through, and where outside of it the error was raised, if it was.
    None where no line of the application was involved."""
    home = folder.resolve()
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if home in Path(frame.filename).resolve().parents]
    if not own:
        return None

    def origin(frame: traceback.FrameSummary) -> Origin:
        start = frame.colno if frame.colno is not None else 0
        length = frame.end_colno - start if frame.end_colno is not None and frame.end_lineno == frame.lineno else 1
        file = Path(frame.filename).resolve()
        shown = folder / file.relative_to(home) if home in file.parents else file
        return Origin(Span(str(shown), frame.lineno or 1, start + 1, max(1, length)))

    return origin(own[-1]), None if own[-1] is frames[-1] else origin(frames[-1])


def load_module(path: Path) -> ModuleType:
    """The Python file at `path`, executed. UserError where it cannot be read, does not compile or what it imports is missing;
    what else it raises is its caller's (`application_code`)."""
    spec = importlib.util.spec_from_file_location(f"ixpemu_application_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise user_error(codes.APP_MODULE, f"{path} is no Python file", file=str(path), help="its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module             # where data classes look for their module while it is executed
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise user_error(
            codes.APP_MODULE, f"{path.name} does not compile: {error.msg}", file=str(path), line=error.lineno or 1,
            column=error.offset or 1, help="mend the file",
        ) from error
    except ImportError as error:
        raise user_error(
            codes.APP_MODULE, f"{path.name} cannot be loaded: {error}", file=str(path), help="install what it imports"
        ) from error
    except OSError as error:
        if error.filename != str(path):
            raise
        raise user_error(
            codes.FILE_UNREADABLE, f"cannot read {path}: {(error.strerror or str(error)).lower()}", file=str(path),
            help="check its permissions",
        ) from error
    return module


def function_of(module: ModuleType, path: Path, name: str, argument: str, origin: Origin | None = None) -> Callable[..., Any]:
    """The function `name` of a module that was loaded from `path`, which takes one `argument`. `origin` is where it is named."""
    if not hasattr(module, name):
        near = closest(name, [key for key, value in vars(module).items() if callable(value)])
        raise UserError(Diagnostic(
            codes.APP_MODULE, f"{path.name} has no function {name!r}", origin=origin or Origin(Span(str(path), 1)),
            help=f"did you mean {near!r}?" if near else "define it there, or name another one",
        ))
    return checked(getattr(module, name), path, name, argument)


def handlers_of(module: ModuleType, path: Path, sources: Collection[str]) -> dict[str, Callable[..., Any]]:
    """The `handlers` of a module, by name of an interrupt source; none where it has none."""
    found = getattr(module, "handlers", {})
    place = Origin(Span(str(path), 1))
    if not isinstance(found, Mapping):
        raise UserError(Diagnostic(
            codes.APP_MODULE, f"handlers of {path.name} is no dict but {found!r:.60}", origin=place,
            help='write  handlers = {"thread_a": function}',
        ))
    for source in found:
        if source not in sources:
            near = closest(str(source), sources)
            raise UserError(Diagnostic(
                codes.APP_MODULE, f"handlers of {path.name}: there is no interrupt source {source!r}", origin=place,
                help=f"did you mean {near!r}?" if near else f"one of {', '.join(sources)}",
            ))
    return {source: checked(function, path, f"handlers[{source!r}]", "xscale") for source, function in found.items()}


def hooks_of(module: ModuleType, path: Path) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """The functions `snapshot` and `restore` of a module; None where it has neither."""
    there = [name for name in ("snapshot", "restore") if hasattr(module, name)]
    if len(there) == 1:
        missing = "restore" if there == ["snapshot"] else "snapshot"
        raise UserError(Diagnostic(
            codes.APP_MODULE, f"{path.name} has {there[0]!r} and no {missing!r}", origin=Origin(Span(str(path), 1)),
            help="what one saves the other has to put back: define both, or none",
        ))
    if not there:
        return None
    return checked(module.snapshot, path, "snapshot", "xscale"), checked(module.restore, path, "restore", "xscale", "saved")


def checked(found: Any, path: Path, name: str, *wanted: str) -> Callable[..., Any]:
    """What a module calls `name`, if it is a function that can be called with so many arguments. UserError if not."""
    origin = Origin(Span(str(path), 1))
    if callable(found):
        code = getattr(found, "__code__", None)
        if code is not None and Path(code.co_filename).resolve() == path.resolve():
            origin = Origin(Span(str(path), code.co_firstlineno))
        try:
            inspect.signature(found).bind(*wanted)
        except TypeError:
            pass
        except ValueError:          # a function without a signature that Python knows, such as some built-in ones
            return found  # type: ignore[no-any-return]     # callable() is all that can be known of it
        else:
            if not inspect.iscoroutinefunction(found):
                return found  # type: ignore[no-any-return]     # the same
    count = "one argument" if len(wanted) == 1 else f"{len(wanted)} arguments"
    raise UserError(Diagnostic(
        codes.APP_MODULE, f"{name} of {path.name} is no function of {count}", origin=origin,
        help=f"write  def {name if name.isidentifier() else 'function'}({', '.join(wanted)}):",
    ))
