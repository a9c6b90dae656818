"""The proof that the plan knows every data root, on folders of this machine."""

import subprocess
from pathlib import Path

import pytest

from core.facts.model import Tablespace
from core.migration.plan.steps.known_data_roots import unknown_data_roots
from tests.core.migration.builders import cluster, runnable


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with one tablespace and a link to a file."""
    folder = tmp_path / "it's $(touch x)"
    (folder / "pg_tblspc").mkdir(parents=True)
    link(folder, "pg_tblspc/1")
    (folder / "postgresql.conf").symlink_to("/etc/hostname")
    return folder


def link(data: Path, path: str) -> Tablespace:
    target = data.parent / f"space [{Path(path).name}] ö"
    target.mkdir()
    (data / path).symlink_to(target)
    return Tablespace(1, path, str(target), 0, 0)


def proof(data: Path, *known: Tablespace) -> subprocess.CompletedProcess[str]:
    text = runnable(unknown_data_roots(cluster(data_directory=str(data), tablespaces=known)))
    return subprocess.run(["dash", "-c", text], capture_output=True, text=True, check=False)


def known(data: Path) -> Tablespace:
    return Tablespace(1, "pg_tblspc/1", str((data / "pg_tblspc/1").resolve()), 0, 0)


def test_what_the_plan_knows_is_no_news(data: Path) -> None:
    done = proof(data, known(data))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_cluster_without_links_is_whole(tmp_path: Path) -> None:
    assert proof(tmp_path).returncode == 0


@pytest.mark.parametrize("path", ["pg_tblspc/16433", "pg_wal", "-e"])
def test_a_place_that_was_made_since_is_named(data: Path, path: str) -> None:
    made = link(data, path)
    done = proof(data, known(data))
    assert done.returncode == 1
    assert done.stderr.startswith(
        f"pghaul: {path} leads to {made.location}: not in the plan, made since; begin with a new"
    )
    assert len(done.stderr.splitlines()) == 1


def test_a_link_that_leads_elsewhere_now_is_another_place(data: Path) -> None:
    before = known(data)
    (data / "pg_tblspc/1").unlink()
    (data.parent / "elsewhere").mkdir()
    (data / "pg_tblspc/1").symlink_to(data.parent / "elsewhere")
    assert "pg_tblspc/1 leads to" in proof(data, before).stderr


def test_all_of_them_stand_on_one_line(data: Path) -> None:
    for path in ("pg_wal", "pg_tblspc/7"):
        link(data, path)
    done = proof(data, known(data))
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.count("leads to") == 2


def test_a_place_that_is_gone_stops_nothing(data: Path) -> None:
    assert proof(data, known(data), Tablespace(9, "pg_tblspc/9", "/gone", 0, 0)).returncode == 0


def test_a_data_directory_that_cannot_be_read_proves_nothing(tmp_path: Path) -> None:
    assert proof(tmp_path / "gone").returncode != 0
