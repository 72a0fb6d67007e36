"""The hash unit against published-style vectors and against polynomials over GF(2) in plain Python, through commands."""

import random
from pathlib import Path

import pytest

from ixpemu import Chip
from tests.support.machine import chip_with

VECTORS = Path(__file__).parents[1] / "corpus" / "hash.tsv"
MODULUS = {bits: sum(1 << power for power in powers) for bits, powers in
           {48: (48, 36, 25, 10, 0), 64: (64, 54, 35, 17, 0), 128: (128, 98, 69, 33, 0)}.items()}
WORDS = {48: 2, 64: 2, 128: 4}
MOST = {48: 3, 64: 3, 128: 2}


def multiplied(x: int, y: int) -> int:
    """The product of two polynomials over GF(2)."""
    return 0 if not y else (x if y & 1 else 0) ^ multiplied(x << 1, y >> 1)


def remainder(x: int, modulus: int) -> int:
    while x.bit_length() >= modulus.bit_length():
        x ^= modulus << (x.bit_length() - modulus.bit_length())
    return x


def hashed(bits: int, multiplier: int, keys: list[int], chip: Chip | None = None) -> list[int]:
    """What the unit makes of up to three keys in one command."""
    text = f"hash_{bits}[$0, {len(keys)}], ctx_swap[s1]\nctx_arb[kill]"
    chip = chip_with(text, contexts=1)
    chip.hash.multiplier[bits] = multiplier
    ctx, words = chip.me[0].ctx[0], WORDS[bits]
    for k in range(len(keys) * words):
        ctx.sram_out[k] = keys[k // words] >> 32 * (k % words) & 0xFFFFFFFF
    assert chip.run(cycles=500).reason in ("quiet", "cycles")
    return [sum(int(ctx.sram_in[n * words + k]) << 32 * k for k in range(words)) for n in range(len(keys))]


def vectors() -> list[tuple[int, int, int, int]]:
    rows = [line.split("\t") for line in VECTORS.read_text().splitlines() if line and not line.startswith("#")]
    return [(int(bits), int(multiplier, 16), int(key, 16), int(result, 16)) for bits, multiplier, key, result in rows]


def test_vectors() -> None:
    found = [(bits, multiplier, key, hashed(bits, multiplier, [key])[0]) for bits, multiplier, key, _ in vectors()]
    assert found == vectors()
    assert {bits for bits, *_ in vectors()} == {48, 64, 128}


@pytest.mark.parametrize("bits", MODULUS)
def test_product_modulo_the_polynomial(bits: int) -> None:
    """Random multipliers and keys, edges among them, one to three keys a command; each key has its own result."""
    pick = random.Random(bits)
    edges = [0, 1, 1 << bits - 1, (1 << bits) - 1]
    for _ in range(12):
        multiplier = pick.choice([*edges, pick.getrandbits(bits), pick.getrandbits(bits)])
        keys = [pick.choice([*edges, pick.getrandbits(bits), pick.getrandbits(bits)]) for _ in range(pick.randint(1, MOST[bits]))]
        wanted = [remainder(multiplied(key, multiplier), MODULUS[bits]) for key in keys]
        assert hashed(bits, multiplier, keys) == wanted, (hex(multiplier), [hex(key) for key in keys])


def test_the_upper_half_of_the_second_word_of_a_short_key_is_ignored() -> None:
    pick = random.Random(1)
    multiplier, key = pick.getrandbits(48), pick.getrandbits(48)
    assert hashed(48, multiplier, [key | 0xABCD << 48]) == hashed(48, multiplier, [key])


def test_a_hash_is_linear_and_its_key_zero_gives_zero() -> None:
    pick = random.Random(2)
    for bits in MODULUS:
        multiplier, one, two = (pick.getrandbits(bits) for _ in range(3))
        [a], [b], [both] = (hashed(bits, multiplier, [key]) for key in (one, two, one ^ two))
        assert both == a ^ b
        assert hashed(bits, multiplier, [0]) == [0]


def test_the_multipliers_are_csrs_of_the_cap() -> None:
    """Written by a thread, word by word, and taken by the next command."""
    chip = chip_with("immed[$0, 3]\ncap[write, $0, HASH_MULTIPLIER_64_0, 1], ctx_swap[s1]\nimmed[$0, 5]\n"
                     "hash_64[$0, 1], ctx_swap[s1]\nctx_arb[kill]", contexts=1)
    chip.hash.multiplier[64] = 0
    chip.run(cycles=500)
    assert chip.hash.multiplier[64] == 3
    assert int(chip.me[0].ctx[0].sram_in[0]) == 3 ^ 3 << 2
