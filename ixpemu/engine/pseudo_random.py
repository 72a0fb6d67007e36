"""The pseudo-random number of a microengine: a maximal-length Galois shift register. The hardware's polynomial is not known.

It moves on at every read or, with CTX_ENABLES[30], by as many steps as cycles have passed since it was last looked at. In GF(2) a
step is a multiplication by x, so many steps are one multiplication by a power of x. Not bit-exact with a chip, and never will be.
"""

from __future__ import annotations

from numpy import uint32, uint64

from ixpemu.engine.jit import jit

FEEDBACK = 0xA3000000       # 32-bit maximal-length: x^32 + x^7 + x^6 + x^2 + 1, bit 31 for the power 0
ONE = 0x80000000


@jit
def times(a, b):
    """The product of two polynomials modulo the register's."""
    product = uint32(0)
    for k in range(32):
        if (a >> uint32(31 - k)) & uint32(1):
            product = uint32(product ^ b)
        low = b & uint32(1)
        b = uint32(b >> uint32(1))
        if low:
            b = uint32(b ^ uint32(FEEDBACK))
    return product


@jit
def next_random(engine, now):
    """The random number read at `now`; the register moves on."""
    steps = uint64(1)
    if (engine.ctx_enables >> uint32(30)) & uint32(1):
        steps = uint64(now - engine.prn_time)
    engine.prn_time = uint64(now)
    power, factor = uint32(ONE >> 1), uint32(ONE)
    while steps:
        if steps & uint64(1):
            factor = times(factor, power)
        power = times(power, power)
        steps = uint64(steps >> uint64(1))
    engine.prn = times(engine.prn, factor)
    return engine.prn
