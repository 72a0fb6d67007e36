"""Files of a user: what can be read is read as text, and nothing that is written destroys what it should not."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from ixpemu import files
from ixpemu.diagnostics import UserError
from ixpemu.files import decode, make_folder, read_bytes, split_lines, write_atomically

needs_unix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and permissions of Unix")


@pytest.mark.parametrize("content", [
    "x é\n".encode(), "x é\n".encode("utf-8-sig"), "x é\n".encode("latin-1"),
    b"\xff\xfe" + "x é\n".encode("utf-16-le"), b"\xfe\xff" + "x é\n".encode("utf-16-be"),
])
def test_text_in_any_of_the_usual_encodings(content: bytes) -> None:
    assert decode(content) == "x é\n"


def test_lines_end_as_editors_end_them_and_nowhere_else() -> None:
    assert split_lines("a\r\nb\rc\n\nd\x0b\x0c\x85\u2028e") == ["a", "b", "c", "", "d\x0b\x0c\x85\u2028e"]


def test_what_cannot_be_read_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"12345")
    assert read_bytes(tmp_path / "long", 5) == b"12345"
    for path, most, reason in (
        (tmp_path / "missing", None, "no such file"), (tmp_path, None, "is a directory"),
        ("a\0b", None, "no file can have this name"), ("x" * 5000, None, "too long"), (tmp_path / "long", 4, "longer than"),
    ):
        with pytest.raises(UserError, match=reason):
            read_bytes(path, most)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_without_end_is_left_in_time() -> None:
    with pytest.raises(UserError, match="longer than 1 MB"):
        read_bytes("/dev/zero", 1 << 20)


def test_a_file_is_replaced_and_nothing_is_left_behind(tmp_path: Path) -> None:
    name = "x" * 250
    write_atomically(tmp_path / name, b"one")
    write_atomically(tmp_path / name, b"two")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"two"


def test_what_cannot_be_written_is_a_users_mistake_with_advice(tmp_path: Path) -> None:
    for path, reason, advice in (
        (tmp_path / "no" / "x", "no such file", "make it first"), (tmp_path, "is a directory", "name a file in it"),
        (tmp_path / ("x" * 300), "too long", "shorter"), ("a\0b", "no file can have this name", "choose"),
        ("", "is a directory", "folder"),
    ):
        with pytest.raises(UserError, match=reason) as caught:
            write_atomically(path, b"")
        assert advice in (caught.value.diagnostics[0].help or "")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cannot make the folder"):
        make_folder(tmp_path / "file" / "below")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_atomically(tmp_path / "x", b"old")
    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(UserError, match="no space left") as caught:
        write_atomically(tmp_path / "x", b"new")
    assert "free some space" in (caught.value.diagnostics[0].help or "")
    assert [path.name for path in tmp_path.iterdir()] == ["x"] and (tmp_path / "x").read_bytes() == b"old"


@needs_unix
def test_links_stay_and_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"one")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"one"
    (tmp_path / "real").chmod(0o640)
    write_atomically(tmp_path / "link", b"two")
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


@needs_unix
def test_a_write_protected_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"old")
    monkeypatch.setattr(files.os, "access", lambda *_: False)       # as for everybody but the superuser
    with pytest.raises(UserError, match="permission denied"):
        write_atomically(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"


@needs_unix
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"through")
    reader.join(timeout=10)
    assert got == [b"through"] and stat.S_ISFIFO(pipe.stat().st_mode)
