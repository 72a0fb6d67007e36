"""What instructions do: the small expression language of the `do` lines, as a tree, and a plain-Python evaluator of it.

It is not the engine. The engine's generator walks these trees to write compiled code; the evaluator here is slow, obvious and
independent of it, so that tests can compare the two.

Every value is an unsigned 32-bit integer; arithmetic wraps. Comparisons are unsigned and give 0 or 1.

Expressions, loosest binding first (Python's order):

    == != < <= > >=        comparison
    |   ^   &              bitwise
    << >>                  logical shifts by 0..31
    + - *                  modulo 2**32
    ~ -                    complement, negation
    x[i]   x[high:low]     one bit, a run of bits, moved down to bit 0

    carry(x, y, c)         carry out of bit 31 of x + y + c              (c is 0 or 1)
    overflow(x, y, r)      signed overflow of r = x + y [+ c]: ((x ^ r) & (y ^ r))[31]
    ror(x, n)              x rotated right by n, 0..31
    funnel(high, low, n)   the low 32 bits of (high:low) >> n, n in 0..32
    lowest_one(x)          number of the least significant 1 bit; 0 for x = 0
    ones(x)                how many bits of x are 1
    choose(c, x, y)        x if c is not 0, else y; both are evaluated

Names that can be read: the operands of the instruction after any exchange of sides is undone (`a`, `b`, `source`, `dest` where it
is also a source), decoded numbers (`amount`, `mask`, `value`, `bit`, `byte`, `compare`, `address`, ...; those of a variant are in
`Variant.parameters`), the state of `STATE`, and what the block has assigned before (its temporaries, e.g. `r`).
Names that can be assigned: `dest`, the writable state of `STATE`, and temporaries. All reads of operands come before all writes.

Statements besides assignment:

    branch EXPR            go to the decoded `target` if EXPR is not 0
    jump EXPR              go to the control-store address EXPR (modulo the size of the store)
    internal NAME          private to the microengine, but more than an expression: a hand-written action of the engine. What it
                           gives back, if anything, can be read as `result` behind it.
    external NAME          touches what others can see; commits in (cycle, microengine) order: a hand-written action
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MASK32 = 0xFFFFFFFF

# State that expressions can name. `writable`: a `do` line may assign it.
STATE: dict[str, bool] = {
    "cc.n": True, "cc.z": True, "cc.v": True, "cc.c": True,     # condition codes, each 0 or 1
    "previous.a": True,         # A operand of the instruction just before (indirect shift amounts)
    "previous.alu": True,       # result of the instruction just before (asr's sign, indirect_ref, cap fast_wr)
    "previous.align_a": True,   # latch of byte_align_le
    "previous.align_b": True,   # latch of byte_align_be
    "state.byte_index": False,  # local CSR BYTE_INDEX, 0..3
    "ctx": False,               # number of the executing context
    "result": False,            # what the internal action of this instruction has given back
}


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """A read of an operand, a decoded number, a temporary or a piece of state (dotted names)."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`~x` or `-x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, bitwise, shift or comparison; `operator` is its spelling."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Bits:
    """`operand[high:low]`; one bit has high == low."""

    operand: Expression
    high: int
    low: int


@dataclass(frozen=True, slots=True)
class Call:
    """One of `FUNCTIONS`."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Number | Name | Unary | Binary | Bits | Call


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`; target is `dest`, a state name or a temporary."""

    target: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Branch:
    """Go to the decoded target if `condition` is not 0."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Jump:
    """Go to a computed control-store address."""

    address: Expression


@dataclass(frozen=True, slots=True)
class Act:
    """A hand-written action of the engine. `external`: it touches what others can see."""

    action: str
    external: bool


Statement = Assign | Branch | Jump | Act


@dataclass(frozen=True, slots=True)
class Outputs:
    """What one evaluation did. `dest` is None if nothing was assigned to it; `state` holds the assigned state names only."""

    dest: int | None = None
    state: Mapping[str, int] = field(default_factory=dict)
    taken: bool | None = None           # of a branch: taken or not; None if there is none
    jump: int | None = None             # the computed address of a jump
    actions: tuple[Act, ...] = ()


def evaluate(statements: tuple[Statement, ...], inputs: Mapping[str, int]) -> Outputs:
    """Run the statements of a variant on `inputs` (operands, decoded numbers and state by name) and say what they did.

    Raises `KeyError` for a name that `inputs` lacks.
    """
    names = dict(inputs)
    assigned: dict[str, int] = {}
    taken: bool | None = None
    jump: int | None = None
    actions: list[Act] = []
    for step in statements:
        match step:
            case Assign():
                # Reads come before writes: what is assigned to an operand or to state is seen by nobody in this instruction.
                value = value_of(step.value, names)
                if step.target == "dest" or step.target in STATE:
                    assigned[step.target] = value
                else:
                    names[step.target] = value
            case Branch():
                taken = value_of(step.condition, names) != 0
            case Jump():
                jump = value_of(step.address, names)
            case Act():
                actions.append(step)
    dest = assigned.pop("dest", None)
    return Outputs(dest, assigned, taken, jump, tuple(actions))


def value_of(tree: Expression, names: Mapping[str, int]) -> int:
    """The value of an expression, 0..2**32-1."""
    match tree:
        case Number():
            return tree.value
        case Name():
            return names[tree.name] & MASK32
        case Unary():
            value = value_of(tree.operand, names)
            return (~value if tree.operator == "~" else -value) & MASK32
        case Bits():
            return value_of(tree.operand, names) >> tree.low & (1 << tree.high - tree.low + 1) - 1
        case Call():
            return _call(tree.function, [value_of(argument, names) for argument in tree.arguments])
        case Binary():
            return _binary(tree.operator, value_of(tree.left, names), value_of(tree.right, names))


def _binary(operator: str, left: int, right: int) -> int:
    match operator:
        case "+":
            return left + right & MASK32
        case "-":
            return left - right & MASK32
        case "*":
            return left * right & MASK32
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "<<":
            return left << (right & 31) & MASK32
        case ">>":
            return left >> (right & 31)
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
    raise ValueError(f"there is no operator {operator}")


def _call(function: str, given: list[int]) -> int:
    match function, given:
        case "carry", [x, y, c]:
            return x + y + c >> 32
        case "overflow", [x, y, r]:
            return ((x ^ r) & (y ^ r)) >> 31
        case "ror", [x, n]:
            return (x >> (n & 31) | x << 32 - (n & 31)) & MASK32
        case "funnel", [high, low, n]:
            return (high << 32 | low) >> n & MASK32
        case "lowest_one", [x]:
            return (x & -x).bit_length() - 1 if x else 0
        case "ones", [x]:
            return x.bit_count()
        case "choose", [c, x, y]:
            return x if c else y
    raise ValueError(f"there is no function {function} of {len(given)} arguments")
