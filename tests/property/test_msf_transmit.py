"""The transmit side against a model of its own: strict order by partition, layout of elements, what a MAC makes of them."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.media import Media

STARTS = {1: (0, 8192), 2: (0, 0x1800, 0x2000), 3: (0, 0x1000, 0x1C00, 0x2000)}
CODES = {64: 0, 128: 1, 256: 2}


@dataclass(frozen=True)
class Element:
    """One element as software writes it."""

    length: int
    prepend_at: int
    prepend: int
    offset: int
    sop: bool
    eop: bool
    skip: bool
    abort: bool
    filler: int

    def payload(self) -> int:
        return (self.prepend_at + self.prepend + 7) // 8 * 8 + self.offset

    def control(self, port: int) -> int:
        return ((self.length & 0xFF) << 24 | self.prepend_at << 21 | self.prepend << 16 | self.offset << 13 | self.skip << 11
                | self.abort << 10 | self.sop << 9 | self.eop << 8 | port)

    def bytes_of(self, content: bytes) -> bytes:
        start = self.payload()
        return content[self.prepend_at : self.prepend_at + self.prepend] + content[start : start + self.length]


@dataclass
class Mac:
    """What a MAC does with the elements of its port, in order; frames of 1,518 bytes at most."""

    sent: list[bytes] = field(default_factory=list)
    open: bytes | None = None
    thrown: bool = False
    counts: dict[str, int] = field(default_factory=lambda: {"broken": 0, "aborted": 0, "sent_oversize": 0, "sent_runts": 0})

    def take(self, element: Element, content: bytes) -> None:
        if element.skip:
            return
        if element.sop:
            self.counts["broken"] += self.open is not None
            self.open, self.thrown = b"", False
        elif self.open is None:
            self.counts["broken"] += 1
            return
        if not self.thrown:
            self.open += element.bytes_of(content)
            if len(self.open) > 1518:
                self.counts["sent_oversize"] += 1
                self.thrown = True
        if element.abort:
            self.counts["aborted"] += 1
            self.open = None
        elif element.eop:
            if not self.thrown and len(self.open) < 14:
                self.counts["sent_runts"] += 1
            elif not self.thrown:
                self.sent.append(self.open.ljust(60, b"\0"))
            self.open = None


@st.composite
def element(draw, size):
    """An element that fits its size; most are whole frames."""
    prepend_at, prepend, offset = draw(st.sampled_from([(0, 0, 0), (0, 8, 0), (2, 14, 0), (7, 9, 5)]))
    start = (prepend_at + prepend + 7) // 8 * 8 + offset
    length = draw(st.integers(1, size - start))
    whole = draw(st.integers(0, 3)) > 0
    flags = (True, True) if whole else (draw(st.booleans()), draw(st.booleans()))
    rare = draw(st.integers(0, 15))
    return Element(length, prepend_at, prepend, offset, *flags, rare == 0, rare == 1, draw(st.integers(0, 255)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([64, 128, 256]), min_size=1, max_size=3), st.data())
def test_sending_is_as_the_model_has_it(sizes, data):
    media = Media(64)
    for port in media.ports:
        port.capture()
    starts, unit = STARTS[len(sizes)], min(sizes)
    media.write(0x04, 0xF << 28 | 1 << 19 | len(sizes) - 1 << 10 | sum(CODES[s] << 2 + 2 * k for k, s in enumerate(sizes)))
    owner = {port: port % len(sizes) for port in range(3)}              # each port's frames go through one partition
    macs = [Mac(), Mac(), Mac()]
    counts = [0] * len(sizes)
    for _ in range(data.draw(st.integers(1, 4))):
        written = []
        for partition, size in enumerate(sizes):
            room = (starts[partition + 1] - starts[partition]) // size
            for _ in range(data.draw(st.integers(0, min(room, 12)))):
                port = data.draw(st.sampled_from([p for p in range(3) if owner[p] == partition]))
                made = data.draw(element(size))
                number = (starts[partition] + counts[partition] % room * size) // unit
                counts[partition] += 1
                content = bytes((made.filler + 7 * j) & 0xFF for j in range(size))
                macs[port].take(made, content)
                words = memoryview(content)
                at = number * unit // 4
                media.state.msf.tbuf[at : at + size // 4] = [int.from_bytes(words[k : k + 4], "big") for k in range(0, size, 4)]
                written.append((number, made.control(port)))
        for number, control in data.draw(st.permutations(written)):
            media.send_element(number, control)
            if data.draw(st.booleans()):
                media.run(media.now + data.draw(st.integers(1, 2000)))
        media.run(media.now + 400_000)
        for partition in range(len(sizes)):
            assert media.read(0x60 + 4 * partition) == 0x80000000 | counts[partition] & 0xFF
    for port, mac in zip(media.ports, macs, strict=True):
        assert [sent.frame for sent in port.sent] == mac.sent
        assert {name: getattr(port.counters, name) for name in mac.counts} == mac.counts
