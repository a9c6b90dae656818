"""The expected performance of an array beside that of the measured volumes, and a script that prepares a volume."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.api.benchmarks import volume_of_side
from core.api.session import Session
from core.comparison.preparation import Preparation, preparation_script
from core.comparison.raid import Drive, Expected, Layout, expect, layouts, measured
from core.errors import InputError
from core.sides import Side

__all__ = [
    "Drive",
    "Layout",
    "Measured",
    "WhatIf",
    "expect_layouts",
    "expect_layouts_of_move",
    "layouts",
    "write_preparation",
]


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of the latest runs on one volume, and the array on which it lies, if any."""

    side: Side
    server: str
    volume: str
    array: str
    """`raid10 of 8`; empty: no md array is known."""
    drive: Drive


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The expected performance of arrays of such drives, and what was measured."""

    drive: Drive
    expected: tuple[Expected, ...]
    measured: tuple[Measured, ...] = ()


def expect_layouts(drive: Drive, layouts: Sequence[Layout], thread_iops: float | None = None) -> WhatIf:
    """Return the expected performance of these layouts with drives of a given speed."""
    return WhatIf(drive, tuple(expect(layout, drive, thread_iops) for layout in layouts))


def expect_layouts_of_move(
    session: Session,
    move: str,
    layouts: Sequence[Layout],
    drive: Drive | None = None,
    drive_side: Side = Side.NEW,
    thread_iops: float | None = None,
) -> WhatIf:
    """Return the expected performance of these layouts beside the measured volumes of a move.

    Args:
        session: the history and the connections.
        move: the name of the move.
        layouts: the layouts.
        drive: the performance of one drive; None to take it from the volume of `drive_side`.
        drive_side: the side whose volume is a single drive.
        thread_iops: the IOPS of a single thread, if known.

    Raises:
        InputError: that volume was not measured, or is an array and not a single drive.
    """
    found = session.store.move(move)
    sides = tuple(_measured_volume(session, move, side) for side in Side)
    if drive is None:
        of_side = next(each for each in sides if each.side is drive_side)
        if of_side.drive == Drive():
            raise InputError(
                f"no benchmark has run on {of_side.server}:{of_side.volume}",
                f"run: pghaul bench {found.name}; or state the performance of one drive",
            )
        if of_side.array:
            raise InputError(
                f"{of_side.server}:{of_side.volume} is {of_side.array}, not a single drive",
                "state the performance of one drive with --read-iops and its likes",
            )
        drive = of_side.drive
    expected = tuple(expect(layout, drive, thread_iops) for layout in layouts)
    return WhatIf(drive, expected, tuple(each for each in sides if each.drive != Drive()))


def write_preparation(wanted: Preparation) -> str:
    """Return the script that prepares a volume, to be shown or exported; it is never run."""
    return preparation_script(wanted)


def _measured_volume(session: Session, move: str, side: Side) -> Measured:
    found = volume_of_side(session.store.move(move), side)
    facts = session.store.facts(found.server)
    system = facts.file_system_of(found.mount_point) if facts is not None else None
    arrays = facts.arrays if facts is not None and system is not None else ()
    below = next((array for array in arrays if system is not None and array.name in system.device), None)
    return Measured(
        side=side,
        server=found.server,
        volume=found.mount_point,
        array="" if below is None else f"{below.level} of {len(below.devices)}",
        drive=measured(session.store.runs(move, side=side, latest_only=True)),
    )
