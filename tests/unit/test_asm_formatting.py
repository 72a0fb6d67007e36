"""How sources are laid out, by example; what is refused; the command that does it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ixpemu.asm.formatting import format_text
from ixpemu.diagnostics import AssemblyError

ROOT = Path(__file__).parents[2]
BEFORE = """\


#macro step( r,VALUE )     // a macro
#if (VALUE > 0)
alu[ r , r,+,VALUE ]      ; add
  alu[--,r,-,  16],defer[1] ; and compare
#else
.begin
.reg own
immed[own,0]
.end
#endif
#endm
#define TEXT 'a,b'   // kept
  .reg count   other
; a remark at the margin
start#: immed[count,0]
immed[other, 0]
      ; what follows
.if (count == 0)
alu[other, other, +,
1]             ; over two lines
               ; and a word more
.elif (count)
.while (1)
.break
.endw
.endif
 step( count, 1 )


/* a
  picture  */

end#:
ctx_arb[kill]
"""
AFTER = """\
#macro step( r,VALUE )                  // a macro
    #if (VALUE > 0)
        alu[r, r, +, VALUE]             ; add
        alu[--, r, -, 16], defer[1]     ; and compare
    #else
        .begin
            .reg own
            immed[own, 0]
        .end
    #endif
#endm
#define TEXT 'a,b'                      // kept
.reg count other
; a remark at the margin
start#: immed[count, 0]
    immed[other, 0]
    ; what follows
    .if (count == 0)
        alu[other, other, +,
            1]      ; over two lines
                    ; and a word more
    .elif (count)
        .while (1)
            .break
        .endw
    .endif
    step( count, 1 )


/* a
  picture  */

end#:
    ctx_arb[kill]
"""


def test_a_source_is_laid_out() -> None:
    assert format_text(BEFORE) == AFTER


@pytest.mark.parametrize(("before", "after"), [
    ("", ""),
    ("\n\n", ""),
    ("nop", "    nop\n"),
    ("nop\r\nnop", "    nop\r\n    nop\r\n"),
    ("nop ; one\nalu[a, a, +, 1] ; two\n", "    nop                 ; one\n    alu[a, a, +, 1]     ; two\n"),
    # One column that all have, and that leaves room, stays.
    ("    nop                 ; one\n    br[l#]              ; two\n", None),
    # A guard around a whole file indents nothing; another #ifndef does.
    ("#ifndef _A_\n#define _A_\n.reg a\n#endif\n", None),
    ("#ifndef A\n#define A\n#endif\nnop\n", "#ifndef A\n    #define A\n#endif\n    nop\n"),
    # A block that opens under one #if and closes under another.
    ("#ifdef A\n.begin\n#endif\nnop\n#ifdef A\n.end\n#endif\n.reg a\n",
     "#ifdef A\n    .begin\n#endif\n    nop\n    #ifdef A\n    .end\n    #endif\n.reg a\n"),
    # What stands in #if 0 need be nothing.
    ("#if 0\nsome [ text\n#endif\n", "#if 0\n    some [ text\n#endif\n"),
    ("t0#: br[a#]\nlonger#: br[b#]\n", "t0#: br[a#]\nlonger#: br[b#]\n"),
    ("a/**/b#:alu[x/**/y,'a,b',  +,1]\n", "a/**/b#: alu[x/**/y, 'a,b', +, 1]\n"),
    (".physical\nl0#:\nbr[l0#]\n", ".physical\nl0#:\n    br[l0#]\n"),
    ("#define LONG(x) \\\n        alu[x,x,+,1]\n", "#define LONG(x) \\\n    alu[x,x,+,1]\n"),
])
def test_one_thing_at_a_time(before: str, after: str | None) -> None:
    assert format_text(before) == (before if after is None else after)


@pytest.mark.parametrize(("text", "code", "line"), [
    ("nop\n/* never\nclosed\n", 1001, 2), ("#if (A)\nnop\n", 1004, 1), ("#macro m\n", 1004, 1), ("nop\n#endif\n", 1005, 2),
    ("#if 1\n#endm\n#endif\n", 1005, 2), ("#repeat (2)\n#endif\n#endloop\n", 1005, 2), ("alu[a, b\nnop\n", 2001, 1),
    ("nop\nalu[a]]\n", 2001, 2),
])
def test_what_does_not_hold_together_is_refused(text: str, code: int, line: int) -> None:
    with pytest.raises(AssemblyError) as raised:
        format_text(text, "x.uc")
    first = raised.value.diagnostics[0]
    assert first.origin is not None
    assert (first.code, first.origin.span.file, first.origin.span.line) == (code, "x.uc", line)


def fmt(*arguments: str, cwd: Path, given: bytes = b"") -> tuple[int, bytes, str]:
    done = subprocess.run(
        [sys.executable, "-m", "ixpemu", "fmt", *arguments], cwd=cwd, input=given, capture_output=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return done.returncode, done.stdout, done.stderr.decode()


def test_the_command_lays_out_files_in_place(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.uc").write_text(BEFORE)
    (tmp_path / "sub" / "b.uc").write_text("nop\n")
    (tmp_path / "sub" / "bad.uc").write_text("nop\n#endif\n")
    (tmp_path / "note.txt").write_text("nop\n")
    code, out, said = fmt("--check", ".", cwd=tmp_path)
    assert code == 1 and out == b"" and "a.uc is not laid out" in said and "IXP1005" in said and "bad.uc:2" in said
    code, out, said = fmt("--diff", "a.uc", cwd=tmp_path)
    assert code == 0 and b"+    .if (count == 0)" in out and (tmp_path / "a.uc").read_text() == BEFORE
    assert fmt(".", cwd=tmp_path)[0] == 1                       # for the one that is refused
    assert (tmp_path / "a.uc").read_text() == AFTER and (tmp_path / "sub" / "b.uc").read_text() == "    nop\n"
    assert (tmp_path / "sub" / "bad.uc").read_text() == "nop\n#endif\n" and (tmp_path / "note.txt").read_text() == "nop\n"
    assert fmt("--check", "a.uc", "sub/b.uc", cwd=tmp_path) == (0, b"", "")


def test_the_command_is_a_filter(tmp_path: Path) -> None:
    assert fmt("-", cwd=tmp_path, given=BEFORE.encode()) == (0, AFTER.encode(), "")
    code, out, said = fmt("-", cwd=tmp_path, given=b"nop\n#endm\n")
    assert (code, out) == (1, b"nop\n#endm\n") and "<standard input>:2" in said
    assert fmt("--check", "-", cwd=tmp_path, given=b"nop\n")[:2] == (1, b"")


def test_encodings_stay(tmp_path: Path) -> None:
    text = "nop ; \u00e9\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        (tmp_path / "x.uc").write_bytes(text.encode(encoding))
        assert fmt("x.uc", cwd=tmp_path)[0] == 0
        assert (tmp_path / "x.uc").read_bytes() == "    nop     ; \u00e9\n".encode(encoding)
    (tmp_path / "x.uc").write_bytes(b"\xff\xfen")                # half a character
    assert fmt("x.uc", cwd=tmp_path)[0] == 1 and (tmp_path / "x.uc").read_bytes() == b"\xff\xfen"


def test_wrong_usage(tmp_path: Path) -> None:
    assert fmt("-", "x.uc", cwd=tmp_path)[0] == 2
    assert fmt(".", cwd=tmp_path)[0] == 2                       # no source in it
    assert fmt("absent.uc", cwd=tmp_path)[0] == 1
