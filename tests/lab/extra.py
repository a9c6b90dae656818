"""Clusters that a test makes beside the lab's own, on either host, with a folder and a port of their own."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.binaries import binaries
from tests.lab.clusters import PREFIX
from tests.lab.hosts import Host

PROGRAMS = {"old": f"{PREFIX}/bin", "new": "/usr/lib/postgresql/15/bin"}
"""Old's are PostgreSQL 15.5 without ICU, TLS, lz4 and contrib; new's are Debian's 15.18 with all of it."""


@dataclass(frozen=True, slots=True)
class Extra:
    """One such cluster; its socket lies in /tmp."""

    host: Host
    folder: str
    port: int

    def control(self, *words: str) -> None:
        """pg_ctl, as the owner; `start` writes no log."""
        self.run("pg_ctl", "-D", self.folder, "-s", "-w", "-l", "/dev/null", *words)

    def run(self, program: str, *words: str, text: str = "") -> str:
        """A program of the host's binaries, as the owner; its standard output."""
        name = f"{PROGRAMS[self.host.name]}/{program}"
        return self.host.exec(name, *words, user="postgres", input=text).stdout.strip()

    def sql(self, text: str, database: str = "postgres") -> str:
        """What psql prints for the statements; LabError with the first that fails."""
        words = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "/tmp", "-p", str(self.port), "-d", database]
        return self.run("psql", *words, text=text)

    def append(self, file: str, text: str) -> None:
        """More text for a file of the data directory."""
        self.host.exec("tee", "-a", f"{self.folder}/{file}", user="postgres", input=text)


@contextmanager
def extra(host: Host, name: str, port: int, *, settings: str = "", locale: str = "C.UTF-8") -> Iterator[Extra]:
    """A running cluster in /srv/pg/NAME; stopped and gone afterwards."""
    made = Extra(host, f"/srv/pg/{name}", port)
    try:
        host.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", made.folder)
        made.run("initdb", "-D", made.folder, "-N", "-U", "postgres", "-A", "peer", f"--locale={locale}")
        made.append(
            "postgresql.conf",
            f"port = {port}\nunix_socket_directories = '/tmp'\nlisten_addresses = ''\nfsync = off\n{settings}",
        )
        made.control("start")
        yield made
    finally:
        stop = [f"{PROGRAMS[host.name]}/pg_ctl", "-D", made.folder, "-m", "immediate", "-s", "-w", "stop"]
        host.exec(*stop, user="postgres", check=False)
        host.exec("rm", "-rf", made.folder)


def make_locale(host: Host, *, order: str = "iso14651_t1") -> None:
    """de_AT.UTF-8 on a host, sorting as `order` says: sv_SE has ä after z."""
    change = f's/^copy "iso14651_t1"$/copy "{order}"/'
    body = 'cd /tmp && sed "$1" /usr/share/i18n/locales/de_AT >de_XX && localedef -c -i ./de_XX -f UTF-8 de_AT.UTF-8'
    host.exec("sh", "-c", f"{body}; rm -f de_XX; locale -a | grep -q de_AT", "sh", change)


def unpacked(host: Host, tree: Path) -> list[str]:
    """Put all files of a tree into the root of a host; their paths there."""
    packed = subprocess.run(["tar", "-C", str(tree), "-c", "."], capture_output=True, check=True)
    subprocess.run(
        host.command("tar", "-C", "/", "--keep-directory-symlink", "--no-overwrite-dir", "-x"),
        input=packed.stdout,
        check=True,
        capture_output=True,
    )
    return [f"/{path.relative_to(tree)}" for path in tree.rglob("*") if not path.is_dir()]


def put_tree(host: Host, version: str, prefix: str) -> None:
    """Another release's programs on a host; LabError where it is not to be had."""
    tree = binaries(version)
    for folder in ("bin", "lib", "share"):
        host.exec("mkdir", "-p", f"{prefix}/{folder}")
        packed = subprocess.run(["tar", "-C", str(tree / folder), "-c", "."], capture_output=True, check=True)
        words = host.command("tar", "-C", f"{prefix}/{folder}", "-x")
        subprocess.run(words, input=packed.stdout, check=True, capture_output=True)
