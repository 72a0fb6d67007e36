"""A media interface without microengines: its alarms and pushes are driven by plain Python, and so is what software would do.

Threads are only names: whoever receives an autopush is told through `on_status`. This runs the engine's own functions,
compiled or not, and nothing of its scheduler.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy import uint32, uint64

from ixpemu.chip_ports import Ports
from ixpemu.engine.jit import arithmetic
from ixpemu.engine.layout import NEVER, SRAM_IN
from ixpemu.engine.msf_layout import PORTS
from ixpemu.engine.parameters import MSF_PARAMETERS, P_MSF_OWN, P_PUSH_S, P_PUSH_S_WORD
from ixpemu.engine.state import new_state
from tests.support.media_entry import ALARM, FAST_WRITE, POP_PUSH, READ, WRITE, media_call

BOARD = {
    "chip.megahertz": 600, "msf.bus_megahertz": 104, "msf.bus_overhead_words": 2, "msf.status_cycles": 10,
    "msf.timeout_unit_cycles": 1, "port.count": 3, "port.megabits": 1000, "port.receive_fifo_bytes": 16_384,
    "port.transmit_fifo_bytes": 16_384, "port.longest_frame": 1_518,
    "msf.element_unit_bytes": 0, "msf.erratum_69": 1, "chip.microengines": 8,
    "chip.control_store_words": 4096,
}
HOST = 255


@dataclass(slots=True)
class Status:
    """An autopush as its thread sees it."""

    cycle: int
    me: int
    ctx: int
    register: int
    signals: int
    words: tuple[int, int]
    packet: int

    @property
    def element(self) -> int:
        return self.words[0] >> 24 & 0x7F

    @property
    def length(self) -> int:
        return (self.words[0] >> 16 & 0xFF) or 256

    @property
    def sop(self) -> bool:
        return bool(self.words[0] >> 15 & 1)

    @property
    def eop(self) -> bool:
        return bool(self.words[0] >> 14 & 1)

    @property
    def port(self) -> int:
        return self.words[0] & 0x1F

    @property
    def null(self) -> bool:
        return bool(self.words[0] >> 9 & 1)


@dataclass
class Media:
    """State and clock of a media interface; `element` is the size of RBUF and TBUF elements in bytes."""

    element: int = 64
    changes: dict[str, int] = field(default_factory=dict)
    now: int = 0
    on_status: Callable[[Status], None] = lambda status: None

    def __post_init__(self) -> None:
        self.array = new_state()
        self.state = self.array[0]
        self.memory = np.zeros(4096, np.uint32)
        self.state.mode = 1
        for place, name in enumerate(MSF_PARAMETERS):
            self.state.parameter[P_MSF_OWN + place] = (BOARD | self.changes)[name]
        self.state.cluster_shift = 2
        self.state.parameter[P_PUSH_S] = 4
        self.state.parameter[P_PUSH_S_WORD] = 1
        self.state.stop_at_packets = 1 << 60
        self.ports = Ports(self.array, lambda: self.now)
        code = {64: 0, 128: 1, 256: 2}[self.element]
        self.control = 0xF << 28 | 1 << 19 | code << 2
        self.write(0x00, self.control)
        self.write(0x04, self.control)

    def _call(self, operation: int, a: int, b: int = 0, me: int = 0, ctx: int = 0) -> int:
        with arithmetic():
            return int(media_call(
                self.state, self.memory, uint32(operation), uint32(a), uint32(b), uint32(me), uint32(ctx), uint64(self.now)))

    def write(self, address: int, value: int, me: int = HOST, ctx: int = 0) -> None:
        self._call(WRITE, address, value, me, ctx)

    def fast_write(self, address: int, value: int) -> None:
        self._call(FAST_WRITE, address, value)

    def read(self, address: int) -> int:
        return self._call(READ, address)

    def free(self, elements: Iterable[int]) -> None:
        for element in elements:
            self.fast_write(0x44, element)

    def queue_thread(self, me: int = 0, ctx: int = 0, register: int = 0, signal: int = 1, which: int = 0) -> None:
        self.fast_write(0x30 + 4 * which, signal << 12 | me >> 2 << 9 | (me & 3) << 7 | ctx << 4 | register)

    def element_bytes(self, element: int, length: int) -> bytes:
        start = element * self.element // 4
        return self.state.msf.rbuf[start : start + (length + 3) // 4].astype(">u4").tobytes()[:length]

    def fill(self, element: int, content: bytes, at: int = 0) -> None:
        # Not by msf[write]: entering compiled code from Python costs more than all the rest of a test.
        words = np.frombuffer(content.ljust(-(-len(content) // 4) * 4, b"\0"), ">u4")
        start = (element * self.element + at) // 4
        self.state.msf.tbuf[start : start + len(words)] = words

    def send_element(self, element: int, control: int, me: int = HOST, ctx: int = 0) -> None:
        # A command carries the packet of its thread.
        self.state.msf.writer_packet = self.state.engines[me].packet[ctx] if me != HOST else 0
        self.write(0x1800 + 8 * element, control, me, ctx)
        self.write(0x1804 + 8 * element, 0, me, ctx)

    def run(self, until: int) -> None:
        """Let everything happen that is due before cycle `until`, in time order; pushes before alarms of the same cycle."""
        state = self.state
        while True:
            pushes = [int(engine.arrival_time[int(engine.arrivals) - 1]) if engine.arrivals else NEVER
                      for engine in state.engines]
            alarms = [int(when) for when in state.alarm]
            when = min(*pushes, *alarms)
            if when >= until or when >= NEVER:
                self.now = max(self.now, until)
                return
            assert when >= self.now, "time goes backwards"
            self.now = when
            state.now = when
            if when in pushes:
                self._deliver(pushes.index(when))
            else:
                self._call(ALARM, alarms.index(when))
            self.ports.service()

    def _deliver(self, me: int) -> None:
        push = self.state.events[self._call(POP_PUSH, me)]
        first = int(push.first)
        self.on_status(Status(
            self.now, int(push.me), int(push.ctx), first - SRAM_IN - 16 * int(push.ctx), int(push.signals),
            (int(push.words[0]), int(push.words[1])), int(push.packet)))


assert PORTS == 3
