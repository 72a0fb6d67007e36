"""Files that people edit or that break on the way: application, image and snapshot files, cut short, changed and mixed up."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

from ixpemu import Chip, app_file, assemble, resources
from ixpemu.app_images import images_of
from ixpemu.chip_snapshot_file import from_bytes as from_snapshot
from ixpemu.chip_snapshot_file import to_bytes as to_snapshot
from ixpemu.diagnostics import UserError
from ixpemu.image_formats import from_bytes, to_bytes
from ixpemu.isa.chipfile import load_chip
from ixpemu.link_file import Program
from ixpemu.link_uof import to_uof
from ixpemu.link_uof_format import checksum
from ixpemu.link_uof_read import from_uof
from tests.fuzz.limits import watched

FORMATS = ("ixp", "words", "ucode-c", "bin")
WORDS = (
    "[", "]", "{", "}", "=", ",", '"', "'", "#", "\n", "true", "-1", "0", "1e999", "nan", "9" * 20, '""', "me", "port",
    "index", "image", "in", "out", "gbps", "mac", "chip", "file", "xscale", "module", "packets", "classifier", "[[", "]]", "\\",
    "\x00", "\ufeff", "\u00e9", "../", "/", ".", "receive.uc", "control.py", '"control:classify"', "{ }", "[]", "1979-05-27",
)


def mutated(pick: random.Random, text: str) -> str:
    """A text with up to four changes: cut, repeated, swapped or replaced pieces, most of them at the boundaries of tokens."""
    for _ in range(pick.choice((1, 1, 1, 2, 4))):
        tokens = re.findall(r"\w+|\s+|[^\w\s]", text) or [""]
        at, other = pick.randrange(len(tokens)), pick.randrange(len(tokens))
        kind = pick.randrange(8)
        if kind == 0:
            del tokens[at:at + pick.choice((1, 1, 2, 5, 40))]
        elif kind == 1:
            tokens.insert(at, pick.choice(WORDS))
        elif kind == 2:
            tokens[at] = pick.choice(WORDS)
        elif kind == 3:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 4:
            tokens[at:at] = tokens[other:other + pick.randrange(1, 30)]
        elif kind == 5:
            tokens[at] = str(pick.choice((pick.getrandbits(70), -pick.getrandbits(8), pick.random())))
        elif kind == 6:
            lines = "".join(tokens).split("\n")
            line = pick.randrange(len(lines))
            lines[line:line + 1] = pick.choice(([], [lines[line]] * 2, [pick.choice(lines)]))
            tokens = ["\n".join(lines)]
        else:
            tokens[at] = "".join(chr(ord(letter) ^ 1 << pick.randrange(7)) for letter in tokens[at][:1]) + tokens[at][1:]
        text = "".join(tokens)
    return text


def applications(seed: int, amount: int) -> dict[str, object]:
    """Edits of the shipped app.toml files; those that still load run for a moment."""
    from ixpemu.app import App

    pick = random.Random(seed)
    ran = refused = 0
    with tempfile.TemporaryDirectory() as place:
        names = ("ipv4_forward", "echo")
        for name in names:
            shutil.copytree(resources.folder("microcode") / name, Path(place) / name)
        shutil.copytree(resources.folder("microcode") / "lib", Path(place) / "lib")
        originals = {name: (Path(place) / name / "app.toml").read_text() for name in names}
        with chdir(place):
            for _ in range(amount):
                name = pick.choice(names)
                text = mutated(pick, originals[name])
                (Path(place) / name / "app.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
                with watched(120):
                    try:
                        App.load(str(Path(place) / name), capture=False).run(cycles=200)
                        ran += 1
                    except UserError as error:
                        assert error.diagnostics, text
                        refused += 1
    return {"edits": amount, "ran": ran, "refused": refused}


def broken(pick: random.Random, content: bytes) -> bytes:
    """Bytes cut short, flipped, overwritten, repeated or with some of their numbers changed."""
    found = bytearray(content)
    for _ in range(pick.choice((1, 1, 2, 8))):
        at = pick.randrange(len(found) + 1)
        kind = pick.randrange(7)
        if kind == 0:
            del found[at:]
        elif kind == 1 and at < len(found):
            found[at] ^= 1 << pick.randrange(8)
        elif kind == 2:
            found[at:at + pick.randrange(1, 20)] = pick.randbytes(pick.randrange(20))
        elif kind == 3:
            del found[at:at + pick.randrange(1, 200)]
        elif kind == 4:
            first = pick.randrange(len(found) + 1)
            found[at:at] = found[first:first + pick.randrange(1, 200)]
        elif kind == 5:
            lines = bytes(found).split(b"\n")
            pick.shuffle(lines[pick.randrange(len(lines)):])
            lines[pick.randrange(len(lines))] = pick.choice(lines)
            found = bytearray(b"\n".join(lines))
        else:
            numbers = list(re.finditer(rb"\d+", bytes(found)))
            if numbers:
                match = pick.choice(numbers)
                found[match.start():match.end()] = str(pick.choice((0, 1, 4097, 1 << 40, pick.getrandbits(64)))).encode()
        if not found:
            break
    return bytes(found)


def images(seed: int, amount: int) -> dict[str, object]:
    """Image files of all formats; those that can still be read are loaded into a chip and run."""
    pick = random.Random(seed)
    folder = resources.folder("microcode")
    sources = [assemble(folder / "ipv4_forward" / "receive.uc"), assemble(folder / "echo" / "echo.uc")]
    files = [(name, to_bytes(image, name)) for image in sources for name in FORMATS]
    chip = Chip()
    ran = refused = 0
    for number in range(amount):
        name, content = pick.choice(files)
        changed = broken(pick, content)
        reading = pick.choice(FORMATS) if pick.random() < 0.1 else name
        with watched(60):
            try:
                image = from_bytes(changed, reading, contexts=pick.choice((8, 4)))
                if number % 4 == 0:
                    chip.load(number // 4 % 8, image)
                    assert chip.run(cycles=50).reason
                ran += 1
            except UserError as error:
                assert error.diagnostics
                refused += 1
    return {"files": amount, "read": ran, "refused": refused}


def uof(seed: int, amount: int) -> dict[str, object]:
    """UOF files of a linked application, most with a check sum that goes with the damage; those that can be read are loaded."""
    pick = random.Random(seed)
    settings = app_file.load("ipv4_forward")
    linked = images_of(settings, load_chip(settings.chip)).linked
    assert linked is not None
    made = {me: replace(image, links=MEMORY.links) for me, image in linked.images.items()}
    content = to_uof(Program(made, linked.names, linked.chip.name))
    chip = Chip()
    read = refused = 0
    for number in range(amount):
        changed = broken(pick, content)
        if len(changed) > 32 and pick.random() < 0.8:
            changed = changed[:20] + checksum(changed[32:]).to_bytes(4, "little") + changed[24:]
        with watched(60):
            try:
                program = from_uof(changed, "x")
                for me, image in program.images.items() if number % 8 == 0 else ():
                    chip.load(me % 8, image)
                assert chip.run(cycles=50).reason
                read += 1
            except UserError as error:
                assert error.diagnostics
                refused += 1
    return {"files": amount, "read": read, "refused": refused}


def snapshots(seed: int, amount: int) -> dict[str, object]:
    """Snapshot files of a chip in the middle of something. Damaged ones are refused; whole ones go on as before."""
    pick = random.Random(seed)
    chip = Chip()
    chip.load(0, assemble(resources.folder("microcode") / "echo" / "echo.uc"))
    chip.ports[0].feed([pick.randbytes(pick.randrange(60, 600)) for _ in range(30)], gbps=0.7)
    chip.dram.write_bytes(0x5000, pick.randbytes(10_000))
    contents = []
    for _ in range(3):
        chip.run(cycles=1_000)
        contents.append(to_snapshot(chip.snapshot()))
    chip.run(cycles=1_000)
    end = chip.snapshot()
    read = refused = 0
    for number in range(amount):
        which = pick.randrange(3)
        content = contents[which] if number % 500 == 0 else broken(pick, contents[which])
        with watched(60):
            try:
                saved = from_snapshot(content)
            except UserError as error:
                assert error.diagnostics and content != contents[which]
                refused += 1
                continue
        assert content == contents[which], "a damaged file was read"
        other = Chip()
        other.restore(saved)
        other.run(cycles=end.cycle - saved.cycle)
        assert other.snapshot().differences(end) == []
        read += 1
    return {"files": amount, "read": read, "refused": refused}


# Named memory and first values of every kind, for images that have none.
MEMORY = assemble(text=".local_mem cache 32\n.init cache 5 6\n.reg @a b\n.init @a 7\n.init_ctx 2 b 8\n"
                       "alu[b, b, +, @a]\nctx_arb[kill]\n.use b\n")
KINDS: dict[str, Callable[[int, int], dict[str, object]]] = {
    "apps": applications, "images": images, "uof": uof, "snapshots": snapshots,
}
