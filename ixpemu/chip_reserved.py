"""The reserved behaviour that a chip has seen, as events and as diagnostics with source lines. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ixpemu.chip_rules import RULES, Rule, register_name
from ixpemu.diagnostics import Diagnostic, MacroFrame, Note, Origin, Severity, Span
from ixpemu.engine.layout import RESERVED_KINDS
from ixpemu.image import Image

NO_ADDRESS = 1 << 13        # no control store has so many words


@dataclass(frozen=True, slots=True)
class ReservedPlace:
    """One kind of reserved behaviour at one instruction: its first event, and `count` events in all.

    `me` is None where no microengine did it; `address` is that of the instruction, `value` what the event is about.
    """

    rule: Rule
    cycle: int
    me: int | None
    ctx: int
    address: int
    value: int
    count: int

    @property
    def about(self) -> str:
        """What the event is about, in words."""
        return register_name(self.value, self.ctx) if self.rule.register else self.rule.about(self.value)

    def diagnostic(self, images: Mapping[int, Image], severity: Severity = Severity.WARNING) -> Diagnostic:
        """What happened, where, by which rule, and what to do."""
        image = None if self.me is None else images.get(self.me)
        about = self.about + _source_name(image, self.about, self.address)
        text = self.rule.name + (f" ({about})" if about else "")
        if self.me is None:
            where, origin = "from outside of the microengines", None
        else:
            at = f"at {self.address}" if self.address < NO_ADDRESS else "at no one instruction"
            where = f"microengine {self.me} context {self.ctx} {at}"
            origin = origin_of(image, self.address)
        times = "" if self.count <= 1 else f"; {self.count:,} times, first there"
        return Diagnostic(
            self.rule.code, f"{text}: {where}, cycle {self.cycle:,}{times}", severity, origin, self.rule.advice,
            (Note(self.rule.rule),),
        )


def _source_name(image: Image | None, register: str, address: int) -> str:
    """The name that the source has for a register there, behind a blank; nothing where the image does not say."""
    if image is None:
        return ""
    for live in image.ranges:
        if live.register == register and live.first <= address <= live.last:
            return f" {live.name.rpartition('!')[2]}"
    return ""


def origin_of(image: Image | None, address: int) -> Origin | None:
    """The source line of a word, with the macro calls around it; None where the image does not say."""
    if image is None or address >= len(image.debug):
        return None
    found = image.debug[address]
    calls = tuple(MacroFrame(macro, Span(call.file, call.line)) for macro, call in found.macros)
    return Origin(Span(found.place.file, found.place.line), calls)


def reserved_places(state: Any) -> list[ReservedPlace]:
    """The places that are kept, in the order of their first events."""
    found = []
    for k in range(int(state.reserved_rows)):
        me = int(state.reserved_me[k])
        found.append(ReservedPlace(
            RULES[int(state.reserved_kind[k])], int(state.reserved_time[k]), me if me < len(state.engines) else None,
            int(state.reserved_ctx[k]), int(state.reserved_pc[k]), int(state.reserved_value[k]), int(state.reserved_count[k])))
    return sorted(found, key=lambda place: (place.cycle, -1 if place.me is None else place.me, place.rule.kind, place.address))


def uncounted(state: Any) -> int:
    """Events whose places are not kept, because there were too many."""
    return int(state.reserved_total.sum()) - int(state.reserved_count[:int(state.reserved_rows)].sum())


def findings(state: Any, images: Mapping[int, Image]) -> list[Diagnostic]:
    """All kept places as warnings, one for a line that several microengines execute; a last one says how many events are not
    among them."""
    found: list[Diagnostic] = []
    lines: dict[tuple[int, Origin], tuple[int, list[str]]] = {}     # by code and line: where its diagnostic is, and who else
    for place in reserved_places(state):
        made = place.diagnostic(images)
        if made.origin is not None:
            at, others = lines.setdefault((made.code, made.origin), (len(found), []))
            if at < len(found):
                others.append(f"{place.me} ({place.count:,})")
                continue
        found.append(made)
    for at, others in lines.values():
        if others:
            also = f"the same in microengine{'s' if len(others) > 1 else ''} (times): {', '.join(others)}"
            found[at] = replace(found[at], notes=(*found[at].notes, Note(also)))
    left = uncounted(state)
    if left:
        kinds = [f"{RULES[kind].name} {int(state.reserved_total[kind]):,}" for kind in range(RESERVED_KINDS)
                 if state.reserved_total[kind]]
        found.append(Diagnostic(
            found[-1].code, f"{left:,} more events at other places, which are not kept; all by kind: {', '.join(kinds)}",
            Severity.WARNING, help="mend the first ones, or leave kinds out with --allow",
        ))
    return found
