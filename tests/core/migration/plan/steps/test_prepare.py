"""The proof of new's folders, run by a shell on folders made here."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from core.facts.model import Link
from core.migration.findings.data_roots import data_roots
from core.migration.plan.context import OverwriteWaiver, PlanContext
from core.migration.plan.steps.prepare import check_targets
from core.migration.transports.copy_channel import make_copy_channel
from tests.core.migration.builders import cluster, control, move, new, old, profile, runnable, space

OURS = "PG_15_202209061"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the cluster with a tablespace and its WAL elsewhere; pg_controldata knows its identifier."""
    programs = tmp_path / "bin"
    programs.mkdir()
    identifier = control().system_identifier
    (programs / "pg_controldata").write_text(
        f"#!/bin/sh\nprintf '%s\\n' 'Database system identifier:  {identifier}' "
        "'Latest checkpoint location:  0/5000028'\n"
    )
    (programs / "pg_controldata").chmod(0o755)
    data = tmp_path / "data"
    for folder in (data / "global", data / "pg_tblspc", tmp_path / "space" / OURS, tmp_path / "wal/archive_status"):
        folder.mkdir(parents=True)
    (data / "pghaul-fence").mkdir()
    folders = f"folder {tmp_path}/space\nfolder {tmp_path}/wal\n"
    (data / "pghaul-fence/mark").write_text(f"# ours\nidentifier {identifier}\n{folders}")
    (data / "pg_tblspc/16400").symlink_to("/on/old")
    (data / "pg_wal").symlink_to(tmp_path / "wal")
    for name in ("000000010000000000000002", "00000002.history", "000000010000000000000001.00000028.backup"):
        (tmp_path / "wal" / name).touch()
    return tmp_path


def proven(root: Path, given_up: str | None = None) -> subprocess.CompletedProcess[str]:
    moved = cluster(
        control=control(catalog_version=202209061),
        tablespaces=(space("/on/old"),),
        links=(Link("pg_wal", "/wal/old", dangling=False, size_bytes=1, files=1),),
    )
    undertaking = move(
        target=str(root / "data"), tablespace_targets={"/on/old": str(root / "space"), "/wal/old": str(root / "wal")}
    )
    programs = cluster(data_directory=str(root / "other"), bin_directory=str(root / "bin"))
    on_old, on_new = old(moved), new(programs)
    copied = data_roots(undertaking, moved)
    labels = [(each.label, each.target) for each in copied]
    channel = make_copy_channel(
        undertaking, profile("new"), on_old, labels, purpose="copy", address="10.77.0.12", login=None, seed="0123"
    )
    seen = None if given_up is None else OverwriteWaiver(given_up, "")
    context = PlanContext(
        undertaking, profile("old"), profile("new"), on_old, on_new, moved, channel, copied, overwrite_waiver=seen
    )
    path = f"{_as_owner(root)}:{os.environ['PATH']}"
    words = ["dash", "-c", runnable(check_targets(context))]
    return subprocess.run(words, env={"PATH": path}, capture_output=True, text=True, check=False)


def _as_owner(root: Path) -> Path:
    """A folder with a `runuser` that notes as whom it runs, and what, and runs it."""
    programs = root / "root's own"
    programs.mkdir(exist_ok=True)
    (programs / "runuser").write_text(f'#!/bin/sh\necho "$2 $5 $6" >>{root}/ran_as\nshift 3\nexec "$@"\n')
    (programs / "runuser").chmod(0o755)
    return programs


def test_root_runs_no_program_that_was_discovered(copied: Path) -> None:
    shutil.rmtree(copied / "data/pghaul-fence")
    (copied / "data/global/pg_control").touch()
    proven(copied)
    (ran,) = (copied / "ran_as").read_text().splitlines()
    assert ran.startswith(f"postgres PATH={copied}/bin:")
    assert ran.endswith(" pg_controldata")


def test_an_earlier_copy_is_ours(copied: Path) -> None:
    done = proven(copied)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_place_that_is_empty_is_anybodys(copied: Path) -> None:
    (copied / "space" / OURS).rmdir()
    (copied / "data/pg_tblspc/16400").unlink()
    assert proven(copied).returncode == 0


def test_what_no_copy_brings_is_nobodys_to_remove(copied: Path) -> None:
    (copied / "wal/dump").mkdir()
    done = proven(copied)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"pghaul: {copied / 'wal'} contains dump, which does not belong to a copy of this cluster. Empty it"
    )


@pytest.mark.parametrize("name", ["notes", "PG_15_202107181", "PG_14_202107181"])
def test_what_lies_beside_a_tablespace_s_own_folder_stays_there(copied: Path, name: str) -> None:
    (copied / "space" / name).mkdir()
    assert proven(copied).returncode == 0


def test_a_folder_that_the_mark_does_not_name_is_not_of_it(copied: Path) -> None:
    mark = copied / "data/pghaul-fence/mark"
    mark.write_text(mark.read_text().replace("/space\n", "/space too\n"))
    done = proven(copied)
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"pghaul: {copied}/space contains files, but no copy in {copied}/data has a link to it. "
    )


def test_a_folder_of_another_cluster_on_new_is_its_own(copied: Path) -> None:
    (copied / "other/pg_tblspc").mkdir(parents=True)
    (copied / "other/pg_tblspc/16999").symlink_to(copied / "space")
    done = proven(copied)
    assert done.returncode == 1
    assert done.stderr.startswith(f"pghaul: {copied}/space belongs to the cluster in {copied}/other. ")


def test_a_folder_beside_an_empty_data_directory_is_no_copy(copied: Path) -> None:
    (copied / "data").rename(copied / "away")
    assert f"{copied}/space contains files, but no copy" in proven(copied).stderr


def test_a_copy_of_another_cluster_is_not_ours(copied: Path) -> None:
    (copied / "data/pghaul-fence/mark").write_text("identifier 1\n")
    done = proven(copied)
    assert done.returncode == 1
    assert done.stderr.startswith(f"pghaul: {copied}/data contains a copy of another cluster")


@pytest.mark.parametrize(("given_up", "taken"), [(None, False), ("0/5000028", True), ("0/3000028", False)])
def test_the_same_cluster_without_a_mark_is_taken_only_as_it_was_given_up(
    copied: Path, given_up: str | None, taken: bool
) -> None:
    (copied / "data/pghaul-fence/mark").unlink()
    (copied / "data/global/pg_control").touch()
    (copied / "data/standby.signal").touch()
    (copied / "data/pg_tblspc/16400").unlink()
    (copied / "data/pg_tblspc/16400").symlink_to(copied / "space")
    done = proven(copied, given_up)
    assert (done.returncode == 0) is taken
    assert ("a standby or a restored backup of this cluster (standby.signal)" in done.stderr) is not taken


def test_the_data_directory_of_another_cluster_is_named(copied: Path) -> None:
    (copied / "data/pghaul-fence/mark").unlink()
    (copied / "data/global/pg_control").touch()
    (copied / "bin/pg_controldata").write_text("#!/bin/sh\necho 'Database system identifier:  1'\n")
    done = proven(copied)
    assert done.returncode == 1
    assert done.stderr.startswith(f"pghaul: {copied}/data contains another cluster")
