"""What it takes to prove a copy: lists of both sides, sums of what is read, and the looks for corruption of --verify
all."""

from typing import TYPE_CHECKING

from core import units
from core.migration.estimate import assumptions
from core.migration.estimate.basis import Basis
from core.migration.estimate.draws import drawn, fixed, span
from core.migration.estimate.rates import Figure, Rate, assumed, slowest
from core.migration.estimate.stages import Part, once

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws


def verify(known: Basis, summed: "Draws | None" = None) -> Part:
    """The lists of files, the control file, and what is read and summed up in the stop."""
    part = once(known, "verify", assumptions.PROVE, "files")
    if known.timed("verify"):
        return part
    looks = known.files * drawn("look at a file", *assumptions.LOOK_AT_A_FILE)
    read = fixed(0.0) if summed is None else summed
    bound_by = "old disk" if float(read.mean()) > float((part.seconds + looks).mean()) else "files"
    return Part("verify", part.seconds + looks + read, bound_by, part.evidence)


def reading(known: Basis) -> Rate:
    """At which both sides, beside each other, read and sum up: the slower disk, or a processor.

    New's disk is taken to read as fast as it writes. A disk that nobody measured may be a fast one.
    """
    cpu = assumed(assumptions.SUMMED, "cpu", "sums")
    return slowest((known.read, known.write, cpu))


def read_whole(known: Basis) -> "Draws":
    """Seconds until every file is read and summed up on both sides, new's from its disk."""
    return reading(known).seconds(known.size) + known.files * drawn("forget a file", *assumptions.FORGET_A_FILE)


def looks_for_corruption(known: Basis) -> tuple[Part, ...]:
    """pg_checksums before new's first start, where there are page checksums; pg_amcheck behind it (since 14)."""
    cluster, parts = known.spec.cluster, []
    pages = known.size if cluster.checksummed_bytes is None else cluster.checksummed_bytes
    if pages:
        rate = slowest((known.write, assumed(assumptions.PAGE_CHECKSUMS, "new cpu", "page checksums")))
        parts.append(Part("pg_checksums", rate.seconds(pages), rate.bound_by, rate.evidence))
    if (known.spec.old.version or 14) >= 14:
        one = assumed(assumptions.AMCHECK, "new cpu", "amcheck")
        rate = slowest((known.write, several(one, known.new_cores)))
        parts.append(Part("pg_amcheck", rate.seconds(known.size), rate.bound_by, rate.evidence))
    return tuple(parts)


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


def all_said(known: Basis) -> str:
    """What --verify all costs, for people."""
    looks = [part.name for part in looks_for_corruption(known)]
    seconds = units.duration(span(read_whole(known) + looking(known)).likely)
    behind = f", then {' and '.join(looks)} look through new" if looks else ""
    return f"--verify all reads every file in the stop{behind}: about {seconds} on top"
