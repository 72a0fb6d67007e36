"""The rules behind reserved behaviour: for each kind that the engine reports its number, what the hardware says, what to do.

docs/reserved.md is made from this. It decides nothing: what offends is found in `ixpemu.engine`, where each kind has a RESERVED_*
number; the same number is the key here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import MappingProxyType

from ixpemu import arguments, codes
from ixpemu.diagnostics import user_error
from ixpemu.engine import layout as e
from ixpemu.isa import instruction_set


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of reserved behaviour. `name` is what short lists call it; `about` words the number that an event carries.

    `rule` and `advice` are sentences. `source` and `confidence` (H, M, L, assumed) are the hardware fact's. `fatal`: the machine
    cannot go on from there, whatever is allowed. `register`: the number of an event is a place in the register file.
    """

    kind: int
    code: int
    name: str
    about: Callable[[int], str]
    rule: str
    advice: str
    source: str
    confidence: str
    fatal: bool = False
    register: bool = False

    @property
    def label(self) -> str:
        """The code as people write it, e.g. `IXP7003`."""
        return f"IXP{self.code:04d}"


def _hex(value: int) -> str:
    return f"{value:#x}"


def _nothing(_: int) -> str:
    return ""


def _ring(value: int) -> str:
    return f"ring {value}" if value < 16 else f"BASE {value:#x}"


def _ring_base(value: int) -> str:
    return f"BASE {value:#x}"


def _entry(value: int) -> str:
    return f"entry {value}"


def _words(value: int) -> str:
    return f"word address {value:#x}"


def _element(value: int) -> str:
    return f"element {value}"


def _signals(value: int) -> str:
    """A mask of event signals by number: `signal 3`, `signals 4 5`."""
    numbers = [str(k) for k in range(1, 16) if value >> k & 1]
    return f"signal{'s' if len(numbers) > 1 else ''} {' '.join(numbers)}"


def register_name(index: int, ctx: int) -> str:
    """A word of the register file as context `ctx` writes it: `a3`, `$12`, `@b40`."""
    prefix = next(text for limit, text in _REGISTERS if index < limit)
    number = (index & 127) - 16 * ctx
    if 0 <= number < 32 and (number < 16 or ctx % 2 == 0):
        return f"{prefix}{number}"
    return f"{'@' if index < e.SRAM_IN else ''}{prefix}{index & 127}"


_REGISTERS = ((e.GPR_B, "a"), (e.SRAM_IN, "b"), (e.DRAM_IN, "$"), (e.NEIGHBOR, "$$"), (e.LOCAL_MEMORY, "n$"))


def _address(value: int) -> str:
    return f"address {value:#x}"


def _target(value: int) -> str:
    me, ctx, signal = value >> 8 & 0xF, value >> 4 & 0xF, value & 0xF
    return f"signal {signal}, context {ctx}" + (f", microengine {me}" if me < 8 else ", no microengine")


def _not_modelled(value: int) -> str:
    if value >> 16:
        return "input FCI_FULL" if value & 1 else "input FCI_NOT_EMPTY"
    names = {csr.address: csr.name for csr in instruction_set().csrs if csr.space == "msf"}
    return f"MSF register {names.get(value, f'{value:#x}')}"


_RULES = (
    Rule(e.RESERVED_ILLEGAL, codes.RESERVED_ILLEGAL, "", _hex,
         "The word is no instruction.",
         "look at what was loaded: a jump into data, a wrong context mode, or a word made for another chip",
         "public decoders of the instruction set", "H", fatal=True),
    Rule(e.RESERVED_STORE_END, codes.RESERVED_STORE_END, "", _nothing,
         "Nothing was loaded there: the hardware would execute whatever the control store holds.",
         "end every path with a branch, ctx_arb[kill] or halt; check the range of jump and rtn",
         "Linux microengine loader, which fills up behind a program", "H", fatal=True),
    Rule(e.RESERVED_UNPOPULATED, codes.RESERVED_UNPOPULATED, "", _address,
         "An access past the memory that is fitted is unpredictable; here it goes to the beginning of that memory.",
         "check the address and the chip file's memory sizes",
         "HRM, SRAM addressing", "H"),
    Rule(e.RESERVED_RING_OVERFLOW, codes.RESERVED_RING_OVERFLOW, "", _ring,
         "A put is never refused: on a full ring it overwrites the oldest words.",
         "test the ring's status with br_inp_state before the put, with room for what other threads may put meanwhile",
         "public receive program, which tests before it puts", "M"),
    Rule(e.RESERVED_LOCAL_MEMORY, codes.RESERVED_LOCAL_MEMORY, "", lambda word: f"word {word:#x}",
         "Local memory has 640 words; pointers reach 1,024 and nothing is behind the rest.",
         "check what was written to LM_ADDR: it is a byte address, and an offset is OR-ed to it",
         "HRM, local memory", "H"),
    Rule(e.RESERVED_CSR_READ, codes.RESERVED_CSR_READ, "", lambda csr: f"CSR {csr:#x}",
         "local_csr_rd hands its value to the immed that follows it at once; without one the value is lost.",
         "write  immed[register, 0]  directly behind it",
         "words of real IXP2400 programs", "H"),
    Rule(e.RESERVED_DEFER, codes.RESERVED_DEFER, "", _nothing,
         "A taken branch or a swap in a defer slot of another one is defined nowhere; here the later one wins.",
         "move it out of the slot, or use fewer defer slots",
         "no public program does it", "assumed"),
    Rule(e.RESERVED_COMMAND, codes.RESERVED_COMMAND, "", _hex,
         "The word is an instruction of the chip that is not modelled here.",
         "docs/reference/support.md lists what is there",
         "this emulator", "assumed", fatal=True),
    Rule(e.RESERVED_RING_BASE, codes.RESERVED_RING_BASE, "", _ring,
         "A ring lies inside scratch memory, and has to be set up before it is used.",
         "write the ring's BASE register with a size and a base that fit into 16 KB, before the first put",
         "Linux network driver, which sets up rings", "H"),
    Rule(e.RESERVED_ELEMENT, codes.RESERVED_ELEMENT, "", _element,
         "An RBUF element may be freed only when it exists and was handed out; the control register waits for all of them.",
         "free each element once, after its data was copied",
         "Linux network driver", "H"),
    Rule(e.RESERVED_THREADS, codes.RESERVED_THREADS, "", lambda entry: f"entry {entry:#x}",
         "A receive free list has room for so many threads; one more is lost.",
         "let each thread put itself on the list only after its last element has come",
         "HRM, receive thread free lists", "M"),
    Rule(e.RESERVED_TRANSMIT, codes.RESERVED_TRANSMIT, "", lambda value: f"{value:#x}",
         "Transmit elements are filled strictly in order, each with a valid length and port, and not before it was sent.",
         "take the element's number from a counter of your own, and keep away from TX_SEQUENCE by at most 96 of 128",
         "public transmit program, Linux network driver", "H"),
    Rule(e.RESERVED_OVERRIDE, codes.RESERVED_OVERRIDE, "", _hex,
         "An indirect_ref that overrides the microengine or the context has to name one that exists.",
         "build the word anew: microengine in [30:26] with bit 31, context in [2:0] with bit 3",
         "recollection of the indirect_ref word", "L"),
    Rule(e.RESERVED_TRANSFER_WINDOW, codes.RESERVED_TRANSFER_WINDOW, "", lambda words: f"{words} words",
         "A command's words lie in the transfer registers of one context; a count past the last of them is not defined.",
         "use a lower register or a smaller count",
         "HRM, transfer registers; the wrap is not documented", "assumed"),
    Rule(e.RESERVED_ERRATUM_69, codes.RESERVED_ERRATUM_69, "", _element,
         "Copies from some RBUF elements to DRAM go wrong on the IXP2400 (erratum 69), so these are never put on the free list.",
         "leave out 9, 18 and 27 of 64 bytes, 4, 9 and 13 of 128, 2, 4 and 6 of 256",
         "Linux network driver", "H"),
    Rule(e.RESERVED_THREAD_ENTRY, codes.RESERVED_THREAD_ENTRY, "", lambda entry: f"entry {entry:#x}",
         "A receive thread's entry names a signal and two transfer registers of a context that there is.",
         "signal in [15:12], not 0; register in [3:0], not the last one; with 4 contexts an even one in [6:4]",
         "public receive program", "H"),
    Rule(e.RESERVED_CONTROL_WORD, codes.RESERVED_CONTROL_WORD, "", lambda word: f"word {word:#x}",
         "A transmit control word says a payload that fits its element; its second word and its reserved bits are 0.",
         "check length, offsets and prepend against the element size, and write 0 behind it",
         "HRM and the public transmit program", "H"),
    Rule(e.RESERVED_MSF_MODE, codes.RESERVED_MSF_MODE, "", _hex,
         "The control register asks for a mode that is not modelled here: CSIX, UTOPIA, or a width for other media.",
         "docs/media.md says which modes there are",
         "this emulator", "assumed"),
    Rule(e.RESERVED_SIGNAL_LOST, codes.RESERVED_SIGNAL_LOST, "", _signals,
         "A signal is one bit: raised again before it was waited for or tested, the second time is lost.",
         "wait for it (or clear it by br_signal) before what raises it is started again; waking on any clears nothing, and a "
         "wait for one half of a pair leaves the other half set",
         "HRM, event signals", "H"),
    Rule(e.RESERVED_SHORT_GET, codes.RESERVED_SHORT_GET, "", _ring,
         "What a get returns beyond the words that the ring held is not specified; here it is 0. An empty ring gives only 0.",
         "put and get the same number of words at a time",
         "public programs poll for 0; the rest is not written down", "assumed"),
    Rule(e.RESERVED_UNALIGNED, codes.RESERVED_UNALIGNED, "", _address,
         "DRAM is addressed in units of 8 bytes; the low three bits of an address are ignored.",
         "align the address to 8, and take the bytes you want out of the transfer registers",
         "HRM, DRAM addressing", "H"),
    Rule(e.RESERVED_UNWRITTEN, codes.RESERVED_UNWRITTEN, "", _hex,
         "After reset registers hold anything; only what was written, or has come for a command, may be read.",
         "write it on every path that leads here, or use what the loader sets up",
         "Linux and other loaders, which clear registers explicitly", "H", register=True),
    Rule(e.RESERVED_IN_FLIGHT_READ, codes.RESERVED_IN_FLIGHT_READ, "", _hex,
         "What a command brings is in its transfer registers only once its signal has come; until then they hold either value.",
         "wait for the command's signal first: ctx_swap, ctx_arb or br_signal",
         "HRM, transfer registers and signals", "H", register=True),
    Rule(e.RESERVED_IN_FLIGHT_WRITE, codes.RESERVED_IN_FLIGHT_WRITE, "", _hex,
         "A transfer register belongs to its command until the signal: a unit takes or fills it at a time of its own.",
         "wait for the signal of the command under way, or use another register; only the defer slots of the command's own "
         "ctx_swap may still write what it takes",
         "HRM, transfer registers and signals", "H", register=True),
    Rule(e.RESERVED_FLAGS_SWAPPED, codes.RESERVED_FLAGS_SWAPPED, "", _nothing,
         "No source says that condition codes survive giving up the microengine; other threads set them meanwhile.",
         "compare again behind the swap",
         "no program of the vendor relies on it", "L"),
    Rule(e.RESERVED_FLAGS_DOUBTFUL, codes.RESERVED_FLAGS_DOUBTFUL, "", _nothing,
         "C and V are certain after additions and subtractions only; that others clear both is inferred from a descendant.",
         "use a branch on N and Z (beq, bne, bmi, bpl), or compare with a subtraction",
         "cost model of the descendant; nothing on the IXP2400", "M"),
    Rule(e.RESERVED_SIGN, codes.RESERVED_SIGN, "", _hex,
         "asr shifts in bit 31 of the previous instruction's result and not that of its own operand.",
         "move the operand just before:  alu[--, --, B, x]  then  asr[y, x, >>n]",
         "the descendant's compiler, library and cost model", "M"),
    Rule(e.RESERVED_NO_PREVIOUS_A, codes.RESERVED_NO_PREVIOUS_A, "", _nothing,
         "An indirect shift takes its amount from the A operand of the instruction just before, if that is a logical one.",
         "put  alu[--, amount, OR, 0]  directly before it",
         "cost model and library of the descendant", "M"),
    Rule(e.RESERVED_NO_PREVIOUS_RESULT, codes.RESERVED_NO_PREVIOUS_RESULT, "", _nothing,
         "indirect_ref and the ALU form of fast_wr take the result of the instruction just before, which has to be one that "
         "has a result: no branch, no command, no CSR access, no swap.",
         "build the word in the instruction directly before the command",
         "public receive and transmit programs", "M"),
    Rule(e.RESERVED_SHADOW, codes.RESERVED_SHADOW, "", _nothing,
         "Three instructions have to lie between writing this CSR and using it; what it holds meanwhile is not defined.",
         "move the write up, or put other work (or nop) between",
         "register description of the descendant; HRM for the delay", "M"),
    Rule(e.RESERVED_T_INDEX_SWAPPED, codes.RESERVED_T_INDEX_SWAPPED, "", _hex,
         "There is one T_INDEX for all contexts of a microengine: after a swap it may be another one's.",
         "write T_INDEX again behind every swap, three instructions before it is used",
         "HRM, transfer register indexing; the descendant's libraries do so", "H"),
    Rule(e.RESERVED_T_INDEX_WINDOW, codes.RESERVED_T_INDEX_WINDOW, "", lambda place: f"register {place >> 2} of 128",
         "T_INDEX counts the transfer registers of all contexts; moved past its own, a context uses those of another.",
         "set it to context x 16 + register (x 4 in bytes), and do not move it further than the registers that you have",
         "HRM, transfer register indexing; the wrap is not documented", "assumed"),
    Rule(e.RESERVED_NEIGHBOR_RING, codes.RESERVED_NEIGHBOR_RING, "", lambda words: f"{words} words on it",
         "A next-neighbour ring holds 128 words: a get from an empty one gives an old word, a put on a full one overwrites.",
         "test NN_EMPTY before the get and NN_FULL before the put",
         "HRM, next-neighbour registers", "M"),
    Rule(e.RESERVED_NO_NEIGHBOR, codes.RESERVED_NO_NEIGHBOR, "", _nothing,
         "The first microengine has no previous one and the last no next one: what is sent there is lost.",
         "put the program on another microengine, or use a ring in scratch memory",
         "HRM, next-neighbour chain", "H"),
    Rule(e.RESERVED_RANDOM, codes.RESERVED_RANDOM, "", _nothing,
         "The random number generator has to be seeded with something that is not 0; until then it gives 0 for ever.",
         "write PSEUDO_RANDOM_NUMBER once, the timestamp for instance",
         "register description of the descendant", "M"),
    Rule(e.RESERVED_MULTIPLIER, codes.RESERVED_MULTIPLIER, "", lambda bits: f"{bits} bits",
         "The hash multipliers hold anything after reset; here 0, by which every key hashes to 0.",
         "have the XScale set the multiplier before the microengines start",
         "HRM, hash unit", "H"),
    Rule(e.RESERVED_STORE_RUNNING, codes.RESERVED_STORE_RUNNING, "", lambda address: f"instruction {address}",
         "A control store may be written only while no context of its microengine can run.",
         "clear the context enables first, and wait until it is idle; a program cannot change itself",
         "Linux and other loaders", "H"),
    Rule(e.RESERVED_QUEUE_UNSET, codes.RESERVED_QUEUE_UNSET, "", _entry,
         "An entry of the queue array holds what was in it at reset until a descriptor is loaded; a command uses its head, "
         "tail or count before.",
         "load it first: rd_qdesc_head or rd_qdesc_tail, and rd_qdesc_other for the rest; or let the XScale set it up",
         "HRM, queue array", "M"),
    Rule(e.RESERVED_QUEUE_LINK, codes.RESERVED_QUEUE_LINK, "", _entry,
         "Address 0 is NIL, the end of a chain: no buffer can be there, and a queue whose count is not 0 does not end.",
         "do not enqueue address 0; link a chain before its tail is enqueued; the end bit of each packet's last buffer lowers "
         "the count",
         "HRM, queue array", "M"),
    Rule(e.RESERVED_QUEUE_TAIL, codes.RESERVED_QUEUE_TAIL, "", _entry,
         "enqueue_tail moves the tail along a chain whose first buffer was enqueued before; an empty queue has none.",
         "enqueue the first buffer of the packet, then enqueue_tail its last",
         "HRM, queue array", "M"),
    Rule(e.RESERVED_DESCRIPTOR, codes.RESERVED_DESCRIPTOR, "", _words,
         "A queue descriptor is on a multiple of 16 bytes, 4 words.",
         "align the descriptors; a descriptor command has a word address in bits 23:0, not a byte address",
         "HRM, queue descriptors", "H"),
    Rule(e.RESERVED_QUEUE_SHORT, codes.RESERVED_QUEUE_SHORT, "", _entry,
         "What a get returns beyond the words that the ring held is not specified; here it is 0. An empty ring gives only 0.",
         "put and get the same number of words at a time",
         "as for scratch rings", "assumed"),
    Rule(e.RESERVED_RING_ALIGNMENT, codes.RESERVED_RING_ALIGNMENT, "", _ring_base,
         "The base of a scratch ring is a multiple of its length in bytes.",
         "place a ring of 128 words on a multiple of 512 bytes, 256 on 1024, 512 on 2048, 1024 on 4096",
         "Linux driver's values; HRM", "M"),
    Rule(e.RESERVED_BUFFER_ALIGNMENT, codes.RESERVED_BUFFER_ALIGNMENT, "", _address,
         "Copies between DRAM and RBUF or TBUF move 8 bytes at a time, from an address in the buffer that is a multiple of 8.",
         "align bits 18:5 of the previous result to 8; a packet that starts elsewhere is sent with the control word's offsets",
         "HRM:250; HRM:65 hints at 4 for TBUF", "M"),
    Rule(e.RESERVED_MULTIPLY, codes.RESERVED_MULTIPLY, "", lambda before: f"after {before} steps of its shape there should be",
         "A multiplication is start, all the steps of one shape with the same two sources, and last, with no swap in between.",
         "write start, step1 to the shape's last step and last one behind the other, with the same sources",
         "public decoders; the descendant's eBPF compiler", "H"),
    Rule(e.RESERVED_MULTIPLY_BETWEEN, codes.RESERVED_MULTIPLY_BETWEEN, "", lambda before: f"before step {before + 1}",
         "Other instructions between the steps of a multiplication are tried in no public program; here they do no harm.",
         "write the steps directly behind each other",
         "no source; assumed to be allowed", "L"),
    Rule(e.RESERVED_MULTIPLY_WIDE, codes.RESERVED_MULTIPLY_WIDE, "", _hex,
         "The product of operands wider than 24 and 8 bits, or 16 and 16, is not defined for the shapes 24x8 and 16x16.",
         "mask the operands first, or multiply by 32x32",
         "an executable model of the descendant, for 16x16; 24x8 by its name", "M"),
    Rule(e.RESERVED_POP_COUNT, codes.RESERVED_POP_COUNT, "", _hex,
         "pop_count1, pop_count2 and pop_count3 follow each other directly and have the same source.",
         "write the three one behind the other, with nothing between them",
         "public decoders; a use in the descendant's code", "H"),
    Rule(e.RESERVED_FIND_FIRST, codes.RESERVED_FIND_FIRST, "", _nothing,
         "What ffs gives for a word without a 1 is specified nowhere; here it is 0.",
         "branch away before it when the word is 0",
         "the descendant's code, which always does", "H"),
    Rule(e.RESERVED_ALIGN_SWAP, codes.RESERVED_ALIGN_SWAP, "", lambda index: f"BYTE_INDEX {index}",
         "The latches of byte_align and BYTE_INDEX are the microengine's: after a swap they may be another context's.",
         "after a swap write BYTE_INDEX again and begin with a byte_align to --",
         "HRM, byte alignment; survival of a swap is documented nowhere", "M"),
    Rule(e.RESERVED_CRC_SWAP, codes.RESERVED_CRC_SWAP, "", lambda value: f"remainder {value:#x}",
         "The CRC unit is the microengine's: a remainder of before a swap may be another context's.",
         "read CRC_REMAINDER before the swap and write it back behind it; set it before the first crc",
         "the descendant's libraries, where this was a bug", "H"),
    Rule(e.RESERVED_CRC_EARLY, codes.RESERVED_CRC_EARLY, "", lambda value: f"remainder {value:#x}",
         "The remainder of a crc can be read three cycles later; before that it is undefined. Here it is the new one at once.",
         "let two other instructions come between the last crc and local_csr_rd[CRC_REMAINDER]",
         "the descendant's libraries", "M"),
    Rule(e.RESERVED_CAM_EQUAL, codes.RESERVED_CAM_EQUAL, "", lambda tag: f"tag {tag:#x}",
         "Which of several entries with the same tag answers a lookup is undefined; here it is the lowest. A CAM that was only "
         "cleared is no offence.",
         "write each tag to one entry only; after cam_clear all others hold the tag 0, so keep off it or fill all entries",
         "HRM, CAM", "H"),
    Rule(e.RESERVED_CAM_TAKEN, codes.RESERVED_CAM_TAKEN, "", lambda entry: f"entry {entry}",
         "The CAM is shared by all contexts: the entry that a lookup named may be another's after a swap, as a miss does not "
         "reserve it.",
         "write the entry before you swap, with a state that says that it is being filled; or look it up again behind the swap",
         "HRM, CAM, of which a miss changes nothing", "M"),
    Rule(e.RESERVED_STORE_CLOSED, codes.RESERVED_STORE_CLOSED, "", _hex,
         "USTORE_DATA_UPPER stores a word only while USTORE_ADDRESS has bit 31 set, access from outside.",
         "write the address with bit 31 first; without it nothing is stored",
         "Linux microengine loader", "H"),
    Rule(e.RESERVED_SIGNAL, codes.RESERVED_SIGNAL, "", _target,
         "A signal has a number from 1 to 15 and goes to a context that there is: an even one of four, none before the first "
         "microengine and none behind the last.",
         "signal in [6:3] and context in [2:0] of the neighbour registers; of INTERTHREAD_SIGNAL [10:7], [6:4], [3:0]",
         "HRM, event signals", "H"),
    Rule(e.RESERVED_REFLECTOR, codes.RESERVED_REFLECTOR, "", _address,
         "A computed address of cap is a CSR (0x4000 on), transfer registers (0x8000 on) or local CSRs (0x18000 on) of a "
         "microengine that there is: cluster in bit 14, number in bits 13 to 10. Elsewhere reads give 0 and writes are lost.",
         "check the sum of the two address operands",
         "HRM, CSR access proxy", "M"),
    Rule(e.RESERVED_PCI, codes.RESERVED_PCI, "", _address,
         "The PCI unit has configuration registers at 0xde000000, CSRs at 0xdf000000 and the bus from 0xe0000000 on, where only "
         "the host memory answers. Elsewhere on the bus reads give all ones, and writes are lost.",
         "check the address, bits 15 to 13 of PCI_ADDR_EXT, which are the top of a bus address, and pci.host_bytes",
         "Linux PCI driver; the host memory is this emulator's", "M"),
    Rule(e.RESERVED_NOT_MODELLED, codes.RESERVED_NOT_MODELLED, "", _not_modelled,
         "Flow control, its FIFO (the inputs FCI_NOT_EMPTY and FCI_FULL, which are 0), CSIX, polling of fewer ports than the "
         "board has, high-water marks and interrupts of the media interface are not modelled: registers keep what is written "
         "and do nothing, and their status is 0.",
         "do without, or allow the code where nothing depends on it; docs/reference/support.md lists what is not modelled",
         "this emulator", "assumed"),
)


def _named(rule: Rule) -> Rule:
    return Rule(rule.kind, rule.code, e.RESERVED_NAMES[rule.kind], rule.about, rule.rule, rule.advice, rule.source,
                rule.confidence, rule.fatal, rule.register)


RULES = MappingProxyType({rule.kind: _named(rule) for rule in _RULES})
"""By RESERVED_* kind, in the order of the codes."""


def allowed_kinds(allow: Iterable[str]) -> int:
    """The mask of kinds for codes as people write them (`IXP7003`, `7003`). UserError for one that does not exist."""
    known = {rule.label: rule for rule in RULES.values()}
    mask = 0
    for text in arguments.texts("the codes that are allowed", allow):
        name = str(text).strip().upper()
        rule = known.get(name if name.startswith("IXP") else f"IXP{name}")
        if rule is None:
            raise user_error(codes.ARGUMENT, f"there is no reserved behaviour {text!r}",
                             help=f"codes from {min(known)} to {max(known)}; docs/reserved.md lists them")
        if rule.fatal:
            raise user_error(codes.ARGUMENT, f"{rule.label} cannot be allowed: {rule.name}",
                             help="the machine cannot go on from there")
        mask |= 1 << rule.kind
    return mask
