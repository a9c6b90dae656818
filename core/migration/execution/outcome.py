"""An execution's end in sentences: for the terminal, the window and whoever reads them later."""

from dataclasses import dataclass

from core import units
from core.migration.execution.account import NOTEWORTHY_SECONDS, Account, Downtime, account, downtime
from core.migration.execution.dressed import cost_sentences
from core.migration.execution.entry import back_by_hand
from core.migration.execution.status import as_before
from core.migration.execution.summary import follow_up, taken_on
from core.migration.model.estimate import Estimate, Method, Span
from core.migration.model.execution import Execution, Kind, State
from core.migration.plan.steps.copy import FENCE
from core.servers.shell import command


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A heading of a word or two, and its sentences."""

    title: str
    sentences: tuple[str, ...]


def outcome_of(execution: Execution, estimate: Estimate | None = None) -> tuple[Paragraph, ...]:
    """What an execution that is done, or taken back, came to; of one that is not, how new would be given up, once open.

    `estimate`: made after a rehearsal with what it measured: what the move itself will cost.
    """
    found, down = account(execution), downtime(execution, execution.ended_at or execution.started_at)
    if execution.state is State.ROLLED_BACK:
        return _taken_back(execution, down)
    if execution.state is not State.DONE:
        return (Paragraph("old", _fenced(execution)),) if execution.past_return else ()
    if execution.kind is Kind.REHEARSAL:
        old = _AS_IT_WAS_DRESSED if execution.dressed else _AS_IT_WAS
        cost = cost_sentences(found.dress) if found.dress is not None else ()
        paragraphs = [
            Paragraph("sent", _sent(found)),
            *_forecast(execution, estimate),
            Paragraph("old", (old,)),
            Paragraph("server load", cost),
        ]
    else:
        paragraphs = [
            Paragraph("downtime", _downtime(found, down)),
            Paragraph("sent", _sent(found)),
            Paragraph("not looked at", taken_on(execution)),
            Paragraph("old", _fenced(execution)),
            Paragraph("still there", execution.plan.remains),
            Paragraph("next", follow_up(execution)),
        ]
    kept = Paragraph("kept", _kept(execution.move))
    return tuple(paragraph for paragraph in (*paragraphs, kept) if paragraph.sentences)


def _taken_back(execution: Execution, down: Downtime | None) -> tuple[Paragraph, ...]:
    """Old serves again: for how long it did not, and what new holds."""
    if down is None or down.ended_at is None:
        old = "this did not stop it"
    else:
        between = f"from {down.began_at:%H:%M:%S} to {down.ended_at:%H:%M:%S} UTC"
        seconds = units.duration(down.seconds)
        old = f"it runs again; clients had no server for {seconds}, {between}"
        if as_before(execution):
            old = f"it runs again, as before; clients had no server for {seconds}, {between}"
    new = (
        f"it is stopped; what was copied stays in {execution.plan.target} for another try, which sends what changed",
        f"to try again: {command('pghaul', 'execute', execution.move)}",
    )
    return (Paragraph("old", (old,)), Paragraph("new", new), Paragraph("kept", _kept(execution.move)))


_AS_IT_WAS = (
    "it runs as before: nothing was stopped or started; what was copied lies on new, and the move begins with it"
)
_AS_IT_WAS_DRESSED = (
    "it runs as before; its copy was started on the new server, its databases were looked at, and it was stopped "
    "again; the move begins with what lies there"
)


def _downtime(found: Account, down: Downtime | None) -> tuple[str, ...]:
    if down is None or down.ended_at is None:
        return ("old was stopped before this began, so none was measured",)
    between = f"from the stop of old ({down.began_at:%H:%M:%S} UTC) until new was open ({down.ended_at:%H:%M:%S} UTC)"
    said = [f"{units.duration(down.seconds)}, {between}"]
    if down.expected_seconds is not None:
        took = f"they took {units.duration(down.command_seconds)}, people {units.duration(down.people_seconds)}"
        said.append(f"the plan expected {units.duration(down.expected_seconds)} of commands; {took}")
    if down.idle_seconds >= NOTEWORTHY_SECONDS:
        said.append(f"for {units.duration(down.idle_seconds)} nothing was under way")
    if found.asked_at is not None:
        said.append(f"the applications were to be stopped from {found.asked_at:%H:%M:%S} UTC on")
    return tuple(said)


def _sent(found: Account) -> tuple[str, ...]:
    if not found.passes:
        return ("nothing: all of it lay on new already",)
    said = f"{units.size(found.sent)} of the cluster in {units.counted(found.passes, 'step')}"
    rate = f"; the first, whole one at {units.rate(found.copy_rate)}" if found.copy_rate is not None else ""
    return (said + rate,)


def _fenced(execution: Execution) -> tuple[str, ...]:
    """That old is kept from starting, and how it would be started all the same."""
    if not any(step.name == FENCE for step in execution.plan.steps):
        return ()
    by_hand = back_by_hand(execution.plan)
    asked = "should it be needed, with the loss of what clients have written to new, one after the other:"
    return (
        "it is stopped and kept from starting: two servers with one identity must never both run",
        *((asked, *(f"  {line}" for line in by_hand)) if by_hand else ()),
    )


def _forecast(execution: Execution, estimate: Estimate | None) -> list[Paragraph]:
    """What the move will take, by the measured rate."""
    method = estimate.method(execution.plan.method) if estimate is not None else None
    if method is None:
        return []
    said = [f"{_span(method.downtime_seconds)} of downtime, by what was measured now; people come on top"]
    if any(step.warm_pass for step in execution.plan.steps):
        said.append(f"before it, while old runs: {_span(_ahead(method))}; less where a copy lies on new already")
    return [Paragraph("the move", tuple(said))]


def _ahead(method: Method) -> Span:
    """What comes before the stop; its ends are no differences of percentiles where those would lie the wrong way."""
    whole, down = method.duration_seconds, method.downtime_seconds
    likely = max(0.0, whole.likely - down.likely)
    return Span(min(likely, whole.low - down.low), likely, max(likely, whole.high - down.high))


def _span(span: Span) -> str:
    return f"{units.duration(span.likely)} ({units.duration(span.low)} to {units.duration(span.high)})"


def _kept(move: str) -> tuple[str, ...]:
    return (
        f"each step with its times and output: {command('pghaul', 'execute', move, '--status', '--json')}",
        f"each command that ran: {command('pghaul', 'history', 'commands', '--move', move)}",
        f"the report: {command('pghaul', 'report', move, '-o', f'{move}.pdf')}",
    )
