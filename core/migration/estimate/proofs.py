"""What it takes to prove a copy: lists of both sides, sums of what is read, and the looks for corruption of --verify
all."""

from dataclasses import replace
from typing import TYPE_CHECKING

from core import units
from core.migration.estimate import assumptions
from core.migration.estimate.basis import Basis, measured_rate
from core.migration.estimate.draws import drawn, fixed, span
from core.migration.estimate.rates import Figure, Rate, assumed, slowest
from core.migration.estimate.stages import Part, as_timed, empty_pass, stage, steps
from core.migration.model.plan import Phase

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws


def verify(known: Basis, read: "Draws | None" = None) -> Part:
    """The flush beside the lists of both sides, and that old has stayed stopped.

    `read`: seconds until what a warm copy has brought is read and summed up in the stop.
    """
    alone = drawn("lists", *assumptions.LISTS) + looks(known)
    read = fixed(0.0) if read is None else read
    bound_by = "old disk" if float(read.mean()) > float(alone.mean()) else "files"
    return stage(known, Phase.VERIFY, 2, alone + read, bound_by, detached=1)


def last_files(known: Basis) -> "Draws":
    """Seconds of the pass behind the last one that sends file contents: new files, and what is to be deleted."""
    return steps(known, known.roots, detached=1) + empty_pass(known) + looks(known)


def deletions_listed(known: Basis) -> "Draws":
    """Seconds by which the list of what is to be deleted, made beside the final sync, holds it up."""
    return steps(known, 1, detached=1) + looks(known)


def looks(known: Basis) -> "Draws":
    """Seconds of a look at each file."""
    return known.files * drawn("look at a file", *assumptions.LOOK_AT_A_FILE)


def reading(known: Basis, *, on_old: bool = True) -> Rate:
    """At which both sides, beside each other, read and compute checksums: that of the slower disk, or of a processor.

    A disk that nobody measured may be a fast one. `on_old`: whether the old server reads from its disk.
    """
    given = known.spec.copy.sum_bytes_per_second
    cpu = (
        assumed(assumptions.SUMMED, "cpu", "sums")
        if given is None
        else _of_files(known, measured_rate(known.spec, "copy.sum_bytes_per_second", given, "cpu", name="sums"))
    )
    return slowest((known.read, known.back, cpu) if on_old else (known.back, cpu))


_PROCESSES = 2
"""So many processes at most have computed the checksums that were measured on the old server."""


def _of_files(known: Basis, summed: Rate) -> Rate:
    """The rate of checksums of files, by that of checksums of what is in memory: reading takes the same processors.

    `1 / (1 / checksums + 1 / reading)`, reading by as many processors as had computed the checksums.
    """
    processors = min(known.cores, _PROCESSES)
    read = processors * drawn("read by a processor", *assumptions.READ_BY_A_PROCESSOR)
    likely = 1 / (1 / summed.likely + 1 / (processors * assumptions.READ_BY_A_PROCESSOR[1]))
    return replace(summed, draws=1 / (1 / summed.draws + 1 / read), likely=likely)


def reading_whole(known: Basis) -> Rate:
    """The rate at which every file is read and summed up on both sides, on the new server from its disk.

    The old server has just read everything for the copy: where its memory holds it, no disk is waited for.
    """
    return reading(known, on_old=not _is_cached(known, known.spec.old.memory_bytes))


def read_whole(known: Basis) -> "Draws":
    """Seconds until every file is read and summed up on both sides; empty ones need no reading."""
    holding = max(0.0, known.files - (known.spec.cluster.empty_files or 0))
    return reading_whole(known).seconds(known.size) + holding * drawn("forget a file", *assumptions.FORGET_A_FILE)


def _is_cached(known: Basis, memory: float | None) -> bool:
    """Whether what was read just before comes out of so much memory."""
    return memory is not None and known.size <= assumptions.CACHED * memory


def looks_for_corruption(known: Basis) -> tuple[Part, ...]:
    """pg_checksums before the new cluster's first start, where there are page checksums; pg_amcheck behind it (since
    14).

    Everything was read just before: where the new server's memory holds it no disk is waited for. As they were timed,
    where they were.
    """
    cluster, parts = known.spec.cluster, []
    disk = () if _is_cached(known, known.spec.new.memory_bytes) else (known.back,)
    relations = known.size if cluster.database_bytes is None else cluster.database_bytes
    pages = known.size if cluster.checksummed_bytes is None else cluster.checksummed_bytes
    if pages:
        rate = slowest((*disk, assumed(assumptions.PAGE_CHECKSUMS, "new cpu", "page checksums")))
        seconds = rate.seconds(pages) + steps(known, 1, detached=1)
        parts.append(Part(Phase.CHECKSUMS, seconds, rate.bound_by, rate.evidence))
    if (known.spec.old.version or 14) >= 14:
        rates = [
            slowest((*disk, several(assumed(figure, "new cpu", name), known.new_cores)))
            for name, figure in (
                ("amcheck", assumptions.AMCHECK_TABLES),
                ("amcheck of indexes", assumptions.AMCHECK_INDEXES),
            )
        ]
        tables, indexes = rates[0].seconds(max(0.0, relations - known.index_bytes)), rates[1].seconds(known.index_bytes)
        longer = rates[0] if float(tables.mean()) > float(indexes.mean()) else rates[1]
        found = (known.spec.cluster.tables or 0) * drawn("amcheck a table", *assumptions.AMCHECK_A_TABLE)
        seconds = tables + indexes + found + steps(known, 1, detached=1)
        parts.append(Part(Phase.AMCHECK, seconds, longer.bound_by, longer.evidence))
    return tuple(as_timed(known, part) for part in parts)


def several(one: Rate, processes: int, speedup: Figure = assumptions.SPEEDUP) -> Rate:
    """So many processes together: `processes ^ speedup` times one."""
    low, likely, high = (processes**power for power in speedup)
    return Rate(
        one.draws * drawn("speedup", low, likely, high), one.likely * likely, one.bound_by, one.stated, one.evidence
    )


def looking(known: Basis) -> "Draws":
    """Seconds of the looks for corruption."""
    whole = fixed(0.0)
    for part in looks_for_corruption(known):
        whole = whole + part.seconds
    return whole


def describe_verify_all(known: Basis) -> str:
    """Return a sentence on the additional downtime of --verify all."""
    programs = [part.name for part in looks_for_corruption(known)]
    seconds = units.duration(span(read_whole(known) + looking(known)).likely)
    behind = f", and {' and '.join(programs)} examine the new cluster" if programs else ""
    return (
        "The checksums of all files are computed before the downtime. In the downtime, only the files that have "
        "changed since then are read again and compared. With --verify all, every file is read during the "
        f"downtime{behind}. That would add about {seconds}, which are not included."
    )
