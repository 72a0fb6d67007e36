"""The receive side against a model of its own: partitions, element split, status words, lists, FIFO drops to the frame.

The model is a few lists and a clock; it knows the layout of RBUF from the manual's table and nothing of the engine.
"""

from dataclasses import dataclass, field
from math import ceil

from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu.engine.layout import RESERVED_ELEMENT, RESERVED_THREADS
from ixpemu.net import internet_checksum
from ixpemu.wire import wire_length
from tests.support.media import Media, Status

STARTS = {1: (0, 8192), 2: (0, 0x1800, 0x2000), 3: (0, 0x1000, 0x1C00, 0x2000)}
FAULTY = {64: {0, 9, 18, 27}, 128: {0, 4, 9, 13}, 256: {0, 2, 4, 6}}
FIFO = 2048


@dataclass
class Setting:
    """How RBUF is divided and which list each port feeds."""

    sizes: tuple[int, ...]
    lists: tuple[int, ...]

    @property
    def control(self) -> int:
        codes = {64: 0, 128: 1, 256: 2}
        return 0xF << 28 | 1 << 19 | len(self.sizes) - 1 << 10 | sum(codes[s] << 2 + 2 * k for k, s in enumerate(self.sizes))

    @property
    def port_map(self) -> int:
        return sum(which << 2 * port for port, which in enumerate(self.lists))

    def elements(self, partition: int) -> list[int]:
        """Numbers of a partition's elements that erratum 69 allows."""
        starts, size, unit = STARTS[len(self.sizes)], self.sizes[partition], min(self.sizes)
        return [at // unit for at in range(starts[partition], starts[partition + 1], size) if at // size not in FAULTY[size]]


@dataclass
class Piece:
    """What one status says."""

    done: int
    port: int
    element: int
    content: bytes
    sop: bool
    eop: bool


@dataclass
class Model:
    setting: Setting
    now: int = 0
    fifo: dict[int, list[bytes]] = field(default_factory=lambda: {0: [], 1: [], 2: []})
    moved: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0, 2: 0})
    used: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0, 2: 0})
    free: dict[int, list[int]] = field(default_factory=lambda: {0: [], 1: [], 2: []})
    full: dict[int, list[Piece]] = field(default_factory=lambda: {0: [], 1: [], 2: []})
    dropped: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0, 2: 0})
    last: int = 0
    bus: Piece | None = None

    def partition(self, port: int) -> int:
        which = self.setting.lists[port] % 3
        return which if which < len(self.setting.sizes) else 0

    def start(self, now: int) -> None:
        if self.bus is not None:
            return
        for k in range(1, 4):
            port = (self.last + k) % 3
            partition = self.partition(port)
            if self.fifo[port] and self.free[partition]:
                frame, at = self.fifo[port][0], self.moved[port]
                content = frame[at : at + self.setting.sizes[partition]]
                element = self.free[partition].pop(0)
                end = now + ceil((ceil(len(content) / 4) + 2) * 600 / 104)
                self.bus = Piece(end, port, element, content, at == 0, at + len(content) == len(frame))
                self.last = port
                return

    def finish(self) -> None:
        piece = self.bus
        assert piece is not None
        self.bus = None
        self.used[piece.port] -= len(piece.content)
        self.moved[piece.port] = 0 if piece.eop else self.moved[piece.port] + len(piece.content)
        if piece.eop:
            self.fifo[piece.port].pop(0)
        self.full[self.setting.lists[piece.port] % 3].append(piece)
        self.start(piece.done)

    def arrive(self, port: int, frame: bytes, now: int) -> None:
        frame = frame.ljust(60, b"\0")
        if self.used[port] + len(frame) > FIFO:
            self.dropped[port] += 1
        else:
            self.used[port] += len(frame)
            self.fifo[port].append(frame)
        self.start(now)

    def run(self, until: int, arrivals: list[tuple[int, int, bytes]]) -> None:
        """Everything before `until`; arrivals (cycle, port, frame) in order, before the bus at one cycle."""
        while True:
            ends = self.bus.done if self.bus is not None else until
            if arrivals and arrivals[0][0] <= ends and arrivals[0][0] < until:
                when, port, frame = arrivals.pop(0)
                self.arrive(port, frame, when)
            elif ends < until:
                self.finish()
            else:
                return


sizes = st.lists(st.sampled_from([64, 128, 256]), min_size=1, max_size=3).map(tuple)
frames = st.lists(st.integers(14, 700), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    sizes, st.tuples(*[st.integers(0, 2)] * 3), st.tuples(frames, frames, frames), st.tuples(*[st.integers(1, 12)] * 3),
    st.lists(st.integers(500, 12_000), min_size=1, max_size=6).map(sorted), st.data(),
)
def test_receiving_is_as_the_model_has_it(partitions, lists, lengths, given_elements, times, data):
    setting = Setting(partitions, lists)
    media = Media(changes={"port.receive_fifo_bytes": FIFO})
    model = Model(setting)
    media.write(0x00, setting.control)
    media.write(0x40, setting.port_map)
    seen: dict[int, list[Status]] = {0: [], 1: [], 2: []}
    media.on_status = lambda status: seen[status.me].append(status)       # each list has the threads of one microengine
    for which in range(3):
        for k in range(64):
            media.queue_thread(me=which, ctx=k & 7, register=k & 14, signal=1 + k % 15, which=which)
    held: list[Piece] = []
    taken = {0: 0, 1: 0, 2: 0}
    for partition in range(len(partitions)):
        numbers = setting.elements(partition)[: given_elements[partition]]
        media.free(numbers)
        model.free[partition] += numbers
    contents = [[bytes((port * 64 + k + j) & 0xFF for j in range(n)) for k, n in enumerate(lengths[port])] for port in range(3)]
    arrivals = []
    for port in range(3):
        media.ports[port].feed(contents[port], gbps=1.0)
        free = 0
        for frame in contents[port]:
            arrivals.append((ceil((free + wire_length(len(frame))) * 4.8), port, frame))
            free += wire_length(len(frame)) + 12
    arrivals.sort(key=lambda row: row[:2])
    for when in (*times, 60_000):
        media.run(when)
        model.run(when, arrivals)
        for which in range(3):
            fresh = model.full[which][taken[which] :]
            ready = [piece for piece in fresh if piece.done <= when - 400][: 64 - taken[which]]
            assert len(seen[which]) - taken[which] >= len(ready), "as many statuses as elements, as long as threads wait"
            for piece, status in zip(ready, seen[which][taken[which] :], strict=False):
                number = taken[which]
                assert (status.element, status.port, status.sop, status.eop, status.length) == (
                    piece.element, piece.port, piece.sop, piece.eop, len(piece.content))
                assert status.words[0] & 0x80001FE0 == 0
                assert ~status.words[1] & 0xFFFF == internet_checksum(piece.content)
                assert (status.ctx, status.register, status.signals) == (number & 7, number & 14, 1 << 1 + number % 15)
                start = piece.element * min(setting.sizes)
                assert media.state.msf.rbuf.astype(">u4").tobytes()[start : start + len(piece.content)] == piece.content
                taken[which] += 1
                held.append(piece)
        for piece in held:
            if data.draw(st.booleans()):
                partition = model.partition(piece.port)
                media.free([piece.element])
                model.free[partition].append(piece.element)
                model.start(when)
        held = []
    for port in range(3):
        assert media.ports[port].counters.overflow == model.dropped[port]
    assert not media.state.reserved_total[[RESERVED_ELEMENT, RESERVED_THREADS]].any()
