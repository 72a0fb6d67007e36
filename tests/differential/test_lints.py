"""The lints against the emulator on made programs: what the emulator reports of an instruction was found there in the text; and
in a program without branches, where every path is the one that is executed, what was found for certain is reported.

The emulator knows nothing of the lints, nor they of it. What depends on values is left out: signs, entries of the CAM, operands
of a multiplication.
"""

from __future__ import annotations

import random

from ixpemu import Chip, assemble, codes
from ixpemu.asm.pipeline import assemble_program

EXACT = {
    7025: codes.STALE_FLAGS, 7028: codes.NO_PREVIOUS_A, 7029: codes.NO_PREVIOUS_RESULT, 7031: codes.STALE_INDEX,
    7050: codes.STALE_ALIGN, 7051: codes.STALE_CRC,
}
# The emulator also reports a word that only fills the latch too soon, and each further step of a sequence that is broken already.
NO_LESS = {7030: codes.SHADOW_UNDEFINED, 7045: codes.STEP_ORDER, 7048: codes.STEP_ORDER, 7052: codes.CRC_EARLY}
START = ["immed[a0, 5]", "immed[b0, 9]", "immed[a1, 1]", "immed[b1, 2]"]
PIECES = """
alu[a0, a0, +, b0]
alu[--, a0, OR, b1]
alu[--, a1, AND, b1]
immed[a1, 3]
immed[b0, 0x1234]
alu_shf[a1, a0, AND, b0, >>indirect]
alu_shf[b0, a1, OR, b1, <<indirect]
byte_align_be[--, a0]
byte_align_be[a1, a0]
byte_align_le[--, a1]
byte_align_le[b1, a0]
local_csr_wr[BYTE_INDEX, 1]
local_csr_wr[CRC_REMAINDER, a0]
local_csr_wr[T_INDEX, 0]
alu[a1, a0, OR, *$index]
crc_be[crc_32, --, a0]
crc_be[none, b1, a0]
local_csr_rd[CRC_REMAINDER] | immed[a1, 0]
pop_count1[a0]
pop_count2[a0]
pop_count3[b0, a0]
mul_step[a0, b0], 16x16_start
mul_step[a0, b0], 16x16_step1
mul_step[a0, b0], 16x16_step2
mul_step[a1, --], 16x16_last
cap[fast_wr, ALU, SCRATCH_RING_BASE_0]
ctx_arb[voluntary]
ctx_arb[voluntary], defer[1] | alu[a0, a0, -, b1]
nop
beq[LABEL]
bne[LABEL]
br=byte[a0, 0, 1, LABEL]
br_bset[b0, 3, LABEL]
bne[LABEL], defer[1] | alu[--, a0, XOR, b0]
""".strip().split("\n")
PROGRAMS = 60


def made(seed: int, branches: bool) -> str:
    """A program of pieces at random, few kinds of them so that they meet."""
    choice = random.Random(seed)
    kinds = choice.sample([piece for piece in PIECES if branches or "LABEL" not in piece], choice.randint(6, 12))
    body = [choice.choice(kinds) for _ in range(choice.randint(8, 28))]
    targets: dict[int, int] = {k: choice.randint(0, len(body)) for k, piece in enumerate(body) if "LABEL" in piece}
    lines = [".physical", *START]
    for k, piece in enumerate(body):
        lines += [f"t{k}#:"] * (k in targets.values())
        lines += piece.replace("LABEL", f"t{targets.get(k)}#").split(" | ")
    lines += [f"t{len(body)}#:"] * (len(body) in targets.values())
    return "\n".join([*lines, "ctx_arb[kill]", ""])


def found(text: str) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The (address, code) pairs that the lints find: on every path, and on some."""
    assembly = assemble_program(text=text)
    address = {instruction.origin.span.line: index for index, instruction in enumerate(assembly.program.instructions)}
    certain, possible = set(), set()
    for diagnostic in assembly.diagnostics:
        places = {address[origin.span.line] for origin in (diagnostic.origin, *diagnostic.also) if origin is not None}
        (possible if "on some path" in diagnostic.message else certain).update((place, diagnostic.code) for place in places)
    return certain, possible


def reported(text: str) -> set[tuple[int, int]]:
    """The same pairs as the emulator reports them, with three contexts that execute the program."""
    chip = Chip()
    chip.load(0, assemble(text=text), start=False)
    chip.start(0, 0b111)
    chip.run(cycles=2000)
    known = EXACT | NO_LESS
    return {(place.address, known[place.rule.code]) for place in chip.reserved_places if place.rule.code in known}


def of(codes_: dict[int, int], pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {pair for pair in pairs if pair[1] in codes_.values()}


def test_programs_without_branches() -> None:
    agreed: dict[int, int] = {}
    for seed in range(PROGRAMS):
        text = made(seed, branches=False)
        certain, possible = found(text)
        events = reported(text)
        assert not possible, text
        assert of(EXACT, certain) == of(EXACT, events), f"{seed}\n{text}"
        assert of(NO_LESS, certain) <= events, f"{seed}\n{text}"
        for _, code in certain & events:
            agreed[code] = agreed.get(code, 0) + 1
    missing = {*EXACT.values(), *NO_LESS.values()} - agreed.keys() - {codes.STALE_FLAGS}       # nothing tests them here
    assert not missing, "a rule that no program here touches"
    assert min(agreed.values()) > 2, agreed


def test_programs_with_branches() -> None:
    agreed = 0
    for seed in range(PROGRAMS):
        text = made(1000 + seed, branches=True)
        certain, possible = found(text)
        events = reported(text)
        assert of(EXACT, events) <= certain | possible, f"{seed}\n{text}"
        agreed += len(of(EXACT, events))
    assert agreed > 100
