"""New before it is opened: nothing in it works by itself, and the way back loses nothing of what others hold for it."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from core.errors import BlockedError, PghaulError
from core.facts.model import Cluster
from core.jobs import Job
from core.migration.execution.rollback import roll_back
from core.migration.findings.local_start import list_isolation_settings
from core.migration.model import step_ids
from core.migration.model.execution import State
from core.migration.model.plan import Step
from core.migration.plan.cluster_control import fence_target, start_local_only, stop_and_fence
from core.servers.connection import Server
from tests.lab.extra import Extra, extra, put_tree
from tests.lab.lab import Lab
from tests.lab.machine import LabError, wait_until
from tests.live import moving as site
from tests.live.moving import DATA, PORT, Moving, Person, processes, sql

pytestmark = pytest.mark.lab

_PUBLISHER_PORT = 5478
_ROWS = "select count(*) from published"
_SLOT = "select active, confirmed_flush_lsn from pg_replication_slots"
_SEVENTEEN = "/opt/pgsql-17"
_AT_LOGIN = """
create table logins (at timestamptz);
create function note() returns event_trigger language plpgsql as $$ begin insert into logins values (now()); end $$;
create event trigger notes on login execute function note();
"""
_OWN = {"background writer", "checkpointer", "walwriter"}


@pytest.fixture
def publisher(lab: Lab, move: Moving) -> Iterator[Extra]:  # noqa: ARG001  nothing of it is there when the move looks
    """A cluster that both hosts reach, with a table that it publishes."""
    with extra(lab.old, "publisher", _PUBLISHER_PORT, settings="listen_addresses = '*'\nwal_level = logical\n") as made:
        made.append("pg_hba.conf", "host all all samenet trust\n")
        made.control("reload")
        made.sql("create table published (n int); create publication pub for table published")
        yield made


class Undecided(Person):
    """Does everything but the last thing."""

    def confirm_manual_step(self, step: Step) -> bool:
        super().confirm_manual_step(step)
        return step.id != step_ids.DECIDE


@pytest.mark.long
def test_a_subscription_takes_nothing_before_new_is_opened_and_a_rollback_loses_nothing(
    cluster: Lab, publisher: Extra, move: Moving
) -> None:
    subscribe(cluster, publisher)
    seen: list[tuple[str, set[str]]] = []

    def publish() -> None:
        slot = publisher.sql(_SLOT)
        publisher.sql("insert into published select generate_series(11, 30)")
        time.sleep(3)  # what would begin at the start has begun by then
        seen.append((sql(cluster.new, _ROWS), processes(cluster.new)))
        assert publisher.sql(_SLOT) == slot
        assert slot.startswith("f|")

    number = move.begin()
    with pytest.raises(BlockedError, match=move.about(number, step_ids.DECIDE)):
        move.runner(number, Undecided(at={step_ids.DECIDE: publish})).carry_out()
    assert seen == [("10", _OWN)]
    roll_back(move.runner(number))
    assert move.store.execution(number).state is State.ROLLED_BACK
    wait_until(lambda: sql(cluster.old, _ROWS) == "30", "old to have all that was published")


@pytest.mark.long
def test_once_opened_new_goes_on_with_its_subscription(cluster: Lab, publisher: Extra, move: Moving) -> None:
    subscribe(cluster, publisher)
    assert move.execute().state is State.DONE
    publisher.sql("insert into published select generate_series(11, 30)")
    wait_until(lambda: sql(cluster.new, _ROWS) == "30", "new to have all that was published")
    assert "autoprewarm leader" in processes(cluster.new)


def subscribe(cluster: Lab, publisher: Extra) -> None:
    """Old has rows of the publisher, and a library that starts a background worker."""
    publisher.sql("insert into published select generate_series(1, 10)")
    cluster.old.exec("tee", "-a", f"{DATA}/postgresql.conf", input="shared_preload_libraries = 'pg_prewarm'\n")
    site.pg_ctl(cluster.old, "-l", "/dev/null", "restart")
    wait_until(lambda: "autoprewarm leader" in processes(cluster.old), "the background worker")
    way = f"host={cluster.old.address} port={publisher.port} dbname=postgres user=postgres"
    sql(cluster.old, "create table published (n int)")
    sql(cluster.old, f"create subscription sub connection '{way}' publication pub")
    wait_until(lambda: sql(cluster.old, _ROWS) == "10", "the first rows")


@pytest.mark.parametrize("opens", [False, True], ids=["rolled back", "opened"])
def test_until_the_cutover_nothing_on_the_new_server_finds_the_new_cluster(
    cluster: Lab, move: Moving, *, opens: bool
) -> None:
    """Not even what the cluster's owner runs there, such as monitoring and jobs. Who knows the folder may only read."""
    seen: dict[str, str] = {}
    wrote = "create table monitoring (at timestamptz)"

    def psql(folder: str, user: str, statement: str) -> str:
        words = ("-XAtq", "-h", folder, "-p", str(PORT), "-U", "postgres", "-d", "shop", "-c", statement)
        done = cluster.new.exec("psql", *words, user=user, check=False)
        return done.stdout + done.stderr

    def look() -> None:
        own = site.socket_of_new(cluster.new)
        seen["folder"] = own
        seen["mode"] = cluster.new.exec("stat", "-c", "%a %U", own).stdout
        seen["usual"] = psql("/tmp", "postgres", wrote)
        seen["stranger"] = psql(own, "nobody", "select 1")
        seen["writes"] = psql(own, "postgres", wrote)
        seen["reads"] = psql(own, "postgres", "select 1")

    number = move.begin()
    person = (Person if opens else Undecided)(at={step_ids.DECIDE: look})
    with suppress(BlockedError):
        move.runner(number, person).carry_out()
    if not opens:
        roll_back(move.runner(number))
    assert move.store.execution(number).state is (State.DONE if opens else State.ROLLED_BACK)
    assert seen["mode"] == "700 postgres\n"
    assert "No such file or directory" in seen["usual"]
    assert "Permission denied" in seen["stranger"]
    assert "read-only transaction" in seen["writes"]
    assert seen["reads"] == "1\n"
    assert cluster.new.exec("test", "-e", seen["folder"], check=False).returncode == 1
    if opens:
        assert psql("/tmp", "postgres", wrote) == ""


def test_no_function_is_called_at_a_login_before_new_is_opened(lab: Lab, new_server: Server) -> None:
    """Series 17 has triggers for that."""
    try:
        put_tree(lab.new, "17.10", _SEVENTEEN)
    except LabError as error:
        pytest.skip(str(error))
    path, folder = f"{_SEVENTEEN}/bin:/usr/bin:/bin", "/srv/pg/seventeen"

    def start(*held: str) -> None:
        call = start_local_only(folder, 5479, path, None, held, "/tmp/pghaul-local-0123456789ab")
        new_server.run(call, Job(), user="postgres", deadline=60)

    def said(statements: str) -> str:
        words = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "/tmp", "-p", "5479", "-d", "postgres"]
        return lab.new.exec(*words, user="postgres", input=statements).stdout.strip()

    def stop() -> None:
        new_server.run(stop_and_fence(folder), Job(), user="postgres", deadline=60)

    try:
        lab.new.exec("install", "-d", "-m", "700", "-o", "postgres", folder)
        words = [
            "-D",
            folder,
            "-N",
            "-U",
            "postgres",
            "-A",
            "trust",
            "--locale=C",
            "-c",
            "unix_socket_directories=/tmp",
        ]
        lab.new.exec(f"{_SEVENTEEN}/bin/initdb", *words, user="postgres")
        new_server.run(fence_target(folder, ("identifier 1",)), Job(), user="postgres")
        start()
        said(_AT_LOGIN)
        assert said("select count(*) from logins") == "1"
        stop()
        start(*list_isolation_settings(Cluster(folder, "17", None, running=False, port=5479, owner="postgres")))
        assert said("select count(*) from logins") == "1"
        stop()
    finally:
        lab.new.exec("rm", "-rf", folder, _SEVENTEEN)


@pytest.mark.parametrize("goes_on", [True, False], ids=["gone on with", "taken back"])
def test_a_start_that_was_killed_behind_pg_ctl_is_known_for_ours(
    lab: Lab, new_server: Server, *, goes_on: bool
) -> None:
    """Nobody has recorded which server it started; its own options tell."""
    bin_directory, folder, programs = "/usr/lib/postgresql/15/bin", "/srv/pg/cut", "/srv/pg/cut-programs"

    def start(path: str) -> None:
        held = ("listen_addresses=", "session_preload_libraries=")
        call = start_local_only(folder, 5477, path, None, held, "/tmp/pghaul-local-0123456789ab")
        new_server.run(call, Job(), user="postgres", deadline=60)

    def pid() -> str:
        return lab.new.exec("head", "-n", "3", f"{folder}/postmaster.pid", check=False).stdout

    # the shell that has called pg_ctl, and the one that has called that
    script = f"""#!/bin/sh
{bin_directory}/pg_ctl "$@" || exit
case "$*" in *start*) kill -9 "$(ps -o ppid= -p $PPID | tr -d ' ')" $PPID ;; esac
"""
    try:
        lab.new.exec("install", "-d", "-m", "700", "-o", "postgres", folder, programs)
        lab.new.exec("tee", f"{programs}/pg_ctl", input=script)
        lab.new.exec("chmod", "755", f"{programs}/pg_ctl")
        words = ("-N", "-U", "postgres", "-A", "trust", "--locale=C")
        lab.new.exec(f"{bin_directory}/initdb", "-D", folder, *words, user="postgres")
        lab.new.exec("tee", "-a", f"{folder}/postgresql.conf", input="unix_socket_directories = '/tmp'\n")
        new_server.run(fence_target(folder, ("identifier 1",)), Job(), user="postgres")
        with pytest.raises(PghaulError):
            start(f"{programs}:{bin_directory}:/usr/bin:/bin")
        started = pid()
        assert started
        known = f"{folder}/pghaul-fence/server"
        assert lab.new.exec("cat", known).stdout.splitlines()[0] == "started with"
        if goes_on:
            start(f"{bin_directory}:/usr/bin:/bin")
            assert lab.new.exec("cat", known).stdout == pid() == started
            assert lab.new.exec("test", "-e", f"{folder}/PG_VERSION", check=False).returncode == 1
        new_server.run(stop_and_fence(folder), Job(), user="postgres", deadline=60)
        assert pid() == ""
    finally:
        if pid():
            lab.new.exec("kill", pid().split()[0])
            wait_until(lambda: pid() == "", "the server to end")
        lab.new.exec("rm", "-rf", folder, programs)
