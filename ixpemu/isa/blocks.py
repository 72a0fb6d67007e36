"""The shape of the instruction set once loaded: blocks, forms, operand and token specifications, variants, facts.

Values only. The loader makes them from isa/*.isa; the codec, the assembler and the engine's generator read them. Nothing in here
knows an instruction by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ixpemu.diagnostics import Span
from ixpemu.isa.model import Nothing, Operand, Operation, RegisterClass
from ixpemu.isa.semantics import Statement

if TYPE_CHECKING:
    from ixpemu.isa.codec import Codec
    from ixpemu.isa.fields import Field
    from ixpemu.isa.tables import OperandTable

Words = Sequence[tuple[int, tuple[str, ...]]]       # numbers and their spellings


class Role(Enum):
    """What an instruction does with an operand."""

    READ = "read"                       # a source register or constant
    WRITE = "write"                     # a destination
    MODIFY = "modify"                   # read and written (ld_field, immed_w0)
    TRANSFER_IN = "transfer_in"         # first of a run of read-transfer registers that the unit fills
    TRANSFER_OUT = "transfer_out"       # first of a run of write-transfer registers that the unit reads
    TRANSFER_BOTH = "transfer_both"     # both, same numbers (hash, swap, test_and_...)
    SIGNAL = "signal"
    TARGET = "target"                   # a label
    NONE = "none"                       # a word or a number


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """One operand place of a syntax form.

    `kind` says what may stand there:
      "source"       register or constant 0..255 (restricted field: see `restricted`)      "register"   a source, but no constant
      "destination"  register or `--`       "modified"  a register that is read and written (GPR, `@`, local memory)
      "address"      half of an address sum: register or constant 0..127
      "transfer"     transfer register `$`/`$$`, the first of a run
      "word"         one of `words` (an operation, a unit's command, `--`)
      "number"       constant `low`..`high` ("count" likewise; with indirect_ref also `max_N`)
      "immediate"    constant of immed, 32 bits, of a certain shape       "mask"  four digits 0/1, leftmost = byte 3
      "shift"        `<<5 >>5 <<rot5 >>rot5 <<indirect >>indirect` as the form allows (`words` is empty)
      "target"       a label      "signal"   an event signal      "local_csr", "cap_csr"   a CSR name or its address
      "input_state"  one of `words`
    """

    name: str
    kind: str
    role: Role = Role.NONE
    optional: bool = False              # may be left out (only the last ones)
    variadic: bool = False              # one or more (only the last one): ctx_arb's signals
    words: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    bits: int = 0                       # width of the field of a "number" or "count"; 0: not one field
    restricted: bool = False


@dataclass(frozen=True, slots=True)
class TokenSpec:
    """One option token a form accepts. `argument`: None, "signal", "number", "target" or "targets" (any number of labels).
    `needed`: one of the tokens that say so must be there."""

    name: str
    argument: str | None = None
    low: int = 0
    high: int = 0
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """Cycles of a form.

    `issue`: issue slots. `aborted`: fetches squashed when the branch is taken or the context swaps, without defer slots. `early`:
    the same if the condition codes were not set by the instruction just before. `defer`: most defer slots.
    """

    issue: int = 1
    aborted: int = 0
    early: int | None = None
    defer: int = 0
    source: str = ""
    confidence: str = ""


@dataclass(frozen=True, slots=True)
class Variant:
    """One case of the engine's dispatch: a form with its choices made, e.g. "alu.+", "alu_shf.AND.>>indirect", "sram.read".

    `parameters`: names of the decoded numbers its statements read. `reads` / `writes`: operand and state names.
    `action`: the hand-written action, if any; `external`: whether it touches what others can see.
    """

    name: str
    block: str
    choices: Mapping[str, str]
    statements: tuple[Statement, ...]
    parameters: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    condition_codes: str                # the written ones in the order "nzvc", "" for none
    action: str | None
    external: bool
    timing: Timing

    @property
    def private(self) -> bool:
        """Whether it runs without touching anything that others can see."""
        return not self.external


@dataclass(frozen=True, slots=True)
class Form:
    """One syntax of a block with one word layout. The same syntax with other layouts (by the side of a register) is other forms.

    `literals`: (operand index, word) pairs that select the form. `columns` is the layout as written, 40 characters. `fixed_mask`
    and `fixed_bits`: the bits that are the same in every word of the form.
    """

    block: str
    name: str                           # "" if the block has only one
    syntax: str                         # as people write it, e.g. "sram[read, transfer, address_a, address_b, count]"
    mnemonics: tuple[str, ...]
    mnemonic_choice: str | None         # the choice whose word is the mnemonic (bcc: condition)
    operands: tuple[OperandSpec, ...]
    tokens: tuple[TokenSpec, ...]
    literals: tuple[tuple[int, str], ...]
    least_operands: int
    most_operands: int | None           # None: any number
    primary: bool                       # words are read as this syntax, not as a second one of the same layout
    columns: str
    fields: Mapping[str, Field]
    fixed_mask: int
    fixed_bits: int
    codecs: tuple[Codec, ...]
    axes: tuple[str, ...]               # the choices that select the variant, in the order of the keys of `variants`
    variants: Mapping[tuple[str, ...], Variant]
    span: Span
    timing: Timing = field(default_factory=Timing)
    flow: str | None = None             # "swaps": gives up the microengine; "ends": for good; "branches": may go to `target`
    help: Mapping[str, str] = field(default_factory=dict)       # operand -> what to do when it is refused


@dataclass(frozen=True, slots=True)
class Block:
    """One instruction: everything isa/ says about it."""

    name: str
    title: str
    mnemonics: tuple[str, ...]          # canonical spellings and aliases
    forms: tuple[Form, ...]
    variants: tuple[Variant, ...]
    prose: str
    source: str
    confidence: str
    examples: tuple[tuple[str, int], ...]       # text and its word
    refines: str | None                 # decoded in preference to this block, whose words it shares (nop of immed)
    spelling_of: str | None             # only another way to write this block's words; never decoded (load_addr)
    followed_by: str | None             # the block whose instruction must come next, with nothing between (local_csr_rd: immed)
    span: Span


@dataclass(frozen=True, slots=True)
class Transfer:
    """The run of transfer registers a command uses.

    `count` is in registers (a dram unit is two). `indirect`: the previous ALU result may override it; `count` is then the most
    that may be touched (`max_N`, or the word's own count).
    """

    operand: int | None                 # operand index; None for forms without a transfer register
    direction: str                      # "in", "out" or "both"
    cls: RegisterClass | None           # SRAM or DRAM
    count: int
    indirect: bool
    words: int = 1                      # registers that one of the written count stands for
    filled: int | None = None           # registers it fills, where those are not `count` as well: the status of a put

    def registers(self, fills: bool) -> int:
        """How many registers it fills, or reads."""
        return self.filled if fills and self.filled is not None else self.count


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """How control leaves: `targets` are operand indexes that hold labels. `indirect`: computed (jump, rtn); the `targets[...]`
    token, if written, lists where it may go. `resume`: the target is where a context goes on after a swap (ctx_arb's br)."""

    conditional: bool
    targets: tuple[int, ...]
    indirect: bool
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What an operation does to registers, signals and control flow; operand numbers index `Operation.operands`.

    Works on operations whose registers have no number yet. Transfer registers of commands are in `transfer` only.
    """

    reads: tuple[int, ...] = ()             # register operands read as a source (a modified one is in both)
    writes: tuple[int, ...] = ()            # register operands written
    pair: tuple[int, int] | None = None     # the two operands that share the A and B ports (either may be a constant)
    copies: tuple[int, int] | None = None   # (written operand, read operand) where the one becomes what the other is
    restricted: frozenset[int] = frozenset()    # operands in 8-bit fields
    transfer: Transfer | None = None
    signal: tuple[int, int] | None = None   # (token index, argument index) that names the completion signal
    signal_pair: bool = False               # it raises an even/odd pair
    waits: tuple[tuple[int | None, int], ...] = ()   # (token index or None for an operand, index) of the signals waited for
    waits_any: bool = False
    swaps: bool = False                     # gives up the microengine here
    consumes: int | None = None             # operand index of a signal that is tested and cleared (br_signal)
    arrived_when_taken: bool = False        # where it has come: at the branch target, else behind the branch
    branch: BranchFacts | None = None
    resume: tuple[int, int] | None = None   # (token index, argument index) of the label where it goes on after the swap
    reads_cc: bool = False
    writes_cc: bool = False
    reads_previous: bool = False            # uses the A operand or the result of the instruction just before
    writes_previous: bool = False
    defer: int = 0
    defer_limit: int = 0
    issue: int = 1
    aborted: int = 0
    ends: bool = False                      # never falls through: halt, kill, br, jump, rtn (after its defer slots)
    followed_by: str | None = None          # the block of the instruction that must come next


@dataclass(frozen=True, slots=True)
class Decoded:
    """A word, read.

    `operands`: register or constant operands by semantic name (`a`, `b`, `dest`, `source`, `register`, `address_a`, `address_b`,
    `transfer`), sides undone; `--` as a destination is `Nothing`, as a source it is what hardware reads all the same (a0).
    `values`: decoded numbers by name: `amount`, `mask`, `byte_mask`, `value` (immediate), `count` (as executed, in the unit's own
    units), `signal` (0: none), `completion` (0 ctx_swap, 1 sig_done or none), `defer`, `target`, `address`, `csr`, `signals`
    (mask), `any`, `resume`, `indirect_ref`, `context`, `state`, `bit`, `byte`, `compare`, `keys`.
    `canonical`: encoding `operation` gives the same word again.
    """

    word: int
    block: Block
    form: Form
    variant: Variant
    operation: Operation
    facts: Facts
    canonical: bool
    operands: Mapping[str, Operand]
    values: Mapping[str, int]

    def operand(self, name: str) -> Operand:
        """The operand of that semantic name, `Nothing()` if the form has none."""
        return self.operands.get(name, Nothing())

    def value(self, name: str, default: int = 0) -> int:
        """The decoded number of that name, `default` if the form has none."""
        return self.values.get(name, default)


@dataclass(frozen=True, slots=True)
class CsrField:
    """A field of a control and status register: bits `high`..`low`."""

    name: str
    high: int
    low: int
    prose: str = ""


@dataclass(frozen=True, slots=True)
class Csr:
    """A control and status register. `space`: "local" (address in bytes inside the microengine's window), "cap", "msf", "sram".

    `private`: access runs without touching what others can see. `shadow`: instructions that must lie between a write and a use;
    `shadow_old`: the old value stays valid meanwhile. `indirect`: CSR_CTX_POINTER selects whose copy it is.
    """

    name: str
    space: str
    address: int
    prose: str
    source: str
    confidence: str
    fields: tuple[CsrField, ...] = ()
    reset: int = 0
    private: bool = False
    indirect: bool = False
    shadow: int = 0
    shadow_old: bool = False
    access: str = "rw"
    aliases: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a folder of `.isa` files says."""

    blocks: dict[str, Block]
    tables: dict[str, OperandTable]
    words: dict[str, Words]
    csrs: tuple[Csr, ...]
    provenance: dict[str, tuple[str, str]]          # of tables and word lists: source and confidence


class EncodingError(Exception):
    """An operation that has no word. `operand_index` / `token_index` say which part is wrong, `help` what to do."""

    def __init__(
        self, message: str, operand_index: int | None = None, token_index: int | None = None, help: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.operand_index = operand_index
        self.token_index = token_index
        self.help = help
