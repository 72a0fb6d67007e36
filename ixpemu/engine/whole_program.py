"""How the engine is compiled: all of it as one LLVM module behind each entry, instead of numba's module per function.

numba optimises and generates machine code for every function by itself, each with all it calls linked in; for a program of 160
small functions of which only two are ever called from Python that is most of the compile time, and LLVM never sees that a
function has a single caller. Here an inner function is only lowered to LLVM's language; an entry links them all, makes
everything but itself internal, and is optimised once. A switch is a constant of that module: each entry says what it is, and what
it turns off is gone before anything is optimised. Uses numba's documented compiler pipelines; what of numba's classes is
relied on beyond that is in this one file.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import _dynfunc, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic

from ixpemu.engine.branch_profile import WeightedLower

_SWITCH = "ixpemu_switch_"


def switch(name: str) -> Callable[[], bool]:
    """What `jit.switch` gives to compiled functions: it reads a constant that the entry's module defines."""

    def read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        symbol = _SWITCH + name
        place = builder.module.globals.get(symbol)
        if place is None:
            place = ir.GlobalVariable(builder.module, ir.IntType(8), symbol)
            place.global_constant = True
        return builder.icmp_unsigned("!=", builder.load(place), ir.Constant(ir.IntType(8), 0))

    @intrinsic  # type: ignore[untyped-decorator]
    def value(typing_context: Any) -> Any:
        return types.boolean(), read

    return value  # type: ignore[no-any-return]


def _set_switches(library: Any, on: tuple[str, ...]) -> None:
    """Define the switches that a linked module asks for: those named in `on` are 1, all others 0."""
    wanted = [place.name for place in library._final_module.global_variables if place.name.startswith(_SWITCH)]
    text = "".join(f"@{name} = constant i8 {int(name.removeprefix(_SWITCH) in on)}\n" for name in wanted)
    library._final_module.link_in(binding.parse_assembly(text))
    for name in wanted:
        library._final_module.get_global_variable(name).linkage = "internal"


def _refuse(*_: Any) -> None:
    raise TypeError("this function is compiled for compiled callers only; Python enters the engine through its entries")


# numba identifies a compiled function by a callable built-in; this is what those of inner functions would run.
_REFUSE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(_refuse)


def _link(library: Any) -> None:
    """Put everything that a library calls into its module."""
    seen = set()
    for other in library._linking_libraries:
        if id(other) not in seen:
            seen.add(id(other))
            library._reload_init.update(other._reload_init)
            library._final_module.link_in(other._get_module_for_linking(), preserve=True)


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):  # type: ignore[misc]     # numba has no types
    """Lowers a function that only compiled code calls: no machine code of its own."""

    _name = "ixpemu_part_lowering"
    lowering_class = WeightedLower

    def run_pass(self, state: Any) -> bool:
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)

        def finalize() -> None:
            _link(library)
            library._finalized = True

        library.finalize = finalize
        state.library = library
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]

        placeholder = _dynfunc.make_function(
            lowered.fndesc.lookup_module(), lowered.fndesc.qualname.rsplit(".", 1)[-1], "compiled for compiled callers only",
            ctypes.cast(_REFUSE, ctypes.c_void_p).value, lowered.env, (library,))
        state.targetctx.insert_user_function(placeholder, lowered.fndesc, [library])
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=placeholder, env=lowered.env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):  # type: ignore[misc]
    """Lowers a function that Python calls, and compiles it with all that it reaches."""

    _name = "ixpemu_entry_lowering"
    lowering_class = WeightedLower

    def run_pass(self, state: Any) -> bool:
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        own: set[str] = set()
        link_own = library.add_llvm_module

        def add_llvm_module(module: Any) -> None:
            own.update(function.name for function in module.functions if not function.is_declaration)
            link_own(module)

        def internalize_and_optimize() -> None:
            _set_switches(library, getattr(state.func_id.func, "switches", ()))
            for function in library._final_module.functions:
                if (
                    not function.is_declaration
                    and function.name not in own
                    and function.linkage.name in ("external", "linkonce_odr")
                ):
                    function.linkage = "internal"
            # Loops here run over a handful of words: vector code would spend more on finding out than on moving them.
            manager, builder = library._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False)
            manager.run(library._final_module, builder)

        library.add_llvm_module = add_llvm_module
        library._optimize_final_module = internalize_and_optimize
        state.library = library
        return bool(super().run_pass(state))


class _Pipeline(CompilerBase):  # type: ignore[misc]
    lowering: type[NativeLowering] = NativeLowering

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if step is NativeLowering else step, why) for step, why in passes.passes]
        passes._finalized = False
        passes.finalize()
        return [passes]


class Part(_Pipeline):
    """The pipeline of inner functions."""

    lowering = PartLowering


class Entry(_Pipeline):
    """The pipeline of entries."""

    lowering = EntryLowering
