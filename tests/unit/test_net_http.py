"""Web clients and servers in simulated time: every file whole at every rate, requests cut anywhere, what is wrong noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ixpemu.net.http_hosts import Load, Outcome, Session, WebServer, body
from ixpemu.net.simulation import Link, Simulation
from ixpemu.net.tcp import Settings
from ixpemu.net.tcp_congestion import MILLISECOND
from ixpemu.net.tcp_host import Host
from tests.unit.test_net_tcp import LEFT, RIGHT, SECOND

FILES = {"/": 100, "/big": 70_000, "/empty": 0, "/images/a.png": 5_000}


def web(service_time: int = 0, **chances: float) -> tuple[Simulation, WebServer, Load]:
    chosen = Settings(time_wait=MILLISECOND)
    hosts = Host(LEFT, RIGHT.mac, chosen), Host(RIGHT, LEFT.mac, chosen)
    simulation = Simulation(*hosts, Link(50_000, seed=1, **chances), Link(50_000, seed=2, **chances))    # type: ignore[arg-type]

    def later(when: int, function: Callable[[int], None]) -> None:
        simulation.at(when, lambda: function(simulation.now))

    server = WebServer(hosts[1], FILES, later, service_time)
    hosts[1].listeners[80] = server
    load = Load(hosts[0], RIGHT.address, FILES, later)
    return simulation, server, load


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
@pytest.mark.parametrize(("each", "service"), [(1, 0), (4, 0), (3, 2 * MILLISECOND)])
def test_every_session_gets_its_files(version: str, each: int, service: int) -> None:
    simulation, server, load = web(service)
    load.requests_each, load.version = each, version
    load.start(0, 40, 500.0)
    assert simulation.run(100 * SECOND) and load.running == 0
    assert len(load.outcomes) == 40 and all(outcome.right for outcome in load.outcomes)
    assert len(server.requests) == 40 * each
    assert [outcome.started for outcome in load.outcomes] == [round(k * 2e6) for k in range(40)]
    least = min(outcome.answered[-1] - outcome.started for outcome in load.outcomes)
    # A handshake and an answer each take a way there and back, besides the server's time.
    assert least >= 2 * 50_000 * (1 + each) + service * each


def test_every_session_gets_its_files_on_bad_wires() -> None:
    simulation, _, load = web(loss=0.01, duplicate=0.01, reorder=0.01)
    load.start(0, 150, 1_000.0)
    assert simulation.run(1_000 * SECOND) and all(outcome.right for outcome in load.outcomes)
    assert sum(outcome.retransmissions for outcome in load.outcomes) > 0


def test_a_request_cut_at_every_byte() -> None:
    simulation, server, load = web()
    whole = Session(["/"], FILES, Outcome(0)).request(0)
    outcomes = []
    for place in range(1, len(whole)):
        outcomes.append(Outcome(simulation.now))
        load.host.connect(simulation.now, RIGHT.address, 80, Session(["/"], FILES, outcomes[-1], splits=[place]))
        simulation.run(simulation.now + SECOND)
    assert all(outcome.right for outcome in outcomes) and len(server.requests) == len(outcomes) == len(whole) - 1


def test_what_is_wrong_is_not_right() -> None:
    """A file that is not there, one with other bytes than the client expects, and nobody at the port."""
    simulation, server, load = web()
    server.files = {"/": 99, "/big": 70_000}
    for path, port in (("/nowhere", 80), ("/", 80), ("/big", 81)):
        outcome = Outcome(simulation.now)
        load.host.connect(simulation.now, RIGHT.address, port, Session([path], FILES | {"/nowhere": 0}, outcome))
        simulation.run(simulation.now + SECOND)
        assert not outcome.right
    assert outcome.error == "refused"


def test_files_differ() -> None:
    assert len({body(path, 50) for path in FILES}) == len(FILES)
    assert len(body("/x", 200_000)) == 200_000 and body("/x", 70_000)[:65_521] == body("/x", 65_521)
