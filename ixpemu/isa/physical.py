"""The spelling of physical registers, constants and whole instructions in `.physical` text: parsing and printing.

One instruction at a time, no label definitions, no expressions, no macros: those are the assembler's.
"""

from __future__ import annotations

import re

from ixpemu.isa.blocks import EncodingError
from ixpemu.isa.model import (
    Constant,
    Nothing,
    Operand,
    Operation,
    Register,
    RegisterClass,
    Signal,
    Target,
    Token,
    Word,
)

_REGISTER = re.compile(
    r"(?P<at>@?)(?P<bank>[ab])(?P<gpr>\d+)"
    r"|(?P<prefix>\$\$|\$|n\$)(?P<number>\d+)"
    r"|\*l\$index(?P<pointer>[01])(?:\[(?P<offset>\d+)\]|(?P<lm_post>\+\+|--))?"
    r"|\*(?P<index>\$\$|\$|n\$)index(?P<post>\+\+|--)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|0b[01]+|\d+)", re.IGNORECASE)
_SIGNAL = re.compile(r"s(\d+)", re.IGNORECASE)
_TARGET = re.compile(r"[A-Za-z_][\w.]*#")
_NUMBERED_TARGET = re.compile(r"l(\d+)#")
_INSTRUCTION = re.compile(r"\s*([^\s\[,]+)\s*")
_POST = {None: 0, "++": 1, "--": -1}
_PREFIX = {"$": RegisterClass.SRAM, "$$": RegisterClass.DRAM, "n$": RegisterClass.NEIGHBOR}
_INDEX = {"$": RegisterClass.SRAM_INDEX, "$$": RegisterClass.DRAM_INDEX, "n$": RegisterClass.NEIGHBOR_INDEX}
_SPELLING = {cls: prefix for classes in (_PREFIX, _INDEX) for prefix, cls in classes.items()}


def _register(match: re.Match[str]) -> Register:
    if match["gpr"] is not None:
        cls = RegisterClass.ABSOLUTE if match["at"] else RegisterClass.GPR
        return Register(cls, int(match["gpr"]), match["bank"].lower())
    if match["number"] is not None:
        return Register(_PREFIX[match["prefix"].lower()], int(match["number"]))
    if match["pointer"] is not None:
        post = _POST[match["lm_post"]]
        # A post-modified access has no offset; the bare spelling is offset 0.
        number = None if post else int(match["offset"] or 0)
        return Register(RegisterClass.LOCAL_MEMORY, number, pointer=int(match["pointer"]), post=post)
    return Register(_INDEX[match["index"].lower()], post=_POST[match["post"]])


def parse_number(text: str) -> int | None:
    """The value of a decimal, `0x` or `0b` number modulo 2**32, or None if `text` is none."""
    if _NUMBER.fullmatch(text) is None:
        return None
    digits = text.lstrip("-").lower()
    value = int(digits, 16) if digits.startswith("0x") else int(digits, 2) if digits.startswith("0b") else int(digits, 10)
    return (-value if text.startswith("-") else value) & 0xFFFFFFFF


def parse_physical_operand(text: str) -> Operand:
    """The operand that `text` spells: `a0 b0 @a0 @b0 $0 $$0 n$0 s1 *l$index0[3] *$index++ 0x10 -- l12#`.

    A label that is not `l` and a number is a `Target` without address. Anything else is a `Word`: an operation, a CSR, a command,
    a shift. A byte mask such as `0011` comes out as a `Constant`; its codec takes the digits from `text`.
    """
    text = text.strip()
    if text == "--":
        return Nothing()
    if (match := _REGISTER.fullmatch(text)) is not None:
        return _register(match)
    if (value := parse_number(text)) is not None:
        return Constant(value, text)
    if (match := _SIGNAL.fullmatch(text)) is not None:
        return Signal(int(match[1]))
    if (match := _NUMBERED_TARGET.fullmatch(text)) is not None:
        return Target(int(match[1]))
    if _TARGET.fullmatch(text) is not None:
        return Target(None, text)
    return Word(text)


def _bracketed(text: str, start: int) -> tuple[tuple[Operand, ...], int]:
    """The operands of `[...]` that opens at `start`, and the index behind it. Offsets `[3]` nest."""
    depth = 0
    pieces: list[str] = []
    begin = start + 1
    for i in range(start, len(text)):
        if text[i] == "[":
            depth += 1
        elif text[i] == "]":
            depth -= 1
        if (text[i] == "," and depth == 1) or depth == 0:
            pieces.append(text[begin:i].strip())
            begin = i + 1
        if depth == 0:
            if any(not piece for piece in pieces):
                raise EncodingError(f"an operand is missing in {text[start:i + 1]!r}")
            return tuple(parse_physical_operand(piece) for piece in pieces), i + 1
    raise EncodingError(f"`]` is missing in {text!r}")


def parse_physical_instruction(text: str) -> Operation:
    """One instruction of physical text, e.g. `sram[read, $1, a2, 0, 2], ctx_swap[s4]`. Raises `EncodingError`."""
    tokens: list[tuple[str, tuple[Operand, ...]]] = []
    at = 0
    while True:
        match = _INSTRUCTION.match(text, at)
        if match is None:
            raise EncodingError(f"expected an instruction or an option in {text!r}")
        at = match.end()
        arguments: tuple[Operand, ...] = ()
        if at < len(text) and text[at] == "[":
            arguments, at = _bracketed(text, at)
        tokens.append((match[1], arguments))
        rest = text[at:].lstrip()
        if not rest:
            break
        if not rest.startswith(","):
            raise EncodingError(f"expected `,` before {rest!r}")
        at = len(text) - len(rest) + 1
    (mnemonic, operands), options = tokens[0], tokens[1:]
    return Operation(mnemonic, operands, tuple(Token(name, arguments) for name, arguments in options))


def format_number(value: int, *, decimal: bool = False) -> str:
    """A constant as the disassembler writes it: hexadecimal from 10 up unless `decimal`."""
    return str(value) if decimal or value < 10 else hex(value)


def format_register(register: Register) -> str:
    """The physical spelling; the source's name where there is no number yet."""
    cls, post = register.cls, {0: "", 1: "++", -1: "--"}[register.post]
    if cls is RegisterClass.LOCAL_MEMORY:
        return f"*l$index{register.pointer}" + (post or f"[{register.number or 0}]")
    if cls in (RegisterClass.SRAM_INDEX, RegisterClass.DRAM_INDEX, RegisterClass.NEIGHBOR_INDEX):
        return f"*{_SPELLING[cls]}index{post}"
    if register.number is None:
        return register.name or "?"
    if cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE):
        return f"{'@' if cls is RegisterClass.ABSOLUTE else ''}{register.bank or '?'}{register.number}"
    return f"{_SPELLING[cls]}{register.number}"


def format_operand(operand: Operand, *, decimal: bool = False) -> str:
    """An operand as physical text; `decimal` for counts, bit numbers and the like."""
    match operand:
        case Register():
            return format_register(operand)
        case Constant():
            return format_number(operand.value, decimal=decimal)
        case Target():
            return operand.name if operand.name is not None else f"l{operand.address}#"
        case Signal():
            return f"s{operand.number}" if operand.number is not None else operand.name or "?"
        case Word():
            return operand.text
        case Nothing():
            return "--"


def format_operation(mnemonic: str, operands: list[str], tokens: tuple[Token, ...]) -> str:
    """An instruction line from formatted operands and option tokens."""
    text = f"{mnemonic}[{', '.join(operands)}]" if operands else mnemonic
    for token in tokens:
        text += f", {token.name}"
        if token.arguments:
            text += f"[{', '.join(format_operand(argument, decimal=True) for argument in token.arguments)}]"
    return text
