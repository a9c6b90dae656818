"""A list in the history: what is new, known, known otherwise, and what cannot be."""

import json
from pathlib import Path

import pytest

from core.cli.main import main

HEAD = "name,address,new,cluster\n"


def imported(
    folder: Path, rows: str, capsys: pytest.CaptureFixture[str], *words: str, head: str = HEAD
) -> tuple[int, dict[str, list]]:  # type: ignore[type-arg]
    path = folder / "fleet.csv"
    path.write_text(head + rows)
    code = main(["server", "import", str(path), "--json", *words])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_a_list_is_taken_once_and_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "db1,192.0.2.1,new1,/srv/pg\nnew1,192.0.2.2,,\n"
    code, first = imported(tmp_path, rows, capsys)
    assert (code, first["added"], first["moves"]) == (0, ["db1", "new1"], ["db1:/srv/pg"])
    code, again = imported(tmp_path, rows, capsys)
    assert (code, again["added"], again["kept"], again["moves"]) == (0, [], ["db1", "new1"], ["db1:/srv/pg"])
    assert main(["move", "show", "db1:/srv/pg"]) == 0
    assert ": /srv on db1, /srv on new1" in capsys.readouterr().out


def test_what_is_known_otherwise_stays_unless_it_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(tmp_path, "db1,192.0.2.1,new1,/srv/pg\nnew1,192.0.2.2,,\nnew2,192.0.2.4,,\n", capsys)
    rows = "db1,192.0.2.1,new2,/srv/pg\nnew1,192.0.2.3,,\n"
    code, found = imported(tmp_path, rows, capsys)
    assert code == 1
    assert [(each["place"], each["name"]) for each in found["refused"]] == [("line 3", "new1"), ("line 2", "db1")]
    assert all("--replace" in each["hint"] for each in found["refused"])
    code, found = imported(tmp_path, rows, capsys, "--replace")
    assert (code, found["changed"], found["moves"]) == (0, ["new1"], ["db1:/srv/pg"])
    assert main(["move", "list", "--json"]) == 0
    assert [each["new"] for each in json.loads(capsys.readouterr().out)["moves"]] == ["new2"]


def test_what_a_list_does_not_say_of_a_move_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    servers = "new1,192.0.2.2,,,\nnew2,192.0.2.4,,,\n"
    head = "name,address,new,cluster,target\n"
    imported(tmp_path, f"db1,192.0.2.1,new1,/srv/pg,\n{servers}", capsys, head=head)
    move = "move", "add", "db1:/srv/pg", "--old", "db1", "--new", "new1", "--cluster", "/srv/pg"
    assert main([*move, "--tablespace", "/a=/b", "--allow-unencrypted", "--edited", "file", "--replace"]) == 0
    capsys.readouterr()
    rows = f"db1,192.0.2.1,new1,/srv/pg,/srv/pg2\n{servers}"
    assert imported(tmp_path, rows, capsys, "--replace", head=head)[0] == 0
    assert main(["move", "list", "--json"]) == 0
    (kept,) = json.loads(capsys.readouterr().out)["moves"]
    assert (kept["target"], kept["tablespace_targets"], kept["plain_text"]) == ("/srv/pg2", {"/a": "/b"}, True)
    assert kept["edited"] == "file"
    for row, lost in (("new2,/srv/pg,", "without encryption between"), ("new1,/srv/x,", "for another cluster")):
        named = f"{head.strip()},move\n"
        rows = f"db1,192.0.2.1,{row},db1:/srv/pg\n"
        code, found = imported(tmp_path, rows, capsys, "--replace", head=named)
        assert code == 1
        assert lost in found["refused"][0]["reason"]


def test_a_row_that_the_history_cannot_hold_is_no_end_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = f'"db\n1",192.0.2.1,,\n{"x" * 101},192.0.2.1,,\ndb2,192.0.2.2,nobody,/srv/pg\n'
    code, found = imported(tmp_path, rows, capsys)
    assert (code, found["added"], found["moves"]) == (1, ["db2"], [])
    reasons = [each["reason"] for each in found["refused"]]
    assert "U+000A" in reasons[0]
    assert " 101 " in reasons[1]
    assert "'nobody'" in reasons[2]


def test_for_people_and_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "fleet"
    path.write_text("db1\n$(x)\n")
    assert main(["server", "import", str(path)]) == 1
    said = capsys.readouterr().out
    assert "servers: 1 added" in said
    assert ": 1\n" in said
    assert "'$(x)'" in said
    assert main(["server", "import", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err
