"""Each driver on a real server: figures, and nothing left behind; a tool that is missing, and its installation."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.benchmarks.fio.job import workloads_of
from core.benchmarks.installing import install, installation
from core.benchmarks.model import Outcome, Parameter, Run, Suite, Volume, Workload
from core.benchmarks.runs import run_suite
from core.errors import AuthenticationError, CommandError, InputError
from core.facts.model import Cluster, Tool
from core.jobs import CommandStarted, Event, Job, Note
from core.servers.connection import Server, connect
from core.servers.profiles import Asker, Profile
from core.sides import Side
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live.command_line import CommandLine
from tests.live.test_benchmark_caps import Nobody
from tests.live.test_benchmarks import FACTS

pytestmark = pytest.mark.lab

MIB = 2**20
DISK = "/srv/pg"
BIN = "/usr/local/pgsql/bin"
KNOWN = replace(
    FACTS,
    clusters=(Cluster(f"{DISK}/data", "15", "15.5", running=True, port=5432, owner="postgres", bin_directory=BIN),),
)
LOG: dict[str, Parameter] = {"pattern": "write", "direct": False, "size_bytes": 8 * MIB, "runtime_seconds": 1}
MIXED: dict[str, Parameter] = {
    "pattern": "randrw",
    "direct": True,
    "size_bytes": 8 * MIB,
    "runtime_seconds": 1,
    "depth": 8,
}
SEEKS: dict[str, Parameter] = {"pattern": "rndrd", "files": 4, "size_bytes": 8 * MIB, "runtime_seconds": 1}
SYNCS: dict[str, Parameter] = {"pattern": "rndwr", "size_bytes": 16384, "block_bytes": 16384, "runtime_seconds": 1}
JOB = """\
[global]
size=8m
bs=8k
runtime=1
time_based
[reader]
rw=randread
[writer]
rw=randwrite
[alone]
stonewall
rw=write
"""


def workload(tool: str, headline: str, **parameters: Parameter) -> Workload:
    return Workload(f"{tool}-{headline}", tool, tool, headline, parameters)


def run(server: Server, *workloads: Workload, job: Job | None = None) -> tuple[Run, ...]:
    volume = Volume(Side.OLD, server.name, DISK, DISK)
    return run_suite(server, volume, Suite("t", "t", 1, workloads), KNOWN, Nobody(), job or Job(), move="m")


@pytest.mark.usefixtures("clean_hosts")
@pytest.mark.parametrize(
    "workloads",
    [
        pytest.param(
            (workload("bonnie", "write_bytes_per_second", size_bytes=128 * MIB, flush=True, concurrency=2, seeks=50),),
            marks=pytest.mark.long,
        ),
        (workload("sysbench", "read_iops", **SEEKS), workload("sysbench", "fsyncs_per_second", **SYNCS)),
        (workload("fio", "fsyncs_per_second", sync="fdatasync", **LOG), workload("fio", "read_iops", **MIXED)),
        pytest.param(workloads_of(JOB), marks=pytest.mark.long),
    ],
    ids=lambda workloads: workloads[0].tool,
)
def test_a_driver_measures_and_leaves_nothing(lab: Lab, old_server: Server, workloads: tuple[Workload, ...]) -> None:
    lab.cap_disk("old", 100_000_000, 100_000_000, 5000, 5000)  # bonnie++ gives no figure for what is over too soon
    runs = run(old_server, *workloads)
    assert [run.workload for run in runs] == list(workloads)
    for ended in runs:
        (repetition,) = ended.repetitions
        assert (ended.outcome, repetition.message) == (Outcome.DONE, "")
        assert repetition.metrics[ended.workload.headline] > 0
        assert repetition.raw != ""


@pytest.mark.usefixtures("clean_hosts")
def test_a_test_that_is_over_too_soon_has_not_measured(old_server: Server) -> None:
    tiny = workload("bonnie", "write_bytes_per_second", size_bytes=8 * MIB, flush=False, concurrency=2, seeks=50)
    (ended,) = run(old_server, tiny)
    (repetition,) = ended.repetitions
    assert (ended.outcome, repetition.outcome) == (Outcome.FAILED, Outcome.FAILED)
    assert "choose a larger size" in repetition.message


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts")
def test_pg_test_fsync_knows_every_method_and_leaves_nothing(old_server: Server) -> None:
    (ended,) = run(old_server, workload("pg_test_fsync", "fsyncs_per_second", method="fsync", seconds_per_test=1))
    rates = {name for name in ended.repetitions[0].metrics if name.endswith("fsyncs_per_second")}
    assert {"fsyncs_per_second", "fdatasync_fsyncs_per_second", "open_datasync_fsyncs_per_second"} <= rates
    assert f"{BIN}/pg_test_fsync" in ended.repetitions[0].command


def test_the_words_of_an_old_sysbench_still_work(old_server: Server) -> None:
    """1.0 takes those of 0.4 and 0.5 too; real ones of these are in no distribution any more."""
    facts = replace(KNOWN, tools=(Tool("sysbench", "/usr/bin/sysbench", "0.4.12"),))
    volume = Volume(Side.OLD, "old", DISK, DISK)
    workloads = (workload("sysbench", "read_iops", **SEEKS), workload("sysbench", "fsyncs_per_second", **SYNCS))
    runs = run_suite(old_server, volume, Suite("t", "t", 1, workloads), facts, Nobody(), Job(), move="m")
    assert [ended.outcome for ended in runs] == [Outcome.DONE] * 2
    assert all("--test=fileio" in ended.repetitions[0].command for ended in runs)


def test_a_suite_goes_on_without_the_tool_that_is_missing(lab: Lab, old_server: Server) -> None:
    lab.old.exec("mv", "/usr/bin/sysbench", "/usr/bin/sysbench.away")
    events: list[Event] = []
    try:
        seeks, log = (
            workload("sysbench", "read_iops", **SEEKS),
            workload("fio", "fsyncs_per_second", sync="fsync", **LOG),
        )
        runs = run(old_server, seeks, log, job=Job(events.append))
    finally:
        lab.old.exec("mv", "/usr/bin/sysbench.away", "/usr/bin/sysbench")
    assert [(ended.workload.tool, ended.outcome) for ended in runs] == [("fio", Outcome.DONE)]
    said = [event.text for event in events if isinstance(event, Note) and event.level == "warning"]
    reason = "sysbench is not installed on old: install it with: apt-get install sysbench"
    assert any(text.startswith(reason) and "sysbench-read_iops" in text for text in said)


REPACK = r"""set -eu
folder=$(mktemp -d /srv/packages.XXXXXX)
echo "$folder"
chmod 755 "$folder"
cd "$folder"
mkdir -p root/DEBIAN
printf 'Package: bonnie++\nVersion: 2.00a+lab\nArchitecture: all\nMaintainer: lab <lab@localhost>\nDescription: lab\n' \
  >root/DEBIAN/control
install -D /usr/sbin/bonnie++ root/usr/sbin/bonnie++
dpkg-deb --build root bonnie.deb >/dev/null
{ cat root/DEBIAN/control; echo "Filename: ./bonnie.deb"; echo "Size: $(stat -c %s bonnie.deb)"
  echo "SHA256: $(sha256sum bonnie.deb | cut -d ' ' -f 1)"; } >Packages
cp -a /etc/apt kept-apt
cp -a /var/lib/dpkg kept-dpkg
rm -rf root /etc/apt/sources.list.d
echo "deb [trusted=yes] file:$folder ./" >/etc/apt/sources.list
dpkg --force-all --purge bonnie++ >/dev/null
test ! -e /usr/sbin/bonnie++
"""
RESTORE = r"""set -eu
cd "$1"
rm -rf /etc/apt /var/lib/dpkg
mv kept-apt /etc/apt
mv kept-dpkg /var/lib/dpkg
dpkg-deb -x bonnie.deb /
cd /
rm -rf "$1"
"""


@pytest.fixture
def without_bonnie(lab: Lab) -> Iterator[None]:
    """New without bonnie++, and with a package of it that apt does not know of before it reads its lists again."""
    folder = lab.new.exec("sh", "-c", REPACK).stdout.strip()
    try:
        yield
    finally:
        lab.new.exec("sh", "-c", RESTORE, "restore", folder)


@pytest.mark.long
@pytest.mark.usefixtures("clean_hosts", "without_bonnie")
def test_a_missing_tool_is_installed_when_asked(lab: Lab, new_server: Server) -> None:
    events: list[Event] = []
    wanted = installation(new_server, ["fio", "bonnie++"], Job())
    assert wanted.missing == ("bonnie++",)
    assert wanted.shell is not None
    assert "apt-get -q -y --no-install-recommends install bonnie++" in wanted.shell.shown
    assert lab.new.exec("test", "-e", "/usr/sbin/bonnie++", check=False).returncode == 1  # looking changes nothing
    install(new_server, wanted, Job(events.append))
    shown = [event for event in events if isinstance(event, CommandStarted) and "apt-get" in event.command]
    assert {event.user for event in shown} == {"root"}
    titles = [event.title for event in shown]
    # where the list of packages was fetched already, the first try is enough
    assert titles in (["install bonnie++"], ["install bonnie++", "fetch the list of packages", "install bonnie++"])
    assert lab.new.exec("dpkg-query", "-W", "-f", "${Version}", "bonnie++").stdout == "2.00a+lab"
    assert installation(new_server, ["fio", "bonnie++"], Job()).shell is None


@pytest.mark.long
@pytest.mark.usefixtures("without_bonnie")
def test_what_apt_says_when_it_cannot_is_said(lab: Lab, new_server: Server) -> None:
    lab.new.exec("sh", "-c", "rm /etc/apt/sources.list")
    wanted = installation(new_server, ["bonnie++"], Job())
    with pytest.raises(CommandError, match=r"bonnie\+\+ .* new: E: .*bonnie") as caught:
        install(new_server, wanted, Job())
    assert "package sources" in caught.value.hint


def test_nobody_installs_without_root(lab: Lab, nosudo_profile: Profile, asker: Asker) -> None:
    lab.old.exec("mv", "/usr/bin/sysbench", "/usr/bin/sysbench.away")
    try:
        with connect(nosudo_profile, asker, Job()) as server:
            wanted = installation(server, ["sysbench"], Job())
            with pytest.raises(AuthenticationError, match=r"\broot\b"):
                install(server, wanted, Job())
    finally:
        lab.old.exec("mv", "/usr/bin/sysbench.away", "/usr/bin/sysbench")


_STANDS_IN = """#!/bin/sh
echo "$(id -un) $DEBIAN_FRONTEND $*" >>/var/tmp/asked
mv /usr/bin/sysbench.away /usr/bin/sysbench
"""
_AS_BEFORE = """
rm -f /var/tmp/asked
for program in sysbench apt-get; do
  [ ! -e /usr/bin/$program.away ] || mv /usr/bin/$program.away /usr/bin/$program
done
"""


@pytest.mark.usefixtures("clean_hosts")
def test_the_command_line_has_root_install_what_is_missing(
    lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a program in place of apt-get's."""
    command = CommandLine(lab, asker, capsys)
    command.describe(lab.old)
    try:
        for program in ("sysbench", "apt-get"):
            lab.old.exec("mv", f"/usr/bin/{program}", f"/usr/bin/{program}.away")
        lab.old.exec("install", "/dev/stdin", "/usr/bin/apt-get", input=_STANDS_IN)
        code, out, err = command.connecting("server", "install", "old", "fio", "sysbench", "--json")
        assert code == 0, err
        assert json.loads(out)["installed"] == ["sysbench"]
        asked = lab.old.exec("cat", "/var/tmp/asked").stdout.splitlines()
        assert asked == ["root noninteractive -q -y --no-install-recommends install sysbench"]
    finally:
        lab.old.exec("sh", "-c", _AS_BEFORE)


@pytest.mark.parametrize("tool", ["postgresql", "pgbench", "-x", "fio bonnie++", shlex.quote("a'b")])
def test_only_known_tools_are_installed(old_server: Server, tool: str) -> None:
    with pytest.raises(InputError, match=re.escape(tool)):
        installation(old_server, [tool], Job())


def test_a_distribution_that_is_not_known(lab: Lab, old_server: Server) -> None:
    lab.old.exec("sh", "-c", "mv /usr/bin/sysbench /usr/bin/sysbench.away; mv /etc/os-release /etc/os-release.away")
    try:
        with pytest.raises(InputError, match=r"\bold\b") as caught:
            installation(old_server, ["sysbench"], Job())
    finally:
        lab.old.exec("sh", "-c", "mv /usr/bin/sysbench.away /usr/bin/sysbench; mv /etc/os-release.away /etc/os-release")
    assert caught.value.hint.endswith(" sysbench")
