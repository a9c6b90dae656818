"""Checks of hosts and of server state: each fails for real on something that was broken, and passes beside it."""

import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.facts.collect import collect
from core.facts.model import Facts
from core.jobs import Job
from core.migration.checks import CATALOGUE, check
from core.migration.model import CheckResult, Move, Status
from core.servers.connection import Server
from tests.lab import clusters
from tests.lab.binaries import binaries
from tests.lab.footprint import as_text, differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import LabError, wait_until

pytestmark = pytest.mark.lab

B, U, W, P = Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS
HERE = "/srv/pg/broken"
GOOD, CRASHED, STANDBY, ODD, WATCHED = (f"{HERE}/{name}" for name in ("good", "crashed", "standby", "odd", "watched"))
SIXTEEN, TEN = f"{HERE}/sixteen", f"{HERE}/ten"
TARGET = "/srv/pg/checked/main"
TAKEN, SMALL = "/srv/pg/taken", "/srv/small"

# The last line of each is what the test that follows looks for.
_ON_OLD = f"""
set -eu
cd /
PG={clusters.PREFIX}/bin
install -d -m 755 -o postgres -g postgres {HERE}
make() {{ install -d -m 700 -o postgres -g postgres "$1"; cp -a {HERE}/good/. "$1"; }}
setpriv --reuid=postgres --regid=postgres --init-groups $PG/initdb -N --locale=C --wal-segsize=1 -D {GOOD} >/dev/null
printf "unix_socket_directories = '{HERE}'\\nlisten_addresses = ''\\nfsync = off\\n" >>{GOOD}/postgresql.conf
for each in {CRASHED} {STANDBY} {ODD} {WATCHED}; do make "$each"; done

setpriv --reuid=postgres --regid=postgres --init-groups $PG/pg_ctl -D {CRASHED} -o '-p 5601' -l /dev/null -w -s start
kill -9 $(head -n 1 {CRASHED}/postmaster.pid)

touch {STANDBY}/standby.signal
printf "shared_buffers = '4TB'\\nhuge_pages = on\\n" >>{STANDBY}/postgresql.conf
useradd -M -u 4711 shopdba
chown -R shopdba {STANDBY}

cd {ODD}
ln PG_VERSION 'second name'
truncate -s 8M base/hollow
touch base/strange base/secret
chown postgres: base/hollow base/secret
chmod 000 base/secret
mkdir .~tmp~ pg_tblspc/inside {HERE}/space {HERE}/wal
ln -s {ODD}/pg_tblspc/inside pg_tblspc/16401
ln -s {HERE}/space pg_tblspc/16402
for number in 1 2 3 4 5 6 7 8 9; do echo x >{HERE}/space/$number; done
mv pg_wal/* {HERE}/wal/ && rmdir pg_wal && ln -s {HERE}/wal pg_wal
ln -s /nowhere/at/all gone
touch backup_label
chown -h postgres: 'second name' .~tmp~ pg_tblspc/* pg_wal gone backup_label {HERE}/space {HERE}/space/* {HERE}/wal
chmod 755 .
cd /

mkdir -p /usr/local/bin
cp /bin/sh /usr/local/bin/runsv
ulimit -n 4096
setpriv --reuid=postgres --regid=postgres --init-groups /usr/local/bin/runsv -c '{clusters.PREFIX}/bin/postgres \
  -D {WATCHED} -p 5602 </dev/null >/dev/null 2>&1; true' </dev/null >/dev/null 2>&1 &

cp /bin/sleep /usr/local/bin/patroni
cp /bin/sleep /usr/local/bin/pgbouncer
/usr/local/bin/patroni 600 </dev/null >/dev/null 2>&1 &
/usr/local/bin/pgbouncer 600 </dev/null >/dev/null 2>&1 &
echo "0 3 * * * postgres PGPASSWORD=hunter2 pg_dump shop" >/etc/cron.d/shop-backup
ip addr add 10.99.0.5/32 dev "$(ip -o -4 addr show scope global | awk '{{print $2; exit}}')"
"""
_OFF_OLD = f"""
for file in {HERE}/*/postmaster.pid; do test ! -e "$file" || kill -9 $(head -n 1 "$file") 2>/dev/null; done
for name in patroni pgbouncer runsv; do
  for pid in $(pgrep -x "$name"); do kill -9 "$pid"; done
  rm -f "/usr/local/bin/$name"
done
rmdir /usr/local/bin
rm -rf {HERE} /opt/pg16 /opt/pg10 /etc/cron.d/shop-backup
userdel shopdba
ip addr del 10.99.0.5/32 dev "$(ip -o -4 addr show scope global | awk '{{print $2; exit}}')"
true
"""
_ON_NEW = f"""
set -eu
PG=/usr/lib/postgresql/15/bin
install -d -m 700 -o postgres -g postgres {TAKEN}
cd /
setpriv --reuid=postgres --regid=postgres --init-groups $PG/initdb -N --locale=C --wal-segsize=1 -D {TAKEN} >/dev/null
printf "unix_socket_directories = '/tmp'\\nlisten_addresses = ''\\n" >>{TAKEN}/postgresql.conf
setpriv --reuid=postgres --regid=postgres --init-groups $PG/pg_ctl -D {TAKEN} -o '-p 5603' -l /dev/null -w -s start
mkdir {SMALL}
mount -t tmpfs -o size=64k,nr_inodes=6 tmpfs {SMALL}
cp -p /etc/timezone /tmp/timezone.kept 2>/dev/null || true
echo Pacific/Chatham >/etc/timezone
mkdir -p /usr/local/sbin
cat >/usr/local/sbin/date <<'S'
#!/bin/sh
case $* in "-u +now=%s.%N") exec /bin/date -u -d '+1 hour' +now=%s.%N ;; *) exec /bin/date "$@" ;; esac
S
printf '#!/bin/sh\\necho Enforcing\\n' >/usr/local/sbin/getenforce
nft -f - <<'S'
table inet guard {{
  chain input {{
    type filter hook input priority 0; policy drop;
    ct state established accept
    tcp dport 22 accept
  }}
}}
S
chmod 755 /usr/local/sbin/date /usr/local/sbin/getenforce
"""
_OFF_NEW = f"""
kill -9 $(head -n 1 {TAKEN}/postmaster.pid)
umount {SMALL}
rm -rf /run/mount /tmp/.s.PGSQL.5603*
if test -e /tmp/timezone.kept; then mv /tmp/timezone.kept /etc/timezone; else rm -f /etc/timezone; fi
nft delete table inet guard
rm -rf {TAKEN} {SMALL} /usr/local/sbin/date /usr/local/sbin/getenforce
rmdir /usr/local/sbin
true
"""
_OTHER = """
set -eu
cd /
install -d -m 700 -o postgres -g postgres @data@
LD_LIBRARY_PATH=@prefix@/lib setpriv --reuid=postgres --regid=postgres --init-groups \
  @prefix@/bin/initdb -N --locale=C -U postgres -D @data@ >/dev/null
"""


def _put(host: Host, version: str, prefix: str, data: str) -> None:
    """Another release with a cluster of its own on a host."""
    tree = binaries(version)
    host.exec("mkdir", prefix)
    for folder in ("bin", "lib", "share"):
        host.exec("sh", "-c", f"mkdir {prefix}/{folder}")
        packed = _tar(tree / folder)
        done = host.command("tar", "-C", f"{prefix}/{folder}", "-x")
        _feed(done, packed)
    script = _OTHER.replace("@prefix@", shlex.quote(prefix)).replace("@data@", shlex.quote(data))
    host.exec("sh", "-c", script)


def _tar(folder: Path) -> bytes:
    return subprocess.run(["tar", "-C", str(folder), "-c", "."], capture_output=True, check=True).stdout


def _feed(words: list[str], data: bytes) -> None:
    subprocess.run(words, input=data, check=True, capture_output=True)


@dataclass(frozen=True)
class Looks:
    """The facts of both hosts as they are made whole, and broken."""

    old: Facts
    new: Facts
    broken_old: Facts
    broken_new: Facts
    ten: bool

    def result(self, identifier: str, cluster: str, *, here: bool, there: bool, **changes: object) -> CheckResult:
        move = Move("m", "old", "new", cluster, str(changes.pop("target", TARGET)), "/srv/pg", "/srv/pg", **changes)  # type: ignore[arg-type]
        results = check(move, self.broken_old if here else self.old, self.broken_new if there else self.new)
        return next(result for result in results if result.id == identifier)


@pytest.fixture(scope="module")
def looks(lab: Lab, old_server: Server, new_server: Server) -> Iterator[Looks]:
    before = {host.name: footprint(host) for host in (lab.old, lab.new)}
    whole = [collect(server, Job(), folders=[TARGET]) for server in (old_server, new_server)]
    try:
        lab.old.exec("sh", "-c", _ON_OLD)
        lab.new.exec("sh", "-c", _ON_NEW)
        _put(lab.old, "16.2", "/opt/pg16", SIXTEEN)
        ten = _ten(lab.old)
        wait_until(lambda: "ready" in _status(lab.old), "the watched server to start")
        folders = [GOOD, CRASHED, STANDBY, ODD, WATCHED, SIXTEEN, *([TEN] if ten else [])]
        broken_old = collect(old_server, Job(), folders=folders)
        broken_new = collect(new_server, Job(), folders=[TARGET, TAKEN])
        yield Looks(whole[0], whole[1], broken_old, broken_new, ten)
    finally:
        lab.old.exec("sh", "-c", _OFF_OLD, check=False)
        lab.new.exec("sh", "-c", _OFF_NEW, check=False)
    left: list[dict[str, list[str]]] = []

    def clean() -> bool:
        found = {host.name: differences(before[host.name], footprint(host)) for host in (lab.old, lab.new)}
        left[:] = [{name: lines for name, lines in found.items() if lines}]
        return not left[0]

    try:
        wait_until(clean, "hosts to be as before")
    except LabError:
        pytest.fail(as_text(left[0]))


def _ten(host: Host) -> bool:
    try:
        _put(host, "10.23", "/opt/pg10", TEN)
    except LabError:
        return False
    return True


def _status(host: Host) -> str:
    return host.exec("cat", f"{WATCHED}/postmaster.pid", check=False).stdout


# check, cluster that fails it, whether old and new are broken, status, words; then the cluster that passes
FAILING: list[tuple[str, str, bool, Status, str]] = [
    ("old-stopped", CRASHED, False, B, "it crashed"),
    ("leftovers", CRASHED, False, W, "postmaster.pid"),
    ("leftovers", ODD, False, B, "backup_label"),
    ("primary", STANDBY, False, B, "standby"),
    ("owner", STANDBY, False, B, "no user shopdba"),
    ("owner-number", GOOD, False, W, "another number"),
    ("memory", STANDBY, False, W, "shared_buffers"),
    ("free-memory", STANDBY, False, W, "free"),
    ("huge-pages", STANDBY, False, W, "huge pages"),
    ("hard-links", ODD, False, W, "several names"),
    ("sparse-files", ODD, False, W, "with holes"),
    ("foreign-files", ODD, False, W, "somebody else"),
    ("unreadable-files", ODD, False, B, "cannot be read"),
    ("folder-mode", ODD, False, W, "755"),
    ("links", ODD, False, B, "nowhere"),
    ("tablespaces-inside", ODD, False, W, "inside the data directory"),
    ("wal-directory", ODD, False, W, "would share /srv/pg"),
    ("series", SIXTEEN, True, B, "old is series 16, new is series 15"),
    ("autostart", WATCHED, False, W, "may start old again"),
    ("limits", WATCHED, False, W, "open files"),
    ("old-stopped", WATCHED, False, W, "old runs"),
    ("ha-manager", GOOD, False, B, "patroni is at work"),
    ("pooler", GOOD, False, W, "pooler"),
    ("cron-jobs", GOOD, False, W, "scheduled jobs"),
    ("virtual-addresses", GOOD, False, W, "10.99.0.5"),
    ("clocks", GOOD, True, W, "ahead"),
    ("time-zone", GOOD, True, W, "different time zones"),
    ("selinux", GOOD, True, W, "enforcing"),
    ("firewall", GOOD, True, W, "port 5432"),
]


@pytest.mark.parametrize(("identifier", "cluster", "there", "status", "words"), FAILING)
def test_it_fails_on_what_is_broken(
    looks: Looks, identifier: str, cluster: str, there: bool, status: Status, words: str
) -> None:
    result = looks.result(identifier, cluster, here=True, there=there)
    assert (result.status, words in result.message) == (status, True), f"{result.status}: {result.message}"
    assert result.old
    assert result.hint


@pytest.mark.parametrize("identifier", sorted({identifier for identifier, *_ in FAILING} - {"owner-number"}))
def test_it_passes_on_what_is_whole(looks: Looks, identifier: str) -> None:
    # what breaks the host breaks it for every cluster there: those checks look at the host as it was
    ours = {"ha-manager", "pooler", "cron-jobs", "virtual-addresses", "autostart", "limits"}
    here = identifier not in ours
    result = looks.result(identifier, GOOD if here else clusters.DATA, here=here, there=False)
    assert result.status is P, f"{result.status}: {result.message}"


def test_the_cron_line_is_shown_without_its_secret(looks: Looks) -> None:
    result = looks.result("cron-jobs", GOOD, here=True, there=False)
    assert "PGPASSWORD=*** pg_dump shop" in result.old
    assert "hunter2" not in str(looks.broken_old)


def test_a_cluster_of_ten_is_blocked_without_its_control_data(looks: Looks) -> None:
    if not looks.ten:
        pytest.skip("PostgreSQL 10.23 is not to be had here")
    series = looks.result("series", TEN, here=True, there=True)
    assert (series.status, "old is series 10, new is series 15" in series.message) == (B, True)
    assert "pg_upgrade to 15" in series.hint
    layout = looks.result("control-data", TEN, here=True, there=False)
    assert (layout.status, "holds no pg_controldata" in layout.message) == (U, True), layout.message


def test_an_older_minor_release_on_new_warns(looks: Looks) -> None:
    back = Move("back", "new", "old", TAKEN, "/srv/pg/checked/back", "/srv/pg", "/srv/pg")
    results = {result.id: result for result in check(back, looks.broken_new, looks.old)}
    assert (results["minor"].status, results["series"].status) == (W, P)
    assert "new is older: 15.5 after 15.18" in results["minor"].message


def test_a_server_running_in_the_target(looks: Looks) -> None:
    stopped = looks.result("target-stopped", GOOD, here=True, there=True, target=TAKEN)
    other = looks.result("target-identity", GOOD, here=True, there=True, target=TAKEN)
    assert (stopped.status, "port 5603" in stopped.new) == (B, True)
    assert (other.status, "another cluster" in other.message) == (B, True)
    assert looks.result("target-stopped", GOOD, here=True, there=True).status is P
    assert looks.result("target-identity", GOOD, here=True, there=True).status is P


def test_too_little_space_and_too_few_inodes_on_the_target_of_one_tablespace(looks: Looks) -> None:
    targets = {f"{HERE}/space": f"{SMALL}/space", f"{HERE}/wal": "/srv/pg/wal"}
    narrow: Callable[[str], CheckResult] = lambda name: looks.result(  # noqa: E731
        name, ODD, here=True, there=True, tablespace_targets=targets
    )
    assert (narrow("inodes").status, SMALL in narrow("inodes").message) == (B, True), narrow("inodes")
    assert (narrow("target-path").status, "gone after a restart" in narrow("target-path").message) == (B, True)
    whole = {f"{HERE}/space": f"{SMALL}/space", f"{HERE}/wal": f"{SMALL}/wal"}
    full = looks.result("space", ODD, here=True, there=True, tablespace_targets=whole)
    assert (full.status, SMALL in full.message) == (B, True), full
    for name in ("space", "inodes", "target-path"):
        assert looks.result(name, GOOD, here=True, there=True).status is P


def test_the_segment_size_of_the_wal_travels(looks: Looks) -> None:
    made = looks.broken_old.cluster(GOOD)
    assert made is not None
    assert made.control is not None
    assert (made.control.wal_segment_size, made.control.read_by) == (1 << 20, "15.5")
    assert looks.result("control-data", GOOD, here=True, there=True).status is P


HOSTILE = """
set -eu
mkdir -p /usr/local/sbin
put() { printf '#!/bin/sh\\n%s\\n' "$2" >"/usr/local/sbin/$1"; chmod 755 "/usr/local/sbin/$1"; }
for tool in lsblk ip getconf; do put $tool 'head -c 3000 /dev/urandom'; done
put df 'sleep 30'
for tool in getent find rsync ssh awk; do put $tool "echo \\"sh: $tool: command not found\\" >&2; exit 127"; done
put date 'echo now=never'
"""


def test_a_server_that_stalls_garbles_and_lacks_tools_is_not_known(lab: Lab, old_server: Server, looks: Looks) -> None:
    tools = "lsblk ip getconf df getent find rsync ssh awk"
    kept = "for tool in " + tools + " date; do rm -f /usr/local/sbin/$tool; done; rmdir /usr/local/sbin"
    lab.old.exec("sh", "-c", HOSTILE)
    try:
        hostile = collect(old_server, Job(), folders=[clusters.DATA])
    finally:
        lab.old.exec("sh", "-c", kept)
    assert hostile.round_trips <= 3
    move = Move("m", "old", "new", clusters.DATA, TARGET, "/srv/pg", "/srv/pg")
    found = {result.id: result for result in check(move, hostile, looks.new)}
    assert set(found) == {declaration.id for declaration in CATALOGUE}
    passed = {name for name, result in found.items() if result.status is P}
    assert not passed & {
        "space", "inodes", "clocks", "rsync", "ssh", "libc", "virtual-addresses", "hard-links", "links", "leftovers",
        "unreadable-files", "folder-mode", "wal-directory",
    }, passed  # fmt: skip
    assert all(result.message and result.hint for result in found.values() if result.status is not P)
    assert {gap.reason for gap in hostile.gaps} & {"it took too long"}
