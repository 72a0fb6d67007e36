"""From text of the LLVM language to machine code in this process, and calls of it from compiled functions.

Imported only where functions are compiled. Nothing here knows what the code does.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

binding.initialize_native_target()
binding.initialize_native_asmprinter()

_SPEED = 2                  # LLVM's level of optimisation


class MachineCode:
    """One function of a module, compiled for this processor; its code lives as long as the object."""

    def __init__(self, text: str, name: str) -> None:
        target = binding.Target.from_default_triple()
        cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
        machine = target.create_target_machine(cpu=cpu, features=features, opt=_SPEED, codemodel="jitdefault")
        module = binding.parse_assembly(text)
        module.triple = binding.get_process_triple()
        module.data_layout = str(machine.target_data)
        module.verify()
        options = binding.create_pipeline_tuning_options(speed_level=_SPEED)
        options.loop_vectorization = options.slp_vectorization = False
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        self._engine = binding.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address = int(self._engine.get_function_address(name))


@intrinsic  # type: ignore[untyped-decorator]
def call_at(typing_context: Any, address: Any, first: Any, second: Any, number: Any, other: Any) -> Any:
    """Call the function at an address with two records and two uint64; it returns a uint32."""
    word, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(word, [pointer, pointer, ir.IntType(64), ir.IntType(64)])

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        records = [builder.bitcast(argument, pointer) for argument in arguments[1:3]]
        return builder.call(function, [*records, *arguments[3:]])

    return types.uint32(types.uint64, first, second, types.uint64, types.uint64), call
