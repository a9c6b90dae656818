"""An execution's end in sentences: for the terminal, the window and whoever reads them later."""

from dataclasses import dataclass

from core import units
from core.migration.execution.account import NOTEWORTHY_SECONDS, Account, Downtime, account, downtime
from core.migration.execution.dressed import cost_sentences
from core.migration.execution.entry import list_manual_rollback_steps
from core.migration.execution.status import runs_as_before
from core.migration.execution.summary import follow_up, taken_on
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate, Method, Span
from core.migration.model.execution import Execution, Kind, State
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
        return (Paragraph("Old cluster", _fenced(execution)),) if execution.past_return else ()
    if execution.kind is Kind.REHEARSAL:
        old = _AS_IT_WAS_DRESSED if execution.dressed else _AS_IT_WAS
        cost = cost_sentences(found.dress) if found.dress is not None else ()
        paragraphs = [
            Paragraph("Copied", _sent(found)),
            *_forecast(execution, estimate),
            Paragraph("Old cluster", (old,)),
            Paragraph("Server load", cost),
        ]
    else:
        paragraphs = [
            Paragraph("Downtime", _downtime(found, down)),
            Paragraph("Copied", _sent(found)),
            Paragraph("Not checked", taken_on(execution)),
            Paragraph("Old cluster", _fenced(execution)),
            Paragraph("Remaining files", execution.plan.remains),
            Paragraph("Follow-up", follow_up(execution)),
        ]
    kept = Paragraph("Details", _kept(execution.move))
    return tuple(paragraph for paragraph in (*paragraphs, kept) if paragraph.sentences)


def _taken_back(execution: Execution, down: Downtime | None) -> tuple[Paragraph, ...]:
    """Old serves again: for how long it did not, and what new holds."""
    if down is None or down.ended_at is None:
        old = "It was not stopped."
    else:
        between = f"from {down.began_at:%H:%M:%S} to {down.ended_at:%H:%M:%S} UTC"
        seconds = units.duration(down.seconds)
        old = f"It runs again. Clients had no server for {seconds}, {between}."
        if runs_as_before(execution):
            old = f"It runs again as before. Clients had no server for {seconds}, {between}."
    new = (
        f"It is stopped. Another attempt begins with its files in {execution.plan.target}, and sends only changes.",
        f"To try again: {command('pghaul', 'execute', execution.move)}",
    )
    return (
        Paragraph("Old cluster", (old,)),
        Paragraph("New cluster", new),
        Paragraph("Details", _kept(execution.move)),
    )


_AS_IT_WAS = (
    "It runs as before: nothing was stopped or started. The copied files stay on the new server, and the move begins "
    "with them."
)
_AS_IT_WAS_DRESSED = (
    "It runs as before. Its copy was started on the new server, its databases were examined, and it was stopped "
    "again. The copied files stay on the new server, and the move begins with them."
)


def _downtime(found: Account, down: Downtime | None) -> tuple[str, ...]:
    if down is None or down.ended_at is None:
        return ("The old cluster was stopped before this began, so the downtime was not measured.",)
    between = f"from the stop ({down.began_at:%H:%M:%S} UTC) until the cutover ({down.ended_at:%H:%M:%S} UTC)"
    if found.opened_at is not None and found.opened_at != down.ended_at:
        between = (
            f"from the stop ({down.began_at:%H:%M:%S} UTC) until {down.ended_at:%H:%M:%S} UTC, when the new cluster "
            f"listened where the old one had. The cutover was at {found.opened_at:%H:%M:%S} UTC"
        )
    said = [f"It lasted {units.duration(down.seconds)}, {between}."]
    if down.expected_seconds is not None:
        took, manual = units.duration(down.command_seconds), units.duration(down.people_seconds)
        expected = units.duration(down.expected_seconds)
        said.append(f"Commands took {took} ({expected} were planned), manual steps took {manual}.")
    if down.idle_seconds >= NOTEWORTHY_SECONDS:
        said.append(f"For {units.duration(down.idle_seconds)} no step was under way.")
    if found.asked_at is not None:
        said.append(f"The applications were to be stopped from {found.asked_at:%H:%M:%S} UTC on.")
    return tuple(said)


def _sent(found: Account) -> tuple[str, ...]:
    if not found.passes:
        return ("Nothing was sent: all of the cluster was on the new server already.",)
    said = f"{units.size(found.sent)} of the cluster were sent in {units.counted(found.passes, 'step')}."
    rate = f" The first full pass ran at {units.rate(found.copy_rate)}." if found.copy_rate is not None else ""
    return (said + rate,)


def _fenced(execution: Execution) -> tuple[str, ...]:
    """That old is kept from starting, and how it would be started all the same."""
    if not any(step.id == step_ids.FENCE_OLD for step in execution.plan.steps):
        return ()
    by_hand = list_manual_rollback_steps(execution.plan)
    asked = (
        "To go back to it all the same, and lose what clients have written to the new cluster, run one after the other:"
    )
    return (
        "It is stopped, and its fence keeps it from starting: never run two copies of one cluster at the same time.",
        *((asked, *(f"  {line}" for line in by_hand)) if by_hand else ()),
    )


def _forecast(execution: Execution, estimate: Estimate | None) -> list[Paragraph]:
    """What the move will take, by the measured rate."""
    method = estimate.method(execution.plan.method) if estimate is not None else None
    if method is None:
        return []
    said = [
        f"By what was measured now, the downtime takes {_span(method.downtime_seconds)}.",
        "Time for manual steps is not included.",
    ]
    if any(step.precopy_pass for step in execution.plan.steps):
        said.append(
            f"Before it, while the old cluster runs, it takes {_span(_ahead(method))}. It takes less if the new "
            "server has a copy already."
        )
    return [Paragraph("The move", tuple(said))]


def _ahead(method: Method) -> Span:
    """What comes before the stop; its ends are no differences of percentiles where those would lie the wrong way."""
    whole, down = method.duration_seconds, method.downtime_seconds
    likely = max(0.0, whole.likely - down.likely)
    return Span(min(likely, whole.low - down.low), likely, max(likely, whole.high - down.high))


def _span(span: Span) -> str:
    return f"{units.duration(span.likely)} ({units.duration(span.low)} to {units.duration(span.high)})"


def _kept(move: str) -> tuple[str, ...]:
    return (
        f"Each step with its times and output: {command('pghaul', 'execute', move, '--status', '--json')}",
        f"Each command that ran: {command('pghaul', 'history', 'commands', '--move', move)}",
        f"The report: {command('pghaul', 'report', move, '-o', f'{move}.pdf')}",
    )
