"""The route file: a router's interfaces, its neighbours' MACs, and the routes by way of them.

    interface 0 10.0.0.1/24 mac 02:00:00:00:00:01     # port 0, its address and subnet, its MAC
    neighbor 10.0.0.2 mac 02:00:00:00:01:01           # a machine on one of the subnets
    route 10.1.0.0/16 via 10.0.0.2                    # `default` stands for 0.0.0.0/0

One statement a line, `#` begins a comment. Neighbours stand in for ARP resolution, which this router does not do. Parsing only:
what a route means to the chip is `ixpemu.xscale.forwarding`. Addresses are 32-bit integers here, first octet highest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ixpemu import codes
from ixpemu.diagnostics import Diagnostic, Note, Origin, Span, UserError, user_error

EXPECTED = {
    "interface": "interface PORT ADDRESS/LENGTH mac MAC",
    "neighbor": "neighbor ADDRESS mac MAC",
    "route": "route PREFIX/LENGTH via ADDRESS",
}
PORTS = 3
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix: the `length` (0..32) upper bits of `address`; the other bits are 0."""

    address: int
    length: int

    def __post_init__(self) -> None:
        if self.address & ~mask(self.length):
            raise ValueError(f"{dotted(self.address)}/{self.length} has bits set behind its length")

    def covers(self, address: int) -> bool:
        return address & mask(self.length) == self.address

    def __str__(self) -> str:
        return f"{dotted(self.address)}/{self.length}"

    @classmethod
    def parse(cls, text: str) -> Prefix:
        """From `10.1.0.0/16` or `default`; ValueError, in words for a user, where it is neither."""
        if text == "default":
            return cls(0, 0)
        address, length = _address_and_length(text)
        if address & ~mask(length):
            raise ValueError(f"{text} has bits set behind its length; write {dotted(address & mask(length))}/{length}")
        return cls(address, length)


@dataclass(frozen=True, slots=True)
class Interface:
    """A port as the router's own: address, subnet, MAC of six bytes."""

    port: int
    address: int
    subnet: Prefix
    mac: bytes

    @property
    def broadcast(self) -> int:
        """The subnet's broadcast address; for a /31 or /32, which have none, the address itself."""
        return self.address if self.subnet.length > 30 else self.subnet.address | ~mask(self.subnet.length) & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A machine that a frame can be sent to: its address, the port it is behind, its MAC."""

    address: int
    port: int
    mac: bytes


@dataclass(frozen=True, slots=True)
class Route:
    """A prefix by way of a neighbour."""

    prefix: Prefix
    gateway: Neighbor


@dataclass(frozen=True, slots=True)
class RouteFile:
    """A checked route file. Interfaces are in order of their ports, routes in the file's order, no prefix twice."""

    interfaces: tuple[Interface, ...]
    neighbors: tuple[Neighbor, ...]
    routes: tuple[Route, ...]

    def neighbor(self, address: int) -> Neighbor | None:
        """The neighbour at `address`, None where there is none."""
        return next((each for each in self.neighbors if each.address == address), None)


def is_martian(address: int) -> bool:
    """Whether no machine may have this address as source or destination: 0/8, 127/8, 224/3. RFC 1812 5.3.7; no multicast here."""
    return address >> 24 in (0, 127) or address >> 29 == 7


def mask(length: int) -> int:
    """The netmask of a prefix length."""
    return 0xFFFFFFFF << (32 - length) & 0xFFFFFFFF


MARTIANS = (Prefix(0, 8), Prefix(127 << 24, 8), Prefix(7 << 29, 3))


def dotted(address: int) -> str:
    """`10.0.0.1` of an address."""
    return ".".join(str(octet) for octet in address.to_bytes(4, "big"))


def parse_address(text: str) -> int:
    """The address of `10.0.0.1`; ValueError, in words for a user, where it is none."""
    parts = text.split(".")
    if len(parts) != 4 or not all(re.fullmatch(r"[0-9]{1,3}", part) and int(part) < 256 for part in parts):
        raise ValueError(f"{text!r} is no IPv4 address: four numbers 0 to 255 with dots between them")
    return int.from_bytes(bytes(int(part) for part in parts), "big")


def read_routes(path: str | Path) -> RouteFile:
    """The route file at `path`. Raises UserError with every bad line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise user_error(
            codes.FILE_UNREADABLE, f"the route file {path} cannot be read: {error}", help="it has to be a text file",
        ) from error
    return parse_routes(text, str(path))


def parse_routes(text: str, file: str = "routes.txt") -> RouteFile:
    """The route file in `text`; `file` only names it. Raises UserError with every bad line and what it should have been."""
    return _Reader(file).read(text)


def _address_and_length(text: str) -> tuple[int, int]:
    address, slash, length = text.partition("/")
    if not slash or not re.fullmatch(r"[0-9]{1,2}", length) or int(length) > 32:
        raise ValueError(f"{text!r} is no prefix: an address, a slash and a length of 0 to 32")
    return parse_address(address), int(length)


def _mac(text: str) -> bytes:
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text):
        raise ValueError(f"{text!r} is no MAC address: six bytes in hex with colons between them")
    mac = bytes.fromhex(text.replace(":", ""))
    if mac[0] & 1:
        raise ValueError(f"{text} is a group address; a machine's own MAC has the lowest bit of its first byte clear")
    return mac


class _Reader:
    """One pass over the lines that collects findings, then the checks that need the whole file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Diagnostic] = []
        self.interfaces: dict[int, tuple[Interface, Origin]] = {}
        self.neighbors: dict[int, tuple[bytes, Origin]] = {}
        self.routes: dict[Prefix, tuple[int, Origin]] = {}

    def read(self, text: str) -> RouteFile:
        for number, line in enumerate(text.splitlines(), start=1):
            statement = line.partition("#")[0]
            words = [(match.group(), match.start() + 1) for match in re.finditer(r"\S+", statement)]
            if words:
                self._statement(number, words)
        neighbors = self._place_neighbors()
        routes = self._resolve(neighbors)
        if not self.interfaces and not self.findings:
            self._wrong(self._origin(1, 1, 1), "the route file has no interface", f"begin with  {EXPECTED['interface']}")
        if self.findings:
            raise UserError(*self.findings)
        return RouteFile(
            tuple(interface for _, (interface, _) in sorted(self.interfaces.items())), tuple(neighbors.values()), tuple(routes)
        )

    def _origin(self, line: int, column: int, length: int) -> Origin:
        return Origin(Span(self.file, line, column, length))

    def _wrong(self, origin: Origin, message: str, help: str, *notes: Note) -> None:
        self.findings.append(Diagnostic(codes.ROUTE_FILE, message, origin=origin, help=help, notes=notes))

    def _statement(self, line: int, words: list[tuple[str, int]]) -> None:
        texts = [text for text, _ in words]
        places = [self._origin(line, column, len(text)) for text, column in words]
        end = words[-1][1] + len(words[-1][0])
        kind = texts[0]
        if kind not in EXPECTED:
            near = "a route is written " if "/" in kind or kind == "default" else "expected one of: "
            forms = EXPECTED["route"] if near.startswith("a route") else "; ".join(EXPECTED.values())
            self._wrong(places[0], f"{kind!r} begins no statement", near + forms)
            return
        form = EXPECTED[kind].split()
        for index, wanted in enumerate(form):
            if index >= len(texts):
                self._wrong(self._origin(line, end, 1), f"the line ends where {wanted} should be", f"expected: {EXPECTED[kind]}")
                return
            if wanted.islower() and texts[index] != wanted:
                self._wrong(places[index], f"{texts[index]!r} stands where {wanted!r} should", f"expected: {EXPECTED[kind]}")
                return
        if len(texts) > len(form):
            self._wrong(places[len(form)], f"{texts[len(form)]!r} is one word too many", f"expected: {EXPECTED[kind]}")
            return
        column = 1
        try:
            if kind == "interface":
                port = _port(texts[1])
                column = 2
                address, length = _address_and_length(texts[2])
                if is_martian(address):
                    raise ValueError(f"{dotted(address)} is an address that no machine may have")
                column = 4
                self._interface(places, Interface(port, address, Prefix(address & mask(length), length), _mac(texts[4])))
            elif kind == "neighbor":
                address = parse_address(texts[1])
                column = 3
                self._once(self.neighbors, address, (_mac(texts[3]), places[1]), f"neighbor {texts[1]}")
            else:
                prefix = Prefix.parse(texts[1])
                if any(prefix.length >= each.length and each.covers(prefix.address) for each in MARTIANS):
                    raise ValueError(f"{prefix} is not for routing: no datagram to it may be forwarded")
                column = 3
                self._once(self.routes, prefix, (parse_address(texts[3]), places[1]), f"a route to {prefix}")
        except ValueError as error:
            self._wrong(places[column], str(error), f"expected: {EXPECTED[kind]}")

    def _once(self, table: dict[Key, tuple[Value, Origin]], key: Key, entry: tuple[Value, Origin], what: str) -> None:
        if key in table:
            note = Note("it is given here before", table[key][1])
            self._wrong(entry[1], f"{what} is given twice", "remove one of them", note)
        else:
            table[key] = entry

    def _interface(self, places: list[Origin], interface: Interface) -> None:
        for other, origin in self.interfaces.values():
            both = mask(min(other.subnet.length, interface.subnet.length))
            if other.port != interface.port and other.subnet.address & both == interface.subnet.address & both:
                self._wrong(places[2], f"the subnets of ports {other.port} and {interface.port} overlap",
                            "each port needs a subnet of its own", Note("the other one", origin))
        self._once(self.interfaces, interface.port, (interface, places[1]), f"interface {interface.port}")

    def _place_neighbors(self) -> dict[int, Neighbor]:
        found: dict[int, Neighbor] = {}
        for address, (mac, origin) in self.neighbors.items():
            interface = next((each for each, _ in self.interfaces.values() if each.subnet.covers(address)), None)
            if interface is None:
                subnets = ", ".join(str(each.subnet) for each, _ in self.interfaces.values()) or "none is given"
                self._wrong(origin, f"neighbor {dotted(address)} is on no interface's subnet", f"the subnets: {subnets}")
            elif address in (interface.address, interface.broadcast):
                self._wrong(origin, f"{dotted(address)} is the router's own or its subnet's broadcast address",
                            "a neighbor is another machine")
            else:
                found[address] = Neighbor(address, interface.port, mac)
        return found

    def _resolve(self, neighbors: dict[int, Neighbor]) -> list[Route]:
        found = []
        for prefix, (gateway, origin) in self.routes.items():
            if gateway in neighbors:
                found.append(Route(prefix, neighbors[gateway]))
            elif gateway not in self.neighbors:
                self._wrong(origin, f"the route's gateway {dotted(gateway)} is no neighbor",
                            f"add  neighbor {dotted(gateway)} mac MAC")
        return found


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]", text) or int(text) >= PORTS:
        raise ValueError(f"{text!r} is no port: 0 to {PORTS - 1}")
    return int(text)
