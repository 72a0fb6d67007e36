"""Sixteen threads at once on the chip against each thread by itself, step by step, in plain Python."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from ixpemu.isa.chipfile import load_chip
from tests.support.machine import words_of
from tests.support.sequential import GPRS, LOCAL, RING, SPAN, Model, Program, programs, thread

MICROENGINES = (0, 5)

# Units fast and slow, queues deep and shallow: times may change, results not.
BOARDS = ({}, {"sram.read_cycles": 400}, {"dram.read_cycles": 10, "dram.write_cycles": 200, "scratch.read_cycles": 3},
          {"sram.queue_depth": 1, "scratch.queue_depth": 1, "dram.queue_depth": 1, "me.fifo_depth": 1},
          {"sram.write_cycles": 300, "scratch.write_cycles": 150, "push.s_word_cycles": 7, "me.lookahead": 1})


def place(chip: Chip, number: int, model: Model) -> None:
    """Give a thread of the chip what its model has."""
    me = chip.me[MICROENGINES[number // 8]]
    ctx = me.ctx[number % 8]
    for name in GPRS:
        (ctx.gpr_a if name[0] == "a" else ctx.gpr_b)[int(name[1:])] = model.registers[name]
    ctx.gpr_a[10], ctx.gpr_a[11], ctx.gpr_b[10] = SPAN * number, 4 * LOCAL * (number % 8), 4 * number
    for prefix, into, out in (("$", ctx.sram_in, ctx.sram_out), ("$$", ctx.dram_in, ctx.dram_out)):
        for k in range(8):
            into[k], out[k] = model.registers[f"{prefix}{k}"], model.registers[f"out {prefix}{k}"]
    for unit, memory in (("sram", chip.sram[0]), ("scratch", chip.scratch), ("dram", chip.dram)):
        memory.write(SPAN * number, model.memory[unit])
    me.local_memory[LOCAL * (number % 8) : LOCAL * (number % 8 + 1)] = model.local
    ring = chip.scratch.ring(number)
    ring.setup(0x2000 + 4 * RING * number, RING)
    for value in model.ring:
        ring.put(value)


def found(chip: Chip, number: int) -> dict[str, object]:
    """What a thread of the chip has."""
    me = chip.me[MICROENGINES[number // 8]]
    ctx = me.ctx[number % 8]
    what: dict[str, object] = {name: int((ctx.gpr_a if name[0] == "a" else ctx.gpr_b)[int(name[1:])]) for name in GPRS}
    for prefix, into, out in (("$", ctx.sram_in, ctx.sram_out), ("$$", ctx.dram_in, ctx.dram_out)):
        what |= {f"{prefix}{k}": int(into[k]) for k in range(8)} | {f"out {prefix}{k}": int(out[k]) for k in range(8)}
    for unit, memory in (("sram", chip.sram[0]), ("scratch", chip.scratch), ("dram", chip.dram)):
        what[unit] = memory.read(SPAN * number, SPAN // 4).tolist()
    what["local"] = me.local_memory[LOCAL * (number % 8) : LOCAL * (number % 8 + 1)].tolist()
    ring = chip.scratch.ring(number)
    what["ring"] = [ring.get() for _ in range(ring.used)]
    return what


@settings(max_examples=40 if COMPILED else 2, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.integers(0, 2**16), st.sampled_from(BOARDS))
def test_threads_compute_what_they_would_alone(program: Program, seed: int, board: dict[str, int]) -> None:
    chip = Chip(load_chip().override(board))
    words = words_of(program.text)
    models = [thread(number, seed) for number in range(16)]
    for me in MICROENGINES:
        chip.load_words(me, words, start=False)
    for number, model in enumerate(models):
        place(chip, number, model)
    for me in MICROENGINES:
        chip.me[me].engine.written[:] = 0xFFFFFFFF          # a model starts with values in all registers, zeros among them
        chip.start(me)
    stop = chip.run(cycles=1_000_000)
    assert stop.reason == "quiet", stop.message
    # The programs wait for the even signal of a pair only: the odd one, which comes with it, is raised again while it is set.
    assert set(chip.reserved) <= {"put on a full ring", "C or V of a logical operation", "signal raised while still set"}
    assert all(ctx.pc == len(words) for me in MICROENGINES for ctx in chip.me[me].ctx), "a thread sleeps for ever"
    for number, model in enumerate(models):
        program.run(model)
        wanted = model.registers | model.memory | {"local": model.local, "ring": list(model.ring)}
        has = found(chip, number)
        assert {name: (has[name], value) for name, value in wanted.items() if has[name] != value} == {}, number
