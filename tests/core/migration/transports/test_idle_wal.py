"""Which WAL nobody needs, by real shells over real folders and the text of a real control file."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.migration.findings.data_roots import DataRoot, data_roots
from core.migration.transports import file_lists, idle_wal
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, command
from tests.core.migration.builders import cluster, move

CONTROL = Path("tests/data/pg_controldata/translated-15.18-C.txt").read_text()
OTHERS = ["00000002.history", "000000010000000000000002.00000028.backup", "000000010000000000000009.partial"]
LONG_AGO = 1_600_000_000


def control(folder: Path, state: str, at: str, timeline: int = 1, size: int = 16 << 20) -> Shell:
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
    file = folder / "it's control"
    file.write_text("\n".join(lines) + "\n")
    return command("cat", file)


def segments(*numbers: int, timeline: int = 1) -> list[str]:
    return [f"{timeline:08X}{number >> 8:08X}{number & 255:08X}" for number in numbers]


def put(folder: Path, names: Iterable[str]) -> None:
    folder.mkdir(exist_ok=True)
    for order, name in enumerate(names):
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (LONG_AGO + order, LONG_AGO + order))


def idle(wal: Path, control: Shell, shell: str = "dash") -> list[str]:
    """What `find` leaves out by the patterns."""
    printed = subprocess.run(
        [shell, "-c", idle_wal.patterns(control, str(wal), "./").text], check=True, capture_output=True, text=True
    ).stdout
    words = [word for pattern in printed.split() for word in ("-o", "-path", pattern)]
    found = subprocess.run(
        ["find", ".", "-type", "f", "(", "-path", "-", *words, ")"],
        cwd=wal,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(name.removeprefix("./") for name in found.stdout.split())


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_after_a_clean_shutdown_what_lies_beyond_its_checkpoint_is_idle(tmp_path: Path, shell: str) -> None:
    wal = tmp_path / "wal"
    here = [*segments(0x0D, 0x0E, 0x0F, 0x10, 0x1F, 0xFF, 0x100, 0x1234), *segments(0x20, timeline=2), *OTHERS]
    put(wal, here)
    found = idle(wal, control(tmp_path, "shut down", "0/E000028"), shell)
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


@pytest.mark.parametrize(("size", "at", "last"), [(1 << 20, "0/5500028", 0x55), (1 << 30, "2/40000028", None)])
def test_segments_of_other_sizes(tmp_path: Path, size: int, at: str, last: int | None) -> None:
    """A megabyte: 4096 of them have the same middle part; a gigabyte: four of them."""
    name = f"{1:08X}{0:08X}{last:08X}" if last is not None else f"{1:08X}{2:08X}{1:08X}"
    after = f"{1:08X}{0:08X}{last + 1:08X}" if last is not None else f"{1:08X}{2:08X}{2:08X}"
    wal = tmp_path / "wal"
    put(wal, [name, after])
    assert idle(wal, control(tmp_path, "shut down", at, size=size)) == [after]


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


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_control_file_that_cannot_be_read_ends_it(tmp_path: Path, shell: str) -> None:
    for unread in (command("false"), control(tmp_path, "shut down", "0/5000028", size=0)):
        text = idle_wal.patterns(unread, str(tmp_path), "").text
        assert subprocess.run([shell, "-c", text], check=False, capture_output=True).returncode != 0


def test_where_the_wal_lies_by_series() -> None:
    found = {series: data_roots(move(), cluster(series=series))[0].wal for series in ("8.2", "9.2", "9.6", "15")}
    assert found == {"8.2": None, "9.2": None, "9.6": "pg_xlog", "15": "pg_wal"}


def test_neither_a_list_nor_a_pass_holds_it_and_what_an_earlier_one_brought_is_removed(tmp_path: Path) -> None:
    data, new, folder = tmp_path / "data", tmp_path / "new", tmp_path / "key it's"
    data.mkdir()
    folder.mkdir()
    put(data / "pg_wal", [*segments(3, 4, 5, 6), *OTHERS])
    (data / "pg_wal/archive_status").mkdir()
    put(data / "pg_wal/archive_status", [f"{segments(3)[0]}.ready"])
    put(new, ["stale"])
    put(new / "pg_wal", segments(2, 5))
    channel = CopyChannel(
        "key", str(folder), "10.0.0.2", 22, "dba", "postgres", (), ("10.0.0.1",), (("data", str(new)),)
    )
    root = DataRoot("data", "", str(data), str(new), None, None, wal="pg_wal")
    known = control(tmp_path, "shut down", "0/4000028")
    run(idle_wal.written(channel, root, known), data)
    run(file_lists.changed_names(channel, "data", 1), data)
    listed = Path(file_lists.names(channel, "data", 1)).read_bytes().split(b"\0")
    rsync = ["rsync", "-a", "--delete", f"--filter=merge {idle_wal.rules(channel, 'data')}", f"{data}/", f"{new}/"]
    subprocess.run(rsync, check=True)
    needed = {*segments(3, 4), *OTHERS}
    assert {os.fsdecode(name) for name in listed if name} == {
        *(f"./pg_wal/{name}" for name in needed),
        f"./pg_wal/archive_status/{segments(3)[0]}.ready",
    }
    assert {path.name for path in (new / "pg_wal").iterdir()} == {*needed, "archive_status"}
    assert not (new / "stale").exists()


def run(shell: Shell, folder: Path) -> None:
    subprocess.run(["dash", "-c", shell.text], cwd=folder, check=True, timeout=20)
