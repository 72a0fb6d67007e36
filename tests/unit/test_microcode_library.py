"""The macro library: what its comments say it costs; what its macros compute, against Python, zlib and published values.

Threads, rings, lists and tables are tested by the programs library_*.uc of microcode/tests.
"""

from __future__ import annotations

import random
import re
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from ixpemu import AssemblyError, Chip, assemble
from tests.support import library

FILES = list(library.files())
CLAIMS = [(file.name, claim) for file in FILES for macro in file.macros for claim in macro.costs]
CORPUS = Path(__file__).parents[1] / "corpus" / "library" / "checksums.tsv"
PUBLISHED = [line.split("\t") for line in CORPUS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
ONES = 0xFFFFFFFF


def results(files: Sequence[str], body: str, data: bytes, count: int) -> list[int]:
    """What `body` keeps by out(register), `count` words, with `data` at 0x1000 of SRAM and DRAM; context 0 alone runs."""
    text = "\n".join([
        *(f'#include "{name}"' for name in files), "#macro out(value)", "alu[$out, --, B, value]",
        "sram[write, $out, place, 0, 1], ctx_swap[done]", "alu[place, place, +, 4]", "#endm",
        ".reg place base a b c d[8] $out $r[8] $$d[16]", ".xfer_order $r", ".xfer_order $$d", ".sig done pair",
        "br=ctx[0, only#]", "ctx_arb[kill]", "only#:", "immed[place, 0x4000]", "immed[base, 0x1000]", body, "halt",
    ])
    chip = Chip()
    chip.load(0, assemble(text=text, include=[library.LIB]))
    chip.sram[0].write_bytes(0x1000, data)
    chip.dram.write_bytes(0x1000, data)
    assert chip.run(cycles=1_000_000).reason == "halt"
    return [int(word) for word in chip.sram[0].read(0x4000, count)]


def words(data: bytes) -> list[int]:
    return list(struct.unpack(f">{len(data) // 4}I", data))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_macro_says_what_it_is(file: library.File) -> None:
    assert file.text.startswith(f"{file.name}: ")
    assert file.undocumented == ()
    for macro in file.macros:
        name, _, parameters = macro.call.rstrip(")").partition("(")
        said = dict(macro.rows)
        assert macro.text and "changes" in said and macro.costs, macro.call
        for parameter in filter(None, parameters.split(", ")):
            assert parameter in said or re.search(rf"\b{parameter}\b", f"{macro.text} {file.text}"), (name, parameter)


@pytest.mark.parametrize(("file", "claim"), CLAIMS, ids=[f"{file}-{number}" for number, (file, _) in enumerate(CLAIMS)])
def test_cost(file: str, claim: library.Cost) -> None:
    assert library.measured(file, claim) == (claim.words, claim.cycles, dict(claim.references)), claim.call


def test_a_wrong_cost_is_found() -> None:
    claim = library.cost("immediate(a, 0x12345678) -> 1 word, 1 cycle")
    assert library.measured("move.uc", claim) == (2, 2, {})


@pytest.mark.parametrize("text", ["immediate(a, 1)", "immediate(a, 1) -> few words, 1 cycle", "immediate(a, 1) -> 1 word"])
def test_a_row_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError):
        library.cost(text)


def test_immediates_of_every_shape() -> None:
    pick = random.Random(1)
    values = [0, 1, 0xFF, 0xFFFF, 0x10000, 0xFFFF0000, 0xFFFFFFFF, 0xFFFFFF00, 0xFF00FFFF, 0x00FFFF00, 0xFF0000FF]
    values += [0x80000000, 0x7FFFFFFF]
    values += [pick.randrange(1 << 32) for _ in range(20)] + [pick.randrange(1 << 16) << 8 for _ in range(10)]
    values += [ONES ^ pick.randrange(1 << 16) << shift for shift in (0, 8, 16) for _ in range(5)]
    body = "\n".join(f"immediate(a, {value:#x})\nout(a)\nmove($r[0], {value:#x})\nout(b)" for value in values)
    body = body.replace("\nmove($r[0]", "\nmove(b")
    assert results(["move.uc"], body, b"", 2 * len(values)) == [value for value in values for _ in range(2)]


def fields() -> list[tuple[int, int]]:
    every = [(position, width) for position in range(32) for width in range(1, 33 - position)]
    return sorted([*random.Random(2).sample(every, 180), (0, 32), (0, 1), (31, 1), (8, 16), (16, 16), (0, 24), (8, 24)])


def test_bits_extract() -> None:
    value = 0x9B3C5A71
    body = f"immediate(a, {value:#x})\n" + "\n".join(f"bits_extract(b, a, {at}, {width})\nout(b)" for at, width in fields())
    wanted = [value >> at & (1 << width) - 1 for at, width in fields()]
    assert results(["bits.uc"], body, b"", len(wanted)) == wanted


def test_bits_insert() -> None:
    old, new = 0x9B3C5A71, 0x64D7A59E
    body = f"immediate(a, {new:#x})\n" + "\n".join(
        f"immediate(b, {old:#x})\nbits_insert(b, a, {at}, {width})\nout(b)" for at, width in fields()
    )
    wanted = []
    for at, width in fields():
        mask = (1 << width) - 1
        wanted.append(old & ~(mask << at) & ONES | (new & mask) << at)
    assert results(["bits.uc"], body, b"", len(wanted)) == wanted


def test_bits_by_mask() -> None:
    value = 0x9B3C5A71
    masks = [1, 0x80, 0xFF, 0x100, 0xFF00, 0x80000000, 0xFFFFFFFF, 0xFFFFFF7F, 0x12345678]
    body, wanted = [], []
    for mask in masks:
        for name, result in (("set", value | mask), ("clear", value & ~mask), ("invert", value ^ mask)):
            body.append(f"immediate(a, {value:#x})\nbits_{name}(a, {mask:#x})\nout(a)")
            wanted.append(result)
        body.append(f"immediate(a, {value:#x})\nimmed[b, 1]\nbits_test(a, {mask:#x})\nbne[set{mask}#]")
        body.append(f"immed[b, 0]\nset{mask}#:\nout(b)")
        wanted.append(int(bool(value & mask)))
    for bit in (0, 7, 8, 31):
        body.append(f"immediate(a, {value:#x})\nbit_set(a, {bit})\nout(a)\nbit_clear(a, {bit})\nout(a)")
        wanted += [value | 1 << bit, value & ~(1 << bit)]
    assert results(["bits.uc"], "\n".join(body), b"", len(wanted)) == wanted


@pytest.mark.parametrize("call", [
    "bits_extract(b, a, 30, 3)", "bits_extract(b, a, 0, 0)", "bits_insert(b, a, 32, 1)", "bit_set(a, 32)",
])
def test_fields_outside_of_a_word_are_refused(call: str) -> None:
    with pytest.raises(AssemblyError, match="a field lies in bits 0 to 31"):
        assemble(text=f'#include "bits.uc"\nimmed[a, 1]\nimmed[b, 1]\n{call}\nctx_arb[kill]', include=[library.LIB])


DATA = bytes(random.Random(3).randrange(256) for _ in range(128))


def test_bytes_at_every_constant_offset() -> None:
    body = ["sram[read, $r[0], base, 0, 8], ctx_swap[done]"]
    wanted = []
    for offset in range(28):
        body += [f"bytes_get{bits}(a, $r, {offset})\nout(a)" for bits in (8, 16, 32)]
        wanted += [int.from_bytes(DATA[offset : offset + size], "big") for size in (1, 2, 4)]
    assert results(["bytes.uc"], "\n".join(body), DATA, len(wanted)) == wanted


@pytest.mark.parametrize("memory", ["sram", "dram"])
def test_words_from_memory_at_every_address(memory: str) -> None:
    body, wanted = [], []
    group = {"sram": "$r", "dram": "$$d"}[memory]
    for offset in range(16):
        body.append(f"immed[a, {0x1000 + offset}]\nbytes_read_{memory}(d, {group}, a, 5)")
        body += [f"out(d[{index}])" for index in range(5)]
        wanted += words(DATA[offset : offset + 20])
    assert results(["bytes.uc"], "\n".join(body), DATA, len(wanted)) == wanted


def internet(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def test_checksum_of_words() -> None:
    cases = [DATA[:32], bytes(32), b"\xff" * 32, b"\xff\xff" + bytes(30), bytes(28) + b"\0\1\xff\xfe"]
    body, wanted = [], []
    for number, case in enumerate(cases):
        for count in (1, 2, 5, 8):
            body.append(f"immed[b, {0x1000 + 32 * number}]\nsram[read, $r[0], b, 0, 8], ctx_swap[done]\nimmed[a, 0]")
            body.append(f"checksum_words(a, $r, 0, {count})\nchecksum_end(a, a)\nout(a)")
            wanted.append(internet(case[: 4 * count]))
    assert results(["checksum.uc"], "\n".join(body), b"".join(cases), len(wanted)) == wanted


def test_pseudo_header() -> None:
    source, destination, length = 0xC0A80001, 0xFFFFFFFF, 0xFFDC
    body = (f"immed[a, 0xfff0]\nimmed_w1[a, 0xffff]\nimmed[b, {length}]\nsram[read, $r[0], base, 0, 2], ctx_swap[done]\n"
            "checksum_pseudo(a, $r[0], $r[1], 17, b)\nchecksum_end(a, a)\nout(a)")
    data = struct.pack(">II", source, destination)
    assert results(["checksum.uc"], body, data, 1) == [internet(b"\xff\xff\xff\xf0" + data + struct.pack(">IHH", 17, 0, length))]


def test_checksum_updates() -> None:
    pick = random.Random(4)
    body, wanted, data = [], [], []
    edge = [0, 1, 0xFFFF, 0xFFFE, 0x8000]
    for number in range(40):
        check, old, new = (pick.choice(edge) if number < 24 else pick.randrange(1 << 16) for _ in range(3))
        high, low = pick.randrange(1 << 16), pick.randrange(1 << 16)
        data += [old, new, old << 16 | high, new << 16 | low]
        body.append(f"immed[b, {0x1000 + 16 * number}]\nsram[read, $r[0], b, 0, 4], ctx_swap[done]\nimmed[a, {check}]")
        body.append(f"checksum_update16(a, $r[0], $r[1])\nout(a)\nimmed[a, {check}]\nimmed_w1[a, 0x5a5a]")
        body.append("alu[b, --, B, $r[3]]\nchecksum_update32(a, $r[2], b)\nout(a)")
        for changes in ([(old, new)], [(old, new), (high, low)]):
            total = (~check & 0xFFFF) + sum((~before & 0xFFFF) + after for before, after in changes)
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            wanted.append(~total & 0xFFFF)
    assert results(["checksum.uc"], "\n".join(body), struct.pack(f">{len(data)}I", *data), len(wanted)) == wanted


def crc_body(address: int, length: int) -> str:
    whole, rest = divmod(length, 4)
    return (f"immed[b, {address}]\nsram[read, $r[0], b, 0, 8], ctx_swap[done]\ncrc32_start()\n"
            f"crc32_words($r, 0, {whole})\n" + (f"crc32_bytes($r[{whole}], {rest})\n" if rest else "") + "crc32_end(a)\nout(a)")


def test_crc32_is_zlibs() -> None:
    lengths = [*range(1, 32), 32]
    body = "\n".join(crc_body(0x1000 + 4 * (length % 8), length) for length in lengths)
    wanted = [zlib.crc32(DATA[4 * (length % 8) :][:length]) for length in lengths]
    assert results(["crc32.uc"], body, DATA, len(wanted)) == wanted


@pytest.mark.parametrize(("kind", "given", "result", "source"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_published_values(kind: str, given: str, result: str, source: str) -> None:
    assert source
    data = bytes.fromhex(given)
    load = "sram[read, $r[0], base, 0, 4], ctx_swap[done]\n"
    body = {
        "internet": load + "immed[a, 0]\nchecksum_words(a, $r, 0, 2)\nchecksum_end(b, a)\nout(b)",
        "update16": load + "alu_shf[a, --, B, $r[0], >>16]\nalu[b, --, B, $r[0]]\nalu_shf[c, --, B, $r[1], >>16]\n"
                    "checksum_update16(a, b, c)\nout(a)",
        "crc32": crc_body(0x1000, len(data)),
    }[kind]
    name = "crc32.uc" if kind == "crc32" else "checksum.uc"
    assert results([name], body, data + bytes(-len(data) % 4), 1) == [int(result, 16)]


def test_packet_fields() -> None:
    frame = bytes.fromhex("0102030405060a0b0c0d0e0f0800") + bytes.fromhex("4bb80054abcdbfff40061234c0a80102c0a80a0b")
    tcp = bytes.fromhex("04d20050deadbeef0badf00d5a12fedc9876aa55")
    arp = struct.pack(">HHBBH6sI6sI", 1, 0x800, 6, 4, 2, b"abcdef", 0xC0A80001, b"ghijkl", 0xC0A80002)
    fields = {
        "ETHERNET_DESTINATION_HIGH": 0x01020304, "ETHERNET_DESTINATION_LOW": 0x0506, "ETHERNET_SOURCE_HIGH": 0x0A0B,
        "ETHERNET_SOURCE_LOW": 0x0C0D0E0F, "ETHERNET_TYPE": 0x0800, "IPV4_VERSION": 4, "IPV4_HEADER_WORDS": 11,
        "IPV4_TYPE_OF_SERVICE": 0xB8, "IPV4_TOTAL_LENGTH": 0x54, "IPV4_IDENTIFICATION": 0xABCD, "IPV4_FLAGS": 5,
        "IPV4_FRAGMENT_OFFSET": 0x1FFF, "IPV4_TIME_TO_LIVE": 0x40, "IPV4_PROTOCOL": 6, "IPV4_CHECKSUM": 0x1234,
        "IPV4_SOURCE": 0xC0A80102, "IPV4_DESTINATION": 0xC0A80A0B,
    }
    others = {
        "TCP_SOURCE": 0x4D2, "TCP_DESTINATION": 80, "TCP_SEQUENCE": 0xDEADBEEF, "TCP_ACKNOWLEDGEMENT": 0x0BADF00D,
        "TCP_DATA_WORDS": 5,
        "TCP_FLAGS": 0x12, "TCP_WINDOW": 0xFEDC, "TCP_CHECKSUM": 0x9876, "TCP_URGENT": 0xAA55,
        "UDP_SOURCE": 0x4D2, "UDP_DESTINATION": 80, "UDP_LENGTH": 0xDEAD, "UDP_CHECKSUM": 0xBEEF,
    }
    arps = {
        "ARP_HARDWARE_TYPE": 1, "ARP_PROTOCOL_TYPE": 0x800, "ARP_HARDWARE_LENGTH": 6, "ARP_PROTOCOL_LENGTH": 4,
        "ARP_OPERATION": 2,
        "ARP_SENDER_MAC_HIGH": int.from_bytes(b"abcd", "big"), "ARP_SENDER_MAC_LOW": int.from_bytes(b"ef", "big"),
        "ARP_SENDER_IP": 0xC0A80001, "ARP_TARGET_MAC_HIGH": int.from_bytes(b"ghij", "big"),
        "ARP_TARGET_MAC_LOW": int.from_bytes(b"kl", "big"), "ARP_TARGET_IP": 0xC0A80002,
    }

    def starts(name: str) -> int:
        return 0 if name.startswith("ETHERNET") else 14

    def body(names: dict[str, int], start: int | None) -> str:
        return "\n".join(
            f"packet_get(a, $$d, {starts(name) if start is None else start}, {name})\nout(a)" for name in names
        )

    load = "immed[b, {}]\ndram[read, $$d[0], b, 0, 5], ctx_swap[pair]\n"
    text = (load.format(0x1000) + body(fields, None) + "\n" + load.format(0x1040) + body(others, 2) + "\n"
            + load.format(0x1080) + body(arps, 3))
    data = bytearray(0xC0)
    data[0:34], data[0x42:0x56], data[0x83:0x9F] = frame, tcp, arp
    wanted = [*fields.values(), *others.values(), *arps.values()]
    assert results(["packet.uc"], text, bytes(data), len(wanted)) == wanted


def test_packet_branches() -> None:
    frame = bytes.fromhex("0102030405060a0b0c0d0e0f0800") + bytes.fromhex("4bb80054abcdbfff40061234c0a80102c0a80a0b")
    cases = [
        ("0, ETHERNET_TYPE, 0x800", 1), ("0, ETHERNET_TYPE, 0x806", 0), ("14, IPV4_PROTOCOL, 6", 1), ("14, IPV4_PROTOCOL, 17", 0),
        ("14, IPV4_VERSION, 4", 1), ("14, IPV4_VERSION, 6", 0), ("14, IPV4_SOURCE, 0xc0a80102", 1), ("14, IPV4_SOURCE, 1", 0),
    ]
    body = "dram[read, $$d[0], base, 0, 5], ctx_swap[pair]\n" + "\n".join(
        f"immed[a, 1]\npacket_branch_if($$d, {case}, yes{number}#)\nimmed[a, 0]\nyes{number}#:\nout(a)"
        for number, (case, _) in enumerate(cases)
    )
    assert results(["packet.uc"], body, frame + bytes(6), len(cases)) == [wanted for _, wanted in cases]
