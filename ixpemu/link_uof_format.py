"""Structures of Intel's UOF container, as far as they are public: what writer and reader agree on. docs/uof.md has each field
with its source and its confidence, and says which are assumed.

Everything is little-endian. Offsets in an object count from its header; those of strings from behind the length of the table.
"""

from __future__ import annotations

import binascii
from struct import Struct

FILE_ID = 0xC6C2
SWAPPED_ID = 0xC2C6             # the same in a file of a big-endian machine
MINOR, MAJOR = 0x11, 0x04

FILE_HEADER = Struct("<HHBBHHH")            # id, reserved, minor, major, reserved, most chunks, chunks
FILE_CHUNK = Struct("<8sIII")               # id, check sum, offset in the file, size
OBJECT_HEADER = Struct("<IHHHHII")          # CPU type, first and last stepping, most chunks, chunks, reserved, reserved
OBJECT_CHUNK = Struct("<8sII")              # id, offset, size
TOOL = Struct("<8sIII")                     # tool, version, reserved, reserved
SEGMENT = Struct("<II")                     # base and size in bytes, of each of SEGMENTS in turn
# name, microengines, fill pattern, case counts, reserved, mode, CPU type, last and first stepping, attributes, entry page, entry
# address, pages; then, assumed: offsets of the tables of registers and of initial values
IMAGE = Struct("<II8sBBHIHHHHHHII")
PAGE = Struct("<HHII")                      # assumed: number, first address, offset of the code, of the table of open values
MEMORY = Struct("<IBBHIII")                 # name, region, scope, reserved, address, bytes, values
MEMORY_VALUE = Struct("<I")                 # offset in bytes; then four bytes as they are in memory
INITIAL = Struct("<IBBBBII")                # name, what, kind of value, kind of register, context, number, value
REGISTER = Struct("<IIHHHBBHHI")            # name, visible name, kind, number, access, visible, -, uses, -, transfer order
COUNT = Struct("<I")                        # before the entries of every table

OBJECTS, STRINGS, TOOLS, IMAGES, SEGMENT_TABLE, MEMORIES = (
    b"UOF_OBJS", b"UOF_STRT", b"UOF_GTID", b"UOF_IMAG", b"UOF_MSEG", b"UOF_IMEM")
WORD_BYTES = 5

# Chip by its number in the file, and how many microengines a cluster has; the file's mask has bits 16 up for the second.
CPU_TYPES = {"enp2611": 2, "ixp2800": 4}
CLUSTER = {2: 4, 4: 8}
SEGMENTS = ("sram0", "sram1", "sram2", "sram3", "dram", "scratch")
# Numbers of this project's choice.
REGIONS = ("sram0", "sram1", "sram2", "sram3", "dram", "scratch", "local")
REGISTER_KINDS = ("", "a", "@a", "b", "@b", "$", "$$", "n$", "s")
WRITABLE_KINDS = 6                          # of those, the ones that can have first values
LOCAL_BYTES = 640 * 4
LOCAL, GLOBAL = 0, 1                        # scope of memory
INIT_SYMBOL, INIT_REGISTER, INIT_CONTEXT_REGISTER = 0, 1, 2
NUMBER = 0                                  # a value that is no expression
# Bits of an image's mode besides the number of contexts in 3:0.
GLOBAL_POINTERS = {16: 1 << 8, 17: 1 << 9}  # by the bit of CTX_ENABLES that makes a local-memory pointer global


def checksum(content: bytes) -> int:
    """The check sum of a chunk: CRC-16 with the polynomial 0x1021, beginning with 0."""
    return binascii.crc_hqx(content, 0)


def engine_bit(me: int, cluster: int) -> int:
    """The bit of a microengine in a mask of the file."""
    return 1 << (me // cluster * 16 + me % cluster)


def engines_of(mask: int, cluster: int) -> list[int]:
    """The microengines of a mask; UOF has no bits for others than those of two clusters."""
    return [me for me in range(2 * cluster) if mask & engine_bit(me, cluster)]
