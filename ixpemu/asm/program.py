"""The program as the front end of the assembler hands it over: resolved names, unallocated registers, and facts about data flow.

Everything the text said is here and nothing is decided that allocation decides: a register operand names a `Symbol` and has no
number, a constant may be a `Deferred` expression over addresses, labels are indexes of instructions. The back end reads this and
never the source text. No value here knows an encoding.

How names look. A symbol's unique name is prefix, scope, `!`, spelling: `l0000!count`, `@l0000!total`, `$l0001!rsw0`,
`$$l0001!packet[3]`, `n$l0000!from_rx`, signal `l0001!done`. Scope l0000 is the file itself: undeclared and `global` names live
there; each `.begin` opens a scope with the next number. An aggregate has no symbol of its own, only its members have. Registers
and signals have separate tables, so `l0000!x` may be a register and a signal at once. Labels keep their `#`: `loop#`, and
`m0003!loop#` for the label of the third macro expansion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from ixpemu.asm.expressions import AddressOf, Expression, evaluate
from ixpemu.diagnostics import MacroFrame, Origin, Sources, Span
from ixpemu.image_links import NamedMemory
from ixpemu.isa.model import Constant, Operation, Register, RegisterClass


class Half(Enum):
    """Which of the two physical files a transfer register name stands for; BOTH for an unqualified name and for other classes."""

    BOTH = "both"
    READ = "read"           # the *_IN file: filled by commands, read by instructions
    WRITE = "write"         # the *_OUT file: written by instructions, drained by commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferred(Constant):
    """A constant whose value depends on allocation, e.g. `(0x80 | (&sig << 3))`: a `Constant` wherever one may stand.

    Its inherited `value` is 0 and means nothing. Every name in it is a symbol with `address_taken`, or a label. `resolve` gives
    the plain `Constant`; the back end does so for every operand before encoding, and only then can tell whether the value fits.
    """

    expression: Expression

    def resolve(self, address_of: Callable[[AddressOf], int]) -> Constant:
        """The constant, once `address_of` can tell each number; raises `expressions.ExpressionError`."""
        return Constant(evaluate(self.expression, address_of), self.text)


@dataclass(frozen=True, slots=True)
class Fixed:
    """The place that the text gives a name: a number, a bank of a GPR, or both; None where allocation is free to choose.

    `number` counts as the name's class does: relative to the context for GPRs and transfer registers, 0 to 127 for `@` registers,
    1 to 15 for signals, where it is the even one of a pair. A transfer register has it in both halves. An `@` register with a
    number has a bank too, and nothing but a GPR or an `@` register has a bank.
    """

    number: int | None = None
    bank: str | None = None         # "a" or "b", of GPRs and absolute registers
    origin: Origin | None = None    # of the directive


@dataclass(frozen=True, slots=True)
class Symbol:
    """A register with a name: one GPR, absolute, transfer or next-neighbour register, or one member of an aggregate.

    One symbol may still become several physical registers: allocation is per live range, except that a symbol with
    `address_taken` or `volatile` keeps one number everywhere (per half), since somebody else uses it by number.
    """

    name: str                       # the unique name, see above: what `Register.name` holds
    spelling: str                   # as written: `$rsw0`, `x[3]`
    cls: RegisterClass              # GPR, ABSOLUTE, SRAM, DRAM or NEIGHBOR
    half: Half = Half.BOTH
    volatile: bool = False          # never shares its number, live everywhere
    aggregate: str | None = None    # unique name of the aggregate this is a member of, e.g. `$l0000!buffer`
    index: int | None = None        # its place there
    declared: bool = True           # False: used without a `.reg`
    address_taken: bool = False     # occurs as `&name`
    origin: Origin | None = None    # of the declaration, or of the first use
    fixed: Fixed | None = None      # .addr, .areg, .breg, .reg_addr
    visible: bool = False           # other microengines may use it by number; `address_taken` too
    remote: bool = False            # it is another microengine's: no instruction names it, only `&` does


@dataclass(frozen=True, slots=True)
class SignalSymbol:
    """An event signal with a name. Signals are always declared."""

    name: str                       # unique: what `isa.model.Signal.name` holds
    spelling: str
    volatile: bool = False          # never shares its number
    address_taken: bool = False
    origin: Origin | None = None
    fixed: Fixed | None = None      # .addr
    visible: bool = False
    remote: bool = False


class FactKind(Enum):
    """What a flow directive says about the point in the program where it stands."""

    SET = "set"                     # .set / .set_rd / .set_wr: the register gets a value here that no instruction shows
    USE = "use"                     # .use / .use_rd / .use_wr: the register is read here by something no instruction shows
    SET_SIGNAL = "set_sig"          # .set_sig: the signal will be raised by something no instruction shows
    IO_COMPLETED = "io_completed"   # .io_completed: the transfers that raise this signal are done here
    INITIAL = "initial"             # .init: the register has a value before the program begins
    REENTRY = "reentry"             # .reentry: control may come here from outside of what the text shows; `name` is empty


@dataclass(frozen=True, slots=True)
class FlowFact:
    """One name of one flow directive. It holds immediately before the instruction it is attached to.

    `name` is a `Symbol` name for SET and USE and a `SignalSymbol` name for those of signals. `half` narrows SET and USE
    of a transfer register: without further word `.set $x` means the read half and `.use $x` the write half, if there are both.
    """

    kind: FactKind
    name: str
    half: Half
    origin: Origin


@dataclass(slots=True)
class Instruction:
    """One word to be.

    `operation` is the instruction with virtual registers: `Register(cls, name=symbol)`, `Signal(None, symbol)`, `Target(None,
    label)`, `Deferred` constants; indexed registers (`*l$index0[3]`, `*$index++`, `*n$index`) have no symbol and are complete.
    In a `.physical` program all is complete but the targets. `word` is the 40-bit value of a `.word` directive (its operation
    is `Operation(".word")`, physical programs only). `operand_origins` and `token_origins` run parallel to `operation.operands`
    and `operation.tokens`: where to put the caret.
    """

    operation: Operation
    origin: Origin
    operand_origins: tuple[Origin, ...] = ()
    token_origins: tuple[Origin, ...] = ()
    labels: tuple[str, ...] = ()
    facts: tuple[FlowFact, ...] = ()        # hold just before this instruction, in source order
    source: str = ""                        # the statement after preprocessing, on one line
    word: int | None = None
    expansion: int = 0                      # of `Program.expansions`; 0: in no macro


@dataclass(frozen=True, slots=True)
class Expansion:
    """One expansion of a macro: its name, where it was called, and the number of the expansion that called it, 0 for none."""

    macro: str
    call: Span
    parent: int


@dataclass(frozen=True, slots=True)
class XferOrder:
    """`.xfer_order`: the symbols in consecutive register numbers, in this order, in the halves named.

    An aggregate given by its name alone stands for all its members. Each member has a symbol, whether an instruction names it
    or not.
    """

    names: tuple[str, ...]
    half: Half
    origin: Origin


@dataclass(frozen=True, slots=True)
class InitialValues:
    """`.init`, `.init_ctx`, `.init_csr`: `target` is the name of a memory or a local CSR, or the unique name of a register;
    `half` says which half of a transfer register. `context` is -1 for all."""

    kind: str               # "memory", "register" or "csr", as in `ixpemu.image_links.Initial`
    target: str
    values: tuple[Expression, ...]
    offset: int
    context: int
    half: Half
    origin: Origin


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """`.assert` of something that is not known before registers have their numbers, or before the program is linked."""

    expression: Expression
    message: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Subroutine:
    """`.subroutine` ... `.endsub`: instructions `first` to `behind` - 1 are called with a return address, and return there."""

    first: int
    behind: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class Probe:
    """`.probe NAME, KEY`: from instruction `index` on this context works on the packet whose handle is in `key`.

    It emits no word. `key` is read at `index`, i.e. it is live there; None where the directive names no key.
    """

    name: str
    index: int
    key: Register | None
    origin: Origin


@dataclass(slots=True)
class Program:
    """A whole translation unit. Every label in `labels` and every name in an operand exists; no error was found in it so far.

    `labels` gives the index of the instruction that follows; a label at the very end has `len(instructions)`. `end_facts` are
    flow facts behind the last instruction. In a `.physical` program an undefined `lN#` is word N and comes as `Target(N,
    "lN#")`.
    """

    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    signals: dict[str, SignalSymbol] = field(default_factory=dict)
    declarations: list[tuple[str, Origin]] = field(default_factory=list)    # names of .reg and .sig, used or not
    xfer_orders: list[XferOrder] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)            # .import_var
    memories: list[NamedMemory] = field(default_factory=list)   # .local_mem, .global_mem
    initial: list[InitialValues] = field(default_factory=list)
    checks: list[LinkCheck] = field(default_factory=list)
    subroutines: list[Subroutine] = field(default_factory=list)
    made_labels: set[str] = field(default_factory=set)      # of structured control: no jump leads there but its own branches
    end_facts: tuple[FlowFact, ...] = ()
    kept: frozenset[tuple[str, int, tuple[MacroFrame, ...]]] = frozenset()     # places at which nothing is to be moved
    expansions: list[Expansion] = field(default_factory=list)   # number n is `expansions[n - 1]`, in the order of the calls
    contexts: int = 8                       # 8 or 4
    physical: bool = False
    sources: Sources = field(default_factory=Sources)
