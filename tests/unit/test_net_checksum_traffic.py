"""Reference checksums against published values, and traffic streams against their definition."""

import tomllib
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from ixpemu import codes
from ixpemu.diagnostics import UserError
from ixpemu.net import internet_checksum, traffic, update_checksum
from ixpemu.net.checksum import ones_complement_sum
from ixpemu.net.traffic_file import KEYS


def test_the_example_of_rfc_1071():
    content = bytes.fromhex("0001f203f4f5f6f7")
    assert ones_complement_sum(content) == 0xDDF2
    assert internet_checksum(content) == 0x220D


def test_the_example_of_rfc_1624():
    assert update_checksum(0xDD2F, 0x5555, 0x3285) == 0x0000


@given(st.binary(min_size=2, max_size=60), st.integers(0, 29), st.integers(0, 0xFFFF))
def test_an_update_gives_a_checksum_that_verifies(content, at, new):
    content = content + b"\x45\0" + bytes(-len(content) % 2)
    at = at * 2 % (len(content) - len(content) % 2)
    old = int.from_bytes(content[at : at + 2], "big")
    checksum = update_checksum(internet_checksum(content), old, new)
    changed = content[:at] + new.to_bytes(2, "big") + content[at + 2 :]
    assert ones_complement_sum(changed, checksum) in (0, 0xFFFF)


def test_64_byte_stream_is_valid_and_seekable():
    stream = traffic("64B", port=1)
    first = [frame for _, frame in islice(stream.frames(), 50)]
    assert {len(frame) for frame in first} == {60}
    assert [frame for _, frame in islice(stream.frames(20), 30)] == first[20:]
    assert len({frame[26:34] for frame in first}) > 40
    for frame in first:
        packet = Ether(frame)
        rebuilt = packet.copy()
        del rebuilt[IP].chksum
        assert Ether(bytes(rebuilt))[IP].chksum == packet[IP].chksum
        assert packet.dst == "02:00:00:00:00:02"
        assert packet[IP].dst.startswith(("10.0.0.", "10.0.2."))
        assert packet[IP].dst.rsplit(".", 1)[1] not in ("0", "1", "255")


def test_imix_has_its_proportions():
    sizes = [len(frame) for _, frame in islice(traffic("imix").frames(), 120)]
    assert {size: sizes.count(size) for size in set(sizes)} == {60: 70, 590: 40, 1514: 10}


def test_count_ends_a_stream():
    assert len(list(traffic("64B", count=7).frames(5))) == 2


def test_stream_from_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('sizes = [64, 1518]\ndestinations = ["192.0.2.0/24"]\ncount = 3\n')
    frames = [frame for _, frame in traffic(str(path)).frames()]
    assert [len(frame) for frame in frames] == [60, 1514, 60]
    assert all(frame[30:33] == bytes([192, 0, 2]) for frame in frames)


MIXED = """
sizes = [64, 594, 1518]
weights = [7, 4, 1]
protocols = { udp = 6, tcp = 3, icmp = 1 }
destinations = ["192.0.2.8-192.0.2.11", "198.51.100.7"]
source = "10.9.0.0/16"
ports = [53, 80]
ttl = 9
seed = 5
"""


def test_weights_protocols_and_ranges_of_a_file_are_exact(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MIXED)
    stream = traffic(str(path))
    frames = [frame for _, frame in islice(stream.frames(), stream.period)]
    assert [frame for _, frame in islice(stream.frames(stream.period), 50)] == frames[:50]
    packets = [Ether(frame) for frame in frames]
    n = len(frames)
    assert n % 60 == 0
    assert Counter(len(frame) for frame in frames) == {60: n * 7 // 12, 590: n // 3, 1514: n // 12}
    assert Counter(packet[IP].proto for packet in packets) == {17: n * 6 // 10, 6: n * 3 // 10, 1: n // 10}
    # Sizes and protocols do not go together: every pair is there about as often as its shares say.
    assert Counter((len(frame), packet[IP].proto) for frame, packet in zip(frames, packets, strict=True))[60, 6] == pytest.approx(
        n * 7 / 12 * 0.3, rel=0.15)
    assert [packet[IP].dst == "198.51.100.7" for packet in packets[:4]] == [False, True, False, True]
    assert {packet[IP].dst for packet in packets[::2]} == {f"192.0.2.{k}" for k in range(8, 12)}
    assert len({packet[IP].src for packet in packets}) > n // 2
    assert all(packet[IP].src.startswith("10.9.") and packet[IP].ttl == 9 for packet in packets)
    assert {packet[1].payload.dport for packet in packets if packet[IP].proto != 1} == {53, 80}
    for packet in packets[:200]:
        rebuilt = packet.copy()
        del rebuilt[IP].chksum
        if packet[IP].proto != 17:
            del rebuilt[IP].payload.chksum
        assert bytes(rebuilt) == bytes(packet), "scapy's checksums"


def test_another_seed_is_another_order(tmp_path):
    orders = []
    for seed in (1, 2, 1):
        path = tmp_path / f"{seed}.toml"
        path.write_text(MIXED.replace("seed = 5", f"seed = {seed}"))
        orders.append([len(frame) for _, frame in islice(traffic(str(path)).frames(), 200)])
    assert orders[0] == orders[2] != orders[1]


def test_the_figures_of_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "traffic.md").read_text()
    for name in ("64B", "imix"):
        sizes = [len(frame) + 4 for _, frame in islice(traffic(name).frames(), traffic(name).period)]
        mean = sum(sizes) / len(sizes)
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        cells = [cell.strip() for cell in row.split("|")]
        assert cells[3:5] == [f"{mean:.1f}".removesuffix(".0"), f"{1e9 / (mean + 20) / 8:,.0f}"]
    example = text.split("```toml")[1].split("```")[0]
    assert set(tomllib.loads(example)) == set(KEYS)


@pytest.mark.parametrize("text", [
    "sizes = [64]\nweights = [1, 2]", "sizes = [64]\nweights = [0]", "sizes = [64]\nweights = 3", "sizes = [63]",
    'sizes = [64]\nprotocols = ["upd"]', "sizes = [64]\nprotocols = []", 'sizes = [64]\nprotocols = ["udp", "udp"]',
    "sizes = [64]\nprotocols = { udp = 0 }", "sizes = [64]\nprotocols = { upd = 1 }", "sizes = [64]\nprotocols = {}",
    "sizes = [64, 65]\nweights = [10000, 1]", "sizes = [64]\nports = [65536]", "sizes = [64]\nports = []",
    "sizes = [64]\nttl = 256",
    'sizes = [64]\ndestinations = ["10.0.0.9-10.0.0.2"]', 'sizes = [64]\nsource = "10.0.0.0/33"', "sizes = [64]\nprotocols = 3",
    'sizes = [64]\nsource = "10.0.0.0-"', "sizes = [64]\nseed = -1", "sizes = [64]\nports = 80",
    "", "sizes = []", "sizes = [10]", 'sizes = ["64"]', "sizes = [64]\nsize = 1", "sizes = [64", "sizes = [64]\ncount = -1",
    'sizes = [64]\ndestinations = ["10.1.2"]', "sizes = [64]\ndestinations = 3",
])
def test_bad_stream_files_are_refused(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        traffic(str(path))
    (found,) = caught.value.diagnostics
    assert found.code in (
        codes.TRAFFIC_UNKNOWN, codes.FILE_SYNTAX, codes.FILE_UNKNOWN_KEY, codes.FILE_MISSING_KEY, codes.FILE_BAD_VALUE)
    assert found.help and found.origin is not None and found.origin.span.file == str(path)


def test_unknown_stream():
    with pytest.raises(UserError):
        traffic("65B")
    with pytest.raises(UserError):
        traffic("missing.toml")
