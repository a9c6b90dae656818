"""How storage is laid out: the block layer's files, md's chunks, the geometry of file systems; recorded ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.block_devices import (
    arrays_with_queues,
    devices_with_queues,
    is_one_disk,
    parse_arrays,
    parse_block_queues,
)
from core.facts.file_systems import Geometry, parse_geometries, parse_superblock, parse_xfs_info, with_geometries
from core.facts.model import Array, BlockDevice, FileSystem

DATA = Path(__file__).parents[2] / "data"


def sample(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


# The first lines are from a virtual machine's own disk, the others in the form of the kernel's documentation.
QUEUES = """vda queue/write_cache write back
vda queue/physical_block_size 4096
vda queue/minimum_io_size 4096
vda queue/optimal_io_size 0
vda alignment_offset 0
cciss!c0d0 queue/write_cache write through
cciss!c0d0p1 start 63
cciss!c0d0p1 alignment_offset 3584
md3 queue/minimum_io_size 65536
md3 queue/optimal_io_size 524288
md3 md/stripe_cache_size 256
dm-0 dm/name vg-data
md3 md/group_thread_cnt 0
"""


def test_the_block_layer_of_each_device() -> None:
    names = ("vda", "cciss/c0d0", "cciss/c0d0p1", "sdz")
    vda, controller, part, unknown = devices_with_queues(
        [BlockDevice(name, "disk", 1) for name in names], parse_block_queues(QUEUES)
    )
    assert (vda.write_cache, vda.physical_block_bytes, vda.optimal_io_bytes) == ("write back", 4096, None)
    assert (vda.minimum_io_bytes, vda.alignment_offset_bytes, vda.start_bytes) == (4096, 0, None)
    assert controller.write_cache == "write through"
    assert (part.start_bytes, part.alignment_offset_bytes) == (63 * 512, 3584)
    assert unknown == BlockDevice("sdz", "disk", 1)
    (mapped,) = devices_with_queues([BlockDevice("dm-0", "lvm", 1)], parse_block_queues(QUEUES))
    assert mapped.mapper == "vg-data"


def test_the_knobs_of_an_array() -> None:
    (array,) = arrays_with_queues([Array("md3", "raid5", "active", (), False)], parse_block_queues(QUEUES))
    assert (array.stripe_cache_pages, array.write_threads) == (256, 0)


@pytest.mark.parametrize("text", ["hello\n", QUEUES + "vda queue/write_cache\n"])
def test_block_layer_that_is_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^block queues: "):
        parse_block_queues(text)


def test_no_block_devices() -> None:
    assert parse_block_queues("") == {}


@pytest.mark.parametrize(
    ("name", "chunks", "layouts", "members", "data"),
    [
        (
            "02-doc-raid1-raid5-10disks-insights-core.txt",
            [None, None, 1024],
            [None, None, "algorithm 2"],
            [2, 2, 10],
            9,
        ),
        ("05-synology-reshape-f28490408615.txt", [64, None, None], ["algorithm 2", None, None], [3, 4, 4], None),
        ("08-mail-wrapped-lines-f23111203891.txt", [512], ["algorithm 2"], [8], 7),
        ("raid10-near-resync.txt", [64], ["2 near-copies"], [8], 4),
    ],
)
def test_chunk_layout_and_members(
    name: str, chunks: list[int | None], layouts: list[str | None], members: list[int], data: int | None
) -> None:
    arrays = parse_arrays(sample(f"mdstat/{name}"))
    assert [array.chunk_bytes for array in arrays] == [chunk and chunk * 1024 for chunk in chunks]
    assert [array.layout for array in arrays] == layouts
    assert [array.raid_devices for array in arrays] == members
    assert arrays[-1].data_devices == data


def test_the_chunk_of_a_bitmap_is_not_the_array_s() -> None:
    (array,) = parse_arrays(
        "md0 : active raid1 sdb1[1] sda1[0]\n      976630464 blocks super 1.2 [2/2] [UU]\n"
        "      bitmap: 3/8 pages [12KB], 65536KB chunk\n"
    )
    assert (array.chunk_bytes, array.layout, array.raid_devices, array.data_devices) == (None, None, 2, None)


def test_a_striped_array_without_parity() -> None:
    (array,) = parse_arrays("md0 : active raid0 sde[0] sdf[1]\n      2093056 blocks super 1.2 512k chunks\n")
    assert (array.chunk_bytes, array.raid_devices, array.data_devices) == (524288, 2, 2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("02-rhel7-early-no-comma-before-ftype-insights-core.txt", Geometry(4096, 0, 0)),
        ("05-mkfs-zh-realtime-none-localized-f12800676718.txt", Geometry(4096, 0, 0)),
        ("xfs_info-6.1-su-64k-sw-4.txt", Geometry(4096, 65536, 262144)),
    ],
)
def test_recorded_xfs_info(name: str, expected: Geometry) -> None:
    assert parse_xfs_info(sample(f"xfs_info/{name}")) == expected


@pytest.mark.parametrize(
    ("name", "block", "unit", "width", "extents"),
    [
        ("02-clean-with-errors-f1209157667.txt", 4096, 0, 0, True),
        ("dumpe2fs-1.47-stride-16-width-64.txt", 1024, 16384, 65536, True),
        ("tune2fs-1.47-ext3.txt", 1024, 0, 0, False),
    ],
)
def test_recorded_superblocks(name: str, block: int, unit: int, width: int, extents: bool) -> None:
    found = parse_superblock(sample(f"tune2fs/{name}"))
    assert (found.block_bytes, found.stripe_unit_bytes, found.stripe_width_bytes) == (block, unit, width)
    assert ("extent" in found.features, "has_journal" in found.features) == (extents, True)


@pytest.mark.parametrize("text", ["", "xfs_info: cannot open mx: Is a directory\n", "data = bsize=4096 blocks=9"])
def test_xfs_info_that_is_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^xfs_info: "):
        parse_xfs_info(text)


@pytest.mark.parametrize("text", ["", "Block size:               4096\n", "Filesystem features:      extent\n"])
def test_a_superblock_that_is_none(text: str) -> None:
    with pytest.raises(ParseError, match=r"^dumpe2fs: "):
        parse_superblock(text)


def test_geometries_by_device() -> None:
    text = (
        f"geometry of /dev/sda1\n{sample('tune2fs/tune2fs-1.47-ext3.txt')}\n"
        f"geometry of /dev/md0\n{sample('xfs_info/xfs_info-6.1-su-64k-sw-4.txt')}"
    )
    found = parse_geometries(text)
    assert list(found) == ["/dev/sda1", "/dev/md0"]
    assert found["/dev/md0"] == Geometry(4096, 65536, 262144)
    assert found["/dev/sda1"].block_bytes == 1024
    # The last one was cut off by the deadline: it is not known, the others are.
    assert list(parse_geometries(text[: text.index("data     =")])) == ["/dev/sda1"]
    assert parse_geometries("") == {}
    with pytest.raises(ParseError, match=r"^geometry: "):
        parse_geometries("who is there\n")


PLAIN = FileSystem("/srv", "/dev/md0", "xfs", ("rw", "relatime"), 100, 50)


def test_a_file_system_takes_its_geometry_from_the_tool_or_from_its_options() -> None:
    (told,) = with_geometries([PLAIN], {"/dev/md0": Geometry(4096, 65536, 262144, ("x",))})
    assert (told.block_bytes, told.stripe_unit_bytes, told.stripe_width_bytes) == (4096, 65536, 262144)
    assert told.features == ("x",)
    # as the kernel prints it for the file system of xfs_info-6.1-su-64k-sw-4.txt
    (shown,) = with_geometries([replace(PLAIN, options=("rw", "sunit=128", "swidth=512", "noquota"))], {})
    assert (shown.stripe_unit_bytes, shown.stripe_width_bytes, shown.block_bytes) == (65536, 262144, None)
    (none,) = with_geometries([PLAIN], {})
    assert (none.stripe_unit_bytes, none.stripe_width_bytes) == (0, 0)
    unknown = replace(PLAIN, options=("rw", "noalign"))
    assert with_geometries([unknown], {}) == (unknown,)
    other = replace(PLAIN, kind="ext4")
    assert with_geometries([other], {}) == (other,)


@pytest.mark.parametrize(
    ("name", "kind", "model", "one"),
    [
        ("sda", "disk", "ST9146852SS", True),
        ("nvme0n1", "disk", "Samsung SSD 990 PRO", True),
        ("nvme0n1", "disk", None, True),
        ("nvme0n1", "disk", "Amazon Elastic Block Store", False),
        ("sda", "disk", None, False),
        ("sda", "disk", "PERC H710P", False),
        ("sda", "disk", "QEMU HARDDISK", False),
        ("sda", "disk", "PersistentDisk", False),
        ("sda1", "part", "ST9146852SS", False),
        ("vda", "disk", "Virtio", False),
        ("loop0", "loop", None, False),
    ],
)
def test_what_is_one_disk(name: str, kind: str, model: str | None, one: bool) -> None:
    assert is_one_disk(BlockDevice(name, kind, 1, model=model)) is one
