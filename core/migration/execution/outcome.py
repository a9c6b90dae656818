"""What an execution did and how it ended: passes, comparisons and interruptions as data, the result in sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from core import units
from core.migration.execution.dressed import cost_sentences
from core.migration.execution.entry import by_hand, list_manual_rollback_steps
from core.migration.execution.rates import covered
from core.migration.execution.status import runs_as_before
from core.migration.execution.timeline import NOTEWORTHY_SECONDS, Account, Downtime, account, downtime
from core.migration.model import step_ids
from core.migration.model.estimate import Estimate, Method, Span
from core.migration.model.execution import CANCELLED_STEP, OVER, Execution, Kind, State, StepRun
from core.migration.model.plan import FollowUp, FollowUpGroup, Phase, Plan, Step
from core.servers.shell import command
from core.text import lines_of


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A heading of a word or two, and its sentences."""

    title: str
    sentences: tuple[str, ...]


GAP_SECONDS = 10.0
"""So long without any step in the downtime is an interruption; between two steps of an execution under way it is less
than a second."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a move or rehearsal has come to, in figures.

    Attributes:
        sent: bytes of cluster; `passes`: how many steps sent any.
        copy_rate: bytes of cluster a second, of the pass that brought the whole of it; None: none did.
        files_verified: how many files were found to be alike on both servers; None: they were not compared.
        seconds: from its start to its end, as the history shows it; None if the clock was set back meanwhile.
        command_seconds: of these, those in which a command ran; `expected_seconds`: what the plan expected of the
            commands, None if of none, or if the move was rolled back on its way.
        forecast: of a rehearsal, the downtime of the move by what was measured; None where nothing tells.
    """

    sent: int
    passes: int
    copy_rate: float | None
    files_verified: int | None
    seconds: float | None
    command_seconds: float
    expected_seconds: float | None
    forecast: Span | None = None


_LISTED = re.compile(r"^[^:\n]+: (\d+) files, \d+ bytes, ", re.MULTILINE)
"""A line of what `checksum_all` prints for each data root (resources/sh/verify.sh)."""


def result_of(execution: Execution) -> tuple[str, ...]:
    """Return the result of a move or rehearsal that is done or rolled back, in short sentences; empty of any other."""
    if execution.state not in OVER:
        return ()
    if execution.kind is Kind.REHEARSAL:
        return ("The dress rehearsal is done." if execution.dressed else "The copy rehearsal is done.",)
    done = execution.state is State.DONE
    said = ["The move is done." if done else "The move was rolled back to the old server."]
    down = downtime(execution, execution.ended_at or execution.started_at)
    if down is not None and down.ended_at is not None:
        said.append(f"Downtime {units.duration(down.seconds)}.")
    if done and (number := files_verified(execution)) is not None:
        said.append(f"{units.counted(number, 'file')} verified, 0 differences.")
    return tuple(said)


def figures_of(execution: Execution, estimate: Estimate | None = None) -> Figures | None:
    """Return the figures of a move or rehearsal that is done or rolled back; None of any other.

    Args:
        execution: the move or rehearsal.
        estimate: made after a rehearsal with what it measured.
    """
    if execution.state not in OVER:
        return None
    found = account(execution)
    commands = {step.number: step for step in execution.steps_taken if not step.by_person}
    runs = [run for run in execution.steps if run.back or run.number in commands]
    as_planned = execution.state is State.DONE
    expected = sum(step.expected_seconds or 0.0 for step in commands.values()) if as_planned else 0.0
    method = estimate.method(execution.plan.method) if estimate is not None else None
    rehearsed = execution.kind is Kind.REHEARSAL
    return Figures(
        sent=found.sent,
        passes=found.passes,
        copy_rate=found.copy_rate,
        files_verified=files_verified(execution),
        seconds=units.seconds_between(execution.started_at, execution.ended_at or execution.started_at),
        command_seconds=covered(runs),
        expected_seconds=expected or None,
        forecast=method.downtime_seconds if method is not None and rehearsed else None,
    )


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
        old = _as_it_was(dressed=execution.dressed)
        cost = cost_sentences(found.dress) if found.dress is not None else ()
        paragraphs = [
            Paragraph("Copied", _sent(found)),
            *_forecast(execution, estimate),
            Paragraph("Old cluster", (old,)),
            Paragraph("Server load", cost),
        ]
    else:
        paragraphs = [
            Paragraph("Result", result_of(execution)),
            Paragraph("Downtime", _downtime(found, down)),
            Paragraph("Copied", _sent(found)),
            Paragraph("Not checked", taken_on(execution)),
            Paragraph("Old cluster", _fenced(execution)),
            Paragraph("Remaining files", tuple(map(str, execution.plan.remains))),
            Paragraph("Follow-up", follow_up(execution)),
        ]
    kept = Paragraph("Details", _kept(execution.move))
    return tuple(paragraph for paragraph in (*paragraphs, kept) if paragraph.sentences)


def _taken_back(execution: Execution, down: Downtime | None) -> tuple[Paragraph, ...]:
    """The old cluster serves again: for how long it did not, and what the new server holds."""
    if down is None or down.ended_at is None:
        old = "The old cluster was not stopped."
    else:
        between = f"from {down.began_at:%H:%M:%S} to {down.ended_at:%H:%M:%S} UTC"
        seconds = units.duration(down.seconds)
        old = f"It runs again. Clients had no server for {seconds}, {between}."
        if runs_as_before(execution):
            old = f"It runs again as before. Clients had no server for {seconds}, {between}."
    new = (
        f"It is stopped. Another attempt begins with its files in {execution.plan.target}, and sends only changes.",
        f"To make another attempt: {command('pghaul', 'execute', execution.move)}",
    )
    return (
        Paragraph("Old cluster", (old,)),
        Paragraph("New cluster", new),
        Paragraph("Details", _kept(execution.move)),
    )


def _as_it_was(*, dressed: bool) -> str:
    if dressed:
        return (
            "It runs as before. Its copy was started on the new server, its databases were examined, and it was "
            "stopped again. The copied files stay on the new server, and the move begins with them."
        )
    return (
        "It runs as before: nothing was stopped or started. The copied files stay on the new server, and the move "
        "begins with them."
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
    """That the old cluster is kept from starting, and how it would be started all the same."""
    if not any(step.id == step_ids.FENCE_OLD for step in execution.plan.steps):
        return ()
    lines = list_manual_rollback_steps(execution.plan)
    asked = (
        "To go back to it all the same, and lose what clients have written to the new cluster, run one after the other:"
    )
    return (
        "It is stopped, and its fence keeps it from starting: never run two copies of one cluster at the same time.",
        *((asked, *(f"  {line}" for line in lines)) if lines else ()),
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
        f"The report on this execution: {command('pghaul', 'report', move, '-o', f'{move}.pdf')}",
    )


@dataclass(frozen=True, slots=True)
class PassName:
    """Which pass over the data roots it is.

    Attributes:
        phase: the phase of its steps.
        number, all: of a pre-copy pass which one it is, and how many the plan has; else 0.
        part: the family of the ids of its steps, such as `final-sync/rest`; empty where a plan of an
            earlier pghaul names none.
    """

    phase: Phase
    number: int = 0
    all: int = 0
    part: str = ""


@dataclass(frozen=True, slots=True)
class PassMade:
    """A pass over all data roots: what it sent in bytes of cluster, and from the start of its first to its last end.

    `seconds`: None if the clock was set back meanwhile. `left_out`: why it was not made; empty: it was. `attempt`:
    which try it is, from 1.
    """

    name: PassName
    started_at: datetime
    seconds: float | None
    bytes: int
    left_out: str = ""
    attempt: int = 1

    @property
    def bytes_per_second(self) -> float | None:
        """Its rate; None where it sent nothing."""
        return self.bytes / self.seconds if self.bytes and self.seconds else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A step and the other one that it was held against.

    Attributes:
        agreed: None where the step was not done, or was cancelled.
        output: what the other one printed.
        message: why they do not agree.
    """

    step: Step
    other: Step
    agreed: bool | None
    output: str
    message: str


@dataclass(frozen=True, slots=True)
class Break:
    """Where it ended on its way, and when it was gone on with; None: not yet, or by the way back.

    In the downtime, a time in which no step ran is one too, as where it was paused or pghaul had ended in between.
    """

    at: datetime
    title: str
    why: str
    resumed_at: datetime | None


def passes(execution: Execution) -> tuple[PassMade, ...]:
    """Return the passes in the order in which they were made, each over all its data roots, the tries of one apart."""
    names = {step.number: _pass_name(execution.plan, step) or PassName(step.phase) for step in execution.plan.steps}
    groups: list[list[StepRun]] = []
    for run in _forward(execution):
        if run.exit_status != 0 or (run.bytes is None and not _left_out(execution, run)):
            continue
        last = groups[-1] if groups else []
        same = bool(last) and names[last[0].number] == names[run.number]
        if same and run.number not in {each.number for each in last}:
            last.append(run)
        else:
            groups.append([run])
    return tuple(_pass(names[runs[0].number], runs) for runs in groups)


def _pass(name: PassName, runs: Sequence[StepRun]) -> PassMade:
    began = min(run.started_at for run in runs)
    ended = max(run.ended_at or run.started_at for run in runs)
    sent = sum(run.bytes or 0 for run in runs)
    left_out = next((run.message for run in runs if run.bytes is None), "")
    return PassMade(name, began, units.seconds_between(began, ended), sent, left_out, runs[0].attempt)


def _left_out(execution: Execution, run: StepRun) -> bool:
    return bool(run.message) and any(step.number == run.number and step.root for step in execution.plan.steps)


def _pass_name(plan: Plan, step: Step) -> PassName | None:
    """Return the pass that a step belongs to; None: by its id it belongs to none."""
    if step.precopy_pass and step.root:
        return PassName(step.phase, step.precopy_pass, max(each.precopy_pass for each in plan.steps))
    part = step_ids.family_of(step.id, step_ids.FINAL_SYNC_CHANGED, step_ids.FINAL_SYNC_REST, step_ids.COPY)
    return PassName(step.phase, part=part) if part is not None else None


def agreements(execution: Execution) -> tuple[Agreement, ...]:
    """What was held against each other, in the order of the plan."""
    steps = {step.id: step for step in execution.plan.steps}
    found = []
    for step in execution.plan.steps:
        name = step.verification.equals or (
            step.reads if step.reads == step_ids.TAKE_INVENTORY and step.verification.only_checks else ""
        )
        if not name or name not in steps:
            continue
        other, run = steps[name], execution.latest(step.number)
        printed = execution.latest(other.number)
        unseen = run is None or run.ended_at is None or run.void or run.exit_status == CANCELLED_STEP
        agreed = None if run is None or unseen else run.exit_status == 0
        output, message = printed.output if printed is not None else "", run.message if run is not None else ""
        found.append(Agreement(step, other, agreed, output, message))
    return tuple(found)


def follow_up(execution: Execution) -> tuple[str, ...]:
    """What is still to do once the new cluster is open, and what to know then, without the files that remain.

    What the steps since the cutover warned of comes first, then what the plan advises, and what could still be checked.
    A task that was ticked off is left out.
    """
    done = execution.follow_up_done
    tasks = (*_told(execution), *_recorded_advice(execution.plan.advice))
    checks = [f"  {by_hand(step)}" for step in execution.plan.later if step.id not in done]
    asked = ("To search the new cluster for corruption, run the commands of these checks:",) if checks else ()
    return (*(each.text for each in tasks if each.id not in done), *asked, *checks)


def follow_up_tasks(execution: Execution) -> tuple[FollowUp, ...]:
    """Return all follow-up tasks by their groups, then the information: the one source of every list and count."""
    plan = execution.plan
    later = (FollowUp(step.id, FollowUpGroup.VERIFY, step.title) for step in plan.later)
    found = (*_told(execution), *_recorded_advice(plan.advice), *later, *_recorded_remains(plan.remains))
    groups = tuple(FollowUpGroup)
    return tuple(sorted(found, key=lambda each: groups.index(each.group)))


def open_follow_up_tasks(execution: Execution) -> tuple[FollowUp, ...]:
    """Return the tasks that are to be done and not ticked off."""
    tasks = (each for each in follow_up_tasks(execution) if each.group is not FollowUpGroup.INFORMATION)
    return tuple(each for each in tasks if each.id not in execution.follow_up_done)


def _recorded_advice(advice: Sequence[FollowUp | str]) -> list[FollowUp]:
    """Return the advice of a plan. Plans of an earlier pghaul had the backup first and the cold memory last."""
    groups = [FollowUpGroup.BACK_UP, *[FollowUpGroup.VERIFY] * (len(advice) - 2), FollowUpGroup.INFORMATION]
    return [
        FollowUp(f"advice-{number}", group, one) if isinstance(one, str) else one
        for number, (one, group) in enumerate(zip(advice, groups, strict=False))
    ]


def _recorded_remains(remains: Sequence[FollowUp | str]) -> list[FollowUp]:
    """Return what remains on the servers. Plans of an earlier pghaul had the files of the old cluster first."""
    return [
        FollowUp(f"remains-{number}", FollowUpGroup.INFORMATION if number else FollowUpGroup.CLEAN_UP, one)
        if isinstance(one, str)
        else one
        for number, one in enumerate(remains)
    ]


def _told(execution: Execution) -> list[FollowUp]:
    """Return what the steps after the cutover have warned of."""
    number = next((step.number for step in execution.plan.steps if step.point_of_no_return), len(execution.plan.steps))
    found = []
    for step in execution.plan.steps:
        run = execution.latest(step.number) if step.number > number else None
        lines = lines_of(run.output) if run is not None and run.done else []
        told = [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]
        found += [FollowUp(f"{step.id}-{at}", FollowUpGroup.VERIFY, text) for at, text in enumerate(told, 1)]
    return found


def taken_on(execution: Execution) -> tuple[str, ...]:
    """What proofs could not see, and a person has taken on: what that was, who, and why."""
    runs = [execution.latest(step.number) for step in execution.plan.steps if step.verification.only_checks]
    return tuple(run.message for run in runs if run is not None and run.done and run.message)


def proven(execution: Execution) -> bool:
    """Whether both sides were found to hold the same."""
    return any(each.agreed is True for each in agreements(execution) if each.other.id == step_ids.CHECKSUMS_OLD)


def files_verified(execution: Execution) -> int | None:
    """Return how many files were found to be alike on both servers; None if they were not compared."""
    compared = (each for each in agreements(execution) if each.other.id == step_ids.CHECKSUMS_OLD and each.agreed)
    numbers = [int(number) for each in compared for number in _LISTED.findall(each.output)]
    return sum(numbers) if numbers else None


def breaks(execution: Execution) -> tuple[Break, ...]:
    """Where a step failed, was cancelled, or was lost from sight, one for all that ended together; and where no step
    ran in the downtime."""
    found: list[Break] = []
    runs = _forward(execution)
    for at, run in enumerate(runs):
        lost = run.ended_at is None and execution.state is not State.RUNNING
        if run.exit_status == 0 or (run.ended_at is None and not lost):
            continue
        ended = run.ended_at or run.started_at
        resumed = next((later.started_at for later in runs[at + 1 :] if later.started_at >= ended), None)
        if not found or found[-1].resumed_at != resumed:
            found.append(Break(ended, run.title, run.message or "its end was not seen", resumed))
    known = {each.resumed_at for each in found}
    gaps = (gap for gap in _gaps(execution, runs) if gap.resumed_at not in known)
    return tuple(sorted((*found, *gaps), key=lambda each: each.at))


def _gaps(execution: Execution, runs: Sequence[StepRun]) -> Iterator[Break]:
    """The times of the downtime in which no step ran, each with the step that had ended last."""
    down = downtime(execution, execution.ended_at or execution.started_at)
    if down is None:
        return
    last: StepRun | None = None
    for run in sorted(runs, key=lambda each: each.started_at):
        if last is not None and last.ended_at is not None:
            seconds = (run.started_at - last.ended_at).total_seconds()
            inside = down.began_at <= last.ended_at and (down.ended_at is None or last.ended_at < down.ended_at)
            if inside and seconds >= GAP_SECONDS:
                yield Break(last.ended_at, last.title, f"no step ran for {units.duration(seconds)}", run.started_at)
        if last is None or (run.ended_at is not None and (last.ended_at is None or run.ended_at >= last.ended_at)):
            last = run


def made_again(execution: Execution) -> tuple[PassName | str, ...]:
    """Return what ended well and was done once more, as a pre-copy pass that was asked for: passes, titles of steps."""
    names = {step.number: _pass_name(execution.plan, step) for step in execution.plan.steps}
    known, again = set[int](), dict[PassName | str, None]()
    for run in _forward(execution):
        if run.number in known:
            again[names.get(run.number) or run.title] = None
        if run.exit_status == 0:
            known.add(run.number)
    return tuple(again)


def stages(execution: Execution) -> dict[int, str]:
    """The heading of the phase of each step of the plan, by its number."""
    return {step.number: step.phase.heading for step in execution.plan.steps}


def _forward(execution: Execution) -> list[StepRun]:
    """The tries at the plan's own steps, without the way back."""
    return [run for run in execution.steps if not run.back]
