"""A program of physical names as one of names, as far as commands go: `$3` is a register called `$3`, `s2` a signal called `s2`.

So that what a command uses while it is under way can be looked at in both kinds of program in the same way. General purpose
registers keep their numbers and get no names. Nothing is allocated from this.
"""

from __future__ import annotations

from dataclasses import replace

from ixpemu.asm.program import Half, Instruction, Program, SignalSymbol, Symbol, XferOrder
from ixpemu.isa.model import Operand, Operation, Register, RegisterClass, Signal, Token
from ixpemu.isa.physical import format_operand

_TRANSFER = (RegisterClass.SRAM, RegisterClass.DRAM)
_SIGNALS = range(1, 16)


def with_names(program: Program) -> Program:
    """The program with names for its transfer registers and signals."""
    window = 128 // program.contexts        # registers of a kind that each context has
    named = [Register(cls, number) for cls in _TRANSFER for number in range(window)]
    symbols = {text: Symbol(text, text, one.cls) for one in named for text in (format_operand(one),)}
    signals = {f"s{number}": SignalSymbol(f"s{number}", f"s{number}") for number in _SIGNALS}
    origin = program.instructions[0].origin
    orders = [
        XferOrder(tuple(name for name, symbol in symbols.items() if symbol.cls is cls), Half.BOTH, origin) for cls in _TRANSFER
    ]
    return replace(
        program, instructions=[_named(one, symbols) for one in program.instructions], symbols=symbols, signals=signals,
        xfer_orders=orders, physical=False,
    )


def _named(instruction: Instruction, symbols: dict[str, Symbol]) -> Instruction:
    old = instruction.operation
    operands = tuple(_operand(one, symbols) for one in old.operands)
    tokens = tuple(Token(token.name, tuple(_operand(one, symbols) for one in token.arguments)) for token in old.tokens)
    return replace(instruction, operation=Operation(old.mnemonic, operands, tokens))


def _operand(operand: Operand, symbols: dict[str, Symbol]) -> Operand:
    if isinstance(operand, Signal) and operand.number in _SIGNALS:
        return Signal(operand.number, f"s{operand.number}")
    if isinstance(operand, Register) and operand.cls in _TRANSFER:
        text = format_operand(replace(operand, name=None))
        return replace(operand, name=text) if text in symbols else operand
    return operand
