"""`python -m tests.lab.example`: makes the history that ships as an example, of a move that is carried out in the lab.

Two real hosts, their disks and their link capped, are measured, compared, checked, probed, rehearsed and moved by the
commands that a DBA would type. Names, addresses and people are masked before the history goes to resources/example; its
figures stay as they were measured. Takes some ten minutes.
"""

import gzip
import json
import os
import platform
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from core.history.database import FILE_NAME
from core.history.example import MOVE, packed
from core.history.models import Base
from tests.lab import clusters
from tests.lab.demo import CAPS, CommandLine, host_key_fingerprint
from tests.lab.lab import Lab, lab
from tests.lab.machine import lab_unavailable

SCALE = 100
"""pgbench scale of the cluster on old: about 15 MB each."""
ADDRESSES = {"old": "192.0.2.11", "new": "192.0.2.12"}
"""What the hosts' addresses become: of those that are kept for examples (RFC 5737)."""
NAMES = {"old": "db1", "new": "db2"}
"""What the servers are called, as a user would call them."""


def main() -> int:
    """Make it, and say how big it is."""
    reason = lab_unavailable()
    if reason is not None:
        sys.exit(f"the example needs two hosts that this machine cannot give: {reason}")
    with tempfile.TemporaryDirectory(prefix="pghaul-example-") as name:
        folder = Path(name)
        os.environ |= {
            "PGHAUL_DATA": str(folder),
            "PGHAUL_CONFIG": str(folder / "config"),
            "PGHAUL_SSH_CONFIG": str(folder / "ssh_config"),
        }
        (folder / "ssh_config").write_text(f'UserKnownHostsFile "{folder / "known_hosts"}"\n', encoding="utf-8")
        with lab("example", scale=SCALE) as hosts:
            carried_out(hosts)
            words = masks(hosts)
        mask(folder / FILE_NAME, words)
        pack(folder / FILE_NAME, packed())
    print(f"{packed()}: {packed().stat().st_size} bytes")
    return 0


def carried_out(hosts: Lab) -> None:
    """The whole main job, by the command line."""
    pghaul = CommandLine(sys.stdout).run
    for host in (hosts.old, hosts.new):
        caps = CAPS[host.name]
        hosts.cap_disk(
            host.name, caps.read_bytes_per_second, caps.write_bytes_per_second, caps.read_iops, caps.write_iops
        )
        name = NAMES[host.name]
        pghaul("server", "add", name, host.address, "--user", host.user, "--identity", str(host.key))
        pghaul("server", "test", name, "--host-key", host_key_fingerprint(host))
        pghaul("facts", name)
    hosts.shape("1gbit")
    places = ("--cluster", clusters.DATA, "--target", clusters.NEW_DATA)
    volumes = ("--old-volume", "/srv/pg", "--new-volume", "/srv/pg")
    pghaul("move", "add", MOVE, "--old", NAMES["old"], "--new", NAMES["new"], *places, *volumes)
    pghaul("bench", MOVE, "--suite", "quick")
    pghaul("check", MOVE, accept=(0, 1))
    pghaul("probe", MOVE)
    pghaul("estimate", MOVE)
    pghaul("execute", MOVE, "--rehearsal")
    pghaul("estimate", MOVE)
    cluster = json.loads(pghaul("plan", MOVE, "--json"))["cluster"]
    pghaul("execute", MOVE, "--confirm", cluster, "--manual-steps-done")


def masks(hosts: Lab) -> dict[str, str]:
    """What has to go from every text, and what stands there instead."""
    kernel = platform.release()
    return {
        **{f"host {name}, ": f"host {called}, " for name, called in NAMES.items()},
        hosts.old.address: ADDRESSES["old"],
        hosts.new.address: ADDRESSES["new"],
        str(hosts.old.key): "~/.ssh/id_ed25519",
        f"root@{platform.node()}": "dba@workstation",
        kernel: kernel.partition("-")[0],
    }


def mask(history: Path, words: dict[str, str]) -> None:
    """Replace them in every text of every row."""
    engine = create_engine(f"sqlite:///{history}")
    with Session(engine) as session, session.begin():
        for mapper in Base.registry.mappers:
            names = [each.key for each in mapper.column_attrs]
            for row in session.scalars(select(mapper.class_)):
                for name in names:
                    text = getattr(row, name)
                    if isinstance(text, str):
                        setattr(row, name, masked(text, words))
    engine.dispose()


def masked(text: str, words: dict[str, str]) -> str:
    """The text with the words replaced."""
    for word, instead in words.items():
        text = text.replace(word, instead)
    return text


def pack(history: Path, target: Path) -> None:
    """The history as one compressed file without what SQLite has freed in it; the same history makes the same bytes."""
    with closing(sqlite3.connect(history)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("VACUUM")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(history.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    sys.exit(main())
