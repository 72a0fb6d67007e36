"""The CAM against an ordered dictionary, operation by operation, in a Hypothesis state machine.

The model keeps entries in the order of their use: a hit and a write move an entry to the end, a miss names the first one.
"""

from collections import OrderedDict

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ixpemu import Chip
from ixpemu.engine.jit import COMPILED
from tests.support.machine import words_of

TAGS = st.integers(1, 24) | st.sampled_from((0x80000000, 0xFFFFFFFF)) | st.integers(0, 2**32 - 1)
STATES = st.integers(0, 15)
STATE_WORDS = [f"cam_write_state[b0, {state}]" for state in range(16)]
WRITE_WORDS = [f"cam_write[b0, a0, {state}]" for state in range(16)]
LINES = ["cam_clear", "cam_lookup[a1, a0]", "cam_lookup[a1, a0], lm_addr0[2]", "cam_read_tag[a1, b0]", "cam_read_state[a1, b0]",
         *WRITE_WORDS, *STATE_WORDS]


class CamMachine(RuleBasedStateMachine):
    """One chip, whose context 0 executes one instruction of LINES at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.chip = Chip()
        self.me = self.chip.me[0]
        self.chip.load_words(0, words_of("\n".join(f"{line}\nhalt" for line in LINES)), start=False)
        self.entries: OrderedDict[int, tuple[int, int]] = OrderedDict((entry, (0, 0)) for entry in range(16))

    def execute(self, line: str, a: int = 0, b: int = 0) -> int:
        registers = self.me.ctx[0]
        registers.gpr_a[0], registers.gpr_b[0] = a, b
        self.chip.start(0, 1)
        registers.pc = 2 * LINES.index(line)
        assert self.chip.run(cycles=50).reason == "halt"
        return int(registers.gpr_a[1])

    @rule()
    def clear(self) -> None:
        self.execute("cam_clear")
        self.entries = OrderedDict((entry, (0, 0)) for entry in range(16))

    def holders(self, tag: int) -> list[int]:
        return sorted(entry for entry, (held, _) in self.entries.items() if held == tag)

    def looked_up(self, tag: int) -> int:
        found = self.holders(tag)
        if not found:
            return next(iter(self.entries)) << 3
        self.entries.move_to_end(found[0])
        return self.entries[found[0]][1] << 8 | 1 << 7 | found[0] << 3

    @rule(tag=TAGS)
    def lookup(self, tag: int) -> None:
        assert self.execute("cam_lookup[a1, a0]", tag) == self.looked_up(tag)

    @rule(tag=TAGS)
    def lookup_with_a_pointer(self, tag: int) -> None:
        wanted = self.looked_up(tag)
        assert self.execute("cam_lookup[a1, a0], lm_addr0[2]", tag) == wanted
        # The halt behind it lets the pointer settle, as a swap does.
        assert int(self.me.engine.lm_addr[0]) == 512 + 16 * (wanted >> 3 & 15)

    @rule(entry=STATES, state=STATES, tag=TAGS)
    def write(self, entry: int, state: int, tag: int) -> None:
        self.execute(WRITE_WORDS[state], tag, entry)
        self.entries[entry] = (tag, state)
        self.entries.move_to_end(entry)

    @precondition(lambda self: any(tag for tag, _ in self.entries.values()))
    @rule(state=STATES, pick=st.integers(0, 15))
    def rewrite_what_is_there(self, state: int, pick: int) -> None:
        """Tags that are held already: hits are otherwise rare."""
        tag = self.entries[pick][0]
        assert self.execute("cam_lookup[a1, a0]", tag) == self.looked_up(tag)

    @rule(entry=st.integers(0, 2**32 - 1), state=STATES)
    def write_state(self, entry: int, state: int) -> None:
        """Of the operand the low four bits count."""
        self.execute(STATE_WORDS[state], 0, entry)
        self.entries[entry % 16] = (self.entries[entry % 16][0], state)

    @rule(entry=st.integers(0, 2**32 - 1))
    def read(self, entry: int) -> None:
        tag, state = self.entries[entry % 16]
        assert self.execute("cam_read_tag[a1, b0]", 0, entry) == tag
        assert self.execute("cam_read_state[a1, b0]", 0, entry) == state << 8

    @invariant()
    def same_entries_in_the_same_order(self) -> None:
        assert self.me.cam.order == tuple(self.entries)
        assert {entry.number: (entry.tag, entry.state) for entry in self.me.cam} == dict(self.entries)


TestCam = CamMachine.TestCase
TestCam.settings = settings(max_examples=60 if COMPILED else 15, stateful_step_count=40, deadline=None, derandomize=True)
