"""The README's picture: the window while it measures both of the lab's hosts at once.

`sh installer/with-lab.sh .venv/bin/python tests/lab/cockpit.py docs/window.png`; it takes some three minutes.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from core.api.facts import read_facts
from core.api.servers import test_server
from core.api.session import Session
from core.history.store import Store
from core.jobs import Job
from core.migration.model.move import Move
from core.servers.profiles import Nobody, Profile
from core.sides import Side
from gui import appearance
from gui.models.queue import MeasuredSides
from gui.pages.measure import MeasurePage
from gui.screenshots import settle
from gui.window import MainWindow
from gui.work import Work
from tests.lab import clusters
from tests.lab.demo import CAPS, host_key_fingerprint
from tests.lab.lab import Lab, lab

MOVE = "spring"
SIZE = (1280, 800)
DONE = 2
"""The picture is taken once so many workloads are done on either side, and the next one has a repetition."""
PATIENCE_SECONDS = 400.0


class Console(Nobody):
    """Compares a host key with the one that its own console shows."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:  # noqa: ARG002  it answers yes to each
        return fingerprint == self._fingerprint


def main() -> int:
    """Take it."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch, lab("cockpit") as hosts:
        stay_in(Path(scratch))
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        with Store.open(Path(scratch) / "history") as store:
            describe(hosts, store)
            _draw(store, target)
    return 0


def stay_in(folder: Path) -> None:
    """Have settings and the hosts' keys there, not at the user's."""
    ssh_config = folder / "ssh_config"
    ssh_config.write_text(f'UserKnownHostsFile "{folder}/known_hosts"\n')
    os.environ["PGHAUL_SSH_CONFIG"] = str(ssh_config)
    os.environ["PGHAUL_CONFIG"] = f"{folder}/config"


def describe(hosts: Lab, store: Store) -> None:
    """Both servers with their facts, and the move between them."""
    for host in (hosts.old, hosts.new):
        caps = CAPS[host.name]
        hosts.cap_disk(
            host.name, caps.read_bytes_per_second, caps.write_bytes_per_second, caps.read_iops, caps.write_iops
        )
        store.add_profile(Profile(host.name, host.address, user=host.user, identity_file=str(host.key)))
        with Session(store, Console(host_key_fingerprint(host))) as session:
            test_server(session, host.name, Job())
            read_facts(session, host.name, Job())
    store.add_move(Move(MOVE, "old", "new", clusters.DATA, clusters.NEW_DATA, "/srv/pg", "/srv/pg"))


def _draw(store: Store, target: Path) -> None:
    application = QApplication(["pghaul"])
    appearance.prepare(application)
    appearance.force(application, Qt.ColorScheme.Light)
    work = Work()
    window = MainWindow(work)
    window.resize(*SIZE)
    window.show()
    work.use(Session(store, work.asker))
    settle(application, work)
    work.pick(MOVE)
    page = measure_both(application, window)
    wait(application, lambda: _is_in_the_middle(store))
    wait(application, lambda: page.tiles.tiles.moving, seconds=5.0)
    window.grab().save(str(target))
    window.cancel()
    settle(application, work)
    work.session = None  # it is the caller's
    work.close()


def measure_both(application: QApplication, window: MainWindow) -> MeasurePage:
    """Start the benchmarks of both hosts at once, as a person would; the page."""
    page = window.show_page(MeasurePage.id)
    settle(application, window.work)
    if not isinstance(page, MeasurePage):
        raise TypeError(type(page))
    page.sides.setCurrentIndex(page.sides.findData(MeasuredSides.AT_ONCE.value))
    page.forecast.click()
    wait(application, page.start.isEnabled)
    page.start.click()
    return page


def _is_in_the_middle(store: Store) -> bool:
    for side in Side:
        runs = store.runs(MOVE, side=side)
        if len(runs) != DONE + 1 or not runs[-1].repetitions:
            return False
    return True


def wait(
    application: QApplication,
    condition: Callable[[], bool],
    seconds: float = 0.0,
    patience: float = PATIENCE_SECONDS,
) -> None:
    """Let the window work until that is so, and then for so many seconds more. Between events it sleeps.

    Raises:
        TimeoutError: it was not so within `patience` seconds.
    """
    limit, reached = time.monotonic() + patience, None
    loop = QEventLoop()
    look = QTimer(interval=50)
    look.timeout.connect(loop.quit)
    look.start()
    while reached is None or time.monotonic() < reached + seconds:
        loop.exec()
        reached = reached or (time.monotonic() if condition() else None)
        if time.monotonic() > limit:
            raise TimeoutError("the window did not come so far")
    look.stop()
    application.sendPostedEvents()


if __name__ == "__main__":
    sys.exit(main())
