"""The command line from outside: exit codes, where output goes, and what happens when it cannot go there."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "ixpemu")
GOOD = ".reg a b\nimmed[a, 5]\nimmed[b, 6]\nalu[--, a, +, b]\nctx_arb[kill]\n"
ENDLESS = "start#:\nnop\nbr[start#]\n"


def ixpemu(*arguments: str | Path, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    settings: dict[str, object] = {"capture_output": True, "text": True, "check": False} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], cwd=cwd, env=environment(), **settings)  # type: ignore[call-overload]


def environment() -> dict[str, str]:
    """Unbuffered output would lose the rest of a write that a reader's leaving cuts short, without an error."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | {"PYTHONPATH": str(ROOT)}


def no_traceback(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stderr and "Traceback" not in (done.stdout or "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.uc").write_text(GOOD)
    return tmp_path


def test_help_and_version(folder: Path) -> None:
    helped = ixpemu("--help", cwd=folder)
    assert helped.returncode == 0
    for name in ("asm", "dis", "run", "isa", "bench"):
        assert re.search(rf"\b{name}\b", helped.stdout)
        assert ixpemu(name, "--help", cwd=folder).returncode == 0
    assert re.fullmatch(r"ixpemu \d+\.\d+\.\d+\n", ixpemu("--version", cwd=folder).stdout)


@pytest.mark.parametrize("arguments", [
    ("asm", "good.uc", "-o", "-", "--list", "-"),
    ("nonsense",),
    ("asm",),
    ("asm", "good.uc", "--nonsense"),
    ("asm", "good.uc", "--format", "elf"),
    ("asm", "good.uc", "-D", "=1"),
    ("asm", "good.uc", "-D", "1x=1"),
    ("asm", "good.uc", "-D", "F(x)=x"),
    ("asm", "good.uc", "-D", "x=1", "-D", "X=2"),
    ("asm", "good.uc", "-D", "x=1\n2"),
    ("asm", "good.uc", "--stop-after", "lunch"),
    ("dis", "good.ixp", "--contexts", "6"),
    ("run", "ipv4_forward", "--time", "1ms", "--cycles", "1"),
    ("asm", "good.uc", "-P", "-O"),
    ("asm", "good.uc", "--stop-after", "flow", "--list", "x"),
    ("asm", "good.uc", "-o", ""),
    ("fmt", ""),
    ("lint", "-", "good.uc"),
    ("link", "good.uc"),
    ("link", "0=done.ixl"),
    ("run", "ipv4_forward", "--packets", "none"),
    ("run", "ipv4_forward", "--time", "1 fortnight"),
    ("run", "ipv4_forward", "--pcap", "7=x.pcap"),
    ("run", "ipv4_forward", "--pcap", "x.pcap"),
    ("run", "ipv4_forward", "--mode", "slow"),
    ("run", "ipv4_forward", "--set", "no.such.parameter=1", "--packets", "1"),
    ("run", "ipv4_forward", "--traffic", "128B"),
    ("bench", "--case", "nothing"),
], ids=" ".join)
def test_wrong_usage_is_2(folder: Path, arguments: tuple[str, ...]) -> None:
    done = ixpemu(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip() and not done.stdout
    no_traceback(done)


def test_no_output_is_written_where_another_cannot_be(folder: Path) -> None:
    done = ixpemu("asm", "good.uc", "-o", "new.ixp", "--list", "nowhere/list", cwd=folder)
    assert done.returncode == 1 and "cannot write nowhere/list" in done.stderr
    assert not (folder / "new.ixp").exists()


def test_no_source_is_overwritten(folder: Path) -> None:
    (folder / "other.uc").write_text("nop\n")
    done = ixpemu("asm", "good.uc", "-o", "other.uc", cwd=folder)
    assert done.returncode == 2 and "would overwrite a source" in done.stderr
    assert (folder / "other.uc").read_text() == "nop\n"
    assert ixpemu("asm", "good.uc", "-P", "-o", "other.uc", cwd=folder).returncode == 0


def test_only_sources_are_laid_out(folder: Path) -> None:
    ixpemu("asm", "good.uc", "-o", "good.ixp", cwd=folder)
    for name in ("good.ixp", "notes.md"):
        (folder / "notes.md").write_text("# title\n  text\n")
        before = (folder / name).read_bytes()
        done = ixpemu("fmt", name, cwd=folder)
        assert done.returncode == 1 and "is no source by its name" in done.stderr
        assert (folder / name).read_bytes() == before


def test_ends_of_lines_stay_and_a_zero_byte_is_refused(folder: Path) -> None:
    (folder / "old.uc").write_bytes(b"nop\r  ctx_arb[kill]\r")
    assert ixpemu("fmt", "old.uc", cwd=folder).returncode == 0
    assert (folder / "old.uc").read_bytes() == b"    nop\r    ctx_arb[kill]\r"
    (folder / "zero.uc").write_bytes(b"nop\0\nctx_arb[kill]\n")
    done = ixpemu("asm", "zero.uc", cwd=folder)
    assert done.returncode == 1 and "zero.uc:1:4" in done.stderr


def test_what_is_no_application_and_what_to_do_with_it(folder: Path) -> None:
    assert ixpemu("asm", "good.uc", "-o", "good.ixp", cwd=folder).returncode == 0
    assert ixpemu("link", "0,2=good.ixp", "-o", "good.bin", cwd=folder).returncode == 0
    for name, what in (("good.ixp", "is an image"), ("good.uc", "is a source"), ("none.ixl", "there is no file none.ixl"),
                       ("none", "there is no application 'none'")):
        done = ixpemu("run", name, "--cycles", "10", cwd=folder)
        assert done.returncode == 1 and what in done.stderr, done.stderr
    # A linked program is known by what it holds.
    assert ixpemu("run", "good.bin", "--cycles", "10", cwd=folder).returncode == 0
    assert "nothing in it waits" in ixpemu("run", "good.bin", "--cycles", "10", "--import", "X=1", cwd=folder).stderr
    shown = ixpemu("dis", "good.bin", cwd=folder)
    assert shown.returncode == 0 and "; microengine 0, 2: good.ixp" in shown.stdout
    assert ixpemu("dis", "good.bin", "--me", "2", cwd=folder).stdout.startswith(".physical")
    assert ixpemu("dis", "good.bin", "--me", "1", cwd=folder).returncode == 2
    assert "shipped: enp2611" in ixpemu("asm", "good.uc", "--chip", "none", cwd=folder).stderr


def test_memory_at_the_end_of_a_run(folder: Path) -> None:
    (folder / "m.uc").write_text(".local_mem here 8\n.init here 7 9\n.reg a $x\n.sig s\nimmed[a, 0x100]\nimmed[$x, 0xbeef]\n"
                                 "scratch[write, $x, a, 4, 1], ctx_swap[s]\nctx_arb[kill]\n")
    assert ixpemu("asm", "m.uc", cwd=folder).returncode == 0
    assert ixpemu("link", "2=m.ixp", "-o", "m.ixl", cwd=folder).returncode == 0
    shown = ixpemu("run", "m.ixl", "--dump", "scratch:0x100:16", "--dump", "local2:0:8", cwd=folder)
    assert shown.stdout.splitlines()[-5:] == [
        "scratch", "  0x00000100  00000000 0000beef 00000000 00000000", "", "local2", "  0x00000000  00000007 00000009"]
    found = json.loads(ixpemu("run", "m.ixl", "--dump", "local2:4:4", "--json", cwd=folder).stdout)
    assert found["memory"] == [{"region": "local2", "address": 4, "words": [9]}]
    for wrong in ("scratch", "scratch:1", "scratch:0:0", "attic:0", "local9:0", "sram7:0", "local2:2556:8", "scratch:x"):
        done = ixpemu("run", "m.ixl", "--dump", wrong, cwd=folder)
        assert done.returncode == 2 and not done.stdout and "--dump" in done.stderr, wrong
    assert ixpemu("run", "m.ixl", "--dump", "scratch:0xffffff0:16", cwd=folder).returncode != 0


def test_a_run_ends_when_every_thread_has(folder: Path) -> None:
    assert ixpemu("asm", "good.uc", cwd=folder).returncode == 0
    assert ixpemu("link", "good.ixp", "-o", "good.ixl", cwd=folder).returncode == 0
    done = ixpemu("run", "good.ixl", "--traffic", "64B", "--packets", "10", cwd=folder)
    assert done.returncode == 0 and "every thread has ended" in done.stdout


def test_a_folder_of_includes_that_is_not_there(folder: Path) -> None:
    done = ixpemu("asm", "good.uc", "-I", "nowhere", cwd=folder)
    assert done.returncode == 0 and "warning: -I nowhere: there is no such folder" in done.stderr


@pytest.mark.parametrize(("name", "has"), [
    ("ctx_swap", "`ctx_swap` is an option of cap, dram"), ("kill", "ctx_arb[kill]"), (".reg", "docs/statements.md"),
    ("#while", "docs/preprocessor.md"), ("4001", "IXP4001"), ("alu", "## alu"),
])
def test_what_can_be_explained(folder: Path, name: str, has: str) -> None:
    done = ixpemu("explain", name, cwd=folder)
    assert done.returncode == 0 and has in done.stdout
    assert json.loads(ixpemu("explain", name, "--json", cwd=folder).stdout)


@pytest.mark.parametrize("form", ["ixp", "words", "ucode-c", "bin"])
def test_every_form_is_written_and_read(folder: Path, form: str) -> None:
    assert ixpemu("asm", "good.uc", "-o", "image", "--format", form, cwd=folder).returncode == 0
    shown = ixpemu("dis", "image", "--format", form, cwd=folder)
    assert shown.returncode == 0 and "immed[" in shown.stdout and "ctx_arb[kill]" in shown.stdout


@pytest.mark.parametrize("form", ["ixp", "words", "ucode-c", "bin"])
def test_standard_output_and_input_stand_for_files(folder: Path, form: str) -> None:
    ixpemu("asm", "good.uc", "-o", "file", "--format", form, cwd=folder)
    piped = subprocess.run(
        [*COMMAND, "asm", "good.uc", "-o", "-", "--format", form], cwd=folder, env=environment(), capture_output=True,
        check=False)
    assert (piped.returncode, piped.stderr) == (0, b"") and piped.stdout == (folder / "file").read_bytes()
    back = subprocess.run(
        [*COMMAND, "dis", "-", "--format", form], cwd=folder, env=environment(), capture_output=True, check=False,
        input=piped.stdout)
    assert (back.returncode, back.stderr) == (0, b"")
    assert back.stdout.decode() == ixpemu("dis", "file", "--format", form, cwd=folder).stdout
    assert not (folder / "-").exists() and not (folder / "good.ixp").exists()
    listing = ixpemu("asm", "good.uc", "-o", "file", "--list", "-", cwd=folder)
    assert listing.returncode == 0 and "immed" in listing.stdout
    damaged = subprocess.run(
        [*COMMAND, "dis", "-", "--format", form], cwd=folder, env=environment(), capture_output=True, check=False,
        input=b"\xff\0nonsense!")
    assert damaged.returncode == 1 and b"IXP6003" in damaged.stderr and b"Traceback" not in damaged.stderr


def test_shipped_macros_are_found_without_being_asked_for(folder: Path) -> None:
    (folder / "words.uc").write_text("#error mine\n")
    (folder / "shipped.uc").write_text("#include <words.uc>\nctx_arb[kill]\n")
    done = ixpemu("asm", "shipped.uc", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    # A folder of the user's own comes first.
    done = ixpemu("asm", "shipped.uc", "-I", ".", cwd=folder)
    assert done.returncode == 1 and "mine" in done.stderr


def test_the_image_goes_beside_the_source(folder: Path) -> None:
    done = ixpemu("asm", "good.uc", "--list", "good.list", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "good.ixp").is_file() and "alu[--, a, +, b]" in (folder / "good.list").read_text()


@pytest.mark.parametrize(("stage", "has"), [
    ("scope", "immed[l0000!a, 5]"), ("flow", "reads l0000!a"), ("allocate", "a0"), ("encode", "e000010000"),
])
def test_a_stage_is_printed_and_nothing_written(folder: Path, stage: str, has: str) -> None:
    done = ixpemu("asm", "good.uc", "--stop-after", stage, cwd=folder)
    assert done.returncode == 0 and has in done.stdout
    assert not (folder / "good.ixp").exists()


def test_errors_in_source_are_1_with_place_and_advice(folder: Path) -> None:
    (folder / "bad.uc").write_text(".reg a\nimmedd[a, 5]\nctx_arb[kill]\n")
    done = ixpemu("asm", "bad.uc", cwd=folder)
    assert done.returncode == 1 and not done.stdout
    assert "bad.uc:2:1" in done.stderr and "did you mean `immed`?" in done.stderr
    assert not (folder / "bad.ixp").exists()
    as_json = ixpemu("asm", "bad.uc", "--json", cwd=folder)
    assert as_json.returncode == 1
    (found,) = json.loads(as_json.stdout)["diagnostics"]
    assert found["line"] == 2 and found["severity"] == "error"


@pytest.mark.parametrize("arguments", [
    ("asm", "nothing.uc"), ("dis", "nothing.ixp"), ("dis", "good.uc"), ("run", "nothing"), ("asm", "."), ("dis", "."),
    ("run", "ipv4_forward", "--pcap", "0=nothing.pcap"), ("asm", "good.uc", "-o", "no/such/folder/x.ixp"),
    ("asm", "good.uc", "-I", "nowhere", "--list", "no/such/x.list"),
], ids=" ".join)
def test_unreadable_and_unwritable_files_are_1(folder: Path, arguments: tuple[str, ...]) -> None:
    done = ixpemu(*arguments, cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "IXP6" in done.stderr or "error" in done.stderr
    no_traceback(done)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told(folder: Path) -> None:
    ixpemu("asm", "good.uc", cwd=folder)
    with open("/dev/full", "w") as full:
        done = ixpemu("dis", "good.ixp", cwd=folder, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and "no space left" in done.stderr
    no_traceback(done)


def test_a_reader_that_leaves_is_no_error_to_shout_about(folder: Path) -> None:
    (folder / "long.uc").write_text("local_csr_wr[ACTIVE_LM_ADDR_0, 5]\n" * 4000 + "ctx_arb[kill]\n")
    assert ixpemu("asm", "long.uc", cwd=folder).returncode == 0
    writer = subprocess.Popen(
        [*COMMAND, "dis", "long.ixp"], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout is not None and writer.stderr is not None
    writer.stdout.read(10)
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    assert writer.wait(timeout=60) == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.skipif(os.name != "posix", reason="a shell of Unix closes the streams")
def test_closed_streams_are_no_fault_of_the_program(folder: Path, closed: str) -> None:
    command = f"{shlex.join([*COMMAND, 'asm', 'good.uc', '--json'])} {closed}"
    done = subprocess.run(command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == (1 if closed.startswith(">") else 0)
    assert done.stderr == ("error: output could not be written: bad file descriptor\n" if closed == ">&-" else "")


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_an_interrupt_stops_without_a_traceback(folder: Path) -> None:
    (folder / "slow.uc").write_text("#define_eval I 0\n#while (I < 20000)\n#define_eval I (I + 1)\nnop\n#endloop\n")
    writer = subprocess.Popen([*COMMAND, "asm", "slow.uc"], cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    writer.send_signal(signal.SIGINT)
    assert writer.communicate(timeout=60)[1] == "stopped\n"
    # A shell calls both 130: Python ends by the signal itself if the interrupt came inside one of its own `exec`s.
    assert writer.returncode in (130, -signal.SIGINT)
    assert not (folder / "slow.ixp").exists()


@pytest.mark.parametrize("arguments", [
    ("good.uc", "-o", "good.uc"), ("good.uc", "--list", "good.uc"), ("good.uc", "-o", "x", "--list", "./x"), ("odd.ixp",),
    ("outer.uc", "-o", "good.uc"),
], ids=" ".join)
def test_an_output_overwrites_no_source(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "odd.ixp").write_text(GOOD)
    (folder / "outer.uc").write_text('#include "good.uc"\n')
    done = ixpemu("asm", *arguments, cwd=folder)
    assert done.returncode == 2 and "would overwrite" in done.stderr
    assert (folder / "good.uc").read_text() == (folder / "odd.ixp").read_text() == GOOD


def test_a_file_name_that_is_no_text_is_a_file_name(folder: Path) -> None:
    odd = os.fsdecode(b"g\xffd.uc")
    try:
        (folder / odd).write_text(GOOD)
    except OSError:
        pytest.skip("this file system takes only names that are text")
    assert ixpemu("asm", odd, "--list", "good.list", cwd=folder).returncode == 0
    assert os.fsencode(odd) in (folder / "good.list").read_bytes()
    (folder / odd).write_text("immedd\n")
    done = ixpemu("asm", odd, cwd=folder)
    assert done.returncode == 1 and "did you mean `immed`" in done.stderr


def application(folder: Path, source: str, **more: str) -> None:
    (folder / "code.uc").write_text(source)
    text = 'me = [ { index = 0, image = "code.uc" } ]\n' + "".join(f"{key} = {value}\n" for key, value in more.items())
    (folder / "app.toml").write_text(text)


def test_an_endless_run_stops_at_its_limit_and_says_where_it_was(folder: Path) -> None:
    application(folder, ENDLESS)
    done = ixpemu("run", ".", "--cycles", "5000", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "5,000 chip cycles" in done.stdout
    assert re.search(r"microengine 0, context 0: at [01]\b.*start#", done.stdout)


def test_an_unknown_key_is_1_with_its_line(folder: Path) -> None:
    application(folder, ENDLESS, table='{ routes = "x" }')
    done = ixpemu("run", ".", cwd=folder)
    assert done.returncode == 1 and "app.toml:2:1" in done.stderr and "did you mean 'tables'?" in done.stderr
    no_traceback(done)


def test_an_image_too_large_is_1(folder: Path) -> None:
    application(folder, "nop\n" * 4097)
    done = ixpemu("run", ".", "--cycles", "10", cwd=folder)
    assert done.returncode == 1 and "4,096" in done.stderr.replace("4096", "4,096")
    no_traceback(done)
