"""The XScale side of the IPv4 router: sets the chip up, takes what the microengines cannot decide, names packet types.

The layout of memory and rings, and the word that stands for a packet, are drawn in router.h; the figures here are the same.
What is done with an exception is `ixpemu.xscale.slow_path`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ixpemu.xscale import XScale
from ixpemu.xscale.forwarding import ForwardingTable, TableLayout
from ixpemu.xscale.routes import RouteFile, read_routes
from ixpemu.xscale.slow_path import SlowPath

FREE_RING, RECEIVE_RING, TRANSMIT_RING, EXCEPTION_RING = 0, 1, 4, 7
# Ring: byte address in scratch memory, words.
RINGS = {
    0: (0x0000, 1024),
    1: (0x1000, 512),
    4: (0x1800, 256), 5: (0x1C00, 256), 6: (0x2000, 256),
    7: (0x2400, 256),
}
PORTS = 3

BUFFER_SHIFT = 11
FIRST_BUFFER, BUFFERS = 512, 1000           # numbers; the first megabyte of DRAM is the XScale's own
NUMBER_MASK, LENGTH_SHIFT, LENGTH_MASK, PORT_SHIFT, REASON_SHIFT = 0x3FFF, 14, 0x7FF, 25, 27

PORT_TABLE = 0x4000_0000
TABLE = TableLayout(trie=0, nodes=1024, hop_table=0x4000_0100, hops=1008)
# Longer than any microengine can take from one reference of a lookup to the next: a thread has one command in flight, so at most
# 64 stand in front of it, some twenty cycles each. A millisecond is a hundred times that.
GRACE_CYCLES = 600_000

# MSF: four channels (MPHY-4), one 32-bit bus, elements of 128 bytes.
MSF_CONTROL = 0xF << 28 | 1 << 19 | 1 << 2
RX_CONTROL, TX_CONTROL, RBUF_ELEMENT_DONE = 0x00, 0x04, 0x44
ELEMENTS = 64
NEVER_USED = {0, 4, 9, 13}                  # erratum 69: RBUF to DRAM copies of these are corrupt; 0 as its work-around has it


class Control:
    """What the router's XScale keeps: the table, the slow path and counts of its own losses. Found as `xscale.program`."""

    def __init__(self, xscale: XScale, routes: RouteFile) -> None:
        self.routes = routes
        self.table = ForwardingTable(xscale.sram, TABLE, routes, lambda done: xscale.after(GRACE_CYCLES, done))
        self.slow = SlowPath(self.table)
        self.lost: Counter[str] = Counter()

    def serve(self, xscale: XScale) -> None:
        """Takes everything off the exception ring. One interrupt may stand for several frames, or for none that is left."""
        while word := xscale.ring_get(EXCEPTION_RING):
            number = word & NUMBER_MASK
            port, reason = word >> PORT_SHIFT & 3, word >> REASON_SHIFT & 15
            frame = xscale.dram.read_bytes(number << BUFFER_SHIFT, word >> LENGTH_SHIFT & LENGTH_MASK)
            sent = self.slow.handle(reason, port, frame)
            if not sent:
                xscale.ring_put(FREE_RING, number)
                continue
            # One frame leaves at most; it takes the buffer of the one that caused it.
            [(to, answer)] = sent
            if xscale.ring_nearly_full(TRANSMIT_RING + to):
                self.lost["transmit_ring_full"] += 1
                xscale.ring_put(FREE_RING, number)
                continue
            xscale.dram.write_bytes(number << BUFFER_SHIFT, answer)
            xscale.originate(number, len(answer))
            xscale.ring_put(TRANSMIT_RING + to, number | len(answer) << LENGTH_SHIFT)


def setup(xscale: XScale) -> None:
    """Rings, free buffers, tables and the MSF; before any microengine runs."""
    for ring, (address, words) in RINGS.items():
        xscale.ring_setup(ring, address, words, empty_flag=False)
    for number in range(FIRST_BUFFER, FIRST_BUFFER + BUFFERS):
        xscale.ring_put(FREE_RING, number)
    routes = read_routes(xscale.tables["routes"])
    xscale.program = Control(xscale, routes)
    for interface in routes.interfaces:
        mac = [int.from_bytes(interface.mac[:4], "big"), int.from_bytes(interface.mac[4:], "big")]
        xscale.sram.write(PORT_TABLE + 8 * interface.port, mac)
    xscale.msf.write(RX_CONTROL, MSF_CONTROL)
    xscale.msf.write(TX_CONTROL, MSF_CONTROL)
    for element in sorted(set(range(ELEMENTS)) - NEVER_USED):
        xscale.msf.write(RBUF_ELEMENT_DONE, element)


def exception(xscale: XScale) -> None:
    """A microengine has raised XSCALE_INT_A."""
    xscale.program.serve(xscale)


def snapshot(xscale: XScale) -> object:
    """What the router's XScale knows and the chip does not: its copy of the table, and its counts."""
    program = xscale.program
    return program.table.save(), Counter(program.slow.counts), Counter(program.slow.answers), Counter(program.lost)


def restore(xscale: XScale, saved: Any) -> None:
    """Back to what `snapshot` gave."""
    program = xscale.program
    table, counts, answers, lost = saved
    program.table.load(table)
    program.slow.counts, program.slow.answers, program.lost = Counter(counts), Counter(answers), Counter(lost)


handlers = {"thread_a": exception}


def classify(frame: bytes) -> str:
    """The packet type in the figures: what a reader of them tells apart, by protocol and by size."""
    kind = frame[12:14]
    if kind == b"\x08\x06":
        return "arp"
    if kind != b"\x08\x00" or len(frame) < 24:
        return "other"
    protocol = {1: "icmp", 6: "tcp", 17: "udp"}.get(frame[23], "ip other")
    if protocol == "icmp":
        return protocol
    size = "small" if len(frame) <= 128 else "medium" if len(frame) <= 640 else "large"
    return f"{protocol} {size}"
