"""The root of a clean Debian with systemd, sshd and, in 12, PostgreSQL: made once, then kept with the binaries."""

import hashlib
import shlex
import shutil
from pathlib import Path

from tests.lab.machine import CACHE, locked, run
from tests.lab.root import PASSWORD, USERS

RELEASE, OLDER = "bookworm", "bullseye"
"""Debian 12, which the lab's hosts are, and 11, whose glibc is 2.31: it has no PostgreSQL 15 of its own."""
_POSTGRESQL = ("postgresql-15", "postgresql-15-cron")
_PACKAGES = (
    *("systemd", "systemd-sysv", "libpam-systemd", "dbus", "dbus-user-session", "cron", "logrotate"),
    *("openssh-server", "sudo", "rsync", "fio", "iperf3", "zstd", "lz4", "socat"),
    *("e2fsprogs", "xfsprogs", "nftables", "iproute2", "procps", "kmod", "locales", "libnss-myhostname"),
)
# Identities are a host's own, and timers that fetch packages would find no network.
_FINISH = f"""
set -eu
for user in {" ".join(USERS)}; do
  useradd -m -s /bin/bash "$user"
  printf '%s:%s\\n' "$user" '{PASSWORD}' | chpasswd
done
if command -v pg_lsclusters >/dev/null; then
  pg_lsclusters -h | while read -r series name _; do pg_dropcluster --stop "$series" "$name"; done
else
  adduser --system --quiet --group --home /var/lib/postgresql --shell /bin/bash postgres
fi
systemctl disable -q apt-daily.timer apt-daily-upgrade.timer man-db.timer dpkg-db-backup.timer e2scrub_all.timer || :
rm -f /etc/ssh/ssh_host_* /etc/machine-id /var/lib/dbus/machine-id
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
"""


def debian(release: str = RELEASE) -> Path:
    """The root of that release; a minute's work at its first use."""
    packages = ",".join([*_PACKAGES, *(_POSTGRESQL if release == RELEASE else ("adduser",))])
    sum_ = hashlib.sha256(f"{packages}{_FINISH}".encode()).hexdigest()[:8]
    made = CACHE / f"debian-{release}-{sum_}"
    with locked():
        if not made.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            partial = CACHE / f"{made.name}.part"
            shutil.rmtree(partial, ignore_errors=True)
            finish = f'--customize-hook=chroot "$1" sh -c {shlex.quote(_FINISH)}'
            run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}", finish, release, partial)
            partial.rename(made)
    return made
