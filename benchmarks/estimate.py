"""The estimate against the clock: run as root, prints both for every setting, and how good the estimates were.

    python benchmarks/estimate.py [--only N...] [--ways cold,warm,all,dump]

Each setting is estimated by `pghaul estimate` from its own probes, and then done, each way on hosts of its own:

    cold    a stopped cluster, by `pghaul execute`
    warm    a running one, with its load
    all     the same with --verify all
    dump    pg_dump over ssh into pg_restore on new, then ANALYZE, with the cluster left alone

For each: likely over clock, and whether the clock lies between low and high, for the whole (people and what opens the
connections left out) and for the downtime; then the pinball loss at 10, 50 and 90 %, which wide ranges do not win.

    the whole       likely within 15 % of the clock in 9 of 10
    the downtime    likely within 25 % of the clock in 9 of 10
    both            the clock between low and high in 8 of 10
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.copying import SCALE_OF_A_GIGABYTE, fill
from benchmarks.stopping import MOVE, Load, busy, describe, pghaul
from core.servers.shell import command
from tests.lab import clusters
from tests.lab import lab as labs
from tests.lab.caches import SOME, cold_caches, touch_disks
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable

ONE, ALL = Load("load on one of ten tables", 1, 1.0), Load("load on all ten", 10, 1.0)
NEW_BIN = "/usr/lib/postgresql/15/bin"
RESTORED = "/srv/pg/restored"
PERCENTILES = {"low": 0.1, "likely": 0.5, "high": 0.9}


@dataclass(frozen=True, slots=True)
class Setting:
    """Caps of the lab, bytes a second (0: none) and the wire as tc has it; gigabytes of pgbench, random, or small
    relations; the load while it is moved."""

    title: str
    gigabytes: float = 1.0
    wire: str = "1gbit"
    old_disk: int = 0
    new_disk: int = 0
    random: float = 0.0
    relations: int = 0
    load: Load | None = None


SETTINGS = (
    Setting("1 Gbit/s, 1 GB"),
    Setting("1 Gbit/s, old disk 60 MB/s", old_disk=60_000_000),
    Setting("1 Gbit/s, new disk 60 MB/s", new_disk=60_000_000),
    Setting("100 Mbit/s, 0.5 GB", 0.5, "100mbit"),
    Setting("45 Mbit/s, 0.2 GB", 0.2, "45mbit"),
    Setting("10 Gbit/s, 3 GB", 3.0, "10gbit"),
    Setting("1 Gbit/s, 1 GB that does not compress", 0.2, random=0.8),
    Setting("100 Mbit/s, 0.3 GB that does not compress", 0.2, "100mbit", random=0.1),
    Setting("1 Gbit/s, 20,000 small relations", 0.2, relations=20_000),
    Setting("1 Gbit/s, 1 GB, load on one table", load=ONE),
    Setting("1 Gbit/s, 1 GB, load on all tables", load=ALL),
    Setting("200 Mbit/s, 0.5 GB, load on all tables", 0.5, "200mbit", load=ALL),
)
WAYS = {"cold": "cold-copy", "warm": "warm-copy", "all": "warm-copy", "dump": "dump-restore"}


@dataclass(frozen=True, slots=True)
class Judged:
    """One estimate against the clock. Seconds; `within`: how far likely may be off."""

    title: str
    low: float
    likely: float
    high: float
    clock: float
    within: float

    @property
    def right(self) -> bool:
        """Likely is as near to the clock as it should be."""
        return abs(self.likely / self.clock - 1) <= self.within

    @property
    def inside(self) -> bool:
        """The clock lies between low and high."""
        return self.low <= self.clock <= self.high

    @property
    def loss(self) -> float:
        """The pinball loss of the three, in seconds: what the clock exceeds a percentile by costs that part, the rest
        the other way."""
        spans = {"low": self.low, "likely": self.likely, "high": self.high}
        return sum(
            max(part * (self.clock - spans[name]), (part - 1) * (self.clock - spans[name]))
            for name, part in PERCENTILES.items()
        )


def judged(setting: Setting, way: str, estimate: dict[str, Any], whole: float, down: float) -> list[Judged]:
    """What one way came to: the whole and, of a copy, the downtime."""
    method = next(each for each in estimate["methods"] if each["method"] == WAYS[way])
    title = f"{setting.title}, {way}"
    found = [Judged(f"{title}: whole", **method["duration_seconds"], clock=whole, within=0.15)]
    if way != "dump":
        found.append(Judged(f"{title}: downtime", **method["downtime_seconds"], clock=down, within=0.25))
    return found


def table(rows: Sequence[Judged]) -> str:
    """The rows for people, then the sums."""
    head = f"{'':58}{'low':>8}{'likely':>8}{'high':>8}{'clock':>8}{'l/clock':>9}{'loss':>7}\n"
    return head + "".join(map(_line, rows)) + "".join(_sums(rows))


def _line(row: Judged) -> str:
    figures = "".join(f"{each:8.1f}" for each in (row.low, row.likely, row.high, row.clock))
    verdict = f"{'' if row.right else 'OFF '}{'inside' if row.inside else 'OUTSIDE'}"
    return f"{row.title:58}{figures}{row.likely / row.clock:9.2f}{row.loss:7.1f}  {verdict}\n"


def _sums(rows: Sequence[Judged]) -> Iterator[str]:
    for kind, within in (("whole", "15 %"), ("downtime", "25 %")):
        mine = [row for row in rows if row.title.endswith(kind)]
        if mine:
            yield f"{kind}: likely within {within} in {sum(row.right for row in mine)} of {len(mine)}, "
            yield f"inside in {sum(row.inside for row in mine)}, pinball loss {sum(row.loss for row in mine):.1f} s\n"


def good(rows: Sequence[Judged]) -> bool:
    """Likely right in nine of ten and the clock inside in eight, of the whole and of the downtime."""
    kinds = [[row for row in rows if row.title.endswith(kind)] for kind in ("whole", "downtime")]
    return bool(rows) and all(
        sum(row.right for row in mine) >= 0.9 * len(mine) and sum(row.inside for row in mine) >= 0.8 * len(mine)
        for mine in kinds
    )


@contextmanager
def prepared(setting: Setting, way: str) -> Iterator[Lab]:
    """A lab with the setting's cluster, running but for the cold way, and its caps."""
    with labs.lab("benchmark-clock", scale=1) as lab:
        lab.cap_memory(SOME)
        touch_disks(lab)
        _grow(lab, setting)
        fill(lab, setting.gigabytes, "--partitions", "10")
        lab.shape(setting.wire)
        lab.cap_disk("old", read_bps=setting.old_disk)
        lab.cap_disk("new", write_bps=setting.new_disk)
        if way != "cold":
            clusters.control(lab.old, "start")
        yield lab


def _grow(lab: Lab, setting: Setting) -> None:
    """What pgbench does not make: rows that do not compress, and relations of a page."""
    rows = round(setting.random * 1e9 / 1000)
    made = "(SELECT string_agg(sha512(random()::text::bytea), '') FROM generate_series(1, 15 + n % 2))"
    texts = [f"CREATE UNLOGGED TABLE noise AS SELECT n, {made} FROM generate_series(1, {rows}) n"] if rows else []
    loop = "LOOP EXECUTE format('CREATE TABLE small_%s (a int)', n); END LOOP; END"
    texts += [f"DO $$BEGIN FOR n IN {at}..{at + 999} {loop}$$" for at in range(0, setting.relations, 1000)]
    for text in texts:
        _psql(lab, text)


def _psql(lab: Lab, text: str) -> None:
    words = (f"{clusters.PREFIX}/bin/psql", "-Xq", "-v", "ON_ERROR_STOP=1", clusters.DATABASE)
    lab.old.exec("env", "PGHOST=/tmp", *words, user="postgres", input=text)


def measure(setting: Setting, way: str, folder: Path) -> list[Judged]:
    """One setting done one way."""
    with prepared(setting, way) as lab:
        cold_caches()
        describe(lab, folder)
        proof = ("--verify", "all") if way == "all" else ()
        estimate = json.loads(pghaul(folder, "estimate", MOVE, "--json", *proof).stdout)
        cold_caches()
        scale = round(SCALE_OF_A_GIGABYTE * setting.gigabytes)
        with busy(lab, scale, setting.load) if setting.load is not None and way != "cold" else nullcontext():
            if way == "dump":
                whole = down = _dumped(lab)
            else:
                pghaul(folder, "execute", MOVE, "--confirm", clusters.DATA, "--yes-to-hooks", *proof)
                whole, down = _clocked(json.loads(pghaul(folder, "execute", MOVE, "--status", "--json").stdout))
        return judged(setting, way, estimate, whole, down)


def _clocked(status: dict[str, Any]) -> tuple[float, float]:
    """Seconds of all steps, and from the stop, or the first step of a stopped cluster, until new was open."""
    execution = status["execution"]
    points = {step["number"] for step in execution["plan"]["steps"] if step["point_of_no_return"]}
    begun = [datetime.fromisoformat(run["started_at"]) for run in execution["steps"]]
    ended = [datetime.fromisoformat(run["ended_at"]) for run in execution["steps"] if run["number"] in points]
    stopped = {step["number"] for step in execution["plan"]["steps"] if step["stopped"]}
    down = min(at for at, run in zip(begun, execution["steps"], strict=True) if run["number"] in stopped)
    return (max(ended) - min(begun)).total_seconds(), (max(ended) - down).total_seconds()


def _dumped(lab: Lab) -> float:
    """Dump on old, restore on new over ssh, ANALYZE, by hand and one after the other; seconds of all of it."""
    lab.new.exec("install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", RESTORED)
    start = (
        f"{NEW_BIN}/initdb -D {RESTORED} -A trust >/dev/null && {NEW_BIN}/pg_ctl -D {RESTORED} -s -w -l /dev/null -o "
    )
    lab.new.exec("sh", "-c", f"cd / && {start}'-p 5499 -k /tmp -c listen_addresses=' start", user="postgres")
    for name, file in (("clock", lab.key), ("clock.hosts", lab.known_hosts)):
        lab.old.exec("install", "-m", "600", "/dev/stdin", f"/root/{name}", input=file.read_text())
    ssh = command("ssh", "-i", "/root/clock", "-o", "UserKnownHostsFile=/root/clock.hosts").text
    at_new = f"{ssh} {lab.new.user}@{lab.new.address} sudo -u postgres env PGHOST=/tmp PGPORT=5499"
    dump = (
        f"sudo -u postgres env PGHOST=/tmp {clusters.PREFIX}/bin/pg_dump -Fc -Z0 -f /srv/pg/dumped {clusters.DATABASE}"
    )
    load = f"{at_new} {NEW_BIN}/pg_restore --no-owner --no-acl --no-tablespaces -d postgres </srv/pg/dumped"
    lab.old.exec("install", "-o", "postgres", "/dev/null", "/srv/pg/dumped")
    begun = time.monotonic()
    lab.old.exec("sh", "-c", f"{dump} && {load} && {at_new} {NEW_BIN}/vacuumdb -Z -q postgres")
    return time.monotonic() - begun


def main() -> int:
    """Measure every setting, or those that were named; 0 when the estimates are good."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=int, nargs="*", metavar="N", help="these settings, from 1")
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    rows: list[Judged] = []
    for number, setting in enumerate(SETTINGS, 1):
        for way in options.ways.split(",") if options.only is None or number in options.only else ():
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "config").write_text(f'UserKnownHostsFile "{folder / "known_hosts"}"\n')
                found = measure(setting, way, folder)
            rows += found
            sys.stdout.write("".join(map(_line, found)))
            sys.stdout.flush()
    sys.stdout.write(f"\n{table(rows)}")
    return 0 if good(rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
