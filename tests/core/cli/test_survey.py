"""What a survey prints: the moves as they are ranked, what was not read and why, and nothing that steers a terminal."""

import json
import re
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core import settings
from core.api.survey import Survey, SurveyedCluster, SurveyedServer
from core.cli.main import main
from core.cli.survey import text
from core.facts.model import Facts
from core.history.store import Store
from core.migration.model.estimate import Span
from core.migration.model.fleet import FleetMove
from core.migration.model.move import Move
from core.servers.lists.model import Refused

AT = datetime(2026, 3, 14, tzinfo=UTC)
CLUSTER = SurveyedCluster("/srv/pg", "15.5", running=True, size_bytes=2**30)


def move(name: str, old: str, **known: object) -> FleetMove:
    return FleetMove(Move(name, old, "new", "/srv/pg", "/srv/pg", "/", "/"), **known)  # type: ignore[arg-type]


def test_each_part_has_its_table() -> None:
    servers = (
        SurveyedServer("a", "192.0.2.1", AT, asked=True, seconds=1.0, clusters=(CLUSTER,)),
        SurveyedServer("b", "192.0.2.2", AT, asked=False, seconds=0.0, clusters=(CLUSTER,)),
        SurveyedServer("c\x1b[2J", "x", None, asked=True, seconds=9.0, failure="it is \x1bgone", hint="look there"),
    )
    span = Span(50.0, 60.0, 70.0)
    moves = (
        move("one", "a", size_bytes=2**30, downtime_seconds=span, window_seconds=900.0, warnings=1, pending=("x", "y")),
        move("two", "d", stops=("Versions", "Room", "Tools")),
        move("three", "e", unknown="no answer"),
        move("four", "f", moved_at=AT),
    )
    said = text(Survey(servers, moves, (Refused("line 4", "$(x)", "no address", "give one"),), AT, 12.0))
    assert re.search(r"^servers: 3, 1 .*, 1 .*\b12 s$", said, re.MULTILINE)
    assert re.search(r"^moves: 4; 1 \D+, 1 \D+, 1 \D+, 1 ", said, re.MULTILINE)
    assert "1 min 00 s to 1 min 10 s" in said
    assert "none; 1 warning; 2 checks to run first" in said
    assert re.search(r"^1 .*: pghaul check MOVE$", said, re.MULTILINE)
    assert "Versions; Room; 1 more" in said
    assert "not checked: no answer" in said
    assert "carried out on 2026-03-14" in said
    assert "c\\x1b[2J" in said
    assert "\x1b" not in said
    assert "line 4" in said
    left = said.partition("cluster without a move")[2]
    assert "b" in left
    assert "a  " not in left


def test_what_cannot_be_surveyed_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["survey"]) == 2
    assert "pghaul survey LIST" in capsys.readouterr().err
    assert main(["survey", "--jobs", "0"]) == 2
    assert "--jobs 0" in capsys.readouterr().err
    path = tmp_path / "fleet"
    path.write_text("\x7fELF\n")
    assert main(["survey", str(path)]) == 2
    err = capsys.readouterr().err
    assert str(path) in err
    assert "line 1: " in err


def test_a_survey_is_handed_out_as_a_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fleet, report = tmp_path / "fleet.csv", tmp_path / "fleet.md"
    fleet.write_text("name,address,port,new,cluster,move\na,127.0.0.1,1,b,/srv/pg,spring\nb,127.0.0.2,1,,,\n")
    assert main(["report", "fleet", "-o", str(report)]) == 2
    assert "pghaul survey" in capsys.readouterr().err
    assert main(["survey", str(fleet), "--json"]) == 1
    (move,) = json.loads(capsys.readouterr().out)["moves"]
    assert (move["state"], move["pending"]) == ("unknown", [])
    assert main(["report", "fleet", "-o", str(report), "--language", "de"]) == 0
    said = report.read_text()
    assert "Es gibt noch keinen Umzug" not in said
    assert "1 von 1 nicht geprüft" in said
    assert "| spring | a | b | a: 127.0.0.1 Port 1 lehnt die Verbindung ab |" in said
    assert main(["report", "fleet", "spring", "-o", str(tmp_path / "fleet.html")]) == 0
    assert main(["report", "fleet", "autumn", "-o", str(tmp_path / "none.html")]) == 2
    assert "the move 'autumn' does not exist" in capsys.readouterr().err


def test_a_bug_with_one_server_is_told_and_kept_while_the_survey_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, hook, known = tmp_path / "fleet.csv", threading.excepthook, Store.facts
    path.write_text("name,address,port\na,127.0.0.1,1\nb,127.0.0.1,1\n")

    def facts(store: Store, server: str) -> Facts | None:
        if server == "a":
            raise RuntimeError("unforeseen")
        return known(store, server)

    monkeypatch.setattr(Store, "facts", facts)
    assert main(["survey", str(path), "--json"]) == 1
    out, err = capsys.readouterr()
    failures = [each["failure"] for each in json.loads(out)["servers"]]
    assert "RuntimeError" in failures[0]
    assert "127.0.0.1 port 1" in failures[1]
    kept = (settings.data_folder() / "bugs.log").read_text()
    for said in (err, kept):
        assert "Traceback (most recent call last):" in said
        assert "RuntimeError: unforeseen" in said
    assert threading.excepthook is hook
