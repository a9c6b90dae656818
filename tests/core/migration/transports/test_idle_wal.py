"""Which WAL nobody needs, by real shells over real folders and the text of a real control file."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from core.migration.findings.data_roots import DataRoot, data_roots
from core.migration.model.transport import Route, Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import call
from tests.core.migration.builders import cluster, move
from tests.core.migration.running import program, run

CONTROL = Path("tests/data/pg_controldata/translated-15.18-C.txt").read_text()
OTHERS = ["00000002.history", "000000010000000000000002.00000028.backup", "000000010000000000000009.partial"]
LONG_AGO = 1_600_000_000


def control(folder: Path, state: str, at: str, timeline: int = 1, size: int = 16 << 20) -> str:
    """A PATH with a pg_controldata that says so."""
    fields = {
        "Database cluster state": state,
        "Latest checkpoint location": at,
        "Latest checkpoint's TimeLineID": timeline,
        "Bytes per WAL segment": size,
    }
    lines = CONTROL.splitlines()
    for name, value in fields.items():
        (number,) = [number for number, line in enumerate(lines) if line.startswith(f"{name}:")]
        lines[number] = f"{name}:".ljust(38) + str(value)
    programs = folder / "it's programs"
    program(programs / "pg_controldata", "cat <<'END'\n" + "\n".join(lines) + "\nEND")
    return f"{programs}:{os.environ['PATH']}"


def segments(*numbers: int, timeline: int = 1) -> list[str]:
    return [f"{timeline:08X}{number >> 8:08X}{number & 255:08X}" for number in numbers]


def put(folder: Path, names: Iterable[str]) -> None:
    folder.mkdir(exist_ok=True)
    for order, name in enumerate(names):
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (LONG_AGO + order, LONG_AGO + order))


def patterns(path: str, wal: Path, dialect: str = "dash") -> list[str]:
    done = run(call("idle_wal", path, "/data", wal, "./"), dialect=dialect)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def idle(wal: Path, path: str, dialect: str = "dash") -> list[str]:
    """What `find` leaves out by the patterns."""
    words = [word for pattern in patterns(path, wal, dialect) for word in ("-o", "-path", pattern)]
    found = subprocess.run(
        ["find", ".", "-type", "f", "(", "-path", "-", *words, ")"],
        cwd=wal,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(name.removeprefix("./") for name in found.stdout.split())


@pytest.mark.parametrize("dialect", ["dash", "bash"])
def test_after_a_clean_shutdown_what_lies_beyond_its_checkpoint_is_idle(tmp_path: Path, dialect: str) -> None:
    wal = tmp_path / "wal"
    here = [*segments(0x0D, 0x0E, 0x0F, 0x10, 0x1F, 0xFF, 0x100, 0x1234), *segments(0x20, timeline=2), *OTHERS]
    put(wal, here)
    found = idle(wal, control(tmp_path, "shut down", "0/E000028"), dialect)
    assert found == segments(0x0F, 0x10, 0x1F, 0xFF, 0x100, 0x1234)


@pytest.mark.parametrize(
    ("at", "size", "last", "first_idle"),
    [
        ("0/EFFFFC0", 16 << 20, 0x0F, 0x10),  # the record ends in the next segment
        ("0/FF000028", 16 << 20, 0xFF, 0x100),
        ("0/FFFFFFD8", 16 << 20, 0x100, 0x101),
        ("1A/3F000028", 16 << 20, 0x1A3F, 0x1A40),
    ],
)
def test_the_segment_in_which_the_checkpoint_ends_is_needed(
    tmp_path: Path, at: str, size: int, last: int, first_idle: int
) -> None:
    wal = tmp_path / "wal"
    put(wal, segments(1, last, first_idle, first_idle + 100))
    assert idle(wal, control(tmp_path, "shut down", at, size=size)) == segments(first_idle, first_idle + 100)


@pytest.mark.slow
@given(
    st.integers(0, (1 << 50) - 1),
    st.integers(1, 2**31 - 1),
    st.sampled_from([1 << 20, 16 << 20, 64 << 20, 1 << 30]),
    st.lists(st.integers(-300, 5000), max_size=20),
)
@examples(max_examples=40)
def test_of_any_checkpoint_and_segment_size_the_later_names_alone_are_idle(
    at: int, timeline: int, size: int, others: list[int]
) -> None:
    """A megabyte: 4096 segments have the same middle part; a gigabyte: four of them."""
    last, many = (at + 8192) // size, (1 << 32) // size
    with tempfile.TemporaryDirectory() as folder:
        path = control(Path(folder), "shut down", f"{at >> 32:X}/{at & 0xFFFFFFFF:X}", timeline, size)
        found = patterns(path, Path(folder))
    for number in {last - 1, last, last + 1, *(last + other for other in others)}:
        name = f"{max(number, 0) // many:08X}{max(number, 0) % many:08X}"
        matched = [pattern for pattern in found if fnmatchcase(f"./{timeline:08X}{name}", pattern)]
        assert len(matched) == (number > last)
        assert not any(fnmatchcase(f"./{timeline + 1:08X}{name}", pattern) for pattern in found)


def test_of_a_running_server_what_was_written_last_is_needed(tmp_path: Path) -> None:
    """A segment that waits to be written over keeps the time of what it held."""
    wal = tmp_path / "wal"
    put(wal, [*segments(0x0B, 0x0C, 0x05, 0x06, 0x0A), "later.ready"])
    assert idle(wal, control(tmp_path, "in production", "0/5000028")) == segments(0x0B, 0x0C)


@pytest.mark.parametrize("state", ["shut down in recovery", "in archive recovery", "in crash recovery", "starting up"])
def test_of_anything_else_all_of_it_is_needed(tmp_path: Path, state: str) -> None:
    wal = tmp_path / "wal"
    put(wal, segments(1, 2, 3))
    assert idle(wal, control(tmp_path, state, "0/1000028")) == []


@pytest.mark.parametrize("dialect", ["dash", "bash"])
def test_a_control_file_that_makes_no_sense_ends_it(tmp_path: Path, dialect: str) -> None:
    unread = call("idle_wal", control(tmp_path, "shut down", "0/5000028", size=0), "/data", tmp_path, "")
    assert run(unread, dialect=dialect).returncode != 0


def test_where_the_wal_lies_by_series() -> None:
    found = {series: data_roots(move(), cluster(series=series))[0].wal for series in ("8.2", "9.2", "9.6", "15")}
    assert found == {"8.2": None, "9.2": None, "9.6": "pg_xlog", "15": "pg_wal"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed here")
def test_neither_a_list_nor_a_pass_holds_it_and_what_an_earlier_one_brought_is_removed(tmp_path: Path) -> None:
    data, new, folder = tmp_path / "it's data", tmp_path / "new", tmp_path / "way"
    for each in (data, new, folder):
        each.mkdir()
    put(data / "pg_wal", [*segments(3, 4, 5, 6), *OTHERS])
    (data / "pg_wal/archive_status").mkdir()
    put(data / "pg_wal/archive_status", [f"{segments(3)[0]}.ready"])
    put(new, ["stale"])
    put(new / "pg_wal", segments(2, 5))
    channel = CopyChannel(
        "key",
        str(folder),
        "",
        22,
        "",
        "",
        (),
        (),
        (("data", str(new)),),
        Transport(route=Route.LOCAL),
        (3, 2, 7),
        control=(control(tmp_path, "shut down", "0/4000028"), str(data)),
    )
    root = DataRoot("data", "", str(data), str(new), None, None, wal="pg_wal")
    needed = {*segments(3, 4), *OTHERS}
    assert run(passes.prepare_call(channel, passes.pre_copy_pass(root))).returncode == 0
    listed = (folder / "files-data-1.names").read_bytes().split(b"\0")
    assert {os.fsdecode(name) for name in listed if name} == {
        *(f"./pg_wal/{name}" for name in needed),
        f"./pg_wal/archive_status/{segments(3)[0]}.ready",
    }
    shown = run(passes.prepare_call(channel, passes.list_deletions(root))).stdout.splitlines()
    assert set(shown) == {*(f"pg_wal/{name}" for name in segments(2, 5)), "stale", "# 3 entries"}
    assert run(passes.prepare_call(channel, passes.rest_pass(root))).returncode == 0
    assert {path.name for path in (new / "pg_wal").iterdir()} == {*needed, "archive_status"}
    assert not (new / "stale").exists()
