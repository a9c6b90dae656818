"""The proofs that every data root is known and what it was, on folders of this machine."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from core.facts.model import Cluster, Tablespace
from core.migration.model.execution import UNKNOWN_ROOT
from core.migration.plan.steps.known_data_roots import compare_data_roots, print_data_roots
from core.servers.shell import Shell
from tests.core.migration.builders import cluster, runnable

VERSION = "PG_15_202209061"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with one tablespace and a link to a file."""
    folder = tmp_path / "it's $(touch x)"
    (folder / "pg_tblspc").mkdir(parents=True)
    (folder / "PG_VERSION").write_text("15\n")
    (folder / "postgresql.conf").symlink_to("/etc/hostname")
    fill(folder / "base/5")
    fill(link(folder, "pg_tblspc/1") / VERSION / "5")
    return folder


def fill(folder: Path, files: int = 200) -> None:
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / str(16384 + number)).write_text("rows")


def link(data: Path, path: str) -> Path:
    target = data.parent / f"space [{Path(path).name}] ö"
    target.mkdir()
    (data / path).symlink_to(target)
    return target


def known(data: Path, *others: Tablespace) -> Cluster:
    space = Tablespace(1, "pg_tblspc/1", str((data / "pg_tblspc/1").resolve()), 0, 0)
    return cluster(data_directory=str(data), tablespaces=(space, *others))


def run(proof: Shell, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(["dash", "-c", runnable(proof)], input=said, capture_output=True, text=True, check=False)


def said(done: subprocess.CompletedProcess[str], status: int = 1) -> str:
    """Its one sentence, without what stands ahead of every one."""
    (line,) = done.stderr.splitlines()
    assert done.returncode == status
    return line.removeprefix("pghaul: ")


def test_what_the_plan_knows_is_no_news(data: Path) -> None:
    before = run(print_data_roots(known(data)))
    assert (before.returncode, before.stderr) == (0, "")
    again = run(compare_data_roots(known(data)), before.stdout)
    assert (again.returncode, again.stderr, again.stdout) == (0, "", before.stdout)


@pytest.mark.parametrize("path", ["pg_tblspc/16433", "pg_wal", "-e"])
def test_a_root_that_was_made_since_is_named(data: Path, path: str) -> None:
    made = link(data, path)
    assert said(run(print_data_roots(known(data))), UNKNOWN_ROOT).startswith(
        f"{path} leads to {made}. The plan does not contain this, because it was created later. Begin with a new"
    )


def test_a_link_that_leads_elsewhere_now_is_another_root(data: Path) -> None:
    before = known(data)
    (data / "pg_tblspc/1").unlink()
    fill(data.parent / "elsewhere" / VERSION)
    (data / "pg_tblspc/1").symlink_to(data.parent / "elsewhere")
    assert "pg_tblspc/1 leads to" in said(run(print_data_roots(before)), UNKNOWN_ROOT)


def test_all_of_them_stand_on_one_line(data: Path) -> None:
    for path in ("pg_wal", "pg_tblspc/7"):
        link(data, path)
    assert said(run(print_data_roots(known(data))), UNKNOWN_ROOT).count("leads to") == 2


def test_a_root_that_is_gone_stops_the_move(data: Path) -> None:
    gone = Tablespace(9, "pg_tblspc/9", "/gone", 0, 0)
    assert said(run(print_data_roots(known(data, gone)))) == "/gone does not exist: is its disk mounted?"


def test_a_data_directory_that_cannot_be_read_proves_nothing(tmp_path: Path) -> None:
    assert run(print_data_roots(cluster(data_directory=str(tmp_path / "gone")))).returncode != 0


def empty(data: Path) -> None:
    """As where its disk is not mounted: the mount point is there, with nothing in it."""
    target = (data / "pg_tblspc/1").resolve()
    target.rename(target.with_name("unmounted"))
    target.mkdir()


def another_disk(data: Path) -> None:
    """One with a folder of that catalog version, which is not the one that was there."""
    empty(data)
    fill((data / "pg_tblspc/1").resolve() / VERSION / "5")


def few(data: Path) -> None:
    """As where a queue has dropped its tables."""
    for number in range(150):
        (data / "base/5" / str(16384 + number)).unlink()


def nothing(data: Path) -> None:
    """No file of a relation is left."""
    for path in (data / "base/5").iterdir():
        path.unlink()


def empty_space(data: Path) -> None:
    """A tablespace whose tables were all dropped: its folders are there."""
    for path in (data / "pg_tblspc/1" / VERSION / "5").iterdir():
        path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (empty, f"does not contain {VERSION}: is its disk mounted?"),
        (another_disk, "the old cluster has changed: pg_tblspc/1 is another folder, or on another disk"),
        (nothing, "the old cluster has changed: the data directory no longer contains any relation"),
    ],
)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_root_that_is_not_what_it_was_stops_the_move(
    data: Path, change: Callable[[Path], None], sentence: str, *, restarted: bool
) -> None:
    before = run(print_data_roots(known(data))).stdout
    if restarted:  # devices may have other numbers then
        boot, _, lines = before.partition("\n")
        assert boot.startswith("boot ")
        device = str((data / "base").stat().st_dev)
        renumbered = re.sub(rf"\b{device} ", "4711 ", lines)  # no inode that ends so
        before = f"boot another\n{renumbered}"
    facts = known(data)
    change(data)
    assert sentence in said(run(compare_data_roots(facts), before))


def test_a_disk_with_another_number_is_the_same_after_a_restart_alone(data: Path) -> None:
    before = run(print_data_roots(known(data))).stdout
    other = re.sub(rf"(?m)^{(data / 'base').stat().st_dev} ", "4711 ", before)
    assert "on another disk" in said(run(compare_data_roots(known(data)), other))
    _, _, lines = other.partition("\n")
    assert run(compare_data_roots(known(data)), f"boot another\n{lines}").returncode == 0


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (few, "of 200 files of relations in the data directory, 800 bytes, 50 are there, 200 bytes"),
        (empty_space, "of 200 files of relations in pg_tblspc/1, 800 bytes, 0 are there, 0 bytes"),
    ],
)
def test_tables_that_clients_drop_are_a_note_with_numbers(
    data: Path, change: Callable[[Path], None], counts: str
) -> None:
    before = run(print_data_roots(known(data)))
    change(data)
    now = run(compare_data_roots(known(data)), before.stdout)
    note, _, rest = now.stdout.partition("\n")
    assert (now.returncode, note) == (0, f"note: {counts}: clients dropped or emptied tables meanwhile")
    assert run(compare_data_roots(known(data)), now.stdout).stdout == rest


def mounted_below(lines: str) -> str:
    """As where another disk lies below the tablespace: a line of its own, with the inode of its topmost folder."""
    return lines.replace("# whole", "4711 2 300 9000000 1700000000.0000000000 pg_tblspc/1\n# whole")


@pytest.mark.parametrize("restarted", [False, True])
def test_a_disk_below_a_root_that_is_missing_stops_the_move(data: Path, *, restarted: bool) -> None:
    before = mounted_below(run(print_data_roots(known(data))).stdout)
    if restarted:
        before = re.sub("^boot .*", "boot another", before)
    assert "pg_tblspc/1 is another folder, or on another disk" in said(run(compare_data_roots(known(data)), before))


def test_tables_that_are_dropped_or_rewritten_stop_nothing(data: Path) -> None:
    before = run(print_data_roots(known(data))).stdout
    for number in range(200):
        path = data / "base/5" / str(16384 + number)
        path.rename(path.with_name(str(99000 + number)))  # VACUUM FULL of all
    for number in range(15):
        (data / "base/5" / str(99000 + number)).unlink()
    os.truncate(data / "base/5/99100", 0)
    (data / "pg_wal").mkdir()
    assert run(compare_data_roots(known(data)), before).stderr == ""
