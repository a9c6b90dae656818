"""Errors and notes of core in a German window: each is made by what raises it, and is German to its last word."""

import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core import settings
from core.benchmarks.suites import load_suite, parse_suite
from core.benchmarks.tools import recognised
from core.comparison.preparation import Preparation
from core.comparison.sets import place_on_server
from core.errors import PghaulError
from core.facts.control_data import parse_control_data
from core.files import check_free
from core.history import places
from core.history.address import url_of
from core.history.archive import read
from core.history.backup import backup, restore
from core.history.database import FILE_NAME
from core.history.log import LONGEST_NOTE
from core.history.seal import KEY_FILE
from core.history.store import Store
from core.inputs import read_input
from core.language import spoken
from core.migration.checks.waivers import waive
from core.migration.estimate import load_spec
from core.migration.model.checks import CheckResult, Status
from core.migration.model.watch import parse_watch
from core.reports.make import Format, check_place
from core.reports.options import read_logo
from core.reports.recorded import recorded
from core.servers.shell import command
from core.user_settings import file
from tests.core.history import samples
from tests.failing_disk import failing_disk
from tests.german import english_in, english_in_text
from tests.histories import Histories

SUITE = """
title = "mine"
repetitions = 3
[[workload]]
name = "w"
title = "w"
tool = "fio"
headline = "read_iops"
[workload.parameters]
pattern = "randread"
direct = true
size_bytes = 8192
runtime_seconds = 1
"""
WARNING = CheckResult("libc", "C library", Status.WARNING, "old", "new", "They differ.", "Rebuild the indexes.")


def made(folder: Path, statement: str = "") -> Path:
    """Return the folder of a history, in whose file somebody has run that statement."""
    Store.open(folder / "history").close()
    if statement:
        with closing(sqlite3.connect(folder / "history" / FILE_NAME)) as connection, connection:
            connection.execute(statement)
    return folder / "history"


def begun(folder: Path, content: bytes) -> Path:
    """Return a folder in which something else has the name of the history's file."""
    (folder / "history").mkdir(mode=0o700)
    (folder / "history" / FILE_NAME).write_bytes(content)
    return folder / "history"


def linked(folder: Path) -> Path:
    place = begun(folder, b"")
    (place / FILE_NAME).rename(place / "elsewhere")
    (place / FILE_NAME).symlink_to(place / "elsewhere")
    return place


def opened_to_others(folder: Path) -> Path:
    place = made(folder)
    (place / FILE_NAME).chmod(0o666)
    return place


def as_folder(folder: Path) -> Path:
    (folder / "history" / FILE_NAME).mkdir(parents=True)
    return folder / "history"


def garbled_places(_folder: Path) -> None:
    settings.config_folder().mkdir(parents=True, exist_ok=True)
    (settings.config_folder() / places.FILE).write_text("[")
    Store.open()


def held(folder: Path) -> None:
    """Write while another program writes."""
    place = made(folder)
    with closing(sqlite3.connect(place / FILE_NAME, isolation_level=None)) as other, Store.open(place) as store:
        other.execute("BEGIN IMMEDIATE")
        store.add_profile(samples.OLD)


def torn(folder: Path) -> Path:
    """A history whose file was cut off in the middle."""
    place = made(folder)
    os.truncate(place / FILE_NAME, (place / FILE_NAME).stat().st_size // 2)
    return place


def written_to_failing_disk(folder: Path) -> None:
    with Store.open(made(folder)) as store, failing_disk():
        store.add_profile(samples.OLD)


def copied_to_failing_disk(folder: Path) -> None:
    place = made(folder)
    with failing_disk():
        backup(place)


def archive(folder: Path, *names: str) -> Path:
    with zipfile.ZipFile(folder / "archive", "w") as written:
        for name in names:
            written.writestr(name, "{}")
    return folder / "archive"


def noted(folder: Path) -> None:
    with Store.open(folder / "history") as store:
        store.set_note("run", 7, "x" * (LONGEST_NOTE + 1))


def shown(folder: Path) -> None:
    with Store.open(folder / "history") as store:
        store.detail("run", 7)


def written_settings(content: str) -> None:
    place = file.path()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.write_text(content)
    place.chmod(0o600)
    file.load()


def written(folder: Path, content: str, name: str = "x") -> Path:
    (folder / name).write_text(content)
    return folder / name


def opening(make: Callable[[Path], Path]) -> Callable[[Path], object]:
    return lambda folder: Store.open(make(folder))


def changed(before: str, after: str) -> Callable[[Path], object]:
    return lambda _: parse_suite(SUITE.replace(before, after, 1), "mine")


def job_file(content: str) -> Callable[[Path], object]:
    return lambda folder: load_suite(str(written(folder, content, "mine.fio")))


OPENED: dict[str, Callable[[Path], Path]] = {
    "garbage": lambda folder: begun(folder, b"x" * 5000),
    "a folder": as_folder,
    "a link": linked,
    "another database": lambda folder: made(folder, "DROP TABLE alembic_version"),
    "without a version": lambda folder: made(folder, "DELETE FROM alembic_version"),
    "a newer version": lambda folder: made(folder, "UPDATE alembic_version SET version_num = '9999'"),
    "a trigger": lambda folder: made(folder, "CREATE VIEW foreign_one AS SELECT 1"),
    "open to others": opened_to_others,
    "torn": torn,
    "without a table": lambda folder: made(folder, "DROP TABLE alembic_version"),
}
ATTEMPTS: dict[str, Callable[[Path], object]] = {
    **{f"history: {name}": opening(make) for name, make in OPENED.items()},
    "history: which one": garbled_places,
    "history: in use": held,
    "history: an error of the disk": written_to_failing_disk,
    "history: lost tables": lambda folder: Store.open(made(folder, "DROP TABLE moves")).moves(),
    "history: no server": lambda _: Store.open("postgresql://me@/db?host=/nowhere"),
    "history: nobody listens": lambda _: Store.open("postgresql://me@127.0.0.1:1/db"),
    "backup of a torn one": lambda folder: backup(torn(folder)),
    "backup to a failing disk": copied_to_failing_disk,
    "restored from a torn one": lambda folder: restore(made(folder), torn(folder / "other") / FILE_NAME),
    "history: a long note": noted,
    "history: no entry": shown,
    "history: no URL": lambda _: url_of("mysql://team/history"),
    "history: a password in the URL": lambda _: url_of("postgresql://dba:geheim@team/history"),
    "history: a parameter of the URL": lambda _: url_of("postgresql://dba@team/history?options=x"),
    "history: two servers in the URL": lambda _: url_of("postgresql://dba@/history?host=a,b"),
    "backup onto itself": lambda folder: backup(made(folder), folder / "history" / FILE_NAME, replacing=True),
    "backup of nothing": backup,
    "restored from itself": lambda folder: restore(made(folder), folder / "history" / FILE_NAME),
    "restored from an empty file": lambda folder: restore(made(folder), written(folder, "")),
    "restored from no history": lambda folder: restore(made(folder), written(folder, "x" * 5000)),
    "archive of others": lambda folder: read(archive(folder, "x")),
    "archive of nothing": lambda folder: read(archive(folder)),
    "archive of a strange head": lambda folder: read(archive(folder, "archive.json")),
    "settings: no such one": lambda _: written_settings('[report]\npapr = "a4"\n'),
    "settings: no section": lambda _: written_settings('paper = "a4"\n'),
    "settings: a value of a section": lambda _: written_settings("report = 1\n"),
    "settings: a wrong value": lambda _: written_settings('[report]\npaper = "a9"\n'),
    "settings: a wrong number": lambda _: written_settings("[move]\nprecopy_limit = 0\n"),
    "settings: too long": lambda _: written_settings("#" * 2**17),
    "settings: an unknown key": lambda _: file.find("report.papr"),
    "suite: missing": changed('title = "mine"', ""),
    "suite: another kind": changed("repetitions = 3", 'repetitions = "3"'),
    "suite: a fraction": changed("repetitions = 3", "repetitions = 3.5"),
    "suite: no text": changed('title = "mine"', "title = 3"),
    "suite: neither true nor false": changed("direct = true", "direct = 1"),
    "suite: no number": changed("repetitions = 3", 'target_variation = "much"'),
    "suite: another word": changed('"randread"', '"trim"'),
    "suite: no table": changed("[workload.parameters]", "parameters = 3\n[workload.x]"),
    "suite: too few": changed("repetitions = 3", "repetitions = 0"),
    "suite: an unknown field": changed('name = "w"', 'name = "w"\nsize = 3'),
    "suite: an unknown tool": changed('tool = "fio"', 'tool = "iozone"'),
    "suite: another headline": changed('"read_iops"', '"write_iops"'),
    "suite: an unknown parameter": changed("size_bytes = 8192", "size_bytes = 8192\nblok = 3"),
    "suite: no multiple": changed("size_bytes = 8192", "size_bytes = 8191"),
    "suite: below one": changed("runtime_seconds = 1", "runtime_seconds = 0"),
    "suite: the page cache": changed("direct = true", "direct = false"),
    "suite: both": changed("runtime_seconds = 1", "runtime_seconds = 1\njobs = 2\nfiles = 2"),
    "suite: no workload": lambda _: parse_suite('title = "x"\nrepetitions = 1\nworkload = []', "mine"),
    "suite: no file": lambda _: load_suite("none"),
    "job file: outside": job_file("[a]\nrw=write\nsize=8m\nfilename=/etc/passwd\n"),
    "job file: an option": job_file("[a]\nrw=write\nsize=8m\nexec_prerun=rm\n"),
    "job file: no size": job_file("[a]\nrw=write\n"),
    "job file: no section": job_file("rw=write\n"),
    "job file: another pattern": job_file("[a]\nrw=trim\nsize=8m\n"),
    "output of nothing": lambda _: recognised("hello"),
    "output that was cut off": lambda _: recognised("fio-3.33\nStarting 1 process\n"),
    "output of another program": lambda _: parse_control_data("hello"),
    "volume of a server": lambda _: place_on_server("db1"),
    "a device": lambda _: Preparation(("sdb",), "/srv/pg"),
    "a mount point": lambda _: Preparation(("/dev/sdb",), "srv"),
    "no check": lambda _: waive((WARNING,), "none", "because"),
    "no reason": lambda _: waive((WARNING,), "libc", " "),
    "a long reason": lambda _: waive((WARNING,), "libc", "x" * 3000),
    "a file that is there": lambda folder: check_free(written(folder, "")),
    "a long input": lambda folder: read_input(str(written(folder, "x" * (2**24 + 1)))),
    "a report in place of a folder": lambda folder: check_place(Format.PDF, folder),
    "a report in no folder": lambda folder: check_place(Format.PDF, folder / "none" / "report.pdf"),
    "a logo of another kind": lambda folder: read_logo(written(folder, "x")),
    "a long logo": lambda folder: read_logo(written(folder, "x" * 2**21)),
    "figures of no cluster": lambda _: load_spec("[cluster]\n", "mine"),
    "a watch of nothing": lambda _: parse_watch(""),
    "a NUL character": lambda _: command("echo", "\0"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_an_error_is_german_to_its_last_word(attempt: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(PghaulError) as refused:
        attempt(tmp_path)
    assert english_in(refused.value, str(tmp_path)) == []


def test_what_a_history_remarks_is_german(histories: Histories, tmp_path: Path) -> None:
    place = tmp_path / "history"
    histories.open(place, samples.fill).close()
    (settings.config_folder() / KEY_FILE).chmod(0o640)
    place.chmod(0o755)
    (place / FILE_NAME).chmod(0o644)
    with Store.open(place) as store:
        assert len(store.remarks) == 2
        assert [said for text in store.remarks if (said := english_in_text(text, str(tmp_path)))] == []


@pytest.mark.parametrize(
    ("note", "german"),
    [
        ("db1: 1 cluster, read in 3.1 s", "db1: 1 Cluster, gelesen in 3,1 s"),
        ("db1: 12 clusters, read earlier", "db1: 12 Cluster, früher gelesen"),
    ],
)
def test_what_a_survey_has_read_is_german(note: str, german: str) -> None:
    with spoken("de"):
        assert recorded(note) == german
