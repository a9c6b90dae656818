"""`pghaul history note` and what `pghaul history list` shows of it."""

import json

import pytest

from core.cli.main import main
from core.history.store import Store
from core.redaction import MASK
from tests.core.history import samples


def test_a_note_is_kept_listed_found_and_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    main(["history", "list"])
    assert "note" not in capsys.readouterr().out.splitlines()[0]
    assert main(["history", "note", "plan", "1", "second\ntry #night"]) == 0
    assert capsys.readouterr().out == "second\ntry #night\n"
    main(["history", "list"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[-1] == "note"
    assert [line.split()[2:4] for line in lines if line.endswith("  second…")] == [["plan", "1"]]
    assert main(["history", "list", "--tag", "night", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["entries"]
    assert (entry["kind"], entry["note"], entry["tags"]) == ("plan", "second\ntry #night", ["night"])
    main(["history", "list", "--tag", "day"])
    assert capsys.readouterr().out.endswith(" #day\n")
    assert main(["history", "note", "plan", "1", "", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"kind": "plan", "number": 1, "note": "", "tags": []}
    assert main(["history", "note", "plan", "1"]) == 0
    assert capsys.readouterr().out.startswith("plan 1 ")
    main(["history", "list", "--tag", ""])
    assert capsys.readouterr().out == "no entry has a note\n"
    assert main(["history", "note", "plan", "99", "x"]) == 2
    assert " plan 99" in capsys.readouterr().err


def test_secrets_in_a_note_are_masked_and_the_user_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    assert main(["history", "note", "plan", "1", "PGPASSWORD=geheim123 postgresql://u:s3cr3tpw@h/d"]) == 0
    said = capsys.readouterr()
    assert said.out == f"PGPASSWORD={MASK} postgresql://u:{MASK}@h/d\n"
    assert said.err.startswith("pghaul: ")
    assert f" {MASK} " in said.err
    assert said.err.endswith(" PGPASSWORD=, ://u:\n")
    assert main(["history", "note", "plan", "1", "no secret"]) == 0
    assert capsys.readouterr().err == ""


def test_the_list_shows_the_beginning_of_a_long_note(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    main(["history", "note", "plan", "1", "x" * 1000])
    capsys.readouterr()
    main(["history", "list"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "xx" in line]
    assert line.endswith(f" {'x' * 60}…")
