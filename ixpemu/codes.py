"""The numbers of all diagnostics, one line each: a number never changes its meaning and is never used again.

Families: 1xxx preprocessor, 2xxx syntax, 3xxx operands and encoding, 4xxx flow and registers, 5xxx transfers and signals,
6xxx files, applications and arguments, 7xxx reserved behaviour of the running chip, 8xxx the isa/ files themselves.
"""

from __future__ import annotations

TITLES: dict[int, str] = {}


def _code(number: int, title: str) -> int:
    if number in TITLES:
        raise ValueError(f"diagnostic number {number} is taken by {TITLES[number]!r}")
    TITLES[number] = title
    return number


# 1xxx preprocessor

# 2xxx syntax

# 3xxx operands and encoding

# 4xxx flow and registers

# 5xxx transfers and signals

# 6xxx files, applications and arguments
FILE_UNREADABLE = _code(6001, "a file cannot be read")
FILE_UNWRITABLE = _code(6002, "a file cannot be written")
IMAGE_DAMAGED = _code(6003, "an image file is damaged or of another kind")
IMAGE_FORMAT_UNKNOWN = _code(6004, "an image format that does not exist")
FILE_SYNTAX = _code(6010, "a TOML file is not well formed")
FILE_UNKNOWN_KEY = _code(6011, "a file has a key that nothing reads")
FILE_MISSING_KEY = _code(6012, "a file lacks a key that it must have")
FILE_BAD_VALUE = _code(6013, "a value in a file is of the wrong kind or out of range")
APP_NOT_FOUND = _code(6020, "there is no such application")
APP_FILE_MISSING = _code(6021, "an application names a file that is not there")
APP_MODULE = _code(6022, "an application's XScale module cannot be used")
APP_PROBE = _code(6023, "an application names a probe that no image has")
APP_OVERRIDE = _code(6024, "a --set override cannot be applied")
ARGUMENT = _code(6030, "a command line argument has a wrong form")
DISK_FULL = _code(6031, "output was cut short because it could not be written")
CAPTURE_EMPTY = _code(6040, "a capture file is empty")
CAPTURE_UNKNOWN = _code(6041, "a file is not a packet capture")
CAPTURE_TRUNCATED = _code(6042, "a capture file ends inside a packet")
CAPTURE_MALFORMED = _code(6043, "a capture file contradicts its own format")
CAPTURE_LINK_TYPE = _code(6044, "a capture is not of Ethernet")
LINE_RATE = _code(6045, "a line rate that the port cannot have")
FRAME_REFUSED = _code(6046, "a frame that cannot be put on a line")
TRAFFIC_UNKNOWN = _code(6047, "an unknown traffic stream")
PORT_UNKNOWN = _code(6048, "a port that the board does not have")

# 7xxx reserved behaviour of the running chip

# 8xxx the isa/ files
