"""Say what an array may be expected to do, beside what the volumes of a move did; write how a volume is prepared."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.actions.benchmarks import volume
from core.actions.session import Session
from core.benchmarks.model import Side
from core.comparison.preparation import Preparation, preparation_script
from core.comparison.raid import Drive, Expected, Layout, expect, measured
from core.errors import InputError


@dataclass(frozen=True, slots=True)
class Measured:
    """What the latest runs on one volume came to, and the array that it lies on, where it does."""

    side: Side
    server: str
    volume: str
    array: str
    """`raid10 of 8`; empty: no md array is known."""
    drive: Drive


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Arrays of drives like this one, beside what was measured."""

    drive: Drive
    expected: tuple[Expected, ...]
    measured: tuple[Measured, ...] = ()


def what_if(drive: Drive, layouts: Sequence[Layout], thread_iops: float | None = None) -> WhatIf:
    """What the layouts may be expected to do of drives of a given speed."""
    return WhatIf(drive, tuple(expect(layout, drive, thread_iops) for layout in layouts))


def what_if_of_move(
    session: Session,
    move: str,
    layouts: Sequence[Layout],
    drive: Drive | None = None,
    drive_side: Side = Side.NEW,
    thread_iops: float | None = None,
) -> WhatIf:
    """The same beside the volumes of a move; None for the drive: as the volume of `drive_side` was measured.

    Raises:
        InputError: that volume was not measured, or is an array and no single drive.
    """
    found = session.store.move(move)
    sides = tuple(_measured(session, move, side) for side in Side)
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
    """The script, to be shown or exported; it is never run."""
    return preparation_script(wanted)


def _measured(session: Session, move: str, side: Side) -> Measured:
    found = volume(session.store.move(move), side)
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
