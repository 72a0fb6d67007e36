"""The macros of microcode/lib: as many instructions as they say, and what they load."""

from __future__ import annotations

import pytest

from ixpemu import assemble, disassemble, resources

LIB = resources.folder("microcode") / "lib"


def words(body: str) -> list[str]:
    image = assemble(text=f'#include "words.uc"\n.reg value\n.sig volatile turn\n{body}\n.use value\n', include=[LIB])
    return disassemble(image).splitlines()[-len(image.words) :]


@pytest.mark.parametrize(("value", "low", "high"), [
    ("0x12345678", 0x5678, 0x1234), ("0", 0, 0), ("0xffffffff", 0xFFFF, 0xFFFF), ("(1 << 25)", 0, 0x200),
])
def test_load32(value: str, low: int, high: int) -> None:
    first, second = words(f"load32(value, {value})")
    assert first.split(",")[1].strip(" ]") in (str(low), hex(low), hex(low).upper().replace("X", "x"))
    assert second.split(",")[1].strip(" ]") in (str(high), hex(high))


def test_turns_are_one_instruction_each() -> None:
    given, passed = words("immed[value, 1]\ngive_turn_to_0(turn)\npass_turn(turn)\n.set_sig turn\nctx_arb[turn]")[1:3]
    assert given == "    local_csr_wr[SAME_ME_SIGNAL, 8]"
    assert passed == "    local_csr_wr[SAME_ME_SIGNAL, 0x88]"
