"""A machine with a TCP at the end of a link, in simulated time: addresses, listeners, connections, and what its programs do.

A program is an object with `opened`, `arrived` and `ended`; it is called with the time and the connection, and uses the
connection's `send` and `close`. The host knows one neighbour, which all its frames go to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ixpemu.net.tcp import NEVER, Connection, Settings, State
from ixpemu.net.tcp_segment import ACK, RST, SYN, Interface, Segment, from_frame, to_frame

_Key = tuple[int, int, int]             # the peer's address and port, and our port
_EPHEMERAL = 49_152


class Program(Protocol):
    """What somebody does with a connection. Times are nanoseconds."""

    def opened(self, now: int, connection: Connection) -> None:
        """The handshake is over."""

    def arrived(self, now: int, connection: Connection) -> None:
        """There is something to read, or the peer has ended."""

    def ended(self, now: int, connection: Connection) -> None:
        """The connection is gone; `connection.error` says why if that was no orderly end."""


@dataclass(slots=True)
class Host:
    """`interface` is its own end, `neighbour` the MAC that all frames go to. `listeners`: programs by port."""

    interface: Interface
    neighbour: bytes
    settings: Settings = field(default_factory=Settings)
    listeners: dict[int, Program] = field(default_factory=dict)
    connections: dict[_Key, Connection] = field(default_factory=dict)
    frames: list[bytes] = field(default_factory=list)
    """To be sent now; the simulation takes them."""
    refused: int = 0
    """Segments for nobody, answered with a RST or not."""
    _programs: dict[_Key, Program] = field(default_factory=dict)
    _open: set[_Key] = field(default_factory=set)
    _next_port: int = _EPHEMERAL
    _next_first: int = 0x1000_0000
    _identification: int = 0

    def connect(self, now: int, address: int, port: int, program: Program, first: int | None = None) -> Connection:
        """Open a connection; `first` is its initial sequence number, the host's next one if not given."""
        local = self._next_port
        self._next_port = _EPHEMERAL + (self._next_port + 1 - _EPHEMERAL) % (65_536 - _EPHEMERAL)
        connection = Connection(local, port, self._first(first), self.settings)
        key = (address, port, local)
        self.connections[key], self._programs[key] = connection, program
        connection.open(now)
        self._settle(now, key)
        return connection

    def _first(self, first: int | None) -> int:
        if first is not None:
            return first
        self._next_first = (self._next_first + 64_021) % (1 << 32)
        return self._next_first

    @property
    def due(self) -> int:
        """When `act` has to be called."""
        return min((connection.due for connection in self.connections.values()), default=NEVER)

    def act(self, now: int) -> None:
        """Timers that are due by `now`."""
        for key, connection in list(self.connections.items()):
            if connection.due <= now:
                connection.timer(now)
                self._settle(now, key)

    def receive(self, now: int, frame: bytes) -> None:
        """A frame has arrived whole. What is no TCP for this address, or is damaged, is passed over."""
        found = from_frame(frame)
        if found is None or found.destination != self.interface.address or frame[:6] != self.interface.mac:
            return
        segment = found.segment
        key = (found.source, segment.source_port, segment.destination_port)
        if key not in self.connections:
            program = self.listeners.get(segment.destination_port)
            if program is None or segment.flags & (SYN | ACK | RST) != SYN:
                self._refuse(found.source, segment)
                return
            self.connections[key] = Connection.answer(now, segment, self._first(None), self.settings)
            self._programs[key] = program
        else:
            self.connections[key].receive(now, segment)
        self._settle(now, key)

    def settle(self, now: int, connection: Connection) -> None:
        """After a program has used a connection on its own account: what there is to send goes."""
        self._settle(now, next(key for key, one in self.connections.items() if one is connection))

    def _settle(self, now: int, key: _Key) -> None:
        """Tell the program what has happened, and send what there is to send."""
        connection, program = self.connections[key], self._programs[key]
        if key not in self._open and connection.state not in (State.SYN_SENT, State.SYN_RECEIVED, State.CLOSED):
            self._open.add(key)
            program.opened(now, connection)
        if key in self._open and (connection.received or connection.ended):
            program.arrived(now, connection)
        self._send(key[0], connection.outgoing)
        connection.outgoing.clear()
        if connection.state is State.CLOSED:
            del self.connections[key], self._programs[key]
            self._open.discard(key)
            program.ended(now, connection)

    def _refuse(self, source: int, segment: Segment) -> None:
        self.refused += 1
        if segment.flags & RST:
            return
        ports = segment.destination_port, segment.source_port
        if segment.flags & ACK:
            answer = Segment(*ports, segment.acknowledgement, 0, RST, 0)
        else:
            answer = Segment(*ports, 0, (segment.sequence + segment.length) % (1 << 32), RST | ACK, 0)
        self._send(source, [answer])

    def _send(self, address: int, segments: list[Segment]) -> None:
        for segment in segments:
            self._identification += 1
            self.frames.append(to_frame(segment, self.interface, Interface(self.neighbour, address), self._identification))
