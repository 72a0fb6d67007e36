"""Fills defer slots: of branches, computed jumps, ctx_arb and commands that swap out.

From before: an instruction of the same region that the branch or swap does not depend on goes behind it, where it is executed
just the same. From behind: what follows a swap becomes a slot where it stands, if it only concerns the context's own registers
and so may as well be executed before the context sleeps. Behind a conditional branch nothing would be gained: what is executed
for nothing on the other way costs the cycle that it saves. Nothing is copied, so a program does not grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ixpemu.asm import moves
from ixpemu.asm.regions import Cut, Item, Region
from ixpemu.isa import InstructionSet
from ixpemu.isa.effects import CODES, EVERYTHING, OWN

Cost = Callable[[int], int]     # of a region by its number: no-ops that it needs


class Way(Enum):
    """How a defer slot was filled."""

    BEFORE = "from before"
    BEHIND = "from behind"


@dataclass(frozen=True, slots=True)
class Filled:
    """Instruction `moved` now stands in a slot of `owner`. `saved`: cycles, each time that the owner is taken or swaps."""

    owner: int
    moved: int
    way: Way
    saved: int


class Slots:
    """The regions of a program, while their slots are filled. `shut`: regions behind whose end nothing may be put."""

    def __init__(self, cut: Cut, isa: InstructionSet, cost: Cost, shut: frozenset[int]) -> None:
        self.cut, self.isa, self.cost, self.shut = cut, isa, cost, shut
        self.filled: list[Filled] = []

    def fill(self, number: int) -> None:
        """Fills the slots of region `number`, from before and then from the region behind."""
        region = self.cut.regions[number]
        owner = region.owner
        if owner is None or region.fixed or number in self.shut or owner.last or any(slot.last for slot in region.slots):
            return
        while len(region.slots) < owner.facts.defer_limit and self._from_before(number, region, owner):
            pass
        if number + 1 < len(self.cut.regions):
            behind = self.cut.regions[number + 1]
            while len(region.slots) < owner.facts.defer_limit and self._from_behind(number, region, owner, behind):
                pass

    def _price(self, number: int) -> int:
        region = self.cut.regions[number]
        return self.cost(number) + moves.squashed(region, self.isa, self.cut.operations)

    def _from_before(self, number: int, region: Region, owner: Item) -> bool:
        """Moves one instruction into the first slot, if that pays."""
        items = region.items()
        known, at = moves.live_behind(items, region.live), len(region.body)
        before = self._price(number)
        for place in range(at - 1, max(-1, at - 1 - moves.REACH), -1):
            item = region.body[place]
            if item.held or not moves.may_sink(items, place, at, known, owner if owner.facts.waits else None):
                continue
            del region.body[place]
            region.slots.insert(0, item)
            if self._price(number) < before:
                self.filled.append(Filled(owner.number, item.number, Way.BEFORE, before - self._price(number)))
                return True
            del region.slots[0]
            region.body.insert(place, item)
        return False

    def _from_behind(self, number: int, region: Region, owner: Item, behind: Region) -> bool:
        """Makes the instruction that follows a slot, if that is all the same."""
        if not behind.alone or behind.fixed or not behind.body or behind.body[0].held or behind.body[0].joined:
            return False
        item = behind.body[0]
        if not self._early(owner, item, behind):
            return False
        before = self._price(number) + self._price(number + 1)
        gain = moves.squashed(region, self.isa, self.cut.operations)
        region.slots.append(behind.body.pop(0))
        gain -= moves.squashed(region, self.isa, self.cut.operations)
        if gain > 0 and self._price(number) + self._price(number + 1) < before:
            self.filled.append(Filled(owner.number, item.number, Way.BEHIND, gain))
            return True
        behind.body.insert(0, region.slots.pop())
        return False

    def _early(self, owner: Item, item: Item, behind: Region) -> bool:
        """Whether what follows `owner` may be executed in a slot of it."""
        effects, facts = item.effects, owner.facts
        if effects.shared or (effects.reads | effects.writes) & EVERYTHING & ~OWN or facts.ends or facts.resume is not None:
            return False
        if not facts.swaps:
            return False
        # Condition codes do not outlive the swap, so nobody behind it may want those of the instruction.
        live = moves.live_behind(behind.items(), behind.live)[0]
        return not effects.reads & CODES and not effects.writes & CODES & live
