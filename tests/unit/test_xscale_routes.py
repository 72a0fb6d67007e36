"""The route file: what it says, and what is said to its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ixpemu.diagnostics import UserError, render
from ixpemu.xscale.routes import Prefix, dotted, mask, parse_routes, read_routes

GOOD = """\
# three ports
interface 1 10.0.1.1/24 mac 02:00:00:00:00:02
interface 0 10.0.0.1/24 mac 02:00:00:00:00:01   # order does not matter
neighbor 10.0.0.2 mac 02:00:00:00:01:01

neighbor 10.0.1.9 mac 02:00:00:00:01:02
route 10.1.0.0/16 via 10.0.1.9
route default via 10.0.0.2
"""


def test_a_good_file() -> None:
    file = parse_routes(GOOD)
    assert [interface.port for interface in file.interfaces] == [0, 1]
    assert dotted(file.interfaces[1].address) == "10.0.1.1" and str(file.interfaces[1].subnet) == "10.0.1.0/24"
    assert dotted(file.interfaces[0].broadcast) == "10.0.0.255"
    assert [(neighbor.port, neighbor.mac[-1]) for neighbor in file.neighbors] == [(0, 1), (1, 2)]
    assert [str(route.prefix) for route in file.routes] == ["10.1.0.0/16", "0.0.0.0/0"]
    assert file.routes[0].gateway.port == 1


BAD = [
    ("route 10.1.0.0/16 by 10.0.1.9", (9, 19), "'by' stands where 'via' should"),
    ("route 10.1.0.0/16", (9, 18), "the line ends where via should be"),
    ("route 10.1.0.0/33 via 10.0.1.9", (9, 7), "no prefix"),
    ("route 10.1.2.3/16 via 10.0.1.9", (9, 7), "write 10.1.0.0/16"),
    ("route 10.2.0.0/16 via 10.0.1.8", (9, 7), "10.0.1.8 is no neighbor"),
    ("route 10.1.0.0/16 via 10.0.0.2", (9, 7), "given twice"),
    ("route 10.2.0.0/16 via 10.0.1.9 dev 1", (9, 32), "one word too many"),
    ("route 127.1.0.0/16 via 10.0.1.9", (9, 7), "not for routing"),
    ("interface 2 224.0.0.1/24 mac 02:00:00:00:00:03", (9, 13), "no machine may have"),
    ("10.2.0.0/16 via 10.0.1.9", (9, 1), "begins no statement"),
    ("neighbor 10.0.7.9 mac 02:00:00:00:01:02", (9, 10), "on no interface's subnet"),
    ("neighbor 10.0.1.300 mac 02:00:00:00:01:02", (9, 10), "no IPv4 address"),
    ("neighbor 10.0.1.1 mac 02:00:00:00:01:02", (9, 10), "router's own"),
    ("neighbor 10.0.1.7 mac 01:00:5e:00:00:01", (9, 23), "group address"),
    ("neighbor 10.0.1.7 mac 02-00", (9, 23), "no MAC address"),
    ("interface 3 10.0.3.1/24 mac 02:00:00:00:00:03", (9, 11), "no port"),
    ("interface 2 10.0.0.7/16 mac 02:00:00:00:00:03", (9, 13), "overlap"),
]


@pytest.mark.parametrize(("line", "place", "words"), BAD, ids=[line for line, _, _ in BAD])
def test_a_bad_line_is_named_with_its_place_and_what_was_expected(line: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(UserError) as refused:
        parse_routes(GOOD + line + "\n", "my routes.txt")
    first = refused.value.diagnostics[0]
    assert words in first.message
    assert first.origin is not None and (first.origin.span.line, first.origin.span.column) == place
    assert first.origin.span.file == "my routes.txt"
    assert first.help
    assert f"my routes.txt:{place[0]}:{place[1]}" in render(first)


def test_all_bad_lines_are_told_at_once() -> None:
    with pytest.raises(UserError) as refused:
        parse_routes(GOOD + "rout 10/8\nroute x via y\n")
    assert [each.origin.span.line for each in refused.value.diagnostics if each.origin] == [9, 10]


def test_files_that_are_empty_or_absent(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no interface"):
        parse_routes("# nothing\n")
    with pytest.raises(UserError, match="cannot be read"):
        read_routes(tmp_path / "none.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="cannot be read"):
        read_routes(tmp_path / "binary.txt")


def test_prefixes() -> None:
    assert mask(0) == 0 and mask(32) == 0xFFFFFFFF and mask(9) == 0xFF800000
    assert Prefix.parse("default") == Prefix(0, 0)
    assert Prefix(0x0A000000, 8).covers(0x0AFFFFFF) and not Prefix(0x0A000000, 8).covers(0x0B000000)
    with pytest.raises(ValueError, match="bits set behind"):
        Prefix(1, 31)
