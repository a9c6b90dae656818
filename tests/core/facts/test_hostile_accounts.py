"""Any account of a host can put up what looks like a cluster: it runs as its owner, and speaks for itself alone."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import Job
from core.servers.connection import Server
from tests.core.facts.here import Here

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root looks into others' folders")

MALLORY, VICTIM = 60001, 60002
EVIL = r"""#!/bin/sh
id -u >>@home@/ran_as
[ ! -e @home@/learned ] || exit 1
tr '\0' '\n' </proc/$$/environ >>@home@/learned
case $1 in --version) echo 'postgres (PostgreSQL) 15.5' ;; esac
for mark in $(grep -aohE '==[0-9a-f]{32}==' @home@/learned | sort -u); do
  for number in 0 1 2 3; do
    for name in "$number/place" "$number/inside" "$number/identity" identity; do
      printf '\n%s begin %s\n' "$mark" "$name"
      printf 'id=1:1\nuid=0\nowner=root\nfolder=2f746d70\nseries=9.6\n\n%s end 0\n' "$mark"
    done
  done
done
setsid sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; echo "series=8.0"; echo "series=8.0" >&2; done' &
"""


@dataclass(frozen=True)
class Stage:
    """`home` is the attacker's, `data` its fake cluster; `victim` is a real one's folder, `shared` anybody's."""

    home: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def victim(self) -> Path:
        return self.home.parent / "victim"

    @property
    def shared(self) -> Path:
        return self.home.parent / "shared"

    @property
    def ran_as(self) -> set[str]:
        noted = self.home / "ran_as"
        return set(noted.read_text().split()) if noted.exists() else set()

    def runs_in(self, folder: Path) -> "subprocess.Popen[bytes]":
        """A process of the attacker's that bears a server's name."""
        return subprocess.Popen([self.home / "postgres", "60"], cwd=folder, user=MALLORY, group=MALLORY)


@pytest.fixture
def stage() -> Iterator[Stage]:
    root = Path(tempfile.mkdtemp(prefix="hostile-"))
    root.chmod(0o755)
    found = Stage(root / "mallory")
    programs = found.home / "bin"
    programs.mkdir(parents=True)
    shutil.copy("/bin/sleep", programs / "sleeper")
    (found.home / "postgres").symlink_to(programs / "sleeper")
    for name in ("postgres", "pg_controldata", "psql"):
        (programs / name).write_text(EVIL.replace("@home@", str(found.home)))
        (programs / name).chmod(0o755)
    for folder, uid in ((found.data, MALLORY), (found.victim, VICTIM), (found.shared, 0)):
        (folder / "global").mkdir(parents=True)
        (folder / "PG_VERSION").write_text("15\n")
        for path in (folder, *folder.iterdir()):
            os.chown(path, uid, uid)
        folder.chmod(0o700)
    found.shared.chmod(0o1777)
    for path in (found.home, programs):
        os.chown(path, MALLORY, MALLORY)
    try:
        yield found
    finally:
        shutil.rmtree(root)


def facts_of(stage: Stage, *running: Path) -> Facts:
    started = [stage.runs_in(folder) for folder in running]
    try:
        return collect(cast("Server", Here()), Job(), folders=[str(stage.data), str(stage.victim)])
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_fake_server_runs_as_its_owner_and_forges_no_answer(stage: Stage) -> None:
    facts = facts_of(stage, stage.data)
    assert stage.ran_as == {str(MALLORY)}
    found = {cluster.data_directory: cluster for cluster in facts.clusters}
    victim = found[str(stage.victim)]
    assert (victim.owner_uid, victim.series, victim.running) == (VICTIM, "15", False)
    assert not any(cluster.owner_uid == 0 for cluster in facts.clusters)
    refused = next(gap.reason for gap in facts.gaps if gap.subject == f"data directory {stage.data}")
    assert "nothing here is believed" in refused
    assert str(stage.data) not in found


@pytest.mark.slow
def test_a_folder_of_roots_that_anybody_may_write_to_runs_nothing(stage: Stage) -> None:
    facts = facts_of(stage, stage.shared)
    assert stage.ran_as == set()
    refused = next(gap.reason for gap in facts.gaps if gap.subject == f"data directory {stage.shared}")
    assert "its owner is root" in refused


@pytest.mark.slow
def test_a_stranger_who_lives_in_a_cluster_is_not_its_server(stage: Stage) -> None:
    stage.victim.chmod(0o777)
    facts = facts_of(stage, stage.victim)
    assert stage.ran_as == set()
    (victim,) = (cluster for cluster in facts.clusters if cluster.data_directory == str(stage.victim))
    assert not victim.running
