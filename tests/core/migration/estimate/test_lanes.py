"""Tablespaces on disks of their own are lanes side by side; what they share they share."""

from dataclasses import replace

import pytest

from core.facts.model import BlockDevice, Facts, FileSystem
from core.migration.estimate import simulated, spec_of
from core.migration.estimate.draws import span
from core.migration.estimate.lanes import Lanes, lanes_of, of_all
from core.migration.estimate.spec import ClusterSpec, CopySpec, LinkSpec, NewSpec, OldSpec, Spec
from core.migration.model.plan import Phase
from core.migration.model.probe import Quantity
from tests.core.migration.builders import DATA, cluster, move, new, old, probe, space

GIGA = 1e9


def on_disks(facts: Facts, *mounts: tuple[str, str]) -> Facts:
    """Mounts on partitions, `sdb1` of the disk `sdb`."""
    names = dict.fromkeys(name for _, name in mounts)
    devices = [BlockDevice(name, "part", 1, (name.rstrip("0123456789"),)) for name in names]
    disks = [BlockDevice(each, "disk", 1) for each in dict.fromkeys(name.rstrip("0123456789") for name in names)]
    systems = [FileSystem(path, f"/dev/{name}", "ext4", (), 10**13, 10**12) for path, name in mounts]
    return replace(facts, block_devices=(*devices, *disks), file_systems=tuple(systems))


MADE = cluster(
    size_bytes=round(10 * GIGA), tablespaces=(space("/srv/fast", 16400), space("/srv/slow", 16401, 3_000_000_000))
)
MOVED = move(tablespace_targets={"/srv/fast": "/new/fast", "/srv/slow": "/new/slow"})


def test_folders_on_one_disk_are_one_lane() -> None:
    on_old = on_disks(old(MADE), ("/srv", "sda1"), ("/srv/fast", "sdb1"), ("/srv/slow", "sda2"))
    on_new = on_disks(new(), ("/", "vda1"))
    assert lanes_of(MOVED, MADE, on_old, on_new) == Lanes(6 * GIGA, 10 * GIGA, 4 * GIGA)


def test_lanes_of_two_disks_meet_on_a_disk_below_both() -> None:
    on_old = on_disks(old(MADE), ("/srv", "sda1"), ("/srv/fast", "sdb1"), ("/srv/slow", "sdc1"))
    both = BlockDevice("sdc1", "raid1", 1, ("sda", "sdb"))
    devices = tuple(both if each.name == "sdc1" else each for each in on_old.block_devices)
    assert lanes_of(MOVED, MADE, replace(on_old, block_devices=devices), None) == Lanes(10 * GIGA, None, 4 * GIGA)


def test_nothing_is_known_of_what_lies_on_no_disk_of_the_facts_and_one_folder_is_no_lane() -> None:
    assert lanes_of(MOVED, MADE, old(MADE), new()) == Lanes(None, None, 4 * GIGA)
    alone = cluster()
    assert lanes_of(move(), alone, on_disks(old(alone), (DATA, "sda1")), new()) == Lanes()


def copied(spec: Spec) -> float:
    return span(next(part.seconds for part in simulated(spec)[0].parts if part.name == "copy")).likely


def fullest(spec: Spec, size: float) -> Spec:
    """So many bytes in the largest folder, and on the disk of either side that holds most."""
    cluster = replace(spec.cluster, largest_folder_bytes=size, old_disk_bytes=size, new_disk_bytes=size)
    return replace(spec, cluster=cluster)


def test_a_copy_takes_as_long_as_its_fullest_disk_or_the_network_that_all_share() -> None:
    base = Spec(
        ClusterSpec(1000 * GIGA, files=0), OldSpec(100e6), NewSpec(1e9), LinkSpec(8e9, 1), CopySpec(None, None, 1e9)
    )
    assert copied(fullest(base, 500 * GIGA)) == pytest.approx(copied(base) / 2, rel=0.01)
    narrow = replace(base, link=LinkSpec(0.8e9, 1))
    assert copied(fullest(narrow, 500 * GIGA)) == pytest.approx(1000 * GIGA / (0.94 * 100e6), rel=0.05)
    assert copied(fullest(base, 50 * GIGA)) == pytest.approx(copied(base) / 3, rel=0.01), "three go at a time"


def test_a_sample_of_one_lane_stands_for_all_as_far_as_the_links_carry_them() -> None:
    links = [(100e6, 2.0), (150e6, 1.0), (300e6, 2.0)]
    assert of_all(90e6, links) == pytest.approx(0.9 * 150e6)
    assert of_all(90e6, []) == 90e6
    assert of_all(90e6, [(100e6, 1.0), (150e6, 1.0)]) == pytest.approx(90e6)


def test_the_spec_of_a_move_has_its_lanes_and_a_sample_that_stands_for_them() -> None:
    on_old = on_disks(old(MADE), ("/srv", "sda1"), ("/srv/fast", "sdb1"), ("/srv/slow", "sdc1"))
    on_new = on_disks(new(), ("/", "vda1"), ("/new/fast", "vdb1"), ("/new/slow", "vdc1"))
    rates = {Quantity.READ: 100e6, Quantity.WIRE: 1e9, Quantity.SSH: 500e6, Quantity.WRITE: 400e6}
    probes = [probe(quantity, rate) for quantity, rate in {**rates, Quantity.END_TO_END: 80e6}.items()]
    spec = spec_of(MOVED, on_old, probes, new=on_new)
    assert (spec.cluster.largest_folder_bytes, spec.cluster.old_disk_bytes) == (4 * GIGA, 4 * GIGA)
    assert spec.copy.observed_bytes_per_second == pytest.approx(80e6 * 2.5)
    without = spec_of(MOVED, on_old, [each for each in probes if each.quantity is not Quantity.WIRE], new=on_new)
    assert without.copy.observed_bytes_per_second == pytest.approx(80e6), "what they share may be full"


def stage(spec: Spec, name: Phase) -> float:
    """The likely seconds of a stage of the move with pre-copy passes."""
    return span(next(part.seconds for part in simulated(spec)[1].parts if part.name == name)).likely


@pytest.mark.parametrize("observed", [None, 160e6], ids=["links", "sample"])
def test_pre_copy_passes_copy_one_folder_after_the_other_and_gain_nothing_by_more_disks(observed: float | None) -> None:
    """A sample stands for all lanes (`of_all`), so what it gained by two of them is taken back for the passes."""
    base = Spec(
        ClusterSpec(1000 * GIGA, files=0, change_bytes_per_hour=0.0),
        OldSpec(100e6),
        NewSpec(1e9),
        LinkSpec(8e9, 1),
        CopySpec(None if observed is None else observed / 2, None, 1e9),
    )
    two = replace(fullest(base, 500 * GIGA), copy=replace(base.copy, observed_bytes_per_second=observed))
    assert stage(two, Phase.WARM) == pytest.approx(stage(base, Phase.WARM), rel=0.02)
    assert copied(two) == pytest.approx(copied(base) / 2, rel=0.02)


def test_a_whole_copy_that_was_made_tells_what_its_passes_took() -> None:
    base = Spec(ClusterSpec(1000 * GIGA, files=0), OldSpec(100e6), NewSpec(1e9), LinkSpec(8e9, 1), CopySpec(80e6))
    made = replace(base, history=replace(base.history, whole_copy=True))
    assert stage(fullest(made, 500 * GIGA), Phase.WARM) == pytest.approx(stage(made, Phase.WARM), rel=0.02)
