"""Each command of a page that needs the servers is run as it stands, from the first look at them to the move."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.history.store import Store
from core.migration.model.execution import Kind, State
from core.settings import data_folder
from tests.documented import PAGES, TOP, commands, connects, run
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.test_first_comparison import SUITE

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

FIRST_MOVE = TOP / "docs" / "first-move.md"
MOVING = "pghaul execute spring"


@pytest.fixture
def cluster(lab: Lab) -> Iterator[Lab]:
    """The hosts with a cluster that is running."""
    site.create(lab.old)
    site.clear(lab)
    site.start(lab.old)
    yield lab
    site.remove(lab)


def connecting(*pages: Path) -> list[str]:
    """The commands of the pages that need a server, each once, but for the move itself."""
    return [*dict.fromkeys(line for page in pages for line in commands(page) if connects(line) and line != MOVING)]


DESCRIBED = [line for line in commands(FIRST_MOVE) if line.startswith(("pghaul server add", "pghaul move add"))]
FIRST = connecting(FIRST_MOVE)
OTHERS = [line for line in connecting(*PAGES) if line not in FIRST]


def on_hosts(line: str, lab: Lab) -> str:
    """The command with the addresses of the hosts and the folders of the cluster; nobody is asked during the move."""
    line = line.replace("192.0.2.11", lab.old.address).replace("192.0.2.12", lab.new.address)
    line = line.replace("--cluster /srv/pg/data", f"--cluster {site.DATA}")
    line = line.replace("--target /srv/pg/data", f"--target {shlex.quote(site.TARGET)}")
    return f"{line} --confirm {site.DATA} --manual-steps-done" if line == MOVING else line


@pytest.fixture
def folder(cluster: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands are typed, with the files that they name. A suite measures for a second."""
    home = Path.home() / ".ssh"
    shutil.copy(cluster.key, home / "id_ed25519")
    shutil.copy(cluster.known_hosts, home / "known_hosts")
    monkeypatch.setenv("PGHAUL_CONFIG", str(tmp_path / "config"))
    (tmp_path / "config" / "suites").mkdir(parents=True)
    for path in ("config/suites/quick.toml", "config/suites/nightly.toml", "nightly.toml"):
        (tmp_path / path).write_text(SUITE)
    (tmp_path / "our-load.fio").write_text("[load]\nsize=32m\nrw=read\ndirect=1\nruntime=1\ntime_based\n")
    hosts = "".join(f"{name},{host.address},dba\n" for name, host in (("db1", cluster.old), ("db2", cluster.new)))
    (tmp_path / "fleet.csv").write_text(f"name,address,user\n{hosts}")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("lines", [[*FIRST, MOVING], OTHERS], ids=["first move", "other pages"])
def test_the_commands_that_need_servers_succeed(lines: list[str], cluster: Lab, folder: Path) -> None:
    for line in (*DESCRIBED, *lines):
        done = run(on_hosts(line, cluster), folder)
        accepted = {0, 1} if line.startswith("pghaul survey") else {0}  # 1: a move has a blocker; see its page
        assert done.returncode in accepted, f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
    with Store.open(data_folder()) as store:
        ended = sorted((each.kind, each.state) for each in store.executions("spring"))
    moved = [(kind, State.DONE) for kind in (Kind.REAL, Kind.REHEARSAL, Kind.REHEARSAL)]
    assert ended == (moved if MOVING in lines else [])
