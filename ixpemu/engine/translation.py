"""Programs in the LLVM language: the private instructions of one microengine's program as one function of straight code.

`dispatch.py` interprets: it looks at a decoded record, finds its case and keeps the machine's state in memory between any two
instructions. Here the same statements of isa/ are written out for the very instructions of a program, with their registers,
constants and targets; what is left to do at each is what the instruction does. The function runs the executing context from its
program counter on and stops exactly where `run_private` would, with the same state of the machine in every field.

What it does not know it leaves to `run_private`: instructions with an action of the engine, operands through pointers but plain
ones to local memory, a branch in a defer slot, a run that a slice cuts inside a block, any address at which no block begins.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from ixpemu.engine.dispatch import FIRST_BRANCH, FIRST_OTHER
from ixpemu.engine.layout import (
    AFTER_NOTHING,
    CUT,
    INTERPRET,
    LOCAL_MEMORY,
    MARKS_TRANSFER,
    POINTER_LM1,
    STOPPED,
)
from ixpemu.engine.llvm_text import Text, number
from ixpemu.engine.parameters import P_EARLY_BRANCH
from ixpemu.engine.state import STATE
from ixpemu.engine.translated_block import SIDES, Block, offset_of
from ixpemu.isa import instruction_set
from ixpemu.isa.emit import Case, cases_of, names_in
from ixpemu.isa.semantics import Assign, Jump

NAME = "translated"
GLOBAL_POINTERS = 3 << 16        # in CTX_ENABLES: pointers that all contexts share
HEAD = """declare i32 @llvm.fshr.i32(i32, i32, i32)
define i32 @translated(ptr %engine, ptr %state, i64 %horizon, i64 %far) {
entry:
"""


class _Program:
    """One program on its way into text."""

    def __init__(self, code: npt.NDArray[Any], room: int, held: int) -> None:
        self.code = code
        self.room = room
        self.held = held
        self.cases: list[Case] = cases_of(instruction_set())
        self.text = Text()
        self._labels = 0
        self.known = [self._is_known(record) for record in code]
        self.leaders = self._leaders()
        self.starts = frozenset(self.leaders)

    def new_label(self, what: str) -> str:
        """A name for a block of the LLVM language."""
        self._labels += 1
        return f"{what}{self._labels}"

    def _is_known(self, record: Any) -> bool:
        """Whether an instruction can be written at all."""
        op = int(record["op"])
        if op >= len(self.cases) or int(record["marks"]) & self.held:
            return False
        if any(int(record["special"]) & bit and int(record[side]) >> 8 > POINTER_LM1 for side, bit in SIDES):
            return False
        case = self.cases[op]
        return case.variant.action is None and "result" not in _read(case)

    def _leaders(self) -> list[int]:
        """Addresses at which blocks begin: the first, targets, and what follows something that ends a block."""
        found = {0}
        for address, record in enumerate(self.code):
            op = int(record["op"])
            if not self.known[address]:
                found.add(address + 1)
            elif FIRST_BRANCH <= op < FIRST_OTHER:
                found |= {address + 1, int(record["target"])}
            if int(record["target"]):
                found.add(int(record["target"]))
        return sorted(address for address in found if self._goes_on(address))

    def write(self) -> str:
        """The text of the module."""
        text = self.text
        text.do("%ctx = load i32, ptr " + text.at("%engine", offset_of("context")))
        text.do("%sixteen = shl i32 %ctx, 6")
        wide = text.put("zext i32 %sixteen to i64")
        text.do(f"%window = getelementptr i8, ptr %engine, i64 {wide}")
        four = text.put(f"zext i32 {text.put('shl i32 %ctx, 2')} to i64")
        text.do(f"%own = getelementptr i8, ptr %engine, i64 {four}")
        text.do(f"%own_wide = getelementptr i8, ptr %own, i64 {four}")
        text.do(f"%local = getelementptr i8, ptr %engine, i64 {4 * LOCAL_MEMORY}")
        shared = text.put(f"and i32 {text.load('i32', '%engine', offset_of('ctx_enables'))}, {GLOBAL_POINTERS}")
        waiting = text.put(f"or i32 {shared}, {text.load('i32', '%engine', offset_of('shadow_count'))}")
        text.do(f"%plain_pointers = icmp eq i32 {waiting}, 0")
        for name in ("clock", "squashed"):
            text.do(f"%at_{name} = alloca i64")
        for name in ("pc", "status"):
            text.do(f"%at_{name} = alloca i32")
        text.do(f"%start = load i64, ptr {text.at('%engine', offset_of('clock'))}")
        text.do("store i64 %start, ptr %at_clock")
        text.do("store i64 0, ptr %at_squashed")
        text.do(f"store i32 {text.load('i32', '%own', offset_of('pc'))}, ptr %at_pc")
        text.do(f"%busy_in = load i64, ptr {text.at('%own_wide', offset_of('in_registers'))}")
        text.do(f"%busy_out = load i64, ptr {text.at('%own_wide', offset_of('out_registers'))}")
        early = STATE.fields["parameter"][1] + 4 * P_EARLY_BRANCH  # type: ignore[index]
        text.do(f"%early = load i32, ptr {text.at('%state', early)}")
        text.do("%is_early = icmp ne i32 %early, 0")
        text.do("br label %dispatch")
        text.label("dispatch")
        text.do(f"switch i32 {text.put('load i32, ptr %at_pc')}, label %unknown [")
        for leader in self.leaders:
            text.do(f"  i32 {leader}, label %block{leader}")
        for address in range(len(self.code)):
            if self._is_held(address):
                text.do(f"  i32 {address}, label %held")
        text.do("]")
        text.label("held")
        text.do(f"store i32 {STOPPED}, ptr %at_status")
        text.do("br label %done")
        text.label("unknown")
        text.do(f"store i32 {INTERPRET}, ptr %at_status")
        text.do("br label %done")
        for leader in self.leaders:
            self._block(leader)
        self._end()
        return HEAD + "\n".join(text.lines) + "\n}\n"

    def _end(self) -> None:
        """Account the instructions of the run, as run_private does."""
        text = self.text
        text.label("done")
        clock = text.put("load i64, ptr %at_clock")
        squashed = text.put("load i64, ptr %at_squashed")
        issued = text.put(f"sub i64 {text.put(f'sub i64 {clock}, %start')}, {squashed}")
        text.store("i64", clock, "%engine", offset_of("clock"))
        text.store("i32", text.put("load i32, ptr %at_pc"), "%own", offset_of("pc"))
        for name, value in (("aborted", squashed), ("retired", issued)):
            total = text.put(f"add i64 {text.load('i64', '%engine', offset_of(name))}, {value}")
            text.store("i64", total, "%engine", offset_of(name))
        for name, value in (("aborts", squashed), ("instructions", issued)):
            narrow = text.put(f"trunc i64 {value} to i32")
            text.store("i32", text.put(f"add i32 {text.load('i32', '%own', offset_of(name))}, {narrow}"), "%own", offset_of(name))
        text.do(f"ret i32 {text.put('load i32, ptr %at_status')}")

    def _block(self, first: int) -> None:
        """The block that begins at an address."""
        text = self.text
        block = Block(text, self.cases, self.new_label, first)
        addresses = [first]
        while not self._is_branch(addresses[-1]) and self._goes_on(addresses[-1] + 1) and addresses[-1] + 1 not in self.starts:
            addresses.append(addresses[-1] + 1)
        last = addresses[-1]
        slots: list[int] = []
        if self._is_branch(last) and int(self.code[last]["defer"]):
            slots = list(range(last + 1, last + 1 + int(self.code[last]["defer"])))
            if not all(self._fits_in_slot(slot) for slot in slots):
                addresses.pop()                 # the branch is left to the interpreter, with its slots
                slots = []
        text.label(f"block{first}")
        text.do(f"%clock{first} = load i64, ptr %at_clock")
        if not addresses:
            block.leave(number(first), INTERPRET, f"%clock{first}")
            return
        end = text.put(f"add i64 %clock{first}, {len(addresses) + len(slots)}")
        touches = any(int(self.code[address]["marks"]) & MARKS_TRANSFER for address in addresses + slots)
        late = text.put(f"icmp ugt i64 {end}, {'%horizon' if touches else '%far'}")
        cut, whole = self.new_label("cut"), self.new_label("whole")
        text.do(f"br i1 {late}, label %{cut}, label %{whole}")
        text.label(cut)
        block.leave(number(first), CUT, f"%clock{first}")
        text.label(whole)
        for address in addresses:
            record = self.code[address]
            block.look(record, address)
            if int(record["special"]):
                block.look_at_pointers(record, address)
            condition = block.execute(record, address)
            if condition is not None:
                self._branch(block, address, condition, slots)
                return
        self._go_on(block, addresses[-1] + 1)

    def _go_on(self, block: Block, address: int) -> None:
        """After the last instruction of a block: into the next one, or stop."""
        if self._goes_on(address) and address in self.starts:
            block.store_fields()
            self.text.do(f"store i64 {block.clock()}, ptr %at_clock")
            self.text.do(f"br label %block{address}")
        elif self._is_held(address):
            block.leave(number(address), STOPPED, block.clock())
        else:
            block.leave(number(address % self.room), INTERPRET, block.clock())

    def _branch(self, block: Block, address: int, condition: str, slots: list[int]) -> None:
        """The end of a block that ends with a branch."""
        text, record = self.text, self.code[address]
        taken, straight = self.new_label("taken"), self.new_label("straight")
        target = text.put(f"and i32 {block.target}, {self.room - 1}")
        abort = self._abort(block, record)
        text.do(f"br i1 {condition}, label %{taken}, label %{straight}")
        text.label(straight)
        kept = copy(block.dirty), copy(block.fields), copy(block.files), copy(block.pointers)
        self._go_on(block, address + 1)
        block.dirty, block.fields, block.files, block.pointers = kept
        text.label(taken)
        for k, slot in enumerate(slots):
            block.look(self.code[slot], slot, (len(slots) - k, target, abort))
            block.execute(self.code[slot], slot)
        if slots:
            for name, value in (("after", number(AFTER_NOTHING)), ("after_pc", target), ("after_abort", abort)):
                text.store("i32", value, "%engine", offset_of(name))
        block.store_fields()
        wide = text.put(f"zext i32 {abort} to i64")
        squashed = text.put(f"add i64 {text.put('load i64, ptr %at_squashed')}, {wide}")
        text.do(f"store i64 {squashed}, ptr %at_squashed")
        text.do(f"store i64 {text.put(f'add i64 {block.clock()}, {wide}')}, ptr %at_clock")
        where = int(record["target"]) if not self._jumps(record) else -1
        if where in self.starts:
            text.do(f"br label %block{where}")
            return
        text.do(f"store i32 {target}, ptr %at_pc")
        if where >= 0 and self._is_held(where):
            text.do(f"store i32 {STOPPED}, ptr %at_status")
            text.do("br label %done")
        else:
            text.do("br label %dispatch")

    def _abort(self, block: Block, record: Any) -> str:
        """Cycles of squashed fetches of a taken branch, as an i32: fewer if the flags are older than the instruction before."""
        full, early = int(record["abort"]), int(record["early"])
        text = self.text
        if full == early or (block.flags_at is not None and block.flags_at == block.count - 1):
            return number(full)
        older = "%is_early"
        if block.flags_at is None:
            now = block.clock()
            set_at = text.put(f"add i64 {text.load('i64', '%engine', offset_of('cc_time'))}, 1")
            older = text.put(f"and i1 %is_early, {text.put(f'icmp ne i64 {set_at}, {now}')}")
        return text.put(f"select i1 {older}, i32 {early}, i32 {full}")

    def _fits_in_slot(self, address: int) -> bool:
        """Whether an instruction can be written in a defer slot."""
        return self._goes_on(address) and not self._is_branch(address) and not int(self.code[address]["special"])

    def _is_branch(self, address: int) -> bool:
        return FIRST_BRANCH <= int(self.code[address]["op"]) < FIRST_OTHER

    def _jumps(self, record: Any) -> bool:
        """Whether a branch works out its target."""
        return any(isinstance(statement, Jump) for statement in self.cases[int(record["op"])].statements)

    def _is_held(self, address: int) -> bool:
        """Whether a microengine always stops before an instruction. There is nothing behind the program."""
        return len(self.code) <= address < self.room or (
            address < len(self.code) and bool(int(self.code[address]["marks"]) & self.held))

    def _goes_on(self, address: int) -> bool:
        """Whether there is an instruction that can be written."""
        return address < len(self.code) and self.known[address]


def _read(case: Case) -> set[str]:
    """Names that a case reads."""
    return set().union(*(names_in(step.value) for step in case.statements if isinstance(step, Assign)), set())


def translate(code: npt.NDArray[Any], room: int, held: int) -> str:
    """The module, as text of the LLVM language, of a program in code records (dtype CODE); its function is NAME.

    `room`: words of the control store; those behind the program are empty. `held`: the marks at which a microengine stops
    whatever the registers. The text is right as long as no word and no mark of an instruction changes.
    """
    return _Program(np.ascontiguousarray(code), room, held).write()
