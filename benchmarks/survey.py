"""How long a survey of a hundred servers takes: the servers are addresses of one lab host, so that their sshd is too.

    python benchmarks/survey.py [SERVERS]

Prints what the clock says, the seconds of this program's processor for each server and of the host's, and what it
takes to go on where a survey was broken off. Needs a lab (Linux, root). The target is 60 s for a hundred servers with
two cores for both: the host's own share, which a hundred hosts would not share, is printed beside it.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.api import survey as actions
from core.api.session import Session
from core.history.store import Store
from core.jobs import Job
from core.servers.lists.formats import read_list
from core.servers.profiles import Nobody
from tests.lab.fleet import addresses
from tests.lab.hosts import Host
from tests.lab.lab import Lab, lab
from tests.lab.machine import lab_unavailable

SERVERS = 100
TARGET = 60.0


def main() -> int:
    """Survey them; 0 when it is under the target."""
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SERVERS
    with (
        lab("benchmark-survey") as hosts,
        tempfile.TemporaryDirectory() as folder,
        addresses(hosts.old, count - 1) as found,
    ):
        return _measure(hosts, found, Path(folder))


def _measure(hosts: Lab, found: tuple[str, ...], folder: Path) -> int:
    _configure(hosts, folder)
    rows = [f"db{number},{address},new,/srv/pg/data,/srv/pg/15/{number}" for number, address in enumerate(found)]
    listed = read_list(
        "fleet.csv", "\n".join(["name,address,new,cluster,target", *rows, f"new,{hosts.new.address},,,"])
    )
    with Store.open(folder / "history") as store, Session(store, Nobody()) as session:
        before = _own_seconds(), _seconds_of(hosts.old), time.perf_counter()
        made = actions.run_survey(session, listed, Nobody(), Job())
        own, theirs, took = (
            _own_seconds() - before[0],
            _seconds_of(hosts.old) - before[1],
            time.perf_counter() - before[2],
        )
        begun = time.perf_counter()
        again = actions.run_survey(session, listed, Nobody(), Job())
        went_on = time.perf_counter() - begun
    failed = [each.failure for each in made.servers if each.failure]
    asked = sum(each.asked for each in again.servers)
    count = len(made.servers)
    sys.stdout.write(
        f"survey of {count} servers and {len(made.moves)} moves, {actions.AT_ONCE} at once: {took:.1f} s, "
        f"{len(failed)} failed; target {TARGET:.0f} s\n"
        f"processor: {own:.1f} s of pghaul's, {1000 * own / count:.0f} ms a server; "
        f"{theirs:.1f} s of the one host, {1000 * theirs / count:.0f} ms a server\n"
        f"again within the hour: {went_on:.1f} s, {asked} servers asked\n"
    )
    for each in failed[:3]:
        sys.stdout.write(f"failed: {each}\n")
    return 0 if took < TARGET and not failed else 1


def _configure(hosts: Lab, folder: Path) -> None:
    config = folder / "config"
    old = hosts.old.address.rpartition(".")[0] + ".1??"
    config.write_text(
        f"Host {old}\n  HostKeyAlias old\nHost *\n  User {hosts.old.user}\n  IdentityFile {hosts.key}\n"
        f"  UserKnownHostsFile {hosts.known_hosts}\n  GlobalKnownHostsFile /dev/null\n"
    )
    os.environ["PGHAUL_SSH_CONFIG"] = str(config)


def _own_seconds() -> float:
    """Of this process and of the ssh clients that it asked how to reach a host."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found)


def _seconds_of(host: Host) -> float:
    """Of all that runs on a host, and of what has ended there and was waited for."""
    said = host.exec("sh", "-c", "cat /proc/[0-9]*/stat", check=False).stdout
    # behind the name in brackets: utime, stime, cutime and cstime, the 14th to 17th of proc(5)
    fields = (line.rpartition(")")[2].split() for line in said.splitlines())
    return sum(int(ticks) for each in fields for ticks in each[11:15]) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
