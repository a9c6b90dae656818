"""The expected performance of RAID arrays as rows, beside the measured volumes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import units
from core.comparison.raid import Drive, Expected
from core.language import tr
from core.tones import Tone
from gui.models.sentences import recorded
from gui.models.table import Column, Width
from gui.models.words import metric_value

if TYPE_CHECKING:
    from core.api.storage import WhatIf


@dataclass(frozen=True, slots=True)
class ArrayRow:
    """A possible array, or a measured volume."""

    title: str
    figures: Drive
    parallel_read_bytes_per_second: float | None = None
    survives: str = ""
    thread_bound: bool = False
    measured: bool = False


def array_rows(found: "WhatIf") -> tuple[ArrayRow, ...]:
    """Return the measured volumes, then the expected arrays."""
    seen = (
        ArrayRow(
            f"{one.server}:{one.volume}{f', {one.array}' if one.array else ''}",
            one.drive,
            measured=True,
        )
        for one in found.measured
    )
    return (*seen, *(_expected(one) for one in found.expected))


def _expected(one: Expected) -> ArrayRow:
    any_of, at_best = one.layout.survives_any, one.layout.survives_at_best
    drive = Drive(one.read_iops, one.write_iops, one.read_bytes_per_second, one.write_bytes_per_second)
    return ArrayRow(
        one.layout.title,
        drive,
        one.parallel_read_bytes_per_second,
        tr("none")
        if not at_best
        else tr("any {any_of}").format(any_of=any_of)
        if any_of == at_best
        else tr("any {any_of}, at best {at_best}").format(any_of=any_of, at_best=at_best),
        one.thread_bound,
    )


def _tone(row: ArrayRow) -> Tone | None:
    return Tone.MUTED if row.measured else None


def _writes(row: ArrayRow) -> str:
    shown = metric_value("write_iops", row.figures.write_iops)
    return tr("{shown} (limited by the md thread)").format(shown=shown) if row.thread_bound else shown


ARRAY_COLUMNS: tuple[Column[ArrayRow], ...] = (
    Column("Array", lambda row: recorded(row.title), tone=_tone, width=Width.REST),
    Column(
        "Reads",
        lambda row: metric_value("read_iops", row.figures.read_iops),
        right=True,
        value=lambda row: row.figures.read_iops,
    ),
    Column("Writes", _writes, right=True, value=lambda row: row.figures.write_iops),
    Column(
        "Read, 1 process",
        lambda row: units.rate(row.figures.read_bytes_per_second),
        right=True,
        value=lambda row: row.figures.read_bytes_per_second,
    ),
    Column(
        "Read, parallel",
        lambda row: units.rate(row.parallel_read_bytes_per_second),
        right=True,
        value=lambda row: row.parallel_read_bytes_per_second,
    ),
    Column(
        "Write",
        lambda row: units.rate(row.figures.write_bytes_per_second),
        right=True,
        value=lambda row: row.figures.write_bytes_per_second,
    ),
    Column("Failures survived", lambda row: row.survives or (tr("measured") if row.measured else units.ABSENT)),
)
