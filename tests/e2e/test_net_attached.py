"""Two hosts exchange files through the emulated router: whole streams, whatever the wires do; the same again after a snapshot."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ixpemu import App, UserError, resources
from ixpemu.engine.jit import COMPILED
from ixpemu.net.attached import Hosts, wire
from ixpemu.net.http_hosts import Load, WebServer
from ixpemu.net.tcp import Connection, Settings
from ixpemu.net.tcp_congestion import MILLISECOND
from ixpemu.net.tcp_host import Host
from ixpemu.net.tcp_segment import Interface
from tests.unit.test_net_tcp import Talker, stream

ROUTES = """
interface 0 10.0.0.1/24 mac 02:00:00:00:00:01
interface 1 10.0.1.1/24 mac 02:00:00:00:00:02
interface 2 10.0.2.1/24 mac 02:00:00:00:00:03
neighbor 10.0.0.9 mac 02:00:00:00:01:01
neighbor 10.0.1.9 mac 02:00:00:00:01:02
"""
CLIENT, SERVER = Interface(b"\2\0\0\0\1\1", 0x0A000009), Interface(b"\2\0\0\0\1\2", 0x0A000109)
ROUTER = (b"\2\0\0\0\0\1", b"\2\0\0\0\0\2")


def routed(folder: Path, there: bytes, back: bytes, **chances: float) -> tuple[App, Hosts, Connection]:
    """A router with a client at port 0 and a server at port 1, the connection opened."""
    shutil.copytree(resources.folder("microcode") / "ipv4_forward", folder, dirs_exist_ok=True)
    text = (folder / "app.toml").read_text(encoding="utf-8")
    for port in range(3):
        text = text.replace(f', in = "sample{port}.pcap", out = "port{port}.pcap"', "")
    (folder / "app.toml").write_text(text, encoding="utf-8")
    (folder / "routes.txt").write_text(ROUTES, encoding="utf-8")
    app = App.load(folder)
    hosts = Hosts(app.chip)
    chosen = Settings(time_wait=MILLISECOND, delayed_ack=MILLISECOND)
    client, server = Host(CLIENT, ROUTER[0], chosen), Host(SERVER, ROUTER[1], chosen)
    server.listeners[80] = Talker(back)
    for number, host in enumerate((client, server)):
        hosts.attach(number, host, wire(100_000, seed=2 * number, **chances), wire(100_000, seed=2 * number + 1, **chances))
    connection = client.connect(0, SERVER.address, 80, Talker(there), 0xFFFFFFF0)
    return app, hosts, connection


def talkers(hosts: Hosts) -> tuple[Talker, Talker]:
    """Client's and server's program: the client's is the only one of its host."""
    server = hosts.host(1).listeners[80]
    (client,) = hosts.host(0)._programs.values() or (None,)     # type: ignore[assignment]
    return client, server                                       # type: ignore[return-value]


def finish(app: App, hosts: Hosts, milliseconds: int) -> None:
    for _ in range(milliseconds):
        app.advance(600_000)
        if not hosts.busy():
            return
    raise AssertionError("the hosts are not done")


@pytest.mark.skipif(not COMPILED, reason="many packets: the compiled engine only")
@pytest.mark.parametrize(("chances", "size"), [({}, 60_000), ({"loss": 0.01, "reorder": 0.02, "duplicate": 0.01}, 60_000)])
def test_files_go_both_ways_through_the_router(tmp_path: Path, chances: dict[str, float], size: int) -> None:
    app, hosts, connection = routed(tmp_path, stream(size, 1), stream(size, 2), **chances)
    client, server = talkers(hosts)
    finish(app, hosts, 5_000 if chances else 200)
    assert bytes(server.heard) == stream(size, 1) and bytes(client.heard) == stream(size, 2)
    assert client.outcome == server.outcome == [None]
    assert connection.retransmissions == 0 or chances
    counters = [app.chip.ports[port].counters for port in range(2)]
    assert all(each.received > 3 and each.dropped == 0 for each in counters)
    # Each datagram has one less time to live.
    assert {frame.frame[22] for frame in app.chip.ports[1].sent} == {63}


@pytest.mark.skipif(not COMPILED, reason="two runs of many packets: the compiled engine only")
def test_a_snapshot_in_the_middle_goes_on_the_same(tmp_path: Path) -> None:
    app, hosts, _ = routed(tmp_path, stream(50_000, 1), stream(50_000, 2), loss=0.02)
    app.advance(2_000_000)
    assert hosts.busy()
    saved = app.chip.snapshot()
    seen = []
    for _ in range(2):
        finish(app, hosts, 5_000)
        server = hosts.host(1).listeners[80]
        assert bytes(server.heard) == stream(50_000, 1)         # type: ignore[attr-defined]
        seen.append([(frame.cycle, frame.frame) for frame in app.chip.ports[1].sent])
        app.chip.restore(saved)
    assert seen[0] == seen[1]


@pytest.mark.skipif(not COMPILED, reason="many packets: the compiled engine only")
def test_a_web_server_behind_the_router(tmp_path: Path) -> None:
    """Sessions at a rate, the server with a service time; a snapshot in the middle brings the same outcomes again."""
    app, hosts, _ = routed(tmp_path, b"", b"")
    finish(app, hosts, 100)
    files = {"/": 300, "/picture": 20_000}
    server = WebServer(hosts.host(1), files, lambda when, function: hosts.at(when, 1, function), MILLISECOND)
    hosts.host(1).listeners[80] = server
    load = Load(hosts.host(0), SERVER.address, files, lambda when, function: hosts.at(when, 0, function), requests_each=2)
    load.start(hosts.now, 20, 2_000.0)
    app.advance(6_000_000)
    assert 0 < load.running < 20
    saved, seen = app.chip.snapshot(), []
    for _ in range(2):
        finish(app, hosts, 500)
        web = hosts.host(1).listeners[80]
        assert isinstance(web, WebServer) and len(web.requests) == 40
        seen.append(web.requests)
        app.chip.restore(saved)
    assert seen[0] == seen[1]
    assert all(outcome.right for outcome in load.outcomes) and len(load.outcomes) == 20


def test_a_link_without_length(tmp_path: Path) -> None:
    app, hosts, _ = routed(tmp_path, b"", b"")
    with pytest.raises(UserError, match="delay of a link"):
        hosts.attach(2, hosts.host(0), wire(delay=0))
    assert app.chip.cycle == 0
