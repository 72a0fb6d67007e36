"""The whole assembler as one call: source text to an image.

The stages are pure functions elsewhere; this strings them together and keeps what they find. Words back to text is
`disassembly`; each stage as text is `stages`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ixpemu import arguments, codes
from ixpemu.asm import places
from ixpemu.asm.allocate import Allocation, LeftOpen, allocate, physical
from ixpemu.asm.banks import Place
from ixpemu.asm.disassembly import disassemble
from ixpemu.asm.encode import encode
from ixpemu.asm.findings import Findings, Stopped
from ixpemu.asm.flow import file_of, probe_site
from ixpemu.asm.front import read_program
from ixpemu.asm.limits import Limits
from ixpemu.asm.linkage import links_of
from ixpemu.asm.program import Instruction, Program
from ixpemu.diagnostics import AssemblyError, Diagnostic, Sources, user_error
from ixpemu.image import CONTROL_STORE_WORDS, Image, Probe, WordOrigin
from ixpemu.image import Place as SourcePlace
from ixpemu.isa import instruction_set
from ixpemu.isa.model import Operation, Register

if TYPE_CHECKING:
    from ixpemu.asm.listing import Listing
    from ixpemu.asm.schedule_report import Report

__all__ = ["Assembly", "assemble", "assemble_program", "disassemble"]

_MANY = 1 << 64


@dataclass(slots=True)
class Assembly:
    """Everything one assembly made: the image, the findings that are no errors, and the stages in between."""

    image: Image
    diagnostics: tuple[Diagnostic, ...]
    program: Program
    allocation: Allocation
    operations: list[Operation] = field(default_factory=list)
    store: int = CONTROL_STORE_WORDS
    schedule: Report | None = None

    @property
    def sources(self) -> Sources:
        """The source lines, for rendering the diagnostics."""
        return self.program.sources

    def rows(self) -> Listing:
        """What every word looks like: the listing as values."""
        from ixpemu.asm.listing import make_listing  # here and below: few assemblies ask for it

        return make_listing(self.image, self.operations, self.allocation, instruction_set(), self.store, self.schedule)

    def listing(self) -> str:
        """The listing: addresses, words, physical and source text, registers, labels, macros, and where names live."""
        from ixpemu.asm.listing_text import listing_text

        return listing_text(self.rows())

    def live(self) -> str:
        """The live ranges as a picture: words against registers and signals."""
        from ixpemu.asm.live import picture

        return picture(self.allocation)

    def macro_cost(self) -> str:
        """How many words the macros made, as a table."""
        from ixpemu.asm.macro_cost import cost_text, macro_costs

        outside = sum(not instruction.expansion for instruction in self.program.instructions)
        return cost_text(macro_costs(self.program), len(self.image), outside)


def assemble(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    include: str | Path | Sequence[str | Path] = (),
    define: Mapping[str, str | int | None] | None = None,
    store: int = CONTROL_STORE_WORDS,
    repair: bool = False,
    require_declarations: bool = False,
    vnops: bool = False,
    optimise: bool = False,
) -> Image:
    """The image of the source file `path`, or of `text`.

    `include`: folders for #include (or one), `define`: symbols as if by #define, `store`: words of the control store that the
    program has to fit, `repair`: insert moves and use local memory where registers do not do, `require_declarations`: a register
    without a .reg is an error, `vnops`: insert the no-ops that the hardware needs time for, `optimise`: fill defer slots, and put
    useful instructions where no-ops would be. Raises `AssemblyError`, whose `diagnostics` hold every finding, or `UserError` for
    a file that cannot be read. For warnings and listings: `assemble_program`.
    """
    return assemble_program(
        path, text=text, include=include, define=define, store=store, repair=repair, require_declarations=require_declarations,
        vnops=vnops, optimise=optimise,
    ).image


def assemble_program(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    include: str | Path | Sequence[str | Path] = (),
    define: Mapping[str, str | int | None] | None = None,
    store: int = CONTROL_STORE_WORDS,
    repair: bool = False,
    require_declarations: bool = False,
    vnops: bool = False,
    optimise: bool = False,
) -> Assembly:
    """As `assemble`, but with all that was found and made on the way."""
    if path is None and text is None:
        raise user_error(codes.ARGUMENT_VALUE, "there is nothing to assemble", help='give a path, or text="..."')
    if path is not None:
        arguments.path("a source file", path)
    if text is not None:
        arguments.text("a source text", text, "give a str; bytes have to be decoded")
    include, define = arguments.folders("a folder for #include", include), _definitions(define)
    findings = Findings()
    program = read_program(
        path, text=text, include=include, define=define, findings=findings, require_declarations=require_declarations
    )
    try:
        return back_end(program, findings, store, repair, vnops, optimise)
    except Stopped:
        raise AssemblyError(*findings.diagnostics) from None


def _definitions(define: object) -> dict[str, str | int | None]:
    """The symbols that a caller defines: names with whole numbers, texts of one line, or None for a predefined one that is to be
    none. Case does not count."""
    found: dict[str, str | int | None] = {}
    for name, value in arguments.mapping("what is defined", define, '{"PORTS": 3}').items():
        if not isinstance(name, str) or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is None:
            raise arguments.wrong("a defined name", name, "letters, digits and _, and no digit first")
        if name.lower() in {known.lower() for known in found}:
            raise arguments.wrong("a defined name", name, "another one differs in case alone, which does not count")
        if value is None or (isinstance(value, str) and value.isprintable()):
            found[name] = value
        elif isinstance(value, str):
            raise arguments.wrong(f"the value of {name}", value, "give a text of one line")
        else:
            found[name] = arguments.whole(f"the value of {name}", value, -_MANY, _MANY, help="give a whole number or a text")
    return found


def back_end(
    program: Program, findings: Findings, store: int = CONTROL_STORE_WORDS, repair: bool = False, vnops: bool = False,
    optimise: bool = False,
) -> Assembly:
    """From the program with names to the image. Raises `AssemblyError`, or `Stopped` at the limit of `findings`."""
    isa = instruction_set()
    if repair:
        from ixpemu.asm.repair import repair as mend  # here: few assemblies ask for it

        mended = mend(program, isa, Limits.of_contexts(program.contexts))
        program = mended.program
        for note in mended.notes:
            findings.add(note)
    allocation = allocate(program, isa, findings, mended=vnops)
    account: Report | None = None
    if vnops or optimise:
        from ixpemu.asm.schedule import schedule  # here: few assemblies ask for it

        allocation, account = schedule(allocation, isa, findings, vnops=vnops, optimise=optimise)
        program = allocation.program
    left_open: LeftOpen = {}
    operations = physical(allocation, findings, left_open)
    words = encode(program, operations, isa, findings, store)
    links = links_of(allocation, operations, left_open, isa, findings)
    findings.raise_if_errors()
    image = Image(
        tuple(words), program.contexts, MappingProxyType(dict(program.labels)),
        MappingProxyType(places.registers(allocation)), tuple(_origin(instruction) for instruction in program.instructions),
        tuple(_probes(allocation)), places.live_ranges(allocation), links,
    )
    return Assembly(image, tuple(findings.diagnostics), program, allocation, operations, store, account)


def _origin(instruction: Instruction) -> WordOrigin:
    span = instruction.origin.span
    calls = tuple((frame.macro, SourcePlace(frame.call.file, frame.call.line)) for frame in instruction.origin.expansions)
    return WordOrigin(SourcePlace(span.file, span.line), instruction.source, calls)


def _probes(allocation: Allocation) -> list[Probe]:
    """The probes with the physical register of their key, empty for a probe without one."""
    out = []
    for number, probe in enumerate(allocation.program.probes):
        text = "" if probe.key is None else _key_text(allocation, number, probe.index, probe.key)
        out.append(Probe(probe.name, probe.index, text))
    return out


def _key_text(allocation: Allocation, number: int, index: int, key: Register) -> str:
    file, webs = file_of(key.cls, False), allocation.webs
    if key.number is not None or webs is None:
        return places.place_text(Place(key.number or 0, key.bank), file)
    return places.place_text(allocation.places[webs.at[probe_site(index, number), file]], file)
