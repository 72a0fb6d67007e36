"""Constant expressions against what C makes of them on 32 bits: trees are written with no more parentheses than C needs, and
worked out here by the two's complement values of the tree."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from ixpemu.asm.findings import Findings
from ixpemu.asm.preprocess import Preprocessed, preprocess

# How tightly C's operators bind, tightest first.
BINDING = [
    ("*", "/", "%"), ("+", "-"), ("<<", ">>"), ("<", "<=", ">", ">="), ("==", "!="), ("&",), ("^",), ("|",), ("&&",), ("||",),
]
LEVEL = {operator: 10 - index for index, operators in enumerate(BINDING) for operator in operators}
UNARY, ATOM = 11, 12


@dataclass(frozen=True)
class Tree:
    text: str
    level: int
    value: int | None       # of a signed 32-bit int; None where C has none, or the assembler refuses


def wrapped(value):
    return (value + 2**31) % 2**32 - 2**31


def within(tree, level):
    return tree.text if tree.level >= level else f"({tree.text})"


def truncated(a, b):
    return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def binary(operator, a, b):
    if operator in ("&&", "||"):
        if a.value is None:
            return None
        if bool(a.value) == (operator == "||"):
            return int(operator == "||")
        return None if b.value is None else int(b.value != 0)
    x, y = a.value, b.value
    if x is None or y is None:
        return None
    if operator in ("/", "%"):
        quotient = truncated(x, y)
        return None if quotient is None else wrapped(quotient if operator == "/" else x - quotient * y)
    if operator in ("<<", ">>"):
        if not 0 <= y < 32:
            return None
        return wrapped(x * 2**y if operator == "<<" else x % 2**32 // 2**y)
    simple = {
        "*": x * y, "+": x + y, "-": x - y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y,
        "&": x & y, "^": x ^ y, "|": x | y,
    }
    return wrapped(int(simple[operator]))


def combine(operator, a, b):
    level = LEVEL[operator]
    return Tree(f"{within(a, level)} {operator} {within(b, level + 1)}", level, binary(operator, a, b))


def unary(operator, a):
    value = None if a.value is None else wrapped({"-": -a.value, "+": a.value, "~": ~a.value, "!": int(not a.value)}[operator])
    return Tree(f"{operator}{' ' if operator in '+-' else ''}{within(a, UNARY)}", UNARY, value)


def choice(condition, then, otherwise):
    chosen = None if condition.value is None else (then if condition.value else otherwise).value
    return Tree(f"{within(condition, 1)} ? {then.text} : {otherwise.text}", 0, chosen)


def literal(value):
    return st.sampled_from([str(value), f"0x{value:x}", f"0X{value:X}"]).map(lambda text: Tree(text, ATOM, wrapped(value)))


NUMBERS = (st.integers(0, 40) | st.sampled_from([0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF, 0x10000])).flatmap(literal)
TREES = st.recursive(
    NUMBERS,
    lambda trees: st.builds(combine, st.sampled_from(sorted(LEVEL)), trees, trees)
    | st.builds(unary, st.sampled_from("-+~!"), trees)
    | st.builds(choice, trees, trees, trees),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(TREES)
def test_constant_expressions(tree):
    findings = Findings()
    made = preprocess("t.uc", f"#define_eval X {tree.text}\nX", findings, result=Preprocessed())
    if tree.value is None:
        assert [found.label for found in findings.diagnostics] == ["IXP1015"], tree.text
    else:
        assert not findings.diagnostics, tree.text
        assert int(made.lines[0].text) == tree.value % 2**32, tree.text


@settings(max_examples=100, deadline=None)
@given(TREES, TREES)
def test_names_are_text_and_not_values(first, second):
    """`A * B` of names with texts is what the texts say side by side."""
    findings = Findings()
    text = f"#define A {first.text}\n#define B {second.text}\n#define_eval X A * B\n"
    text += f"#define_eval Y {first.text} * {second.text}\nX\nY"
    made = preprocess("t.uc", text, findings, result=Preprocessed())
    values = [line.text for line in made.lines]
    assert values == ["X", "Y"] or values[0] == values[1]
