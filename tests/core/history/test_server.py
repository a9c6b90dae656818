"""A team's history on a server: how it is opened, what it refuses, and who else is seen to record into it."""

import dataclasses
import multiprocessing
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import URL, create_engine, make_url, text

from core import settings
from core.benchmarks.model import Volume
from core.errors import HistoryError, HistoryLostError, InputError
from core.history.address import url_of
from core.history.database import MIGRATIONS, Migrations
from core.history.models import Base
from core.history.server import ServerDatabase, grants, prepare
from core.history.store import Store
from core.migration.model.execution import State
from core.sides import Side
from tests.core.history import samples, writing
from tests.core.history.contents import looked_into, rows_of
from tests.core.history.samples import MOVE, OLD
from tests.german import english_in
from tests.histories import Histories
from tests.postgresql import Server

NOWHERE = "postgresql://me@/db?host=/nowhere"
_WORDS = 'revision = "{}"\ndown_revision = {}\ndef upgrade():\n    from alembic import op\n    op.execute("{}")\n'


@pytest.fixture
def place(histories: Histories, tmp_path: Path) -> Iterator[str]:
    with histories.placed("postgresql", tmp_path, samples.fill) as found:
        assert isinstance(found, str)
        yield found


@pytest.fixture
def empty(postgresql: Server) -> Iterator[str]:
    place = postgresql.create("empty")
    yield place
    postgresql.drop(place)


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="cannot be reached") as refused:
        Store.open(f"postgresql://me@/db?host={tmp_path}")
    assert "running" in refused.value.hint
    assert "(libpq says: " in refused.value.message


def test_an_empty_database_is_made_a_history_by_word_alone(empty: str) -> None:
    with pytest.raises(HistoryError, match="there is no history at") as refused:
        Store.open(empty)
    assert refused.value.hint.startswith("create it: pghaul history use 'postgresql")
    prepare(empty)
    prepare(empty)
    with Store.open(empty) as store:
        assert store.moves() == ()


def test_the_schema_before_the_last_is_brought_up(empty: str) -> None:
    """Each revision runs on a server as well; of a run neither move nor side is required since 0014."""
    before = MIGRATIONS.revisions[: MIGRATIONS.revisions.index("0014")]
    prepare(empty, Migrations(MIGRATIONS.folder, before))
    prepare(empty)
    with Store.open(empty) as store:
        run = dataclasses.replace(samples.runs(Side.OLD)[0], move=None, volume=Volume(None, OLD.name, "/a", "/a/b"))
        assert [store.run(number).move for number in store.add_runs((run,))] == [None]


def test_models_and_migrations_agree(empty: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    prepare(empty)
    with Store.open(empty) as store, looked_into(store) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []
        narrow = (
            "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'pghaul' AND data_type = 'integer'"
        )
        assert connection.scalar(text(narrow)) == 0


def test_another_version_is_left_as_it_is(place: str) -> None:
    newer = Migrations(MIGRATIONS.folder, MIGRATIONS.revisions[:-1])
    with pytest.raises(HistoryError, match="was written by a newer pghaul"):
        ServerDatabase.open(place, newer)
    with pytest.raises(HistoryError, match="was written by a newer pghaul"):
        prepare(place, newer)
    older = Migrations(MIGRATIONS.folder, (*MIGRATIONS.revisions, "9999"))
    with pytest.raises(HistoryError, match="was written by an older pghaul") as refused:
        ServerDatabase.open(place, older)
    assert "pg_dump" in refused.value.hint
    with Store.open(place) as store:
        assert store.moves() == (MOVE,)


def test_a_schema_that_could_not_be_brought_up_is_as_it_was(empty: str, tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    (folder / "env.py").write_text((MIGRATIONS.folder / "env.py").read_text())
    (folder / "versions" / "one.py").write_text(_WORDS.format("one", None, "CREATE TABLE pghaul.a (b int)"))
    (folder / "versions" / "two.py").write_text(_WORDS.format("two", '"one"', "CREATE TABLE pghaul.c (d nonsense)"))
    with pytest.raises(HistoryError, match="nonsense"):
        prepare(empty, Migrations(folder, ("one", "two")))
    with pytest.raises(HistoryError, match="there is no history at"):
        Store.open(empty)
    prepare(empty)


def test_what_was_brought_up_since_it_was_opened_is_not_written_to(place: str, postgresql: Server) -> None:
    with Store.open(place) as store, postgresql.connect(str(url_of(place).database)) as connection:
        connection.execute("UPDATE pghaul.alembic_version SET version_num = '9999'")
        with pytest.raises(HistoryError, match="was written by a newer pghaul"):
            store.save_plan(MOVE.name, samples.plan())
        connection.execute("UPDATE pghaul.alembic_version SET version_num = %s", [MIGRATIONS.head])
        store.save_plan(MOVE.name, samples.plan())
        assert len(rows_of(store)["plans"]) == 2


_NO_FILE = re.compile("PGHAUL_DATA|sqlite3|restore FILE|beside it")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", "was written by a newer pghaul"),
        ("DELETE FROM alembic_version", "does not say which version"),
        ("DROP TABLE plans CASCADE", "was changed by another program"),
        ("UPDATE moves SET created_at = 'infinity'", "was changed by another program"),
        (
            "ALTER TABLE moves ALTER name TYPE int USING 7",
            "contains data that pghaul has not written: the value 7 is not a text",
        ),
        ("UPDATE plans SET document = convert_to('zrubbish', 'UTF8')", "a text in it is damaged"),
    ],
)
def test_what_is_damaged_or_newer_on_a_server_is_not_told_of_as_a_file(
    place: str, postgresql: Server, damage: str, said: str
) -> None:
    with postgresql.connect(str(url_of(place).database)) as connection:
        connection.execute(f"SET search_path = pghaul; {damage}")

    def look() -> None:
        with Store.open(place) as store:
            store.moves()
            store.plan(MOVE.name)

    with pytest.raises(HistoryError, match=said) as refused:
        look()
    assert "pghaul history use local" in refused.value.hint
    assert english_in(refused.value) == []
    assert not _NO_FILE.search(str(refused.value))


def test_what_cannot_hold_every_text_is_refused(postgresql: Server) -> None:
    with postgresql.connect() as connection:
        connection.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LOCALE 'C'")
    place = postgresql.url("latin")
    for use in (prepare, Store.open):
        with pytest.raises(HistoryError, match="encoding of its database is LATIN1") as refused:
            use(place)
        assert "createdb --encoding=UTF8" in refused.value.hint
    postgresql.drop(place)


def test_a_name_of_its_administrator_is_quoted_here(place: str, postgresql: Server) -> None:
    """What is printed goes to psql, whose backslash runs programs."""
    with postgresql.connect(str(url_of(place).database)) as connection:
        connection.execute('CREATE ROLE "a:b\n\\! id" LOGIN')
        connection.execute('ALTER SCHEMA pghaul OWNER TO "a:b\n\\! id"')
        assert grants(place, "administer", "anna") == ('GRANT "a:b\n\\! id" TO "anna";',)
        connection.execute('REASSIGN OWNED BY "a:b\n\\! id" TO pghaul_tests')
        connection.execute('DROP ROLE "a:b\n\\! id"')


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (psycopg.errors.AdminShutdown, True),
        (psycopg.errors.TooManyConnections, True),
        (psycopg.errors.LockNotAvailable, True),  # nobody gets a turn while a history is copied there
        (psycopg.OperationalError, True),
        (psycopg.errors.DiskFull, False),
        (psycopg.errors.InsufficientPrivilege, False),
        (psycopg.DataError, False),
    ],
)
def test_what_ends_by_itself_is_told_from_what_does_not(error: type[psycopg.Error], lost: bool) -> None:
    with pytest.raises(HistoryError) as told, ServerDatabase(url_of(NOWHERE)).history_errors():
        raise error("so")
    assert isinstance(told.value, HistoryLostError) is lost
    assert told.value.hint


@pytest.mark.parametrize(
    "words", ["fe_sendauth: no password supplied", "Passwort-Authentifizierung fehlgeschlagen", ""]
)
@pytest.mark.parametrize(("needed", "used", "lost"), [(True, False, False), (False, True, True), (False, False, True)])
def test_only_a_missing_password_is_a_refused_login_for_certain(
    words: str, needed: bool, used: bool, lost: bool
) -> None:
    attempt: Any = SimpleNamespace(needs_password=needed, used_password=used)
    with pytest.raises(HistoryError) as raised, ServerDatabase(url_of(NOWHERE)).history_errors():
        raise psycopg.OperationalError(words, pgconn=attempt)
    assert isinstance(raised.value, HistoryLostError) is lost
    assert ("--password" in raised.value.hint) is (needed or used)


@pytest.fixture
def with_password(empty: str, postgresql: Server) -> Iterator[URL]:
    """The URL of an empty database for a role that the server asks for its password."""
    rules = postgresql.folder / "data" / "pg_hba.conf"
    before = rules.read_bytes()
    with postgresql.connect() as server:
        server.execute("CREATE ROLE asked LOGIN PASSWORD 'right'")
        try:
            rules.write_bytes(b"local all asked scram-sha-256\n" + before)
            server.execute("SELECT pg_reload_conf()")
            yield make_url(empty).set(username="asked")
        finally:
            rules.write_bytes(before)
            server.execute("SELECT pg_reload_conf()")
            server.execute("DROP ROLE asked")


@pytest.mark.parametrize(
    ("password", "database", "limit"),
    [("wrong", "empty", -1), ("right", "dropped", -1), ("right", "empty", 0)],
    ids=["wrong password", "no such database", "no connection left"],
)
def test_after_a_password_every_reason_is_possible_and_results_are_kept(
    with_password: URL,
    postgresql: Server,
    monkeypatch: pytest.MonkeyPatch,
    password: str,
    database: str,
    limit: int,
) -> None:
    monkeypatch.setenv("PGPASSWORD", password)
    with postgresql.connect() as server:
        server.execute(f"ALTER ROLE asked CONNECTION LIMIT {limit}")
    with pytest.raises(HistoryLostError, match="cannot be reached") as lost:
        Store.open(with_password.set(database=database).render_as_string())
    assert "has this database" in lost.value.hint
    assert "--password" in lost.value.hint
    assert english_in(lost.value) == []


def test_a_role_without_a_password_is_told_how_to_store_one(
    with_password: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    with pytest.raises(HistoryError, match="refuses the login") as refused:
        Store.open(with_password.render_as_string())
    assert not isinstance(refused.value, HistoryLostError)
    assert "--password" in refused.value.hint
    assert english_in(refused.value) == []


def test_a_sentence_repeats_little_of_what_a_server_says() -> None:
    error = psycopg.errors.RaiseException("x" * 10_000)
    with pytest.raises(HistoryError, match="cannot be") as refused, ServerDatabase(url_of(NOWHERE)).history_errors():
        raise error
    assert len(refused.value.message) < 1000


def test_it_is_no_file(place: str) -> None:
    with Store.open(place) as store, pytest.raises(HistoryError, match="is on a server, not in a file") as refused:
        store.path.exists()
    assert "pg_dump" in refused.value.hint


@pytest.fixture
def granted(place: str, postgresql: Server) -> Iterator[Any]:
    """Have a role with a right, and the URL by which it comes."""
    roles: list[str] = []

    def grant(right: str) -> str:
        role = f'a "{right}" person'
        quoted = '"' + role.replace('"', '""') + '"'
        with postgresql.connect(str(url_of(place).database)) as connection:
            connection.execute(f"CREATE ROLE {quoted} LOGIN")
            roles.append(quoted)
            for statement in grants(place, right, role):
                connection.execute(statement)
        return url_of(place).set(username=role).render_as_string()

    yield grant
    with postgresql.connect(str(url_of(place).database)) as connection:
        for role in roles:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def test_who_may_read_is_told_so_at_the_first_write(granted: Any) -> None:
    with Store.open(granted("read")) as store:
        assert store.moves() == (MOVE,)
        assert len(store.runs(MOVE.name)) == 10
        with pytest.raises(
            HistoryError, match=r"does not allow this \(PostgreSQL says: .*permission denied"
        ) as refused:
            store.remove_move(MOVE.name)
        assert "pghaul history grants" in refused.value.hint
        assert english_in(refused.value) == []
        assert store.moves() == (MOVE,)


def test_who_may_write_records_and_changes_no_schema(granted: Any) -> None:
    place = granted("write")
    with Store.open(place) as store:
        store.save_plan(MOVE.name, samples.plan())
        store.run_started(samples.runs(Side.OLD)[0])
        store.remove_move(MOVE.name)
        assert store.moves() == ()
        with looked_into(store) as connection, pytest.raises(Exception, match="permission denied"):
            connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    prepare(place)  # there is nothing to do


def test_who_administers_makes_what_belongs_to_all_administrators(
    granted: Any, postgresql: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    following = _WORDS.format("next", f'"{MIGRATIONS.head}"', "CREATE TABLE extra (b int)")
    (folder / "versions" / "next.py").write_text(following)
    place = granted("administer")
    prepare(place, Migrations(folder, (*MIGRATIONS.revisions, "next")))
    with postgresql.connect(str(url_of(place).database)) as connection:
        found = connection.execute("SELECT tableowner FROM pg_tables WHERE tablename = 'extra'").fetchall()
    assert found == [("pghaul_tests",)]


def test_a_role_without_any_right_is_told_so(place: str, postgresql: Server) -> None:
    with postgresql.connect() as connection:
        connection.execute("CREATE ROLE nobody_special LOGIN")
        with pytest.raises(HistoryError, match="permission denied") as refused:
            Store.open(url_of(place).set(username="nobody_special").render_as_string())
        connection.execute("DROP ROLE nobody_special")
    assert "grants" in refused.value.hint


def test_nobody_else_says_what_a_name_means(place: str, postgresql: Server) -> None:
    """Whoever may make tables in `public` shall not have them written to in the place of the history's."""
    with postgresql.connect(str(url_of(place).database)) as connection:
        connection.execute("CREATE TABLE public.plans AS TABLE pghaul.plans")
        connection.execute("ALTER ROLE pghaul_tests SET search_path = public, pghaul")
        try:
            with Store.open(place) as store:
                store.save_plan(MOVE.name, samples.plan())
        finally:
            connection.execute("ALTER ROLE pghaul_tests RESET search_path")
        assert connection.execute("SELECT count(*) FROM public.plans").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM pghaul.plans").fetchone() == (2,)


# --- several workstations


def test_what_others_recorded_neither_runs_nor_counts(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Store.open(place) as mine:
        assert mine.recorded_here(1)
        assert mine.from_elsewhere(MOVE.name) == ()
        assert mine.waivers(MOVE.name)
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "another workstation"))
    with Store.open(place) as others:
        assert not others.recorded_here(1)
        assert others.waivers(MOVE.name) == ()
        assert all(hook.from_elsewhere for hook in others.hooks(MOVE.name))
        assert len(others.from_elsewhere(MOVE.name)) == 3


def test_what_another_records_is_neither_ended_nor_begun_again(place: str) -> None:
    with Store.open(place) as mine, Store.open(place) as other:
        run = mine.run_started(dataclasses.replace(samples.runs(Side.OLD)[0], outcome=None, ended_at=None))
        mine.execution_changed(1, State.RUNNING)
        assert other.run(run).outcome is None
        assert other.carried_out(1)
        with pytest.raises(InputError, match="is being carried out") as refused:
            other.execution_started(samples.execution())
        assert "--status" in refused.value.hint
        with pytest.raises(InputError, match="is being carried out"):
            other.execution_changed(1, State.RUNNING)
        assert len(other.executions(MOVE.name)) == 1
        other.ask_cancel(1)
        assert mine.cancel_asked(1)
        mine.execution_changed(1, State.CANCELLED)
        other.execution_started(samples.execution())


def test_of_two_that_begin_at_once_one_does(place: str) -> None:
    with Store.open(place) as setting:
        setting.execution_changed(1, State.DONE)
    began, refused, ready = [], [], threading.Barrier(4)

    def begin() -> None:
        with Store.open(place) as store:
            ready.wait()
            try:
                began.append(store.execution_started(samples.execution()))
            except InputError as error:
                refused.append(error.message)
            ready.wait()

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(began) == 1
    assert len(refused) == 3


@pytest.mark.slow
def test_the_death_of_one_frees_what_it_had(place: str) -> None:
    processes = multiprocessing.get_context("forkserver")
    here, there = processes.Pipe()
    process = processes.Process(target=writing.carry_out, args=(there, place, settings.config_folder()))
    process.start()
    execution = here.recv()
    with Store.open(place) as store:
        assert store.carried_out(execution)
        process.kill()
        process.join(60)
        while store.carried_out(execution):  # until its server has seen that the connection is gone
            pass
        store.execution_changed(execution, State.RUNNING)
    here.close()
    there.close()
    process.close()


def test_a_connection_that_was_cut_is_made_again_and_the_presence_with_it(place: str, postgresql: Server) -> None:
    with Store.open(place) as mine, Store.open(place) as other:
        mine.execution_changed(1, State.RUNNING)
        with postgresql.connect() as connection:
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pghaul'"
            connection.execute(cut)
        assert not other.carried_out(1)
        mine.step_started(1, samples.step_run(3))
        assert other.carried_out(1)


def test_a_word_that_is_no_token_names_nobody(place: str) -> None:
    found = ServerDatabase.open(place)
    assert not found.owners.alive("../../etc/passwd")
    assert found.owners.alive(found.owners.mine())
    found.close()


@pytest.mark.slow
def test_one_write_waits_for_another(place: str) -> None:
    engine = create_engine(place)
    with Store.open(place) as store, engine.connect() as other:
        other.execute(text(f"SELECT pg_advisory_xact_lock({int.from_bytes(b'pghaul-w')})"))
        done = threading.Event()

        def write() -> None:
            store.save_plan(MOVE.name, samples.plan())
            done.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert not done.wait(0.2)
        assert len(store.runs(MOVE.name)) == 10  # who reads does not
        other.rollback()
        writer.join()
        assert done.is_set()
    engine.dispose()
