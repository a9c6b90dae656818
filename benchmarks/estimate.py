"""The estimate against the clock: run as root, prints both for every setting, and how good the estimates were.

    python benchmarks/estimate.py [--only N...] [--ways dump,warm,all,cold] [--repeat TIMES] [--keep FOLDER]
    python benchmarks/estimate.py --again FOLDER [--only N...] [--ways …]

Each setting is probed once and estimated by `pghaul estimate` from these probes alone, and then done in each way,
between the same two hosts made as they were before. Where a setting has a load, what is done without it (cold) has
probes of its own, taken without it. A way that fails is said and left out; the others go on, and the run ends with 1.

The history of each way stays in a folder of its own, below the one that --keep names, as soon as the way has ended:
`PGHAUL_DATA=FOLDER/3-warm/history pghaul estimate --record` shows it stage by stage. With --again nothing is run: what
was kept is estimated anew by the present code, from its probes alone, and held against the clock that was kept; below
stands how good the estimates were that were made then, and how long the kept probes took, with the time before which.

    cold    a stopped cluster, by `pghaul execute`
    warm    a running one, with its load
    all     the same with --verify all
    dump    pg_dump on old, over ssh into pg_restore on new, ANALYZE, old stopped and new restarted

With --repeat each way is done several times, and below stands how near to its own clocks their median is: no estimate
can be nearer. Only the first time is kept.

For each: likely over clock, and whether the clock lies between low and high, for the whole (people and what opens the
connections left out) and for the downtime; then the interval score, the pinball loss at 10, 50 and 90 %: wide ranges do
not win it.

    the whole       likely within 15 % of the clock in 9 of 10
    the downtime    likely within 25 % of the clock in 9 of 10
    both            the clock between low and high in 8 of 10
    the probes      `pghaul probe` within a tenth of the first copy that was done, and within 15 s where that is less
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.again import CLOCK, ESTIMATE, PROBED, STATUS, Kept, again, clocked, kept, probings
from benchmarks.copying import SCALE_OF_A_GIGABYTE, fill
from benchmarks.judging import WAYS, Clock, Judged, Probing, best_possible, good, judged, line, sums, table
from benchmarks.stopping import MOVE, SPACE, Load, busy, describe, pghaul
from core.servers.shell import command
from tests.lab import clusters
from tests.lab import lab as labs
from tests.lab.caches import SOME, cold_caches, touch_disks
from tests.lab.lab import Lab
from tests.lab.machine import LabError, lab_unavailable

ONE, ALL = Load("load on one of ten tables", 1, 1.0), Load("load on all ten", 10, 1.0)
NEW_BIN = "/usr/lib/postgresql/15/bin"
RESTORED = "/srv/pg/restored"
CONFIGURATION, KEPT = "/etc/postgresql", "/srv/pg/configuration"


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


@contextmanager
def prepared(setting: Setting) -> Iterator[Lab]:
    """A lab with the setting's cluster, running, and its caps; its files are as old as those of a cluster in use."""
    with labs.lab("benchmark-clock", scale=1) as lab:
        # less than the cluster, or a disk with a cap would not be read; see PLENTY for one that is slowly written
        lab.cap_memory(SOME if setting.new_disk else SOME // 2)
        # what one host computes must not hold up the other
        lab.divide_processors()
        touch_disks(lab)
        _grow(lab, setting)
        fill(lab, setting.gigabytes, "--partitions", "10")
        lab.shape(setting.wire)
        lab.cap_disk("old", read_bps=setting.old_disk)
        lab.cap_disk("new", write_bps=setting.new_disk)
        clusters.control(lab.old, "start")
        lab.old.exec("env", "PGHOST=/tmp", f"{clusters.PREFIX}/bin/vacuumdb", "-aFqz", user="postgres")
        clusters.control(lab.old, "stop")
        lab.old.exec("find", "/srv/pg", "-exec", "touch", "-h", "-d", "2 days ago", "{}", "+")
        clusters.control(lab.old, "start")
        lab.new.exec("cp", "-a", CONFIGURATION, KEPT)
        yield lab


def _grow(lab: Lab, setting: Setting) -> None:
    """What pgbench does not make: rows that do not compress, and relations of a page."""
    rows = round(setting.random * 1e9 / 1000)
    made = "(SELECT string_agg(sha512(random()::text::bytea), '') FROM generate_series(1, 15 + n % 2))"
    texts = [f"CREATE UNLOGGED TABLE noise AS SELECT n, {made} FROM generate_series(1, {rows}) n"] if rows else []
    loop = "LOOP EXECUTE format('CREATE TABLE small_%s (a int)', n); END LOOP; END"
    if setting.relations:  # or pg_dump could not lock them all
        texts.append("ALTER SYSTEM SET max_locks_per_transaction = 1024")
    texts += [f"DO $$BEGIN FOR n IN {at}..{at + 999} {loop}$$" for at in range(0, setting.relations, 1000)]
    for text in texts:
        _psql(lab, text)


def _psql(lab: Lab, text: str) -> None:
    words = (f"{clusters.PREFIX}/bin/psql", "-Xq", "-v", "ON_ERROR_STOP=1", clusters.DATABASE)
    lab.old.exec("env", "PGHOST=/tmp", *words, user="postgres", input=text)


class Run:
    """The settings that are measured, one after the other.

    Attributes:
        keep: the folder in which the history of each way stays.
        rows: how good each estimate was.
        probed: how long the probes of each setting took.
        failed: what could not be measured, and why.
    """

    def __init__(self, keep: Path) -> None:
        self.keep = keep
        self.rows: list[Judged] = []
        self.probed: list[Probing] = []
        self.failed: list[str] = []

    def measure(self, number: int, setting: Setting, ways: Sequence[str], times: int = 1) -> None:
        """Probe one setting beside its load, and do it in each of these ways, so many times."""
        with self.going_on(setting.title), prepared(setting) as lab, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            seconds = _probed(lab, setting, setting.load, folder / "probed")
            for way, turn in product(ways, range(times)):
                own = folder / f"{way}-{turn + 1}"
                with self.going_on(f"{setting.title}, {way}"):
                    clock = self._do(lab, setting, way, own)
                    if way != "dump" and setting.title not in {each.title for each in self.probed}:
                        self.probed.append(Probing(setting.title, seconds, clock.whole))
                        say(str(self.probed[-1]))
                if turn == 0 and own.exists():
                    shutil.copytree(own, self.keep / f"{number}-{way}", dirs_exist_ok=True)
                _as_before(lab)

    def _do(self, lab: Lab, setting: Setting, way: str, own: Path) -> Clock:
        """Do it once in one way, from the probes that belong to it, and judge its estimate."""
        load = None if way == "cold" else setting.load
        if load is setting.load:
            shutil.copytree(own.parent / "probed", own)
        else:
            _probed(lab, setting, load, own)
        estimate, clock = _done(lab, setting, way, own)
        for row in judged(setting.title, way, estimate, clock):
            say(line(row))
            self.rows.append(row)
        return clock

    @contextmanager
    def going_on(self, what: str) -> Iterator[None]:
        """Say and remember what failed, and go on behind it."""
        try:
            yield
        except (RuntimeError, LabError) as error:
            self.failed.append(f"{what}: {error}")
            say(f"FAILED {self.failed[-1]}")

    def end(self) -> int:
        """Print what was measured; 0 when nothing failed and the estimates are good."""
        said = [table(self.rows), best_possible(self.rows), *(f"{each}\n" for each in self.probed)]
        say("\n" + "".join([*said, *(f"FAILED {each}\n" for each in self.failed), f"kept in {self.keep}"]))
        return 0 if good(self.rows, self.probed) and not self.failed else 1


def _probed(lab: Lab, setting: Setting, load: Load | None, folder: Path) -> float:
    """Describe and probe the move into a history of its own in `folder`; the seconds of the probes, kept there too."""
    folder.mkdir()
    (folder / "config").write_text(f'UserKnownHostsFile "{folder / "known_hosts"}"\n')
    cold_caches()
    with _under(lab, setting, load):
        seconds = describe(lab, folder)
    (folder / PROBED).write_text(json.dumps({"seconds": seconds}))
    say(f"{setting.title}: probed in {seconds:.1f} s{'' if load is setting.load else ', without load'}")
    return seconds


def _done(lab: Lab, setting: Setting, way: str, folder: Path) -> tuple[dict[str, Any], Clock]:
    """The estimate, and the clock, of one way."""
    proof = ("--verify", "all") if way == "all" else ()
    if way == "cold":
        clusters.control(lab.old, "stop")
        pghaul(folder, "facts", "old")
    with _under(lab, setting, None if way == "cold" else setting.load):
        estimate = json.loads(pghaul(folder, "estimate", MOVE, "--json", *proof).stdout)
        (folder / ESTIMATE).write_text(json.dumps(estimate))
        cold_caches()
        if way == "dump":
            seconds = _dumped(lab)
            clock = Clock(seconds, seconds)
        else:
            pghaul(folder, "execute", MOVE, "--confirm", clusters.DATA, "--manual-steps-done", *proof)
            status = json.loads(pghaul(folder, "execute", MOVE, "--status", "--json").stdout)
            clock = clocked(status)
            (folder / STATUS).write_text(json.dumps(status))
    (folder / CLOCK).write_text(json.dumps(asdict(clock)))
    return estimate, clock


def _under(lab: Lab, setting: Setting, load: Load | None) -> AbstractContextManager[None]:
    scale = round(SCALE_OF_A_GIGABYTE * setting.gigabytes)
    return nullcontext() if load is None else busy(lab, scale, load)


_AS_BEFORE_ON_OLD = f"""
for name in global/pg_control PG_VERSION; do
  [ ! -e {clusters.DATA}/pghaul-fence/$name ] || mv -fT {clusters.DATA}/pghaul-fence/$name {clusters.DATA}/$name || exit
done
rm -rf {clusters.DATA}/pghaul-fence /srv/pg/dumped
"""
_AS_BEFORE_ON_NEW = f"""
for data in {clusters.NEW_DATA} {RESTORED}; do
  [ ! -e $data/postmaster.pid ] || runuser -u postgres -- {NEW_BIN}/pg_ctl -D $data -s -w -m immediate stop || exit
done
find {clusters.NEW_DATA} -mindepth 1 -delete
rm -rf {RESTORED} {SPACE} {CONFIGURATION} && cp -a {KEPT} {CONFIGURATION}
"""


def _as_before(lab: Lab) -> None:
    """Old's cluster in its place and running, new without one, however a way has left them."""
    lab.old.exec("sh", "-c", _AS_BEFORE_ON_OLD)
    lab.new.exec("sh", "-c", _AS_BEFORE_ON_NEW)
    if lab.old.exec("sh", "-c", f"[ ! -e {clusters.DATA}/postmaster.pid ] || echo runs").stdout == "":
        clusters.control(lab.old, "start")


def _dumped(lab: Lab) -> float:
    """Dump on old, restore on new over ssh, ANALYZE, old stopped and new opened, by hand; seconds of all of it."""
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
    clusters.control(lab.old, "stop")
    again = f"cd / && {NEW_BIN}/pg_ctl -D {RESTORED} -s -w -l /dev/null -m fast restart"
    lab.new.exec("sh", "-c", again, user="postgres")
    return time.monotonic() - begun


def say(line: str) -> None:
    """A line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _again(found: Sequence[Kept]) -> int:
    """Hold what was kept against the present code; 0 when its estimates are good."""
    rows, before = [], []
    for each in found:
        title = SETTINGS[each.number - 1].title
        rows += judged(title, each.way, again(each), each.clock)
        before += judged(title, each.way, each.before, each.clock)
    say(f"{table(rows)}\nas it was estimated then:\n{sums(before)}")
    for at, probing in probings(found, [each.title for each in SETTINGS]):
        say(f"kept, measured before {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC: {probing}")
    return 0 if good(rows) else 1


def main() -> int:
    """Measure every setting, or those that were named; 0 when the estimates are good."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=int, nargs="*", metavar="N", help="these settings, from 1")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--repeat", type=int, default=1, metavar="TIMES", help="do each way so many times")
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        default=Path(f"/var/tmp/pghaul-estimates-{stamp}"),  # noqa: S108  root's own, by a name that says when
        help="the histories stay here (default: /var/tmp/pghaul-estimates-TIME)",
    )
    parser.add_argument("--again", type=Path, metavar="FOLDER", help="estimate anew what was kept there; runs nothing")
    options = parser.parse_args()
    numbers, ways = options.only or range(1, len(SETTINGS) + 1), options.ways.split(",")
    if options.again is not None:
        return _again([each for each in kept(options.again) if each.number in numbers and each.way in ways])
    reason = lab_unavailable()
    if reason is not None:
        sys.stderr.write(f"{reason}\n")
        return 2
    options.keep.mkdir(mode=0o700, parents=True, exist_ok=True)
    say(f"kept in {options.keep}")
    run = Run(options.keep)
    try:
        for number in numbers:
            run.measure(number, SETTINGS[number - 1], ways, options.repeat)
    finally:  # also of a run that was interrupted
        ended = run.end()
    return ended


if __name__ == "__main__":
    raise SystemExit(main())
