"""A whole move of a cluster that is full of secrets, by a user with passwords: afterwards none of them is anywhere."""

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.api.checks import run_checks
from core.api.execution import execute
from core.api.migration import make_estimate, plan_move
from core.api.reports import write_report
from core.api.session import Session
from core.errors import CommandError
from core.history.store import Store
from core.history.types import LongText
from core.jobs import Event, Job
from core.migration.model.execution import Kind, State
from core.migration.plan import runbook, script
from core.reports.make import Format
from core.reports.make import Kind as ReportKind
from core.reports.options import Options
from core.servers.profiles import Profile, Rights
from core.servers.shell import command
from tests.lab.fixtures import LabAsker
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.root import PASSWORD
from tests.live import moving as site
from tests.live.moving import DATA, MOVE, Person, sql
from tests.live.test_script import Script

pytestmark = pytest.mark.lab

WORDS = {
    "archive_command": "Geheim-archiv-1",
    "restore_command": "Geheim-zurueck-2",
    "primary_conninfo": "Geheim-standby-3",
    "ssl_passphrase_command": "Geheim-phrase-4",
    "an extension's setting": "Geheim-plugin-5",
    "a cron job": "Geheim-cron-6",
    "an access rule": "Geheim-radius-7",
    "a role": "Geheim-rolle-8",
    "what a server says": "Geheim-echo-9",
    "the login": PASSWORD,
}
_SETTINGS = f"""
archive_command = 'PGPASSWORD={WORDS["archive_command"]}; true "--key {WORDS["archive_command"]} x" %p'
restore_command = 'PGPASSWORD=''a {WORDS["restore_command"]} b'' fetch %f'
primary_conninfo = 'host=standby user=rep password={WORDS["primary_conninfo"]}'
ssl_passphrase_command = 'echo {WORDS["ssl_passphrase_command"]}'
shop.api_key = '{WORDS["an extension's setting"]}'
"""
_CRON = f"0 3 * * * PGPASSWORD='{WORDS['a cron job']}' pg_dump shop >/dev/null\n"
_RULE = f'host all all 192.0.2.0/24 radius radiusservers=192.0.2.1 radiussecrets="{WORDS["an access rule"]}"\n'
_PLACES = ("/tmp", "/var/tmp", "/run", "/home", "/root", "/var/log", "/var/lib/pghaul", "/dev/shm")


@pytest.fixture
def cluster(lab: Lab) -> Iterator[Lab]:
    """The cluster runs on old, with secrets wherever PostgreSQL and cron take them."""
    site.create(lab.old)
    site.clear(lab)
    lab.old.exec("tee", "-a", f"{DATA}/postgresql.conf", input=_SETTINGS)
    lab.old.exec("tee", "-a", f"{DATA}/pg_hba.conf", input=_RULE)
    lab.old.exec("tee", "/etc/cron.d/shop", input=_CRON.replace("* PG", "* postgres PG"))
    site.start(lab.old)
    sql(lab.old, f"create role shop_owner login password '{WORDS['a role']}'")
    yield lab
    lab.old.exec("rm", "-f", "/etc/cron.d/shop")
    site.remove(lab)


@contextmanager
def process_lists() -> Iterator[set[str]]:
    """Every command line that is to be seen on this machine, both hosts among it, until it is left."""
    seen: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            for words in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(words.read_bytes().decode(errors="replace").replace("\0", " "))
                except OSError:  # it ended meanwhile
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def kept(path: Path) -> str:
    """Every value of the history, whatever its table and however it is packed."""
    unpacked = LongText()
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        rows = [row for name in tables for row in connection.execute(f'select * from "{name}"')]
        dialect = None
    values = [
        unpacked.process_result_value(value, dialect) if isinstance(value, bytes) else str(value)  # type: ignore[arg-type]
        for row in rows
        for value in row
    ]
    return "\n".join(value for value in values if value is not None)


def lying_on(host: Host) -> str:
    """The files of a host, but the cluster's own, that hold one of the words."""
    look = ["grep", "-rlsaF", "-D", "skip", "-f", "-", *_PLACES]
    return host.exec(*look, input="\n".join(WORDS.values()) + "\n", check=False).stdout


@pytest.mark.long
def test_after_a_whole_move_no_secret_is_to_be_found(cluster: Lab, asker: LabAsker, tmp_path: Path) -> None:
    events: list[Event] = []
    job = Job(events.append)
    with Store.open(tmp_path / "history") as store, Session(store, asker) as session, process_lists() as lists:
        store.add_profile(Profile("old", cluster.old.address, user="plain", rights=Rights.SUDO_PASSWORD))
        store.add_profile(Profile("new", cluster.new.address, user="dba"))
        store.add_move(replace(MOVE, name="m"))
        run_checks(session, "m", job)
        make_estimate(session, "m", job)
        made = plan_move(session, "m", job)
        # joined by the server itself: the command, which is in its process list, does not hold the word
        said = "' '".join(WORDS["what a server says"].split("-"))
        echo = command("sh", "-c", f"printf 'password=%s-%s-%s\\n' '{said}' >&2; exit 1")
        with pytest.raises(CommandError) as failed:
            session.server("old", job).run(echo, job)
        assert execute(session, "m", Kind.REAL, Person(), job).state is State.DONE
        asked = Options(raw=True, functions=True)
        for kind in (ReportKind.PLAN, ReportKind.EXECUTION):
            write_report(session, kind, ["m"], tmp_path / f"{kind}.pdf", Format.PDF, asked)
        path = store.path
    printed = [
        subprocess.run(["pdftotext", made_pdf, "-"], check=True, capture_output=True, text=True).stdout
        for made_pdf in sorted(tmp_path.glob("*.pdf"))
    ]
    found = {
        "history": kept(path),
        "files of the history": repr([each.read_bytes() for each in path.parent.rglob("*") if each.is_file()]),
        "events": repr(events),
        "error": f"{failed.value} {failed.value.command} {failed.value.stderr}",
        "script and runbook": script(made) + runbook(made),
        "report": "\n".join(printed),
        "process lists": "\n".join(lists),
    }
    assert "setting primary_conninfo # " in found["history"], "the comparison of both sides is there, by a hash"
    assert "pg_dump shop" in found["history"]
    assert "postgres" in found["process lists"]
    assert [(place, what) for place, text in found.items() for what, word in WORDS.items() if word in text] == []
    assert (lying_on(cluster.old), lying_on(cluster.new)) == ("", "")
    assert "password=" in found["error"]
    # what was moved is whole, its secrets included
    assert sql(cluster.new, "show primary_conninfo").endswith(WORDS["primary_conninfo"])
    shutil.rmtree(path.parent)


@pytest.mark.long
def test_nor_in_what_an_exported_script_leaves(
    cluster: Lab, asker: LabAsker, tmp_path: Path, old_profile: Profile, new_profile: Profile
) -> None:
    folder = tmp_path / "script"
    folder.mkdir()
    with Store.open(tmp_path / "history") as store, Session(store, asker) as session:
        store.add_profile(old_profile)
        store.add_profile(new_profile)
        store.add_move(replace(MOVE, name="m"))
        exported = Script(plan_move(session, "m", Job()), cluster, folder)
    with process_lists() as lists:
        assert exported.answered(answers=exported.answers()) == 0, exported.said()
    left = {str(each): each.read_text(errors="replace") for each in folder.rglob("*") if each.is_file()}
    assert any("setting primary_conninfo # " in text for text in left.values()), list(left)
    left["process lists"] = "\n".join(lists)
    assert [(place, what) for place, text in left.items() for what, word in WORDS.items() if word in text] == []
    assert (lying_on(cluster.old), lying_on(cluster.new)) == ("", "")
