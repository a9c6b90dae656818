"""Block devices: disks, md arrays, what the kernel's block layer and the disks say of them, and what lies on what."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from core.facts.host_environment import Dataset, DiskHealth
from core.facts.model import Array, BlockDevice, Facts, FileSystem
from core.facts.parsing import first_line, lines_of, parse_whole_number, unreadable_error
from core.facts.sections import Section

# Linux software RAID, as /proc/mdstat shows it.
#
# A kernel without md has no such file and no arrays. The format is that of `md_seq_show` in the kernel's
# drivers/md/md.c: a line `NAME : STATE LEVEL MEMBERS`, then lines that belong to it until the next such line. While it
# is reshaped an array has the level, layout and members that it is to have; `(F)` and `_` say who takes no part in it.

# the name may be a link's of /dev/md that a DBA chose; the states are those of md.c, old spellings too
_HEAD = re.compile(r"^\s*(?P<name>md\S*|\w+) : (?P<state>active|inactive|broken|read-only|readonly)\b(?P<rest>.*)$")
_MEMBER = re.compile(r"(?P<device>[^\s\[\]]{1,64})\[[0-9]{1,6}\](?P<flags>(?:\([A-Z]\))*)")
_LEVEL = re.compile(r"\b(?:raid[0-9]+|linear|multipath|faulty|container)\b|\bexternal:\S+")
# `[3/2]`: made for three, two of them at work
_COUNTS = re.compile(r"\[([0-9]{1,6})/([0-9]{1,6})\]")
_CHUNK = re.compile(r"\b([0-9]{1,9})[kK] chunks?\b")
_LAYOUT = re.compile(r"\b[0-9]+ (?:near|far|offset)-copies\b|\balgorithm [0-9]+\b")
_ACTION = re.compile(r"\b(recovery|resync|reshape|check|repair)\s*=\s*(?:([0-9]{1,3}(?:\.[0-9]{1,6})?)%|[A-Z]+)")
_FINISH = re.compile(r"\bfinish=([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?min")
# whoever pasted it lost the end of the line before
_GLUED = re.compile(r"(?<=\])[ \t]*(?=md\w{1,20} : (?:in)?active )")
# lines of the file around its arrays: with these alone the host has md, and no array
_FRAME = re.compile(r"^\s*(Personalities\s*:|unused devices\s*:|read_ahead\b|Event:)")


def parse_arrays(text: str) -> tuple[Array, ...]:
    """The arrays of /proc/mdstat; none where it lists none, or where the text is empty.

    Raises:
        ParseError: the text is not empty and nothing in it is from /proc/mdstat.
    """
    blocks: list[list[str]] = []
    framed = False
    for line in lines_of(_GLUED.sub("\n", text)):
        if _HEAD.match(line):
            blocks.append([line])
        elif _FRAME.match(line):
            # an empty file of a kernel without arrays still has its frame
            framed = True
        elif blocks:
            blocks[-1].append(line)
    if not blocks and not framed and text.strip():
        raise unreadable_error(
            "mdstat", "a line Personalities or an array such as 'md0 : active raid1'", first_line(text)
        )
    return tuple(_array(block) for block in blocks)


def _array(lines: list[str]) -> Array:
    """One array from its lines, joined, as a mail or a terminal may have wrapped them."""
    head = _HEAD.match(lines[0])
    if head is None:
        raise unreadable_error("mdstat", "an array", lines[0])
    joined = " ".join([head["rest"], *lines[1:]])
    members = [(found["device"], found["flags"]) for found in _MEMBER.finditer(joined)]
    # a member's name may hold the word of a level: it is looked for ahead of them alone
    before_members = joined[: found.start()] if (found := _MEMBER.search(joined)) else joined
    level, counts = _LEVEL.search(before_members), _COUNTS.search(joined)
    action, finish = _ACTION.search(joined), _FINISH.search(joined)
    described = joined[: counts.end() if counts else None].partition("bitmap:")[0]  # a bitmap has a chunk of its own
    chunk, layout = _CHUNK.search(described), _LAYOUT.search(described)
    # `[UU_]`: the third is missing, whatever the counts say while it is rebuilt
    running = "_" in "".join(re.findall(r"\[([U_]+)\]", joined))
    return Array(
        name=head["name"],
        level=level[0] if level else None,
        state=head["state"],
        devices=tuple(device for device, _ in members),
        degraded=running
        or (counts is not None and int(counts[2]) < int(counts[1]))
        or any("(F)" in flags for _, flags in members),
        action=action[1] if action else None,
        progress=round(float(action[2]) / 100, 6) if action and action[2] else None,
        finish_seconds=round(float(finish[1]) * 60, 3) if finish else None,
        chunk_bytes=int(chunk[1]) * 1024 if chunk else None,
        layout=layout[0] if layout else None,
        # raid0 has no counts: none of it may be missing
        raid_devices=int(counts[1]) if counts else (len(members) if level and level[0] == "raid0" else None),
    )


ARRAYS = Section("arrays", "md arrays", ("print_if_exists", "/proc/mdstat"), parse_arrays)


# Block devices with scheduler, rotational flag and read-ahead: lsblk, or /sys/block where it is missing or too old.

_STANDS_FOR_MANY = (
    *("virtual", "logical", "raid", "perc", "megaraid", "smart array", "serveraid", "lun"),
    *("qemu", "vbox", "vmware", "persistentdisk", "block store"),
)
"""In the model of what a controller, a hypervisor or a storage network makes of any number of disks."""
_PAIR = re.compile(r'([A-Z%:_-]{1,32})="([^"]*)"')


@dataclass(slots=True)
class _Device:
    values: dict[str, str]
    parents: dict[str, None] = field(default_factory=dict)


def parse_block_devices(text: str) -> tuple[BlockDevice, ...]:
    """The devices from `lsblk -J -b` of any age (numbers or strings) or `lsblk -P -b`; empty text: none.

    lsblk repeats a device below each of its parents: here it stands once, with all of them. A value that is no number
    of bytes (`lsblk` without `-b`) is refused, never guessed.

    Raises:
        ParseError: it is neither form, or a device has no name or size.
    """
    devices: dict[str, _Device] = {}
    # version 2.27 and later print JSON; the format tells by its first sign
    if text.lstrip().startswith("{"):
        _walk(_loaded(text), None, devices)
    else:
        for line in lines_of(text):
            if line.strip() and not line.startswith("lsblk: "):
                pairs = {name.lower(): value for name, value in _PAIR.findall(line)}
                if not pairs:
                    raise unreadable_error("lsblk", 'pairs such as NAME="sda"', line)
                _add(pairs, pairs.get("pkname") or None, devices)
    return tuple(_block_device(name, device) for name, device in devices.items())


def _loaded(text: str) -> list[object]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable_error("lsblk", "a JSON document", str(error)) from error
    entries = document.get("blockdevices") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise unreadable_error("lsblk", "a list blockdevices", text[:80])
    return entries


def _walk(entries: object, parent: str | None, devices: dict[str, _Device]) -> None:
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            raise unreadable_error("lsblk", "a device", str(entry))
        # old versions write the columns' names in capitals, as they were asked for
        values = {str(name).lower(): _plain(value) for name, value in entry.items() if name != "children"}
        name = _add(values, parent or values.get("pkname") or None, devices)
        _walk(entry.get("children"), name, devices)


def _plain(value: object) -> str:
    """A JSON value as -P prints it: true is 1, null is nothing."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else str(value)


def _add(values: dict[str, str], parent: str | None, devices: dict[str, _Device]) -> str:
    # the kernel's name joins it with /sys and /proc; `name` alone may be a mapper's
    name = values.get("kname") or values.get("name")
    if not name:
        raise unreadable_error("lsblk", "a device with a name", str(values))
    device = devices.setdefault(name, _Device(values))
    if parent is not None:
        device.parents[parent] = None
    return name


def _block_device(name: str, device: _Device) -> BlockDevice:
    values = device.values
    size = parse_whole_number(values.get("size"))
    if size is None:
        raise unreadable_error("lsblk", f"the size of {name} in bytes", values.get("size", ""))
    read_ahead = parse_whole_number(values.get("ra"))
    return BlockDevice(
        name=name,
        kind=values.get("type") or "disk",
        size_bytes=size,
        parents=tuple(device.parents),
        rotational=_flag(values.get("rota")),
        scheduler=values.get("sched") or None,
        read_ahead_bytes=read_ahead * 1024 if read_ahead is not None else None,
        # udev writes a blank as \x20, and models are padded with blanks
        model=" ".join(values.get("model", "").replace("\\x20", " ").split()) or None,
        read_only=_flag(values.get("ro")) is True,
    )


def _flag(text: str | None) -> bool | None:
    return {"0": False, "1": True}.get((text or "").strip())


def is_one_disk(device: BlockDevice) -> bool:
    """Whether it is a disk by itself, neither a virtual machine's nor what a RAID controller makes of several.

    One that does not say its model counts as none: who knows what is behind it.
    """
    # virtio's vda, xvda and dm-0 are never one disk that spins or wears
    if device.kind != "disk" or not device.name.startswith(("sd", "hd", "nvme")):
        return False
    if device.model is None:
        # a SCSI disk without a model hides behind a controller; an NVMe has always its own
        return device.name.startswith("nvme")
    return not any(word in device.model.lower() for word in _STANDS_FOR_MANY)


BLOCK_DEVICES = Section("block-devices", "block devices", ("block_device_facts",), parse_block_devices)


# What the kernel's block layer says of each device (/sys/block): write cache, request sizes, alignment; md's knobs.
#
# The files are those of the kernel's Documentation/ABI/stable/sysfs-block and Documentation/admin-guide/md.rst; each
# holds one line. What a kernel does not have is simply not printed.

_LINE = re.compile(r"(?P<name>\S+) (?P<file>[a-z_]+(?:/[a-z_]+)?) (?P<value>.*\S)\s*")
_SECTOR = 512
"""The unit of `start`, whatever the device's own sectors are."""

Queues = dict[str, dict[str, str]]
"""Device -> file below /sys/block/DEVICE -> its line."""


def parse_block_queues(text: str) -> Queues:
    """The lines `DEVICE FILE VALUE` of the section, by device; no text: none.

    Raises:
        ParseError: a line is none of them.
    """
    found: Queues = {}
    for line in lines_of(text):
        match = _LINE.fullmatch(line)
        if match is None:
            raise unreadable_error("block queues", "a device, a file and its value", line)
        # sysfs writes an exclamation mark where a name has a slash: cciss!c0d0
        found.setdefault(match["name"].replace("!", "/"), {})[match["file"]] = match["value"]
    return found


def devices_with_queues(
    devices: Iterable[BlockDevice], queues: Mapping[str, Mapping[str, str]]
) -> tuple[BlockDevice, ...]:
    """The devices with what the block layer says of them."""
    return tuple(_device(device, queues.get(device.name, {})) for device in devices)


def _device(device: BlockDevice, files: Mapping[str, str]) -> BlockDevice:
    start = parse_whole_number(files.get("start"))
    return replace(
        device,
        mapper=files.get("dm/name"),
        write_cache=files.get("queue/write_cache"),
        physical_block_bytes=parse_whole_number(files.get("queue/physical_block_size")),
        minimum_io_bytes=parse_whole_number(files.get("queue/minimum_io_size")),
        # 0 is the kernel's word for `not told`
        optimal_io_bytes=parse_whole_number(files.get("queue/optimal_io_size")) or None,
        alignment_offset_bytes=parse_whole_number(files.get("alignment_offset")),
        start_bytes=None if start is None else start * _SECTOR,
    )


def arrays_with_queues(arrays: Iterable[Array], queues: Mapping[str, Mapping[str, str]]) -> tuple[Array, ...]:
    """The md arrays with their knobs."""
    return tuple(
        replace(
            array,
            stripe_cache_pages=parse_whole_number(queues.get(array.name, {}).get("md/stripe_cache_size")),
            write_threads=parse_whole_number(queues.get(array.name, {}).get("md/group_thread_cnt")),
        )
        for array in arrays
    )


BLOCK_QUEUES = Section("block-queues", "block device queues", ("block_queue_facts",), parse_block_queues, partly=True)


# What disks say of themselves (SMART), and what ZFS does to files.
#
# smartctl is asked where it is installed, and never wakes a disk (-n standby).

_VERDICT = re.compile(r"(?:overall-health self-assessment test result|SMART Health Status):\s*(.+)")


def parse_disk_health(text: str) -> tuple[DiskHealth, ...] | None:
    """Each disk's verdict from `smartctl -H`; None where smartctl is not installed, which is no gap: it may be missing.

    Raises:
        ParseError: a line belongs to no disk.
    """
    if text.strip() == "without":
        return None
    blocks: list[tuple[str, list[str]]] = []
    for line in lines_of(text):
        if line.startswith("disk "):
            blocks.append((line.removeprefix("disk "), []))
        elif line.startswith(":") and blocks:
            blocks[-1][1].append(line[2:])
        elif line.strip():
            raise unreadable_error("smartctl", "a line 'disk NAME'", line)
    return tuple(_health(name, lines) for name, lines in blocks)


def _health(name: str, lines: list[str]) -> DiskHealth:
    verdict = next((found for line in lines if (found := _VERDICT.search(line))), None)
    if verdict is not None:
        return DiskHealth(name, verdict[1].strip() in ("PASSED", "OK"), verdict[1].strip())
    # without a verdict smartctl's last words say why: asleep, no SMART, no such device
    messages = [
        line.strip() for line in lines if line.strip() and not line.startswith(("smartctl ", "Copyright", "==="))
    ]
    return DiskHealth(name, None, (messages[-1] if messages else "smartctl said nothing")[:200])


def parse_datasets(text: str) -> tuple[Dataset, ...]:
    """ZFS file systems with what matters for a database, from `zfs get -H`; none where nothing of ZFS is mounted.

    Raises:
        ParseError: a line has no three columns.
    """
    found: dict[str, dict[str, str]] = {}
    for line in lines_of(text):
        columns = line.split("\t")
        if len(columns) != 3:
            raise unreadable_error("zfs", "name, property and value", line)
        found.setdefault(columns[0], {})[columns[1]] = columns[2]
    return tuple(
        Dataset(properties.pop("mountpoint"), name, properties)
        for name, properties in found.items()
        if "mountpoint" in properties
    )


HEALTH = Section("disk-health", "disk health", ("disk_health_facts",), parse_disk_health, deadline=10)
DATASETS = Section("datasets", "ZFS file systems", ("zfs_facts", "/proc/mounts"), parse_datasets)


# What a folder lies on: its device, and all devices below that, down to the disks.


def device_of(facts: Facts, system: FileSystem | None) -> BlockDevice | None:
    """What a file system lies on."""
    # zfs, nfs and overlay have a word there that is no device
    if system is None or not system.device.startswith("/dev/"):
        return None
    name = system.device.removeprefix("/dev/")
    # mounts say /dev/mapper/vg-lv, the kernel dm-3
    mapper = name.removeprefix("mapper/") if name.startswith("mapper/") else None
    return next((one for one in facts.block_devices if one.name == name or (mapper and one.mapper == mapper)), None)


def stack_of(facts: Facts, system: FileSystem | None) -> tuple[BlockDevice, ...]:
    """That device and all below it, the upper before the lower, each once."""
    known = {device.name: device for device in facts.block_devices}
    found: dict[str, BlockDevice] = {}
    top = device_of(facts, system)
    waiting = [top] if top is not None else []
    while waiting:
        device = waiting.pop(0)
        if device.name not in found:
            found[device.name] = device
            waiting += [known[name] for name in device.parents if name in known]
    return tuple(found.values())


def disks_of(facts: Facts, system: FileSystem | None) -> tuple[BlockDevice, ...]:
    """The lowest of them."""
    return tuple(device for device in stack_of(facts, system) if not device.parents)
