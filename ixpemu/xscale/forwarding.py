"""A router's forwarding table in SRAM: what a route file means to microcode, and changes to it while packets flow.

A leaf of the trie is the SRAM address of a next hop, four words that a microengine reads at once:

    +---------------------+---------------------+---------------------+-------------------------------------+
    | dst MAC, bytes 0..3 | dst 4..5 | src 0..1 | src MAC, bytes 2..5 | [31] 0: [1:0] port to leave by      |
    |                     |          |          |                     | [31] 1: [3:0] reason for the XScale |
    +---------------------+---------------------+---------------------+-------------------------------------+

so that the first three are the first three words of the frame as it leaves. Next hops are shared by prefixes and never changed in
place: a prefix is pointed at another one, and the one that nobody points at any more is used again after the grace period.

Where several statements speak of one prefix the strongest holds: the router's own addresses, then routes, then neighbours, then
the subnets of its ports (nobody there unless a neighbour or a route says more), then the addresses that nobody may have.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ixpemu import codes
from ixpemu.diagnostics import user_error
from ixpemu.xscale.routes import MARTIANS, Interface, Neighbor, Prefix, RouteFile
from ixpemu.xscale.trie import Trie, Words

HOP_BYTES = 16
TO_XSCALE = 1 << 31
EVERYBODY = Prefix(0xFFFFFFFF, 32)


class Reason(IntEnum):
    """Why a frame goes to the XScale; the numbers are those of microcode."""

    NOT_IPV4 = 1
    BAD_HEADER = 2
    OPTIONS = 3
    TTL_EXPIRED = 4
    NO_ROUTE = 5
    FOR_US = 6
    MARTIAN = 7
    WRONG_MAC = 8


class _Strength(IntEnum):
    MARTIAN = 0
    SUBNET = 1
    NEIGHBOR = 2
    ROUTE = 3
    OWN = 4


@dataclass(frozen=True, slots=True)
class NextHop:
    """Where datagrams go next: out of `port` to `mac` from `source_mac`; or, with a `reason`, to the XScale."""

    port: int = 0
    mac: bytes = bytes(6)
    source_mac: bytes = bytes(6)
    reason: Reason | None = None

    def words(self) -> list[int]:
        macs = self.mac + self.source_mac
        last = self.port if self.reason is None else TO_XSCALE | self.reason
        return [int.from_bytes(macs[at : at + 4], "big") for at in (0, 4, 8)] + [last]


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Where in SRAM, as byte addresses that microengines use: the trie with its `nodes` nodes, and room for `hops` next hops."""

    trie: int
    nodes: int
    hop_table: int
    hops: int


class ForwardingTable:
    """The table. Build it before the microengines run; change it at any time.

    `grace` is given functions to call once no microengine can hold an address that it read before. `hop_memory` defaults to
    `memory`; each is written whole words at a time.
    """

    def __init__(
        self, memory: Words, layout: TableLayout, routes: RouteFile, grace: Callable[[Callable[[], None]], None]
    ) -> None:
        self._memory = memory
        self._grace = grace
        self._layout = layout
        self._free_hops = [layout.hop_table + HOP_BYTES * index for index in reversed(range(layout.hops))]
        self._address_of: dict[NextHop, int] = {}
        self._hop_at: dict[int, NextHop] = {}
        self._users: dict[NextHop, int] = {}
        self._said: dict[Prefix, dict[_Strength, NextHop]] = {}
        self.interfaces = {interface.port: interface for interface in routes.interfaces}
        nothing = NextHop(reason=Reason.NO_ROUTE)
        self._use(nothing)
        self._trie = Trie(memory, layout.trie, layout.nodes, self._address_of[nothing], grace)
        for prefix, strength, hop in self._statements(routes):
            self._said.setdefault(prefix, {})[strength] = hop
        first = {prefix: said[max(said)] for prefix, said in self._said.items()}
        for hop in first.values():
            self._use(hop)
        self._trie.build((prefix, self._address_of[hop]) for prefix, hop in first.items())

    def set_route(self, prefix: Prefix, gateway: Neighbor) -> None:
        """Adds a route, or changes where the one to `prefix` goes."""
        self._say(prefix, _Strength.ROUTE, self.hop_to(gateway))

    def remove_route(self, prefix: Prefix) -> None:
        """Takes a route out; KeyError where there is none to just this prefix."""
        if _Strength.ROUTE not in self._said.get(prefix, {}):
            raise KeyError(str(prefix))
        self._say(prefix, _Strength.ROUTE, None)

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """This side's copy of the table, as a value. What is in memory is a snapshot's of the chip."""
        own = {name: value for name, value in vars(self).items() if name not in ("_memory", "_grace", "_trie")}
        return deepcopy(own), self._trie.save()

    def load(self, saved: tuple[dict[str, Any], dict[str, Any]]) -> None:
        """Go back to what `save` gave."""
        vars(self).update(deepcopy(saved[0]))
        self._trie.load(saved[1])

    def lookup(self, address: int) -> NextHop:
        """Where a datagram to `address` goes, from this side's own copy of the table."""
        return self._hop_at[self._trie.lookup(address)]

    def hop_to(self, neighbor: Neighbor) -> NextHop:
        """The next hop that a neighbour is."""
        return NextHop(neighbor.port, neighbor.mac, self.interfaces[neighbor.port].mac)

    @property
    def nodes_in_use(self) -> int:
        """Trie nodes besides the root that cannot be given out now."""
        return self._trie.nodes_in_use

    def _statements(self, routes: RouteFile) -> list[tuple[Prefix, _Strength, NextHop]]:
        found = [(prefix, _Strength.MARTIAN, NextHop(reason=Reason.MARTIAN)) for prefix in MARTIANS]
        own = NextHop(reason=Reason.FOR_US)
        found.append((EVERYBODY, _Strength.OWN, own))
        for interface in routes.interfaces:
            found += [
                (interface.subnet, _Strength.SUBNET, NextHop(reason=Reason.NO_ROUTE)),
                (Prefix(interface.address, 32), _Strength.OWN, own),
                (Prefix(interface.broadcast, 32), _Strength.OWN, own),
            ]
        found += [(Prefix(each.address, 32), _Strength.NEIGHBOR, self.hop_to(each)) for each in routes.neighbors]
        found += [(route.prefix, _Strength.ROUTE, self.hop_to(route.gateway)) for route in routes.routes]
        return found

    def _say(self, prefix: Prefix, strength: _Strength, hop: NextHop | None) -> None:
        """Makes what holds for `prefix` so in memory: a new next hop first, then the trie; what is out of use is given back."""
        said = dict(self._said.get(prefix, {}))
        before = said[max(said)] if said else None
        if hop is None:
            said.pop(strength, None)
        else:
            said[strength] = hop
        after = said[max(said)] if said else None
        if after != before:
            if after is None:
                self._trie.remove(prefix)
            else:
                self._use(after)
                try:
                    self._trie.set(prefix, self._address_of[after])
                except BaseException:
                    self._release(after)
                    raise
            if before is not None:
                self._release(before)
        self._said[prefix] = said
        if not said:
            del self._said[prefix]

    def _use(self, hop: NextHop) -> None:
        if hop not in self._address_of:
            if not self._free_hops:
                raise user_error(
                    codes.TABLE_FULL, f"no room for another next hop: all {self._layout.hops} are in use",
                    help="give the table more SRAM, or fewer neighbours; one just given up comes back after the grace period",
                )
            address = self._free_hops.pop()
            self._address_of[hop] = address
            self._hop_at[address] = hop
            self._memory.write(address, hop.words())
        self._users[hop] = self._users.get(hop, 0) + 1

    def _release(self, hop: NextHop) -> None:
        self._users[hop] -= 1
        if self._users[hop]:
            return
        del self._users[hop]
        address = self._address_of.pop(hop)
        del self._hop_at[address]
        self._grace(lambda: self._free_hops.append(address))


def own_interface(interfaces: dict[int, Interface], address: int) -> Interface | None:
    """The interface whose own address this is, None where it is none's."""
    return next((each for each in interfaces.values() if each.address == address), None)
