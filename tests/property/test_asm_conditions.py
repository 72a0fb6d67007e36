"""Run-time conditions of every form do what they say: executed on the emulator, and worked out in Python from the same tree."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ixpemu import Chip
from ixpemu.asm import checker
from ixpemu.asm.pipeline import Assembly, assemble_program
from ixpemu.isa import instruction_set
from tests.support.conditions import EDGES, ELSEWHERE, LEFT, MASK, RIGHT, SIGNALS, State, Test, conditions

FORMS = ("if", "else", "elif", "while", "break", "until", "continue", "parked")
HEAD = """
.reg volatile p0 p1 @s q0 q1 done turns
.reg volatile $x $$y n$n
.sig volatile one two
.set p0 p1 @s q0 q1 $x $$y n$n done
.set_sig one two
local_csr_wr[ACTIVE_LM_ADDR_0, 0]
local_csr_wr[ACTIVE_LM_ADDR_1, 64]
immed[done, 0]
nop
nop
"""


def statements(form: str, test: Test, signed: bool, number: int) -> str:
    """A structure that sets bit `number` of `done` if the condition holds, whatever the form."""
    ending = "" if signed else "_unsigned"
    mark = f"alu_shf[done, done, OR, 1, <<{number}]"
    unmark = f"alu_shf[done, done, AND~, 1, <<{number}]"
    text = test.text
    return {
        "if": f".if{ending} ({text})\n{mark}\n.endif\n",
        "else": f".if{ending} (!({text}))\nnop\n.else\n{mark}\n.endif\n",
        "elif": f".if (1 == 2)\nnop\n.elif{ending} ({text})\n{mark}\n.else\nnop\n.endif\n",
        "while": f".while{ending} ({text})\n{mark}\n.break\n.endw\n",
        "break": f".while (1)\n{mark}\n.if{ending} ({text})\n.break\n.endif\n{unmark}\n.break\n.endw\n",
        "until": f"immed[turns, 0]\n.repeat\nalu[turns, turns, +, 1]\n.if (turns == 2)\n.break\n.endif\n.until{ending} ({text})\n"
                 f".if (turns == 1)\n{mark}\n.endif\n",
        "continue": f"immed[turns, 0]\n{mark}\n.repeat\n.if (turns == 1)\n.break\n.endif\nalu[turns, turns, +, 1]\n"
                    f".if{ending} ({text})\n.continue\n.endif\n{unmark}\n.until (turns >= 1)\n",
        "parked": f".if (0)\nhere{number}#:\n{mark}\nbr[on{number}#]\n.endif\n"
                  f".if{ending} ({text})\nbr[here{number}#]\n.endif\non{number}#:\n",
    }[form]


def place(assembly: Assembly, name: str) -> str:
    return assembly.image.registers[name].split()[0] if name in assembly.image.registers else ""


def run(assembly: Assembly, state: State) -> int:
    """What the program leaves in `done`."""
    chip = Chip()
    chip.load(0, assembly.image, start=False)
    me, ctx = chip.me[0], chip.me[0].ctx[state.context]
    files = {"a": ctx.gpr_a, "b": ctx.gpr_b, "$": ctx.sram_in, "$$": ctx.dram_in, "n$": ctx.neighbor}
    for name, value in state.registers.items():
        found = place(assembly, name)
        if name.startswith("*l$index"):
            me.local_memory[int(name[10:-1]) + (16 if name[8] == "1" else 0)] = value
        elif found.startswith("@"):
            (me.gpr_a_abs if found[1] == "a" else me.gpr_b_abs)[int(found[2:])] = value
        elif found:
            digits = found.lstrip("ab$n")
            files[found.removesuffix(digits)][int(digits)] = value
    chip.start(0, 1 << state.context)
    for name in state.signals:
        if (found := place(assembly, name)):
            me.engine.signals[state.context] |= 1 << int(found[1:])
    stop = chip.run(cycles=20_000)
    assert stop.reason == "quiet", stop
    done = place(assembly, "done")
    return int((ctx.gpr_a if done[0] == "a" else ctx.gpr_b)[int(done[1:])])


VALUES = st.sampled_from(EDGES) | st.integers(0, MASK)
STATES = st.builds(
    State, st.fixed_dictionaries({name: VALUES for name in (*LEFT, *RIGHT, *ELSEWHERE)}), st.sets(st.sampled_from(SIGNALS)),
    st.integers(0, 7),
)


@given(
    st.lists(st.tuples(st.sampled_from(FORMS), conditions(), st.booleans()), min_size=1, max_size=6),
    st.lists(STATES, min_size=3, max_size=3),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_conditions_do_what_they_say(parts: list[tuple[str, Test, bool]], states: list[State]) -> None:
    body = "".join(statements(form, test, signed, number) for number, (form, test, signed) in enumerate(parts))
    assembly = assemble_program(text=f"{HEAD}{body}ctx_arb[kill]\n")
    assert checker.check(assembly.program, list(assembly.image.values), instruction_set()) == []
    for state in states:
        model = State(dict(state.registers), set(state.signals), state.context)
        wanted = 0
        for number, (_, test, signed) in enumerate(parts):
            wanted |= test.holds(model, signed) << number
        assert run(assembly, state) == wanted
