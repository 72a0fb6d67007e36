"""The cases of tests/corpus/link, through the command line.

Sections: `file NAME`; every `.uc` file is assembled to an `.ixp` beside it where the case has no app.toml. `arguments` of
`ixpemu link`, which asks for the map besides. Results: `map`, or `errors` as they are shown; a case with errors writes nothing.
"""

import pytest
from typer.testing import CliRunner

from ixpemu import assemble, codes
from ixpemu.cli_application import application
from ixpemu.cli_support import sources_of
from ixpemu.codes import TITLES
from ixpemu.diagnostics import UserError, render
from tests.support.corpus import cases, check, load

LINKED = {codes.LINK_NAME, codes.LINK_VALUE, codes.LINK_IMPORT, codes.LINK_REMOTE, codes.LINK_CLASH, codes.LINK_ROOM,
          codes.LINK_PLACE, codes.LINK_CHIP}


@pytest.mark.parametrize("path", cases("link"), ids=lambda path: path.stem)
def test_case(path, tmp_path, monkeypatch, update_goldens):
    case = load(path)
    monkeypatch.chdir(tmp_path)
    for name, text in case.files.items():
        (tmp_path / name).write_text(text)
        if name.endswith(".uc") and "app.toml" not in case.files:
            assemble(name).save(name.replace(".uc", ".ixp"))
    before = sorted(tmp_path.iterdir())
    arguments = ["link", *case.sections["arguments"].split(), "-o", "out.ixl", "--map", "out.map"]
    result = CliRunner().invoke(application("link"), arguments)
    if result.exception is not None:
        error = result.exception
        assert isinstance(error, UserError), result.output
        sources = sources_of(error.diagnostics)
        assert "errors" in case.sections, error
        check(case, "errors", "".join(render(one, sources) + "\n" for one in error.diagnostics), update_goldens)
        assert sorted(tmp_path.iterdir()) == before
    else:
        assert "errors" not in case.sections
        check(case, "map", (tmp_path / "out.map").read_text(), update_goldens)


def test_every_diagnostic_of_the_linker_has_a_case():
    shown = "".join(load(path).sections.get("errors", "") for path in cases("link"))
    assert [f"{code} {TITLES[code]}" for code in LINKED if f"IXP{code}" not in shown] == []
