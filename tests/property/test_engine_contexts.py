"""Contexts and signals against a simple model: random waits of all contexts for all or any of random signals, and random
arrivals, enables, disables and prepared masks from outside, in 8- and 4-context mode. What is compared after every action: who
sleeps, is ready or away, which signals are set, and the whole order of wake-ups with the signals that each saw.

The program takes its waits from local memory, one list a context; a list that is used up ends in kill. It logs without giving up
the microengine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from tests.support.machine import words_of

WAITS = 7                   # of each context, at most
ANY = 1 << 16
PROGRAM = """
local_csr_wr[ACTIVE_LM_ADDR_0, a15]
nop
nop
nop
next#:
alu[a0, --, B, *l$index0++]
beq[end#]
local_csr_wr[ACTIVE_CTX_WAKEUP_EVENTS, a0]
ctx_arb[--]
local_csr_rd[ACTIVE_CTX_SIG_EVENTS]
immed[b0, 0]
alu[$0, a14, +, b0]
scratch[put, $0, b15, 0, 1], sig_done[s15]
logged#:
br_!signal[s15, logged#]
br[next#]
end#:
ctx_arb[kill]
"""


@dataclass(slots=True)
class Context:
    """One context: its list of waits, what it sleeps on (None: killed), and its signals."""

    waits: list[int]
    enabled: bool = False
    fresh: bool = True          # it has not run yet
    ready: bool = True
    signals: int = 0
    wait: int | None = None

    def satisfied(self) -> bool:
        if self.wait is None:
            return False
        if self.wait & ANY:
            return bool(self.signals & self.wait & 0xFFFF)
        return self.signals & self.wait == self.wait


@dataclass(slots=True)
class Model:
    """A microengine that runs to where nobody is ready. `log`: (context, signals seen) of every wake-up."""

    contexts: dict[int, Context]
    last: int = 7
    log: list[tuple[int, int]] = field(default_factory=list)

    def arrive(self, number: int, mask: int) -> None:
        context = self.contexts[number]
        context.signals |= mask
        context.ready = context.ready or context.satisfied()

    def run(self) -> None:
        while able := {k for k, context in self.contexts.items() if context.enabled and context.ready}:
            following = next(k % 8 for k in range(self.last + 1, self.last + 9) if k % 8 in able)
            self.last = following
            context = self.contexts[following]
            if context.fresh:
                context.fresh = False
                context.signals &= ~1
            else:
                assert context.wait is not None
                if not context.wait & ANY:
                    context.signals &= ~context.wait
                self.log.append((following, context.signals))
            context.wait = context.waits.pop(0) if context.waits else None
            context.ready = context.satisfied()


masks = st.integers(1, (1 << 5) - 1).map(lambda bits: sum(1 << (1 + 3 * k) for k in range(5) if bits >> k & 1))


class Contexts(RuleBasedStateMachine):
    """The chip and the model, side by side."""

    @initialize(
        four=st.booleans(),
        waits=st.lists(st.lists(st.tuples(masks, st.sampled_from([0, 0, ANY])), max_size=WAITS), min_size=8, max_size=8),
        enabled=st.integers(0, 255),
    )
    def start(self, four: bool, waits: list[list[tuple[int, int]]], enabled: int) -> None:
        self.four = four
        self.numbers = range(0, 8, 2) if four else range(8)
        self.model = Model({k: Context([mask | kind for mask, kind in waits[k]], signals=1) for k in self.numbers})
        self.chip = Chip()
        self.me = self.chip.me[2]
        self.chip.load_words(2, words_of(PROGRAM, 4 if four else 8), contexts=4 if four else 8, start=False)
        self.chip.scratch.ring(5).setup(0x1000, 128)
        for k in self.numbers:
            listed = self.model.contexts[k].waits
            self.me.local_memory[64 * k : 64 * k + 8] = np.array([*listed, *[0] * (8 - len(listed))], np.uint32)
        self.chip.start(2, 0)
        for k in self.numbers:
            self.me.ctx[k].gpr_a[15], self.me.ctx[k].gpr_a[14], self.me.ctx[k].gpr_b[15] = 256 * k, k << 16, 20
        self.enable(enabled)

    def settle(self) -> None:
        self.model.run()
        self.chip.run(cycles=150 * (2 + sum(len(context.waits) for context in self.model.contexts.values()) + 8))

    @rule(number=st.integers(0, 7), mask=masks)
    def signals_arrive(self, number: int, mask: int) -> None:
        """Several at once, from outside."""
        number = number & 6 if self.four else number
        self.chip.me[2].csr["CSR_CTX_POINTER"] = number
        self.me.csr["INDIRECT_CTX_SIG_EVENTS"] = mask | self.me.csr["INDIRECT_CTX_SIG_EVENTS"]
        self.model.arrive(number, mask)
        self.settle()

    @rule(numbers=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4)), min_size=1, max_size=6))
    def single_signals_arrive(self, numbers: list[tuple[int, int]]) -> None:
        """One by one, in one cycle: later ones wake in the order of the arbiter and not in that of their arrival."""
        chosen = [(number & 6 if self.four else number, 1 + 3 * bit) for number, bit in numbers]
        enabled = self.me.csr["CTX_ENABLES"]
        self.me.csr["CTX_ENABLES"] = enabled & ~0xFF00          # so that nobody starts before all have come
        for number, signal in chosen:
            self.me.ctx[number].signal(signal)
        self.me.csr["CTX_ENABLES"] = enabled
        for number, signal in chosen:
            self.model.arrive(number, 1 << signal)
        self.settle()

    @rule(mask=st.integers(0, 255))
    def enable(self, mask: int) -> None:
        self.me.csr["CTX_ENABLES"] = mask << 8 | (1 << 31 if self.four else 0)
        for k, context in self.model.contexts.items():
            context.enabled = bool(mask >> k & 1)
        self.settle()

    @rule(number=st.integers(0, 7), mask=masks, kind=st.sampled_from([0, ANY]))
    def another_wait(self, number: int, mask: int, kind: int) -> None:
        """Somebody else changes what a context that sleeps or was killed waits for."""
        number = number & 6 if self.four else number
        context = self.model.contexts[number]
        if context.fresh or context.ready or context.wait is None:
            return
        self.me.csr["CSR_CTX_POINTER"] = number
        self.me.csr["INDIRECT_CTX_WAKEUP_EVENTS"] = mask | kind
        context.wait = mask | kind
        context.ready = context.satisfied()
        self.settle()

    @precondition(lambda self: not self.four)
    @rule(number=st.integers(0, 7), to=st.integers(0, 7), bit=st.integers(0, 4))
    def another_microengine_signals(self, number: int, to: int, bit: int) -> None:
        """By NEXT_NEIGHBOR_SIGNAL of the one before it."""
        signal = 1 + 3 * bit
        self.chip.load_words(1, words_of(f"local_csr_wr[NEXT_NEIGHBOR_SIGNAL, {signal << 3 | to}]\nctx_arb[kill]"), start=False)
        self.chip.start(1, 1 << number)
        self.model.arrive(to, 1 << signal)
        self.settle()

    @invariant()
    def same(self) -> None:
        if not hasattr(self, "model"):
            return
        for k, context in self.model.contexts.items():
            state = "inactive" if not context.enabled else "ready" if context.ready else "sleep"
            found = self.me.ctx[k]
            assert found.state == state, k
            assert sum(1 << signal for signal in found.signals) == context.signals & ~1, k
            if context.wait is not None:
                assert sum(1 << signal for signal in found.waiting_for) == context.wait & 0xFFFE, k
        ring = self.chip.scratch.ring(5)
        log = [ring.get() for _ in range(ring.used)]
        assert [(word >> 16, word & 0xFFFF) for word in log] == [(ctx, seen) for ctx, seen in self.model.log]
        self.model.log.clear()


Contexts.TestCase.settings = settings(max_examples=120 if COMPILED else 8, stateful_step_count=20, deadline=None)
TestContexts = Contexts.TestCase
