"""A simulated TCP host against this machine's kernel, over a TAP device in a network namespace of its own, in real time.

Run as a program: `python -m tests.support.kernel_peer DIRECTION BYTES LOSS SEED SACK`. It prints what happened as JSON; "skip"
with the reason where the system does not let it have a namespace or a TAP device.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

from ixpemu.net.tcp import Connection, Settings
from ixpemu.net.tcp_congestion import MILLISECOND
from ixpemu.net.tcp_host import Host
from ixpemu.net.tcp_segment import Interface

KERNEL, OURS = Interface(b"\2\0\0\0\0\x62", 0x0A630001), Interface(b"\2\0\0\0\0\x63", 0x0A630002)
KERNEL_TEXT, OURS_TEXT = "10.99.0.1", "10.99.0.2"
PORT = 8080
_NEW_NETWORK = 0x40000000
_SET_INTERFACE, _TAP_WITHOUT_HEADER = 0x400454CA, 0x1002
_SECONDS = 40


def stream(size: int) -> bytes:
    """Bytes that no shift of themselves is like."""
    return random.Random(size).randbytes(size)


def tap() -> int:
    """A TAP device with the kernel's address in a new namespace; its descriptor. OSError where that is not allowed."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "no network namespace of its own")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _SET_INTERFACE, struct.pack("16sH", b"peer0", _TAP_WITHOUT_HEADER))
    mac = OURS.mac.hex(":")
    for command in ("link set lo up", f"link set peer0 address {KERNEL.mac.hex(':')}", f"addr add {KERNEL_TEXT}/24 dev peer0",
                    "link set peer0 up", f"neigh add {OURS_TEXT} lladdr {mac} dev peer0"):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    return device


@dataclass
class Echo:
    """Sends what it has, hears what comes, closes when it has heard as much as it wants; or sends back what it hears."""

    content: bytes = b""
    wanted: int | None = None
    heard: bytearray = field(default_factory=bytearray)
    outcome: list[str | None] = field(default_factory=list)

    def opened(self, now: int, connection: Connection) -> None:
        """The handshake is over."""
        connection.send(now, self.content)

    def arrived(self, now: int, connection: Connection) -> None:
        """Something has come."""
        content = connection.read()
        self.heard += content
        if self.wanted is None and content:
            connection.send(now, content)
        if len(self.heard) == self.wanted or (self.wanted is None and connection.ended):
            connection.close(now)

    def ended(self, now: int, connection: Connection) -> None:
        """It is over."""
        self.outcome.append(connection.error)


def drive(device: int, host: Host, loss: float, seed: int, over: threading.Event, program: Echo) -> int:
    """Let the host and the kernel talk until both are done; how many frames were lost on purpose."""
    pick, lost = random.Random(seed), 0
    began = time.monotonic_ns()
    while not (over.is_set() and program.outcome):
        now = time.monotonic_ns()
        if now - began > _SECONDS * 1_000_000_000:
            break
        host.act(now)
        frames, host.frames = host.frames, []
        for frame in frames:
            if pick.random() < loss:
                lost += 1
            else:
                os.write(device, frame)
        if select.select([device], [], [], min(0.01, max(0, host.due - now) / 1e9))[0]:
            frame = os.read(device, 65_536)
            if pick.random() < loss:
                lost += 1
            else:
                host.receive(time.monotonic_ns(), frame)
    return lost


def kernel_echoes(listener: socket.socket, over: threading.Event) -> None:
    """The kernel's side: a server that sends back what it hears."""
    connection, _ = listener.accept()
    with connection:
        while content := connection.recv(65_536):
            connection.sendall(content)
    over.set()


def kernel_asks(size: int, result: dict[str, object], over: threading.Event) -> None:
    """The kernel's side: a client that sends, hears the same and closes."""
    try:
        with socket.create_connection((OURS_TEXT, PORT), timeout=_SECONDS) as connection:
            sender = threading.Thread(target=connection.sendall, args=(stream(size),))
            sender.start()
            heard = bytearray()
            while len(heard) < size and (content := connection.recv(65_536)):
                heard += content
            sender.join()
            result["kernel heard"] = bytes(heard) == stream(size)
    except OSError as error:
        result["kernel error"] = str(error)
    over.set()


def main(direction: str, size: int, loss: float, seed: int, sack: bool) -> None:
    """One exchange."""
    try:
        device = tap()
    except (OSError, subprocess.CalledProcessError) as error:
        print(json.dumps({"skip": str(error)}))
        return
    host = Host(OURS, KERNEL.mac, Settings(mss=1_460, sack=sack, window_scale=2, time_wait=10 * MILLISECOND))
    over, result = threading.Event(), dict[str, object]()
    if direction == "to kernel":
        listener = socket.create_server((KERNEL_TEXT, PORT))
        threading.Thread(target=kernel_echoes, args=(listener, over), daemon=True).start()
        program = Echo(stream(size), size)
        connection = host.connect(time.monotonic_ns(), KERNEL.address, PORT, program, 0xFFFFFF00)
    else:
        program = Echo()
        host.listeners[PORT] = program
        threading.Thread(target=kernel_asks, args=(size, result, over), daemon=True).start()
        connection = None
    lost = drive(device, host, loss, seed, over, program)
    result |= {"heard": bytes(program.heard) == stream(size), "outcome": program.outcome, "lost": lost,
               "retransmissions": connection.retransmissions if connection is not None else None}
    print(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "sack")
