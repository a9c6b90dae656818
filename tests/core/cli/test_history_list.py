"""`pghaul history list`, `runs` and `commands`, and `pghaul move list`: what they list, a page at a time."""

import dataclasses
import json
import re

import pytest

from core.cli.main import main
from core.history.store import Store
from tests.core.history import samples
from tests.core.history.samples import MOVE, NEW, OLD

Entries = list[dict[str, object]]


@pytest.fixture(autouse=True)
def _filled() -> None:
    with Store.open() as store:
        samples.fill(store)


def _entries(capsys: pytest.CaptureFixture[str], *options: str) -> Entries:
    assert main(["history", "list", "--json", *options]) == 0
    entries: Entries = json.loads(capsys.readouterr().out)["entries"]
    return entries


def test_the_list_goes_on_where_the_page_before_has_told(capsys: pytest.CaptureFixture[str]) -> None:
    whole = _entries(capsys, "--limit", "1000")
    found: Entries = []
    options: list[str] = []
    while True:
        assert main(["history", "list", "--json", "--limit", "4", *options]) == 0
        said = capsys.readouterr()
        found += json.loads(said.out)["entries"]
        told = re.search(r"--older-than (\w+) (\d+)", said.err)
        if told is None:
            break
        options = ["--older-than", *told.groups()]
    assert found == whole
    assert len(whole) > 8


def test_the_list_is_of_a_kind_a_server_and_a_period(capsys: pytest.CaptureFixture[str]) -> None:
    whole = _entries(capsys, "--limit", "1000")
    assert _entries(capsys, "--kind", "run", "--server", OLD.name) == [
        entry for entry in whole if entry["kind"] == "run" and entry["server"] == OLD.name
    ]
    day = str(samples.START.date())
    assert all(str(entry["at"]) >= day for entry in _entries(capsys, "--since", day))
    assert all(str(entry["at"]) < day for entry in _entries(capsys, "--before", day))
    assert len(_entries(capsys, "--since", day)) + len(_entries(capsys, "--before", day)) == len(whole)
    assert main(["history", "list", "--before", "2001-01-01"]) == 0
    assert capsys.readouterr().out == "no entry matches these options\n"
    assert main(["history", "list", "--server", "none"]) == 2


@pytest.mark.parametrize("wrong", [["--kind", "none"], ["--older-than", "run", "x"], ["--since", "yesterday"]])
def test_what_is_no_option_is_refused(capsys: pytest.CaptureFixture[str], wrong: list[str]) -> None:
    assert main(["history", "list", *wrong]) == 2
    assert wrong[0] in capsys.readouterr().err


def test_runs_are_listed_page_by_page(capsys: pytest.CaptureFixture[str]) -> None:
    def runs(*options: str) -> list[dict[str, object]]:
        assert main(["history", "runs", MOVE.name, "--json", *options]) == 0
        found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["runs"]
        return found

    whole = runs()
    assert runs("--limit", "3") == whole[-3:]
    assert runs("--limit", "2", "--older-than", str(whole[-3]["id"])) == whole[-5:-3]
    assert [run["volume"]["side"] for run in runs("--side", "new")] == ["new"] * (len(whole) // 2)  # type: ignore[index]
    main(["history", "runs", MOVE.name, "--older-than", str(whole[0]["id"])])
    assert capsys.readouterr().out == f"no benchmark run of {MOVE.name} matches these options\n"


def test_runs_of_a_server_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    """They may be of several moves, in which the server was the old or the new one."""
    for words in (("--server", NEW.name), (f"{NEW.name}:/var/lib/postgresql",)):
        assert main(["history", "runs", *words]) == 0
        volumes = {line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]}
        assert volumes == {f"{NEW.name}:/var/lib/postgresql"}
    assert main(["history", "runs", MOVE.name, "--side", "new"]) == 0
    assert {line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]} == {"new:/var/lib/postgresql"}


def test_commands_are_listed_by_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "commands", "--json", "--server", OLD.name]) == 0
    assert {each["server"] for each in json.loads(capsys.readouterr().out)["commands"]} == {OLD.name}
    assert main(["history", "commands", "--json", "--server", NEW.name]) == 0
    assert json.loads(capsys.readouterr().out)["commands"] == []


def test_moves_are_listed_page_by_page(capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        for name in ("autumn", "winter"):
            store.add_move(dataclasses.replace(MOVE, name=name))
        names = [move.name for move in store.moves()]
    assert main(["move", "list", "--json", "--limit", "2"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert [move["name"] for move in page["moves"]] == names[:2]
    assert set(page["from_elsewhere"]) == set(names[:2])
    assert main(["move", "list", "--after", names[1]]) == 0
    head, _rule, *rest = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in rest] == names[2:]
    assert head.startswith("name")
    assert main(["move", "list", "--after", names[-1]]) == 0
    assert capsys.readouterr().out == f"no move comes after {names[-1]}\n"
