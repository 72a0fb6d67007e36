"""Every stage of the assembler as text, for looking at what it made: `ixpemu asm --stop-after`.

A stage is run with the stages before it and none behind it, so that the result of a stage can be seen though a later one fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ixpemu import codes
from ixpemu.asm.allocate import Allocation, allocate, live_ranges_of
from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.flow import File, Kind
from ixpemu.asm.front import parse, read_program, read_source
from ixpemu.asm.limits import Limits
from ixpemu.asm.pipeline import back_end
from ixpemu.asm.places import place_text
from ixpemu.asm.preprocess import Preprocessed, preprocess
from ixpemu.asm.preprocess_output import preprocessed_text
from ixpemu.asm.pressure import Pressure, measure
from ixpemu.asm.program import Instruction, Program
from ixpemu.asm.syntax import Node, Statement
from ixpemu.asm.webs import Webs
from ixpemu.diagnostics import AssemblyError, user_error
from ixpemu.isa import instruction_set
from ixpemu.isa.physical import format_operand

_HALF = {File.SRAM_READ: " read", File.SRAM_WRITE: " write", File.DRAM_READ: " read", File.DRAM_WRITE: " write"}
STAGES = ("preprocess", "parse", "scope", "flow", "allocate", "encode")


def stage_text(
    stage: str,
    path: str | Path,
    include: Sequence[str | Path] = (),
    define: Mapping[str, str | int | None] | None = None,
    findings: Findings | None = None,
) -> str:
    """The result of the stage `stage`, one of `STAGES`, for a source file. Warnings are left in `findings`; errors are raised."""
    if stage not in STAGES:
        raise user_error(codes.ARGUMENT, f"there is no stage {stage!r}", help=f"the stages are {', '.join(STAGES)}")
    found = findings if findings is not None else Findings()
    try:
        if stage in ("preprocess", "parse"):
            return _text_stage(stage, str(path), include, define, found)
        program = read_program(path, include=include, define=define, findings=found)
        return _program_stage(stage, program, found)
    except Stopped:
        raise AssemblyError(*found.diagnostics) from None


def pressure(
    path: str | Path, include: Sequence[str | Path] = (), define: Mapping[str, str | int | None] | None = None
) -> Pressure | None:
    """What every word of a source file needs of registers and signals, whether they can be allocated or not.

    None for a `.physical` program. Errors before allocation are raised.
    """
    found = Findings()
    program = read_program(path, include=include, define=define, findings=found)
    if program.physical:
        return None
    isa, limits = instruction_set(), Limits.of_contexts(program.contexts)
    try:
        allocation = allocate(program, isa, found)
        return None if allocation.webs is None else measure(allocation.webs, limits, allocation.places)
    except (AssemblyError, Stopped):
        return measure(live_ranges_of(program, isa, Findings()), limits, None)


def _text_stage(
    stage: str, file: str, include: Sequence[str | Path], define: Mapping[str, str | int | None] | None, findings: Findings
) -> str:
    preprocessed = preprocess(file, read_source(file), findings, include, define, Preprocessed())
    findings.raise_if_errors()
    if stage == "preprocess":
        return preprocessed_text(preprocessed)
    parsed = parse(preprocessed)
    for line in parsed:
        line.report(findings)
    findings.raise_if_errors()
    return "".join(_statement_text(line.statement) for line in parsed)


def _program_stage(stage: str, program: Program, findings: Findings) -> str:
    if stage == "scope":
        return "".join(_instruction_text(instruction) for instruction in program.instructions)
    if stage == "flow":
        if program.physical:
            return "; a .physical program: its flow is not looked at\n"
        return _flow_text(live_ranges_of(program, instruction_set(), findings))
    if stage == "allocate":
        allocation: Allocation = allocate(program, instruction_set(), findings)
        return _allocation_text(allocation)
    return "".join(f"{word:010x}\n" for word in back_end(program, findings).image.values)


def _statement_text(statement: Statement) -> str:
    labels = "".join(f"{label.text}:\n" for label in statement.labels)
    if statement.head is None:
        return labels
    parts = [statement.head.text, *(_node_text(node) for node in (*statement.operands, *statement.options))]
    return f"{labels}    {' '.join(parts)}\n"


def _node_text(node: Node) -> str:
    """A piece of a statement as a tree: rule, text, and the pieces within."""
    return f"({' '.join([node.kind, node.text, *map(_node_text, node.children)]).strip()})"


def _instruction_text(instruction: Instruction) -> str:
    """The instruction with the unique names of its registers, signals and labels."""
    labels = "".join(f"{label}:\n" for label in instruction.labels)
    operation = instruction.operation
    operands = ", ".join(getattr(operand, "name", None) or format_operand(operand) for operand in operation.operands)
    tokens = "".join(
        f", {token.name}" + (f"[{', '.join(getattr(a, 'name', None) or format_operand(a) for a in token.arguments)}]"
                             if token.arguments else "")
        for token in operation.tokens
    )
    return f"{labels}    {operation.mnemonic}{f'[{operands}]' if operands else ''}{tokens}\n"


def _flow_text(webs: Webs) -> str:
    """The flow graph: one line a point, with what it reads, writes, and where control goes."""
    flow = webs.flow
    lines = []
    for number, point in enumerate(flow.nodes):
        parts = [f"{number:5} {point.instruction:5} {point.kind.value:<11}"]
        for word, occurrences in (("reads", point.reads), ("writes", point.writes)):
            if occurrences:
                names = (flow.occurrences[one].variable for one in occurrences)
                parts.append(f"{word} " + " ".join(flow.variables[name].name for name in names))
        if point.consumes:
            parts.append("done " + " ".join(flow.variables[one].name for one in point.consumes))
        parts.append("-> " + (" ".join(str(one) for one in flow.successors[number]) or "nowhere"))
        if point.kind is Kind.INSTRUCTION:
            parts.append(f"; {flow.program.instructions[point.instruction].source}")
        lines.append("  ".join(parts))
    return "\n".join(lines) + "\n"


def _allocation_text(allocation: Allocation) -> str:
    """One line a live range: name, half, place, and the lines of the source where it is set and used."""
    if allocation.webs is None:
        return "; a .physical program: nothing to place\n"
    webs, lines = allocation.webs, []
    for number, web in enumerate(webs.webs):
        file = web.variable.file
        name = web.variable.name + _HALF.get(file, "") + (" pair" if web.pair else "")
        occurrences = [webs.flow.occurrences[one] for one in web.occurrences]
        where = " ".join(f"{'=' if one.writes else ''}{one.origin.span.line}" for one in occurrences)
        lines.append(f"{name:<34} {place_text(allocation.places[number], file):<6} {where}".rstrip())
    return "\n".join(lines) + "\n"
