"""`pghaul history use | copy | grants` as they are typed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import settings
from core.cli.main import main
from core.history.places import FILE
from core.history.store import Store
from core.migration.model.execution import State
from tests.core.history import samples
from tests.core.history.samples import MOVE
from tests.postgresql import Server


@pytest.fixture
def url(postgresql: Server) -> Iterator[str]:
    place = postgresql.create("team")
    yield place
    postgresql.drop(place)


@pytest.mark.slow
def test_a_history_goes_to_a_server_is_used_there_and_comes_back(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Store.open() as store:
        samples.fill(store)
        store.execution_changed(1, State.DONE)
        local = store.name
    assert main(["history", "use", url]) == 0
    assert capsys.readouterr().out.endswith(f" {url}\n")
    assert main(["move", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moves"] == []
    assert main(["history", "copy", "local", url]) == 0
    assert "runs" in capsys.readouterr().out
    assert main(["history", "where", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"history": url}
    with Store.open() as store:
        assert store.moves() == (MOVE,)
    for words in (["backup"], ["restore", "x"], ["check"], ["prune", "--before", "1d", "--kind", "copy"]):
        assert main(["history", *words]) == 2
        assert "is on a server, not in a file" in capsys.readouterr().err
    assert main(["history", "prune", "--before", "1d", "--kind", "plan", "--yes"]) == 0
    capsys.readouterr()
    assert main(["history", "copy", url, "local", "--json"]) == 2  # there is still what there was
    assert "is not empty" in capsys.readouterr().err
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("PGHAUL_DATA", str(tmp_path / "another"))  # which has a place of its own
        assert main(["history", "copy", url, "local", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["rows"]["moves"] == 1
    assert main(["history", "use", "local", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"history": local}


def test_rights_are_printed_for_psql(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "grants", "read", "anna"]) == 2
    assert "pghaul history use URL" in capsys.readouterr().err
    assert main(["history", "use", url]) == 0
    capsys.readouterr()
    assert main(["history", "grants", "read", 'an"na']) == 0
    assert 'GRANT SELECT ON ALL TABLES IN SCHEMA pghaul TO "an""na";' in capsys.readouterr().out
    assert main(["history", "grants", "write", "anna", "--json"]) == 0
    assert any("INSERT" in line for line in json.loads(capsys.readouterr().out)["sql"])
    assert main(["history", "grants", "administer", "anna"]) == 0
    assert capsys.readouterr().out == 'GRANT "pghaul_tests" TO "anna";\n'


def test_what_cannot_be_used_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["history", "use", f"postgresql://me@/db?host={tmp_path}"]) == 2
    assert str(tmp_path).replace("/", "%2F") in capsys.readouterr().err
    assert main(["history", "use", "postgresql://me:geh3im@host/db"]) == 2
    assert "geh3im" not in capsys.readouterr().err
    assert main(["history", "use", f"postgresql://me@/db?host={tmp_path}", "--password"]) == 2
    assert "no terminal" in capsys.readouterr().err
    with Store.open() as store:
        assert store.path.is_file()


@pytest.mark.parametrize(
    "typed",
    [
        *("postgresql://me:geh3im@host:abc/db", "postgresql://me@host/db?sslpassword=geh3im"),
        *("postgresql:me:geh3im@host/db", "host=a password=geh3im", "postgresql://me@host:geh3im/db"),
    ],
)
def test_a_password_is_in_nothing_that_is_printed_or_kept(capsys: pytest.CaptureFixture[str], typed: str) -> None:
    for words in (["use", typed], ["use", typed, "--password"], ["copy", typed, "local"], ["copy", "local", typed]):
        assert main(["history", *words]) == 2
        printed = capsys.readouterr()
        assert "hint:" in printed.err
        assert "geh3im" not in printed.out + printed.err
    assert not (settings.config_folder() / FILE).exists()
    settings.config_folder().mkdir(parents=True, exist_ok=True)
    (settings.config_folder() / FILE).write_text(json.dumps({str(settings.data_folder().absolute()): typed}))
    for words in (["where"], ["list"], ["backup", "-o", "x"], ["check"], ["grants", "read", "me"]):
        assert main(["history", *words]) == 2
        printed = capsys.readouterr()
        assert "hint:" in printed.err
        assert "geh3im" not in printed.out + printed.err


def test_a_file_that_says_nonsense_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    settings.config_folder().mkdir(parents=True, exist_ok=True)
    (settings.config_folder() / FILE).write_text("[1]")
    assert main(["move", "list"]) == 2
    assert "which says where the history is stored, cannot be read" in capsys.readouterr().err
