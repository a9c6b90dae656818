"""The texts of a copy over NFS, and which mounts are worth a sample; between two hosts it is tested in machines."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from core.facts.host_environment import Kernel
from core.facts.model import Facts, Tool
from core.migration.estimate import estimate, spec_of
from core.migration.model import step_ids
from core.migration.model.plan import Plan
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.migration.probing.candidates import MOUNTS, UDP, mounts, search
from core.migration.transports import nfs
from core.migration.transports.copy_channel import CopyChannel
from tests.core.migration.builders import NOW, cluster, facts, move, new, old, probe, profile
from tests.core.migration.plan.plans import step

ABLE = Kernel(nfs=True, nfsd=True, nfs_udp=False)
OVER_NFS = Transport(route=Route.NFS, mount="vers=4.2,nconnect=4", streams=2)
HOSTILE = '/srv/it\'s $(touch x) "ö" \\'


def channel(mount: str = "vers=4.2", address: str = "10.0.0.2", folder: str = HOSTILE) -> CopyChannel:
    sources = ("10.0.0.1", "fd00::1")
    transport = Transport(route=Route.NFS, mount=mount)
    targets = (("data", folder), ("16385", "/srv/space"))
    return CopyChannel(
        "pghaul-copy-01", "/tmp/pghaul-copy-01", address, 22, "dba", "pg", (), sources, targets, transport
    )


def side(made: Facts, kernel: Kernel | None = ABLE, missing: str = "") -> Facts:
    """A side with such a kernel, and with both tools but the missing one."""
    tools = [Tool(name, None if name == missing else f"/usr/sbin/{name}", None) for name in ("mount.nfs", "exportfs")]
    others = tuple(tool for tool in made.tools if tool.name not in {"mount.nfs", "exportfs"})
    return replace(made, host_environment=replace(made.host_environment, kernel=kernel), tools=(*others, *tools))


def plan(probes: Sequence[Probe], *, running: bool = True, plain_text: bool = True) -> Plan:
    undertaking = move(plain_text=plain_text)
    both = old(cluster(running=running)), new()
    estimated = estimate(spec_of(undertaking, both[0], probes))
    return make_plan(undertaking, profile("old"), profile("new"), *both, (), probes, estimated, seed="0123")


def sampled(transport: Transport, rate: float) -> Probe:
    return replace(probe(Quantity.END_TO_END, rate), transport=transport, began_at=NOW)


PROBES = [sampled(Transport(), 100e6), sampled(OVER_NFS, 300e6)]


def test_the_plan_shows_export_and_mount_and_takes_them_away() -> None:
    made = plan(PROBES)
    assert made.transport == OVER_NFS.name
    names = [each.id for each in made.steps]
    opening = [step_ids.START_NFS, step_ids.EXPORT_TARGET, step_ids.MOUNT_TARGET]
    closing = [step_ids.UNMOUNT_TARGET, step_ids.UNEXPORT_TARGET, step_ids.STOP_NFS]
    assert [name for name in names if name in opening + closing] == opening + closing
    assert [each.id for each in made.steps if each.resume.closes_channel][:3] == closing
    assert [each.id for each in made.way_back if each.resume.closes_channel][:3] == closing
    for each in made.steps:
        if each.id in opening:
            assert each.user == "root"
            assert each.resume.opens_channel
            assert each.in_rehearsal
            assert each.undo.startswith(f"To undo, run on the {each.side} server as root: ")


def test_without_consent_no_probe_chooses_it() -> None:
    assert plan(PROBES, plain_text=False).transport == Transport().name


def test_passes_go_into_the_mount_and_ask_for_no_ssh() -> None:
    settings = dict(plan(PROBES).settings)
    assert (settings["copy_send"], "compress" in settings["copy_options"]) == ("send_by_nfs", False)


def test_a_stopped_cluster_is_compared_whole() -> None:
    """rsync's own sums end on old, before the bytes cross the wire."""
    programs = [
        (step(plan(probes, running=False), step_ids.CHECKSUMS_OLD)).call.split()[4] for probes in (PROBES, PROBES[:1])
    ]
    assert programs == ["sha256sum", "none"]


@pytest.mark.parametrize(
    ("address", "clients"),
    [
        ("10.0.0.2", ["10.0.0.1"]),
        ("fd00::2", ["[fd00::1]"]),
        ("new.example.org", ["10.0.0.1", "[fd00::1]"]),
    ],
)
def test_exports_name_each_address_of_old_that_new_may_see(address: str, clients: list[str]) -> None:
    there = channel(address=address)
    for words in (shlex.split(nfs.export_targets(there).text)[3:], shlex.split(nfs.unexport_targets(there).text)[1:]):
        assert words[0].split() == clients
        assert words[2::2] == [HOSTILE, "/srv/space"]
    exporting = next(each for each in nfs.mounting_steps(there, "postgres") if each.id == step_ids.EXPORT_TARGET)
    client = clients[0] if len(clients) == 1 else "…"
    assert [shlex.split(each)[-1] for each in exporting.native] == [
        f"{client}:{folder}" for folder in (HOSTILE, "/srv/space")
    ]
    asking = next(each for each in nfs.mounting_steps(there, "postgres") if each.id == exporting.reads)
    assert (asking.side, asking.user, asking.call) == ("old", "postgres", f"print_source_address {address}")


def test_root_on_old_is_nobody_more_than_the_database_user_on_new() -> None:
    """And of a file system that holds more than the target nothing else is handed out."""
    exporting = next(
        each for each in nfs.mounting_steps(channel(), "postgres") if each.reads == step_ids.FIND_SOURCE_ADDRESS
    )
    options = shlex.split(exporting.call)[2].split(",")
    assert {"root_squash", "all_squash", "secure", "sync"} <= set(options)
    assert not {"no_root_squash", "no_subtree_check", "insecure", "async"} & set(options)
    assert ",subtree_check,anonuid=" in exporting.native[0]


def test_every_export_bears_a_number_of_its_own() -> None:
    numbers = shlex.split(nfs.export_targets(channel()).text)[4::2]
    assert len(set(numbers)) == 2
    assert {str(UUID(number)) for number in numbers} == set(numbers)


def test_what_is_shown_is_what_a_person_would_type() -> None:
    serving, *_, mounting = nfs.mounting_steps(channel(folder="/srv/a"), "postgres")
    assert serving.native == ("rpc.nfsd -N 3 8", "rpc.mountd")
    options = nfs.mount_options("vers=4.2")
    assert mounting.native[0] == f"mount -t nfs -o {options} 10.0.0.2:/srv/a /run/pghaul-copy-01/data"
    assert mounting.undo.endswith(": `umount /run/pghaul-copy-01/data && umount /run/pghaul-copy-01/16385`")
    assert nfs.start_nfs_server(channel("vers=3,proto=udp")).text == "serve_nfs /run/pghaul-copy-01 3 -N 4 -u"


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("vers=4.2,nconnect=4", "vers=4.2,nconnect=4,soft,timeo=300,retrans=2,retry=0,noatime,nodev,nosuid,noexec"),
        ("vers=3", "vers=3,soft,timeo=300,retrans=2,retry=0,noatime,nodev,nosuid,noexec,nolock"),
    ],
)
def test_a_mount_is_soft_and_version_3_locks_nothing(variant: str, expected: str) -> None:
    assert nfs.mount_options(variant) == expected
    assert shlex.split(nfs.mount_targets(channel(variant), "postgres").text)[3] == expected


def test_the_best_mount_is_tried_with_more_streams_and_never_packed() -> None:
    rates = {"vers=4.2": 120e6, "vers=4.2,nconnect=4": 200e6, "vers=3": 150e6}
    tried: list[Transport] = []

    def measure(transport: Transport) -> Probe:
        tried.append(transport)
        return sampled(transport, rates[transport.mount] * transport.streams**0.2 if transport.mount else 100e6)

    others = [Transport(route=Route.NFS, mount=mount) for mount in rates]
    search(measure, Transport(), (3, 2, 7), {}, lambda: others)
    over_nfs = [transport for transport in tried if transport.route is Route.NFS]
    assert {transport.mount for transport in over_nfs} == set(rates)
    assert all(not transport.compression for transport in over_nfs)
    assert Transport(route=Route.NFS, mount="vers=4.2,nconnect=4", streams=8) in over_nfs
    assert Transport(route=Route.NFS, mount="vers=4.2", streams=2) not in over_nfs


def test_mounts_are_tried_where_both_kernels_can() -> None:
    found = mounts(side(facts("old")), side(facts("new")), root_on_old=True, root_on_new=True)
    assert found.variants == MOUNTS
    (left_out,) = found.left_out
    assert {"UDP", "old"} <= set(left_out.split())
    with_udp = side(facts("old"), replace(ABLE, nfs_udp=True)), side(facts("new"), replace(ABLE, nfs_udp=True))
    assert mounts(*with_udp, root_on_old=True, root_on_new=True).variants == (*MOUNTS, UDP)


def test_what_stands_in_the_way_is_said() -> None:
    here, there, both, said = side(facts("old")), side(facts("new")), (True, True), set()
    for old_facts, new_facts, root, named in (
        (side(facts("old"), replace(ABLE, nfs=False)), there, both, {"old", "NFS"}),
        (here, side(facts("new"), replace(ABLE, nfsd=False)), both, {"new", "NFS"}),
        (side(facts("old"), ABLE, "mount.nfs"), there, both, {"old", "NFS", "mount.nfs"}),
        (here, side(facts("new"), ABLE, "exportfs"), both, {"new", "NFS", "exportfs"}),
        (here, there, (False, True), {"old", "NFS", "root"}),
        (here, there, (True, False), {"new", "NFS", "root"}),
    ):
        found = mounts(old_facts, new_facts, root_on_old=root[0], root_on_new=root[1])
        assert found.variants == ()
        (left_out,) = found.left_out
        assert named - set(re.split(r"[\s,:;]+", left_out)) == set()
        said.add(left_out)
    assert len(said) == 6


def test_what_is_not_known_is_tried() -> None:
    unknown = Kernel(nfs=None, nfsd=None, nfs_udp=None)
    for kernel in (None, unknown):
        both = side(facts("old"), kernel), replace(side(facts("new"), kernel), tools=())
        assert mounts(*both, root_on_old=True, root_on_new=True).variants == MOUNTS
