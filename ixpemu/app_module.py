"""The Python files of an application: executed from their path, and what goes wrong in them told at its place.

They are the application's own code and run with the user's rights, like any program that is started.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError, user_error
from ixpemu.toml_file import closest


def load_module(path: Path) -> ModuleType:
    """The Python file at `path`, executed. UserError where it does not compile or what it imports is missing."""
    spec = importlib.util.spec_from_file_location(f"ixpemu_application_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise user_error(codes.APP_MODULE, f"{path} is no Python file", file=str(path), help="its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
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
    return module


def function_of(module: ModuleType, path: Path, name: str, origin: Origin | None = None) -> Callable[..., Any]:
    """The function `name` of a module that was loaded from `path`. `origin` is where it is named."""
    found = getattr(module, name, None)
    if not callable(found):
        near = closest(name, [key for key in vars(module) if not key.startswith("_")])
        raise UserError(Diagnostic(
            codes.APP_MODULE, f"{path.name} has no function {name!r}", origin=origin or Origin(Span(str(path), 1)),
            help=f"did you mean {near!r}?" if near else "define it there, or name another one",
        ))
    return found  # type: ignore[no-any-return]     # callable() is all that can be known of it
