"""One end of a TCP connection in simulated time: RFC 9293 with slow start, congestion avoidance, fast retransmit and recovery
(5681, 6582), SACK (2018, 6675 simplified), retransmission timeouts (6298), delayed acknowledgements and zero-window probes.

Segments and times in nanoseconds go in; segments and the time of the next timer come out. There is no clock, no random number
and no address here: the host gives ports and the initial sequence number, `ixpemu.net.tcp_host` sends. Not here: urgent data,
timestamps, Nagle's algorithm, keep-alive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ixpemu.net.tcp_congestion import DUPLICATES, MILLISECOND, Congestion, Timeout
from ixpemu.net.tcp_ranges import Ranges, Reassembly
from ixpemu.net.tcp_segment import ACK, FIN, PSH, RST, SYN, Segment

NEVER = 1 << 62
_WRAP = 1 << 32
_MOST_TRIES = 12


class State(Enum):
    """RFC 9293, 3.3.2. LISTEN is the host's."""

    CLOSED = "closed"
    SYN_SENT = "syn-sent"
    SYN_RECEIVED = "syn-received"
    ESTABLISHED = "established"
    FIN_WAIT_1 = "fin-wait-1"
    FIN_WAIT_2 = "fin-wait-2"
    CLOSE_WAIT = "close-wait"
    CLOSING = "closing"
    LAST_ACK = "last-ack"
    TIME_WAIT = "time-wait"


_MAY_SEND = frozenset((State.ESTABLISHED, State.CLOSE_WAIT, State.FIN_WAIT_1, State.CLOSING, State.LAST_ACK))
_MAY_RECEIVE = frozenset((State.ESTABLISHED, State.FIN_WAIT_1, State.FIN_WAIT_2))


@dataclass(frozen=True, slots=True)
class Settings:
    """What an end offers and how patient it is; times in nanoseconds, sizes in bytes."""

    mss: int = 1460
    window: int = 65_535
    window_scale: int | None = None
    sack: bool = True
    delayed_ack: int = 40 * MILLISECOND
    time_wait: int = 60_000 * MILLISECOND


@dataclass(slots=True, eq=False)
class Connection:
    """One end. Sequence numbers in it do not wrap: `first` is the initial one, and those of segments are theirs modulo 2**32.

    `send` and `close` are the program's; `received` is what it has not read yet. `error` says why a connection died.
    """

    local_port: int
    remote_port: int
    first: int
    settings: Settings = field(default_factory=Settings)
    state: State = State.CLOSED
    error: str | None = None
    received: bytearray = field(default_factory=bytearray)
    retransmissions: int = 0
    outgoing: list[Segment] = field(default_factory=list)
    """Segments to be sent now, oldest first; the host takes them."""

    _una: int = 0                       # oldest number that is not acknowledged, next one to be sent, highest that ever was
    _next: int = 0
    _high: int = 0
    _content: bytearray = field(default_factory=bytearray)      # bytes from `_una` on (without SYN)
    _closing: bool = False
    _peer_window: int = 0
    _peer_scale: int = 0
    _scale: int = 0
    _scaled: bool = False
    _sack: bool = False
    _mss: int = 536
    _expected: int = 0                  # next number of the peer
    _peer_end: int | None = None        # number of the peer's FIN
    _reassembly: Reassembly = field(default_factory=Reassembly)
    _told: Ranges = field(default_factory=Ranges)               # what SACK says the peer has
    _resent: int = 0                    # in recovery: up to where holes were filled
    _congestion: Congestion = field(default_factory=lambda: Congestion(536))
    _timeout: Timeout = field(default_factory=Timeout)
    _timed: tuple[int, int] | None = None                       # a number whose acknowledgement is timed, and since when
    _tries: int = 0
    _retransmit_at: int = NEVER
    _ack_at: int = NEVER
    _probe_at: int = NEVER
    _wait_until: int = NEVER
    _unacknowledged: int = 0            # full segments since the last acknowledgement

    # The program

    def open(self, now: int) -> None:
        """Begin the handshake."""
        self._begin(State.SYN_SENT)
        self._send_syn(now, SYN)

    @classmethod
    def answer(cls, now: int, syn: Segment, first: int, settings: Settings) -> Connection:
        """The connection that a SYN to a listener makes."""
        made = cls(syn.destination_port, syn.source_port, first, settings)
        made._begin(State.SYN_RECEIVED)
        made._agree(syn)
        made._send_syn(now, SYN | ACK)
        return made

    def send(self, now: int, content: bytes) -> None:
        """Hand bytes over; they go when the windows let them."""
        if self._closing or self.state is State.CLOSED:
            raise ValueError("nothing can be sent after close")
        self._content += content
        self._output(now)

    def close(self, now: int) -> None:
        """Nothing more will be sent: FIN follows what there is."""
        if self.state is State.SYN_SENT:
            self._end(None)
        elif not self._closing:
            self._closing = True
            self._output(now)

    def abort(self) -> None:
        """End at once, with a RST."""
        if self.state not in (State.CLOSED, State.SYN_SENT, State.TIME_WAIT):
            self._emit(RST | ACK, self._next)
        self._end("aborted")

    def read(self) -> bytes:
        """What has come in order since the last time."""
        content = bytes(self.received)
        closed = self.settings.window - len(content) < self._mss
        self.received.clear()
        if closed and self.state in _MAY_RECEIVE:
            self._acknowledge()                 # the peer waits to hear of the room
        return content

    @property
    def ended(self) -> bool:
        """Whether the peer will send no more, and all of it was read in order."""
        return self._peer_end is not None and self._expected > self._peer_end

    @property
    def due(self) -> int:
        """When `timer` has to be called."""
        return min(self._retransmit_at, self._ack_at, self._probe_at, self._wait_until)

    # Time

    def timer(self, now: int) -> None:
        """Do what is due by `now`."""
        if self._wait_until <= now:
            self._end(None)
            return
        if self._ack_at <= now:
            self._acknowledge()
        if self._probe_at <= now:
            self._probe(now)
        if self._retransmit_at <= now:
            self._expire(now)

    def _expire(self, now: int) -> None:
        self._tries += 1
        if self._tries > _MOST_TRIES:
            self._end("timed out")
            return
        self._timeout.expired()
        self._timed = None
        self.retransmissions += 1
        self._retransmit_at = now + self._timeout.value
        if self.state in (State.SYN_SENT, State.SYN_RECEIVED):
            self._send_syn(now, SYN if self.state is State.SYN_SENT else SYN | ACK, again=True)
            return
        self._congestion.expired(self._next - self._una)
        self._told = Ranges()               # what was told may have been taken back (RFC 2018, 8)
        self._next = self._una
        self._output(now)

    def _probe(self, now: int) -> None:
        """One byte into a window that is closed."""
        self._timeout.expired()
        self._probe_at = now + self._timeout.value
        if self._content and self._next == self._una:
            self._emit(ACK | PSH, self._una, bytes(self._content[:1]))
            self._high = max(self._high, self._una + 1)

    # Sending

    def _begin(self, state: State) -> None:
        self.state = state
        self._una = self._next = self._high = self.first
        self._mss = min(self._mss, self.settings.mss)
        self._congestion = Congestion(self._mss)

    def _send_syn(self, now: int, flags: int, again: bool = False) -> None:
        offered = flags == SYN or self._scaled
        self._emit(
            flags, self.first, mss=self.settings.mss, window_scale=self.settings.window_scale if offered else None,
            sack_permitted=self.settings.sack if flags == SYN else self._sack,
        )
        self._next = self._high = self.first + 1
        if not again:
            self._timed = self._next, now
            self._retransmit_at = now + self._timeout.value

    def _emit(
        self, flags: int, sequence: int, payload: bytes = b"", *, mss: int | None = None, window_scale: int | None = None,
        sack_permitted: bool = False,
    ) -> None:
        room = max(0, self.settings.window - len(self.received))
        scaled = room if flags & SYN else room >> self._scale
        blocks: tuple[tuple[int, int], ...] = ()
        if self._sack and flags & ACK and not flags & (SYN | RST):
            fitting = (self._mss - len(payload) - 4) // 8       # the MSS is of segments without options
            blocks = tuple((low % _WRAP, high % _WRAP) for low, high in self._reassembly.blocks(max(0, min(3, fitting))))
        self.outgoing.append(Segment(
            self.local_port, self.remote_port, sequence % _WRAP, self._expected % _WRAP if flags & ACK else 0, flags,
            min(0xFFFF, scaled), payload, mss, window_scale, sack_permitted, blocks,
        ))
        if flags & ACK:
            self._ack_at, self._unacknowledged = NEVER, 0

    def _acknowledge(self) -> None:
        # Behind all that was ever sent: the peer would take an older number for a repetition and not look at the rest.
        self._emit(ACK, self._high)

    def _output(self, now: int) -> None:
        """Send what the windows allow, and the FIN behind the last byte."""
        if self.state not in _MAY_SEND:
            return
        usable = min(self._congestion.window + self._gone(), self._peer_window)
        behind = self._una + len(self._content)
        while self._next < behind:
            count = min(self._mss, behind - self._next, self._una + usable - self._next)
            if count <= 0:
                break
            self._transmit(now, self._next, count)
            self._next += count
        first_fin = self.state in (State.ESTABLISHED, State.CLOSE_WAIT)
        if self._closing and self._next == behind and (first_fin or self._fin_again(behind)):
            self._emit(FIN | ACK, behind)
            self._next = behind + 1
            self._high = max(self._high, self._next)
            if self.state is State.ESTABLISHED:
                self.state = State.FIN_WAIT_1
            elif self.state is State.CLOSE_WAIT:
                self.state = State.LAST_ACK
            self._arm(now)
        if self._content and self._peer_window == 0 and self._next == self._una and self._probe_at == NEVER:
            self._probe_at = now + self._timeout.value

    def _gone(self) -> int:
        """Bytes between the oldest one and the next that are known to have left the network."""
        if self._sack:
            return self._told.size
        duplicates = self._congestion.duplicates
        # Before a loss is sure two more segments may go (RFC 3042).
        return self._mss * (duplicates if self._congestion.recover is not None else min(duplicates, DUPLICATES - 1))

    def _fin_again(self, behind: int) -> bool:
        """Whether the FIN was sent and has to be sent once more: the next number stands before it."""
        return self.state in (State.FIN_WAIT_1, State.CLOSING, State.LAST_ACK) and self._next == behind

    def _transmit(self, now: int, sequence: int, count: int) -> None:
        at = sequence - self._una
        payload = bytes(self._content[at : at + count])
        last = at + count == len(self._content)
        self._emit(ACK | (PSH if last else 0), sequence, payload)
        if sequence >= self._high and self._timed is None:
            self._timed = sequence + count, now
        elif sequence < self._high:
            self.retransmissions += 1
        self._high = max(self._high, sequence + count)
        self._arm(now)

    def _arm(self, now: int) -> None:
        if self._retransmit_at == NEVER:
            self._retransmit_at = now + self._timeout.value

    # Receiving

    def receive(self, now: int, segment: Segment) -> None:
        """A segment for this connection has come."""
        if self.state is State.CLOSED:
            return
        if self.state is State.SYN_SENT:
            self._receive_first(now, segment)
            return
        sequence = _near(segment.sequence, self._expected)
        if self.state is State.SYN_RECEIVED and segment.flags & SYN and sequence == self._expected - 1:
            self._send_syn(now, SYN | ACK, again=True)
            return
        if not self._acceptable(sequence, segment.length):
            if not segment.flags & RST:
                if self.state is State.TIME_WAIT:
                    self._wait_until = now + self.settings.time_wait
                self._acknowledge()
            return
        if segment.flags & RST:
            if self.state is State.TIME_WAIT:
                return                              # caused by an old duplicate (RFC 1337)
            if sequence == self._expected:
                self._end("reset")
            else:
                self._acknowledge()                 # a challenge (RFC 5961)
            return
        if segment.flags & SYN or not segment.flags & ACK:
            if segment.flags & SYN:
                self._acknowledge()
            return
        if self._take_ack(now, segment):
            self._take_content(now, sequence, segment)
            self._output(now)

    def _acceptable(self, sequence: int, length: int) -> bool:
        """RFC 9293, 3.10.7.4: whether any of it lies in the receive window."""
        room = max(0, self.settings.window - len(self.received))
        if room == 0:
            return self._expected <= sequence <= self._expected + 0xFFFF and length == 0       # acknowledgements still count
        end = self._expected + room
        return self._expected <= sequence < end or (length > 0 and self._expected <= sequence + length - 1 < end)

    def _receive_first(self, now: int, segment: Segment) -> None:
        """In SYN-SENT."""
        acknowledged = _near(segment.acknowledgement, self._next)
        fits = bool(segment.flags & ACK) and acknowledged == self._next
        if segment.flags & ACK and not fits:
            if not segment.flags & RST:
                self.outgoing.append(Segment(self.local_port, self.remote_port, segment.acknowledgement, 0, RST, 0))
            return
        if segment.flags & RST:
            if fits:
                self._end("refused")
            return
        if not segment.flags & SYN:
            return
        self._agree(segment)
        if fits:
            self.state = State.ESTABLISHED
            self._acknowledged(now, acknowledged)
            self._acknowledge()
            self._output(now)
        else:
            self.state = State.SYN_RECEIVED
            self._send_syn(now, SYN | ACK, again=True)

    def _agree(self, syn: Segment) -> None:
        """Take over what the peer's SYN says."""
        self._expected = syn.sequence + 1
        self._mss = min(self.settings.mss, syn.mss if syn.mss is not None else 536)
        self._congestion = Congestion(self._mss)
        self._sack = self.settings.sack and syn.sack_permitted
        if syn.window_scale is not None and self.settings.window_scale is not None:
            self._peer_scale, self._scale, self._scaled = syn.window_scale, self.settings.window_scale, True
        self._peer_window = syn.window          # never scaled in a SYN

    def _take_ack(self, now: int, segment: Segment) -> bool:
        """Its acknowledgement, window and SACK blocks; whether the rest of it counts."""
        acknowledged = _near(segment.acknowledgement, self._una)
        if acknowledged > self._high:
            self._acknowledge()
            return False
        if self.state is State.SYN_RECEIVED:
            if acknowledged != self.first + 1:
                self.outgoing.append(Segment(self.local_port, self.remote_port, segment.acknowledgement, 0, RST, 0))
                return False
            self.state = State.ESTABLISHED
        window = segment.window << self._peer_scale
        same = window == self._peer_window
        if acknowledged >= self._una:
            self._peer_window = window
            if window:
                self._probe_at = NEVER
        if self._sack:
            for left, right in segment.sack:
                low, high = _near(left, self._una), _near(right, self._una)
                if acknowledged <= low < high <= self._high:
                    self._told.add(low, high)
        if acknowledged > self._una:
            self._acknowledged(now, acknowledged)
        elif acknowledged == self._una and self._next > self._una and not segment.length and same:
            self._duplicate(now)
        return True

    def _acknowledged(self, now: int, acknowledged: int) -> None:
        """Everything before a number is with the peer."""
        count = acknowledged - self._una
        syn = 1 if self._una == self.first else 0
        taken = min(len(self._content), count - syn)
        fin = count - syn > taken
        del self._content[:taken]
        self._una = acknowledged
        self._next = max(self._next, acknowledged)
        self._told.drop_before(acknowledged)
        self._tries = 0
        if self._timed is not None and acknowledged >= self._timed[0]:
            self._timeout.measured(now - self._timed[1])
            self._timed = None
        congestion = self._congestion
        if congestion.recover is None:
            congestion.acknowledged(count - syn)
        elif acknowledged >= congestion.recover:
            congestion.recovered()
        elif self._sack:
            self._fill_holes(now)
        else:
            congestion.duplicates = max(0, congestion.duplicates - 1)
            self._resend(now, acknowledged)
        self._retransmit_at = NEVER if self._una == self._next else now + self._timeout.value
        if fin:
            self._fin_acknowledged(now)

    def _duplicate(self, now: int) -> None:
        """An acknowledgement that says nothing new: something behind a gap has come."""
        congestion = self._congestion
        congestion.duplicates += 1
        if congestion.recover is not None:
            if self._sack:
                self._fill_holes(now)
            return
        if congestion.duplicates >= DUPLICATES:
            congestion.lost(self._next - self._una, self._next)
            self._timed = None
            self._resend(now, self._una)
            self._resent = self._una + min(self._mss, len(self._content))

    def _fill_holes(self, now: int) -> None:
        """Send what SACK shows to be missing, as far as the congestion window lets it (RFC 6675, simplified)."""
        end = self._told.end
        if end is None:
            self._resend(now, self._una)
            return
        holes = self._told.holes(self._una)
        again = sum(max(0, min(high, self._resent) - low) for low, high in holes)
        pipe = self._next - max(end, self._una) + again
        for low, high in holes:
            at = max(low, self._resent, self._una)
            while at < high and pipe + self._mss <= self._congestion.window:
                count = min(self._mss, high - at, self._una + len(self._content) - at)
                if count <= 0:
                    break
                self._transmit(now, at, count)
                at += count
                pipe += count
                self._resent = at

    def _resend(self, now: int, sequence: int) -> None:
        """One segment again; the FIN, if nothing else is out."""
        count = min(self._mss, len(self._content) - (sequence - self._una))
        if count > 0:
            self._transmit(now, sequence, count)
        elif self._closing and self._next > self._una + len(self._content):
            self.retransmissions += 1
            self._emit(FIN | ACK, self._una + len(self._content))

    def _fin_acknowledged(self, now: int) -> None:
        if self.state is State.FIN_WAIT_1:
            self.state = State.FIN_WAIT_2
        elif self.state is State.CLOSING:
            self._time_wait(now)
        elif self.state is State.LAST_ACK:
            self._end(None)

    def _take_content(self, now: int, sequence: int, segment: Segment) -> None:
        """Its bytes and its FIN."""
        if self.state not in _MAY_RECEIVE:
            return
        end = sequence + len(segment.payload)
        if segment.flags & FIN:
            self._peer_end = end
        if not segment.length:
            return
        room = self._expected + max(0, self.settings.window - len(self.received))
        self._reassembly.put(sequence, segment.payload[: max(0, room - sequence)])
        before = self._expected
        taken = self._reassembly.take(self._expected)
        self.received += taken
        self._expected += len(taken)
        in_order = sequence <= before and not self._reassembly.ranges.found
        if self._peer_end == self._expected:
            self._expected += 1
            self._fin_received(now)
        if not in_order or self.ended:
            self._acknowledge()
            return
        self._unacknowledged += 1
        if self._unacknowledged >= 2:
            self._acknowledge()
        elif self._ack_at == NEVER:
            self._ack_at = now + self.settings.delayed_ack

    def _fin_received(self, now: int) -> None:
        if self.state is State.ESTABLISHED:
            self.state = State.CLOSE_WAIT
        elif self.state is State.FIN_WAIT_1:
            self.state = State.CLOSING
        elif self.state is State.FIN_WAIT_2:
            self._time_wait(now)

    def _time_wait(self, now: int) -> None:
        self.state = State.TIME_WAIT
        self._retransmit_at = self._probe_at = NEVER
        self._wait_until = now + self.settings.time_wait

    def _end(self, error: str | None) -> None:
        self.state = State.CLOSED
        self.error = error
        self._retransmit_at = self._ack_at = self._probe_at = self._wait_until = NEVER


def _near(number: int, known: int) -> int:
    """The number that does not wrap, is `number` modulo 2**32 and lies nearest to `known`."""
    return known + ((number - known + (_WRAP >> 1)) % _WRAP) - (_WRAP >> 1)
