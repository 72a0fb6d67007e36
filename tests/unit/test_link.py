"""Linking: where memory goes, what names get, and that a program linked beforehand is the one that is linked as it starts."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ixpemu import App, Chip, assemble, codes, resources
from ixpemu.cli_application import application
from ixpemu.diagnostics import UserError
from ixpemu.image import Image
from ixpemu.image_links import Links, NamedMemory
from ixpemu.isa.chipfile import load_chip
from ixpemu.link import link
from ixpemu.link_file import Program, from_bytes, load, to_bytes
from ixpemu.link_memory import region_bytes
from ixpemu.link_settings import Given, LinkSettings, Reserved
from tests.support.corpus import CORPUS
from tests.support.corpus import load as load_case

CHIP = load_chip()
CASE = load_case(CORPUS / "link" / "application.txt")
CHANNEL = {"sram0": 0, "sram1": 1 << 30}


def written(folder: Path) -> Path:
    for name, text in CASE.files.items():
        (folder / name).write_text(text)
    return folder


def test_the_page_shows_the_map_of_the_case() -> None:
    page = (Path(__file__).parents[2] / "docs" / "linking.md").read_text()
    assert CASE.sections["map"] in page


def code_of(error: pytest.ExceptionInfo[UserError]) -> int:
    return error.value.diagnostics[0].code


MEMORIES = st.lists(
    st.tuples(
        st.sampled_from(("scratch", "sram0", "sram1", "dram")), st.integers(1, 5000), st.sampled_from((4, 8, 16, 256, 4096)),
        st.booleans(),
    ), max_size=12,
)
TAKEN = st.lists(st.tuples(st.sampled_from(("scratch", "sram1")), st.integers(0, 12000), st.integers(1, 3000)), max_size=4)


@settings(max_examples=150, deadline=None)
@given(MEMORIES, TAKEN, st.permutations((0, 3, 7)))
def test_no_two_pieces_of_memory_share_a_byte(memories, taken, order) -> None:
    image = Image((0xF0000C0300,), links=Links(memories=tuple(
        NamedMemory(f"m{number}", region, size, align, shared) for number, (region, size, align, shared) in enumerate(memories)
    )))
    told = LinkSettings(reserved=tuple(Reserved(*one, "somebody") for one in taken))
    try:
        made = link(dict.fromkeys(order, image), CHIP, told)
    except UserError as error:
        assert {one.code for one in error.diagnostics} <= {codes.LINK_ROOM}
        # Refused only where holes can be what is missing: a quarter of the region at the most stays unused.
        scratch = [(size + align) * (1 if shared else 3) for region, size, align, shared in memories if region == "scratch"]
        assert sum(scratch) + sum(size + 4096 for _, _, size in taken) > region_bytes(CHIP, "scratch") // 4
        return
    spans = [(region, start, start + size) for region, start, size in taken]
    for index in order:
        for memory in made.images[index].links.memories:
            assert memory.address is not None and memory.address % memory.align == 0
            start = memory.address - CHANNEL.get(memory.region, 0)
            assert start >= 0 and start + memory.size <= region_bytes(CHIP, memory.region)
            if not memory.shared or index == order[0]:
                spans.append((memory.region, start, start + memory.size))
    mine = spans[len(taken):]
    for number, (region, start, end) in enumerate(mine):
        others = [*spans[:len(taken)], *mine[:number]]
        assert not [one for one in others if one[0] == region and one[1] < end and start < one[2]]
    again = link(dict.fromkeys(sorted(order, reverse=True), image), CHIP, told)
    assert again.images == made.images


def test_a_linked_program_is_read_as_it_was_written_and_the_same_twice() -> None:
    images = {1: assemble(text=CASE.files["b.uc"]), 0: assemble(text=CASE.files["a.uc"]), 4: assemble(text=CASE.files["a.uc"])}
    told = LinkSettings({"ports": Given(3, "a test")})
    made, again = (link(dict(some), CHIP, told, {1: "b \"quoted\"\n"}) for some in (images.items(), reversed(images.items())))
    content = to_bytes(Program(made.images, made.names, CHIP.name))
    assert content == to_bytes(Program(again.images, again.names, CHIP.name))
    read = from_bytes(content, "x.ixl")
    assert read.images == made.images and read.names == made.names and read.chip == "enp2611"
    assert not any(image.links.unresolved() for image in read.images.values())
    # Equal images are kept once.
    twice = link({0: images[1], 1: images[1]}, CHIP, LinkSettings())
    assert to_bytes(Program(twice.images, {0: "b", 1: "b"}, "c")).count(b"\nwords ") == 1
    # What is linked already may be linked again, and stays where it is.
    assert link(read.images, CHIP, LinkSettings(reserved=(Reserved("sram1", 0x1000, 64, "x"),))).images == made.images
    with pytest.raises(UserError) as error:
        link(read.images, CHIP, LinkSettings(reserved=(Reserved("sram1", 0, 64, "x"),)))
    assert code_of(error) == codes.LINK_PLACE


def test_a_damaged_linked_program_is_refused_with_its_line() -> None:
    made = link({0: assemble(text="nop\nctx_arb[kill]\n"), 5: assemble(text="br[x#]\nx#: ctx_arb[kill]\n")}, CHIP)
    content = to_bytes(Program(made.images, made.names, CHIP.name))
    damaged = [content[:end] for end in range(len(content))]
    places = [(at, bit) for at in range(len(content)) for bit in (0, 4, 7)]
    damaged += [content[:at] + bytes((content[at] ^ 1 << bit,)) + content[at + 1:] for at, bit in places]
    damaged += [content + b"\n", content + content, b"", content.replace(b" 5\n", b" 0\n"), content.replace(b"ixl 1", b"ixl 2")]
    for one in damaged:
        with pytest.raises(UserError) as error:
            from_bytes(one, "x.ixl")
        assert code_of(error) in (codes.IMAGE_DAMAGED, codes.ME_UNKNOWN)
        (found,) = error.value.diagnostics
        assert found.origin is not None and found.origin.span.file == "x.ixl"
        assert 1 <= found.origin.span.line <= one.count(b"\n") + 1


def test_addresses_of_a_channel_and_its_initial_values() -> None:
    image = assemble(text=".global_mem t sram1 16\n.init t 5 6\n.reg b\nimmed[b, (t >> 16)]\nalu[--, b, +, 1]\nctx_arb[kill]\n")
    linked = link({2: image}, CHIP, LinkSettings({}, {"t": Given(0x40000040, "--place")}))
    assert Image.from_bytes(linked.images[2].as_bytes()) == linked.images[2]
    chip = Chip()
    chip.load(2, linked.images[2], start=False)
    assert chip.sram[1].read(0x40, 2).tolist() == [5, 6]
    assert linked.images[2].values == assemble(text=".reg b\nimmed[b, 0x4000]\nalu[--, b, +, 1]\nctx_arb[kill]\n").values


def state_after(app: App, cycles: int) -> tuple[list[np.ndarray], list[list[bytes]]]:
    app.advance(cycles)
    chip = app.chip
    words = [chip.scratch.words, *(channel.words for channel in chip.sram), chip.dram.words[: 1 << 20]]
    return [one.copy() for one in words], [[sent.frame for sent in port.sent] for port in chip.ports]


@pytest.mark.parametrize("name", ["ipv4_forward", "echo"])
def test_a_shipped_application_linked_beforehand_is_the_same(name, tmp_path) -> None:
    target = tmp_path / "program.ixl"
    assert CliRunner().invoke(application("link"), ["link", name, "-o", str(target)]).exit_code == 0
    before, at_start = App.load(name, linked=target, capture=False), App.load(name, capture=False)
    assert before.images == at_start.images
    (memory, sent), (other_memory, other_sent) = state_after(before, 3000), state_after(at_start, 3000)
    assert sent == other_sent and all(np.array_equal(one, other) for one, other in zip(memory, other_memory, strict=True))
    assert before.chip.snapshot() == at_start.chip.snapshot()


def test_an_application_with_open_names_is_linked_as_it_starts_and_runs_alike(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    assert CliRunner().invoke(application("link"), ["link", ".", "-o", "out.ixl", "-D", "ports=9"]).exit_code == 0
    one, other, alone = App.load(".", imports={"PORTS": 9}), App.load(".", linked=Path("out.ixl")), App.load("out.ixl")
    assert one.images == other.images == alone.images and alone.settings.name == "out"
    assert App.load(".").images[0] != one.images[0]
    first, second, third = (state_after(each, 2000) for each in (one, other, alone))
    for memory, same, again in zip(first[0], second[0], third[0], strict=True):
        assert np.array_equal(memory, same) and np.array_equal(memory, again)
    assert one.chip.sram[1].read(0, 3).tolist() == [1, 2, 9 << 8]


def test_an_image_of_app_toml_may_be_assembled_already(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    sources = App.load(".").images
    for name in "ab":
        assemble(f"{name}.uc").save(f"{name}.ixp")
    Path("app.toml").write_text(Path("app.toml").read_text().replace(".uc", ".ixp"))
    assert App.load(".").images == sources


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["linked.ixl", "-o", "x.ixl"], codes.ARGUMENT), (["."], codes.ARGUMENT), ([".", "-o", "a.uc"], codes.ARGUMENT),
        ([".", "-o", "x.ixl", "--map", "x.ixl"], codes.ARGUMENT), ([".", "-o", "-", "--map", "-"], codes.ARGUMENT),
        (["x=a.ixp", "-o", "x.ixl"], codes.ARGUMENT), (["missing.ixp", "1=b", "-o", "x.ixl"], codes.FILE_UNREADABLE),
        (["nowhere", "-o", "x.ixl"], codes.APP_NOT_FOUND), ([".", "-o", "x.ixl", "--place", "table=0x100000000"], codes.ARGUMENT),
        ([".", "-o", "nowhere/x.ixl"], codes.FILE_UNWRITABLE), ([".", "-o", "x.ixl", "--import", "1A=3"], codes.ARGUMENT),
    ],
)
def test_wrong_commands(arguments, code, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    if arguments[0] == "linked.ixl":
        CliRunner().invoke(application("link"), ["link", ".", "-o", "linked.ixl"])
    before = sorted(tmp_path.iterdir())
    result = CliRunner().invoke(application("link"), ["link", *arguments])
    assert isinstance(result.exception, UserError), result.output
    assert result.exception.diagnostics[0].code == code
    assert sorted(tmp_path.iterdir()) == before


def test_the_map_as_json(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    shown = CliRunner().invoke(application("link"), ["link", ".", "--json", "--map", "map.json"])
    assert shown.exit_code == 0
    values = json.loads(Path("map.json").read_text())
    assert json.loads(shown.stdout) == values | {"diagnostics": []}
    assert values["imports"] == [{"name": "PORTS", "value": 3, "given_by": "app.toml:7", "microengines": [0, 4]}]
    assert {one["name"]: one["address"] for one in values["segments"] if one["region"] == "sram1"} == {"table": 1 << 30}
    assert values["microengines"][1] == {"me": 1, "image": "b.uc", "contexts": 8, "words": 4, "store": 4096}
    wrong = CliRunner().invoke(application("link"), ["link", ".", "--json", "--place", "nothing=3"])
    assert wrong.exit_code == 1 and json.loads(wrong.stdout)["diagnostics"][0]["code"] == "IXP6005"


def test_a_program_linked_for_another_chip_is_not_run(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    CliRunner().invoke(application("link"), ["link", ".", "-o", "out.ixl", "--chip", "ixp2800"])
    assert load("out.ixl").chip == "ixp2800"
    with pytest.raises(UserError) as error:
        App.load(".", linked=Path("out.ixl"))
    assert code_of(error) == codes.LINK_CHIP
    shutil.copytree(resources.folder("microcode") / "echo", tmp_path / "echo")
    with pytest.raises(UserError) as error:
        App.load("echo", imports={"PORTS": 1})
    assert code_of(error) == codes.LINK_NAME and "the caller" in str(error.value)
