"""Local memory in place of registers: which live ranges go there, and what that takes.

A word of local memory stands in an instruction where a register does, so that a value kept there costs nothing at its places. It
costs a pointer, set once by each thread: one that the program does not use. What cannot be written as local memory everywhere
stays in its register. Each context has 16 words of its own from `FIRST` on, which the program must leave alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ixpemu import codes
from ixpemu.asm.flow import File, Kind
from ixpemu.asm.insertion import insert, with_operand
from ixpemu.asm.limits import Limits
from ixpemu.asm.numbers import cells_of
from ixpemu.asm.program import Program
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import Diagnostic, Origin, Severity
from ixpemu.image_links import LOCAL_MEMORY
from ixpemu.isa import EncodingError, InstructionSet, idioms
from ixpemu.isa.model import Operand, Operation, Register, RegisterClass, Signal, Target, Token

WORDS = 16                      # behind one pointer
FIRST = 2048                    # byte: eight contexts of 64 bytes at the end of local memory


@dataclass(slots=True)
class Spilling:
    """What has been put into local memory so far."""

    isa: InstructionSet
    contexts: int
    pointer: int | None = None
    used: set[int] = field(default_factory=set)
    made: list[tuple[str, int, int, Origin]] = field(default_factory=list)      # spelling, word, places, where it is first

    def notes(self) -> list[Diagnostic]:
        """What it costs, at the first place of each value."""
        if self.pointer is None:
            return []
        cost = len(idioms.point_per_context(Register(RegisterClass.GPR), self.pointer, FIRST))
        return [
            Diagnostic(
                codes.REPAIR_SPILL,
                f"`{spelling}` is kept in local memory, as *l$index{self.pointer}[{word}]: no cycle more at its {places} places"
                + (f"; {cost} cycles when a thread begins, for the pointer" if number == 0 else ""),
                Severity.NOTE, origin,
                f"bytes {FIRST} to {FIRST + 511} of local memory are taken: leave them alone" if number == 0 else None,
            )
            for number, (spelling, word, places, origin) in enumerate(self.made)
        ]

    def choose(self, program: Program, webs: Webs, limits: Limits) -> list[tuple[int, int]] | str:
        """The webs to put into local memory now, each with its word; or why there are none."""
        if self.pointer is None:
            if webs.flow.reentries:
                return "control comes from outside of the text, so that a local memory pointer may be anything"
            named = [one for one in program.memories if one.region == LOCAL_MEMORY and one.address is not None]
            if any((one.address or 0) + one.size > FIRST for one in named):
                return f"the program's own local memory goes beyond byte {FIRST:,}, where the values would lie"
            free = [
                pointer for pointer in (1, 0)
                if not any(idioms.uses_pointer(one.operation, pointer) for one in program.instructions)
            ]
            if not free:
                return "both local memory pointers are in use, so that no value can be kept there"
            self.pointer = free[0]
        gprs = webs.members.get(File.GPR, 0)
        written = [0] * len(webs.occupied)
        for node, point in enumerate(webs.flow.nodes):
            for number in point.writes:
                written[node] |= 1 << webs.of_occurrence[number]
        needs = [(occupied | write) & gprs for occupied, write in zip(webs.occupied, written, strict=True)]
        absolutes = -(-webs.members.get(File.ABSOLUTE, 0).bit_count() // limits.windows)
        room = 2 * limits.gpr - absolutes
        excess = max(1, max(map(int.bit_count, needs)) - room)
        fullest = max(needs, key=int.bit_count)
        crowded = [mask for mask in needs if mask.bit_count() > room]
        # The value that is in the way at most of the places where there are too many; of several the one that lives longest.
        relief = {web: (sum(mask >> web & 1 for mask in crowded), sum(mask >> web & 1 for mask in needs))
                  for web in cells_of(fullest)}
        chosen: list[tuple[int, int]] = []
        for web in sorted(relief, key=lambda web: relief[web], reverse=True):
            word = self._word(program, webs, web, [one for one, _ in chosen])
            if word is not None:
                chosen.append((web, word))
                self.used.add(word)
                if len(chosen) == excess:
                    break
        if not chosen and len(self.used) >= WORDS // 2:
            return f"{len(self.used)} values are in local memory, no more words behind one pointer will do, and it is not enough"
        if not chosen:
            return (
                "none of the values that are needed at once can be kept in local memory: each is fixed, used by number, or "
                "stands where a word of local memory cannot"
            )
        return chosen

    def _word(self, program: Program, webs: Webs, web: int, others: list[int]) -> int | None:
        """A free word of local memory that can stand wherever the web does; None if there is none."""
        variable = webs.webs[web].variable
        occurrences = [webs.flow.occurrences[number] for number in webs.webs[web].occurrences]
        if variable.pinned or variable.fixed is not None or variable.name.split("!")[-1].startswith("repair"):
            return None
        if any(number in webs.undefined for number in webs.webs[web].occurrences):
            return None         # its value may be there before the program begins
        if any(one.site is None or one.site.operand < 0 or webs.flow.nodes[one.node].kind is Kind.FACT for one in occurrences):
            return None
        places = {(one.site.instruction, one.site.operand) for one in occurrences if one.site is not None}
        theirs = {
            (site.instruction, site.operand) for (site, _), number in webs.at.items() if number in others
        }
        for word in sorted(set(range(WORDS)) - self.used):
            if all(self._fits(program, index, operand, word, theirs) for index, operand in places):
                return word
            if word >= WORDS // 2:
                break
        return None

    def _fits(self, program: Program, index: int, operand: int, word: int, theirs: set[tuple[int, int]]) -> bool:
        """Whether an instruction can have the word in place of an operand, whatever registers its others are."""
        operation = program.instructions[index].operation
        memory = idioms.memory_word(self.pointer or 0, word)
        if any(here == index for here, _ in theirs):
            return False
        banks = self.isa.facts(operation).pair or ()
        operands = [
            memory if place == operand else _stand_in(one, "ab"[place in banks[1:]])
            for place, one in enumerate(operation.operands)
        ]
        tokens = tuple(Token(one.name, tuple(_stand_in(a, "a") for a in one.arguments)) for one in operation.tokens)
        try:
            self.isa.encode(Operation(operation.mnemonic, tuple(operands), tokens), self.contexts)
        except EncodingError:
            return False
        return True

    def carry_out(
        self, program: Program, webs: Webs, chosen: list[tuple[int, int]],
        temporary: Callable[[Program], tuple[Program, Register]],
    ) -> Program:
        """The program with those webs in local memory, and the pointer set at its beginning."""
        pointer = self.pointer or 0
        instructions = list(program.instructions)
        for web, word in chosen:
            sites = sorted({
                (site.instruction, site.operand)
                for number in webs.webs[web].occurrences if (site := webs.flow.occurrences[number].site) is not None
            })
            for index, operand in sites:
                instructions[index] = with_operand(instructions[index], operand, idioms.memory_word(pointer, word))
            origin = instructions[sites[0][0]].operand_origins[sites[0][1]]
            self.made.append((webs.webs[web].variable.spelling, word, len(sites), origin))
        program = replace(program, instructions=instructions)
        if len(self.made) > len(chosen):        # the pointer has been set in an earlier round
            return program
        program, register = temporary(program)
        return insert(program, {}, idioms.point_per_context(register, pointer, FIRST))


def _stand_in(operand: Operand, bank: str) -> Operand:
    """Something of the same kind that can be encoded, for an operand that has no place yet."""
    if isinstance(operand, Register) and operand.name is not None and operand.number is None:
        return replace(operand, number=0, bank=bank if operand.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE) else None)
    if isinstance(operand, Signal):
        return replace(operand, number=2)
    return replace(operand, address=0) if isinstance(operand, Target) else operand
