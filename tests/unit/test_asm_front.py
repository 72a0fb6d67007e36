"""What the front end hands to the back end: symbols, labels, facts, deferred constants, places. Messages are in the corpus."""

import pytest

from ixpemu.asm.expressions import AddressKind, AddressOf, ExpressionError
from ixpemu.asm.findings import Findings
from ixpemu.asm.front import read_program
from ixpemu.asm.program import Deferred, FactKind, Half
from ixpemu.diagnostics import AssemblyError, Severity
from ixpemu.isa.model import Constant, Nothing, Operation, Register, RegisterClass, Signal, Target, Token, Word


def program(text, **options):
    return read_program(text=text, **options)


def operations(text, **options):
    return [instruction.operation for instruction in program(text, **options).instructions]


def test_names_become_symbols_of_their_scope():
    made = program("""
        .reg count $x
        .begin
            .reg Count @total n$in
            alu[COUNT, @total, +, n$in]
        .end
        alu[count, --, b, $x]
        alu[loose, --, b, $$y]
    """)
    names = [[operand.name for operand in i.operation.operands if isinstance(operand, Register)] for i in made.instructions]
    assert names == [
        ["l0001!Count", "@l0001!total", "n$l0001!in"], ["l0000!count", "$l0000!x"], ["l0000!loose", "$$l0000!y"],
    ]
    assert made.symbols["l0000!loose"].declared is False
    assert made.symbols["l0001!Count"].declared is True
    assert [made.symbols[name].cls for name in ("@l0001!total", "n$l0001!in", "$l0000!x", "$$l0000!y")] == [
        RegisterClass.ABSOLUTE, RegisterClass.NEIGHBOR, RegisterClass.SRAM, RegisterClass.DRAM,
    ]


def test_a_declaration_holds_from_its_line_on():
    made = program(".begin\nalu[a, --, b, 1]\n.reg a\nalu[a, --, b, 2]\n.end\nalu[a, --, b, 3]")
    assert [i.operation.operands[0].name for i in made.instructions] == ["l0000!a", "l0001!a", "l0000!a"]


def test_global_and_local():
    made = program(".begin\n.reg global volatile g\n.end\n.local a\nalu[g, --, b, a]\n.endlocal\nalu[g, --, b, a]")
    assert [i.operation.operands[3].name for i in made.instructions] == ["l0002!a", "l0000!a"]
    assert made.symbols["l0000!g"].volatile


def test_qualifiers_in_any_order():
    made = program("""
        .reg volatile read $a
        .reg read volatile $b
        .reg write $$c[2]
        .reg read write $d
        .use $a $b $c $$c $d
    """)
    halves = {symbol.spelling: (symbol.half, symbol.volatile) for symbol in made.symbols.values()}
    assert halves == {
        "$a": (Half.READ, True), "$b": (Half.READ, True), "$c": (Half.BOTH, False), "$d": (Half.BOTH, False),
        "$$c[0]": (Half.WRITE, False), "$$c[1]": (Half.WRITE, False),
    }


def test_aggregates():
    made = program(".reg x[4] $buffer[3]\n#define N 2\n.xfer_order $buffer\nalu[x[N + 1], --, b, $buffer[1]]")
    assert made.instructions[0].operation.operands[0] == Register(RegisterClass.GPR, name="l0000!x[3]")
    assert made.xfer_orders[0].names == ("$l0000!buffer[0]", "$l0000!buffer[1]", "$l0000!buffer[2]")
    member = made.symbols["l0000!x[3]"]
    assert (member.aggregate, member.index, member.spelling) == ("l0000!x", 3, "x[3]")
    assert "l0000!x[0]" not in made.symbols, "only members that are named become registers"


def test_xfer_order_halves():
    made = program("""
        .reg read $r0 $r1
        .reg $b0 $b1
        .xfer_order $r0, $r1
        .xfer_order $b0 $b1
        .xfer_order_wr $b1 $b0
    """)
    assert [order.half for order in made.xfer_orders] == [Half.READ, Half.BOTH, Half.WRITE]


def test_flow_facts_stand_before_the_next_instruction():
    made = program("""
        .sig s
        .reg read $r
        .reg $b
        nop
        .set $r a $b
        .use $b
        .set_rd $b
    here#:
        .set_sig s
        nop
        .io_completed s
    """)
    assert made.instructions[0].facts == ()
    assert [(fact.kind, fact.name, fact.half) for fact in made.instructions[1].facts] == [
        (FactKind.SET, "$l0000!r", Half.READ), (FactKind.SET, "l0000!a", Half.BOTH), (FactKind.SET, "$l0000!b", Half.READ),
        (FactKind.USE, "$l0000!b", Half.WRITE), (FactKind.SET, "$l0000!b", Half.READ),
        (FactKind.SET_SIGNAL, "l0000!s", Half.BOTH),
    ]
    assert [fact.kind for fact in made.end_facts] == [FactKind.IO_COMPLETED]
    assert made.instructions[1].labels == ("here#",)


def test_labels():
    made = program("a#: b#:\n\nc#: nop\n.reg x\nd#:\nbr[A#]\ne#:")
    assert made.labels == {"a#": 0, "b#": 0, "c#": 0, "d#": 1, "e#": 2}
    assert made.instructions[0].labels == ("a#", "b#", "c#")
    assert made.instructions[1].operation.operands == (Target(None, "a#"),)


def test_labels_in_macros_belong_to_one_expansion():
    made = program("""
        #macro wait(where)
        again#:
            br[again#]
            br[where]
            br[outer#]
        #endm
        #macro twice
            wait(again#)
        again#:
            wait(outer#)
        #endm
        outer#: nop
        again#: nop
        wait(again#)
        twice
    """)
    targets = [i.operation.operands[0].name for i in made.instructions[2:]]
    assert targets == [
        "m0001!again#", "again#", "outer#",
        # In twice (expansion 2), wait is 3 and 4. The argument again# means the label of twice, not that of wait.
        "m0003!again#", "m0002!again#", "outer#", "m0004!again#", "outer#", "outer#",
    ]


def test_a_label_given_to_a_macro_can_be_defined_there():
    made = program("#macro entry(where)\nwhere:\n nop\n#endm\nentry(start#)\nbr[start#]")
    assert made.labels == {"start#": 0}


def test_operands_of_every_kind():
    text = """
        .sig s, t
        here#:
        alu[--, *l$index0[3], AND~, *$index++]
        alu[*l$index1++, 0xff, B-A, *n$index++]
        alu_shf[a, --, ~b, b, <<rot5]
        alu_shf[a, b, or, c, >>(1 << 2)]
        alu_shf[a, b, or, c, <<INDIRECT]
        ld_field_w_clr[a, 0011, b, >>8], load_cc
        sram[READ, $x, a, 4, max_4], indirect_ref, sig_done[s]
        ctx_arb[s, T], any, br[here#], defer[1]
        ctx_arb[--]
        br!=ctx[3, here#]
        jump[a, here#], targets[here#, here#]
        local_csr_wr[active_lm_addr_0, (1 + 1)]
        br_inp_state[scr_ring3_status, here#]
        immed[a, -1]
    """
    gpr = {name: Register(RegisterClass.GPR, name=f"l0000!{name}") for name in "abc"}
    s, t, here = Signal(None, "l0000!s"), Signal(None, "l0000!t"), Target(None, "here#")
    assert operations(text) == [
        Operation("alu", (
            Nothing(), Register(RegisterClass.LOCAL_MEMORY, 3), Word("AND~"), Register(RegisterClass.SRAM_INDEX, post=1),
        )),
        Operation("alu", (
            Register(RegisterClass.LOCAL_MEMORY, pointer=1, post=1), Constant(255, "0xff"), Word("B-A"),
            Register(RegisterClass.NEIGHBOR_INDEX, post=1),
        )),
        Operation("alu_shf", (gpr["a"], Nothing(), Word("~B"), gpr["b"], Word("<<rot5"))),
        Operation("alu_shf", (gpr["a"], gpr["b"], Word("OR"), gpr["c"], Word(">>4"))),
        Operation("alu_shf", (gpr["a"], gpr["b"], Word("OR"), gpr["c"], Word("<<indirect"))),
        Operation("ld_field_w_clr", (gpr["a"], Constant(11, "0011"), gpr["b"], Word(">>8")), (Token("load_cc"),)),
        Operation(
            "sram", (Word("read"), Register(RegisterClass.SRAM, name="$l0000!x"), gpr["a"], Constant(4, "4"), Word("max_4")),
            (Token("indirect_ref"), Token("sig_done", (s,))),
        ),
        Operation("ctx_arb", (s, t), (Token("any"), Token("br", (here,)), Token("defer", (Constant(1, "1"),)))),
        Operation("ctx_arb", (Nothing(),)),
        Operation("br!=ctx", (Constant(3, "3"), here)),
        Operation("jump", (gpr["a"], here), (Token("targets", (here, here)),)),
        Operation("local_csr_wr", (Word("ACTIVE_LM_ADDR_0"), Constant(2, "(1 + 1)"))),
        Operation("br_inp_state", (Word("SCR_RING3_STATUS"), here)),
        Operation("immed", (gpr["a"], Constant(0xFFFFFFFF, "-1"))),
    ]


def test_addresses_are_deferred():
    made = program("""
        .sig volatile arrived
        .reg read $first $second
        .reg $list[4] both
        .sig both
        here#:
        immed[a, (&$first | (&arrived << 12))]
        immed[a, &$list[2]]
        immed[a, &both]
        immed[a, (here# + 1)]
        load_addr[a, here#]
    """)
    values = [instruction.operation.operands[1] for instruction in made.instructions]
    assert all(isinstance(value, Deferred) for value in values[:4])
    numbers = {
        AddressOf(AddressKind.REGISTER, "$l0000!first"): 3, AddressOf(AddressKind.SIGNAL, "l0000!arrived"): 5,
        AddressOf(AddressKind.REGISTER, "$l0000!list[2]"): 6, AddressOf(AddressKind.SIGNAL, "l0000!both"): 7,
        AddressOf(AddressKind.LABEL, "here#"): 9,
    }
    assert [value.resolve(numbers.__getitem__).value for value in values[:4]] == [0x5003, 6, 7, 10]
    assert values[4] == Target(None, "here#")
    assert made.symbols["$l0000!first"].address_taken and made.signals["l0000!arrived"].address_taken
    assert "$l0000!second" not in made.symbols
    assert made.signals["l0000!arrived"].volatile


def test_a_deferred_value_can_fail_late():
    made = program(".sig s\nimmed[a, (1 / (&s - 4))]")
    with pytest.raises(ExpressionError, match="division by zero"):
        made.instructions[0].operation.operands[1].resolve(lambda address: 4)


def test_physical_text():
    made = program("""
        .physical
        .num_contexts 4
        alu[@b17, $3, +, $$1]
        ctx_arb[s3], br[l7#]
        l5#: br[l5#]
        .word 0xf0000c0300
        .probe done, a3
    """)
    assert made.physical and made.contexts == 4
    assert made.instructions[0].operation.operands == (
        Register(RegisterClass.ABSOLUTE, 17, "b"), Register(RegisterClass.SRAM, 3), Word("+"), Register(RegisterClass.DRAM, 1),
    )
    assert made.instructions[1].operation == Operation(
        "ctx_arb", (Signal(3),), (Token("br", (Target(7, "l7#"),)),)
    )
    assert made.instructions[2].operation.operands == (Target(None, "l5#"),), "a label that is defined is where it is defined"
    assert made.instructions[3].word == 0xF0000C0300
    assert made.probes[0].key == Register(RegisterClass.GPR, 3, "a")
    assert made.symbols == {}


def test_probes():
    made = program("nop\n.probe started, handle\nnop\n.probe dropped")
    assert [(probe.name, probe.index, probe.key) for probe in made.probes] == [
        ("started", 1, Register(RegisterClass.GPR, name="l0000!handle")), ("dropped", 2, None),
    ]


def test_places_of_operands_through_macros():
    made = program("#macro load(to, value)\n  immed[to, value]\n#endm\nalu[a,\n  b, +, c]\nload(x, 7)")
    first, second = made.instructions
    assert [(o.span.line, o.span.column, o.span.length) for o in first.operand_origins] == [
        (4, 5, 1), (5, 3, 1), (5, 6, 1), (5, 9, 1),
    ]
    assert [(o.span.line, o.span.column, o.span.length) for o in second.operand_origins] == [(2, 9, 2), (2, 13, 5)]
    assert [(frame.macro, frame.call.line, frame.call.column) for frame in second.origin.expansions] == [("load", 6, 1)]
    assert (first.source, second.source) == ("alu[a, b, +, c]", "immed[x, 7]")


def test_defines_from_outside_and_include(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "more.uc").write_text("immed[a, VALUE]\n")
    main = tmp_path / "main.uc"
    main.write_text('#include "more.uc"\n')
    made = read_program(main, include=[tmp_path / "lib"], define={"value": 5})
    assert made.instructions[0].operation.operands[1].value == 5
    assert made.instructions[0].origin.span.file == str(tmp_path / "lib" / "more.uc")
    assert set(made.sources.lines) == {str(main), str(tmp_path / "lib" / "more.uc")}


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(AssemblyError, match="cannot read"):
        read_program(tmp_path / "nothing.uc")


def test_old_text_files(tmp_path):
    old = tmp_path / "old.uc"
    old.write_bytes("; für\r\n".encode("latin-1") + b"nop\r\nhalt\r\n")
    assert [operation.mnemonic for operation in (i.operation for i in read_program(old).instructions)] == ["nop", "halt"]
    new = tmp_path / "new.uc"
    new.write_bytes(b"\xef\xbb\xbfnop\r")
    assert len(read_program(new).instructions) == 1


def test_warnings_stay_in_the_findings():
    findings = Findings()
    program("#if NOTHING\n#endif\nnop", findings=findings)
    assert [diagnostic.severity for diagnostic in findings.diagnostics] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7), ("0x10", 16), ("010", 10), ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("10 - 4 - 3", 3), ("-7 / 2", -3),
        ("-7 % 2", -1), ("7 / -2", -3), ("1 << 4 | 1", 17), ("6 & 3 == 3", 0), ("6 & (3 == 3)", 0), ("6 ^ 3", 5),
        ("~0", -1), ("!5", 0), ("!0", 1), ("-1 >> 28", 15), ("0xffffffff + 1", 0), ("-1 < 0", 1), ("0x80000000 < 0", 1),
        ("2 > 1 && 0", 0), ("0 && 1 / 0", 0), ("1 || 1 / 0", 1), ("0 ? 1 : 2 ? 3 : 4", 3), ("1 == 1 != 0", 1),
        ("- - 3", 3), ("0x7fffffff * 2", -2),
    ],
)
def test_constant_expressions(text, value):
    constant = operations(f"immed[a, {text}]")[0].operands[1]
    assert constant.value == value & 0xFFFFFFFF
    assert constant.text == text


def test_whole_ordinary_lines_are_read_quickly():
    """Not a benchmark: a guard against work that grows faster than the text."""
    from ixpemu.asm import parser

    before = len(parser._shapes)
    program("\n".join(f"label{n}#: alu[dest{n % 40}, source{n % 7}, +, {n % 256}]" for n in range(2000)))
    assert len(parser._shapes) <= before + 1, "lines of one shape are parsed once"
