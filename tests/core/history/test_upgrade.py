"""From the schema of every release to this one's: under a lock, all or nothing, the old file kept as a copy."""

import contextlib
import json
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy.dialects.sqlite import dialect

from core.errors import HistoryError
from core.facts.host_environment import HaOrPooler, IrregularFiles, SecurityPolicy
from core.history.database import FILE_NAME, MIGRATIONS, Migrations, open_engine
from core.history.models import Base
from core.history.store import Store
from core.history.types import LongText
from core.migration.model.checks import Status
from core.migration.model.transport import Route, Transport
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE, NEW, OLD

RELEASED = Path("tests/data/history")

GAPS = [
    ("md arrays", "it took too long", "arrays", ""),
    ("memory", "it took too long", "memory", ""),
    ("data directory /srv/a b", "there is no such folder", "place", "/srv/a b"),
    ("size of /srv/data", "bytes and files", "size", "/srv/data"),
    ("kinds of files of /srv/data", "it took too long", "irregular-files", "/srv/data"),
    ("catalogs of shop of /srv/data", "it could not be entered", "sql", "/srv/data"),
    ("running server 77", "its data directory cannot be seen", "postmasters", ""),
    ("file system /mnt/x", "df does not tell its space", "space", ""),
    ("rights of root", "sudo refused", "rights", ""),
]
"""Subject and reason of a gap as they were kept, and the section and data directory that it is of."""

NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = "{head}"


def upgrade() -> None:
    op.create_table("notes", sa.Column("id", sa.Integer(), primary_key=True))
    with op.batch_alter_table("moves", recreate="always") as table:
        table.add_column(sa.Column("comment", sa.Text(), nullable=True))
    {more}
"""


@pytest.fixture
def following(tmp_path: Path) -> Path:
    """A copy of the migrations, to which a test adds the next."""
    folder = tmp_path / "migrations 100%"
    shutil.copytree(MIGRATIONS.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _add(folder: Path, more: str) -> Migrations:
    (folder / "versions" / "next.py").write_text(NEXT.format(head=MIGRATIONS.head, more=more))
    return Migrations(folder, (*MIGRATIONS.revisions, "next"))


def _dump(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_models_and_migrations_agree(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = create_engine(f"sqlite:///{store.path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        differences = compare_metadata(context, Base.metadata)
    engine.dispose()
    assert differences == []


def test_constraints_are_named_as_the_models_name_them(store: Store) -> None:
    """compare_metadata looks at no names of keys; the next migration that alters a table needs them."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        Base.metadata.create_all(connection)
        wanted = {row[0]: _words(row[1]) for row in connection.exec_driver_sql("SELECT name, sql FROM sqlite_master")}
    engine.dispose()
    with contextlib.closing(sqlite3.connect(store.path)) as kept:
        made = {name: _words(sql) for name, sql in kept.execute("SELECT name, sql FROM sqlite_master")}
    made.pop("alembic_version")
    made = {name: words for name, words in made.items() if words}
    assert made == {name: words for name, words in wanted.items() if words}


def _words(sql: str | None) -> list[str]:
    """The parts of a statement in any order, and any type of date."""
    plain = (sql or "").replace("\t", " ").replace("\n", " ").replace(", ", " , ").replace('"', "")
    return sorted(word.strip("(),") for word in plain.split())


def test_the_known_revisions_are_alembics_own() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS.folder))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(MIGRATIONS.revisions)


@pytest.mark.slow
@pytest.mark.parametrize("released", sorted(RELEASED.glob("*.sql")), ids=lambda path: path.stem)
def test_every_released_schema_is_upgraded_with_its_rows(released: Path, tmp_path: Path) -> None:
    kept = released.read_text(encoding="utf-8")
    probes = sum(line.startswith('INSERT INTO "probes"') for line in kept.splitlines())
    assert probes >= 5  # the sample has grown since the first schema
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.executescript(kept)
        before = {table: _rows(connection, table) for table in OF_RUNS}
        assert all(before.values())
    with Store.open(tmp_path) as store:
        assert store.profiles() == (NEW, OLD)
        assert store.moves() == (MOVE,)
        assert len(store.runs(MOVE.name, side=Side.OLD)) == 5
        assert store.runs(MOVE.name, side=Side.OLD)[0].repetitions[0].metrics["write_iops"] == 7118
        facts = store.facts(OLD.name)
        assert facts is not None
        assert facts.clusters[0].size_bytes == samples.SIZE
        checks = store.checks(MOVE.name)
        assert checks is not None
        assert checks[0].status is Status.BLOCKER
        estimate, plan = store.estimate(MOVE.name), store.plan(MOVE.name)
        assert estimate is not None
        assert plan is not None
        assert estimate.method("cold-copy") is not None
        assert len(plan.steps) == 4
        assert len(store.probes(MOVE.name)) == probes
        assert len(store.commands(MOVE.name)) == 1
        assert len(store.entries()) == 18 + probes
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        # columns that were added since are behind the others
        after = {name: [row[: len(rows[0])] for row in _rows(connection, name)] for name, rows in before.items()}
        assert after == before
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


OF_RUNS = ("runs", "repetitions", "metrics")
"""SQLite builds the table of runs again; what belongs to its rows must not go with the old table."""


def _rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


@pytest.mark.parametrize(("kept", "route"), [("true", Route.LOCAL), ("false", Route.SSH)])
def test_a_transport_of_the_first_schema_has_its_route(tmp_path: Path, kept: str, route: Route) -> None:
    transport = f'{{"cipher":"","compression":"lz4","streams":2,"local":{kept}}}'
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.executescript((RELEASED / "0001.sql").read_text(encoding="utf-8"))
        last = "(SELECT max(id) FROM probes)"
        connection.execute(f"UPDATE probes SET transport = ? WHERE id = {last}", [transport])
        connection.commit()
    with Store.open(tmp_path) as store:
        found = {probe.transport for probe in store.probes(MOVE.name)} - {None}
        assert found == {Transport("", "lz4", 2, route)}
        assert store.move(MOVE.name).plain_text is False


def test_fields_of_facts_are_found_under_their_new_names(tmp_path: Path) -> None:
    irregular = {"hard_links": 2, "sparse": 0, "sparse_bytes": 0, "foreign": 0, "unreadable": 0, "partial": 0}
    manager = {"name": "patroni", "role": "manager", "running": True, "enabled": True}
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.executescript((RELEASED / "0003.sql").read_text(encoding="utf-8"))
        for number, kept in connection.execute("SELECT id, document FROM facts").fetchall():
            document = json.loads(LongText().process_result_value(kept, dialect()) or "")
            document["surroundings"] = {"companions": [manager], "guards": {"selinux": "enforcing", "apparmor": False}}
            document["holdings"], document["sorted"] = {"/srv/pg": ["PG_15"]}, {"de_AT.UTF-8": "0" * 64}
            for cluster in document["clusters"]:
                cluster["oddities"] = {**irregular, "examples": {"hard-link": ["a", "b"]}}
            document["gaps"] = [{"subject": subject, "reason": reason} for subject, reason, _, _ in GAPS]
            changed = LongText().process_bind_param(json.dumps(document), dialect())
            connection.execute("UPDATE facts SET document = ? WHERE id = ?", [changed, number])
        connection.commit()
    with Store.open(tmp_path) as store:
        facts = store.facts(OLD.name)
    assert facts is not None
    assert facts.host_environment.ha_and_poolers == (HaOrPooler("patroni", "manager", running=True, enabled=True),)
    assert facts.host_environment.security_policy == SecurityPolicy("enforcing", apparmor=False)
    assert facts.target_entries == {"/srv/pg": ("PG_15",)}
    assert facts.collation_order == {"de_AT.UTF-8": "0" * 64}
    assert facts.clusters[0].irregular_files == IrregularFiles(**irregular, examples={"hard-link": ("a", "b")})
    assert [(gap.subject, gap.reason, gap.section, gap.of) for gap in facts.gaps] == GAPS
    assert [gap.subject for gap in facts.gaps if gap.absent] == ["data directory /srv/a b"]


def test_the_newest_schema_is_kept_as_a_file() -> None:
    """Whoever adds a migration adds its dump: `python -m tests.core.history.dump_schema`."""
    assert {path.stem for path in RELEASED.glob("*.sql")} == set(MIGRATIONS.revisions)


def test_an_upgrade_keeps_the_old_file_and_every_row(filled: Store, following: Path) -> None:
    filled.close()
    before = _dump(filled.path)
    open_engine(filled.path.parent, _add(following, "")).dispose()

    copies = list(filled.path.parent.glob(f"history-{MIGRATIONS.head}-*.sqlite3"))
    assert len(copies) == 1
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
    assert _dump(copies[0]) == before
    with contextlib.closing(sqlite3.connect(filled.path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("next",)
        # the table was rebuilt, and what refers to it is still there
        assert connection.execute("SELECT name, comment FROM moves").fetchall() == [(MOVE.name, None)]
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (10,)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_an_upgrade_happens_once(filled: Store, following: Path) -> None:
    filled.close()
    migrations = _add(following, "")
    for _ in range(2):
        open_engine(filled.path.parent, migrations).dispose()
    assert len(list(filled.path.parent.glob(f"history-{MIGRATIONS.head}-*"))) == 1


@pytest.mark.parametrize(
    ("more", "raised"),
    [
        ('raise RuntimeError("a bug in a migration")', RuntimeError),
        ('op.execute("INSERT INTO nowhere VALUES (1)")', HistoryError),
        ('op.execute("DELETE FROM profiles")', HistoryError),
    ],
)
def test_a_failed_upgrade_leaves_the_file_as_it_was(
    filled: Store, following: Path, more: str, raised: type[Exception]
) -> None:
    filled.close()
    before = _dump(filled.path)
    with pytest.raises(raised):
        open_engine(filled.path.parent, _add(following, more))
    assert _dump(filled.path) == before
    assert list(filled.path.parent.glob("history-*")) == []
    with Store.open(filled.path.parent) as store:
        assert store.plan(MOVE.name) == samples.plan()


def test_a_copy_that_cannot_be_made_stops_the_upgrade(
    filled: Store, following: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    before = _dump(filled.path)

    class Full(sqlite3.Connection):
        def backup(self, *arguments: object, **options: object) -> None:  # noqa: ARG002
            full = sqlite3.OperationalError("database or disk is full")
            full.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise full

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(path, factory=Full, **options))
    with pytest.raises(HistoryError, match="could not be copied before its upgrade: the disk is full"):
        open_engine(filled.path.parent, _add(following, ""))
    monkeypatch.undo()
    assert _dump(filled.path) == before
    assert list(filled.path.parent.glob("history-*")) == []


def test_a_newer_schema_is_left_alone(filled: Store, following: Path) -> None:
    filled.close()
    open_engine(filled.path.parent, _add(following, "")).dispose()
    before = _dump(filled.path)
    with pytest.raises(HistoryError, match="was written by a newer pghaul") as refused:
        Store.open(filled.path.parent)
    assert "update pghaul" in refused.value.hint
    assert _dump(filled.path) == before


def test_a_schema_without_a_revision_is_not_called_newer(filled: Store) -> None:
    filled.close()
    with contextlib.closing(sqlite3.connect(filled.path)) as connection:
        connection.execute("DELETE FROM alembic_version")
        connection.commit()
    before = _dump(filled.path)
    with pytest.raises(HistoryError, match="alembic_version is empty") as refused:
        Store.open(filled.path.parent)
    assert "restore a copy" in refused.value.hint
    assert _dump(filled.path) == before


@pytest.mark.slow
def test_opening_what_is_up_to_date_imports_no_alembic(filled: Store) -> None:
    filled.close()
    code = (
        "import sys; from pathlib import Path; from core.history.store import Store\n"
        f"with Store.open(Path({str(filled.path.parent)!r})) as store: store.moves()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
