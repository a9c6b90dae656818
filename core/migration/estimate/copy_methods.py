"""The estimates of the copies of files: cold (old stopped throughout) and warm (stopped for the last pass)."""

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from core import units
from core.facts.model import Cluster
from core.migration.estimate import assumptions
from core.migration.estimate.basis import ONE_STREAM_LIMIT, Basis, changed
from core.migration.estimate.draws import drawn, fixed, least, most, only_from, share, span
from core.migration.estimate.proofs import (
    deletions_listed,
    describe_verify_all,
    last_files,
    looking,
    looks,
    looks_for_corruption,
    read_whole,
    reading,
    reading_whole,
    verify,
)
from core.migration.estimate.rates import Rate, slowest, timed
from core.migration.estimate.stages import (
    PEOPLE,
    ROUND_TRIPS,
    Part,
    Simulated,
    after_cutover,
    as_timed,
    asked_checkpoint,
    before_stop,
    checkpoint,
    close_channel,
    cut_over,
    describe_index_rebuild,
    empty_pass,
    prepare,
    rebuild,
    reckoned_words,
    since_a_checkpoint,
    start_new,
    steps,
    stop_old,
)
from core.migration.estimate.watched import describe_watch
from core.migration.model.estimate import PassSeconds
from core.migration.model.move import Verify
from core.migration.model.plan import Phase

if TYPE_CHECKING:
    from core.migration.estimate.draws import Draws

MOST_PASSES = 2
"""Warm passes of a plan: the second brings what the first left, a third hardly pays."""

WORTH_SECONDS = 5.0
"""A pass that shortens the stop by less is not made. Of a first one it is known only that another spares no more than
its own time, and than what was touched meanwhile takes to be sent whole."""

GAIN = 0.9
"""A warm copy whose stop is not shorter than this part of a cold one's is not worth its passes."""


def planned(cluster: Cluster) -> str:
    """The method that a plan follows: a cluster that runs is copied warm."""
    return "warm-copy" if cluster.running else "cold-copy"


def cold_copy(known: Basis, checking: Verify = Verify.CHANGED) -> Simulated:
    """Stop, copy everything, verify, start; the cluster is down for all of it.

    The copy takes `size / slowest link + files × cost of a file`. An observed rate is of whole files and holds that
    cost already.
    """
    copy = _copied(known)
    parts = (
        prepare(known),
        before_stop(known, fixed(0.0)),
        stop_old(known, checkpoint(known)),
        replace(copy, seconds=copy.seconds + last_files(known)),
        _verified(known, None, checking),
        *_ending(known, checking),
    )
    return Simulated(
        name="cold-copy",
        parts=parts,
        assumptions=(*known.assumptions_about(*known.copy_concerns), *describe_index_rebuild(known), PEOPLE),
        warnings=(*known.warnings, *_guards(known)),
        on_new=known.spec.cluster.size_bytes,
        verify_all=read_whole(known),
        looks=looking(known),
    )


def warm_copy(known: Basis, checking: Verify = Verify.CHANGED) -> Simulated:
    """Copy while the old cluster runs, again what changed meanwhile, then stop and copy the rest.

    A pass compares every file that changed since the pass before began, whole and on both sides, and sends what
    differs: `touched / read + changed / copy + files × cost of a look`; behind it both sides read what it has brought.
    A second pass is not made behind a first of a few seconds, nor where little was touched meanwhile.
    In the end what was touched since the last pass began is compared and summed up. That takes no longer than a cold
    copy, which one may do instead.
    """
    whole = _copied(known)
    in_turn = (known.roots - 1) * _starts(known)
    copied = _copied_before(known)
    # the limit holds for the passes while the old cluster runs, and not for the final sync
    passing = replace(known, copy=_limited(known, known.in_turn))
    first_copy = _copied(replace(known, copy=_limited(known, known.beside)))
    beside = first_copy.seconds + in_turn
    if copied is not None:
        beside = least(beside, _again(passing, copied) + known.roots * _starts(known))
    ahead = checking is Verify.CHANGED  # else all of it is read in the stop, and nothing behind a pass
    behind = _settled(known) + _read_ahead(known) if ahead else _flushed(known)
    first = beside + behind
    again = _again(passing, first) + known.roots * _starts(known)
    behind_again = _settled(known) + _sums(known, first) if ahead else _flushed(known)
    second = again + behind_again
    gain = least(beside, _touched(known, beside) / known.copy.draws)
    made = first + only_from(WORTH_SECONDS, gain, second)
    passes = (
        PassSeconds(span(beside).likely, span(behind).likely),
        *(PassSeconds(*(span(only_from(WORTH_SECONDS, gain, each)).likely for each in (again, behind_again))),),
    )
    made = made + asked_checkpoint(checkpoint(known)) + steps(known, 3)
    last, read = _last_passes(known, second, whole)
    bound_by = LIMIT if first_copy.bound_by == LIMIT else whole.bound_by
    reads_longer = float(behind.mean()) > float(beside.mean())
    parts = (
        prepare(known),
        Part(
            Phase.WARM,
            made,
            reading(known).bound_by if reads_longer else bound_by,
            whole.evidence if copied is None else _describe_copied(known),
            stopped=False,
        ),
        before_stop(known, asked_checkpoint(since_a_checkpoint(known))),
        stop_old(known, since_a_checkpoint(known)),
        last,
        _verified(known, read, checking),
        *_ending(known, checking),
    )
    return Simulated(
        name="warm-copy",
        parts=parts,
        assumptions=_pre_copy_assumptions(known, checking),
        warnings=(*known.warnings, *_guards(known), *_hopeless(known, parts, checking)),
        on_new=known.spec.cluster.size_bytes,
        verify_all=read_whole(known),
        looks=looking(known),
        passes=passes,
    )


def _describe_limit(known: Basis) -> tuple[str, ...]:
    limit = known.spec.copy.precopy_limit_bytes_per_second
    if limit is None:
        return ()
    return (f"Pre-copy passes send at most {units.rate(limit)}, as the move says. The final sync has no limit.",)


_CACHED = 1.2
"""A reading that is so many times as fast as the disk is partly from the page cache."""

LIMIT = "limit"
"""What bounds pre-copy passes that the user has limited."""


def _limited(known: Basis, rate: Rate) -> Rate:
    """The rate of a pre-copy pass: at most the limit of the move, which is on what is sent, compressed or not."""
    limit = known.spec.copy.precopy_limit_bytes_per_second
    if limit is None:
        return rate
    limit *= known.spec.copy.compression_ratio or 1.0
    return slowest((rate, Rate(fixed(limit), limit, LIMIT)))


def _describe_copied(known: Basis) -> str:
    """Return where the figure of pre-copy passes comes from that find a copy on the new server."""
    took = known.spec.history.read_seconds
    timed_then = "" if took is None else f". The reading alone took {units.duration(took)} in the rehearsal"
    if took and (from_disk := _uncached_seconds(known)):
        timed_then = (
            f". The reading alone took {units.duration(took)} in the rehearsal, partly from the page cache. From the "
            f"disk alone it takes {units.duration(from_disk)}; the high value includes this case"
        )
    return (
        "calculated from the rehearsal. Its copy is still on the new server, so only what has changed since is copied. "
        f"Every file is read once for its checksum{timed_then}"
    )


def _copied_before(known: Basis) -> "Draws | None":
    """Seconds since the copy began that lies on the new server; None where there is none."""
    history = known.spec.history
    if history.copied_at is None or history.now is None:
        return None
    return fixed(max(0.0, (history.now - history.copied_at).total_seconds()))


def _read_ahead(known: Basis) -> "Draws":
    """Seconds until every file is read and summed up while the old cluster runs; as it was timed behind the copy that
    lies there, else as it is reckoned."""
    history = known.spec.history
    if history.copied_at is None or history.read_seconds is None:
        return read_whole(known)
    again = timed("read ahead", (history.read_seconds,))
    from_disk = _uncached_seconds(known)
    if from_disk is None:
        return again
    took = span(again)
    return drawn("read ahead", took.low, took.likely, from_disk)


def _uncached_seconds(known: Basis) -> float | None:
    """Seconds to read every file from the old server's disk, if the rehearsal read faster than that disk: partly from
    the page cache, from which they may be gone when the move is made. None if it did not, or nobody measured it."""
    took, rate = known.spec.history.read_seconds, known.spec.old.read_bytes_per_second
    if not took or not rate or known.size / took <= _CACHED * rate:
        return None
    return known.size / rate


def _pre_copy_assumptions(known: Basis, checking: Verify) -> tuple[str, ...]:
    return (
        *known.assumptions_about(*dict.fromkeys((*known.copy_concerns, "read", "change"))),
        *_describe_touched(known),
        *_describe_limit(known),
        *((describe_verify_all(known),) if checking is Verify.CHANGED else ()),
        *describe_index_rebuild(known),
        PEOPLE,
    )


def _last_passes(known: Basis, seconds: "Draws", whole: Part) -> tuple[Part, "Draws"]:
    """The final sync of what was touched in so many seconds, a pass for each data root, one after the other; and the
    seconds until what it has brought is read and summed up.

    Both together take no longer than to copy everything, which a move may do instead.
    """
    sent = known.roots * empty_pass(known) + _again(known, seconds) + steps(known, known.roots, detached=known.roots)
    sent = least(sent, whole.seconds)
    held_up = least(deletions_listed(known), whole.seconds - sent)
    read = least(_sums(known, seconds), whole.seconds - sent - held_up)
    made = sent + held_up + last_files(known)
    moved, looked = _moved(known, seconds), _LOOKS * looks(known)
    longest = {_binds(known, seconds): moved, "files": looked, ROUND_TRIPS: made - moved - looked}
    bound_by = max(longest, key=lambda each: float(longest[each].mean()))
    return as_timed(known, Part(Phase.FINAL, made, bound_by, reckoned_words(known))), read


_LOOKS = 3
"""How often the final sync looks at every file: for its contents, for the list of what is deleted, and for new ones."""


def _settled(known: Basis) -> "Draws":
    """Seconds ahead of what is read behind a pre-copy pass, and of its lists."""
    made = drawn("settle", *assumptions.SETTLE) + drawn("lists", *assumptions.LISTS)
    return made + steps(known, 1, detached=1)


def _flushed(known: Basis) -> "Draws":
    """Seconds of the flush of new behind a pre-copy pass. What it writes is in the seconds of the pass, which are no
    less than new's disk takes."""
    return steps(known, 1, detached=1)


def _starts(known: Basis) -> "Draws":
    """Seconds of a warm or cold pass over an empty data root: what is there and what is missing."""
    return 2 * empty_pass(known) + steps(known, 1, detached=1)


def _verified(known: Basis, read: "Draws | None", checking: Verify) -> Part:
    if checking is Verify.CHANGED:
        return verify(known, read)
    part = verify(replace(known, spec=replace(known.spec, history=replace(known.spec.history, timed={}))))
    return Part(
        part.name, part.seconds + read_whole(known), reading_whole(known).bound_by, reading_whole(known).evidence
    )


def _ending(known: Basis, checking: Verify) -> tuple[Part, ...]:
    """What follows the proof of the copy, in the order of a plan."""
    looks = looks_for_corruption(known) if checking is Verify.ALL else ()
    return (
        *(part for part in looks if part.name == Phase.CHECKSUMS),
        close_channel(known),
        start_new(known),
        *rebuild(known),
        *(part for part in looks if part.name == Phase.AMCHECK),
        cut_over(known),
        after_cutover(known),
    )


def _hopeless(known: Basis, parts: tuple[Part, ...], checking: Verify) -> tuple[str, ...]:
    """A warning where the stop is hardly shorter than a cold copy's."""
    cold = span(cold_copy(known, checking).downtime).likely
    warm = sum(span(part.seconds).likely for part in parts if part.stopped)
    if warm < GAIN * cold:
        return ()
    return (HARDLY,)


HARDLY = (
    "Pre-copy passes hardly shorten the downtime: the cluster changes about as fast as it is copied, or it "
    "is small. A copy with the cluster stopped is finished sooner."
)


def _copied(known: Basis) -> Part:
    moved = known.copy.seconds(known.size)
    if known.spec.history.whole_copy:
        return Part(Phase.COPY, moved, known.copy.bound_by, known.copy.evidence)
    moved = moved + _starts(known)
    if known.measured_whole:
        return Part(Phase.COPY, moved, known.copy.bound_by, known.copy.evidence)
    handled = known.files * drawn("a file", *assumptions.A_FILE)
    bound_by = known.copy.bound_by if span(moved).likely >= span(handled).likely else "files"
    return Part(Phase.COPY, moved + handled, bound_by, known.copy.evidence)


def _again(known: Basis, seconds: "Draws") -> "Draws":
    """Seconds of a pass over what changed in so many seconds."""
    return _moved(known, seconds) + looks(known)


def _moved(known: Basis, seconds: "Draws") -> "Draws":
    """Of it, the seconds in which what was touched is read, and what changed is sent."""
    return _touched(known, seconds) / known.read.draws + changed(known, seconds) / known.copy.draws


def _sums(known: Basis, seconds: "Draws") -> "Draws":
    """Seconds until what was touched in so many seconds is read and summed up, on both sides at once."""
    return reading(known).seconds(_touched(known, seconds))


def _touched(known: Basis, seconds: "Draws") -> "Draws":
    """Bytes of the files in which something changes in so many seconds.

    Likely those of the last hour, whether it is minutes or hours: the same files again. At best as many as the time is
    part of the hour; at worst more with every hour. A watch has seen how many they are, after minutes and after hours.
    """
    fresh, hourly, all_of = changed(known, seconds), known.spec.cluster.written_bytes, fixed(known.size)
    if known.spec.history.watched is not None:
        return most(fresh, known.spec.history.watched.touched(seconds, known.size))
    if hourly is None:
        return least(all_of, fresh * drawn("touched", *assumptions.TOUCHED))
    grown = (seconds / 3600) ** least(drawn("hot set", *assumptions.HOT_SET), fixed(1.0))
    return least(all_of, most(fresh, hourly * grown))


def _describe_touched(known: Basis) -> tuple[str, ...]:
    hourly = known.spec.cluster.written_bytes
    if known.spec.history.watched is not None:
        return describe_watch(known.spec.history.watched)
    if hourly is None:
        return ()
    return (
        (
            "The final sync reads the files that have changed since the last pre-copy pass. The estimate takes all "
            f"data files that were changed in the hour before the facts were read ({units.size(hourly)}), because "
            "usually the same files change again."
        ),
    )


def _binds(known: Basis, seconds: "Draws") -> str:
    """What the final sync waits for: the look through what was touched, or what is sent."""
    looked = _touched(known, seconds) / known.read.draws
    sent = changed(known, seconds) / known.copy.draws
    return "old disk" if share(looked - sent, 0.0) < 0.5 else known.copy.bound_by


def _guards(known: Basis) -> tuple[str, ...]:
    one_stream = (known.spec.link.streams or 1) == 1 and known.spec.copy.ssh_bytes_per_second != inf
    if known.copy.likely > ONE_STREAM_LIMIT and one_stream:
        return (f"{units.rate(known.copy.likely)} is more than a single ssh stream has ever been seen to carry.",)
    return ()
