"""Hypothesis strategies for small microcode programs: every register has a value from the start, every branch has its label."""

from __future__ import annotations

from hypothesis import strategies as st

GPRS = ("g0", "g1", "g2", "g3")
SIGNALS = ("s0", "s1", "s2")
HEADER = """
.reg g0 g1 g2 g3 @shared $r[2] $w[2] $h[2] $$d[2] $single
.sig s0 s1 s2
.xfer_order $r
.xfer_order $w
.xfer_order $h
.xfer_order $$d
"""
gpr = st.sampled_from(GPRS)
signal = st.sampled_from(SIGNALS)
two = st.lists(gpr, min_size=2, max_size=2, unique=True)


@st.composite
def plain(draw: st.DrawFn) -> str:
    """An instruction that neither branches nor starts a command."""
    kind = draw(st.integers(0, 8))
    left, right = draw(two)
    written = draw(st.one_of(gpr, gpr, st.sampled_from(["$w[0]", "$w[1]", "$h[0]", "$h[1]", "$single", "@shared", "--"])))
    if kind <= 2:
        return f"alu[{written}, {left}, +, {right}]"
    if kind == 3:
        return f"alu[{written}, --, B, {left}]"
    if kind == 4:
        return f"ld_field[{left}, 0011, {right}]"
    if kind == 5:
        return f"alu[{draw(gpr)}, {left}, -, {draw(st.sampled_from(['$r[0]', '$r[1]', '$h[0]', '$$d[1]', '$single']))}]"
    if kind == 6:
        return f"immed[{left}, {draw(st.integers(0, 255))}]"
    if kind == 7:
        return f"alu[{left}, {right}, +, @shared]"
    return f"alu[{written}, {left}, OR, {draw(st.integers(0, 255))}]"


def commands(completion: str) -> st.SearchStrategy[str]:
    """A memory command; `completion` is its option, with the signal's name in place of `%`."""
    forms = [
        f"sram[read, $r[0], {{}}, 0, 2], {completion}", f"sram[read, $single, {{}}, 4, 1], {completion}",
        f"sram[write, $w[0], {{}}, 0, 2], {completion}", f"dram[read, $$d[0], {{}}, 0, 1], {completion}",
        f"hash_48[$h[0], 1], {completion}", f"scratch[put, $w[1], {{}}, 0, 1], {completion}",
    ]
    return st.builds(lambda form, name: form.format(name), st.sampled_from(forms), gpr)


@st.composite
def statements(draw: st.DrawFn, labels: int) -> list[str]:
    """A few lines that belong together: an instruction, a branch with its slots, a command with its wait."""
    kind = draw(st.integers(0, 9))
    if kind <= 4:
        return [draw(plain())]
    name = draw(signal)
    slots = draw(st.lists(plain(), max_size=2))
    defer = f", defer[{len(slots)}]" if slots else ""
    if kind <= 6 and labels:
        label = draw(st.integers(0, labels - 1))
        branch = draw(st.sampled_from([f"bne[l{label}#]", f"br[l{label}#]", f"br_bset[g0, 3, l{label}#]"]))
        return [branch + defer, *slots]
    if kind <= 7:
        return [draw(commands(f"ctx_swap[{name}]")) + defer, *slots]
    between = draw(st.lists(plain(), max_size=3))
    other = draw(signal)
    if draw(st.booleans()) and other != name:
        second = draw(commands(f"sig_done[{other}]"))
        return [draw(commands(f"sig_done[{name}]")), *between, second, f"ctx_arb[{name}, {other}]" + defer, *slots]
    return [draw(commands(f"sig_done[{name}]")), *between, f"ctx_arb[{name}]" + defer, *slots]


@st.composite
def programs(draw: st.DrawFn, most: int = 14) -> str:
    """The text of a program of up to `most` groups of lines."""
    labels = draw(st.integers(0, 3))
    lines = [f"immed[{name}, {number}]" for number, name in enumerate(GPRS)]
    lines += ["immed[@shared, 1]"]
    lines += [f"alu[{name}, --, B, g0]" for name in ("$w[0]", "$w[1]", "$h[0]", "$h[1]", "$single")]
    lines += ["sram[read, $r[0], g0, 0, 2], ctx_swap[s0]", "sram[read, $single, g0, 0, 1], ctx_swap[s0]"]
    lines += ["dram[read, $$d[0], g0, 0, 1], ctx_swap[s1]", "hash_48[$h[0], 1], ctx_swap[s2]"]
    body: list[str] = []
    for group in draw(st.lists(statements(labels), min_size=3, max_size=most)):
        body += group
    for label in range(labels):
        place = draw(st.integers(0, len(body)))
        body.insert(place, f"l{label}#:")
    return HEADER + "\n".join([*lines, *body, "ctx_arb[kill]"]) + "\n"
