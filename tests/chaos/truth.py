"""Whether a round lost anything: what must be so on both hosts once a move has ended, either way."""

import time
from collections.abc import Iterator
from datetime import datetime

from tests.chaos import cluster, traces
from tests.chaos.clients import Clients
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import LabError

_SECONDS = 40.0
"""How long what was told to end, and what watches over a lost workstation, may take to go."""
_SHOWN = 8


def moved(lab: Lab, clients: Clients, opened: str | None) -> Iterator[str]:
    """Sentences on what is wrong where new was opened; `opened`: when, if the workstation's clock is right."""
    yield from _running(lab.new, clients.committed)
    yield from _down(lab.old)
    try:
        stopped = cluster.dump_of_stopped(lab.old)
    except LabError as error:
        yield f"old cannot be compared: {error}"
        return
    if cluster.active(lab.new) and cluster.dump(lab.new) != stopped:
        yield "a dump of new differs from one of old as it stopped"
    if clients.first_answer is not None:
        if opened is not None and clients.first_answer < datetime.fromisoformat(opened):
            yield f"new let clients in at {clients.first_answer}, and was opened at {opened}"
        if clients.last_commit is not None and clients.last_commit > clients.first_answer:
            yield f"old took a row at {clients.last_commit}, and new let clients in at {clients.first_answer}"


def taken_back(lab: Lab, clients: Clients) -> Iterator[str]:
    """Sentences on what is wrong where old is to run again."""
    yield from _running(lab.old, clients.committed)
    yield from _down(lab.new)
    if clients.first_answer is not None:
        yield f"new let clients in at {clients.first_answer}, and was never opened"


def undressed(lab: Lab) -> Iterator[str]:
    """Sentences on what a dress rehearsal that has ended, or was given up, has left."""
    end = time.monotonic() + _SECONDS
    while (held := cluster.held(lab.old)) != "0" and time.monotonic() < end:
        time.sleep(1)
    if held != "0":
        yield f"a dress rehearsal still keeps WAL on old: {held}"
    if cluster.lives(lab.new):
        yield "the copy of a dress rehearsal runs on new"


def restarted(lab: Lab, ending: str, committed: set[int]) -> Iterator[str]:
    """The same, once both hosts have been down and up again."""
    for name in ("old", "new"):
        lab.restart(name)
    serving, other = (lab.new, lab.old) if ending == "moved" else (lab.old, lab.new)
    yield from (f"after a restart {each}" for each in (*_running(serving, committed), *_down(other)))


def clean(lab: Lab, before: dict[str, frozenset[str]], ending: str) -> Iterator[str]:
    """What is left on either host that docs/touched.md does not name."""
    for host in (lab.old, lab.new):
        end = time.monotonic() + _SECONDS
        allowed = traces.ALLOWED[ending, host.name]
        while found := traces.left(before[host.name], traces.look(host), allowed):
            if time.monotonic() > end:
                yield from (f"{host.name}: left behind: {line}" for line in found[:_SHOWN])
                break
            time.sleep(1)


def _running(host: Host, committed: set[int]) -> Iterator[str]:
    if not cluster.active(host):
        yield f"{host.name} is not up by its service"
        if not cluster.answers(host):
            return
    lost = committed - cluster.ledger(host)
    if lost:
        yield f"{len(lost)} committed rows are not on {host.name}: {sorted(lost)[:5]}"
    if not cluster.balanced(host):
        yield f"on {host.name} half a transaction is missing"


def _down(host: Host) -> Iterator[str]:
    if cluster.lives(host):
        yield f"a server runs on {host.name}"
    elif cluster.start_by_root(host):
        yield f"root can start the server of {host.name}"
