"""The expected performance of an array beside that of the measured volumes, and a script that prepares a volume."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.api.benchmarks import volume_of_side, volumes_of_servers
from core.api.comparison import runs_on_volume
from core.api.session import Session
from core.benchmarks.model import Run, Volume
from core.comparison.preparation import Preparation, preparation_script
from core.comparison.raid import Drive, Expected, Layout, expect, layouts, measured
from core.errors import InputError
from core.servers.shell import for_hint
from core.sides import Side

__all__ = [
    "Drive",
    "Layout",
    "Measured",
    "WhatIf",
    "expect_layouts",
    "expect_layouts_of_move",
    "expect_layouts_of_volumes",
    "layouts",
    "write_preparation",
]


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of the latest runs on one volume, and the array on which it lies, if any."""

    side: Side | None
    """None: no move takes part."""
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
    sides = tuple(
        _measured_volume(session, volume_of_side(found, side), session.store.runs(move, side=side, latest_only=True))
        for side in Side
    )
    if drive is None:
        drive = _single_drive(
            next(each for each in sides if each.side is drive_side), for_hint("pghaul", "bench", found.name)
        )
    return _expected(drive, layouts, thread_iops, sides)


def expect_layouts_of_volumes(
    session: Session,
    places: Sequence[str],
    layouts: Sequence[Layout],
    drive: Drive | None = None,
    thread_iops: float | None = None,
) -> WhatIf:
    """Return the expected performance of these layouts beside measured volumes of any servers.

    Args:
        session: the history and the connections.
        places: the volumes, such as `db1:/srv/pg`.
        layouts: the layouts.
        drive: the performance of one drive; None to take it from the first volume.
        thread_iops: the IOPS of a single thread, if known.

    Raises:
        InputError: the first volume was not measured, or is an array and not a single drive.
    """
    volumes = tuple(
        _measured_volume(session, volume, runs_on_volume(session, word))
        for word, volume in zip(places, volumes_of_servers(places), strict=True)
    )
    if drive is None:
        drive = _single_drive(volumes[0], for_hint("pghaul", "bench", places[0]))
    return _expected(drive, layouts, thread_iops, volumes)


def _single_drive(found: Measured, how_to_measure: str) -> Drive:
    """Return the measured performance of a volume that is a single drive."""
    if found.drive == Drive():
        raise InputError(
            f"no benchmark has run on {found.server}:{found.volume}",
            f"run: {how_to_measure}; or state the performance of one drive",
        )
    if found.array:
        raise InputError(
            f"{found.server}:{found.volume} is {found.array}, not a single drive",
            "state the performance of one drive with --read-iops and its likes",
        )
    return found.drive


def _expected(
    drive: Drive, layouts: Sequence[Layout], thread_iops: float | None, volumes: Sequence[Measured]
) -> WhatIf:
    expected = tuple(expect(layout, drive, thread_iops) for layout in layouts)
    return WhatIf(drive, expected, tuple(each for each in volumes if each.drive != Drive()))


def write_preparation(wanted: Preparation) -> str:
    """Return the script that prepares a volume, to be shown or exported; it is never run."""
    return preparation_script(wanted)


def _measured_volume(session: Session, found: Volume, runs: Sequence[Run]) -> Measured:
    facts, machines = session.store.facts(found.server), session.store.machines([found.server])
    system = facts.file_system_of(found.mount_point) if facts is not None else None
    arrays = facts.arrays if facts is not None and system is not None else ()
    below = next((array for array in arrays if system is not None and array.name in system.device), None)
    return Measured(
        side=found.side,
        server=found.server,
        volume=found.mount_point,
        array="" if below is None else f"{below.level} of {len(below.devices)}",
        # what another machine of this name has achieved says nothing about the drives of this one
        drive=measured(machines.on(runs, found.server, machines.now.get(found.server, ""))),
    )
