"""What others do in the same minute on the same machine: emulators written in Python, and the engine's own loop written in C.

None of them emulates this machine; the figures say what kind of speed a way of building an emulator gives. `instructions` are
those of the machine that each emulates. A peer that is not installed is named as absent. All of them are in the extra `[peers]`,
but for the C compiler, which is looked for.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ixpemu import resources
from ixpemu.isa.chipfile import load_chip

PEERS = {
    "py65": "a 6502 in Python (py65)",
    "pio": "an RP2040 PIO state machine in Python (rp2040-pio-emulator)",
    "unicorn": "an x86 in compiled code with a Python function called for every instruction (unicorn)",
    "c_loop": "the compute case in C: the same decoded records, loop and accounting, without events, units and packets",
}
"""What each figure is of."""
_MODULES = {"py65": "py65.devices.mpu6502", "pio": "pioemu", "unicorn": "unicorn"}
# Names of dispatch cases in the order of the C program's enumeration.
_CASES = ("alu.+", "alu.+carry", "alu.-", "alu.XOR", "alu_shf.B", "alu_shf.AND", "alu_shf.OR", "ld_field.keep", "immed", "bmi",
          "bne", "br", "ctx_arb.voluntary")
_FIELDS = ("a_window", "b_window", "d_window", "amount", "abort", "early", "a", "b", "d", "target", "mask", "imm")


class Absent(Exception):
    """A peer that this installation does not have, with the reason."""


def measure(name: str, seconds: float) -> dict[str, float]:
    """Instructions a second of a peer. Raises Absent."""
    instructions, elapsed = _MEASURES[name](seconds)
    return {"instructions_per_second": round(instructions / elapsed, 1)}


def _module(name: str) -> Any:
    try:
        return importlib.import_module(_MODULES[name])
    except ImportError as error:
        raise Absent(f"{error.name or name} is not installed: pip install 'ixpemu[peers]'") from None


def _until(seconds: float, step: Callable[[], int]) -> tuple[int, float]:
    """Calls `step`, which executes and counts instructions, for so long."""
    step()
    instructions = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        instructions += step()
    return instructions, elapsed


def _py65(seconds: float) -> tuple[int, float]:
    """ADC, EOR, ROL, DEX and BNE in a loop that never ends."""
    program = (0x69, 0x07, 0x45, 0x10, 0x2A, 0xCA, 0xD0, 0xF8, 0x4C, 0x00, 0x02)
    machine = _module("py65").MPU()
    machine.memory[0x200:0x200 + len(program)] = program
    machine.pc = 0x200

    def step() -> int:
        for _ in range(5_000):
            machine.step()
        return 5_000

    return _until(seconds, step)


def _pio(seconds: float) -> tuple[int, float]:
    """Moves and a jump in a loop; one instruction a clock cycle."""
    pioemu = _module("pio")
    program = (0xA029, 0xA041, 0x0040, 0x0000)     # mov x, ~x   mov y, x   jmp x-- 0   jmp 0

    def step() -> int:
        count = 0
        for _ in pioemu.emulate(program, stop_when=pioemu.clock_cycles_reached(5_000)):
            count += 1
        return count

    return _until(seconds, step)


def _unicorn(seconds: float) -> tuple[int, float]:
    """add, xor, rol, dec and jnz in a loop of 1,000 rounds, with a hook that counts."""
    unicorn = _module("unicorn")
    x86 = importlib.import_module("unicorn.x86_const")
    code = bytes.fromhex("83c007 31c3 c1c305 ffc9 75f4")
    machine = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
    machine.mem_map(0x1000, 0x1000)
    machine.mem_write(0x1000, code)
    seen = [0]

    def count(*_: object) -> None:
        seen[0] += 1

    machine.hook_add(unicorn.UC_HOOK_CODE, count)

    def step() -> int:
        before = seen[0]
        machine.reg_write(x86.UC_X86_REG_ECX, 1_000)
        machine.emu_start(0x1000, 0x1000 + len(code))
        return seen[0] - before

    return _until(seconds, step)


def _c_loop(seconds: float) -> tuple[int, float]:
    """The program of the compute case; raises RuntimeError unless the engine gets the same registers."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise Absent("there is no C compiler: cc, gcc or clang")
    with tempfile.TemporaryDirectory(prefix="ixpemu-bench-") as folder:
        program, records = Path(folder) / "loop", Path(folder) / "records"
        source = Path(__file__).with_name("loop.c")
        subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True, capture_output=True)
        records.write_text(_records())
        numbers = [str(load_chip()[name]) for name in ("me.lookahead", "me.wake_cycles")]

        def run(cycles: int) -> tuple[int, float, int]:
            done = subprocess.run([str(program), str(records), str(cycles), *numbers], check=True, capture_output=True, text=True)
            executed, elapsed, total = done.stdout.split()
            return int(executed), float(elapsed), int(total)

        executed, _, total = run(CHECKED_CYCLES)
        if (executed, total) != _engine(CHECKED_CYCLES):
            raise RuntimeError("the loop in C computes something else than the engine")
        cycles = 2_000_000
        while True:
            executed, elapsed, _ = run(cycles)
            if elapsed >= 0.8 * seconds:
                return executed, elapsed
            cycles = int(cycles * min(20.0, max(2.0, 1.1 * seconds / max(elapsed, 1e-6))))


CHECKED_CYCLES = 3_000


def _compute_chip() -> Any:
    from ixpemu.asm import assemble
    from ixpemu.chip import Chip

    image = assemble(resources.folder("microcode") / "bench" / "compute.uc")
    chip = Chip(mode="fast")
    for me in range(8):
        chip.load(me, image)
    return chip, image


def _records() -> str:
    """The decoded program, a line an instruction: case, then the fields of the engine's own record."""
    from ixpemu.isa import instruction_set

    chip, image = _compute_chip()
    lines = []
    for at, word in enumerate(image.words):
        decoded = instruction_set().decode(int(word), 8)
        assert decoded is not None
        record = chip.state.code[at]
        lines.append(" ".join(map(str, [_CASES.index(decoded.variant.name), *(int(record[name]) for name in _FIELDS)])))
    return "\n".join(lines) + "\n"


def _engine(cycles: int) -> tuple[int, int]:
    """Instructions and the sum of registers after so many cycles in the engine."""
    chip, _ = _compute_chip()
    chip.run(cycles=cycles)
    total = 0
    for engine in chip.state.engines:
        for value in engine["file"][:256]:
            total = (total * 31 + int(value)) & 0xFFFFFFFF
    return chip.instructions, total


_MEASURES: dict[str, Callable[[float], tuple[int, float]]] = {"py65": _py65, "pio": _pio, "unicorn": _unicorn, "c_loop": _c_loop}
