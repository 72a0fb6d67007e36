"""What a route file means: the next hop of every kind of address, and next hops that come and go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ixpemu.diagnostics import UserError
from ixpemu.xscale.forwarding import ForwardingTable, NextHop, Reason, TableLayout
from ixpemu.xscale.routes import Neighbor, Prefix, parse_address, parse_routes

FILE = parse_routes("""\
interface 0 10.0.0.1/24 mac 02:00:00:00:00:01
interface 1 10.0.1.1/30 mac 02:00:00:00:00:02
neighbor 10.0.0.2 mac 02:00:00:00:01:01
neighbor 10.0.1.2 mac 02:00:00:00:01:02
route 10.1.0.0/16 via 10.0.1.2
route 10.1.7.0/24 via 10.0.0.2
""")
LAYOUT = TableLayout(trie=0, nodes=16, hop_table=0x4000_0100, hops=8)


class Memory:
    def __init__(self) -> None:
        self.words: dict[int, int] = {}

    def write(self, address: int, words: Sequence[int]) -> None:
        for index, word in enumerate(words):
            self.words[address + 4 * index] = word

    def walk(self, address: int) -> tuple[int, ...]:
        """The next hop that a microengine finds."""
        at = self.words[4 * (address >> 16)]
        for shift in (8, 0):
            if at & 1:
                break
            at = self.words[at + 4 * (address >> shift & 255)]
        return tuple(self.words[(at & ~3) + 4 * index] for index in range(4))


def table() -> tuple[ForwardingTable, Memory, list[Callable[[], None]]]:
    memory, waiting = Memory(), []
    return ForwardingTable(memory, LAYOUT, FILE, waiting.append), memory, waiting


@pytest.mark.parametrize(("address", "expected"), [
    ("10.0.0.1", Reason.FOR_US), ("10.0.1.1", Reason.FOR_US), ("10.0.0.255", Reason.FOR_US), ("10.0.1.3", Reason.FOR_US),
    ("255.255.255.255", Reason.FOR_US),
    ("10.0.0.2", 0), ("10.0.1.2", 1), ("10.1.0.1", 1), ("10.1.7.255", 0),
    ("10.0.0.77", Reason.NO_ROUTE), ("10.0.1.0", Reason.NO_ROUTE), ("8.8.8.8", Reason.NO_ROUTE),
    ("127.0.0.1", Reason.MARTIAN), ("0.0.0.0", Reason.MARTIAN), ("224.0.0.5", Reason.MARTIAN),
    ("255.255.255.254", Reason.MARTIAN),
])
def test_where_addresses_go(address: str, expected: Reason | int) -> None:
    routes, memory, _ = table()
    number = parse_address(address)
    hop = routes.lookup(number)
    words = memory.walk(number)
    if isinstance(expected, Reason):
        assert hop.reason is expected
        assert words[3] == 0x8000_0000 | expected
    else:
        assert hop.reason is None and hop.port == expected
        assert words == (0x02000000, 0x0100 + expected + 1 << 16 | 0x0200, expected + 1, expected)


def test_a_route_changes_and_goes_and_next_hops_are_used_again_after_the_grace_period() -> None:
    routes, memory, waiting = table()
    prefix, inside = Prefix.parse("10.1.0.0/16"), parse_address("10.1.2.3")
    first, second = FILE.neighbors
    routes.set_route(prefix, first)
    assert routes.lookup(inside) == routes.hop_to(first) and memory.walk(inside)[3] == 0
    routes.remove_route(prefix)
    assert routes.lookup(inside).reason is Reason.NO_ROUTE
    with pytest.raises(KeyError):
        routes.remove_route(prefix)
    # The neighbour itself is a prefix of its own, which a route may cover and uncover.
    routes.set_route(Prefix(second.address, 32), first)
    assert routes.lookup(second.address) == routes.hop_to(first)
    routes.remove_route(Prefix(second.address, 32))
    assert routes.lookup(second.address) == routes.hop_to(second)
    while waiting:
        waiting.pop()()
    # Next hops besides those in use: three neighbours more fill the table of eight.
    extra = [Neighbor(parse_address(f"10.0.0.{number}"), 0, bytes([2, 9, 9, 9, 9, number])) for number in range(10, 14)]
    for neighbor in extra[:3]:
        routes.set_route(Prefix(neighbor.address, 32), neighbor)
    with pytest.raises(UserError, match="no room for another next hop"):
        routes.set_route(Prefix(extra[3].address, 32), extra[3])
    assert routes.lookup(extra[3].address).reason is Reason.NO_ROUTE
    routes.remove_route(Prefix(extra[0].address, 32))
    with pytest.raises(UserError):
        routes.set_route(Prefix(extra[3].address, 32), extra[3])
    while waiting:
        waiting.pop()()
    routes.set_route(Prefix(extra[3].address, 32), extra[3])
    assert memory.walk(extra[3].address) == tuple(NextHop(0, extra[3].mac, FILE.interfaces[0].mac).words())


def test_a_saved_table_is_gone_back_to_whatever_happened_since() -> None:
    routes, memory, waiting = table()
    routes.set_route(Prefix(parse_address("10.2.0.0"), 16), FILE.neighbors[0])
    routes.remove_route(Prefix(parse_address("10.1.7.0"), 24))         # a grace period is under way
    saved, words, pending = routes.save(), dict(memory.words), list(waiting)
    places = [parse_address(f"10.{second}.{third}.9") for second in (0, 1, 2, 3) for third in (0, 7, 9)]

    def change() -> list[object]:
        """The same changes, and all that can be seen of them."""
        routes.set_route(Prefix(parse_address("10.3.9.0"), 24), FILE.neighbors[1])
        routes.remove_route(Prefix(parse_address("10.2.0.0"), 16))
        while waiting:
            waiting.pop(0)()
        return [[routes.lookup(place) for place in places], [memory.walk(place) for place in places], routes.nodes_in_use]

    before = [routes.lookup(place) for place in places]
    first = change()
    for _ in range(2):
        memory.words, waiting[:] = dict(words), pending
        routes.load(saved)
        assert [routes.lookup(place) for place in places] == before
        assert change() == first
