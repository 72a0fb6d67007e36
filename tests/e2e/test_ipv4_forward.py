"""The IPv4 router against the reference router: the same frames out of the same ports, byte for byte.

`IXPEMU_CAPTURES` names a folder of real captures; without it the tests that want them skip.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from ixpemu import App, Chip, assemble, resources
from ixpemu.app_module import load_module
from ixpemu.net import read_capture
from ixpemu.trace import RunReport
from ixpemu.xscale import XScale
from ixpemu.xscale.forwarding import Reason
from ixpemu.xscale.routes import Prefix
from tests.support.frames import HOST_MACS, PORT_MACS, ROUTES_TEXT, FrameMaker, reference
from tests.support.router import Router, checksum

PORTS = range(3)
CAPTURES = os.environ.get("IXPEMU_CAPTURES")
Make = Callable[[str], App]


@pytest.fixture
def router(tmp_path: Path) -> Make:
    """Makes the shipped application with other routes and with nothing on its ports."""

    def make(routes: str = ROUTES_TEXT) -> App:
        folder = tmp_path / "ipv4_forward"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(resources.folder("microcode") / "ipv4_forward", folder)
        settings = folder / "app.toml"
        settings.write_text(re.sub(r', (in|out) = "[^"]*"', "", settings.read_text()))
        (folder / "routes.txt").write_text(routes)
        app = App.load(folder)
        for port in PORTS:
            app.chip.ports[port].capture()
        return app

    return make


def send(app: App, frames: Sequence[Sequence[bytes]], gbps: float) -> RunReport:
    for port, row in enumerate(frames):
        app.chip.ports[port].feed(row, gbps=gbps)
    return app.run()


def compare(app: App, judge: Router, frames: Sequence[Sequence[bytes]]) -> Counter[str]:
    """Every frame that the judge wants has left, no other has, and those from one port to another are in order."""
    reasons: Counter[str] = Counter()
    wanted: dict[int, Counter[bytes]] = defaultdict(Counter)
    from_port: dict[tuple[int, bytes], deque[tuple[int, int]]] = defaultdict(deque)
    for port, row in enumerate(frames):
        for number, frame in enumerate(row):
            verdict = judge.receive(port, frame)
            reasons[verdict.reason] += 1
            for to, octets in verdict.sent:
                wanted[to][octets] += 1
                if verdict.reason == "forwarded":
                    from_port[to, octets].append((port, number))
    for port in PORTS:
        left = [sent.frame for sent in app.chip.ports[port].sent]
        missing, extra = wanted[port] - Counter(left), Counter(left) - wanted[port]
        assert not missing and not extra, (
            f"port {port}: {missing.total()} frames missing, {extra.total()} that should not be\n"
            + "\n".join(f"- {frame.hex()}" for frame in list(missing)[:3]) + "\n"
            + "\n".join(f"+ {frame.hex()}" for frame in list(extra)[:3])
        )
        last = dict.fromkeys(PORTS, -1)
        for octets in left:
            if from_port[port, octets]:
                source, number = from_port[port, octets].popleft()
                assert number > last[source], f"port {port}: frame {number} of port {source} left after frame {last[source]}"
                last[source] = number
    return reasons


def counted(app: App) -> Counter[str]:
    return Counter(app.xscale.program.slow.counts)


@pytest.mark.parametrize("seed", [1])
def test_five_thousand_generated_packets(router: Make, seed: int) -> None:
    make = FrameMaker(seed)
    frames = [[make.frame(port) for _ in range(1667)] for port in PORTS]
    app = router()
    report = send(app, frames, gbps=0.5)
    reasons = compare(app, reference(), frames)
    assert report.stop == "quiet" and report.inside == 0
    too_long = reasons.pop("too_long")
    forwarded = reasons.pop("forwarded")
    assert counted(app) == reasons
    assert report.drops == {reason.replace("_", " "): count for reason, count in (reasons | {"too_long": too_long}).items()}
    assert report.sent - report.generated == forwarded
    assert report.arrived == 3 * 1667 == forwarded + sum(report.drops.values())
    free_buffers_are_all_back(app)


def free_buffers_are_all_back(app: App) -> None:
    """No buffer was lost or given back twice: those on the free ring and those that receive threads hold are all different."""
    ring = app.chip.scratch.ring(0)
    numbers = [ring.get() for _ in range(ring.used)]
    assert len(set(numbers)) == len(numbers) == 1000 - 8
    assert all(512 <= number < 1512 for number in numbers)


def test_the_sample_trace(tmp_path: Path) -> None:
    """The shipped captures through the shipped routes, judged with the same routes."""
    folder = resources.folder("traces")
    app = App.load("ipv4_forward", captures={port: tmp_path / f"port{port}.pcap" for port in PORTS})
    report = app.run()
    frames = [[packet.frame for packet in read_capture(folder / f"sample{port}.pcap").packets] for port in PORTS]
    judge = Router.of(
        [(f"10.0.{port}.1/24", PORT_MACS[port]) for port in PORTS],
        [(f"10.0.{port}.2/32", port, HOST_MACS[port]) for port in PORTS]
        + [(f"10.0.{port}.0/24", port, HOST_MACS[port]) for port in PORTS]
        + [(prefix, port, HOST_MACS[port]) for prefix, port in (
            ("10.1.0.0/16", 1), ("10.1.128.0/17", 2), ("10.1.128.64/26", 0), ("10.1.200.7/32", 1), ("10.2.0.0/16", 2),
            ("10.3.0.0/16", 0), ("198.51.100.0/24", 1))],
    )
    reasons = compare(app, judge, frames)
    assert report.stop == "quiet"
    assert set(reasons) == {
        "forwarded", "options", "ttl_expired", "bad_header", "no_route", "not_ipv4", "for_us", "martian", "wrong_mac",
    }
    for port in PORTS:
        written = [packet.frame for packet in read_capture(tmp_path / f"port{port}.pcap").packets]
        assert written == [sent.frame for sent in app.chip.ports[port].sent]


DEFAULT_ROUTE = "\n".join([
    *(f"interface {port} 10.255.{port}.1/24 mac {PORT_MACS[port]}" for port in PORTS),
    f"neighbor 10.255.1.2 mac {HOST_MACS[1]}",
    "route default via 10.255.1.2",
])


@pytest.mark.skipif(CAPTURES is None, reason="IXPEMU_CAPTURES names no folder of captures")
@pytest.mark.parametrize("path", sorted(Path(CAPTURES or ".").glob("*.pcap*")) if CAPTURES else [None], ids=str)
def test_real_captures(router: Make, path: Path) -> None:
    frames = [bytes.fromhex(PORT_MACS[0].replace(":", "")) + packet.frame[6:] for packet in read_capture(path).packets]
    app = router(DEFAULT_ROUTE)
    report = send(app, [frames, [], []], gbps=0.5)
    judge = Router.of([(f"10.255.{port}.1/24", PORT_MACS[port]) for port in PORTS], [("0.0.0.0/0", 1, HOST_MACS[1])])
    reasons = compare(app, judge, [frames, [], []])
    assert report.stop == "quiet" and reasons.total() == len(frames) > 0


def plain(identification: int, *, source: str = "10.0.0.7", destination: str = "10.0.1.9", checksum: int | None = None) -> bytes:
    packet = IP(src=source, dst=destination, ttl=9, id=identification) / UDP(sport=1, dport=2)
    frame = bytearray(bytes(Ether(dst=PORT_MACS[0], src=HOST_MACS[0]) / packet))
    if checksum is not None:
        frame[24:26] = checksum.to_bytes(2, "big")
    return bytes(frame)


def test_checksums_at_the_ends_of_one_s_complement(router: Make) -> None:
    """Headers whose checksum is 0x0000, its twin 0xffff, or becomes one of them by the change of the time to live."""
    frames = []
    for wanted in (0x0000, 0x00FF, 0x0100, 0xFEFE, 0xFEFF, 0xFF00, 0xFF01, 0xFFFE):
        base = int.from_bytes(plain(0)[24:26], "big")
        # The identification moves the checksum by its one's complement negative.
        for identification in ((base - wanted) % 0xFFFF, (base - wanted) % 0xFFFF + 0xFFFF):
            if identification < 0x10000 and plain(identification)[24:26] == wanted.to_bytes(2, "big"):
                frames.append(plain(identification))
                if wanted == 0:
                    frames.append(plain(identification, checksum=0xFFFF))
                break
        else:
            raise AssertionError(f"no identification gives {wanted:#06x}")
    app = router()
    send(app, [frames, [], []], gbps=0.5)
    assert compare(app, reference(), [frames, [], []]) == {"forwarded": 9}
    out = {sent.frame[24:26].hex() for sent in app.chip.ports[1].sent}
    assert "0000" in out and "ffff" not in out


def test_lengths_at_the_edges_of_elements(router: Make) -> None:
    """Every frame length near a multiple of 128 bytes, the shortest and the longest, and one beyond."""
    lengths = sorted({60, 61, 62, 1513, 1514} | {128 * k + d for k in range(1, 12) for d in (-2, -1, 0, 1, 2, 7, 8, 9)})
    frames = []
    for length in lengths:
        packet = IP(src="10.0.0.7", dst="10.0.1.9", id=length) / UDP() / bytes(k & 0xFF for k in range(length - 42))
        frames.append(bytes(Ether(dst=PORT_MACS[0], src=HOST_MACS[0]) / packet))
    frames += [plain(7).ljust(1515, b"x"), plain(8).ljust(9018, b"x"), plain(9)]
    app = router()
    report = send(app, [frames, [], []], gbps=1.0)
    assert compare(app, reference(), [frames, [], []]) == {"forwarded": len(lengths) + 1, "too_long": 2}
    assert report.drops == {"too long": 2}
    free_buffers_are_all_back(app)


def test_bad_input_is_counted_and_harms_nobody(router: Make) -> None:
    """A 10-byte packet, the longest a port takes, and one beyond it, between good ones."""
    frames = [plain(1), b"\x02" * 10, plain(2), plain(3).ljust(9018, b"y"), plain(4), plain(5).ljust(9019, b"z"), plain(6)]
    app = router()
    report = send(app, [frames, [], []], gbps=0.5)
    assert [sent.frame[18:20] for sent in app.chip.ports[1].sent] == [bytes((0, number)) for number in (1, 2, 4, 6)]
    counters = app.chip.ports[0].counters
    assert (counters.runts, counters.oversize) == (1, 1)
    assert report.drops["too long"] == 1


def test_routes_change_while_packets_flow(router: Make) -> None:
    """Each packet leaves as the routes before or after a change say, in order per port, and none is lost."""
    app = router()
    control = app.xscale.program
    neighbors = {neighbor.port: neighbor for neighbor in control.routes.neighbors}
    dice = random.Random(4)
    frames = [plain(number, destination=f"10.10.{(64, 70, 200)[number % 3]}.{dice.randrange(251)}") for number in range(6000)]
    # From port 1, so that nothing comes out of the port it went into.
    mac, host = (bytes.fromhex(text.replace(":", "")) for text in (PORT_MACS[1], HOST_MACS[1]))
    frames = [mac + host + frame[12:26] + b"\x0a\x00\x01\x07" + frame[30:] for frame in frames]
    frames = [mend(frame) for frame in frames]
    app.chip.ports[1].feed(frames, gbps=1.0)
    prefix, inner = Prefix.parse("10.10.64.0/18"), Prefix.parse("10.10.64.0/25")
    deep = Prefix.parse("10.10.70.8/29")
    app.advance(20_000)
    changes: list[Callable[[], None]] = []
    for turn in range(10):
        port = (0, 2)[turn % 2]

        def change(port: int = port, turn: int = turn) -> None:
            control.table.set_route(prefix, neighbors[port])
            control.table.set_route(deep, neighbors[2 - port])
            if turn % 3 == 1:
                control.table.set_route(inner, neighbors[port])
            elif turn % 3 == 2:
                control.table.remove_route(inner)

        changes.append(change)
    for each in changes:
        each()
        app.advance(200_000)
    settled = app.chip.cycle
    report = app.run()
    assert report.stop == "quiet" and not report.drops
    assert report.sent == len(frames)
    ports = defaultdict(set)
    for port in (0, 2):
        numbers = [int.from_bytes(sent.frame[18:20], "big") for sent in app.chip.ports[port].sent]
        assert numbers == sorted(set(numbers))
        for sent in app.chip.ports[port].sent:
            assert sent.frame[:6].hex(":") == HOST_MACS[port] and sent.frame[6:12].hex(":") == PORT_MACS[port]
            ports[sent.frame[32:34]].add(port)
    # Destinations under the changed prefixes went both ways, the others never did.
    assert sum(ports[bytes((70, low))] == {0, 2} for low in range(251)) > 200
    assert {frozenset(ports[bytes((200, low))]) for low in range(251)} == {frozenset({0})}
    final = [sent for port in (0, 2) for sent in app.chip.ports[port].sent if sent.cycle > settled + 50_000]
    for sent in final:
        hop = control.table.lookup(int.from_bytes(sent.frame[30:34], "big"))
        assert sent.frame[:6] == hop.mac


def mend(frame: bytes) -> bytes:
    packet = Ether(frame)
    del packet[IP].chksum
    return bytes(packet)


@pytest.mark.parametrize(("destination", "trie"), [("192.168.3.1", 1), ("10.10.70.9", 2), ("10.0.1.9", 3)])
def test_the_fast_path_is_in_the_published_band(router: Make, destination: str, trie: int) -> None:
    """What one packet costs from wire to wire; published for careful code: 64 to 146 instructions, 1 to 5 SRAM references."""
    frames = [plain(number, destination=destination) for number in range(200)]
    app = router()
    report = send(app, [frames, [], []], gbps=0.5)
    [kind] = report.types
    assert kind.packets == kind.sent == 200
    assert 64 <= kind.instructions / kind.packets <= 146
    references = {unit: round(count / kind.packets, 1) for unit, count in kind.references.items()}
    assert (references["sram0"], references["sram1"]) == (trie, 1)
    assert references["scratch"] == 4 and references["dram"] == 4
    # A thread that sleeps until a frame comes does not wait for that frame's sake; these frames are whole in one element.
    assert "receive" not in kind.waiting
    rows = app.chip.state.packets
    per_me = rows["instructions"][rows["port_in"] == 0].sum(axis=0) / 200
    # Receive and transmit as their headers say; forwarding depends on how deep the walk goes.
    assert per_me[0] == 29 and round(float(per_me[4])) == 32
    # Context 7 of each microengine passes its turns over to the next one, with one instruction more for each.
    assert float(per_me[1:4].sum()) == 69 + {1: 0, 2: 3, 3: 5}[trie] + 2 / 8


def test_the_figures_of_router_h_are_those_of_control_py() -> None:
    folder = resources.folder("microcode") / "ipv4_forward"
    defined = {name: int(value, 0) for name, value in re.findall(
        r"^#define (\w+)\s+(0x[0-9a-fA-F]+|\d+)", (folder / "router.h").read_text(), re.MULTILINE)}
    control = load_module(folder / "control.py")
    same = ("FREE_RING", "RECEIVE_RING", "TRANSMIT_RING", "EXCEPTION_RING", "BUFFER_SHIFT", "NUMBER_MASK", "LENGTH_SHIFT",
            "LENGTH_MASK", "PORT_SHIFT", "REASON_SHIFT", "PORT_TABLE", "RBUF_ELEMENT_DONE")
    for name in same:
        assert defined[name] == getattr(control, name), name
    reasons = {"REASON_TTL": Reason.TTL_EXPIRED, "REASON_LINK": Reason.WRONG_MAC}
    for name, value in defined.items():
        if name.startswith("REASON_") and name not in ("REASON_SHIFT",):
            assert reasons.get(name, Reason.__members__.get(name.removeprefix("REASON_"))) == value


def test_packet_types() -> None:
    classify = load_module(resources.folder("microcode") / "ipv4_forward" / "control.py").classify
    make = FrameMaker(3)
    assert classify(make.arp(0)) == "arp"
    assert classify(plain(1)) == "udp small" and classify(plain(1).ljust(1000, b"x")) == "udp large"
    assert classify(b"") == classify(b"\x00" * 14) == "other"
    assert {classify(make.good(0)).split()[0] for _ in range(60)} == {"udp", "tcp", "icmp"}


def towards(port: int, source: int, count: int, **fields: object) -> list[bytes]:
    """Small frames into port `source` for a machine behind `port`, numbered in the identification field."""
    ether = Ether(dst=PORT_MACS[source], src=HOST_MACS[source])
    first = bytes(ether / IP(**({"src": f"10.0.{source}.7", "dst": f"10.0.{port}.9"} | fields)) / UDP(sport=source))
    frames = []
    for number in range(count):
        header = bytearray(first[14:34])
        header[4:6] = number.to_bytes(2, "big")
        header[10:12] = b"\0\0"
        header[10:12] = checksum(bytes(header)).to_bytes(2, "big")
        frames.append(first[:14] + bytes(header) + first[34:])
    return frames


def test_three_lines_full_of_the_shortest_frames(router: Make) -> None:
    """4.46 million packets a second: nothing is lost, and no port's receive FIFO ever holds more than a few frames."""
    frames = [towards((port + 1) % 3, port, 3000) for port in PORTS]
    app = router()
    report = send(app, frames, gbps=1.0)
    assert compare(app, reference(), frames) == {"forwarded": 9000}
    assert report.stop == "quiet" and not report.drops
    assert report.cycles < 9000 * 134.4 + 10_000
    assert all(port.counters.fifo_peak <= 10 * 60 for port in app.chip.ports)


def test_a_line_that_is_offered_twice_what_it_carries(router: Make) -> None:
    """The rest is dropped and counted where it does not fit; order and buffers stay right, and another port is served too."""
    frames = [towards(1, 0, 3000), towards(0, 1, 3000), towards(0, 2, 3000)]
    app = router()
    report = send(app, frames, gbps=1.0)
    assert report.stop == "quiet" and report.inside == 0
    assert set(report.drops) <= {"transmit ring full", "receive ring full", "no buffer", "receive FIFO full"}
    assert report.sent + sum(report.drops.values()) == report.arrived == 9000
    assert report.drops["transmit ring full"] > 1000
    for port, sources in ((0, (1, 2)), (1, (0,))):
        for source in sources:
            numbers = [int.from_bytes(sent.frame[18:20], "big") for sent in app.chip.ports[port].sent if sent.frame[28] == source]
            assert numbers == sorted(set(numbers)) and len(numbers) > 900
    free_buffers_are_all_back(app)


def test_more_exceptions_than_the_xscale_can_take(router: Make) -> None:
    """It answers what it can; the rest is dropped and counted, and packets that need no help are not held up."""
    frames = [towards(1, 0, 2000, ttl=1), towards(0, 1, 2000, ttl=1), towards(2, 2, 2000)]
    app = router()
    report = send(app, frames, gbps=1.0)
    assert report.stop == "quiet" and report.inside == 0
    assert report.drops["ttl expired"] == 4000
    answered = app.xscale.program.slow.answers["icmp_11_0"]
    lost = app.xscale.program.lost["transmit_ring_full"]
    assert 100 < answered - lost == report.generated < 4000
    assert report.sent == 2000 + report.generated
    assert [sent.frame[18:20] for sent in app.chip.ports[2].sent] == [
        number.to_bytes(2, "big") for number in range(2000)]
    free_buffers_are_all_back(app)


def test_a_run_is_replayed_from_its_journal_without_the_xscale(router: Make) -> None:
    make = FrameMaker(5)
    app = router()
    for port in PORTS:
        app.chip.ports[port].feed([make.frame(port, 0.5) for _ in range(40)], gbps=0.5)
    start = app.chip.snapshot()
    app.run()
    end = app.chip.cycle
    first = [[(sent.cycle, sent.frame) for sent in app.chip.ports[port].sent] for port in PORTS]
    journal = list(app.chip.journal)[start.journal:]
    answered = app.xscale.interrupts
    app.chip.restore(start)                         # takes the XScale along
    before = app.xscale.interrupts
    app.chip.replay(journal, end + 1)               # the last frame left in the very cycle of the end
    assert [[(sent.cycle, sent.frame) for sent in app.chip.ports[port].sent] for port in PORTS] == first
    assert answered > 10 and app.xscale.interrupts == before < answered


def test_stepping_through_a_run_changes_nothing(router: Make) -> None:
    make = FrameMaker(6)
    frames = [[make.frame(port, 0.5) for _ in range(12)] for port in PORTS]
    results = []
    for piece in (10_000_000, 997):
        app = router()
        for port in PORTS:
            app.chip.ports[port].feed(frames[port], gbps=0.5)
        while app.advance(piece).reason == "cycles" and app.chip.cycle < 200_000:
            pass
        results.append([[(sent.cycle, sent.frame) for sent in app.chip.ports[port].sent] for port in PORTS])
    assert results[0] == results[1] and sum(map(len, results[0])) > 15


def test_loading_through_the_control_store_registers_is_the_same_as_the_fast_path() -> None:
    folder = resources.folder("microcode") / "ipv4_forward"
    image = assemble(folder / "transmit.uc", include=[folder, folder.parent / "lib"])
    fast, slow = Chip(), Chip()
    XScale(fast).load(4, image)
    XScale(slow).load_through_store(4, image)
    words = len(image.words)
    for field in fast.state.code.dtype.names:
        if field not in ("probe", "marks"):         # probes are no part of a word
            both = [chip.state.code[field][4 * 4096 : 4 * 4096 + words] for chip in (fast, slow)]
            assert (both[0] == both[1]).all(), field
    for chip in (fast, slow):
        chip.start(4)
        chip.run(cycles=500)
    assert [context.pc for context in fast.me[4].ctx] == [context.pc for context in slow.me[4].ctx]
    assert slow.me[4].ctx[0].pc > 10
