"""What goes wrong in a round: one declared object a fault. Each strikes once, and what it leaves a person mends."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.chaos import cluster
from tests.chaos.workstation import Workstation
from tests.lab.lab import Lab

Mended = Literal["by itself", "in a while", "by a person"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault strikes."""

    lab: Lab
    workstation: Workstation


def _nothing(_: Place) -> None:
    """Nothing is left of it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        strike: does it; False where it cannot yet, and is to be tried again a moment later.
        mend: makes it good again.
        mended: whether nothing is left of it, it passes while pghaul runs, or a person has to see to it.
        prepare: what must be so before the move begins.
    """

    name: str
    strike: Callable[[Place], bool]
    mend: Callable[[Place], None] = _nothing
    mended: Mended = "by itself"
    prepare: Callable[[Place], None] = _nothing


def _kill_pghaul(place: Place) -> bool:
    process = place.workstation.process
    if process is not None:
        os.kill(process.pid, signal.SIGKILL)
    return True


def _kill_rsync(side: str) -> Callable[[Place], bool]:
    def strike(place: Place) -> bool:
        return place.lab.host(side).exec("pkill", "-KILL", "-x", "rsync", check=False).returncode == 0

    return strike


def _restart_sshd(side: str) -> Callable[[Place], bool]:
    """And its sessions with it, as where the unit's KillMode is not Debian's."""

    def strike(place: Place) -> bool:
        script = "systemctl restart ssh.service; pkill -KILL -f '^sshd: .*@' || :"
        place.lab.host(side).exec("sh", "-c", script)
        return True

    return strike


def _cable(side: str) -> Fault:
    def strike(place: Place) -> bool:
        place.lab.cut(side)
        return True

    return Fault(f"cable of {side} out", strike, lambda place: place.lab.mend(side), "in a while")


def _power(side: str) -> Fault:
    def strike(place: Place) -> bool:
        place.lab.cut_power(side)
        return True

    return Fault(f"power of {side} cut", strike, lambda place: place.lab.boot(side), "in a while")


def _fill_target(place: Place) -> bool:
    room = "avail=$(df --output=avail -B1M /srv/pg | tail -n 1); fallocate -l $((avail - 2))M /srv/pg/filler"
    return place.lab.new.exec("sh", "-c", room, check=False).returncode == 0


def _empty_target(place: Place) -> None:
    place.lab.new.exec("rm", "-f", "/srv/pg/filler")


def _lock_target(place: Place) -> bool:
    """The kernel refuses it as long as a file there is open to be written."""
    return place.lab.new.exec("mount", "-o", "remount,bind,ro", "/srv/pg", check=False).returncode == 0


def _unlock_target(place: Place) -> None:
    place.lab.new.exec("mount", "-o", "remount,bind,rw", "/srv/pg")


def _start_service(side: str) -> Callable[[Place], bool]:
    def strike(place: Place) -> bool:
        place.lab.host(side).exec("systemctl", "--no-block", "start", cluster.UNIT, check=False)
        return True

    return strike


def _fill_workstation(place: Place) -> bool:
    filler = place.workstation.disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(65536)):
                pass
        except OSError:
            return True
    return False


def _empty_workstation(place: Place) -> None:
    (place.workstation.disk / "filler").unlink(missing_ok=True)


def _right_time(place: Place) -> None:
    place.workstation.set_clock(0)


def _step_clock(seconds: int) -> Callable[[Place], bool]:
    """The workstation's: hosts with systemd have this machine's clock, which other work here relies on."""

    def strike(place: Place) -> bool:
        place.workstation.set_clock(seconds)
        return True

    return strike


FAULTS = {
    fault.name: fault
    for fault in (
        Fault("pghaul killed", _kill_pghaul),
        Fault("rsync on old killed", _kill_rsync("old")),
        Fault("rsync on new killed", _kill_rsync("new")),
        Fault("sshd of old restarted", _restart_sshd("old")),
        Fault("sshd of new restarted", _restart_sshd("new")),
        _cable("old"),
        _cable("new"),
        Fault("target full", _fill_target, _empty_target, "by a person"),
        Fault("target read-only", _lock_target, _unlock_target, "by a person"),
        _power("old"),
        _power("new"),
        Fault("old's service started", _start_service("old")),
        Fault("new's service started", _start_service("new")),
        Fault("clock stepped back", _step_clock(-7200), prepare=_right_time),
        Fault("clock stepped ahead", _step_clock(7200), prepare=_right_time),
        Fault("workstation's disk full", _fill_workstation, _empty_workstation, "by a person"),
    )
}
