"""What is on a host, to hold the state after a test against the state before it."""

import json
from collections import Counter
from dataclasses import dataclass, fields

from tests.lab.hosts import Host

# Left out: what runs this very look, threads of a machine's kernel, sessions of sshd, and the server's own comings and
# goings. Within a cluster only the top folder is listed: a running server creates and removes files below it at any
# time. The folder of sudo's and the lock of mount's notes are left out too: they come with the first use of either.
_LOOK = r"""
set -eu
export LC_ALL=C
echo "== processes"
ps -e -o pid=,ppid=,user:32=,args= | awk -v self=$$ '
  $1 == self || $2 == self { next }
  $2 == 2 && $4 ~ /^\[/ { next }
  $4 == "sshd:" || $4 == "postgres:" || $4 == "(sd-pam)" || $4 ~ /sftp-server$/ { next }
  { $1 = ""; $2 = ""; print }'
echo "== files"
find /home /root /tmp /var/tmp /dev/shm /srv /etc /usr/local /run -xdev \
  \( -path /run/sudo -o -path /run/mount/utab.lock \) -prune \
  -o -path '/srv/pg/data/*/*' -prune -o -path '/srv/pg/space1/*/*' -prune -o -path '/srv/pg/15/main/*/*' -prune \
  -o ! -name 'PostgreSQL.*' ! -name postmaster.pid ! -path /run/mount ! \( -path /run/mount/utab -empty \) -print
find /srv/pg -xdev -path '/srv/pg/data/*/*' -prune -o -path '/srv/pg/space1/*/*' -prune \
  -o -path '/srv/pg/15/main/*/*' -prune -o ! -name postmaster.pid -print
[ ! -e /var/lib/pghaul ] || find /var/lib/pghaul -xdev -print
echo "== contents"
find /home /root /etc/passwd /etc/group /etc/shadow /etc/sudoers.d /etc/ssh /etc/postgresql -xdev -type f \
  -exec sha256sum {} + 2>/dev/null || true
echo "== mounts"
cut -d ' ' -f 1-3 /proc/mounts
"""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Lines of each kind: processes with their user, paths, hashes of small files, mounts."""

    processes: tuple[str, ...]
    files: tuple[str, ...]
    contents: tuple[str, ...]
    mounts: tuple[str, ...]


def footprint(host: Host) -> Footprint:
    """Look at a host, past ssh."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in host.exec("sh", "-c", _LOOK).stdout.splitlines():
        if line.startswith("== "):
            current = sections.setdefault(line[3:], [])
        elif line.strip():
            current.append(line.strip())
    return Footprint(**{name: tuple(sorted(lines)) for name, lines in sections.items()})


def differences(before: Footprint, after: Footprint) -> list[str]:
    """One line for each thing that came or went; of processes, that a server went: others end by themselves.

    A server that forks bears its own command line twice until the child has named itself.
    """
    found = []
    for field in fields(Footprint):
        old, new = Counter(getattr(before, field.name)), Counter(getattr(after, field.name))
        found += [f"{field.name}: left behind: {line}" for line in (new - old).elements()]
        running = set(new)
        found += [
            f"{field.name}: gone: {line}"
            for line in (old - new).elements()
            if field.name != "processes" or (" -D " in line and line not in running)
        ]
    return found


def as_text(found: dict[str, list[str]]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False)
