"""SQL on a real cluster over SSH: by password, by peer authentication, and refused in clear words."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from core.errors import AuthenticationError, Cancelled, CommandError, PghaulError, ServerError
from core.jobs import Job
from core.servers.connection import Server, connect
from core.servers.profiles import Profile
from core.servers.shell import Secret
from core.servers.sql import database
from tests.lab import clusters
from tests.lab.fixtures import LabAsker

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("clean_hosts")]

PASSWORD = Secret(clusters.ROLE_PASSWORD)
WHO = "select current_user, current_setting('application_name'), current_setting('statement_timeout')"


@pytest.fixture(autouse=True)
def _no_folder_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    short = Path("/tmp") / f"t{os.getpid()}"
    short.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(short))
    yield
    short.rmdir()  # fails when a socket's folder was left in it


def test_by_peer(old_server: Server) -> None:
    for folder in ("/tmp", None):
        with database(old_server, Job(), port=5432, socket_directory=folder) as connection:
            assert connection.execute(WHO).fetchone() == ("postgres", "pghaul", "10s")


def test_by_password(old_server: Server) -> None:
    with database(
        old_server,
        Job(),
        port=5432,
        socket_directory=None,
        dbname=clusters.DATABASE,
        user=clusters.ROLE,
        password=PASSWORD,
        statement_timeout=2,
    ) as connection:
        assert connection.execute(WHO).fetchone() == (clusters.ROLE, "pghaul", "2s")
        shown = "select current_setting('client_connection_check_interval'), current_setting('lock_timeout')"
        assert connection.execute(shown).fetchone() == ("1s", "1s")
        assert connection.execute("show synchronous_commit").fetchone() == ("local",)


def test_by_peer_with_a_right_to_postgres_alone(pgonly_profile: Profile, asker: LabAsker) -> None:
    with (
        connect(pgonly_profile, asker, Job()) as server,
        database(server, Job(), port=5432, socket_directory="/tmp") as connection,
    ):
        assert connection.execute("select current_user").fetchone() == ("postgres",)


def test_without_the_right_to_become_postgres(nosudo_profile: Profile, asker: LabAsker) -> None:
    with (
        connect(nosudo_profile, asker, Job()) as server,
        pytest.raises(AuthenticationError, match="run as postgres"),
        database(server, Job(), port=5432, socket_directory="/tmp"),
    ):
        pytest.fail("it must not connect")


def refused(server: Server, kind: type[PghaulError], **options: object) -> PghaulError:
    given = {"port": 5432, "socket_directory": "/tmp", **options}
    with pytest.raises(kind) as caught, database(server, Job(), **given):  # type: ignore[arg-type]
        pytest.fail("it must not connect")
    assert type(caught.value) is kind
    assert caught.value.message.startswith("old: PostgreSQL on port ")
    assert caught.value.hint
    return caught.value


def test_refusals_are_told_apart(old_server: Server) -> None:
    role = {"user": clusters.ROLE, "dbname": clusters.DATABASE}
    wrong = refused(old_server, AuthenticationError, **role, password=Secret("wr0ng"))
    assert 'password authentication failed for user "app"' in wrong.message
    assert "wr0ng" not in f"{wrong} {wrong.__cause__!r}"
    assert "give the password" in refused(old_server, AuthenticationError, **role).hint
    peer = refused(old_server, AuthenticationError, user="nobody", password=PASSWORD)
    assert 'user "nobody"' in peer.message
    assert 'database "nope" does not exist' in refused(old_server, ServerError, dbname="nope").message
    for password in (None, PASSWORD):
        missing = refused(old_server, ServerError, port=5999, password=password)
        assert "the socket /tmp/.s.PGSQL.5999 does not exist" in missing.message


def test_sessions_only_read(old_server: Server) -> None:
    with (
        pytest.raises(CommandError, match="cannot execute CREATE TABLE in a read-only transaction"),
        database(old_server, Job(), port=5432, socket_directory="/tmp") as connection,
    ):
        connection.execute("create table pghaul_was_here ()")


def test_a_statement_that_takes_too_long_is_ended(old_server: Server) -> None:
    with (
        pytest.raises(CommandError, match="statement timeout"),
        database(old_server, Job(), port=5432, socket_directory="/tmp", statement_timeout=0.2) as connection,
    ):
        connection.execute("select pg_sleep(60)")


def test_a_caller_may_handle_its_own_statements_error(old_server: Server) -> None:
    with database(old_server, Job(), port=5432, socket_directory="/tmp") as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select * from nope")
        assert connection.execute("select 1").fetchone() == (1,)


def test_cancel_ends_a_running_statement(old_server: Server) -> None:
    job = Job()
    timer = threading.Timer(0.5, job.cancel)
    timer.start()
    with (
        pytest.raises(Cancelled),
        database(old_server, job, port=5432, socket_directory="/tmp", statement_timeout=8) as connection,
    ):
        connection.execute("select pg_sleep(7)")
    timer.join()
    with database(old_server, Job(), port=5432, socket_directory="/tmp") as connection:
        for _ in range(100):
            running = (
                "select count(*) from pg_stat_activity where query like '%pg_sleep(7)%' and pid <> pg_backend_pid()"
            )
            row = connection.execute(running).fetchone()
            if row == (0,):
                return
            connection.execute("select pg_sleep(0.1)")
        pytest.fail("the statement still runs on the server")


@pytest.mark.parametrize("password", [None, PASSWORD])
def test_many_bytes_pass_unchanged(old_server: Server, password: Secret | None) -> None:
    user = "postgres" if password is None else clusters.ROLE
    with database(
        old_server, Job(), port=5432, socket_directory="/tmp", dbname=clusters.DATABASE, user=user, password=password
    ) as connection:
        asked = connection.execute(
            "select md5(string_agg(n::text, ',')), string_agg(n::text, ',') from generate_series(1, 1000000) n"
        )
        row = asked.fetchone()
        assert row is not None
        assert connection.execute("select md5(%s)", [row[1]]).fetchone() == (row[0],)


def test_the_users_own_settings_change_nothing(old_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("PGSERVICE", "nope"),
        ("PGHOSTADDR", "192.0.2.1"),
        ("PGSSLMODE", "verify-full"),
        ("PGUSER", "x"),
    ):
        monkeypatch.setenv(name, value)
    with database(old_server, Job(), port=5432, socket_directory="/tmp") as connection:
        assert connection.execute("select current_user").fetchone() == ("postgres",)


def test_several_at_once(old_server: Server) -> None:
    with (
        database(old_server, Job(), port=5432, socket_directory="/tmp") as one,
        database(old_server, Job(), port=5432, socket_directory="/tmp") as two,
    ):
        assert one.info.backend_pid != two.info.backend_pid
        assert two.execute("select 2").fetchone() == (2,)
        assert one.execute("select 1").fetchone() == (1,)


def test_a_lost_connection_is_told(old_profile: Profile, asker: LabAsker) -> None:
    with (
        connect(old_profile, asker, Job()) as server,
        pytest.raises(ServerError, match="connection to old was lost while running SQL"),
        database(server, Job(), port=5432, socket_directory="/tmp") as connection,
    ):
        lose_and_use(server, connection)


def lose_and_use(server: Server, connection: psycopg.Connection) -> None:
    server.close()
    connection.execute("select 1")
