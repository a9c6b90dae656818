"""The lists and sums of files, as the shell makes them."""

import hashlib
import os
from pathlib import Path

import pytest

from core.servers.shell import call
from tests.core.migration.running import run

CONTROL = "global/pg_control"
SIZES = {"small": 10, "empty": 0, "é ü": 2000, "just a mebibyte": 1 << 20, "large": (1 << 20) + 1, "o'neil*": 3 << 20}
LONG_AGO = 1_600_000_000


def words(data: Path, *, program: str = "sha256sum", relinked: str = "") -> list[str | Path | int]:
    own: list[str | Path | int] = [data.parent / "lists it's", "postgres", 2, program, "true", "/usr/bin:/bin"]
    return [*own, data, relinked, "data", "-", data, "-"]


def sum_up(data: Path, inventory: str = "", **more: str) -> list[str]:
    """What the proof prints of a data directory."""
    done = run(call("checksum_all", *words(data, **more)), given=inventory)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def kept(data: Path) -> dict[str, list[str]]:
    """The lines of the list that is kept: path -> what must be alike, the side's own, and the sum."""
    lines = (data.parent / "lists it's/list-data").read_text().splitlines()
    return {path: rest for path, *rest in (line.split("\2") for line in lines)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    several = {f"base/1/{number}": 9 for number in range(20)}
    own = {CONTROL: 8192, "left [out]": 5, "pghaul-fence/mark": 1, "pghaul-start.log": 1}
    for name, size in {**SIZES, **several, **own, "below/deep": 2 << 20}.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(name.encode() * (size // len(name.encode()) + 1))
    return folder


@pytest.mark.parametrize("program", ["openssl", "sha256sum"])
def test_every_file_is_summed_up_once_by_whichever_program(data: Path, program: str) -> None:
    said, control, hashed, end = sum_up(data, program=program, relinked="left [out]//gone")
    names = [*SIZES, "below/deep", *(f"base/1/{number}" for number in range(20))]
    sums = {path: rest[2] for path, rest in kept(data).items() if rest[2]}
    assert sums == {name: hashlib.sha256((data / name).read_bytes()).hexdigest() for name in names}
    size = sum((data / name).stat().st_size for name in names)
    listed = "".join(f"{path}\2{rest[0]}\2{rest[2]}\n" for path, rest in kept(data).items())
    assert said == f"data: {len(names)} files, {size} bytes, {hashlib.sha256(listed.encode()).hexdigest()}"
    assert (control, end) == ("control", "# whole")
    assert hashed == f"{hashlib.sha256((data / CONTROL).read_bytes()).hexdigest()}  -"


@pytest.mark.slow
@pytest.mark.parametrize("program", ["openssl", "sha256sum"])
@pytest.mark.parametrize("size", [1, 2 << 20])
@pytest.mark.parametrize("name", ["a\nb", "a\\b", "a\\nb", "a  b", "\\", "-n"])
def test_whatever_a_name_holds_is_part_of_it(data: Path, program: str, size: int, name: str) -> None:
    (data / name).write_bytes(b"x" * size)
    sum_up(data, program=program)
    assert kept(data)[name.replace("\n", "\1")][2] == hashlib.sha256(b"x" * size).hexdigest()


def test_nothing_is_never_taken_for_a_cluster(tmp_path: Path) -> None:
    """Both sides would agree on it."""
    empty = tmp_path / "empty"
    (empty / "global").mkdir(parents=True)
    (empty / CONTROL).write_text("control")
    done = run(call("checksum_all", *words(empty)))
    assert (done.returncode, "only 0 files were found, but every cluster has at least 20" in done.stderr) == (1, True)


def sum_ahead(data: Path) -> None:
    done = run(call("checksum_in_advance", *words(data)))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.slow
def test_what_was_summed_up_ahead_is_not_read_again_until_it_changes(data: Path) -> None:
    sum_ahead(data)
    ahead = kept(data)
    assert ahead["base/1/1"][2] == hashlib.sha256((data / "base/1/1").read_bytes()).hexdigest()
    lines = (data.parent / "lists it's/list-data").read_text()
    (data.parent / "lists it's/list-data").write_text(lines.replace(ahead["base/1/1"][2], "f" * 64))
    changed = data / "base/1/2"
    before = changed.stat()
    changed.write_bytes(b"X" * before.st_size)
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))  # size and time as before: its ctime tells
    sum_up(data)
    assert kept(data)["base/1/1"][2] == "f" * 64
    assert kept(data)["base/1/2"][2] == hashlib.sha256(b"X" * before.st_size).hexdigest()


def test_what_has_just_changed_is_not_kept_ahead(data: Path) -> None:
    """Within one tick of the clock nothing would tell the next change."""
    ticking = 'date() { echo $(($(command date "$@") - 60000)); }; sleep() { :; }; '
    shell = call("checksum_in_advance", *words(data))
    done = run(type(shell)(f"{ticking}{shell.text}", shell.shown, compound=True, functions=shell.functions))
    assert done.returncode == 0, done.stderr
    assert [path for path, rest in kept(data).items() if rest[2]] == []


@pytest.mark.slow
def test_a_file_that_vanishes_while_old_runs_is_no_failure(data: Path) -> None:
    """It is listed, and gone when it is read; in the stop nothing may vanish."""
    vanish = f"sort() {{ rm -f '{data}/base/1/3'; command sort \"$@\"; }}; "
    said = []
    for function, status in (("checksum_in_advance", 0), ("checksum_all", 1)):
        (data / "base/1/3").write_text("there")
        os.utime(data / "base/1/3", (LONG_AGO, LONG_AGO))
        shell = call(function, *words(data))
        done = run(type(shell)(f"{vanish}{shell.text}", shell.shown, compound=True, functions=shell.functions))
        assert done.returncode == status, done.stderr
        said.append(done.stderr)
    assert "could not compute the checksums of all files" in said[1]


def test_times_are_compared_in_what_every_rsync_and_file_system_carries(data: Path) -> None:
    """Before 3.1 rsync sends whole seconds; so do file systems with inodes of 128 bytes."""
    os.utime(data / "small", ns=(LONG_AGO * 10**9, LONG_AGO * 10**9 + 123_456_789))
    old = sum_up(data)
    os.utime(data / "small", ns=(LONG_AGO * 10**9, LONG_AGO * 10**9))
    assert sum_up(data) == old
    os.utime(data / "small", (LONG_AGO, LONG_AGO + 1))
    assert sum_up(data) != old


def test_the_control_file_is_summed_up_wherever_it_lies(data: Path) -> None:
    there = sum_up(data)
    (data / "pghaul-fence/global").mkdir()
    (data / CONTROL).rename(data / "pghaul-fence" / CONTROL)
    assert sum_up(data) == there


def test_names_alone_are_compared_where_rsync_has_summed_up_what_it_sent(data: Path) -> None:
    said, *_ = sum_up(data, program="none")
    assert said.startswith("data: 28 files, ")
    assert {rest[2] for rest in kept(data).values()} == {""}
