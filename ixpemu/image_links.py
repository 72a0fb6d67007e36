"""What an image leaves to the linker and the loader: named memory, imports, names between microengines, initial values.

Values that are known only then are expressions in postfix, words separated by blanks: `buffers 4 + 8 >>`. A word is a number, an
operator of C (`neg` is the sign, `?:` takes three), the name of an import or of named memory, or `remote:name` with `@n` for the
microengine behind it. Nothing here knows an instruction; who gives the values is `ixpemu.link_values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

MASK = 0xFFFF_FFFF
LOCAL_MEMORY = "local"
# Regions of named memory. Local memory belongs to one microengine, so the assembler gives its addresses.
REGIONS = (LOCAL_MEMORY, "scratch", "sram0", "sram1", "sram2", "sram3", "dram")


def channel_base(region: str) -> int:
    """What addresses of a region have in bits 31 and 30: the channel of SRAM (manual of the IXP2800, confidence H), else 0."""
    return int(region[-1]) << 30 if region.startswith("sram") else 0


@dataclass(frozen=True, slots=True)
class NamedMemory:
    """`.local_mem` or `.global_mem`: `size` bytes of `region` at a multiple of `align`. A `shared` one is the same for all images
    that name it. `address` in bytes, as programs use it (`channel_base`), is None until the linker gives one."""

    name: str
    region: str
    size: int
    align: int = 4
    shared: bool = False
    address: int | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """A `visible` register (`kind` "register", "read" or "write") or "signal", and its physical places, separated by blanks."""

    name: str
    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Fixup:
    """A word whose constants are not known: its instruction with 0 in their place; of each the operand, from 0, and expression.
    """

    address: int
    text: str
    values: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Initial:
    """Values before the program starts. `kind` "memory": words from `offset` bytes behind the start of `target` on; "register": a
    physical register `target` of context `context`, or of all (-1); "csr": a local CSR. `values` are expressions."""

    kind: str
    target: str
    values: tuple[str, ...]
    offset: int = 0
    context: int = -1


@dataclass(frozen=True, slots=True)
class Check:
    """An `.assert` for the linker: `expression` has to be other than 0."""

    expression: str
    message: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Links:
    """All of it. `imports` are the names of `.import_var`."""

    imports: tuple[str, ...] = ()
    memories: tuple[NamedMemory, ...] = ()
    exports: tuple[Export, ...] = ()
    fixups: tuple[Fixup, ...] = ()
    initial: tuple[Initial, ...] = ()
    checks: tuple[Check, ...] = ()

    def __bool__(self) -> bool:
        return any((self.imports, self.memories, self.exports, self.fixups, self.initial, self.checks))

    def unresolved(self) -> tuple[str, ...]:
        """The names that still have to get a value, each once, in the order in which they occur."""
        expressions = [value for fixup in self.fixups for _, value in fixup.values]
        expressions += [value for one in self.initial for value in one.values]
        expressions += [one.expression for one in self.checks]
        waiting = [one.target for one in self.initial if one.kind == "memory" and self.memory(one.target).address is None]
        return tuple(dict.fromkeys([name for value in expressions for name in names_in(value)] + waiting))

    def memory(self, name: str) -> NamedMemory:
        """The named memory; it is there for everything that mentions it."""
        return next(one for one in self.memories if one.name == name)


def signed(value: int) -> int:
    """The 32-bit pattern as a two's complement number."""
    return value - (1 << 32) if value & 0x8000_0000 else value


def _divided(left: int, right: int) -> tuple[int, int]:
    a, b = signed(left), signed(right)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


_UNARY: dict[str, Callable[[int], int]] = {"neg": lambda a: -a, "~": lambda a: ~a, "!": lambda a: int(not a)}
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b, "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b, "<<": lambda a, b: a << b if b < 32 else 0, ">>": lambda a, b: a >> b,
    "/": lambda a, b: _divided(a, b)[0], "%": lambda a, b: _divided(a, b)[1],
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "<": lambda a, b: int(signed(a) < signed(b)),
    "<=": lambda a, b: int(signed(a) <= signed(b)), ">": lambda a, b: int(signed(a) > signed(b)),
    ">=": lambda a, b: int(signed(a) >= signed(b)), "&&": lambda a, b: int(bool(a and b)), "||": lambda a, b: int(bool(a or b)),
}
_CHOICE = "?:"


def _is_name(word: str) -> bool:
    return word not in _UNARY and word not in _BINARY and word != _CHOICE and not word[:1].isdigit()


def names_in(expression: str) -> list[str]:
    """The names of a postfix expression."""
    return [word for word in expression.split() if _is_name(word)]


def is_well_formed(expression: str) -> bool:
    """Whether a text is a postfix expression."""
    depth = 0
    for word in expression.split():
        needs = 1 if word in _UNARY else 2 if word in _BINARY else 3 if word == _CHOICE else 0
        if depth < needs or (word[:1].isdigit() and _number(word) is None):
            return False
        depth += 1 - needs
    return depth == 1


def _number(word: str) -> int | None:
    try:
        value = int(word, 0)
    except ValueError:
        return None
    return value if 0 <= value <= MASK else None


def evaluate(expression: str, values: Mapping[str, int]) -> int | None:
    """The value of a well-formed postfix expression, 32 bits; None while one of its names has none. ZeroDivisionError."""
    stack: list[int] = []
    for word in expression.split():
        if word in _UNARY:
            stack.append(_UNARY[word](stack.pop()) & MASK)
        elif word in _BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(_BINARY[word](left, right) & MASK)
        elif word == _CHOICE:
            otherwise, then, condition = stack.pop(), stack.pop(), stack.pop()
            stack.append(then if condition else otherwise)
        elif _is_name(word):
            if word not in values:
                return None
            stack.append(values[word] & MASK)
        else:
            stack.append(_number(word) or 0)
    return stack[-1]


def unknown_names(given: Iterable[str], links: Links) -> list[str]:
    """Those of the names that the image does not know."""
    known = {*links.imports, *(one.name for one in links.memories), *links.unresolved()}
    return [name for name in given if name not in known]
