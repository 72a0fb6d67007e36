"""Every private variant: one instruction of the engine against the reference evaluator of isa/, on words of every operand form.

The evaluator is plain Python over the trees of the `do` lines; the engine runs code generated from the same trees, behind its own
decoder. Operands are found and stored here through the chip's views, by what their registers mean.
"""

import random
from collections import defaultdict
from functools import cache

import pytest

from ixpemu import Chip, chip_translate
from ixpemu.engine.jit import COMPILED
from ixpemu.engine.layout import NEIGHBOR
from ixpemu.isa import Decoded, instruction_set
from ixpemu.isa.model import Constant, Nothing, Operand, Register, RegisterClass
from ixpemu.isa.physical import parse_physical_instruction
from ixpemu.isa.samples import encodable
from ixpemu.isa.semantics import evaluate

ISA = instruction_set()
VARIANTS = {variant.name: variant for block in ISA.blocks.values() if block.spelling_of is None for variant in block.variants
            if variant.private}
EDGES = (0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
WORDS_EACH, VALUES_EACH = 14, 3
# What the samples, which vary one thing at a time, do not combine.
COMBINED = [f"alu_shf[{dest}, {left}, {op}, {right}, {shift}indirect]" for op in ("B", "~B", "AND", "~AND", "AND~", "OR")
            for dest, left, right in (("a1", "a2", "b2"), ("b3", "$2", "a4"), ("$$1", "b4", "0xff"))
            for shift in ("<<", ">>")]
COMBINED += [f"{name}[{dest}, 0110, {source}, {shift}indirect], load_cc" for name in ("ld_field", "ld_field_w_clr")
             for dest, source in (("a1", "b2"), ("b3", "a4"), ("*l$index0[3]", "$2"), ("a0", "*l$index1[5]"))
             for shift in ("<<", ">>")]
STORE = 4096


@cache
def words_by_variant() -> dict[str, list[tuple[int, int]]]:
    """(word, contexts) of up to WORDS_EACH operand forms of each private variant, without defer slots."""
    pick = random.Random(5)
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    private = [form for block in ISA.blocks.values() for form in block.forms
               if any(variant.name in VARIANTS for variant in form.variants.values())]
    for contexts in (8, 4):
        words = [word for form in private for _, word in encodable(ISA, form, contexts)]
        words += [ISA.encode(parse_physical_instruction(text), contexts) for text in COMBINED]
        for word in words:
            decoded = ISA.decode(word, contexts)
            assert decoded is not None
            if decoded.variant.name in VARIANTS and not decoded.value("defer") and not contradictory(decoded):
                found[decoded.variant.name].append((word, contexts))
    return {name: pick.sample(words, min(WORDS_EACH, len(words))) for name, words in found.items()}


def contradictory(decoded: Decoded) -> bool:
    """Whether one pointer is to move both ways, of which nobody says what it does."""
    moves = [operand.post for operand in decoded.operands.values() if isinstance(operand, Register)]
    return 1 in moves and -1 in moves


class Machine:
    """One microengine with random registers, pointers and hidden state; reads and stores operands by meaning."""

    def __init__(self, chip: Chip, contexts: int, pick: random.Random) -> None:
        self.chip, self.pick = chip, pick
        self.me = chip.me[3]
        self.next = chip.me[4]
        self.ctx = pick.randrange(0, 8, 8 // contexts)
        for words in (self.me.gpr_a_abs, self.me.gpr_b_abs, self.me.local_memory, *self.windows()):
            words[:] = [self.value() for _ in range(len(words))]
        engine = self.me.engine
        # An offset is or-ed to a pointer: these stay inside populated memory with any offset.
        engine.lm_addr[2 * self.ctx:2 * self.ctx + 2] = [pick.randrange(640 - 16) & ~15, pick.randrange(640 - 16)]
        engine.t_index, engine.nn_get, engine.byte_index = pick.randrange(128), pick.randrange(128), pick.randrange(4)
        engine.neighbor_words = 5
        engine.shadow_count = 0
        self.next.engine.nn_put = pick.randrange(128)
        engine.cc_result = pick.choice((0, 1, 0x80000000))
        engine.cc_v, engine.cc_c = pick.randrange(2), pick.randrange(2)
        engine.cam_tag[:] = pick.sample([*EDGES, *range(100, 116)], 16)
        engine.cam_state[:] = [pick.randrange(16) for _ in range(16)]
        engine.cam_order = int("".join(f"{entry:x}" for entry in pick.sample(range(16), 16)), 16)
        engine.multiply_product = pick.getrandbits(64)
        engine.previous_a, engine.previous_alu, engine.align_a, engine.align_b = (self.value() for _ in range(4))

    def windows(self) -> list:
        ctx = self.me.ctx[self.ctx]
        return [ctx.sram_in, ctx.sram_out, ctx.dram_in, ctx.dram_out, ctx.neighbor]

    def value(self) -> int:
        return self.pick.choice(EDGES) if self.pick.random() < 0.4 else self.pick.getrandbits(32)

    def place(self, operand: Register, destination: bool, pointers: dict[str, int]) -> tuple[object, int]:
        """The view and the index that a register operand means."""
        ctx = self.me.ctx[self.ctx]
        sram, dram = (ctx.sram_out, ctx.dram_out) if destination else (ctx.sram_in, ctx.dram_in)
        number = operand.number or 0
        match operand.cls:
            case RegisterClass.GPR:
                return (ctx.gpr_a if operand.bank == "a" else ctx.gpr_b), number
            case RegisterClass.ABSOLUTE:
                return (self.me.gpr_a_abs if operand.bank == "a" else self.me.gpr_b_abs), number
            case RegisterClass.SRAM:
                return sram, number
            case RegisterClass.DRAM:
                return dram, number
            case RegisterClass.LOCAL_MEMORY:
                return self.me.local_memory, pointers[f"lm{operand.pointer}"] | number
            case RegisterClass.SRAM_INDEX:
                return self.anywhere("sram_out" if destination else "sram_in", pointers["t"])
            case RegisterClass.DRAM_INDEX:
                return self.anywhere("dram_out" if destination else "dram_in", pointers["t"])
            case RegisterClass.NEIGHBOR:
                # A register of the receiver as this microengine counts them, whatever mode the receiver is in.
                return (self.next if destination else self.me).file[NEIGHBOR:], 16 * self.ctx + number
            case _:
                if destination:
                    return self.next.ctx[pointers["put"] // 16].neighbor, pointers["put"] % 16
                return self.anywhere("neighbor", pointers["get"])

    def anywhere(self, file: str, index: int) -> tuple[object, int]:
        """Register `index` of the 128 in a file, whichever context's it is."""
        wide = 32 if self.me.contexts == 4 else 16
        return getattr(self.me.ctx[index // wide * wide // 16], file), index % wide

    def pointers(self) -> dict[str, int]:
        engine = self.me.engine
        return {"lm0": int(engine.lm_addr[2 * self.ctx]), "lm1": int(engine.lm_addr[2 * self.ctx + 1]), "t": int(engine.t_index),
                "get": int(engine.nn_get), "put": int(self.next.engine.nn_put)}

    def read(self, operand: Operand, pointers: dict[str, int]) -> int:
        if isinstance(operand, Constant):
            return operand.value
        assert isinstance(operand, Register)
        view, index = self.place(operand, False, pointers)
        return int(view[index])                     # type: ignore[index]

    def hidden(self) -> dict[str, int]:
        engine, cc = self.me.engine, self.me.cc
        return {"cc.n": cc.n, "cc.z": cc.z, "cc.v": cc.v, "cc.c": cc.c, "previous.a": int(engine.previous_a),
                "previous.alu": int(engine.previous_alu), "previous.align_a": int(engine.align_a),
                "previous.align_b": int(engine.align_b), "state.byte_index": int(engine.byte_index), "ctx": self.ctx}


    def given_back(self, decoded: Decoded, inputs: dict[str, int]) -> int:
        """What the internal action of an instruction gives back: the CAM as lists, the product as a Python integer."""
        engine = self.me.engine
        tags, states = engine.cam_tag.tolist(), engine.cam_state.tolist()
        entry = inputs.get("entry", 0) % 16
        match decoded.variant.action:
            case "cam_read_tag":
                return tags[entry]
            case "cam_read_state":
                return states[entry] << 8
            case "cam_lookup" if inputs["tag"] in tags:
                hit = tags.index(inputs["tag"])
                return states[hit] << 8 | 1 << 7 | hit << 3
            case "cam_lookup":
                return int(f"{int(engine.cam_order):016x}"[-1], 16) << 3
            case "multiply_last":
                return int(engine.multiply_product) >> (32 if decoded.operation.tokens[0].name.endswith("2") else 0) & 0xFFFFFFFF
        return 0


def moved(decoded: Decoded, pointers: dict[str, int]) -> dict[str, int]:
    """The pointers after one instruction: each moves once, however many operands go through it."""
    after = dict(pointers)
    wrap = {"lm0": 1024, "lm1": 1024, "t": 128, "get": 128, "put": 128}
    for name, operand in decoded.operands.items():
        if not isinstance(operand, Register):
            continue
        key = {RegisterClass.LOCAL_MEMORY: f"lm{operand.pointer}", RegisterClass.SRAM_INDEX: "t", RegisterClass.DRAM_INDEX: "t",
               RegisterClass.NEIGHBOR_INDEX: "put" if name == "dest" else "get"}.get(operand.cls)
        if key is not None and operand.post:
            after[key] = (pointers[key] + operand.post) % wrap[key]
        elif key == "put":
            after[key] = (pointers[key] + 1) % wrap[key]
    return after


@pytest.mark.parametrize("name", VARIANTS)
def test_one_instruction(name: str) -> None:
    chip = Chip()
    pick = random.Random(name)
    words = words_by_variant()[name]
    assert words, "no word of this variant among the samples"
    for word, contexts in words:
        decoded = ISA.decode(word, contexts)
        assert decoded is not None
        for _ in range(VALUES_EACH):
            check(chip, decoded, contexts, pick)


@pytest.mark.skipif(not COMPILED, reason="where nothing is compiled, no program is translated")
@pytest.mark.parametrize("name", VARIANTS)
def test_one_instruction_translated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same by machine code of the program's own, which begins at its first instruction."""
    monkeypatch.setattr(chip_translate, "WHEN", "always")
    chip = Chip()
    pick = random.Random(name)
    for word, contexts in words_by_variant()[name][:4]:
        decoded = ISA.decode(word, contexts)
        assert decoded is not None
        for _ in range(VALUES_EACH):
            check(chip, decoded, contexts, pick, 0)
            assert int(chip.me[3].engine.translated)


def check(chip: Chip, decoded: Decoded, contexts: int, pick: random.Random, address: int | None = None) -> None:
    if address is None:
        address = pick.choice((0, 1, 77, STORE - 2))
    chip.load_words(3, [0xF0000C0300] * address + [decoded.word, 0xE000020000], contexts=contexts, start=False)
    machine = Machine(chip, contexts, pick)
    pointers, hidden = machine.pointers(), machine.hidden()
    inputs = {operand: machine.read(value, pointers) for operand, value in decoded.operands.items()
              if operand != "dest" or "dest" in decoded.variant.reads}
    given = {"result": machine.given_back(decoded, inputs)}
    expected = evaluate(decoded.variant.statements, inputs | dict(decoded.values) | hidden | given)
    chip.start(3, 1 << machine.ctx)
    chip.me[3].ctx[machine.ctx].pc = address
    chip.step(3)
    text = ISA.disassemble(decoded.word, contexts)
    what = (text, contexts, address, {key: hex(value) for key, value in (inputs | hidden).items()})

    wanted = address + 1
    if expected.jump is not None:
        wanted = expected.jump % STORE
    elif expected.taken:
        wanted = decoded.value("target") % STORE
    assert chip.me[3].ctx[machine.ctx].pc == wanted, what
    if decoded.variant.action not in ("csr_read", "csr_write"):
        destination = decoded.operands.get("dest", Nothing())
        if isinstance(destination, Register):
            assert expected.dest is not None, what
            if destination.cls in (RegisterClass.NEIGHBOR, RegisterClass.NEIGHBOR_INDEX):
                while chip.run(cycles=20).reason == "halt":
                    pass
            view, index = machine.place(destination, True, pointers)
            assert int(view[index]) == expected.dest, what                          # type: ignore[index]
        found = machine.hidden()
        for key, before in hidden.items():
            if not key.startswith("previous.") or key in expected.state or key.startswith("previous.align"):
                assert found[key] == expected.state.get(key, before), (key, what)
    assert machine.pointers() == moved(decoded, pointers), what
