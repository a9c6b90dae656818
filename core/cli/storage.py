"""`pghaul storage`: the expected performance of an array, and the script that prepares a volume."""

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, add_former_name, add_replace, print_document
from core.cli.sizes import size
from core.cli.terminal import say, show, table
from core.comparison.sets import is_place_on_server
from core.errors import InputError
from core.files import write_text
from core.sides import Side

if TYPE_CHECKING:
    from core.api.storage import WhatIf
    from core.comparison.raid import Layout

_LEVELS = ("0", "1", "10", "5", "6", "50", "60")
_FIGURES = ("read_iops", "write_iops", "read_rate", "write_rate", "capacity")

_WHAT_IF_DESCRIPTION = """\
Show the expected performance of RAID 0, 1, 10, 5, 6, 50 and 60 arrays with a given number of drives. The single write
thread of Linux md limits RAID 5 and 6. State the performance of one drive, or name a move or volumes of servers: then
the measured volume of the move, or the first volume, is taken as one drive."""

_PREPARE_DESCRIPTION = """\
Write a script that prepares a volume: partitions, an md array, a file system that is aligned to its stripes, and a line
in fstab. The script stops before it changes anything if a device is not empty. pghaul never runs it."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommands."""
    storage = nouns.add_parser(
        "storage", help="estimate the performance of an array, or write a script that prepares a volume"
    )
    verbs = storage.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_what_if(
        verbs.add_parser(
            "what-if", help="estimate the performance of arrays of given drives", description=_WHAT_IF_DESCRIPTION
        )
    )
    _add_prepare(
        verbs.add_parser(
            "prepare",
            help="write a script that prepares a volume; pghaul does not run it",
            description=_PREPARE_DESCRIPTION,
        )
    )


def _add_what_if(what_if: argparse.ArgumentParser) -> None:
    what_if.add_argument(
        "what",
        nargs="*",
        metavar="MOVE | SERVER:/PATH...",
        help="compare with the measured volumes of this move, or with these volumes of any servers",
    )
    what_if.add_argument("--drives", type=int, required=True, metavar="N", help="number of drives")
    what_if.add_argument(
        "--level", choices=_LEVELS, help="RAID level (default: all that are possible with so many drives)"
    )
    what_if.add_argument(
        "--groups", type=int, metavar="N", help="number of RAID 5 or 6 groups in level 50 or 60 (default: 2)"
    )
    what_if.add_argument(
        "--side",
        type=Side,
        choices=list(Side),
        help="server of the move whose measured volume is one such drive (default: new)",
    )
    for name, what in (
        ("--read-iops", "random reads per second of one drive"),
        ("--write-iops", "random writes per second of one drive"),
        ("--read-rate", "sequential read throughput of one drive, in bytes per second"),
        ("--write-rate", "sequential write throughput of one drive, in bytes per second"),
        ("--capacity", "capacity of one drive, in bytes"),
        ("--thread-iops", "random writes per second of one md write thread (default: as measured in 2014)"),
    ):
        what_if.add_argument(name, type=float, metavar="NUMBER", help=what)
    what_if.add_argument(
        "--controller", action="store_true", help="assume a hardware RAID controller, which has no md write thread"
    )
    add_common(what_if)
    what_if.set_defaults(run=_what_if)


def _add_prepare(prepare: argparse.ArgumentParser) -> None:
    prepare.add_argument("mount_point", metavar="MOUNT_POINT", help="mount point of the volume")
    prepare.add_argument("devices", nargs="+", metavar="DEVICE", help="a whole disk, for example /dev/sdb")
    prepare.add_argument(
        "--file-system", choices=("xfs", "ext4"), default="xfs", help="file system to create (default: xfs)"
    )
    prepare.add_argument("--level", choices=_LEVELS, help="RAID level of the md array to create (default: no array)")
    prepare.add_argument(
        "--groups", type=int, metavar="N", help="number of RAID 5 or 6 groups in level 50 or 60 (default: 2)"
    )
    prepare.add_argument(
        "--chunk", type=int, default=65536, metavar="BYTES", help="chunk size of the array, in bytes (default: 65536)"
    )
    unpartitioned = prepare.add_argument(
        "--no-partition", action="store_true", help="use the whole devices, without creating partitions"
    )
    add_former_name(prepare, "--whole", unpartitioned)
    prepare.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="file for the script (default: standard output)"
    )
    add_replace(prepare)
    add_common(prepare)
    prepare.set_defaults(run=_prepare)


def _what_if(context: Context, options: argparse.Namespace) -> int:
    from core.api import storage as actions
    from core.comparison.raid import Drive, layouts

    stated = [getattr(options, name) for name in _FIGURES]
    drive = Drive(*stated) if any(figure is not None for figure in stated) else None
    if options.level is None:
        if options.groups is not None:
            raise InputError("--groups needs level 50 or 60", "add --level 50 or --level 60")
        wanted = layouts(options.drives)
    else:
        wanted = (_layout(options.level, options.drives, options.groups),)
    thread = math.inf if options.controller else options.thread_iops
    if options.what and is_place_on_server(options.what[0]):
        if options.side:
            raise InputError("--side needs a move", "leave it out: the first volume is taken as one drive")
        found = actions.expect_layouts_of_volumes(context.session, options.what, wanted, drive, thread)
    elif len(options.what) > 1:
        raise InputError("only one move can be named", "name one move, or volumes of servers such as db1:/srv/pg")
    elif options.what:
        context.refuse_server(options.what[0])
        side = options.side or Side.NEW
        found = actions.expect_layouts_of_move(context.session, options.what[0], wanted, drive, side, thread)
    elif drive is None:
        raise InputError(
            "the performance of one drive is not known", "state it with --read-iops and its likes, or name a move"
        )
    else:
        found = actions.expect_layouts(drive, wanted, thread)
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
            units.count(each.write_iops) + (" (limited by the md write thread)" if each.thread_bound else ""),
            units.rate(each.read_bytes_per_second),
            units.rate(each.parallel_read_bytes_per_second),
            units.rate(each.write_bytes_per_second),
            size(each.capacity_bytes),
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
    head = (
        "array",
        "read IOPS",
        "write IOPS",
        "read, 1 stream",
        "read, parallel",
        "write",
        "capacity",
        "survives failures",
    )
    return table(head, rows, right=(1, 2, 3, 4, 5, 6))


def _survives(surely: int, at_best: int) -> str:
    return str(surely) if surely == at_best else f"{surely}, at most {at_best}"


def _prepare(context: Context, options: argparse.Namespace) -> int:  # noqa: ARG001  every subcommand has this face
    from core.api import storage as actions
    from core.comparison.preparation import Preparation

    devices = tuple(options.devices)
    if options.level is None and options.groups is not None:
        raise InputError("--groups needs level 50 or 60", "add --level 50 or --level 60")
    wanted = Preparation(
        devices=devices,
        mount_point=options.mount_point,
        file_system=options.file_system,
        layout=None if options.level is None else _layout(options.level, len(devices), options.groups),
        chunk_bytes=options.chunk,
        partition=not options.no_partition,
    )
    script = actions.write_preparation(wanted)
    if options.output is not None:
        write_text(options.output, script, replacing=options.replace)
        say(f"wrote {options.output}; read it before you run it as root on the server")
    if options.json:
        print_document({"script": script})
    elif options.output is None:
        sys.stdout.write(script)
    return 0
