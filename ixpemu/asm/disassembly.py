"""Words back to text: `.physical` source that assembles to the same words.

What a word means is isa/'s; here are only labels, and `.word` for the words that no text gives.
"""

from __future__ import annotations

from collections.abc import Iterable

from ixpemu.image import Image
from ixpemu.isa import InstructionSet, instruction_set
from ixpemu.isa.model import Operation, Target


def disassemble(image: Image | Iterable[int], contexts: int = 8) -> str:
    """Text of an image, or of plain words for `contexts` contexts (an image knows its own).

    Labels are `lN#`, N being the word's address. A word that the assembler would not make from its own reading is written as
    `.word`, with the reading as a comment where it has one.
    """
    isa = instruction_set()
    if isinstance(image, Image):
        words, contexts = image.values, image.contexts
    else:
        words = Image.from_words(image, contexts).values
    lines, targets = [], set()
    for word in words:
        text, reached = _line(isa, word, contexts)
        targets |= reached
        lines.append(text)
    out = [".physical", *([".num_contexts 4"] if contexts == 4 else [])]
    for address, text in enumerate([*lines, ""]):
        if address in targets:
            out.append(f"l{address}#:")
        if text:
            out.append(f"    {text}")
    return "\n".join(out) + "\n"


def _line(isa: InstructionSet, word: int, contexts: int) -> tuple[str, set[int]]:
    """The text of one word, and the addresses it names."""
    decoded = isa.decode(word, contexts)
    if decoded is None:
        return f".word 0x{word:010x}    ; no legal instruction", set()
    text = isa.format(decoded.operation)
    if not decoded.canonical:
        return f".word 0x{word:010x}    ; {text}", set()
    return text, set(_targets(decoded.operation))


def _targets(operation: Operation) -> Iterable[int]:
    arguments = (argument for token in operation.tokens for argument in token.arguments)
    for operand in (*operation.operands, *arguments):
        if isinstance(operand, Target) and operand.address is not None:
            yield operand.address
