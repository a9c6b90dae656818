"""How far a job is, in words, and how long it may still take: said only where it is known well enough."""

from dataclasses import dataclass

from core import units
from core.jobs import Progress

EARLIEST_SECONDS = 3.0
EARLIEST_FRACTION = 0.02


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage of a job that its progress speaks of. It began `began` seconds into the job with `first` done."""

    title: str
    began: float
    first: float


def stage_of(progress: Progress, elapsed: float, before: Stage | None) -> Stage:
    """The stage that this progress belongs to: the one before it, or a new one."""
    if before is not None and before.title == progress.title and progress.done >= before.first:
        return before
    return Stage(progress.title, elapsed, progress.done)


def remaining(progress: Progress, stage: Stage, elapsed: float) -> float | None:
    """Seconds that the stage may still take; None while too little is done to tell, or the total is not known."""
    if progress.total is None or progress.total <= 0 or progress.done > progress.total:
        return None
    left = progress.total - progress.done
    if progress.unit == "seconds":
        return left
    spent, gained = elapsed - stage.began, progress.done - stage.first
    if spent < EARLIEST_SECONDS or gained <= 0 or gained < EARLIEST_FRACTION * progress.total:
        return None
    return left * spent / gained


def bytes_per_second(progress: Progress, stage: Stage, elapsed: float) -> float | None:
    """The pace of a stage that tells bytes; None while it is too early to tell."""
    spent, gained = elapsed - stage.began, progress.done - stage.first
    return gained / spent if progress.unit == "bytes" and gained > 0 and spent >= EARLIEST_SECONDS else None


def title(job: str, progress: Progress) -> str:
    """What the job does now; of a long one how far it is as a whole, which names it well enough."""
    return ": ".join(part for part in (progress.whole or job, progress.title) if part)


def amount(progress: Progress) -> str:
    """`3.2 GiB of 10 GiB`, `2 of 8`, `35 s of 1 min 00 s`; without a total what is done alone."""
    shown = {"bytes": units.size, "seconds": units.duration}.get(progress.unit, units.count)
    done = shown(progress.done)
    return done if progress.total is None else f"{done} of {shown(progress.total)}"


def words(progress: Progress | None, stage: Stage | None, elapsed: float) -> str:
    """The line beside the bar: amount, pace, time elapsed, and what is left where that is known and no whole tells."""
    parts = []
    if progress is not None and not (progress.whole and progress.unit == "steps"):
        parts.append(amount(progress))
        pace = None if stage is None else bytes_per_second(progress, stage, elapsed)
        parts += [units.rate(pace)] if pace is not None else []
    if progress is None or progress.unit == "steps" or not progress.whole:
        parts.append(f"{units.duration(int(elapsed)) if elapsed >= 1 else '0 s'} elapsed")
    left = None
    if progress is not None and stage is not None and not progress.whole:
        left = remaining(progress, stage, elapsed)
    if left is not None and left >= 1:
        parts.append(f"about {units.duration(max(10, round(left, -1)) if left > 60 else max(1, round(left)))} left")
    return " · ".join(parts)
