"""The Internet checksum in plain integers: the reference that microcode and the media interface are judged by.

RFC 1071 defines the sum, RFC 1624 the update of a header whose one field changed. Slow and obvious on purpose.
"""

from __future__ import annotations


def ones_complement_sum(content: bytes, start: int = 0) -> int:
    """The 16-bit one's-complement sum of big-endian half-words, added to `start`; an odd last byte gets a zero after it."""
    padded = content + b"\0" if len(content) % 2 else content
    total = start + sum(int.from_bytes(padded[k : k + 2], "big") for k in range(0, len(padded), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def internet_checksum(content: bytes) -> int:
    """The checksum to store so that the content with it sums to 0xffff: the complement of the sum (RFC 1071)."""
    return ~ones_complement_sum(content) & 0xFFFF


def update_checksum(checksum: int, old: int, new: int) -> int:
    """The checksum after one 16-bit field changed from `old` to `new`: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3)."""
    total = (~checksum & 0xFFFF) + (~old & 0xFFFF) + new
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
