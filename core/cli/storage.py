"""`pghaul storage`: what a new array may be expected to do, and the script that prepares a volume."""

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core import units
from core.benchmarks.model import Side
from core.cli.context import Context, add_common, add_replace, print_document
from core.cli.terminal import say, show, table
from core.errors import InputError
from core.files import write_text

if TYPE_CHECKING:
    from core.actions.storage import WhatIf
    from core.comparison.raid import Layout

_LEVELS = ("0", "1", "10", "5", "6", "50", "60")
_FIGURES = ("read_iops", "write_iops", "read_rate", "write_rate", "capacity")

_WHAT_IF_DESCRIPTION = """\
What arrays of that many drives may be expected to do: RAID 0, 1, 10, 5, 6, 50 and 60, with the one write thread of
Linux md as a bound. What one drive does is stated, or was measured on the move's volume of that side."""

_PREPARE_DESCRIPTION = """\
The script that prepares a volume: partitions, an md array, a file system that knows its stripes, a line in fstab. It
stops before it changes anything where a device is not empty, and pghaul never runs it."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommands."""
    storage = nouns.add_parser("storage", help="what another array would do, and how to prepare a volume")
    verbs = storage.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_what_if(
        verbs.add_parser(
            "what-if", help="what arrays of such drives may be expected to do", description=_WHAT_IF_DESCRIPTION
        )
    )
    _add_prepare(
        verbs.add_parser(
            "prepare", help="write the script that prepares a volume; it is not run", description=_PREPARE_DESCRIPTION
        )
    )


def _add_what_if(what_if: argparse.ArgumentParser) -> None:
    what_if.add_argument("move", nargs="?", help="set it beside the measured volumes of this move")
    what_if.add_argument("--drives", type=int, required=True, metavar="N", help="of how many")
    what_if.add_argument("--level", choices=_LEVELS, help="this level alone (default: every one that can be built)")
    what_if.add_argument("--groups", type=int, metavar="N", help="arrays below level 50 or 60 (default: 2)")
    what_if.add_argument("--side", type=Side, choices=list(Side), help="the measured volume that is one such drive")
    for name, what in (
        ("--read-iops", "random reads a second of one drive"),
        ("--write-iops", "random writes a second of one drive"),
        ("--read-rate", "bytes a second that one drive reads"),
        ("--write-rate", "bytes a second that one drive writes"),
        ("--capacity", "bytes that one drive holds"),
        ("--thread-iops", "random writes a second of one md write thread (default: as measured in 2014)"),
    ):
        what_if.add_argument(name, type=float, metavar="NUMBER", help=what)
    what_if.add_argument("--controller", action="store_true", help="a hardware controller, which has no write thread")
    add_common(what_if)
    what_if.set_defaults(run=_what_if)


def _add_prepare(prepare: argparse.ArgumentParser) -> None:
    prepare.add_argument("mount_point", metavar="MOUNT_POINT", help="where the volume is to be mounted")
    prepare.add_argument("devices", nargs="+", metavar="DEVICE", help="a whole disk, such as /dev/sdb")
    prepare.add_argument("--file-system", choices=("xfs", "ext4"), default="xfs", help="(default: xfs)")
    prepare.add_argument("--level", choices=_LEVELS, help="make an md array of the devices")
    prepare.add_argument("--groups", type=int, metavar="N", help="arrays below level 50 or 60 (default: 2)")
    prepare.add_argument("--chunk", type=int, default=65536, metavar="BYTES", help="of the array (default: 65536)")
    prepare.add_argument("--whole", action="store_true", help="use the devices whole, without a partition")
    prepare.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it there (default: print it)")
    add_replace(prepare)
    add_common(prepare)
    prepare.set_defaults(run=_prepare)


def _what_if(context: Context, options: argparse.Namespace) -> int:
    from core.actions import storage as actions
    from core.comparison.raid import Drive, layouts

    stated = [getattr(options, name) for name in _FIGURES]
    drive = Drive(*stated) if any(figure is not None for figure in stated) else None
    if options.level is None:
        if options.groups is not None:
            raise InputError("groups belong to level 50 or 60", "name it with --level")
        wanted = layouts(options.drives)
    else:
        wanted = (_layout(options.level, options.drives, options.groups),)
    thread = math.inf if options.controller else options.thread_iops
    if options.move is not None:
        side = options.side or Side.NEW
        found = actions.what_if_of_move(context.session, options.move, wanted, drive, side, thread)
    elif drive is None:
        raise InputError("what one drive does is not known", "state it with --read-iops and the others, or name a move")
    else:
        found = actions.what_if(drive, wanted, thread)
    if options.json:
        print_document(found)
    else:
        show(text(found))
    return 0


def _layout(level: str, drives: int, groups: int | None) -> "Layout":
    from core.comparison.raid import Layout, Level

    usual = 2 if level in {"50", "60"} else 1
    return Layout(Level(level), drives, usual if groups is None else groups)


def text(found: "WhatIf") -> str:
    """The expectations for people, and below them what was measured."""
    rows = [
        (
            each.layout.title,
            units.count(each.read_iops),
            units.count(each.write_iops) + (" (md's write thread)" if each.thread_bound else ""),
            units.rate(each.read_bytes_per_second),
            units.rate(each.parallel_read_bytes_per_second),
            units.rate(each.write_bytes_per_second),
            units.size(each.capacity_bytes),
            _survives(each.layout.survives_any, each.layout.survives_at_best),
        )
        for each in found.expected
    ]
    rows += [
        (
            f"measured: {each.server}:{each.volume}" + (f", {each.array}" if each.array else ""),
            units.count(each.drive.read_iops),
            units.count(each.drive.write_iops),
            units.rate(each.drive.read_bytes_per_second),
            units.ABSENT,
            units.rate(each.drive.write_bytes_per_second),
            units.ABSENT,
            "",
        )
        for each in found.measured
    ]
    head = ("array", "reads/s", "writes/s", "read, one stream", "several", "write", "capacity", "survives")
    return table(head, rows, right=(1, 2, 3, 4, 5, 6))


def _survives(surely: int, at_best: int) -> str:
    return str(surely) if surely == at_best else f"{surely}, at best {at_best}"


def _prepare(context: Context, options: argparse.Namespace) -> int:  # noqa: ARG001  every subcommand has this face
    from core.actions import storage as actions
    from core.comparison.preparation import Preparation

    devices = tuple(options.devices)
    if options.level is None and options.groups is not None:
        raise InputError("groups belong to level 50 or 60", "name it with --level")
    wanted = Preparation(
        devices=devices,
        mount_point=options.mount_point,
        file_system=options.file_system,
        layout=None if options.level is None else _layout(options.level, len(devices), options.groups),
        chunk_bytes=options.chunk,
        partition=not options.whole,
    )
    script = actions.write_preparation(wanted)
    if options.output is not None:
        write_text(options.output, script, replacing=options.replace)
        say(f"wrote {options.output}: read it, then run it as root on the server")
    if options.json:
        print_document({"script": script})
    elif options.output is None:
        sys.stdout.write(script)
    return 0
