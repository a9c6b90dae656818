"""A move over NFS, for real: between two virtual machines, whose kernel has it. Run by `make test-nfs`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.errors import Cancelled
from core.facts.model import Facts
from core.jobs import Event, Job, Note, Progress
from core.migration.model import step_ids
from core.migration.model.execution import Kind, State
from core.migration.model.plan import Phase, Plan
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.probing import probes as probing
from core.migration.probing import taking
from core.migration.probing.candidates import Measure
from core.migration.probing.proportion import THOROUGH
from core.migration.transports import nfs
from core.migration.transports.copy_channel import CopyChannel
from core.servers import connection
from core.servers.connection import Server
from core.servers.shell import Shell
from tests.lab import hosts
from tests.lab import lab as labs
from tests.lab.fixtures import LabAsker, profile
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import lab_unavailable, wait_until
from tests.lab.machines import machines_unavailable
from tests.live import moving as site
from tests.live.moving import ROOT, SPREAD, TARGET, Moving, sql

pytestmark = [pytest.mark.nfs, pytest.mark.timeout(900)]

NOW = datetime(2026, 3, 7, tzinfo=UTC)
VERSION_4 = Transport(route=Route.NFS, mount="vers=4.2,nconnect=4", streams=2)
VERSION_3 = Transport(route=Route.NFS, mount="vers=3")
BALANCES = "select md5(string_agg(aid || ' ' || abalance, ',' order by aid)), count(*) from pgbench_accounts"
SERVING = """cat /var/lib/nfs/etab /var/lib/nfs/rmtab
grep -E ' (nfs4?|nfsd|rpc_pipefs) ' /proc/mounts
cat /proc/fs/nfsd/threads 2>/dev/null
ps -e -o comm= | grep -xE 'nfsd|rpc.mountd|rpcbind|rpc.statd|rsync' | sort
ls -d /run/pghaul* /tmp/pghaul* /var/tmp/pghaul* 2>/dev/null
true"""


@pytest.fixture(scope="module")
def machines() -> Iterator[Lab]:
    """Two virtual machines, the cluster running on old."""
    reason = lab_unavailable() or machines_unavailable()
    if reason is not None:
        pytest.skip(reason)
    with labs.lab("nfs", size="3G", with_clusters=False, kind=hosts.Kind.MACHINES) as made:
        site.create(made.old, spread=True)
        yield made


@pytest.fixture(scope="module")
def servers(machines: Lab) -> Iterator[dict[str, Server]]:
    asker = LabAsker(machines.known_hosts)
    with (
        connection.connect(profile(machines, machines.old), asker, Job()) as old,
        connection.connect(profile(machines, machines.new), asker, Job()) as new,
    ):
        yield {"old": old, "new": new}


@pytest.fixture(scope="module")
def facts(machines: Lab, servers: dict[str, Server]) -> tuple[Facts, Facts]:
    site.clear(machines)
    site.start(machines.old)
    return site.read_facts(servers.__getitem__)


@pytest.fixture
def move(
    machines: Lab, servers: dict[str, Server], facts: tuple[Facts, Facts], tmp_path: Path
) -> Iterator[Callable[[Transport], Moving]]:
    """The move by a transport, undisturbed."""
    profiles = profile(machines, machines.old), profile(machines, machines.new)
    with site.undisturbed(machines, tmp_path, profiles, servers.__getitem__, facts) as made:
        made.move = replace(SPREAD, plain_text=True)

        def by(transport: Transport) -> Moving:
            sample = Probe(Quantity.END_TO_END, 1e9, 10**9, 1.0, "by hand", "true", "", NOW, transport, began_at=NOW)
            made.probes = (sample,)
            return made

        yield by


@contextmanager
def as_before(lab: Lab) -> Iterator[None]:
    """Exports, mounts, servers and what lies in the folders for what is temporary are the same afterwards."""
    before = [serving(host) for host in (lab.old, lab.new)]
    yield
    assert [serving(host) for host in (lab.old, lab.new)] == before


def serving(host: Host) -> str:
    return host.exec("sh", "-c", SERVING).stdout


def texts(plan: Plan, name: str) -> str:
    (step,) = [step for step in plan.steps if step.id == name]
    return "\n".join(step.native)


def test_facts_know_what_the_kernels_can_do(facts: tuple[Facts, Facts]) -> None:
    for side in facts:
        kernel = side.host_environment.kernel
        assert kernel is not None
        assert (kernel.nfs, kernel.nfsd, kernel.nfs_udp) == (True, True, False)


def test_a_cluster_moves_over_nfs_4(machines: Lab, move: Callable[[Transport], Moving]) -> None:
    moving = move(VERSION_4)
    plan = moving.plan()
    assert plan.transport == "rsync over NFS, vers=4.2,nconnect=4, 2 streams"
    exported, mounted = texts(plan, step_ids.EXPORT_TARGET), texts(plan, step_ids.MOUNT_TARGET)
    assert "exportfs -o rw,sync,secure,root_squash,all_squash,subtree_check,anonuid=$(id -u postgres)" in exported
    assert f"'{machines.old.address}:{TARGET}'" in exported
    assert "mount -t nfs -o vers=4.2,nconnect=4,soft," in mounted
    assert f"'{machines.new.address}:{TARGET}'" in mounted
    balances = sql(machines.old, BALANCES)
    with as_before(machines):
        execution = moving.execute()
    assert execution.state is State.DONE
    assert sql(machines.new, BALANCES) == balances
    assert sql(machines.new, "select version()").startswith("PostgreSQL 15.")
    assert machines.new.exec("stat", "-c", "%U %a", f"{TARGET}/PG_VERSION").stdout == "postgres 600\n"
    assert "ssh" not in "".join(step.call for step in plan.steps if step.root or step.phase is Phase.FINAL)


def test_a_pass_that_is_cancelled_leaves_nothing(machines: Lab, move: Callable[[Transport], Moving]) -> None:
    moving = move(VERSION_4)
    seen: list[str] = []

    def cancel(event: Event) -> None:
        if (
            isinstance(event, Progress)
            and step_ids.of_part(step_ids.PRE_COPY, 1, "data") in event.id.split("+")
            and not seen
        ):
            look = machines.old.exec("sh", "-c", "ps -e -o comm= | grep -x rsync; grep nfs4 /proc/mounts").stdout
            if "rsync" in look:  # the first lines come while the files are still being listed
                seen.append(look)
                runner.steps.job.cancel()

    number = moving.begin()
    runner = moving.runner(number, listener=cancel)
    with as_before(machines), pytest.raises(Cancelled):
        runner.carry_out()
    assert "rsync" in seen[0]
    assert seen[0].count("vers=4.2") == 4
    assert moving.store.execution(number).state is State.CANCELLED
    assert sql(machines.old, "select 1") == "1"


@pytest.mark.usefixtures("own_server")
def test_a_rehearsal_over_nfs_3_beside_a_server_that_runs(machines: Lab, move: Callable[[Transport], Moving]) -> None:
    moving = move(VERSION_3)
    with as_before(machines):
        execution = moving.execute(kind=Kind.REHEARSAL)
    assert execution.state is State.DONE
    assert machines.new.exec("cat", f"{TARGET}/PG_VERSION").stdout == "15\n"
    assert "192.0.2.7" in machines.new.exec("exportfs", "-s").stdout


@pytest.fixture
def own_server(machines: Lab) -> Iterator[None]:
    """An NFS server of new's own that runs already, with an export of somebody else's."""
    start = "mkdir -p /run/rpcbind /srv/other; rpcbind; mount -t nfsd nfsd /proc/fs/nfsd; rpc.nfsd 4; rpc.mountd"
    machines.new.exec("sh", "-c", f"{start}; exportfs -o ro,no_subtree_check 192.0.2.7:/srv/other")
    yield
    stop = "exportfs -au; rpc.nfsd 0; kill $(pidof rpc.mountd rpcbind); umount /proc/fs/nfsd"
    machines.new.exec("sh", "-c", f"{stop}; rm -rf /run/rpcbind* /run/rpc.statd* /srv/other")


def test_probes_try_the_mounts_and_say_what_the_kernel_lacks(
    machines: Lab, servers: dict[str, Server], facts: tuple[Facts, Facts], monkeypatch: pytest.MonkeyPatch
) -> None:
    def every_mount(
        measure: Measure, _plain: object, _version: object, _links: object, others: Callable[[], object], _size: object
    ) -> list[Transport]:
        others()
        for transport in tried:
            measure(transport)
        return []

    tried = [Transport(route=Route.NFS, mount=mount) for mount in ("vers=4.2", "vers=4.2,nconnect=4", "vers=3")]
    monkeypatch.setattr(probing, "search", every_mount)  # which it would choose depends on how slow a machine is
    unhurried = replace(THOROUGH, route_seconds=600.0, small_files=100)  # a thousand take a machine a minute
    monkeypatch.setattr(probing, "THOROUGH", unhurried)
    monkeypatch.setattr(taking, "DEADLINE_SECONDS", 240.0)
    taken: list[Probe] = []
    events: list[Event] = []

    class Journal:
        def probe_taken(self, move: str, probe: Probe) -> None:  # noqa: ARG002
            taken.append(probe)

    undertaking = replace(SPREAD, plain_text=True)
    with as_before(machines):
        made = Job(events.append)
        probing.probe(servers["old"], servers["new"], *facts, undertaking, "0123", Journal(), made, thorough=True)
    notes = [event.text for event in events if isinstance(event, Note)]
    sampled = [probe for probe in taken if probe.quantity is Quantity.END_TO_END]
    assert [probe.transport for probe in sampled] == tried, notes
    assert all(probe.bytes_per_second > 0 for probe in sampled)
    assert "NFS over UDP is skipped: the kernel of old has none" in notes


def run_on(host: Host, shell: Shell, given: str = "") -> str:
    return host.exec("sh", "-c", f"{shell.functions}\n{shell.text}", input=given).stdout


_PASSES = """
cd "$0/from" && to="$1/"
pass() { rsync -rlptH --timeout=600 "$@" ./ "$to" || exit; }
pass --ignore-existing --partial
for each in 1/7 2/8; do printf changed | dd of=$each bs=1 seek=5 conv=notrunc 2>/dev/null; done
pass --existing --ignore-times --inplace
mv 1 moved; rm -r 3; ln moved/2 2/again; ln -s ../2 moved/link
pass --delete --max-delete=99
"""
_SUMS = "find . -type f -exec sha256sum {} + | sort; find . -printf '%y %m %n %l %P\\n' | sort"


def test_what_rsync_renames_and_writes_in_place_stays_reachable_in_a_checked_subtree(machines: Lab) -> None:
    folder, source, address = f"{ROOT}/checked", "/srv/pg/passes", machines.new.address
    channel = CopyChannel(
        "pghaul-copy-checked", "/tmp/pghaul-copy-checked", address, 22, "dba", "postgres", (), (machines.old.address,),
        (("data", folder),), VERSION_4,
    )  # fmt: skip
    old, new = machines.old, machines.new
    with as_before(machines):
        new.exec("install", "-d", "-o", "postgres", folder)
        old.exec("install", "-d", "-o", "postgres", source)
        fill = "for d in 1 2 3; do mkdir -p from/$d; for f in $(seq 20); do seq $((f * 500)) >from/$d/$f; done; done"
        old.exec("sh", "-c", f'cd -- "$0" && {fill}', source, user="postgres")
        run_on(new, nfs.start_nfs_server(channel))
        run_on(new, nfs.export_targets(channel), run_on(old, nfs.print_source_address(channel)))
        run_on(old, nfs.mount_targets(channel, "postgres"))
        old.exec("sh", "-c", _PASSES, source, "/run/pghaul-copy-checked/data", user="postgres")
        run_on(old, nfs.unmount_targets(channel))
        for shell in (nfs.unexport_targets(channel), nfs.stop_nfs_server(channel)):
            run_on(new, shell)
        sums = [
            host.exec("sh", "-c", f'cd -- "$0" && {_SUMS}', there).stdout
            for host, there in ((old, f"{source}/from"), (new, folder))
        ]
        old.exec("rm", "-r", source)
        new.exec("rm", "-r", folder)
    assert sums[0] == sums[1] != ""


def test_old_gets_rid_of_a_mount_whose_server_is_gone(machines: Lab) -> None:
    """While something writes into it: neither a process nor `sync` waits on old for ever."""
    folder = f"{ROOT}/gone"
    address = machines.new.address
    channel = CopyChannel(
        "pghaul-copy-gone", "/tmp/pghaul-copy-gone", address, 22, "dba", "postgres", (), (machines.old.address,),
        (("data", folder),), VERSION_4,
    )  # fmt: skip
    old, new = machines.old, machines.new
    with as_before(machines):
        new.exec("install", "-d", "-o", "postgres", folder)
        run_on(new, nfs.start_nfs_server(channel))
        run_on(new, nfs.export_targets(channel), run_on(old, nfs.print_source_address(channel)))
        (exported,) = new.exec("cat", "/var/lib/nfs/etab").stdout.splitlines()
        assert exported.startswith(f"{folder}\t{old.address}(")
        assert {"root_squash", "all_squash", "subtree_check"} <= set(exported.rstrip(")").partition("(")[2].split(","))
        run_on(old, nfs.mount_targets(channel, "postgres"))
        write = "setsid dd if=/dev/zero of=/run/pghaul-copy-gone/data/x bs=1M count=200 >/dev/null 2>&1 </dev/null &"
        old.exec("sh", "-c", write, user="postgres")
        wait_until(lambda: new.exec("sh", "-c", f"[ -s {folder}/x ]", check=False).returncode == 0, "dd to write")
        machines.cut("new")
        try:
            old.exec("pkill", "-KILL", "-x", "dd")
            said = run_on(old, nfs.unmount_targets(channel))
            old.exec("sync")
        finally:
            machines.mend("new")
        assert said == "" or said.startswith("warning: ")
        for shell in (nfs.unexport_targets(channel), nfs.stop_nfs_server(channel)):
            run_on(new, shell)
        new.exec("rm", "-rf", folder)
