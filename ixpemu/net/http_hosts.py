"""Programs for hosts: a web server with files whose bytes can be checked, and clients that ask at a rate, as httperf does.

HTTP/1.0 and 1.1 with Content-Length; a session is one connection with one request or several. Who calls a function later is given
by the caller: `Simulation.at` or `Hosts.at`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from ixpemu.net.tcp import Connection
from ixpemu.net.tcp_host import Host

Later = Callable[[int, Callable[[int], None]], None]
"""Calls a function at a time, with the time; nanoseconds."""
_END = b"\r\n\r\n"
_PATTERN = 65_521                   # a prime, so that no power of two of bytes is like another


def body(path: str, size: int) -> bytes:
    """The file at a path: bytes that say where in which file they are."""
    start = sum(path.encode()) % _PATTERN
    block = bytes((start + k * 7 + (k >> 8)) & 0xFF for k in range(min(size, _PATTERN)))
    return (block * (size // _PATTERN + 1))[:size]


@dataclass(slots=True)
class WebServer:
    """Answers requests for `files` (sizes by path) after `service_time` each, one after the other in a connection."""

    host: Host
    files: Mapping[str, int]
    later: Later
    service_time: int = 0
    requests: list[tuple[int, str]] = field(default_factory=list)
    """When each request was whole, and its first line."""
    _heard: dict[Connection, bytearray] = field(default_factory=dict)
    _free_at: dict[Connection, int] = field(default_factory=dict)

    def opened(self, now: int, connection: Connection) -> None:
        """A client is there."""
        self._heard[connection] = bytearray()
        self._free_at[connection] = now

    def arrived(self, now: int, connection: Connection) -> None:
        """Bytes of requests, whole or not."""
        heard = self._heard[connection]
        heard += connection.read()
        while (end := heard.find(_END)) >= 0:
            request = bytes(heard[:end]).decode("latin-1")
            del heard[: end + len(_END)]
            self.requests.append((now, request.split("\r\n")[0]))
            when = max(now, self._free_at[connection]) + self.service_time
            self._free_at[connection] = when
            if self.service_time:
                self.later(when, partial(self._later, connection, request))
            else:
                self._answer(now, connection, request)
        if connection.ended and not self.service_time:
            connection.close(now)

    def ended(self, now: int, connection: Connection) -> None:
        """The client has gone."""
        self._heard.pop(connection, None)
        self._free_at.pop(connection, None)

    def _later(self, connection: Connection, request: str, now: int) -> None:
        if connection in self._heard:
            self._answer(now, connection, request)
            if connection.ended:
                connection.close(now)
            self.host.settle(now, connection)

    def _answer(self, now: int, connection: Connection, request: str) -> None:
        lines = request.split("\r\n")
        words = lines[0].split()
        path = words[1] if len(words) == 3 else ""
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        old = len(words) < 3 or words[2] == "HTTP/1.0"
        stays = fields.get("connection", "close" if old else "keep-alive").lower() == "keep-alive"
        size = self.files.get(path)
        status, content = ("404 Not Found", b"") if size is None else ("200 OK", body(path, size))
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\nConnection: {'keep-alive' if stays else 'close'}\r\n\r\n"
        try:
            connection.send(now, head.encode() + content)
        except ValueError:
            return                                      # it is closed already
        if not stays:
            connection.close(now)


@dataclass(slots=True)
class Outcome:
    """What became of a session. Times in nanoseconds: of the SYN, the end of the handshake, the last byte of each answer."""

    started: int
    opened: int | None = None
    answered: list[int] = field(default_factory=list)
    right: bool = False
    """Every answer was 200 with the very bytes of its file, and the connection ended in order."""
    error: str | None = None
    retransmissions: int = 0


@dataclass(slots=True)
class Session:
    """One connection that asks for `paths` in turn. `splits`: where in the first request a segment of its own begins."""

    paths: Sequence[str]
    files: Mapping[str, int]
    outcome: Outcome
    name: str = "www.example.com"
    version: str = "HTTP/1.1"
    splits: Sequence[int] = ()
    done: Callable[[int], None] = lambda now: None
    _heard: bytearray = field(default_factory=bytearray)
    _wrong: bool = False

    def request(self, number: int) -> bytes:
        """The text of a request."""
        last = number == len(self.paths) - 1
        return (f"GET {self.paths[number]} {self.version}\r\nHost: {self.name}\r\n"
                f"Connection: {'close' if last else 'keep-alive'}\r\n\r\n").encode()

    def opened(self, now: int, connection: Connection) -> None:
        """Ask for the first file."""
        self.outcome.opened = now
        text = self.request(0)
        places = [0, *sorted(set(self.splits) & set(range(1, len(text)))), len(text)]
        for first, end in pairwise(places):
            connection.send(now, text[first:end])

    def arrived(self, now: int, connection: Connection) -> None:
        """Part of an answer."""
        self._heard += connection.read()
        while len(self.outcome.answered) < len(self.paths) and self._take_answer():
            self.outcome.answered.append(now)
            if len(self.outcome.answered) < len(self.paths):
                connection.send(now, self.request(len(self.outcome.answered)))
            else:
                connection.close(now)

    def ended(self, now: int, connection: Connection) -> None:
        """Judge it."""
        self.outcome.error, self.outcome.retransmissions = connection.error, connection.retransmissions
        whole = len(self.outcome.answered) == len(self.paths) and not self._heard
        self.outcome.right = whole and not self._wrong and connection.error is None
        self.done(now)

    def _take_answer(self) -> bool:
        """Whether a whole answer was there; it is compared with the file and taken off."""
        end = self._heard.find(_END)
        if end < 0:
            return False
        lines = bytes(self._heard[:end]).decode("latin-1").split("\r\n")
        lengths = [int(line.partition(":")[2]) for line in lines[1:] if line.lower().startswith("content-length:")]
        behind = end + len(_END) + (lengths[0] if lengths else 0)
        if len(self._heard) < behind:
            return False
        path = self.paths[len(self.outcome.answered)]
        content = bytes(self._heard[end + len(_END) : behind])
        self._wrong |= lines[0].split(" ")[1:2] != ["200"] or content != body(path, self.files.get(path, 0))
        del self._heard[:behind]
        return True


@dataclass(slots=True)
class Load:
    """Sessions at a rate, each for some of the files in turn."""

    host: Host
    address: int
    files: Mapping[str, int]
    later: Later
    port: int = 80
    requests_each: int = 1
    version: str = "HTTP/1.1"
    outcomes: list[Outcome] = field(default_factory=list)
    running: int = 0

    def start(self, now: int, sessions: int, rate: float) -> None:
        """Open `sessions` connections, `rate` of them a second, beginning now."""
        self.running += sessions
        for number in range(sessions):
            self.later(now + round(number * 1e9 / rate), partial(self._open, number))

    def _open(self, number: int, now: int) -> None:
        paths = list(self.files)
        chosen = [paths[(number + k) % len(paths)] for k in range(self.requests_each)]
        outcome = Outcome(now)
        self.outcomes.append(outcome)
        self.host.connect(now, self.address, self.port,
                          Session(chosen, self.files, outcome, version=self.version, done=self._done))

    def _done(self, now: int) -> None:
        self.running -= 1
