"""Small programs on a chip: assembling physical text, running it, and programs made from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ixpemu import assemble
from ixpemu.chip import Chip
from ixpemu.isa.chipfile import load_chip


def words_of(text: str, contexts: int = 8) -> list[int]:
    """The words of physical text, one instruction a line."""
    head = ".physical\n" if contexts == 8 else ".physical\n.num_contexts 4\n"
    return [int(word) for word in assemble(text=head + text + "\n").words]


def chip_with(
    text: str, *, me: int = 0, contexts: int = 0xFF, overrides: dict[str, int] | None = None, mode: str = "default"
) -> Chip:
    """A chip with a program in one microengine and the contexts of a mask enabled."""
    parameters = load_chip()
    chip = Chip(parameters.override(overrides) if overrides else parameters, mode=mode)
    chip.load_words(me, words_of(text), start=False)
    chip.start(me, contexts)
    return chip


def run_lines(lines: Sequence[str], **options: object) -> Chip:
    """Context 0 runs the lines and stops; the chip afterwards."""
    chip = chip_with("\n".join([*lines, "ctx_arb[kill]"]), contexts=1, **options)  # type: ignore[arg-type]
    stop = chip.run(cycles=100_000)
    assert stop.reason == "quiet", stop
    return chip


ALU = ("+", "-", "b-a", "and", "or", "xor", "b", "~b", "~and", "and~", "+8", "+16", "+carry", "-carry")
SHIFTED = ("b", "~b", "and", "~and", "and~", "or")


def random_program(seed: int, length: int = 60) -> str:
    """Physical text that any context may run: arithmetic, shifts, branches forward and a bounded loop, commands of all kinds,
    signals to the next thread, local memory and transfer registers. It ends by itself."""
    pick = random.Random(seed)
    lines = ["immed[b7, 3]", "immed[a15, 0]", "immed[b15, 0]", "loop#:"]
    labels = 0
    pending: list[tuple[int, str]] = []

    def source(bank: str) -> str:
        kind = pick.random()
        if kind < 0.6:
            return f"{bank}{pick.randrange(7)}"
        return f"${pick.randrange(4)}" if bank == "a" else str(pick.randrange(128))

    def target() -> str:
        kind = pick.random()
        if kind < 0.75:
            return f"{pick.choice('ab')}{pick.randrange(7)}"
        return pick.choice((f"${pick.randrange(4)}", f"$${pick.randrange(4)}", f"*l$index0[{pick.randrange(8)}]", "--"))

    for _ in range(length):
        kind = pick.random()
        if kind < 0.45:
            lines.append(f"alu[{target()}, {source('a')}, {pick.choice(ALU)}, {source('b')}]")
        elif kind < 0.6:
            shift = pick.choice((f"<<{pick.randrange(1, 32)}", f">>{pick.randrange(1, 32)}", f"<<rot{pick.randrange(1, 32)}"))
            lines.append(f"alu_shf[a{pick.randrange(7)}, {source('a')}, {pick.choice(SHIFTED)}, {source('b')}, {shift}]")
        elif kind < 0.66:
            labels += 1
            lines.append(f"{pick.choice(('beq', 'bne', 'bmi', 'bhs', 'blo', 'bge', 'bgt'))}[skip{labels}#]")
            lines += [f"alu[b{pick.randrange(7)}, b{pick.randrange(7)}, +, 1]"] * pick.randrange(1, 3)
            lines.append(f"skip{labels}#:")
        elif kind < 0.7:
            lines.append(f"local_csr_wr[ACTIVE_LM_ADDR_0, {4 * pick.randrange(32)}]")
        elif kind < 0.73:
            lines.append("local_csr_rd[ACTIVE_CTX_STS]")
            lines.append(f"immed[a{pick.randrange(7)}, 0]")
        elif kind < 0.75:
            lines.append(f"br_bset[a{pick.randrange(7)}, {pick.randrange(32)}, skip{labels + 1}#], defer[1]")
            labels += 1
            lines += ["alu[b1, b1, xor, 1]", "alu[b2, b2, +, 7]", f"skip{labels}#:"]
        elif len(pending) < 3:
            signal = 2 * (1 + len(pending))
            unit = pick.randrange(7)
            address = f"a15, {4 * pick.randrange(16)}"
            count = pick.randrange(1, 4)
            wait = pick.random() < 0.5
            token = f"ctx_swap[s{signal}]" if wait else f"sig_done[s{signal}]"
            if wait and pick.random() < 0.3:
                token += ", defer[1]"
            command = (
                f"sram[read, $0, {address}, {count}]",
                f"sram[write, $0, {address}, {count}]",
                f"scratch[read, $1, {address}, {count}]",
                f"scratch[write, $1, {address}, {count}]",
                f"dram[read, $$0, {address}, 2]",
                f"dram[write, $$0, {address}, 2]",
                f"scratch[get, $2, {address}, 1]",
            )[unit]
            lines.append(f"{command}, {token}")
            pair = "dram" in command
            if wait and "defer" in token:
                lines.append(f"alu[$0, a{pick.randrange(7)}, +, 3]")
            if not wait:
                pending.append((signal, f"s{signal}, s{signal + 1}" if pair else f"s{signal}"))
        elif pending:
            signals = ", ".join(names for _, names in pending)
            pending.clear()
            lines.append(f"ctx_arb[{signals}]")
    if pending:
        lines.append(f"ctx_arb[{', '.join(names for _, names in pending)}]")
    lines += ["local_csr_wr[SAME_ME_SIGNAL, 0xf8]", "alu[b7, b7, -, 1]", "bne[loop#]", "ctx_arb[kill]"]
    return "\n".join(lines)


def chip_of_seed(seed: int, microengines: int = 2) -> Chip:
    """A chip whose first microengines run programs of a seed, with something in every memory."""
    pick = random.Random(seed * 7919)
    chip = Chip()
    chip.scratch.ring(0).setup(0x2000, 128)
    for value in range(5):
        chip.scratch.ring(0).put(value + 1)
    for memory in (chip.sram[0], chip.dram, chip.scratch):
        memory.write(0, [pick.getrandbits(32) for _ in range(64)])
    for me in range(microengines):
        chip.load_words(me, words_of(random_program(seed * 31 + me)), start=False)
        for ctx in range(8):
            for bank in (chip.me[me].ctx[ctx].gpr_a, chip.me[me].ctx[ctx].gpr_b):
                bank[:7] = [pick.getrandbits(32) for _ in range(7)]
        chip.start(me, 0x0F)
    return chip


def digest(chip: Chip) -> dict[str, object]:
    """What a run came to: cycles, registers and memories, as plain values."""
    import hashlib

    files = hashlib.sha256()
    for me in chip.me:
        files.update(me.file.tobytes())
    memories = hashlib.sha256()
    for memory in (chip.sram[0], chip.dram, chip.scratch):
        memories.update(memory.read(0, 2048).tobytes())
    return {
        "instructions": chip.instructions, "files": files.hexdigest(), "memories": memories.hexdigest(),
        "cycles": [me.cycles for me in chip.me], "pcs": [[ctx.pc for ctx in me.ctx] for me in chip.me],
    }
