"""Probes: places in programs that say which packet a context works on from there, and what becomes of it.

A probe at an instruction acts just before the instruction executes and costs nothing. Its key is the register that holds the
packet's buffer handle; a probe without one says that the context works on no packet from there. What others do: "at" the context
now works on the packet of that handle; "begin" the handle is bound to the packet that the context works on (the one whose element
arrived); "end" the handle is free again; "drop" the packet is dropped there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ixpemu import arguments, codes
from ixpemu.diagnostics import UserError, user_error
from ixpemu.engine.layout import (
    GPR_A,
    GPR_B,
    MARK_PROBE,
    PROBE_AT,
    PROBE_BEGIN,
    PROBE_DROP,
    PROBE_END,
    PROBE_NOTHING,
    SINK,
    SRAM_IN,
)
from ixpemu.engine.parameters import P_MICROENGINES, P_STORE_WORDS

BANK = 128          # registers of a bank
ACTIONS = {"at": PROBE_AT, "begin": PROBE_BEGIN, "end": PROBE_END, "drop": PROBE_DROP}
_KEY = re.compile(r"(@?)([ab])(\d+)|\$(\d+)")


@dataclass(frozen=True, slots=True)
class AttachedProbe:
    """A probe of a loaded program. `number` is its row: the `reason` of the packets it drops."""

    number: int
    name: str
    me: int
    address: int
    key: str


class Probes:
    """The probes of a chip. Names may be used at several places; an action is given to a name, once for all of them."""

    def __init__(self, state: Any, note: Callable[[tuple[int, ...]], None]) -> None:
        self._state = state
        self._note = note           # is told what `place` did
        self._attached: dict[int, AttachedProbe] = {}
        self._actions: dict[str, str] = {}

    def attach(self, me: int, address: int, key: str, name: str) -> AttachedProbe:
        """Put a probe before the instruction at `address` of a loaded program. `key`: a physical register, `a3`, `@b7` or
        `$0`."""
        engines, words = (int(self._state.parameter[k]) for k in (P_MICROENGINES, P_STORE_WORDS))
        arguments.whole("the number of a microengine", me, 0, engines - 1, code=codes.ME_UNKNOWN)
        arguments.whole("the address of an instruction", address, 0, words - 1, code=codes.ME_UNKNOWN)
        arguments.text("the name of a probe", name)
        arguments.text("the key of a probe", key, "a register: a3, b3, @a3 or $0; empty for none")
        number = next((k for k in range(1, 256) if k not in self._attached), None)
        if number is None:
            raise user_error(codes.RUN_ARGUMENT, "more than 255 probes", help="remove some")
        if not key and name in self._actions:
            raise self._keyless(name)
        registers = 32 if int(self._state.engines[me]["ctx_enables"]) >> 31 else 16
        base, window = self._register(key, registers) if key else (SINK, 0)
        self._state.probe[number]["hits"] = 0
        found = self._attached[number] = AttachedProbe(number, name, me, address, key)
        self.place(number, me, address, base, window, ACTIONS[self._actions.get(name, "at")] if key else PROBE_NOTHING)
        return found

    def place(self, number: int, me: int, address: int, key: int, window: int, action: int) -> None:
        """Have the engine serve row `number` at an instruction: the part of a probe that a journal holds, without its name."""
        row = self._state.probe[number]
        row["key"], row["window"], row["action"] = key, window, action
        code = self._state.code[me * (len(self._state.code) // len(self._state.engines)) + address]
        code["probe"] = number
        code["marks"] = int(code["marks"]) | MARK_PROBE
        self._note((number, me, address, key, window, action))

    def action(self, name: str, action: str) -> list[int]:
        """What probes of this name do: "at", "begin", "end" or "drop". Returns their rows."""
        if not isinstance(action, str) or action not in ACTIONS:
            raise user_error(codes.RUN_ARGUMENT, f"a probe cannot {arguments.shown(action)}", help=f"one of {', '.join(ACTIONS)}")
        if any(probe.name == name and not probe.key for probe in self._attached.values()):
            raise self._keyless(name)
        self._actions[name] = action
        found = [probe for probe in self._attached.values() if probe.name == name]
        for probe in found:
            row = self._state.probe[probe.number]
            self.place(probe.number, probe.me, probe.address, int(row["key"]), int(row["window"]), ACTIONS[action])
        return [probe.number for probe in found]

    def forget(self, me: int) -> None:
        """Remove the probes of a microengine (its program is about to be replaced)."""
        for number in [k for k, probe in self._attached.items() if probe.me == me]:
            del self._attached[number]
        room = len(self._state.code) // len(self._state.engines)
        for number in np.unique(self._state.code["probe"][me * room : (me + 1) * room]).tolist():
            if number:
                self._state.probe[number] = np.zeros((), self._state.probe.dtype)

    def hits(self, name: str) -> int:
        """How often probes of this name were reached. UserError where there is none."""
        known = sorted({probe.name for probe in self._attached.values()})
        if name not in known:
            raise user_error(
                codes.APP_PROBE, f"there is no probe {arguments.shown(name)}",
                help=f"there are {', '.join(known)}" if known else "attach one, or load an image with .probe directives",
            )
        return sum(int(self._state.probe[probe.number]["hits"]) for probe in self._attached.values() if probe.name == name)

    def __iter__(self) -> Iterator[AttachedProbe]:
        return iter(self._attached.values())

    def __len__(self) -> int:
        return len(self._attached)

    @staticmethod
    def _keyless(name: str) -> UserError:
        return user_error(
            codes.APP_PROBE, f"the probe {name!r} has no key, and so means no packet that could begin, end or be dropped there",
            help=f"write  .probe {name}, REGISTER  with the register that holds the packet's handle",
        )

    @staticmethod
    def _register(key: str, window: int) -> tuple[int, int]:
        found = _KEY.fullmatch(key.strip().lower())
        absolute, bank, number, transfer = found.groups() if found is not None else (None, None, "0", None)
        if found is None or int(number or transfer or 0) >= (BANK if absolute else window):
            raise user_error(
                codes.ME_UNKNOWN, f"a probe's key cannot be {arguments.shown(key)}",
                help=f"a register: a3, b3 or $3, up to {window - 1}; @a3, up to {BANK - 1}",
            )
        if transfer is not None:
            return SRAM_IN + int(transfer), 0xF0
        return (GPR_A if bank == "a" else GPR_B) + int(number), 0 if absolute else 0xF0
