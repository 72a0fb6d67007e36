"""Allocations made wrong on purpose: another register for a live range, in one word, or the two sources of a word exchanged."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from ixpemu.asm.allocate import Allocation, physical
from ixpemu.asm.banks import Place
from ixpemu.asm.encode import encode
from ixpemu.asm.findings import Findings
from ixpemu.asm.flow import File
from ixpemu.asm.pipeline import Assembly
from ixpemu.isa import Decoded, EncodingError, InstructionSet
from ixpemu.isa.model import Operation, Register, RegisterClass, Signal, Token

KINDS = ("range", "register", "exchange", "signal")


def mutants(assembly: Assembly, isa: InstructionSet, chance: random.Random, count: int) -> Iterator[tuple[str, list[int] | None]]:
    """So many times what was done and the words after it; None where the encoder has no such word."""
    for _ in range(count):
        kind = chance.choice(KINDS)
        yield kind, _range(assembly, isa, chance) if kind == "range" else _word(assembly, isa, chance, kind)


def _range(assembly: Assembly, isa: InstructionSet, chance: random.Random) -> list[int] | None:
    """Another place for one live range, wherever it occurs."""
    allocation = assembly.allocation
    assert allocation.webs is not None
    number = chance.randrange(len(allocation.webs.webs))
    old, contexts = allocation.places[number], assembly.program.contexts
    file = allocation.webs.webs[number].variable.file
    if file in (File.GPR, File.ABSOLUTE):
        place = Place(chance.randrange(128 // contexts if file is File.GPR else 128), chance.choice("ab"))
    else:
        place = Place(chance.randrange(1, 16) if file is File.SIGNAL else chance.randrange(128 // contexts))
    moved = Allocation(assembly.program, allocation.webs, allocation.places | {number: place if place != old else old})
    findings = Findings(limit=1_000_000)
    words = encode(assembly.program, physical(moved, findings), isa, findings)
    return None if findings.errors else words


def _word(assembly: Assembly, isa: InstructionSet, chance: random.Random, kind: str) -> list[int] | None:
    """Another register, or signal, in one word; or its two sources the other way round."""
    words, contexts = list(assembly.image.values), assembly.program.contexts
    for _ in range(50):
        index = chance.randrange(len(words))
        decoded = isa.decode(words[index], contexts)
        assert decoded is not None
        changed = {"register": _register, "exchange": _exchange, "signal": _signal}[kind](decoded, chance, contexts)
        if changed is not None:
            try:
                words[index] = isa.encode(changed, contexts)
            except EncodingError:
                return None
            return words
    return words


def _register(decoded: Decoded, chance: random.Random, contexts: int) -> Operation | None:
    operands = list(decoded.operation.operands)
    places = [
        place for place, one in enumerate(operands) if isinstance(one, Register) and one.number is not None
        and one.cls in (RegisterClass.GPR, RegisterClass.ABSOLUTE, RegisterClass.SRAM, RegisterClass.DRAM)
    ]
    if not places:
        return None
    place = chance.choice(places)
    old = operands[place]
    assert isinstance(old, Register)
    room = 128 if old.cls is RegisterClass.ABSOLUTE else 128 // contexts
    operands[place] = replace(old, number=chance.randrange(room), bank=old.bank and chance.choice([old.bank, *"ab"]))
    return replace(decoded.operation, operands=tuple(operands))


def _exchange(decoded: Decoded, chance: random.Random, contexts: int) -> Operation | None:
    pair, operands = decoded.facts.pair, list(decoded.operation.operands)
    if pair is None or not all(isinstance(operands[place], Register) for place in pair):
        return None
    operands[pair[0]], operands[pair[1]] = operands[pair[1]], operands[pair[0]]
    return replace(decoded.operation, operands=tuple(operands))


def _signal(decoded: Decoded, chance: random.Random, contexts: int) -> Operation | None:
    operands, tokens = list(decoded.operation.operands), list(decoded.operation.tokens)
    places: list[tuple[int | None, int]] = [(None, place) for place, one in enumerate(operands) if isinstance(one, Signal)]
    for number, token in enumerate(tokens):
        places += [(number, place) for place, one in enumerate(token.arguments) if isinstance(one, Signal)]
    if not places:
        return None
    owner, place = chance.choice(places)
    other = Signal(chance.randrange(1, 16))
    if owner is None:
        operands[place] = other
    else:
        arguments = list(tokens[owner].arguments)
        arguments[place] = other
        tokens[owner] = Token(tokens[owner].name, tuple(arguments))
    return Operation(decoded.operation.mnemonic, tuple(operands), tuple(tokens))
