"""A move goes to another workstation whole, and an archive that pghaul has not written changes nothing."""

import hashlib
import json
import os
import re
import shutil
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.api import archives as actions
from core.benchmarks.model import Volume
from core.cli.main import main
from core.errors import InputError, PghaulError
from core.history import archive as archives
from core.history.store import Filter, Store
from core.migration.model.execution import State
from core.reports.make import Format, Kind, of_move, write
from core.reports.options import Options
from core.reports.report import build
from core.sides import Side
from tests.core.history import samples
from tests.core.history.contents import contents
from tests.core.history.samples import MOVE, OLD
from tests.histories import Histories

UNPACKED = 64 * 2**20
AT = datetime(2026, 11, 23, 10, tzinfo=UTC)
Members = dict[str, bytes]


@pytest.fixture
def here(histories: Histories, tmp_path: Path) -> Iterator[Store]:
    with histories.open(tmp_path / "here", samples.fill) as store:
        store.add_move(replace(MOVE, name="another"))
        yield store


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What another workstation has: a history with rows of its own, and another key."""
    folder = tmp_path_factory.mktemp("theirs")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGHAUL_CONFIG", str(folder / "their config"))
        with Store.open(folder / "there") as store:
            for name in ("a", "b"):
                store.add_profile(replace(OLD, name=name))
            store.add_move(replace(MOVE, name="theirs", old="a", new="b"))
            store.save_plan("theirs", samples.plan())
    return folder


@pytest.fixture
def there(theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """That workstation's history."""
    shutil.copytree(theirs, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "their config"))
    with Store.open(tmp_path / "there") as store:
        yield store


@pytest.fixture(scope="module")
def exported(histories: Histories, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The move of `here` as an archive."""
    folder = tmp_path_factory.mktemp("exported")
    with histories.open(folder / "history", samples.fill) as store:
        return actions.export_move(store, MOVE.name, folder / "x.pghaul").read_bytes()


@pytest.fixture
def path(exported: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "x.pghaul"
    path.write_bytes(exported)
    return path


@pytest.mark.slow
def test_the_same_reports_byte_for_byte(here: Store, there: Store, path: Path, tmp_path: Path) -> None:
    assert actions.import_move(there, path).move == MOVE.name
    options = Options(at=AT, raw=True, functions=True)
    for kind in (Kind.PLAN, Kind.EXECUTION, Kind.CAPACITY):
        for shape in (Format.HTML, Format.MARKDOWN, Format.JSON, *([Format.PDF] if kind is Kind.CAPACITY else [])):
            made = []
            for store in (here, there):
                to = tmp_path / f"{kind.value}-{shape.value}-{store.path.parent.name}"
                write(of_move(kind, build(store, MOVE.name, AT), options), options, shape, to)
                made.append(to.read_bytes())
            assert made[0] == made[1], (kind, shape)
            assert len(made[0]) > 500


@pytest.mark.slow
def test_it_comes_whole(here: Store, there: Store, path: Path) -> None:
    there_before = contents(there.path)
    actions.import_move(there, path)
    assert there.moves() == (MOVE, there.move("theirs"))
    for read in (
        lambda store: [replace(run, id=None) for run in store.runs(MOVE.name)],
        lambda store: store.probes(MOVE.name),
        lambda store: store.checks(MOVE.name),
        lambda store: store.estimates(MOVE.name),
        lambda store: store.plan(MOVE.name),
        lambda store: store.commands(MOVE.name),
        lambda store: [(each.started_at, each.state, each.plan) for each in store.executions(MOVE.name)],
        lambda store: [replace(each, id=0) for run in store.executions(MOVE.name) for each in run.steps],
        lambda store: store.facts(OLD.name),
        lambda store: [(each.at, each.kind, each.title) for each in store.entries(1000, Filter(move=MOVE.name))],
    ):
        assert read(there) == read(here)
    after = contents(there.path)
    assert {name: rows - after[name] for name, rows in there_before.items() if rows - after[name]} == {}


@pytest.mark.slow
def test_what_was_recorded_elsewhere_does_not_run(there: Store, path: Path) -> None:
    actions.import_move(there, path)
    assert there.from_elsewhere(MOVE.name) == ("execution 1", "hook move-address", "waiver of libc")
    assert there.recorded_here(1) is False


def test_what_concerns_one_workstation_alone_stays_there(here: Store, tmp_path: Path) -> None:
    here.update_profile(replace(OLD, identity_file="/home/dba/.ssh/id_secret"))
    members = _members(actions.export_move(here, MOVE.name, tmp_path / "y.pghaul"))
    assert b"id_secret" not in b"".join(members.values())
    for row in json.loads(members["tables/executions.json"]):
        assert row["seal"] is row["process"] is None
    assert [row["name"] for row in json.loads(members["tables/moves.json"])] == [MOVE.name]


@pytest.mark.slow
def test_into_the_history_that_it_came_from(here: Store, tmp_path: Path) -> None:
    path = tmp_path / "over.pghaul"
    here.execution_changed(1, State.DONE)
    actions.export_move(here, MOVE.name, path)
    with pytest.raises(InputError, match=MOVE.name) as refused:
        actions.import_move(here, path)
    assert "--name" in refused.value.hint
    facts = here.facts_history(OLD.name)
    assert actions.import_move(here, path, "once more").move == "once more"
    assert len(here.runs("once more")) == 10
    assert here.facts_history(OLD.name) == facts  # its servers were there, and so were their facts
    assert len(here.profiles()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "once more"])
def test_an_execution_that_can_be_continued_is_in_a_history_once(here: Store, tmp_path: Path, name: str | None) -> None:
    """Whatever has become of it here since: its copy would continue what has been done."""
    path = tmp_path / "paused.pghaul"
    here.execution_changed(1, State.PAUSED)
    actions.export_move(here, MOVE.name, path)
    for state in (State.PAUSED, State.DONE):
        here.execution_changed(1, state)
        with pytest.raises(InputError, match=f"as execution 1 of the move '{MOVE.name}'") as refused:
            actions.import_move(here, path, name)
        assert "--resume" in refused.value.hint
        assert len(here.moves()) == 2


@pytest.mark.slow
def test_another_server_of_the_same_name(there: Store, path: Path) -> None:
    there.add_profile(replace(OLD, address="192.0.2.200"))
    before = contents(there.path)
    with pytest.raises(InputError, match=r" 10\.0\.0\.35\b"):
        actions.import_move(there, path)
    assert contents(there.path) == before


def test_nothing_is_overwritten(here: Store, path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(InputError, match=re.escape(str(path))):
        actions.export_move(here, MOVE.name, path)
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="cannot be written: there is no such file"):
        actions.export_move(here, MOVE.name, path.parent / "nowhere" / "x")
    with pytest.raises(InputError, match="the move 'third' does not exist"):
        actions.export_move(here, "third", path.parent / "z")
    assert not (path.parent / "z").exists()


def _members(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _sealed(path: Path, members: Members, **head: object) -> None:
    """Write the members with sums that are right, as somebody would who knows how."""
    said = json.loads(members["archive.json"])
    said["sums"] = {name: hashlib.sha256(text).hexdigest() for name, text in members.items() if name != "archive.json"}
    _written(path, {**members, "archive.json": json.dumps({**said, **head}).encode()})


def _written(path: Path, members: Members) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)


def _changed(table: str, change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path, Members], None]:
    def make(path: Path, members: Members) -> None:
        name = f"tables/{table}.json"
        rows = json.loads(members[name])
        change(rows)
        _sealed(path, {**members, name: json.dumps(rows).encode()})

    return make


def test_a_move_that_was_called_as_a_volume_can_be_imported(there: Store, path: Path) -> None:
    """So were moves of lists called before."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    named = "db1:/srv/pg"
    rows = json.loads(members["tables/moves.json"])
    members["tables/moves.json"] = json.dumps([{**row, "name": named} for row in rows]).encode()
    _sealed(path, members, move=named)
    with pytest.raises(InputError, match="--name NAME"):
        actions.import_move(there, path)
    assert actions.import_move(there, path, "spring").move == "spring"


def _bomb(path: Path, members: Members) -> None:
    """A member of 300 MiB in 300 kB."""
    _sealed(path, {**members, "texts/probes/raw/1": bytes(300 * 2**20)})


def _values(value: bytes) -> Callable[[Path, Members], None]:
    """A table of a few megabytes that needs hundreds of megabytes once it is read."""

    def make(path: Path, members: Members) -> None:
        many = b"[" + (value + b",") * archives.MOST_VALUES + value + b"]"
        _sealed(path, {**members, "tables/hooks.json": many})

    return make


def _packed(kind: int) -> Callable[[Path, Members], None]:
    """A head that says 100 bytes of itself, and becomes a hundred times as much as an archive may."""

    def make(path: Path, _: Members) -> None:
        with zipfile.ZipFile(path, "w", kind) as archive, archive.open("archive.json", "w") as member:
            for _mebibyte in range(UNPACKED >> 20):
                member.write(bytes(2**20))
        packed = bytearray(path.read_bytes())
        struct.pack_into("<L", packed, packed.rindex(b"PK\x01\x02") + 24, 100)
        path.write_bytes(packed)

    return make


def _many(path: Path, members: Members) -> None:
    _sealed(path, {**members, **{f"texts/probes/raw/{number}": b"" for number in range(1000, 1300)}})


def _twice(path: Path, members: Members) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive.json", members["archive.json"])
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("archive.json", members["archive.json"])


HOSTILE: dict[str, tuple[Callable[[Path, Members], object], str]] = {
    "no zip": (lambda path, _: path.write_bytes(b"dear diary" * 99), "is not an archive of pghaul, or is damaged"),
    "empty": (lambda path, _: path.write_bytes(b""), "is not an archive of pghaul, or is damaged"),
    "cut off": (lambda path, _: path.write_bytes(path.read_bytes()[:-300]), "is not an archive of pghaul"),
    "bits turned": (
        lambda path, _: path.write_bytes(path.read_bytes()[:900] + b"\xff" * 400 + path.read_bytes()[1300:]),
        "is damaged",
    ),
    "another zip": (lambda path, _: _written(path, {"a.txt": b"x"}), "it contains the unknown member 'a.txt'"),
    "no head": (lambda path, _: _written(path, {"tables/moves.json": b"[]"}), "does not contain archive.json"),
    "a path": (lambda path, members: _sealed(path, {**members, "../../etc/passwd": b"x"}), "unknown member"),
    "an absolute path": (lambda path, members: _sealed(path, {**members, "/etc/cron.d/x": b"x"}), "unknown member"),
    "two of a name": (_twice, "members of the same name"),
    "a bomb": (_bomb, "more than 256"),
    "texts of no row": (_many, "texts that belong to no row"),
    "a wrong sum": (
        lambda path, members: _written(path, {**members, "tables/probes.json": members["tables/probes.json"] + b" "}),
        "the checksum of tables/probes.json is wrong",
    ),
    "a missing member": (
        lambda path, members: _written(path, {n: t for n, t in members.items() if n != "tables/probes.json"}),
        "its members differ from its list",
    ),
    **{
        f"many times {value.decode()}": (_values(value), "too many values")
        for value in (b"[]", b"{}", b"0", b'""', b'{"id":1}', b"[[[]]]")
    },
    "a missing table": (
        lambda path, members: _sealed(path, {n: t for n, t in members.items() if n != "tables/hooks.json"}),
        "tables/hooks.json is missing",
    ),
    "a newer schema": (lambda path, members: _sealed(path, members, schema="9999"), r"newer pghaul \(schema 9999;"),
    "a newer format": (lambda path, members: _sealed(path, members, format=2), r"newer pghaul \(format 2;"),
    "an older schema": (lambda path, members: _sealed(path, members, schema="0001"), "written by an older pghaul"),
    "a head of nothing": (lambda path, members: _written(path, {**members, "archive.json": b"[]"}), "another program"),
    "deep JSON": (
        lambda path, members: _sealed(path, {**members, "tables/moves.json": b"[" * 200_000}),
        "are not JSON",
    ),
    "no list": (lambda path, members: _sealed(path, {**members, "tables/moves.json": b"{}"}), "is not a list"),
    "no move": (_changed("moves", lambda rows: rows.clear()), "does not contain exactly one move|belongs to no"),
    "two moves": (_changed("moves", lambda rows: rows.append({**rows[0], "id": 9})), "not contain exactly one move"),
    "another column": (_changed("moves", lambda rows: rows[0].update(more=1)), "has the wrong columns"),
    "a number for a name": (
        _changed("moves", lambda rows: rows[0].update(name=7)),
        r"moves\.name of a row has the value '7'",
    ),
    "a huge number": (
        _changed("probes", lambda rows: rows[0].update(bytes=2**64)),
        r"probes\.bytes of a row has the value",
    ),
    "no instant": (_changed("probes", lambda rows: rows[0].update(taken_at="now")), "'now' is not a point in time"),
    "no zone": (
        _changed("probes", lambda rows: rows[0].update(taken_at="2026-01-01T00:00:00")),
        "has no time zone",
    ),
    "a number without end": (_changed("probes", lambda rows: rows[0].update(seconds=10**400)), r"probes\.seconds of a"),
    "an instant before all": (
        _changed("probes", lambda rows: rows[0].update(taken_at="0001-01-01T00:00:00+23:59")),
        "is not a point in time",
    ),
    "an instant after all": (
        _changed("probes", lambda rows: rows[0].update(taken_at="9999-12-31T23:59:59-23:59")),
        "is not a point in time",
    ),
    "facts of the future": (
        _changed("facts", lambda rows: rows[0].update(taken_at="2199-01-01T00:00:00+00:00")),
        "is in the future",
    ),
    "a server with unknown rights": (
        _changed("profiles", lambda rows: rows[0].update(rights="all")),
        "unknown rights: 'all'",
    ),
    "a note without end": (
        _changed("runs", lambda rows: rows[0].update(note="x" * 10_001)),
        "a note has 10001 characters",
    ),
    "another's row": (_changed("runs", lambda rows: rows[0].update(move_id=77)), r"\bruns\b.*\bmoves\b"),
    "the same row twice": (_changed("hooks", lambda rows: rows.append(rows[0])), "was not written by pghaul"),
    "an unknown word": (_changed("executions", lambda rows: rows[0].update(state="flying")), "flying"),
    "a name that steers": (_changed("moves", lambda rows: rows[0].update(name="a\x1b[2Jb")), r"U\+001B"),
    "a server's name that steers": (_changed("profiles", lambda rows: rows[0].update(name="a\u202eb")), r"U\+202E"),
    "a document of nothing": (
        lambda path, members: _sealed(path, {**members, "texts/plans/document/1": b"{}"}),
        "this version cannot read",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_a_member_that_says_less_of_itself_than_it_becomes(path: Path, kind: int) -> None:
    _packed(kind)(path, {})
    assert path.stat().st_size < UNPACKED / 500
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            archives.read(path)
        assert tracemalloc.get_traced_memory()[1] < UNPACKED / 8
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_of_a_server_of_ones_own_its_own_facts_count(there: Store, path: Path) -> None:
    there.add_profile(OLD)
    actions.import_move(there, path)
    assert there.facts_history(OLD.name) == ()
    assert there.facts(samples.NEW.name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_an_archive_that_pghaul_has_not_written(there: Store, path: Path, kind: str) -> None:
    make, said = HOSTILE[kind]
    make(path, _members(path))
    before = contents(there.path)
    with pytest.raises(PghaulError, match=said) as refused:
        actions.import_move(there, path)
    assert refused.value.exit_code == 2
    assert refused.value.hint
    assert contents(there.path) == before


def test_a_file_that_is_not_there(there: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=": there is no such file"):
        actions.import_move(there, tmp_path / "nothing")
    with pytest.raises(InputError, match=": it is a folder"):
        actions.import_move(there, tmp_path)


def test_the_size_of_all_is_bounded(there: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(map(len, _members(path).values()))
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", size - 1)
    with pytest.raises(InputError, match=re.escape(str(path))):
        actions.import_move(there, path)
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", size)
    actions.import_move(there, path)


def _values_of(members: Members) -> int:
    return max(sum(map(text.count, (b",", b"[", b"{"))) for name, text in members.items() if name.endswith(".json"))


LIMITS: dict[str, Callable[[Members], int]] = {
    "MOST_VALUES": _values_of,
    "MOST_MEMBERS": len,
    "LARGEST_ARCHIVE": lambda members: sum(map(len, members.values())),
    "LARGEST": lambda members: max(map(len, members.values())),
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("of_move", [True, False])
def test_what_could_not_be_imported_is_not_exported(
    here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, *, of_move: bool
) -> None:
    """By one limit for both, to the last value and byte; no other file stays, and what is replaced stays whole."""
    (run, *_) = samples.runs(Side.OLD)
    here.add_runs((replace(run, move=None, volume=Volume(None, OLD.name, "/mnt/a", "/mnt/a/bench")),))

    def export(to: Path, *, replacing: bool = False) -> Path:
        if of_move:
            return actions.export_move(here, MOVE.name, to, replacing=replacing)
        return actions.export_runs(here, [f"{OLD.name}:/mnt/a"], to, replacing=replacing).path

    folder = tmp_path / "archives"
    folder.mkdir()
    first = export(folder / "first.pghaul")
    before, needed = first.read_bytes(), LIMITS[limit](_members(first))
    monkeypatch.setattr(archives, limit, needed - 1)
    with pytest.raises(InputError, match=r"limit|more than") as unread:
        archives.read(first)
    for replacing in (True, False):
        with pytest.raises(InputError, match="too large for an archive") as refused:
            export(first if replacing else folder / "second.pghaul", replacing=replacing)
        assert ("entries of the move" in refused.value.hint) is of_move
        assert ("fewer volumes" in refused.value.hint) is not of_move
        assert refused.value.message.rpartition(": ")[2] == unread.value.message.rpartition(": ")[2]
        assert [each.name for each in folder.iterdir()] == ["first.pghaul"]
        assert first.read_bytes() == before
    monkeypatch.setattr(archives, limit, needed)
    archives.read(export(folder / "second.pghaul"))


@pytest.mark.slow
def test_as_it_is_typed(here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("PGHAUL_DATA", str(here.path.parent))
    archive = tmp_path / "typed.pghaul"
    assert main(["history", "export", MOVE.name, "-o", str(archive)]) == 0
    assert capsys.readouterr().out == f"{archive}\n"
    assert archive.stat().st_mode & 0o077 == 0 or os.name == "nt"
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "third"))
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "third config"))
    assert main(["history", "import", str(archive), "--name", "spring"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"\bspring\b", said)
    assert ": execution 1, hook move-address" in said
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "fourth"))
    assert main(["history", "import", str(archive), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["move"] == MOVE.name
