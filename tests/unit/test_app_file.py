"""app.toml: what is accepted, and that every complaint names the right line and says what to do."""

from pathlib import Path

import pytest

from ixpemu import app_file, codes, toml_file
from ixpemu.diagnostics import UserError

GOOD = """\
chip = { file = "enp2611" }
me = [ { index = 0, image = "rx.uc", contexts = 8, define = { RING = 0 } },
       { index = 4, image = "tx.uc" } ]
port = [ { number = 0, gbps = 1.0, mac = "02:00:00:00:00:01", in = "a.pcap", out = "out/port0.pcap" } ]
tables = { routes = "routes.txt" }
xscale = { module = "control.py" }
packets = { classifier = "control:classify", begin = ["rx_done"], end = ["tx_done"], drop = { no_route = "drop_nr" } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("rx.uc", "tx.uc", "a.pcap", "routes.txt", "control.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "app.toml").write_text(GOOD)
    return tmp_path


def complaint(folder: Path, old: str, new: str) -> list[tuple[int, int, str, str]]:
    assert old in GOOD
    (folder / "app.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(UserError) as caught:
        app_file.load(folder)
    rows = []
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.origin is not None and diagnostic.help
        rows.append((diagnostic.code, diagnostic.origin.span.line, diagnostic.message, diagnostic.help))
    return rows


def test_a_good_file(folder: Path) -> None:
    settings = app_file.load(folder)
    assert settings.chip == "enp2611" and settings.module == folder / "control.py"
    assert [(m.index, m.image.name, m.contexts, m.define) for m in settings.microengines] == [
        (0, "rx.uc", 8, {"RING": 0}), (4, "tx.uc", None, {})]
    port, = settings.ports
    assert (port.gbps, port.mac, port.feed, port.capture) == (
        1.0, bytes([2, 0, 0, 0, 0, 1]), folder / "a.pcap", Path("out/port0.pcap"))
    assert settings.tables == {"routes": folder / "routes.txt"}
    assert settings.packets.drop == {"no_route": "drop_nr"} and settings.packets.classifier == (folder / "control.py", "classify")


@pytest.mark.parametrize(("old", "new", "code", "line", "message", "advice"), [
    ("contexts", "context", codes.FILE_UNKNOWN_KEY, 2, "me[0] has no key 'context'", "did you mean 'contexts'?"),
    ("tables =", "table =", codes.FILE_UNKNOWN_KEY, 5, "app.toml has no key 'table'", "did you mean 'tables'?"),
    ("tables =", "microengine =", codes.FILE_UNKNOWN_KEY, 5, "app.toml has no key 'microengine'", "did you mean 'me'?"),
    ('"tx.uc"', '"tz.uc"', codes.APP_FILE_MISSING, 3, "me[1] names 'tz.uc', which is not there", "did you mean 'tx.uc'?"),
    ('"routes.txt"', '"none.txt"', codes.APP_FILE_MISSING, 5, "tables names 'none.txt'", "looked for"),
    ("index = 4", "index = 0", codes.FILE_BAD_VALUE, 3, "index 0 is given twice", "one entry"),
    ("index = 4", "index = 16", codes.FILE_BAD_VALUE, 3, "index 16 is out of range", "0 to 15"),
    ("index = 4, ", "", codes.FILE_MISSING_KEY, 3, "me[1] lacks the key 'index'", "index = ..."),
    ("contexts = 8", "contexts = 6", codes.FILE_BAD_VALUE, 2, "4 or 8 contexts, not 6", "contexts = 4"),
    ("gbps = 1.0", "gbps = 0", codes.FILE_BAD_VALUE, 4, "gbps 0 is out of range", "more than 0"),
    ("gbps = 1.0", 'gbps = "1"', codes.FILE_BAD_VALUE, 4, "gbps must be a number, not a string", "gbps = 1.0"),
    ("00:01", "00:0g", codes.FILE_BAD_VALUE, 4, "no MAC address", "six bytes"),
    ("number = 0", "number = 3", codes.FILE_BAD_VALUE, 4, "number 3 is out of range", "0 to 2"),
    ("control:classify", "control", codes.FILE_BAD_VALUE, 7, "does not name a function", "control:classify"),
    ("control:classify", "contrl:classify", codes.APP_FILE_MISSING, 7, "contrl.py", "without .py"),
    ('"enp2611"', '"enp2612"', codes.APP_FILE_MISSING, 1, "no chip file 'enp2612'", "enp2611"),
    ("RING = 0", "RING = 1.5", codes.FILE_BAD_VALUE, 2, "RING must be a whole number or a string", "RING = 0"),
    ("tables = { ", "tables = { routes = 1, ", codes.FILE_SYNTAX, 5, "not a TOML file", "double quotes"),
])
def test_complaints(folder: Path, old: str, new: str, code: int, line: int, message: str, advice: str) -> None:
    (found,) = complaint(folder, old, new)
    assert (found[0], found[1]) == (code, line)
    assert message in found[2] and advice in found[3]


def test_every_unknown_key_is_named_at_once(folder: Path) -> None:
    found = complaint(folder, "mac =", 'speed = 1, maac =')
    assert [row[2] for row in found] == ["port[0] has no key 'speed'", "port[0] has no key 'maac'"]


def test_an_application_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no application 'nothing'"):
        app_file.load("nothing")
    with pytest.raises(UserError, match=r"holds no app\.toml"):
        app_file.load(tmp_path)


def test_a_probe_that_no_image_has(folder: Path) -> None:
    settings = app_file.load(folder)
    with pytest.raises(UserError) as caught:
        app_file.check_probes(settings, {"rx_done", "tx_done", "drop_nt"})
    (found,) = caught.value.diagnostics
    assert found.code == codes.APP_PROBE and found.help == "did you mean 'drop_nt'?"
    assert found.origin is not None and found.origin.span.line == 7


def test_places_of_every_form_of_table(tmp_path: Path) -> None:
    text = 'a.b = 1\n[[port]]\nnumber = 0\n[[port]]\n"number" = 1 # x = 2\nlist = [1.5,\n'
    text += '  { deep = """\n=""" }]\n[port.sub]\nk = "="\n'
    spans = {key: (span.line, span.column) for key, span in toml_file.places(text, "f").items()}
    assert spans[("a", "b")] == (1, 3)
    assert spans[("port", 0, "number")] == (3, 1) and spans[("port", 1, "number")] == (5, 1)
    assert spans[("port", 1, "list", 1, "deep")] == (7, 5)
    assert spans[("port", 1, "sub", "k")] == (10, 1)
