"""The disks, Linux software RAID, and what the kernel does with them."""

from collections.abc import Iterable

from core import units
from core.comparison.diagnosis.observation import Figure, Observation, Storage, observed
from core.facts.block_devices import is_one_disk
from core.facts.model import Array, BlockDevice, FileSystem
from core.servers.shell import command

FAR_UNDER = 0.5
"""A disk writes about as fast as it reads; at under half of that something holds the writes up."""
_SORTING = {"cfq", "bfq"}
"""Schedulers that order and idle for the sake of a moving head."""
_PASSING = {"none", "noop"}
"""Schedulers that leave the order to the device."""
_KERNELS_OWN = 128 * 1024
"""The kernel's own read-ahead where nobody set another (VM_READAHEAD_PAGES)."""
_CACHED_LOSS = 0.8
"""Reading through the cache costs a little; more than this is what read-ahead should have prevented."""


def writes_far_under_reads(storage: Storage) -> Observation | None:
    """Long files are written at less than half the rate that they are read with: most often a write cache is off."""
    pairs = [(read, write) for read, write in storage.alike() if write.value < FAR_UNDER * read.value]
    if not pairs:
        return None
    # the worst pair shows it best
    read, write = min(pairs, key=lambda pair: pair[1].value / pair[0].value)
    through = [disk for disk in storage.disks if disk.write_cache == "write through"]
    parity = next((array for array in storage.arrays if array.level in ("raid4", "raid5", "raid6")), None)
    return observed(
        [
            (
                f"Sequential writes reach {write.text}, sequential reads {read.text}. The ratio is "
                f"{units.ratio(write.value / read.value)}."
            ),
            *(
                (
                    f"The write cache of {disk.name} is off, or is protected against power failures (the kernel "
                    "reports write through)."
                )
                for disk in through
            ),
            (f"{parity.name} is {parity.level}. To write part of a stripe, it must read the stripe first.")
            if parity is not None
            else "",
        ],
        [
            *(f"Turn on the disk's write cache: `{_hdparm(disk)}`." for disk in through if _has_own_cache(disk)),
            "On a RAID controller, check whether its cache is in write-through mode, and whether its battery works.",
            "Without a battery, a power failure loses the contents of a write cache. If that is a risk, leave it off.",
            f"Use RAID-10 instead of {parity.level}, or a larger stripe cache." if parity is not None else "",
        ],
        write,
        read,
    )


def _has_own_cache(disk: BlockDevice) -> bool:
    # hdparm reaches a disk, not what a controller or a hypervisor shows as one
    return is_one_disk(disk) and disk.rotational is True


def _hdparm(disk: BlockDevice) -> str:
    return command("hdparm", "-W1", f"/dev/{disk.name}").shown


def wrong_scheduler(storage: Storage) -> Observation | None:
    """A scheduler for moving heads over a disk that has none, or no scheduler over a head that moves."""
    wrong = [(disk, better) for disk in storage.disks if (better := _better_scheduler(disk)) is not None]
    if not wrong:
        return None
    random = [figure for figure in storage.figures if figure.pattern in ("randread", "randwrite") and _is_iops(figure)]
    return observed(
        [
            *(f"{_kind(disk)} has the I/O scheduler {disk.scheduler}." for disk, _ in wrong),
            *(f"Measured with this scheduler: {figure.text}." for figure in random),
        ],
        [
            *(f"Set the scheduler to {better}: `{_set_scheduler(disk, better)}`." for disk, better in wrong),
            "Measure again. If it is faster, make the setting permanent with a udev rule.",
        ],
        *random,
    )


def _better_scheduler(disk: BlockDevice) -> str | None:
    if disk.rotational is False and disk.scheduler in _SORTING:
        return "none"
    # a controller sorts for its own disks: there none is right
    if disk.rotational is True and disk.scheduler in _PASSING and is_one_disk(disk):
        return "mq-deadline"
    return None


def _kind(disk: BlockDevice) -> str:
    model = f" ({disk.model})" if disk.model else ""
    return f"{disk.name}{model}, {'a rotating disk' if disk.rotational else 'a non-rotating disk'},"


def _set_scheduler(disk: BlockDevice, scheduler: str) -> str:
    # cciss/c0d0 is cciss!c0d0 in /sys
    folder = disk.name.replace("/", "!")
    return f"{command('echo', scheduler)} > {command(f'/sys/block/{folder}/queue/scheduler')}"


def _is_iops(figure: Figure) -> bool:
    return figure.metric.endswith("iops")


def small_read_ahead(storage: Storage) -> Observation | None:
    """Reading ahead of a sequential reader stays so small that not all disks work for it."""
    device, array = storage.device, storage.array
    read = _slowest(figure for figure in storage.sequential("read") if not figure.direct)
    if device is None or device.read_ahead_bytes is None or read is None:
        return None
    direct = _slowest(figure for figure in storage.sequential("read") if figure.direct and _large_blocks(figure))
    data = array.data_devices if array is not None else None
    stripe = array.chunk_bytes * data if array is not None and array.chunk_bytes and data else None
    loses = direct is not None and read.value < _CACHED_LOSS * direct.value
    under_a_stripe = stripe is not None and device.read_ahead_bytes < stripe and (direct is None or loses)
    if not under_a_stripe and not (loses and device.read_ahead_bytes <= _KERNELS_OWN):
        return None
    wanted = max(4 * (stripe or 0), 4 * 2**20)
    return observed(
        [
            f"The read-ahead of {device.name} is {units.size(device.read_ahead_bytes)}, less than one stripe of "
            f"{array.name} ({units.size(stripe)})."
            if stripe and array is not None
            else f"The read-ahead of {device.name} is {units.size(device.read_ahead_bytes)}.",
            f"Read through the page cache: {read.text}.",
            f"Read with direct I/O: {direct.text}." if direct is not None else "",
        ],
        [
            f"Set the read-ahead to {units.size(wanted)}: `{_set_read_ahead(device, wanted)}`.",
            "Measure again. If it is faster, make the setting permanent with a udev rule.",
        ],
        read,
        *((direct,) if direct is not None else ()),
    )


def _set_read_ahead(device: BlockDevice, size_bytes: int) -> str:
    return command("blockdev", "--setra", size_bytes // 512, f"/dev/{device.name}").shown


def _large_blocks(figure: Figure) -> bool:
    block = figure.workload.parameters.get("block_bytes", 0)
    return isinstance(block, int) and block >= 256 * 1024


def _slowest(figures: Iterable[Figure]) -> Figure | None:
    return min(figures, key=lambda figure: figure.value, default=None)


def misaligned_partition(storage: Storage) -> Observation | None:
    """A partition that starts inside a physical block: a write of one block touches two."""
    disks = {disk.name: disk for disk in storage.devices}
    said = []
    for part in (device for device in storage.devices if device.kind == "part"):
        disk = next((disks[name] for name in part.parents if name in disks), None)
        block = disk.physical_block_bytes if disk is not None else None
        if disk is None or not block or part.start_bytes is None or part.start_bytes % block == 0:
            continue
        said.append(
            f"{part.name} starts at byte {units.count(part.start_bytes)} of {disk.name}. The "
            f"disk has physical blocks of {units.size(block)}, so the start is off by "
            f"{units.size(part.start_bytes % block)}."
        )
    if not said:
        return None
    return observed(said, ["Create the partition again with its start at 1 MiB, and copy the data back."])


# Linux software RAID below a volume: mirrors, the one write thread, and stripes that the file system knows.
#
# How md works is told by its maintainers in the kernel's Documentation/admin-guide/md.rst and md(4): every level with
# redundancy has one kernel thread that carries out its writes; RAID-0 and linear need none.

_ONE_THREAD = {"raid1", "raid10", "raid4", "raid5", "raid6"}
_HELPERS = {"raid4", "raid5", "raid6"}
"""Levels that can be given more write threads: group_thread_cnt, since Linux 3.12."""
SATURATED = 0.9
"""Cores that a thread keeps busy from which on it is taken to be what bounds the work."""
ONE_ROTATING_DISK = 300e6
"""Bytes a second that no single rotating disk reads (the fastest of 2024, Seagate's Mach.2 apart, reach 285 MB/s)."""
_XFS_SECTOR = 512
_WANTED_PAGES = 4096


def mirror_reads_like_one_disk(storage: Storage) -> Observation | None:
    """RAID-1 of rotating disks whose sequential read is no more than one of them gives."""
    array = next((array for array in storage.arrays if array.level == "raid1"), None)
    reads = storage.sequential("read")
    # a mirror that has lost a member reads like one disk with good reason
    if array is None or array.degraded or not array.raid_devices or array.raid_devices < 2 or not reads:
        return None
    members = [disk for disk in storage.disks if disk.rotational is not None]
    fastest = max(reads, key=lambda figure: figure.value)
    # what a solid-state disk reads alone nobody can say beforehand
    if not members or not all(disk.rotational for disk in members) or fastest.value > ONE_ROTATING_DISK:
        return None
    return observed(
        [
            (f"{array.name} is a RAID-1 of {array.raid_devices} rotating disks ({', '.join(array.devices)})."),
            (
                f"Its sequential read reaches {fastest.text}, as much as one such disk. "
                f"{array.raid_devices} disks could reach {array.raid_devices} times as much."
            ),
        ],
        [
            (
                "Rebuild it as RAID-10 with the far layout (`mdadm --level=10 --layout=f2`), which reads "
                "from all disks like RAID-0. A RAID-1 reads one long file from one disk, and only "
                "several readers use all disks."
            ),
        ],
        fastest,
    )


def write_thread_saturated(storage: Storage) -> Observation | None:
    """The one kernel thread of an array kept a core busy while the figures were taken."""
    busy = [figure for figure in storage.measured("array_thread_cores") if figure.value >= SATURATED]
    array = next((array for array in storage.arrays if array.level in _ONE_THREAD), None)
    if not busy or array is None:
        return None
    worst = max(busy, key=lambda figure: figure.value)
    written = next((one for one in storage.figures if one.workload is worst.workload and _is_write(one.metric)), None)
    return observed(
        [
            f"{array.name} is {array.level}, for which one kernel thread does all writes.",
            f"That thread kept {units.count(worst.value)} CPU cores busy ({worst.workload.title}).",
            f"Throughput at that time: {written.text}." if written is not None else "",
            *_knobs(array),
        ],
        [
            *_more_threads(array),
            ("Stripe RAID-0 over several smaller arrays (RAID-10 of pairs, RAID-50). Each of them has its own thread."),
            (
                "Keep interrupts away from the CPU core on which the thread runs. With hyper-threading, keep them away "
                "from its sibling too."
            ),
        ],
        worst,
        *((written,) if written is not None else ()),
    )


def _is_write(metric: str) -> bool:
    return metric in ("write_iops", "write_bytes_per_second")


def _knobs(array: Array) -> list[str]:
    said = []
    if array.level in _HELPERS and array.write_threads is not None:
        said.append(f"group_thread_cnt is {array.write_threads}.")
    if array.level in _HELPERS and array.stripe_cache_pages is not None:
        said.append(f"stripe_cache_size is {array.stripe_cache_pages}.")
    return said


def _more_threads(array: Array) -> list[str]:
    folder = f"/sys/block/{array.name}/md"
    tries = []
    # 0 is none besides the array's own thread
    if array.level in _HELPERS and array.write_threads == 0:
        tries.append(f"Give the array more write threads: `echo 4 > {folder}/group_thread_cnt`.")
    if array.level in _HELPERS and array.stripe_cache_pages is not None and array.stripe_cache_pages < _WANTED_PAGES:
        tries.append(f"Enlarge its stripe cache: `echo {_WANTED_PAGES} > {folder}/stripe_cache_size`.")
    return tries


def misaligned_stripes(storage: Storage) -> Observation | None:
    """XFS or ext4 on a striped array whose chunk and stripe it does not know, or knows wrongly."""
    system, array = storage.system, storage.array
    if system is None or array is None or system.kind not in ("xfs", "ext4"):
        return None
    unit, chunk, data = system.stripe_unit_bytes, array.chunk_bytes, array.data_devices
    if unit is None or system.stripe_width_bytes is None or not chunk or not data:
        return None
    if (unit, system.stripe_width_bytes) == (chunk, chunk * data):
        return None
    names = ("sunit", "swidth") if system.kind == "xfs" else ("stride", "stripe width")
    return observed(
        [
            (
                f"{array.name} has chunks of {units.size(chunk)} on {data} data disks, so its "
                f"stripes have {units.size(chunk * data)}."
            ),
            (
                f"{system.mount_point} ({system.kind}) was created with {names[0]} {_size(unit)} "
                f"and {names[1]} {_size(system.stripe_width_bytes)}."
            ),
        ],
        [
            *_geometry(system, chunk, data),
            "Expect faster writes of long, new files. Blocks that the database changes in place gain little.",
        ],
    )


def _size(number: int) -> str:
    return units.size(number) if number else "0"


def _geometry(system: FileSystem, chunk: int, data: int) -> list[str]:
    if system.kind == "xfs":
        # mount options are in sectors of 512 bytes, mkfs.xfs's in bytes: mixing them up is the usual mistake
        sectors = f"sunit={chunk // _XFS_SECTOR},swidth={chunk * data // _XFS_SECTOR}"
        return [
            f"Mount it with the options {sectors}. XFS stores these values.",
            (
                "Or create the file system again: "
                f"`{command('mkfs.xfs', '-d', f'su={chunk // 1024}k,sw={data}', system.device).shown}`."
            ),
        ]
    if not system.block_bytes:
        return ["Set stride to the chunk and stripe_width to the stripe, both in blocks (`tune2fs -E`)."]
    blocks = f"stride={chunk // system.block_bytes},stripe_width={chunk * data // system.block_bytes}"
    return [
        (
            "Set the geometry, even while the file system is mounted: "
            f"`{command('tune2fs', '-E', blocks, system.device).shown}`."
        )
    ]
