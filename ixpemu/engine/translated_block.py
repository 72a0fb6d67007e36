"""One block of a program that is translated: instructions that are always executed one after the other, as LLVM's language.

A block knows what its instructions have left in registers, condition codes and latches, so that nothing is loaded twice and state
is stored once, where the block is left. How blocks follow each other is translation.py's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ixpemu.engine.dispatch import FIRST_BRANCH, FIRST_RESULT
from ixpemu.engine.layout import (
    AFTER_GO,
    CONSTANT,
    ENGINE,
    INTERPRET,
    LOCAL_MEMORY_WORDS,
    MARK_READS_IN,
    MARK_WRITES_OUT,
    SPECIAL_A,
    SPECIAL_B,
    SPECIAL_D,
    STOPPED,
    WATCHED_WORDS,
)
from ixpemu.engine.llvm_text import Text, number
from ixpemu.isa.emit import Case
from ixpemu.isa.semantics import Assign, Branch, Jump

# Fields of a microengine that expressions name.
FIELDS = {"cc.v": "cc_v", "cc.c": "cc_c", "previous.a": "previous_a", "previous.alu": "previous_alu",
          "previous.align_a": "align_a", "previous.align_b": "align_b"}
NUMBERS = {"amount": "amount", "bit": "amount", "byte": "amount", "mask": "mask", "value": "imm", "byte_mask": "imm",
           "compare": "imm", "context": "imm", "address": "imm", "target": "target"}
SIDES = (("a", SPECIAL_A), ("b", SPECIAL_B), ("d", SPECIAL_D))
OPERANDS = {"a": "a", "b": "b", "register": "a", "dest": "a", "source": "a", "source_value": "a", "tag": "a", "entry": "b"}


def offset_of(field: str) -> int:
    """Where a field of a microengine lies."""
    return int(ENGINE.fields[field][1])  # type: ignore[index]     # a record has fields


class Block:
    """The instructions from one address on, as far as nothing leads into them or away: what is known of the machine there."""

    def __init__(self, text: Text, cases: list[Case], new_label: Callable[[str], str], first: int) -> None:
        self.text, self.cases, self.new_label = text, cases, new_label
        self.first = first
        self.count = 0                              # instructions so far
        self.fields: dict[str, str] = {}            # values of fields, and which of them are not stored yet
        self.dirty: dict[str, str] = {}
        self.flags_at: int | None = None            # how many instructions had begun when the flags were last set
        self.files: dict[tuple[int, bool], str] = {}
        self.pointers: dict[int, str] = {}
        self.pointers_known = False
        self.target = ""                            # of the last instruction, if it is a branch

    def field(self, name: str) -> str:
        """The value of a 32-bit field."""
        if name not in self.fields:
            self.fields[name] = self.text.load("i32", "%engine", offset_of(name))
        return self.fields[name]

    def set_field(self, name: str, value: str) -> None:
        self.fields[name] = self.dirty[name] = value

    def place(self, index: int, relative: bool) -> str:
        """Address of a register."""
        return self.text.at("%window" if relative else "%engine", 4 * index)

    def pointed(self, what: int) -> str:
        """Address of the word of local memory that an operand through a pointer means: kind << 8 | offset."""
        word = self.text.put(f"or i32 {self.pointer(what >> 8)}, {what & 0xFF}")
        wide = self.text.put(f"zext i32 {self.text.put(f'and i32 {word}, 1023')} to i64")
        return self.text.put(f"getelementptr i32, ptr %local, i64 {wide}")

    def pointer(self, kind: int) -> str:
        """The value of local-memory pointer 0 or 1."""
        if kind not in self.pointers:
            self.pointers[kind] = self.text.load("i32", "%own_wide", offset_of("lm_addr") + 4 * kind)
        return self.pointers[kind]

    def look_at_pointers(self, record: Any, pc: int) -> None:
        """Stop before an instruction with a pointer that was just written, is shared, or points out of local memory."""
        if not self.pointers_known:
            self.pointers_known = True
            self.unless("%plain_pointers", pc)
        for side, bit in SIDES:
            if int(record["special"]) & bit:
                what = int(record[side])
                word = self.text.put(f"or i32 {self.pointer(what >> 8)}, {what & 0xFF}")
                self.unless(self.text.put(f"icmp ult i32 {word}, {LOCAL_MEMORY_WORDS}"), pc)

    def unless(self, fine: str, pc: int) -> None:
        """Leave an instruction to the interpreter if a condition does not hold."""
        go, other = self.new_label("go"), self.new_label("other")
        self.text.do(f"br i1 {fine}, label %{go}, label %{other}")
        self.text.label(other)
        self.leave(number(pc), INTERPRET, self.clock())
        self.text.label(go)

    def operand(self, record: Any, side: str) -> str:
        """What operand `side` of an instruction reads."""
        if int(record["special"]) & (SPECIAL_A if side == "a" else SPECIAL_B):
            return self.text.put(f"load i32, ptr {self.pointed(int(record[side]))}")
        index, relative = int(record[side]), bool(record[f"{side}_window"])
        if CONSTANT <= index < CONSTANT + 256 and not relative:
            return number(index - CONSTANT)
        key = (index, relative)
        if key not in self.files:
            self.files[key] = self.text.put(f"load i32, ptr {self.place(index, relative)}")
        return self.files[key]

    def write(self, record: Any, value: str) -> None:
        """Write the destination. A register reached by its absolute number may be a context's own, and the other way round."""
        index, relative = int(record["d"]), bool(record["d_window"])
        if int(record["special"]) & SPECIAL_D:
            self.text.do(f"store i32 {value}, ptr {self.pointed(index)}")
            return
        self.text.do(f"store i32 {value}, ptr {self.place(index, relative)}")
        if index < WATCHED_WORDS:
            for key in [key for key in self.files if key[0] >> 7 == index >> 7 and key[1] != relative]:
                del self.files[key]
        self.files[index, relative] = value

    def clock(self) -> str:
        """The cycle at which the next instruction issues."""
        return self.text.put(f"add i64 %clock{self.first}, {self.count}") if self.count else f"%clock{self.first}"

    def store_fields(self) -> None:
        """Store what is only known here."""
        for name, value in self.dirty.items():
            self.text.store("i32", value, "%engine", offset_of(name))
        if self.flags_at is not None:
            when = self.text.put(f"add i64 %clock{self.first}, {self.flags_at}")
            self.text.store("i64", when, "%engine", offset_of("cc_time"))

    def leave(self, pc: str, status: int, clock: str) -> None:
        """End the run at an address."""
        self.store_fields()
        self.text.do(f"store i64 {clock}, ptr %at_clock")
        self.text.do(f"store i32 {pc}, ptr %at_pc")
        self.text.do(f"store i32 {status}, ptr %at_status")
        self.text.do("br label %done")

    def look(self, record: Any, pc: int, slots: tuple[int, str, str] | None = None) -> None:
        """Stop here if a register of the instruction is in use by a command. `slots`: defer slots left, target, abort."""
        marks = int(record["marks"])
        uses = []
        if marks & MARK_READS_IN:
            bits = (1 << int(record["in_a"])) | (1 << int(record["in_b"]))
            uses.append(self.text.put(f"and i64 %busy_in, {bits - (1 << 64) if bits >> 63 else bits}"))
        if marks & MARK_WRITES_OUT:
            bits = 1 << int(record["out_d"])
            uses.append(self.text.put(f"and i64 %busy_out, {bits - (1 << 64) if bits >> 63 else bits}"))
        if not uses:
            return
        used = uses[0] if len(uses) == 1 else self.text.put(f"or i64 {uses[0]}, {uses[1]}")
        busy = self.text.put(f"icmp ne i64 {used}, 0")
        wait, go = self.new_label("wait"), self.new_label("go")
        self.text.do(f"br i1 {busy}, label %{wait}, label %{go}")
        self.text.label(wait)
        kept = dict(self.dirty)
        if slots is not None:
            left, target, abort = slots
            rest = {"slots": number(left), "after": number(AFTER_GO), "after_pc": target, "after_abort": abort}
            for name, value in rest.items():
                self.text.store("i32", value, "%engine", offset_of(name))
        self.leave(number(pc), STOPPED, self.clock())
        self.dirty = kept
        self.text.label(go)

    def execute(self, record: Any, pc: int) -> str | None:
        """Write what the private instruction at an address does besides going on; returns the condition of a branch, an i1."""
        op = int(record["op"])
        case = self.cases[op]
        self.text.do(f"; {pc}: {case.variant.name}")
        names: dict[str, str] = {}

        def lookup(name: str) -> str:
            if name in names:
                return names[name]
            if name in NUMBERS and name in case.variant.parameters:
                return number(int(record[NUMBERS[name]]))
            if name == "ctx":
                return "%ctx"
            if name == "cc.n":
                return self.text.put(f"lshr i32 {self.field('cc_result')}, 31")
            if name == "cc.z":
                zero = self.text.put(f"icmp eq i32 {self.field('cc_result')}, 0")
                return self.text.put(f"zext i1 {zero} to i32")
            if name == "state.byte_index":
                return self.field("byte_index")
            if name in FIELDS:
                return self.field(FIELDS[name])
            return operands[OPERANDS[name]]

        operands = {"a": self.operand(record, "a"), "b": self.operand(record, "b")}
        condition = None
        for statement in case.statements:
            match statement:
                case Assign("dest", value):
                    self.write(record, self.text.value(value, lookup))
                case Assign(target, value) if target in FIELDS:
                    self.set_field(FIELDS[target], self.text.value(value, lookup))
                case Assign(target, value):
                    names[target] = self.text.value(value, lookup)
                case Branch(tree):
                    condition = self.text.truth(tree, lookup)
                case Jump(tree):
                    names["target"] = self.text.value(tree, lookup)
                    condition = "true"
        self.count += 1
        if op < FIRST_RESULT:
            self.set_field("cc_result", names["r"])
            self.flags_at = self.count
        if op < FIRST_BRANCH:
            self.write(record, names["r"])
            self.set_field("previous_alu", names["r"])
        self.target = names.get("target", number(int(record["target"])))
        self.move_pointers(int(record["post"]))
        return condition

    def move_pointers(self, post: int) -> None:
        """What an instruction does to its pointers when all else is done."""
        for kind in (0, 1):
            how = post >> 2 * kind & 3
            if how:
                moved = self.text.put(f"add i32 {self.pointer(kind)}, {1 if how == 1 else -1}")
                self.pointers[kind] = self.text.put(f"and i32 {moved}, 1023")
                self.text.store("i32", self.pointers[kind], "%own_wide", offset_of("lm_addr") + 4 * kind)
