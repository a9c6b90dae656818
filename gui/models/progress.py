"""The progress of a job and its remaining time, as far as these are known well enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import units
from core.jobs import Progress
from core.language import tr
from gui.models.execution import amount_copied
from gui.models.sentences import recorded

if TYPE_CHECKING:
    from core.api.execution import RunningStep
    from core.api.moves import Unfinished

EARLIEST_SECONDS = 3.0
EARLIEST_FRACTION = 0.02
SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage of a job that its progress speaks of. It began `began` seconds into the job with `first` done.

    What is reckoned in seconds is one stage from its beginning to its end, whatever its parts are called.
    """

    id: str
    began: float
    first: float


@dataclass(frozen=True, slots=True)
class Told:
    """What the banner and the page tell of an execution at one time, for the bar of the job that carries it out.

    Attributes:
        position: which step it is at, and how long the commands to come may take.
        title: the steps that are running; empty: none is.
        amount: how much the running step has copied, and how fast; empty if several are running, or none copies.
        server: the server of the running step; empty if several are running.
    """

    position: str
    title: str
    amount: str
    server: str = ""


def tell_execution(found: "Unfinished", running: Sequence["RunningStep"]) -> Told:
    """Return what is told of an execution."""
    steps = ", ".join(recorded(step.title) for step in running)
    if len(running) != 1:
        return Told(recorded(found.at), steps, "")
    return Told(recorded(found.at), steps, amount_copied(running[0]), running[0].server)


def find_stage(progress: Progress, elapsed: float, before: Stage | None) -> Stage:
    """Return the stage of this progress: the previous one, or a new one."""
    stage_id = "" if progress.unit == SECONDS else progress.id
    if before is not None and before.id == stage_id and progress.done >= before.first:
        return before
    return Stage(stage_id, elapsed, progress.done)


def remaining(progress: Progress, stage: Stage, elapsed: float) -> float | None:
    """Seconds that the stage may still take, by its own pace; None where the total is not known, or too little is done
    to tell: what was forecast in seconds is taken for as fast as its forecast then.
    """
    if progress.total is None or progress.total <= 0 or progress.done > progress.total:
        return None
    left = progress.total - progress.done
    spent, gained = elapsed - stage.began, progress.done - stage.first
    if spent < EARLIEST_SECONDS or gained <= 0 or gained < EARLIEST_FRACTION * progress.total:
        return left if progress.unit == SECONDS else None
    return left * spent / gained


def bytes_per_second(progress: Progress, stage: Stage, elapsed: float) -> float | None:
    """Return the rate of a stage that counts bytes; None if it is too early to tell."""
    spent, gained = elapsed - stage.began, progress.done - stage.first
    return gained / spent if progress.unit == "bytes" and gained > 0 and spent >= EARLIEST_SECONDS else None


def parts_done(done: float, total: float | None, parts: int) -> int | None:
    """Return how many of `parts` are done, for a progress bar, whose numbers end at 2 ** 31; None if unknown."""
    fraction = None if total is None else units.quotient(done, total)
    return None if fraction is None else round(min(1.0, max(0.0, fraction)) * parts)


def title(job: str, progress: Progress, told: Told | None = None) -> str:
    """Return what the job is doing now; `told`: of the execution that it carries out."""
    whole, server, doing = recorded(progress.whole), progress.server, recorded(progress.title)
    if progress.execution is not None:  # the figures in `whole` are of another time than those of the banner
        whole, server, doing = ("", server, doing) if told is None else (told.position, told.server, told.title)
    return ": ".join(part for part in (whole or job, server, doing) if part)


def amount(progress: Progress) -> str:
    """Return the amount as `3.2 GiB of 10 GiB` or `2 of 8`; without a total only what is done."""
    shown = units.size if progress.unit == "bytes" else units.count
    done = shown(progress.done)
    return done if progress.total is None else tr("{done} of {shown}").format(done=done, shown=shown(progress.total))


def words(progress: Progress | None, stage: Stage | None, elapsed: float, told: Told | None = None) -> str:
    """The line beside the bar: amount, pace, time elapsed, and what is left where that is known and no whole tells.

    Of an execution it tells what the other places tell: `told`, or else only the time elapsed.

    Of what is reckoned in seconds the elapsed and the left ones are said: those that were forecast for what is done are
    neither.
    """
    if progress is not None and progress.execution is not None:
        return told.amount if told is not None and told.amount else _elapsed(elapsed)
    parts = []
    in_seconds = progress is not None and progress.unit == SECONDS
    if progress is not None and not in_seconds and not (progress.whole and progress.unit == "steps"):
        parts.append(amount(progress))
        pace = None if stage is None else bytes_per_second(progress, stage, elapsed)
        parts += [units.rate(pace)] if pace is not None else []
    if progress is None or in_seconds or progress.unit == "steps" or not progress.whole:
        parts.append(_elapsed(elapsed))
    left = None
    if progress is not None and stage is not None and (in_seconds or not progress.whole):
        left = remaining(progress, stage, elapsed)
    if units.known(left) and left >= 1:
        parts.append(tr("about {value} left").format(value=units.time_left(left)))
    return " · ".join(parts)


def _elapsed(seconds: float) -> str:
    return tr("{elapsed} elapsed").format(elapsed=units.duration(int(seconds)) if seconds >= 1 else "0 s")
