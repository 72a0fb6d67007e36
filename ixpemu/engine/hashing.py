"""The hash unit's arithmetic: R(x) = A(x) * M(x) mod G(x) over GF(2), bit i of a number being the coefficient of x^i.

G48 = x^48 + x^36 + x^25 + x^10 + 1, G64 = x^64 + x^54 + x^35 + x^17 + 1, G128 = x^128 + x^98 + x^69 + x^33 + 1 (HRM, confidence
H). No time here, and no registers: a caller gives operands as 64-bit halves.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit
from ixpemu.engine.layout import HASH_MULTIPLIER_48, HASH_MULTIPLIER_64, HASH_MULTIPLIER_128

G48 = (1 << 36) | (1 << 25) | (1 << 10) | 1
G64 = (1 << 54) | (1 << 35) | (1 << 17) | 1
G128_LOW = (1 << 33) | 1
G128_HIGH = (1 << (98 - 64)) | (1 << (69 - 64))


@jit
def no_multiplier(state, bits):
    """Whether the multiplier of that many bits is 0, as after power-up."""
    first = uint32(HASH_MULTIPLIER_64)
    words = uint32(2)
    if uint32(bits) == uint32(48):
        first = uint32(HASH_MULTIPLIER_48)
    elif uint32(bits) == uint32(128):
        first = uint32(HASH_MULTIPLIER_128)
        words = uint32(4)
    found = uint32(0)
    for k in range(words):
        found = uint32(found | state.hash_multiplier[uint32(first + uint32(k))])
    return found == uint32(0)


@jit
def hash_short(key, multiplier, bits):
    """The hash of 48 or 64 `bits`."""
    mask = uint64(0xFFFFFFFFFFFF) if uint32(bits) == uint32(48) else uint64(0xFFFFFFFFFFFFFFFF)
    modulus = uint64(G48) if uint32(bits) == uint32(48) else uint64(G64)
    key = uint64(key) & mask
    multiplier = uint64(multiplier) & mask
    top = uint64(uint32(bits) - uint32(1))
    result = uint64(0)
    for k in range(uint32(bits)):
        out = (result >> top) & uint64(1)
        result = uint64(result << uint64(1)) & mask
        if out:
            result = uint64(result ^ modulus)
        if (key >> uint64(top - uint64(k))) & uint64(1):
            result = uint64(result ^ multiplier)
    return result


@jit
def hash_long(state, event, key_low, key_high, at):
    """The hash of 128 bits, into words `at` to `at + 3` of `event`."""
    m = state.hash_multiplier
    base = HASH_MULTIPLIER_128
    m_low = uint64(m[base]) | (uint64(m[base + 1]) << uint64(32))
    m_high = uint64(m[base + 2]) | (uint64(m[base + 3]) << uint64(32))
    low = uint64(0)
    high = uint64(0)
    for k in range(128):
        out = high >> uint64(63)
        high = uint64((high << uint64(1)) | (low >> uint64(63)))
        low = uint64(low << uint64(1))
        if out:
            low = uint64(low ^ uint64(G128_LOW))
            high = uint64(high ^ uint64(G128_HIGH))
        half = uint64(key_high) if k < 64 else uint64(key_low)
        if (half >> uint64(63 - (k & 63))) & uint64(1):
            low = uint64(low ^ m_low)
            high = uint64(high ^ m_high)
    words = event.words
    words[at] = uint32(low & uint64(0xFFFFFFFF))
    words[at + 1] = uint32(low >> uint64(32))
    words[at + 2] = uint32(high & uint64(0xFFFFFFFF))
    words[at + 3] = uint32(high >> uint64(32))


@jit
def hash_words(state, event, low, high, bits, at):
    """The hash of a 48- or 64-bit key given as two words, into words `at` and `at + 1` of `event`."""
    place = HASH_MULTIPLIER_48 if uint32(bits) == uint32(48) else HASH_MULTIPLIER_64
    multiplier = uint64(state.hash_multiplier[place]) | (uint64(state.hash_multiplier[place + 1]) << uint64(32))
    result = hash_short(uint64(low) | (uint64(high) << uint64(32)), multiplier, bits)
    words = event.words
    words[at] = uint32(result & uint64(0xFFFFFFFF))
    words[at + 1] = uint32(result >> uint64(32))
