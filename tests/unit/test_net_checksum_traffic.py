"""Reference checksums against published values, and traffic streams against their definition."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from ixpemu import codes
from ixpemu.diagnostics import UserError
from ixpemu.net import internet_checksum, traffic, update_checksum
from ixpemu.net.checksum import ones_complement_sum


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


@pytest.mark.parametrize("text", [
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
