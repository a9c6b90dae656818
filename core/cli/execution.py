"""`pghaul execute`: carry out a move, rehearse it, resume it, show its state, cancel it, roll it back."""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, add_former_name, print_document
from core.cli.own_settings import add_from_setting
from core.cli.sizes import size
from core.cli.terminal import ask, say, show, table
from core.errors import InputError
from core.migration.model.asked import seconds_of, size_of
from core.migration.model.dress import Queries, RehearsalOptions
from core.migration.model.execution import Execution, Kind, State, StepRun, StopAnswer
from core.migration.model.move import Verify
from core.migration.model.plan import Step
from core.migration.model.schedule import UNSCHEDULED, Schedule, describe_schedule, schedule_of
from core.text import lines_of, printable, sentence

if TYPE_CHECKING:
    from core.api.execution import Paragraph, QueryResults
    from core.benchmarks.statistics import Interval

_TRIES = 3
"""How often the cluster's name may be typed wrong."""
_CONFIRMED = timedelta(hours=1)
"""How late the question of --ask-at may come and still be answered by --confirm."""
_AMCHECK_TIME = "1h"
_USUAL = Queries((), "")
_PRE_COPY = {"copy", "warm"}
"""What asks for one more pre-copy pass instead of it; the second was asked for in an earlier release."""

_DESCRIPTION = """\
Carry out a move. pghaul first runs the checks again, which must find no blocker, and makes a new plan.
Names, sizes, times, modes and owners of all files are always compared. With --verify all, pghaul also looks for
corruption on the new server: it verifies page checksums before the first start, and tables and indexes after it.
Later estimates use what a rehearsal has measured."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    execute = nouns.add_parser("execute", help="carry out a move, or rehearse it", description=_DESCRIPTION)
    execute.add_argument("move", metavar="MOVE", help="name of the move")
    what = execute.add_mutually_exclusive_group()
    what.add_argument(
        "--rehearsal",
        action="store_true",
        help="copy rehearsal: copy while the old cluster is running; stop and start nothing",
    )
    what.add_argument(
        "--dress-rehearsal",
        action="store_true",
        help="like --rehearsal; then start the copy on the new server, examine its databases and stop it",
    )
    what.add_argument(
        "--resume",
        action="store_true",
        help="continue an execution that failed or was interrupted, cancelled or paused",
    )
    what.add_argument("--status", action="store_true", help="show the state of the latest execution")
    what.add_argument(
        "--cancel", action="store_true", help="end an execution and remove what the copy needed on the servers"
    )
    what.add_argument("--rollback", action="store_true", help="go back to the old server; possible until the cutover")
    execute.add_argument(
        "--confirm",
        metavar="NAME",
        help="stop the cluster without asking; give its name as the beginning of pghaul plan MOVE shows it",
    )
    manual = execute.add_argument(
        "--manual-steps-done", action="store_true", help="treat manual steps as done without asking"
    )
    add_former_name(execute, "--yes-to-hooks", manual)
    route = execute.add_argument(
        "--client-route",
        metavar="HOW",
        help="accept that the old server cannot connect to the new cluster because a firewall forbids it; say how "
        "clients reach the new cluster instead. This is recorded with your name",
    )
    add_former_name(execute, "--other-way", route)
    execute.add_argument(
        "--take-over",
        metavar="MOVE",
        help="take over an execution that your pghaul has not recorded, without asking; give the move's name",
    )
    add_from_setting(
        execute,
        "move.verify",
        "--verify",
        choices=[each.value for each in Verify],
        help="files whose contents are compared during the downtime: those changed since a pre-copy pass, or all",
    )
    start_over = execute.add_argument(
        "--start-over",
        action="store_true",
        help="begin a new execution even if an earlier one ended early or has completed the move",
    )
    add_former_name(execute, "--anew", start_over)
    execute.add_argument(
        "--start-at",
        metavar="TIME",
        help="run the checks and make the plan now, and run the checks again and start the pre-copy at this time, for "
        "example 22:00 or 2026-12-01T22:00. pghaul must keep running until then",
    )
    execute.add_argument(
        "--ask-at",
        metavar="TIME",
        help="ask at this time, and no earlier, whether the old cluster may be stopped; with --confirm, stop it then, "
        "but ask if that is more than an hour late. Until then, further pre-copy passes keep the copy fresh",
    )
    dress = execute.add_argument_group("options of a dress rehearsal")
    dress.add_argument(
        "--keep-wal",
        metavar="SIZE",
        help="end the rehearsal if the old server would have to keep more WAL than this, for example 20GB (default: a "
        "quarter of the free space there)",
    )
    dress.add_argument(
        "--amcheck",
        action="store_true",
        help="check the B-tree indexes of the copy in each database that has the extension amcheck",
    )
    dress.add_argument(
        "--amcheck-time",
        metavar="TIME",
        help="time limit of --amcheck; indexes that remain then are not checked (default: 1h)",
    )
    _register_queries(execute)
    add_common(execute, server=True)
    execute.set_defaults(run=_execute)


def _register_queries(execute: argparse.ArgumentParser) -> None:
    queries = execute.add_argument_group("your own queries in a dress rehearsal")
    queries.add_argument(
        "--queries",
        action="append",
        metavar="FILE[@WEIGHT]",
        help="run this pgbench script on the copy and measure transactions per second and latencies; may be repeated",
    )
    queries.add_argument(
        "--queries-as",
        metavar="ROLE",
        help="role that runs the queries: one that an application uses, not a superuser",
    )
    queries.add_argument(
        "--queries-on-old",
        action="store_true",
        help="run the queries on the old cluster too, to show which server is faster. They run in transactions that "
        "are read-only by default. Functions, views and foreign tables have the same effects as in your application. "
        "pghaul first asks for the password of the role, in case the server demands it",
    )
    queries.add_argument(
        "--queries-in",
        metavar="DATABASE",
        help="database to run the queries in (default: the only one that contains user tables)",
    )
    queries.add_argument(
        "--queries-clients", type=int, metavar="N", help=f"number of concurrent clients (default: {_USUAL.clients})"
    )
    queries.add_argument(
        "--queries-seconds",
        type=int,
        metavar="SECONDS",
        help=f"duration of each of the two runs on a server (default: {_USUAL.seconds})",
    )


@dataclass(slots=True)
class TerminalOperator:
    """The operator at the terminal. What the options answer is not asked."""

    confirm: str | None
    yes: bool
    own: str | None = None
    client_route: str | None = None
    confirmed_until: datetime | None = None
    """From then on the operator is asked although the name was given beforehand; None: it counts without end."""
    withdrawn: bool = False
    """Whether the execution went on by itself after a failure, so that nobody said how late the stop may be."""

    def announce(self, cluster: str) -> None:
        """Before a night is lost to it, and before anything runs: the name as given is the cluster's.

        Raises:
            InputError: it is another one.
        """
        if self.confirm is not None and self.confirm != cluster:
            raise InputError(
                f"the cluster is called {cluster}, not {self.confirm}",
                f"nothing was started; use --confirm '{cluster}'",
            )

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        """The name as given, else as typed now, under who is connected.

        Raises:
            InputError: another name was given, or there is nobody to ask.
        """
        self.announce(cluster)
        if self.confirm is not None:
            if self.confirmed_until is None and not self.withdrawn:
                return StopAnswer.STOP
            if self.confirmed_until is not None and datetime.now(UTC) <= self.confirmed_until:
                return StopAnswer.STOP
            why = (
                "The execution went on by itself after a failure, and there is no --ask-at"
                if self.confirmed_until is None
                else "The time of --ask-at passed more than an hour ago"
            )
            say(f"\n{why}, so --confirm does not count any more.")
            if not sys.stdin.isatty():
                return StopAnswer.DECLINED
        say("\n" + "\n".join(["clients connected now:", *(f"   {printable(line)}" for line in connected or ("none",))]))
        other = ", or copy to run one more pre-copy pass first" if warm else ""
        warning = f"The cluster {cluster} will be stopped, and the downtime begins. Its clients lose their connections."
        question = f"{warning} Type {cluster} to stop it{other}: "
        for _ in range(_TRIES):
            typed = _typed(question, "--confirm NAME")
            if typed.strip() == cluster:
                return StopAnswer.STOP
            if warm and typed.strip().lower() in _PRE_COPY:
                return StopAnswer.WARM_FIRST
            if not typed:
                break
            question = f"This is not the name of the cluster. Nothing was stopped. Type {cluster} to stop it: "
        return StopAnswer.DECLINED

    def withdraw_confirmation(self) -> None:
        """From now on the name as given counts only until an hour after --ask-at."""
        self.withdrawn = True

    def wants_to_end(self) -> bool:
        """No: at a terminal Ctrl-C ends it."""
        return False

    def confirm_manual_step(self, step: Step) -> bool:
        """Whether the person says so."""
        if self.yes:
            return True
        from core.migration.model.plan import Decision

        say(f"\n{step.number}. {printable(step.title)}\n   {printable(sentence(step.reason))}")
        for line in lines_of(step.table):
            say(f"   {printable(line)}")
        what = "This is a manual step. Type done when you have done it, or no to stop here"
        if isinstance(step.action, Decision):
            what = (
                "Type done to allow client connections on the new cluster, or no to keep it closed. Clients then "
                "wait until "
                "--resume or --rollback"
            )
        while True:
            typed = _typed(f"   {what}: ", "--manual-steps-done")
            if not typed or typed.strip().lower() in {"no", "n"}:
                return False
            if typed.strip().lower() in {"done", "yes", "y"}:
                return True

    def accept_finding(self, found: str) -> str:
        """How clients reach the new cluster, as said beforehand, else as typed now.

        Nothing is asked with --manual-steps-done, or without a terminal.
        """
        if self.client_route is not None or self.yes or not sys.stdin.isatty():
            return self.client_route or ""
        say(f"\n{printable(sentence(found))}")
        return ask(
            "   If this is intended, type how clients reach the new cluster; this is recorded with your name. Press "
            "Enter "
            "to stop here: "
        )

    def confirm_take_over(self, move: str, shown: str) -> bool:
        """The move's name as given, else as typed; either way under all that would run."""
        say(f"\n{shown}")
        if self.own is not None:
            return self.own == move
        question = f"Type {printable(move)} to take over this execution, or anything else to stop here: "
        return _typed(question, "--take-over MOVE").strip() == move


def _typed(question: str, option: str) -> str:
    """Return the typed line, or an empty text at the end of the input."""
    if not sys.stdin.isatty():
        raise InputError(
            "pghaul must ask a question here, but there is no terminal", f"answer it with the option {option}"
        )
    return ask(question)


def _execute(context: Context, options: argparse.Namespace) -> int:
    from core.api import execution as actions

    if options.start_over and (options.resume or options.status or options.cancel or options.rollback):
        raise InputError(
            "--start-over begins a new execution", "use it alone, or with --rehearsal or --dress-rehearsal"
        )
    if options.take_over and not (options.resume or options.rollback or options.cancel):
        raise InputError("--take-over concerns an existing execution", "add --resume, --rollback or --cancel")
    if options.client_route is not None:
        if options.rehearsal or options.dress_rehearsal or options.status or options.cancel or options.rollback:
            raise InputError("--client-route concerns a real move", "use it alone, or with --resume")
        if not options.client_route.strip():
            raise InputError("--client-route is empty", "say how clients reach the new cluster; this is recorded")
    asked, schedule = _rehearsal_options(options), _schedule(options)
    latest = context.session.store.latest_execution(options.move) if options.resume else None
    operator = TerminalOperator(
        options.confirm,
        options.manual_steps_done,
        options.take_over,
        options.client_route,
        confirmed_until(schedule if latest is None else latest.schedule, datetime.now(UTC)),
    )
    if options.status:
        execution, alive = actions.execution_status(context.session, options.move)
        return _show(execution, options, actions.describe_outcome(context.session, execution), alive=alive)
    if options.resume:
        execution = actions.resume_execution(context.session, options.move, operator, context.job)
    elif options.cancel:
        execution = actions.cancel_execution(context.session, options.move, operator, context.job)
    elif options.rollback:
        execution = actions.roll_back_execution(context.session, options.move, operator, context.job)
    else:
        kind = Kind.REHEARSAL if options.rehearsal or options.dress_rehearsal else Kind.REAL
        if schedule != UNSCHEDULED:
            say(describe_schedule(schedule, datetime.now(UTC)))
        _refuse_unanswerable(kind, options)
        execution = actions.execute(
            context.session,
            options.move,
            kind,
            operator,
            context.job,
            verify=Verify(options.verify),
            start_over=options.start_over,
            dressed=options.dress_rehearsal,
            asked=asked,
            schedule=schedule,
        )
    return _show(execution, options, actions.describe_outcome(context.session, execution))


def confirmed_until(schedule: Schedule, now: datetime) -> datetime | None:
    """Return until when --confirm counts: an hour beyond a time of the question that is to come.

    The workstation may sleep, or the pre-copy may take longer than expected. Then the hours may be over in which the
    clients can wait.
    """
    ask_at = schedule.ask_at
    return None if ask_at is None or ask_at <= now else ask_at + _CONFIRMED


def _schedule(options: argparse.Namespace) -> Schedule:
    """Return the times for which the execution waits."""
    if options.start_at is None and options.ask_at is None:
        return UNSCHEDULED
    if options.resume or options.status or options.cancel or options.rollback:
        raise InputError("--start-at and --ask-at concern a new execution", "an execution keeps its times")
    if options.ask_at is not None and (options.rehearsal or options.dress_rehearsal):
        raise InputError("--ask-at concerns a real move", "a rehearsal does not stop the old cluster")
    return schedule_of(options.start_at, options.ask_at, datetime.now(UTC))


def _rehearsal_options(options: argparse.Namespace) -> RehearsalOptions:
    """Return the options of a dress rehearsal."""
    given = {"--keep-wal": options.keep_wal, "--amcheck": options.amcheck, "--amcheck-time": options.amcheck_time}
    wanted = next((name for name, value in given.items() if value), None)
    if wanted is not None and not options.dress_rehearsal:
        raise InputError(f"{wanted} concerns a dress rehearsal", "add --dress-rehearsal")
    if options.amcheck_time is not None and not options.amcheck:
        raise InputError("--amcheck-time needs --amcheck", "add --amcheck")
    seconds = seconds_of(options.amcheck_time or _AMCHECK_TIME) if options.amcheck else None
    return RehearsalOptions(
        None if options.keep_wal is None else int(size_of(options.keep_wal)),
        None if seconds is None else math.ceil(seconds),
        _queries(options),
    )


def _queries(options: argparse.Namespace) -> Queries | None:
    """Return the queries to measure, with their checked scripts; None if there are none."""
    beside = [
        f"--queries-{name}"
        for name in ("as", "on-old", "in", "clients", "seconds")
        if getattr(options, f"queries_{name.replace('-', '_')}") not in {None, False}
    ]
    if not options.queries and beside:
        raise InputError(f"{beside[0]} needs --queries", "name a script: --queries FILE")
    if not options.queries:
        return None
    if not options.dress_rehearsal:
        raise InputError("--queries concerns a dress rehearsal", "add --dress-rehearsal")
    if options.queries_as is None:
        raise InputError(
            "--queries needs a role that runs the queries",
            "name one with --queries-as ROLE: a role that an application uses, not a superuser",
        )
    from core.api.execution import check_queries, read_script

    return check_queries(
        Queries(
            tuple(read_script(each) for each in options.queries),
            options.queries_as,
            options.queries_in,
            _USUAL.clients if options.queries_clients is None else options.queries_clients,
            _USUAL.seconds if options.queries_seconds is None else options.queries_seconds,
            options.queries_on_old,
        )
    )


def _refuse_unanswerable(kind: Kind, options: argparse.Namespace) -> None:
    """Raise an error if the execution would later ask a question that nobody can answer."""
    if kind is Kind.REAL and not sys.stdin.isatty() and not (options.confirm and options.manual_steps_done):
        raise InputError(
            "pghaul must ask before it stops the cluster, but there is no terminal",
            "add --confirm NAME and --manual-steps-done",
        )


def _show(
    execution: Execution, options: argparse.Namespace, outcome: "tuple[Paragraph, ...]", *, alive: bool = False
) -> int:
    from core.api.execution import account, next_options, query_results, without_script_texts

    queries = query_results(execution)
    if options.json:
        shown, options_left = without_script_texts(execution), () if alive else next_options(execution)
        document = {"execution": shown, "alive": alive, "next_options": options_left}
        print_document({**document, "account": account(execution), "outcome": outcome, "queries": queries})
    else:
        show("\n".join([text(execution, alive=alive), *query_lines(queries), *outcome_lines(outcome)]))
    return 0


def query_lines(results: "QueryResults | None") -> list[str]:
    """Return how long the queries of a dress rehearsal took on each server, as lines for display."""
    if results is None:
        return []
    from core.api import execution as actions

    rows = [
        (
            line.script or ("all scripts" if len(results.scripts) > 1 else results.scripts[0][0]),
            actions.QUERY_METRICS[line.metric],
            *(
                actions.explain_missing_query(results, line, place)
                if value is None
                else units.metric(line.metric, value)
                for place, value in enumerate(line.values)
            ),
            _ratio(line.ratio),
        )
        for line in actions.lines_of_queries(results)
    ]
    shown = table(("script", "metric", *actions.QUERY_RUNS, "new server / old server"), rows, right=(2, 3, 4))
    return ["", shown, *(f"  {printable(sentence)}" for sentence in actions.describe_queries(results))]


def _ratio(ratio: "Interval | None") -> str:
    return "" if ratio is None else f"{units.ratio(ratio.ratio)} ({ratio.low:.2f} to {ratio.high:.2f})"


def outcome_lines(outcome: "tuple[Paragraph, ...]") -> list[str]:
    """Return the result of an execution as lines for display."""
    width = max((len(paragraph.title) for paragraph in outcome), default=0)
    lines = [""] if outcome else []
    for paragraph in outcome:
        for number, line in enumerate(paragraph.sentences):
            lines.append(f"{'' if number else paragraph.title:{width}}  {printable(line)}")
    return lines


def text(execution: Execution, *, alive: bool = False) -> str:
    """An execution for people: how it stands, then a line for each try at a step."""
    at_it = f", run by {execution.owner}" + ("" if alive else " (this process has ended)")
    how = "paused by the operator" if execution.state is State.PAUSED else str(execution.state)
    stands = f"{how}{at_it if execution.ended_at is None else ''}"
    head = f"execution {execution.id} of {execution.move} ({execution.name}): {stands}"
    lines = [printable(head), *([f"  {printable(execution.message)}"] if execution.message else [])]
    lines += [f"  {printable(sentence)}" for sentence in _describe_state(execution)]
    if alive:
        from core.api.execution import describe_progress

        lines += [f"  {printable(sentence)}" for sentence in describe_progress(execution, datetime.now(UTC))]
    if execution.schedule.failed_tries:
        from core.api.execution import describe_failed_tries

        lines += [f"  {printable(sentence)}" for sentence in describe_failed_tries(execution.schedule)]
    latest = {(run.number, run.back): run for run in execution.steps}
    rows = [_row(run, repeated=run is not latest[run.number, run.back]) for run in execution.steps]
    lines += ["", table(("step", "title", "started (UTC)", "duration", "sent", "result"), rows, right=(0, 3, 4))]
    return "\n".join([*lines, *_next_steps(execution, alive=alive)])


def _describe_state(execution: Execution) -> list[str]:
    """Return lines on both clusters and the downtime so far, for an execution that is not finished."""
    if execution.state in {State.DONE, State.ROLLED_BACK}:
        return []
    from core.api.execution import describe_both_clusters, downtime

    lines, down = [describe_both_clusters(execution)], downtime(execution, datetime.now(UTC))
    if down is not None and down.ended_at is None:
        lines.append(
            f"Clients have been unable to connect since {down.began_at:%H:%M:%S} UTC ({units.clock(down.seconds)})."
        )
    return lines


def _next_steps(execution: Execution, *, alive: bool) -> list[str]:
    """Return lines on how to go on with an interrupted execution."""
    following = execution.next_step
    if following is None or alive or execution.state in {State.DONE, State.ROLLED_BACK}:
        return []
    from core.api.execution import suggest_next_commands

    next_step = f"The next step is {following.number}, {following.title}."
    return ["", printable(next_step), printable(f"  hint: {suggest_next_commands(execution)}")]


def _row(run: StepRun, *, repeated: bool) -> tuple[str, ...]:
    took = units.seconds_between(run.started_at, run.ended_at)
    void = "repeated later" if repeated else "must be repeated"
    came_to = "done" if run.done else void if run.void else run.message or "not finished"
    if run.done and run.message:
        came_to = f"skipped: {run.message}"
    title = f"rollback: {run.title}" if run.back else run.title
    sent = size(run.bytes) if run.bytes is not None else ""
    return str(run.number), title, f"{run.started_at:%Y-%m-%d %H:%M:%S}", units.duration(took), sent, came_to
