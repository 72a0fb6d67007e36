"""Run-time conditions made by chance: as text for the assembler, and as what they are worth by plain Python integers.

The interpreter shares nothing with the assembler: it walks its own tree, left to right, and leaves off where C would. Testing a
signal that is there takes it away, which tells a condition evaluated too far from one left in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

MASK = 0xFFFF_FFFF
EDGES = (
    0, 1, 2, 3, 5, 7, 8, 0x7F, 0x80, 0xFE, 0xFF, 0x100, 0x101, 0x1234, 0xFF00, 0xFFFF, 0x10000, 0x12345678, 0x7FFFFFFE,
    0x7FFFFFFF, 0x80000000, 0x80000001, 0xFF000000, 0xFFFF0000, 0xFFFFFE00, 0xFFFFFEFF, 0xFFFFFF00, 0xFFFFFF01, 0xFFFFFFFD,
    0xFFFFFFFE, 0xFFFFFFFF,
)
LEFT, RIGHT = ("p0", "p1", "@s"), ("q0", "q1")      # never two of one row together, so that any condition has its banks
ELSEWHERE = ("$x", "$$y", "n$n", "*l$index0[2]", "*l$index0[9]", "*l$index1[1]")
SIGNALS = ("one", "two")


@dataclass
class State:
    """What a condition reads."""

    registers: dict[str, int]
    signals: set[str] = field(default_factory=set)
    context: int = 0


Value = Callable[[State], int]
Truth = Callable[[State, bool], bool]


@dataclass(frozen=True)
class Number:
    """An expression: its text, and its value."""

    text: str
    value: Value
    side: str = ""      # which row of registers is in it: "l", "r", "" for neither
    constant: bool = False


@dataclass(frozen=True)
class Test:
    """A condition: its text, and whether it holds; `signed` as the directive has it. `loose`: 0 an atom, 1 &&, 2 ||."""

    __test__ = False
    text: str
    holds: Truth
    loose: int = 0


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _constants() -> st.SearchStrategy[Number]:
    return st.builds(_constant, st.sampled_from(EDGES) | st.integers(0, MASK), st.booleans())


def _constant(value: int, negative: bool) -> Number:
    text = str(_signed(value)) if negative and value >> 31 else hex(value)
    return Number(f"({text})" if text.startswith("-") else text, lambda _: value, constant=True)


def _registers(side: str) -> st.SearchStrategy[Number]:
    names = {"l": LEFT, "r": RIGHT}[side]
    return st.sampled_from([*names, *ELSEWHERE]).map(
        lambda name: Number(name, lambda state: state.registers[name], side if name in names else "")
    )


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "+": lambda a, b: a + b, "-": lambda a, b: a - b,
}


def _operated(operator: str, left: Number, right: Number) -> Number:
    operation = _OPERATIONS[operator]
    return Number(f"({left.text} {operator} {right.text})", lambda state: operation(left.value(state), right.value(state)) & MASK)


def _shifted(register: Number, amount: int, right: bool) -> Number:
    def value(state: State) -> int:
        return register.value(state) >> amount if right else register.value(state) << amount & MASK

    return Number(f"({register.text} {'>>' if right else '<<'} {amount})", value)


def _changed(register: Number, sign: str) -> Number:
    change = {"~": lambda value: ~value, "-": lambda value: -value}[sign]
    return Number(f"({sign}{register.text})", lambda state: change(register.value(state)) & MASK)


def _byte(register: Number, byte: int) -> Number:
    return Number(f"BYTE({register.text}, {byte})", lambda state: register.value(state) >> 8 * byte & 0xFF)


def numbers(side: str) -> st.SearchStrategy[Number]:
    """Expressions with registers in them."""
    register, other = _registers(side), {"l": "r", "r": "l"}[side]
    operators = st.sampled_from(list(_OPERATIONS))
    return st.one_of(
        register, register,
        st.builds(_operated, operators, register, _constants()), st.builds(_operated, operators, _constants(), register),
        st.builds(_operated, operators, register, _registers(other)),
        st.builds(_shifted, register, st.integers(0, 31), st.booleans()), st.builds(_changed, register, st.sampled_from("~-")),
        st.builds(_operated, operators, st.builds(_shifted, register, st.integers(0, 31), st.booleans()), _constants()),
    )


_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}


def _compared(left: Number, relation: str, right: Number) -> Test:
    compare = _RELATIONS[relation]

    def holds(state: State, signed: bool) -> bool:
        a, b = left.value(state), right.value(state)
        return compare(_signed(a), _signed(b)) if signed else compare(a, b)

    return Test(f"{left.text} {relation} {right.text}", holds)


def _masked(register: Number, mask: int, shift: int, relation: str, value: int, exchanged: bool) -> Test:
    """`(x & mask) == value` with a value that the mask lets through more often than chance would have it."""
    inner = _shifted(register, shift, True) if shift else register
    left = Number(f"({inner.text} & {mask:#x})", lambda state: inner.value(state) & mask)
    right = Number(hex(value & mask), lambda _: value & mask)
    return _compared(right, relation, left) if exchanged else _compared(left, relation, right)


def _bit(register: Number, bit: int) -> Test:
    return Test(f"BIT({register.text}, {bit})", lambda state, _: bool(register.value(state) >> bit & 1))


def _take(state: State, name: str) -> bool:
    if name not in state.signals:
        return False
    state.signals.remove(name)
    return True


def _signal(name: str) -> Test:
    return Test(f"SIGNAL({name})", lambda state, _: _take(state, name))


def _against(test: Test, equal: bool, one: bool, exchanged: bool) -> Test:
    sign = "==" if equal else "!="
    text = f"{int(one)} {sign} ({test.text})" if exchanged else f"({test.text}) {sign} {int(one)}"
    return Test(text, lambda state, signed: test.holds(state, signed) is (equal is one))


def _bare(number: Number) -> Test:
    return Test(number.text, lambda state, _: number.value(state) != 0)


def leaves() -> st.SearchStrategy[Test]:
    """Conditions without logic."""
    relations = st.sampled_from(list(_RELATIONS))
    context = Number("CTX()", lambda state: state.context)
    masks = st.one_of(
        st.integers(0, 31).map(lambda bit: 1 << bit), st.integers(0, 3).map(lambda byte: 0xFF << 8 * byte),
        st.tuples(st.integers(1, 255), st.integers(0, 24)).map(lambda pair: pair[0] << pair[1]), st.sampled_from(EDGES[1:]),
    )
    bytes_ = st.builds(_byte, _registers("l"), st.integers(0, 3))
    return st.one_of(
        st.builds(_compared, numbers("l"), relations, numbers("r")),
        st.builds(_compared, numbers("l"), relations, _constants()), st.builds(_compared, _constants(), relations, numbers("r")),
        st.builds(_masked, _registers("l"), masks, st.sampled_from((0, 0, 1, 8, 13)), st.sampled_from(("==", "!=")),
                  st.sampled_from(EDGES) | st.just(MASK), st.booleans()),
        numbers("r").map(_bare), st.builds(_bit, _registers("l"), st.integers(0, 31)), st.sampled_from(SIGNALS).map(_signal),
        st.builds(_compared, bytes_, relations, st.integers(0, 300).map(lambda value: _constant(value, False))),
        st.builds(_compared, bytes_, relations, _registers("r")),
        st.builds(_compared, st.builds(_byte, _registers("r"), st.just(0)), relations, bytes_),
        st.builds(_compared, st.just(context), relations, st.integers(0, 8).map(lambda value: _constant(value, False))),
        st.builds(_compared, st.integers(0, 8).map(lambda value: _constant(value, False)), relations, st.just(context)),
        st.builds(_compared, _constants(), relations, _constants()), st.just(Test("INP_STATE(NN_EMPTY)", lambda *_: True)),
        st.just(Test("INP_STATE(fci_full)", lambda *_: False)),
    )


def _joined(operator: str, left: Test, right: Test) -> Test:
    loose = 1 if operator == "&&" else 2
    parts = [f"({part.text})" if part.loose > loose else part.text for part in (left, right)]
    if operator == "&&":
        return Test(" && ".join(parts), lambda state, signed: left.holds(state, signed) and right.holds(state, signed), loose)
    return Test(" || ".join(parts), lambda state, signed: left.holds(state, signed) or right.holds(state, signed), loose)


def conditions() -> st.SearchStrategy[Test]:
    """Conditions of every form."""
    true_or_false = leaves().filter(lambda test: any(sign in test.text for sign in ("SIG", "BIT", "< ", "INP")))
    return st.recursive(
        leaves() | st.builds(_against, true_or_false, st.booleans(), st.booleans(), st.booleans()),
        lambda inner: st.one_of(
            st.builds(_joined, st.sampled_from(("&&", "||")), inner, inner),
            inner.map(lambda test: Test(f"!({test.text})", lambda state, signed: not test.holds(state, signed))),
        ),
        max_leaves=5,
    )
