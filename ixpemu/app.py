"""An application folder (`app.toml`, microcode, its XScale side in Python) made into a ready chip, and run.

The only module that sees both the assembler and the chip. It reads nothing of `app.toml` itself (that is
`ixpemu.app_file`), makes no figures (`ixpemu.app_figures`) and prints nothing (`ixpemu.report`).

Order of a start, all before cycle 0: the chip is made from its chip file and the overrides; every image is assembled; an `XScale` is
made; `xscale.load(me, image)` puts each image into its microengine without starting it; the module's `setup(xscale)` lays out
rings, free lists and tables; ports get their captures; `xscale.start()` enables the contexts of the loaded microengines.

What the XScale module of an application (`xscale = { module = "control.py" }`) holds; all three names are optional:

`setup(xscale)`
    Called once. `xscale.tables` maps each name under `tables` to the path of its file, `xscale.ports` is a tuple of
    `PortSettings` (number, gbps, mac), `xscale.images` maps a microengine index to its `Image`.
`handlers`
    A dict from the name of an interrupt source to a function `handler(xscale)`, called at the interrupt's exact cycle.
`classify(frame)`
    Bytes of a frame as it arrived to the name of its packet type; any function named by `packets.classifier`
    as `module:function` will do, `module` being a file of the folder without its `.py`.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ixpemu import app_file, codes
from ixpemu.app_file import AppSettings
from ixpemu.diagnostics import Diagnostic, Origin, Span, UserError, user_error
from ixpemu.toml_file import closest

if TYPE_CHECKING:
    from ixpemu.chip import Chip, Stop
    from ixpemu.image import Image
    from ixpemu.trace import RunReport
    from ixpemu.xscale import XScale

Progress = Callable[[float, str], None]
Announce = Callable[[str], None]
SLICE_CYCLES = 2_000_000        # chip cycles between two looks at the progress; a fraction of a second


def load_module(path: Path) -> ModuleType:
    """The Python file at `path`, executed. What goes wrong in it is reported at its line in that file."""
    name = f"ixpemu_application_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise user_error(codes.APP_MODULE, f"{path} is no Python file", file=str(path))
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
            codes.APP_MODULE, f"{path.name} cannot be imported: {error}", file=str(path), help="install what it imports"
        ) from error
    return module


def _function(path: Path, name: str, origin: Origin | None = None) -> Callable[..., Any]:
    module = load_module(path)
    found = getattr(module, name, None)
    if not callable(found):
        near = closest(name, [key for key in vars(module) if not key.startswith("_")])
        raise UserError(Diagnostic(
            codes.APP_MODULE, f"{path.name} has no function {name!r}", origin=origin or Origin(Span(str(path), 1)),
            help=f"did you mean {near!r}?" if near else "define it there, or name another one",
        ))
    return found  # type: ignore[no-any-return]
