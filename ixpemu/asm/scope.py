"""Names: which declaration a register or signal name means, and which label a branch means.

`.begin`/`.end` scopes nest, inner names hide outer ones, a declaration holds to the end of its block. Registers may be used
without a declaration and then belong to the whole file; signals may not. Labels are not scoped by blocks: they are visible
everywhere, except that those written in a macro belong to one expansion. Every name gets the unique symbol that program.py
describes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ixpemu.asm.expressions import signed
from ixpemu.asm.findings import Findings
from ixpemu.asm.program import Half, SignalSymbol, Symbol
from ixpemu.asm.suggestions import nearest
from ixpemu.asm.syntax import Node
from ixpemu.codes import (
    AGGREGATE,
    DECLARED_TWICE,
    LABEL_TWICE,
    LABEL_UNDEFINED,
    NAME_KIND,
    REGISTER_UNDECLARED,
    SCOPE_UNBALANCED,
    SIGNAL_UNDECLARED,
)
from ixpemu.diagnostics import Edit, Note, Origin
from ixpemu.isa.model import RegisterClass

_PREFIXES = {"$$": RegisterClass.DRAM, "$": RegisterClass.SRAM, "@": RegisterClass.ABSOLUTE, "n$": RegisterClass.NEIGHBOR}
_SPOKEN = {
    RegisterClass.GPR: "general-purpose register", RegisterClass.ABSOLUTE: "absolute register",
    RegisterClass.SRAM: "SRAM transfer register", RegisterClass.DRAM: "DRAM transfer register",
    RegisterClass.NEIGHBOR: "next-neighbour register",
}


class Kind(Enum):
    """The two tables of names."""

    REGISTER = "register"
    SIGNAL = "signal"


def split_prefix(spelling: str) -> tuple[str, str]:
    """`$$data` as (`$$`, `data`); the prefix is in lower case and empty for a plain name."""
    for prefix in ("$$", "$", "@"):
        if spelling.startswith(prefix):
            return prefix, spelling[len(prefix):]
    return ("n$", spelling[2:]) if spelling[:2].lower() == "n$" else ("", spelling)


def register_class(spelling: str) -> RegisterClass:
    """The class that a register's prefix says."""
    return _PREFIXES.get(split_prefix(spelling)[0], RegisterClass.GPR)


def spoken(cls: RegisterClass) -> str:
    """The class in words."""
    return _SPOKEN.get(cls, "indexed register")


def with_article(cls: RegisterClass) -> str:
    """The class in words, with `a` or `an`."""
    return f"{'an' if cls in (RegisterClass.ABSOLUTE, RegisterClass.SRAM) else 'a'} {spoken(cls)}"


@dataclass(frozen=True, slots=True)
class Declaration:
    """One name of a `.reg` or `.sig`. `size` is the number of members of an aggregate, None for a single register."""

    spelling: str
    origin: Origin
    half: Half = Half.BOTH
    volatile: bool = False
    size: int | None = None
    visible: bool = False       # other microengines may use it
    remote: bool = False        # it belongs to another microengine


def _moved(node: Node, place: Node) -> Node:
    """The node with everything in it as if it stood at `place`."""
    return node._replace(start=place.start, end=place.end, children=tuple([_moved(child, place) for child in node.children]))


@dataclass(slots=True)
class _Scope:
    number: int
    origin: Origin | None
    names: dict[Kind, dict[str, Declaration]] = field(default_factory=lambda: {Kind.REGISTER: {}, Kind.SIGNAL: {}})
    synonyms: dict[str, tuple[Node, Origin]] = field(default_factory=dict)


class Scopes:
    """The open scopes while a program is read from top to bottom, and every symbol that was used so far."""

    def __init__(self, findings: Findings, require_declarations: bool = False) -> None:
        self._required = require_declarations
        self.symbols: dict[str, Symbol] = {}
        self.signals: dict[str, SignalSymbol] = {}
        self.trust_signals = False      # a bad `.sig` line: do not complain about undeclared signals
        self._findings = findings
        self._open = [_Scope(0, None)]
        self._count = 1
        self._any_synonyms = False
        self.declared: list[tuple[str, Origin]] = []        # what belongs to this program and is not volatile
        self.linked: dict[str, tuple[str, Origin]] = {}     # in lower case: names of the linker, as declared

    def begin(self, origin: Origin) -> None:
        """Opens a scope."""
        self._open.append(_Scope(self._count, origin))
        self._count += 1

    def end(self, origin: Origin, word: str = ".end") -> None:
        """Closes the innermost scope."""
        if len(self._open) == 1:
            self._findings.error(
                SCOPE_UNBALANCED, f"{word} closes nothing", origin, help="each .end belongs to one .begin before it"
            )
            return
        self._open.pop()

    def finish(self) -> None:
        """Reports the scopes that are still open at the end of the program."""
        for scope in self._open[1:]:
            self._findings.error(SCOPE_UNBALANCED, "this block is never closed", scope.origin, help="end it with .end")

    def declare(self, kind: Kind, declaration: Declaration, everywhere: bool = False) -> None:
        """Enters a name in the innermost scope, or in the file's scope (`everywhere`)."""
        names = self._open[0 if everywhere else -1].names[kind]
        key = declaration.spelling.lower()
        known = names.get(key)
        if known is not None:
            if known.origin == declaration.origin:
                return      # the same line again, by a macro or a loop at file scope
            self._report_twice(declaration.spelling, declaration.origin, known.origin)
            return
        if key in self.linked and (everywhere or len(self._open) == 1):
            self._report_twice(declaration.spelling, declaration.origin, self.linked[key][1])
            return
        synonym = self._open[0 if everywhere else -1].synonyms.get(key)
        if synonym is not None:
            self._report_twice(declaration.spelling, declaration.origin, synonym[1])
            return
        names[key] = declaration
        if not (declaration.volatile or declaration.remote or declaration.visible):
            self.declared.append((declaration.spelling, declaration.origin))

    def _find(self, kind: Kind, spelling: str) -> tuple[_Scope, Declaration] | None:
        key = spelling.lower()
        for scope in reversed(self._open):
            declaration = scope.names[kind].get(key)
            if declaration is not None:
                return scope, declaration
        return None

    def is_declared(self, kind: Kind, spelling: str) -> bool:
        """Whether some open scope declares the name."""
        return self._find(kind, spelling) is not None

    def register(self, spelling: str, index: int | None, origin: Origin) -> Symbol | None:
        """The register that `spelling`, or `spelling[index]`, means here; None after a message."""
        found = self._find(Kind.REGISTER, spelling)
        if found is None:
            return self._undeclared(spelling, index, origin)
        scope, declaration = found
        if index is None and declaration.size is not None:
            self._findings.error(
                AGGREGATE, f"`{spelling}` stands for {declaration.size} registers", origin,
                notes=(Note("it was declared here", declaration.origin),), help=f"name one of them: `{spelling}[0]`",
            )
            return None
        if index is not None and (declaration.size is None or index >= declaration.size):
            if declaration.size is None:
                message = f"`{spelling}` is a single register"
                help_text: str | None = f"declare it as `.reg {spelling}[{min(index + 1, 16)}]`"
            else:
                message = f"`{spelling}[{signed(index)}]` is not in the aggregate, which has 0 to {declaration.size - 1}"
                help_text = None
            self._findings.error(
                AGGREGATE, message, origin, notes=(Note("it was declared here", declaration.origin),), help=help_text
            )
            return None
        return self._symbol(scope.number, declaration, index)

    def synonym(self, name: Node, operand: Node, origin: Origin) -> None:
        """Enters a name for an operand in the innermost scope."""
        scope, key = self._open[-1], name.text.lower()
        for names in scope.names.values():
            if key in names:
                self._report_twice(name.text, origin, names[key].origin)
                return
        known = scope.synonyms.get(key)
        if known is not None and known[1] != origin:
            self._report_twice(name.text, origin, known[1])
            return
        scope.synonyms[key] = operand, origin
        self._any_synonyms = True

    def _report_twice(self, spelling: str, origin: Origin, known: Origin) -> None:
        self._findings.error(
            DECLARED_TWICE, f"`{spelling}` is declared twice in one scope", origin,
            notes=(Note("it was declared here", known),), help="put one of the two uses between .begin and .end",
        )

    def meant(self, node: Node) -> Node:
        """What a name is a synonym of here, moved to where the name stands; any other operand as it is."""
        if node.kind != "name" or not (self._any_synonyms or self.linked):
            return node
        key = node.text.lower()
        for scope in reversed(self._open):
            if key in scope.synonyms:
                return _moved(scope.synonyms[key][0], node)
            if key in scope.names[Kind.REGISTER] or key in scope.names[Kind.SIGNAL]:
                return node
        return node if key not in self.linked else node._replace(kind="linked", text=self.linked[key][0])

    def link(self, spelling: str, origin: Origin) -> bool:
        """Enters a name that the linker knows, for the whole file. Whether it was new; if not, after a message."""
        key = spelling.lower()
        known = self.linked.get(key)
        declared = self._open[0].names[Kind.REGISTER].get(key) or self._open[0].names[Kind.SIGNAL].get(key)
        if declared is not None or (known is not None and known[1] != origin):
            self._report_twice(spelling, origin, declared.origin if declared is not None else known[1] if known else origin)
            return False
        self.linked[key] = spelling, origin
        return known is None

    def members(self, spelling: str, origin: Origin) -> list[Symbol]:
        """All registers that a bare name means: each member of an aggregate, or the one register."""
        found = self._find(Kind.REGISTER, spelling)
        if found is not None and found[1].size is not None:
            return [self._symbol(found[0].number, found[1], index) for index in range(found[1].size)]
        symbol = self.register(spelling, None, origin)
        return [symbol] if symbol is not None else []

    def _symbol(self, scope: int, declaration: Declaration, index: int | None) -> Symbol:
        prefix, base = split_prefix(declaration.spelling)
        unique = f"{prefix}l{scope:04d}!{base}"
        name = unique if index is None else f"{unique}[{index}]"
        symbol = self.symbols.get(name)
        if symbol is None:
            spelling = declaration.spelling if index is None else f"{declaration.spelling}[{index}]"
            symbol = self.symbols[name] = Symbol(
                name, spelling, register_class(declaration.spelling), declaration.half, declaration.volatile,
                None if index is None else unique, index, origin=declaration.origin, address_taken=declaration.visible,
                visible=declaration.visible, remote=declaration.remote,
            )
        return symbol

    def _undeclared(self, spelling: str, index: int | None, origin: Origin) -> Symbol | None:
        signal = self._find(Kind.SIGNAL, spelling)
        if signal is not None:
            self._findings.error(
                NAME_KIND, f"`{spelling}` is a signal, and a register belongs here", origin,
                notes=(Note("it was declared here", signal[1].origin),),
                help=f"`&{spelling}` is the signal's number as a constant",
            )
            return None
        if index is not None:
            self._findings.error(
                AGGREGATE, f"the aggregate `{spelling}` is not declared", origin,
                help=f"declare it: `.reg {spelling}[{index + 1}]`",
            )
            return None
        scope = self._open[0]
        declaration = Declaration(spelling, origin)
        if self._required:
            self._report_undeclared(spelling, origin)
        scope.names[Kind.REGISTER][spelling.lower()] = declaration
        symbol = replace(self._symbol(0, declaration, None), declared=False)
        self.symbols[symbol.name] = symbol
        return symbol

    def _report_undeclared(self, spelling: str, origin: Origin) -> None:
        names = {name: one.spelling for scope in self._open for name, one in scope.names[Kind.REGISTER].items()}
        near = nearest(spelling.lower(), names)
        self._findings.error(
            REGISTER_UNDECLARED, f"the register `{spelling}` is not declared", origin,
            help=f"declare it: `.reg {spelling}`" if near is None else f"did you mean `{names[near.name]}`?",
            edits=() if near is None else near.edits(origin, spelling, names[near.name]),
        )

    def signal(self, spelling: str, origin: Origin, words: Sequence[str] = ()) -> SignalSymbol | None:
        """The signal that `spelling` means here; None after a message. `words` could stand in its place, and may be meant."""
        found = self._find(Kind.SIGNAL, spelling)
        if found is None:
            if not self.trust_signals:
                self._report_signal(spelling, origin, words)
            return None
        scope, declaration = found
        name = f"l{scope.number:04d}!{declaration.spelling}"
        symbol = self.signals.get(name)
        if symbol is None:
            symbol = self.signals[name] = SignalSymbol(
                name, declaration.spelling, declaration.volatile, origin=declaration.origin, address_taken=declaration.visible,
                visible=declaration.visible, remote=declaration.remote,
            )
        return symbol

    def _report_signal(self, spelling: str, origin: Origin, words: Sequence[str]) -> None:
        register = self._find(Kind.REGISTER, spelling)
        if register is not None:
            self._findings.error(
                NAME_KIND, f"`{spelling}` is a register, and a signal belongs here", origin,
                notes=(Note("it was declared here", register[1].origin),),
            )
            return
        names = dict(zip(words, words, strict=True))
        names |= {name: declaration.spelling for scope in self._open for name, declaration in scope.names[Kind.SIGNAL].items()}
        near = nearest(spelling.lower(), names)
        self._findings.error(
            SIGNAL_UNDECLARED, f"the signal `{spelling}` is not declared", origin,
            help=f"declare it: `.sig {spelling}`" if near is None else f"did you mean `{names[near.name]}`?",
            edits=() if near is None else near.edits(origin, spelling, names[near.name]),
        )

    def take_address(self, symbol: Symbol | SignalSymbol) -> None:
        """Notes that the symbol's number is used as a constant."""
        if isinstance(symbol, Symbol):
            self.symbols[symbol.name] = replace(self.symbols[symbol.name], address_taken=True)
        else:
            self.signals[symbol.name] = replace(self.signals[symbol.name], address_taken=True)


@dataclass(frozen=True, slots=True)
class _Label:
    name: str
    origin: Origin


class Labels:
    """The labels of a program. `parents[n]` is the macro expansion that called expansion n, see preprocess.Preprocessed.

    All definitions are entered before the first reference is looked up.
    """

    def __init__(self, findings: Findings, parents: Sequence[int]) -> None:
        self._findings = findings
        self._parents = parents
        self._known: dict[tuple[int, str], _Label] = {}
        self._names: dict[str, list[_Label]] = {}
        self._missing: set[str] = set()
        self._places: dict[str, int] = {}

    def define(self, spelling: str, level: int, origin: Origin) -> str | None:
        """Enters the label `name#`. Returns its unique name; None after a message."""
        key = (level, spelling.lower())
        known = self._known.get(key)
        if known is not None:
            self._findings.error(
                LABEL_TWICE, f"the label `{spelling}` is defined twice", origin,
                notes=(Note("it was defined here", known.origin),),
            )
            return None
        label = _Label(f"m{level:04d}!{spelling}" if level else spelling, origin)
        self._known[key] = label
        self._names.setdefault(spelling.lower(), []).append(label)
        return label.name

    def find(self, spelling: str, level: int) -> str | None:
        """The unique name of the label that `name#` means at a level of expansion, None if there is none."""
        key = spelling.lower()
        if key not in self._names:
            return None
        while True:
            label = self._known.get((level, key))
            if label is not None:
                return label.name
            if level == 0:
                return None
            level = self._parents[level]

    def resolve(self, spelling: str, level: int, origin: Origin) -> str | None:
        """`find`, with a message the first time that a name is not found."""
        name = self.find(spelling, level)
        if name is None and spelling.lower() not in self._missing:
            self._missing.add(spelling.lower())
            hidden = self._names.get(spelling.lower())
            notes: tuple[Note, ...] = ()
            near = nearest(spelling.lower(), self._names)
            edits: tuple[Edit, ...] = ()
            help_text = f"define it with `{spelling}:` before an instruction"
            if near is not None:
                meant = self._names[near.name][0].name
                meant = meant.partition("!")[2] or meant
                help_text, edits = f"did you mean `{meant}`?", near.edits(origin, spelling, meant)
            if hidden:
                edits = ()
                notes = (Note("a macro has a label of this name, but that is its own", hidden[0].origin),)
                help_text = f"define it with `{spelling}:`, or give the macro a label as an argument"
            self._findings.error(
                LABEL_UNDEFINED, f"there is no label `{spelling}`", origin, help=help_text, notes=notes, edits=edits
            )
        return name

    def place(self, name: str, index: int) -> None:
        """Says that a label, by its unique name, stands before instruction `index`."""
        self._places[name] = index

    def table(self) -> Mapping[str, int]:
        """Every label that has its place, and the index of the instruction that follows it."""
        return self._places
