"""Writes the compiled engine's dispatch module from the semantics of isa/: `python -m ixpemu.isa.emit` (`--check`: is it fresh?).

One loop with one case for every private variant, found by a binary tree over operation numbers; a case is the variant's
statements as numba-friendly Python with explicit 32-bit arithmetic, commented with the block it came from. What several cases
end with (flags of the result, writing the destination, taking a branch) stands once, behind the tree: numbers are given out by
those endings. Also written: the addresses of control and status registers. Not here: what external actions do, and the loop's
fixed text, which is in emit_template.py.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ixpemu.isa import InstructionSet, instruction_set
from ixpemu.isa.blocks import Variant
from ixpemu.isa.emit_template import FIXED_IMPORTS, FOOT, HEAD, NUMBERS_HEAD
from ixpemu.isa.semantics import Act, Assign, Binary, Bits, Branch, Call, Expression, Jump, Name, Number, Statement, Unary

ENGINE = Path(__file__).resolve().parent.parent / "engine"
INDENT = "    "
MANY = 16           # registers that come by the dozen (rings, threads, elements) are reached by number, not by name

# Decoded numbers and where decode.py puts them in a code record.
PARAMETERS = {
    "amount": "i.amount", "bit": "i.amount", "byte": "i.amount",
    "mask": "i.mask",
    "value": "i.imm", "byte_mask": "i.imm", "compare": "i.imm", "context": "i.imm", "address": "i.imm",
    "target": "i.target",
}
# Operands that can be read, and the local variables that hold them.
OPERANDS = {"a": "a", "b": "b", "register": "a", "dest": "a", "source": "a", "source_value": "a", "tag": "a", "entry": "b"}
# Internal actions and the engine's modules that have their functions, each named after its action.
ACTIONS = {
    "align_a": "align", "align_b": "align",
    "cam_clear": "cam", "cam_lookup": "cam", "cam_write": "cam", "cam_write_state": "cam", "cam_read_tag": "cam",
    "cam_read_state": "cam",
    "crc": "crc",
    "csr_read": "csrs", "csr_write": "csrs",
    "find_first": "count", "pop_count_1": "count", "pop_count_2": "count", "pop_count_3": "count",
    "multiply_step": "multiply", "multiply_last": "multiply",
}
ARGUMENTS = "state, engine, i, ctx, a, b, pc, uint64(before + clock - engine.aborted - uint64(1)), clock"
READS = {
    "cc.n": "uint32(engine.cc_result >> uint32(31))", "cc.z": "uint32(engine.cc_result == uint32(0))",
    "cc.v": "engine.cc_v", "cc.c": "engine.cc_c",
    "previous.a": "engine.previous_a", "previous.alu": "engine.previous_alu",
    "previous.align_a": "engine.align_a", "previous.align_b": "engine.align_b",
    "state.byte_index": "engine.byte_index",
    "ctx": "ctx",
    "result": "result",
}
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


class EmitError(Exception):
    """A semantics that cannot be written as code: an error of isa/ or of this generator."""


@dataclass(frozen=True, slots=True)
class Case:
    """A private variant, its ending and the statements of its own."""

    variant: Variant
    ending: int                     # 0 flags and destination, 1 destination, 2 branch, 3 all in the case
    statements: tuple[Statement, ...]
    modifies: bool                  # reads its destination: the register comes in place of operand a


# The statements that the common endings contain, as canonical trees.
_N = Bits(Name("r"), 31, 31)
_Z = Binary("==", Name("r"), Number(0))
FLAGS = (Assign("cc.n", _N), Assign("cc.z", _Z))
RESULT = (Assign("dest", Name("r")), Assign("previous.alu", Name("r")))


def case_of(variant: Variant) -> Case:
    """Choose the ending of a private variant and take its statements off."""
    statements = list(variant.statements)
    for assigned in variant.statements:
        # `dest = value  previous.alu = value` is `r = value` with the ending of all others.
        if isinstance(assigned, Assign) and assigned.target == "dest" and assigned.value != Name("r"):
            twin = Assign("previous.alu", assigned.value)
            if twin in statements:
                statements[statements.index(assigned):statements.index(assigned) + 1] = [Assign("r", assigned.value), RESULT[0]]
                statements[statements.index(twin)] = RESULT[1]
    modifies = any("dest" in names_in(s.value) for s in statements if isinstance(s, Assign))
    if any(isinstance(s, Branch) for s in statements):
        return Case(variant, 2, tuple(statements), modifies)
    if all(s in statements for s in FLAGS + RESULT):
        rest = [s for s in statements if s not in FLAGS + RESULT]
        return Case(variant, 0, tuple(rest), modifies)
    if all(s in statements for s in RESULT) and not any(isinstance(s, Assign) and s.target.startswith("cc.") for s in statements):
        return Case(variant, 1, tuple(s for s in statements if s not in RESULT), modifies)
    return Case(variant, 3, tuple(statements), modifies)


def names_in(tree: Expression) -> set[str]:
    """The names that an expression reads."""
    match tree:
        case Name(name):
            return {name}
        case Number():
            return set()
        case Unary(_, operand) | Bits(operand, _, _):
            return names_in(operand)
        case Binary(_, left, right):
            return names_in(left) | names_in(right)
        case Call(_, arguments):
            return set().union(*(names_in(x) for x in arguments))
    raise EmitError(f"not an expression: {tree!r}")


class Writer:
    """Writes the statements of one case. Temporaries become locals with their own names."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.temporaries: set[str] = set()

    def name(self, name: str) -> str:
        """The Python spelling of a name that is read."""
        if name in self.temporaries:
            return name
        if name in PARAMETERS and name in self.case.variant.parameters:
            return f"uint32({PARAMETERS[name]})"
        if name in READS:
            return READS[name]
        if name in OPERANDS:
            return OPERANDS[name]
        raise EmitError(f"{self.case.variant.name}: nothing is called {name!r}")

    def expression(self, tree: Expression) -> str:
        """An expression of unsigned 32-bit type."""
        match tree:
            case Number(value):
                return f"uint32({value:#x})" if value > 9 else f"uint32({value})"
            case Name(name):
                return self.name(name)
            case Unary("~", operand):
                return f"uint32(~{self.expression(operand)})"
            case Unary("-", operand):
                return f"uint32(uint32(0) - {self.expression(operand)})"
            case Binary(operator, left, right) if operator in COMPARISONS:
                return f"uint32({self.expression(left)} {operator} {self.expression(right)})"
            case Binary(operator, left, right):
                return f"uint32({self.expression(left)} {operator} {self.expression(right)})"
            case Bits(operand, high, low):
                moved = self.expression(operand) if low == 0 else f"({self.expression(operand)} >> uint32({low}))"
                return moved if high == 31 else f"({moved} & uint32({(1 << (high - low + 1)) - 1:#x}))"
            case Call("carry", (x, y, c)):
                total = f"uint64({self.expression(x)}) + uint64({self.expression(y)})"
                if c != Number(0):
                    total += f" + uint64({self.expression(c)})"
                return f"uint32(({total}) >> uint64(32))"
            case Call("overflow", (x, y, r)):
                ex, ey, er = self.expression(x), self.expression(y), self.expression(r)
                return f"uint32((({ex} ^ {er}) & ({ey} ^ {er})) >> uint32(31))"
            case Call("ror", (x, amount)):
                ex, en = self.expression(x), self.expression(amount)
                return f"uint32(({ex} >> {en}) | ({ex} << ((uint32(32) - {en}) & uint32(31))))"
            case Call("funnel", (high, low, amount)):
                eh, el, en = self.expression(high), self.expression(low), self.expression(amount)
                return f"uint32((((uint64({eh}) << uint64(32)) | uint64({el})) >> uint64({en})) & uint64(0xFFFFFFFF))"
            case Call("choose", (condition, x, y)):
                return f"({self.expression(x)} if {self.expression(condition)} else {self.expression(y)})"
            case Call("lowest_one", (x,)):
                return f"lowest_one({self.expression(x)})"
            case Call("ones", (x,)):
                return f"ones({self.expression(x)})"
        raise EmitError(f"{self.case.variant.name}: no code for {tree!r}")

    def condition(self, tree: Expression) -> str:
        """An expression whose truth is all that counts."""
        match tree:
            case Binary(operator, left, right) if operator in COMPARISONS:
                return f"{self.expression(left)} {operator} {self.expression(right)}"
        return f"{self.expression(tree)} != uint32(0)"

    def reads_result(self) -> bool:
        """Whether what the internal action gives back is used."""
        return any("result" in names_in(step.value) for step in self.case.variant.statements if isinstance(step, Assign))

    def lines(self) -> list[str]:
        """The case's own statements as lines of Python without indentation."""
        out: list[str] = []
        for statement in self.case.statements:
            match statement:
                case Assign("dest", value):
                    out.append(f"file[d] = {self.expression(value)}")
                case Assign("previous.a", value):
                    out.append(f"engine.previous_a = {self.expression(value)}")
                case Assign("cc.n" | "cc.z", _):
                    raise EmitError(f"{self.case.variant.name}: N and Z must be those of the result r")
                case Assign(target, value) if target in READS:
                    out.append(f"{READS[target]} = {self.expression(value)}")
                case Assign(target, value):
                    out.append(f"{target} = {self.expression(value)}")
                    self.temporaries.add(target)
                case Branch(Number(value)) if value:
                    out.append("taken = True")
                case Branch(condition):
                    out.append(f"taken = {self.condition(condition)}")
                case Jump(address):
                    out += ["taken = True", f"target = {self.expression(address)} & last"]
                case Act(action, False) if action in ACTIONS:
                    target = "file[CSR_VALUE] = " if action == "csr_read" else "result = " if self.reads_result() else ""
                    out.append(f"{target}{action}({ARGUMENTS})")
                case _:
                    raise EmitError(f"{self.case.variant.name}: no code for {statement!r}")
        return out or ["pass"]


def cases_of(isa: InstructionSet) -> list[Case]:
    """The private variants in the order of their operation numbers."""
    variants = {v.name: v for block in isa.blocks.values() if block.spelling_of is None for v in block.variants if v.private}
    cases = [case_of(v) for v in variants.values()]
    for case in cases:
        if any(isinstance(s, Jump) for s in case.statements):
            cases[cases.index(case)] = Case(case.variant, 2, case.statements, case.modifies)
    return sorted(cases, key=lambda case: case.ending)


def _tree(numbered: list[tuple[int, list[str]]], depth: int) -> Iterable[str]:
    """A binary tree of comparisons over `op`, leaves in order."""
    pad = INDENT * depth
    if len(numbered) == 1:
        for line in numbered[0][1]:
            yield pad + line
        return
    half = len(numbered) // 2
    yield f"{pad}if op < {numbered[half][0]}:"
    yield from _tree(numbered[:half], depth + 1)
    yield f"{pad}else:"
    yield from _tree(numbered[half:], depth + 1)


def _import(module: str, names: list[str]) -> str:
    """An import statement, on lines of their own if one is not enough."""
    line = f"from ixpemu.engine.{module} import {', '.join(names)}"
    return line if len(line) <= 130 else line.replace(", ".join(names), "(\n    " + ",\n    ".join(names) + ",\n)")


def dispatch_text(isa: InstructionSet) -> str:
    """The text of ixpemu/engine/dispatch.py."""
    cases = cases_of(isa)
    leaves: list[tuple[int, list[str]]] = []
    for number, case in enumerate(cases):
        block = isa.blocks[case.variant.block]
        span = block.span
        where = f"# {number}: {case.variant.name}   {Path(span.file).name}:{span.line}"
        leaves.append((number, [where, *Writer(case).lines()]))
    counts = [sum(case.ending == ending for case in cases) for ending in range(4)]
    first = [sum(counts[:ending]) for ending in range(4)]
    names = ",\n".join(f'    "{case.variant.name}": {number}' for number, case in enumerate(cases))
    modified = ", ".join(str(k) for k, case in enumerate(cases) if case.modifies)
    groups = [leaves[first[k]:first[k] + counts[k]] for k in range(4)]
    if any(not group for group in groups):
        raise EmitError("every ending needs a case")
    body = []
    for ending, group in enumerate(groups):
        text = list(_tree(group, 3))
        body.append("\n".join(text))
        _ = ending
    modules = {module: list(names) for module, names in FIXED_IMPORTS.items()}
    for action in sorted({case.variant.action for case in cases if case.variant.action is not None}):
        modules.setdefault(ACTIONS[action], []).append(action)
    imports = "\n".join(_import(module, found) for module, found in sorted(modules.items()))
    return HEAD.format(
        names=names, modified=modified, flags=first[1], results=first[2], branches=first[3], imports=imports
    ) + FOOT.format(
        flag_cases=body[0], result_cases=body[1], branch_cases=body[2], other_cases=body[3],
        flags=first[1], results=first[2], branches=first[3])


def numbers_text(isa: InstructionSet) -> str:
    """The text of ixpemu/engine/numbers.py: register addresses by name."""
    lines = [NUMBERS_HEAD]
    prefixes = {"local": "CSR", "cap": "CAP", "msf": "MSF", "sram": "CSR"}
    families = Counter(csr.name.rstrip("0123456789") for csr in isa.csrs)
    for csr in sorted(isa.csrs, key=lambda c: (c.space, c.address, c.name)):
        if families[csr.name.rstrip("0123456789")] < MANY:
            lines.append(f"{prefixes[csr.space]}_{csr.name} = {csr.address:#06x}")
    return "\n".join(lines) + "\n"


def outputs(isa: InstructionSet) -> dict[Path, str]:
    """The generated files and what should be in them."""
    return {ENGINE / "dispatch.py": dispatch_text(isa), ENGINE / "numbers.py": numbers_text(isa)}


def stale(isa: InstructionSet) -> list[Path]:
    """The generated files that differ from what isa/ says."""
    return [path for path, text in outputs(isa).items() if not path.is_file() or path.read_text(encoding="utf-8") != text]


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with `--check` say (exit code 1) whether they are stale."""
    parser = argparse.ArgumentParser(
        prog="python -m ixpemu.isa.emit", description="Generate the engine's dispatch module from isa/."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    chosen = parser.parse_args(arguments)
    isa = instruction_set()
    old = stale(isa)
    if chosen.check:
        return 1 if old else 0
    texts = outputs(isa)
    for path in old:
        temporary = path.with_suffix(".new")
        temporary.write_text(texts[path], encoding="utf-8")
        temporary.replace(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
