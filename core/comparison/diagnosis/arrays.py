"""Linux software RAID below a volume: mirrors, the one write thread, and stripes that the file system knows.

How md works is told by its maintainers in the kernel's Documentation/admin-guide/md.rst and md(4): every level with
redundancy has one kernel thread that carries out its writes; RAID-0 and linear need none.
"""

from core import units
from core.comparison.diagnosis.observation import Observation, observed
from core.comparison.diagnosis.storage import Storage
from core.facts.model import Array, FileSystem
from core.servers.shell import command

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
