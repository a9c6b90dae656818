"""What pghaul may leave on a host, and what it may not: a look before a round and one behind it."""

from collections.abc import Sequence

from tests.chaos.cluster import DATA
from tests.lab.hosts import Host

# Names that bear the product's, anywhere; all that is new where programs put what they need for a while; keys; /etc.
# The hosts' root itself is a mount of the lab's that is called pghaul-…; systemd's and PostgreSQL's own come and go.
_LOOK = r"""
export LC_ALL=C # LOOKING: by this word it knows itself
ps -e -o user:32=,args= | awk '/pghaul|rsync|exportfs/ && !/LOOKING/ { print "process", $0 }'
systemctl list-units --all --plain --no-legend '*pghaul*' | sed 's/^/unit /'
find /srv /tmp /var/tmp /run /dev/shm /home /root /etc /usr/local /var/lib/postgresql /var/lib/pghaul /var/spool \
  -xdev -iname '*pghaul*' -prune -printf 'file %p\n' 2>/dev/null
find /srv/pg -mindepth 1 -iname '*pghaul*' -prune -printf 'file %p\n'
find /tmp /var/tmp /dev/shm /home /root -mindepth 1 ! -path '*/systemd-private-*' ! -name 'PostgreSQL.*' \
  ! -name '.s.PGSQL*' ! -path '*/.cache*' -printf 'file %p\n'
find /etc /home /root -xdev -type f -exec sha256sum {} + | sed 's/^/contents /'
awk '{ print "mount", $2, $3 }' /proc/mounts | grep -vE ' /(run/user|run/credentials|proc/sys|sys)'
"""


def look(host: Host) -> frozenset[str]:
    """A line for each thing."""
    return frozenset(line.rstrip() for line in host.exec("sh", "-c", _LOOK).stdout.splitlines())


def left(before: frozenset[str], after: frozenset[str], allowed: Sequence[str]) -> list[str]:
    """What came, or went from /etc and the homes, but for what lies below one of the `allowed` paths."""
    came = sorted(after - before)
    changed = [f"{line} (gone)" for line in sorted(before - after) if line.startswith(("contents ", "mount "))]
    return [line for line in (*came, *changed) if not _below(line, allowed)]


def _below(line: str, allowed: Sequence[str]) -> bool:
    path = line.removesuffix(" (gone)").rpartition(" ")[2]
    return any(path == each or path.startswith(f"{each}/") for each in allowed)


FENCE = f"{DATA}/pghaul-fence"
LOG = f"{DATA}/pghaul-start.log"
ALLOWED = {
    ("moved", "old"): (FENCE,),
    ("moved", "new"): (LOG, "/var/lib/pghaul", "/etc/postgresql"),
    ("taken back", "old"): (),
    ("taken back", "new"): (FENCE, LOG),
}
"""What docs/touched.md says is kept, by how the round ended and on which host."""
