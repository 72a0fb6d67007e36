"""Text of the LLVM language for the expressions of isa/: what `translation.py` writes a program's instructions with.

A value is the text of an operand of type i32, a name or a number. Nothing here knows instructions or the machine: names are
looked up by the caller's function.
"""

from __future__ import annotations

from collections.abc import Callable

from ixpemu.isa.semantics import Binary, Bits, Call, Expression, Name, Number, Unary

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
SHIFTS = {"<<": "shl", ">>": "lshr"}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}


class NoText(Exception):
    """An expression that cannot be written; the instruction is left to the loop that interprets."""


def number(value: int) -> str:
    """A 32-bit constant."""
    value &= 0xFFFFFFFF
    return str(value - (1 << 32) if value >> 31 else value)


class Text:
    """Lines of a function that is being written, with names given out in turn."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = 0

    def name(self) -> str:
        """A new name for a value."""
        self._names += 1
        return f"%v{self._names}"

    def put(self, instruction: str) -> str:
        """Write an instruction that gives a value; returns its name."""
        name = self.name()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Write an instruction that gives none."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")

    def load(self, kind: str, pointer: str, offset: int) -> str:
        """Load a field that lies `offset` bytes behind a pointer."""
        return self.put(f"load {kind}, ptr {self.at(pointer, offset)}")

    def store(self, kind: str, value: str, pointer: str, offset: int) -> None:
        """Store a field that lies `offset` bytes behind a pointer."""
        self.do(f"store {kind} {value}, ptr {self.at(pointer, offset)}")

    def at(self, pointer: str, offset: int) -> str:
        """The address `offset` bytes behind a pointer."""
        return self.put(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def truth(self, tree: Expression, lookup: Callable[[str], str]) -> str:
        """Whether an expression is not 0, as an i1."""
        match tree:
            case Binary(operator, left, right) if operator in COMPARISONS:
                first, second = self.value(left, lookup), self.value(right, lookup)
                return self.put(f"icmp {COMPARISONS[operator]} i32 {first}, {second}")
        return self.put(f"icmp ne i32 {self.value(tree, lookup)}, 0")

    def value(self, tree: Expression, lookup: Callable[[str], str]) -> str:
        """An expression as an i32; `lookup` gives the value of a name."""
        match tree:
            case Number(constant):
                return number(constant)
            case Name(name):
                return lookup(name)
            case Unary("~", operand):
                return self.put(f"xor i32 {self.value(operand, lookup)}, -1")
            case Unary("-", operand):
                return self.put(f"sub i32 0, {self.value(operand, lookup)}")
            case Binary(operator, left, right) if operator in COMPARISONS:
                return self.put(f"zext i1 {self.truth(tree, lookup)} to i32")
            case Binary(operator, left, right) if operator in SHIFTS:
                places = self.put(f"and i32 {self.value(right, lookup)}, 31")
                return self.put(f"{SHIFTS[operator]} i32 {self.value(left, lookup)}, {places}")
            case Binary(operator, left, right):
                first, second = self.value(left, lookup), self.value(right, lookup)
                return self.put(f"{ARITHMETIC[operator]} i32 {first}, {second}")
            case Bits(operand, high, low):
                moved = self.value(operand, lookup)
                if low:
                    moved = self.put(f"lshr i32 {moved}, {low}")
                return moved if high == 31 else self.put(f"and i32 {moved}, {number((1 << (high - low + 1)) - 1)}")
            case Call(function, arguments):
                return self._call(function, tuple(self.value(argument, lookup) for argument in arguments))
        raise NoText(repr(tree))

    def _call(self, function: str, given: tuple[str, ...]) -> str:
        match function, given:
            case "carry", (x, y, c):
                total = self.put(f"add i64 {self._wide(x)}, {self._wide(y)}")
                total = self.put(f"add i64 {total}, {self._wide(c)}")
                return self.put(f"trunc i64 {self.put(f'lshr i64 {total}, 32')} to i32")
            case "overflow", (x, y, r):
                differs = self.put(f"xor i32 {x}, {r}")
                both = self.put(f"and i32 {differs}, {self.put(f'xor i32 {y}, {r}')}")
                return self.put(f"lshr i32 {both}, 31")
            case "ror", (x, places):
                return self.put(f"call i32 @llvm.fshr.i32(i32 {x}, i32 {x}, i32 {places})")
            case "funnel", (high, low, places):
                joined = self.put(f"or i64 {self.put(f'shl i64 {self._wide(high)}, 32')}, {self._wide(low)}")
                moved = self.put(f"lshr i64 {joined}, {self._wide(places)}")
                return self.put(f"trunc i64 {moved} to i32")
            case "choose", (condition, x, y):
                chosen = self.put(f"icmp ne i32 {condition}, 0")
                return self.put(f"select i1 {chosen}, i32 {x}, i32 {y}")
        raise NoText(function)

    def _wide(self, value: str) -> str:
        """A 32-bit value in 64 bits."""
        return self.put(f"zext i32 {value} to i64")
