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
COMMENT_OPEN = _code(1001, "a block comment is never closed")
HASH_UNKNOWN = _code(1002, "a # directive that does not exist")
HASH_MALFORMED = _code(1003, "a # directive is incomplete or has a wrong form")
HASH_BLOCK_OPEN = _code(1004, "a #if, #macro or loop is never closed")
HASH_BLOCK_UNOPENED = _code(1005, "an #else, #endif, #endm or #endloop belongs to nothing")
INCLUDE_MISSING = _code(1006, "an included file cannot be found")
INCLUDE_CYCLE = _code(1007, "a file includes itself")
MACRO_ARGUMENTS = _code(1008, "a macro is called with a number of arguments that it does not take")
MACRO_CALL = _code(1009, "a macro call has a wrong form")
EXPANSION_LIMIT = _code(1010, "macros, loops or includes expand without end")
DEFINED_TWICE = _code(1011, "a # name is defined again with another meaning")
USER_ERROR = _code(1012, "#error in the source")
USER_WARNING = _code(1013, "#warning or #info in the source")
CONDITION_UNDEFINED = _code(1014, "a name in an #if is not defined and counts as 0")
CONDITION_VALUE = _code(1015, "the expression of a # directive has no value")
HASH_UNSUPPORTED = _code(1016, "a # directive that is not supported yet")
MACRO_UNKNOWN = _code(1017, "a macro is called that is not defined")

# 2xxx syntax
SYNTAX = _code(2001, "a line that is no statement")
DIRECTIVE_UNKNOWN = _code(2002, "a directive that does not exist")
DIRECTIVE_UNSUPPORTED = _code(2003, "a directive that is not supported yet")
DIRECTIVE_OPERANDS = _code(2004, "a directive with wrong operands")
EXPRESSION = _code(2005, "an expression that has no value")
NUMBER = _code(2006, "a number with a wrong form or too large")
TOO_MANY_ERRORS = _code(2007, "so many errors that the rest was not looked at")

# 3xxx operands and encoding
MNEMONIC_UNKNOWN = _code(3001, "an instruction that does not exist")
OPERAND_COUNT = _code(3002, "an instruction with a wrong number of operands")
OPERAND_KIND = _code(3003, "an operand of a kind that cannot stand there")
OPERAND_WORD = _code(3004, "an operation, command or name that the instruction does not know")
OPTION_UNKNOWN = _code(3005, "an option that the instruction does not take")
OPTION_ARGUMENT = _code(3006, "an option with a wrong argument")
OPERAND_RANGE = _code(3007, "a constant that does not fit its field")
INSTRUCTION_PLANNED = _code(3008, "an instruction or command that is not supported yet")
ENCODING_REFUSED = _code(3020, "an instruction that no word can hold")

# 4xxx flow and registers
LABEL_UNDEFINED = _code(4001, "a label that is not defined")
LABEL_TWICE = _code(4002, "a label that is defined twice")
DECLARED_TWICE = _code(4003, "a name that is declared twice in one scope")
SIGNAL_UNDECLARED = _code(4004, "a signal that is not declared")
SCOPE_UNBALANCED = _code(4005, "a .begin without .end, or an .end without .begin")
AGGREGATE = _code(4006, "an aggregate used wrongly")
REGISTER_HALF = _code(4007, "a transfer register used against its read or write declaration")
NAME_KIND = _code(4008, "a signal where a register belongs, or the other way round")
PHYSICAL = _code(4009, "a physical name in an ordinary program, or the other way round")

DEFER_SLOT = _code(4101, "an instruction that may not stand in a defer slot")
DEFER_PAST_END = _code(4102, "defer slots behind the end of the program")
FOLLOWED_WRONGLY = _code(4103, "an instruction without the one that must follow it at once")
BANK_CONFLICT = _code(4110, "registers that cannot be divided between the banks A and B")
OUT_OF_REGISTERS = _code(4111, "more registers are needed at once than there are")
IMAGE_TOO_LARGE = _code(4120, "a program larger than the control store")
USED_BEFORE_SET = _code(4700, "a register is used before it is set")
MAYBE_USED_BEFORE_SET = _code(4701, "a register may be used before it is set")
UNREACHABLE = _code(4702, "code that is never reached")
RUNS_OFF_END = _code(4703, "the program runs past its end")
PROGRAM_EMPTY = _code(4704, "a program without instructions")

# 5xxx transfers and signals
XFER_ORDER_MISSING = _code(5001, "a command uses several transfer registers and nothing gives their order")
XFER_ORDER_SHORT = _code(5002, "a command uses more transfer registers than their order has")
SET_NEVER_USED = _code(5008, "a register is set and never used")
TOUCHED_IN_FLIGHT = _code(5009, "a transfer register touched while its command is under way")
XFER_ORDER_CONTRADICTION = _code(5010, "transfer register orders that contradict each other")
OUT_OF_TRANSFERS = _code(5011, "more transfer registers are needed at once than there are")
OUT_OF_SIGNALS = _code(5012, "more signals are needed at once than there are")
SIGNAL_NEVER_RAISED = _code(5020, "waiting for a signal that nobody raises")
SIGNAL_MIXED = _code(5021, "a wait for a signal that is raised alone here and as a pair there")
PAIR_POLLED = _code(5022, "a test of one signal of a pair")
PAIR_ANY = _code(5023, "a wait for any of several signals with a pair among them")
NEVER_WAITED_FOR = _code(5024, "a signal that is raised and never waited for")
NO_SIGNAL = _code(5117, "a command without a signal, so that its transfer registers never become free")

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
ARGUMENT_VALUE = _code(6032, "an argument of a Python call is of a wrong kind or out of range")
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
ROUTE_FILE = _code(6050, "a line of a route file is wrong")
TABLE_FULL = _code(6051, "a table of the chip's memory is full")
MEMORY_ADDRESS = _code(6060, "an address outside a memory")
RING_SETUP = _code(6061, "a scratch ring that cannot be")
CSR_UNKNOWN = _code(6062, "a register that does not exist")
ME_UNKNOWN = _code(6063, "a microengine, context or word that does not exist")
PROGRAM_TOO_LARGE = _code(6064, "a program does not fit the control store")
CHIP_PARAMETER = _code(6065, "a chip parameter is out of range")
SNAPSHOT_FOREIGN = _code(6066, "a snapshot of another version or another chip")
CHIP_MODE = _code(6067, "a mode that the chip does not have")
NAME_UNKNOWN = _code(6070, "a name that an image does not have")
NAME_AMBIGUOUS = _code(6071, "a name that several registers of an image have")
RUN_ARGUMENT = _code(6068, "a run or break that makes no sense")
PROGRAM_UNUSABLE = _code(6069, "what is to be loaded is no program")

# 7xxx reserved behaviour of the running chip; what stands behind each is in chip_rules
RESERVED_ILLEGAL = _code(7001, "an illegal instruction")
RESERVED_STORE_END = _code(7002, "the program ran past its end")
RESERVED_UNPOPULATED = _code(7003, "an access to memory that is not there")
RESERVED_RING_OVERFLOW = _code(7004, "a put on a full ring")
RESERVED_LOCAL_MEMORY = _code(7005, "a use of local memory that is not there")
RESERVED_CSR_READ = _code(7006, "a local_csr_rd without its immed")
RESERVED_DEFER = _code(7007, "a branch or swap in a defer slot")
RESERVED_COMMAND = _code(7008, "a command that its unit does not have")
RESERVED_RING_BASE = _code(7009, "a scratch ring outside of scratch memory")
RESERVED_ELEMENT = _code(7010, "an RBUF element freed that may not be")
RESERVED_THREADS = _code(7011, "too many threads on a receive free list")
RESERVED_TRANSMIT = _code(7012, "a transmit element used out of rule")
RESERVED_OVERRIDE = _code(7013, "an indirect_ref to a microengine or context that is not there")
RESERVED_TRANSFER_WINDOW = _code(7014, "a command past the transfer registers of its context")
RESERVED_ERRATUM_69 = _code(7015, "an RBUF element whose copies go wrong")
RESERVED_THREAD_ENTRY = _code(7016, "an entry for a receive thread that cannot be")
RESERVED_CONTROL_WORD = _code(7017, "a transmit control word that cannot be")
RESERVED_MSF_MODE = _code(7018, "a mode of the media interface that is not modelled")
RESERVED_SIGNAL_LOST = _code(7019, "a signal raised while it was still set")
RESERVED_SHORT_GET = _code(7020, "a get of more words than the ring held")
RESERVED_UNALIGNED = _code(7021, "a DRAM address that is no multiple of 8")

# 8xxx the isa/ files
ISA_SYNTAX = _code(8001, "an .isa file does not follow the format")
ISA_BLOCK = _code(8002, "a block of an .isa file does not hold together")
ISA_COLUMNS = _code(8003, "a word layout does not account for all 40 bits")
ISA_OVERLAP = _code(8004, "two encodings overlap")
ISA_INVERSE = _code(8005, "encoding and decoding are not inverse")
ISA_EXAMPLE = _code(8006, "an example is missing or does not assemble to its word")
ISA_PROVENANCE = _code(8007, "a fact has no source or confidence")
ISA_EXEMPTION = _code(8008, "an exemption is no longer needed")
ISA_SEMANTICS = _code(8009, "semantics use something that is not declared")
