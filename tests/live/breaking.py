"""What breaks the lab's hosts for the tests of checks, and what mends them again; see test_checks_host.py."""

import shlex

from tests.lab import clusters
from tests.lab.extra import put_tree
from tests.lab.hosts import Host
from tests.lab.machine import LabError

HERE = "/srv/pg/broken"
GOOD, CRASHED, STANDBY, ODD, WATCHED = (f"{HERE}/{name}" for name in ("good", "crashed", "standby", "odd", "watched"))
FORK, SUMS = f"{HERE}/fork", f"{HERE}/sums"
SIXTEEN, TEN = f"{HERE}/sixteen", f"{HERE}/ten"
TARGET = "/srv/pg/checked/main"
TAKEN, SMALL, COW = "/srv/pg/taken", "/srv/small", "/srv/cow"

# No host here has disks of its own, nor modules of the kernel: programs of these names say what such a host's would.
_WRAPPERS = r"""
wrap() { cat >"/usr/local/bin/$1"; chmod 755 "/usr/local/bin/$1"; }
wrap modprobe <<'S'
#!/bin/sh
case $* in "-n nfs" | "-n nfsd") exit 0 ;; *) exec /sbin/modprobe "$@" ;; esac
S
smartctl() {
  wrap smartctl <<S
#!/bin/sh
cat <<'SAID'
smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0-18-amd64] (local build)
Copyright (C) 2002-22, Bruce Allen, Christian Franke, www.smartmontools.org

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: $1
SAID
S
}
"""
_UNWRAPPED = "rm -f /usr/local/bin/modprobe /usr/local/bin/smartctl"
FAILS_SOON = """FAILED!
Drive failure expected in less than 24 hours. SAVE ALL DATA.
Failed Attributes:
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   005   005   010    Pre-fail  Always   FAILING_NOW 3920
"""

# The last line of each is what the test that follows looks for.
ON_OLD = f"""
set -eu
cd /
PG={clusters.PREFIX}/bin
install -d -m 755 -o postgres -g postgres {HERE}
make() {{ install -d -m 700 -o postgres -g postgres "$1"; cp -a {HERE}/good/. "$1"; }}
setpriv --reuid=postgres --regid=postgres --init-groups $PG/initdb -N --locale=C --wal-segsize=1 -D {GOOD} >/dev/null
printf "unix_socket_directories = '{HERE}'\\nlisten_addresses = ''\\nfsync = off\\n" >>{GOOD}/postgresql.conf
for each in {CRASHED} {STANDBY} {ODD} {WATCHED} {FORK} {SUMS}; do make "$each"; done

echo "dbid = 1" >{FORK}/internal.auto.conf
chown postgres: {FORK}/internal.auto.conf
setpriv --reuid=postgres --regid=postgres --init-groups $PG/pg_checksums --enable -N -D {SUMS} >/dev/null

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

{_WRAPPERS}
smartctl PASSED
mkdir /usr/local/away
mv /usr/bin/rsync /usr/bin/ssh /usr/local/away/
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
OFF_OLD = f"""
for file in {HERE}/*/postmaster.pid; do test ! -e "$file" || kill -9 $(head -n 1 "$file") 2>/dev/null; done
for name in patroni pgbouncer runsv; do
  for pid in $(pgrep -x "$name"); do kill -9 "$pid"; done
  rm -f "/usr/local/bin/$name"
done
{_UNWRAPPED}
mv /usr/local/away/* /usr/bin/
rmdir /usr/local/away
rm -rf {HERE} /opt/pg16 /opt/pg10 /etc/cron.d/shop-backup
userdel shopdba
ip addr del 10.99.0.5/32 dev "$(ip -o -4 addr show scope global | awk '{{print $2; exit}}')"
true
"""
ON_NEW = f"""
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
printf '#!/bin/sh\\ntest "$*" = -m && echo aarch64 || exec /bin/uname "$@"\\n' >/usr/local/sbin/uname
printf '#!/bin/sh\\ntest "$*" = GNU_LIBC_VERSION && echo glibc 2.31 || exec /usr/bin/getconf "$@"\\n' \\
  >/usr/local/sbin/getconf
chmod 755 /usr/local/sbin/*
{_WRAPPERS}
smartctl '{FAILS_SOON}'
if grep -qw btrfs /proc/filesystems; then
  mkdir {COW}
  truncate -s 128M /srv/pg/cow.disk
  mkfs.btrfs -q /srv/pg/cow.disk >/dev/null
  mount -o loop /srv/pg/cow.disk {COW}
fi
mount -t tmpfs -o size=64k tmpfs /sys/module
mkdir -p /sys/module/apparmor/parameters
echo Y >/sys/module/apparmor/parameters/enabled
mount -t tmpfs -o size=64k tmpfs /sys/kernel/security
mkdir /sys/kernel/security/apparmor
echo "/usr/lib/postgresql/15/bin/postgres (enforce)" >/sys/kernel/security/apparmor/profiles
"""
OFF_NEW = f"""
kill -9 $(head -n 1 {TAKEN}/postmaster.pid)
umount {SMALL}
umount {COW}
umount /sys/module
umount /sys/kernel/security
rm -rf /run/mount /tmp/.s.PGSQL.5603*
if test -e /tmp/timezone.kept; then mv /tmp/timezone.kept /etc/timezone; else rm -f /etc/timezone; fi
nft delete table inet guard
rm -rf {TAKEN} {SMALL} {COW} /srv/pg/cow.disk
for name in date getenforce uname getconf; do rm -f /usr/local/sbin/$name; done
{_UNWRAPPED}
true
"""
# A /proc whose mdstat is what comes in: the kernel here has no md. All else are links to the real one, for processes to
# come too, whose numbers begin anew after the last.
WITH_ARRAYS = """
set -e
mkdir /tmp/real /tmp/proc
mount -t proc proc /tmp/real
mount -t tmpfs tmpfs /tmp/proc
ln -s -f -t /tmp/proc /tmp/real/* $(seq -f /tmp/real/%.0f 300 5000; seq -f /tmp/real/%.0f $$ $(($$ + 5000)))
rm -f /tmp/proc/mdstat
cat >/tmp/proc/mdstat
mount --move /tmp/proc /proc
"""
WITHOUT_ARRAYS = """
case $(head -n 1 /tmp/proc/mdstat 2>/dev/null) in ?*) umount -l /tmp/proc ;; *) umount -l /proc ;; esac
umount -l /tmp/real
rmdir /tmp/real /tmp/proc
"""
# Binaries that were built with other blocks are not to be had: Debian's, whose pg_controldata says so of any cluster.
OTHER_LAYOUT = r"""
set -e
cd /usr/lib/postgresql/15/bin
mv pg_controldata pg_controldata.built
cat >pg_controldata <<'S'
#!/bin/sh
"$0.built" "$@" | sed 's/^\(Database block size: *\)8192$/\116384/'
S
chmod 755 pg_controldata
"""
BUILT_LAYOUT = "cd /usr/lib/postgresql/15/bin && mv pg_controldata.built pg_controldata"
_OTHER = """
set -eu
cd /
install -d -m 700 -o postgres -g postgres @data@
LD_LIBRARY_PATH=@prefix@/lib setpriv --reuid=postgres --regid=postgres --init-groups \
  @prefix@/bin/initdb -N --locale=C -U postgres -D @data@ >/dev/null
"""


def put(host: Host, version: str, prefix: str, data: str) -> None:
    """Another release with a cluster of its own on a host."""
    put_tree(host, version, prefix)
    script = _OTHER.replace("@prefix@", shlex.quote(prefix)).replace("@data@", shlex.quote(data))
    host.exec("sh", "-c", script)


def put_ten(host: Host) -> bool:
    """10.23 likewise; False where it is not to be had."""
    try:
        put(host, "10.23", "/opt/pg10", TEN)
    except LabError:
        return False
    return True
