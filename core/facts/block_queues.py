"""What the kernel's block layer says of each device (/sys/block): write cache, request sizes, alignment; md's knobs.

The files are those of the kernel's Documentation/ABI/stable/sysfs-block and Documentation/admin-guide/md.rst; each
holds one line. What a kernel does not have is simply not printed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from core.facts.model import Array, BlockDevice
from core.facts.sections import Section
from core.facts.text import parse_whole_number, unreadable_error

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
    for line in text.splitlines():
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


SECTION = Section("block-queues", "block device queues", ("block_queue_facts",), parse_block_queues, partly=True)
