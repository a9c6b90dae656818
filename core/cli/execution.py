"""`pghaul execute`: carry a move out, rehearse it, go on with it, look at it, end it, take it back."""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import ask, say, show, table
from core.errors import InputError
from core.migration.model.asked import seconds_of, size_of
from core.migration.model.dress import Dressing
from core.migration.model.execution import Execution, Kind, State, StepRun, StopAnswer
from core.migration.model.move import Verify
from core.migration.model.plan import Step
from core.migration.model.queries import Queries
from core.text import printable

if TYPE_CHECKING:
    from core.benchmarks.statistics import Interval
    from core.migration.execution.outcome import Paragraph
    from core.migration.execution.queries import QueryResults

_TRIES = 3
"""How often the cluster's name may be typed wrong."""
_AMCHECK_TIME = "1h"
_USUAL = Queries((), "")
_WARM = "warm"
"""What asks for one more warm pass instead of it."""


_DESCRIPTION = """\
Carry the move out: from fresh checks, which must show no blocker, and a fresh plan.
Whatever --verify says, names, sizes, times, modes and owners are compared of every file; with all, corruption is looked
for on new too: page checksums before its first start, tables and indexes after it.
What a rehearsal measures goes into later estimates."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    execute = nouns.add_parser("execute", help="carry the move out, or rehearse it", description=_DESCRIPTION)
    execute.add_argument("move")
    what = execute.add_mutually_exclusive_group()
    what.add_argument("--rehearsal", action="store_true", help="copy while old runs; stop and start nothing")
    what.add_argument(
        "--dress-rehearsal",
        action="store_true",
        help="the same, then start the copy on the new server, look at its databases, and stop it",
    )
    what.add_argument("--resume", action="store_true", help="go on with an execution that ended on its way")
    what.add_argument("--status", action="store_true", help="show how far the latest execution is")
    what.add_argument("--cancel", action="store_true", help="end an execution and take away what the copy needed")
    what.add_argument("--rollback", action="store_true", help="make old what it was, before new was opened")
    execute.add_argument(
        "--confirm",
        metavar="NAME",
        help="the cluster's name, by which it may be stopped unasked: it stands at the head of pghaul plan MOVE",
    )
    execute.add_argument(
        "--yes-to-hooks", action="store_true", help="take what a person does in the plan for done, without asking"
    )
    execute.add_argument(
        "--other-way",
        metavar="HOW",
        help="how clients reach the new cluster where a firewall keeps the old server from it on purpose: that the old "
        "server does not reach it is taken on, and recorded with your name",
    )
    execute.add_argument(
        "--take-over",
        metavar="MOVE",
        help="the move's name, by which an execution that your pghaul has not recorded counts as your own, unasked",
    )
    execute.add_argument(
        "--verify",
        choices=[each.value for each in Verify],
        default=Verify.CHANGED.value,
        help="which files are read in the stop to be compared: those that changed since a warm pass, or all "
        "(default: changed)",
    )
    execute.add_argument(
        "--anew", action="store_true", help="begin a new execution although an earlier one ended on its way"
    )
    dress = execute.add_argument_group("in a dress rehearsal")
    dress.add_argument(
        "--keep-wal",
        metavar="SIZE",
        help="end it where the old server would keep more WAL, such as 20GB (default: a quarter of its free space)",
    )
    dress.add_argument(
        "--amcheck",
        action="store_true",
        help="look for damaged B-tree indexes in the copy, in each database that has the extension amcheck",
    )
    dress.add_argument(
        "--amcheck-time",
        metavar="TIME",
        help="how long that may take; what is left then was not verified (default: 1h)",
    )
    _register_queries(execute)
    add_common(execute, server=True)
    execute.set_defaults(run=_execute)


def _register_queries(execute: argparse.ArgumentParser) -> None:
    queries = execute.add_argument_group("queries of your own, in a dress rehearsal")
    queries.add_argument(
        "--queries",
        action="append",
        metavar="FILE[@WEIGHT]",
        help="measure this script of pgbench's on the copy: transactions a second and latencies; may be repeated",
    )
    queries.add_argument(
        "--queries-as",
        metavar="ROLE",
        help="the role of the cluster that logs in and runs them, as an application does; no administrator",
    )
    queries.add_argument(
        "--queries-on-old",
        action="store_true",
        help="measure them on the old server too: it shows whether the new one is faster. They run in transactions "
        "that are read-only by default: what the functions, views and foreign tables of the role do for your "
        "application, they do here, too. pghaul asks for the password of the role first, in case the server does",
    )
    queries.add_argument(
        "--queries-in",
        metavar="DATABASE",
        help="the database that they run in (default: the only one with tables of clients)",
    )
    queries.add_argument(
        "--queries-clients", type=int, metavar="N", help=f"how many run them at a time (default: {_USUAL.clients})"
    )
    queries.add_argument(
        "--queries-seconds",
        type=int,
        metavar="SECONDS",
        help=f"how long each of the two runs on a server takes (default: {_USUAL.seconds})",
    )


@dataclass(frozen=True, slots=True)
class TerminalPeople:
    """The person at the terminal; what the options say, they are not asked.

    Attributes:
        confirm: the cluster's name as given beforehand.
        yes: every step of theirs is taken for done.
        own: the move's name as given beforehand, by which an execution is theirs.
        other_way: how clients reach the new cluster where the old server does not, as said beforehand.
    """

    confirm: str | None
    yes: bool
    own: str | None = None
    other_way: str | None = None

    def announce(self, cluster: str) -> None:
        """Before a night is lost to it, and before anything runs: the name as given is the cluster's.

        Raises:
            InputError: it is another one.
        """
        if self.confirm is not None and self.confirm != cluster:
            raise InputError(
                f"the cluster is called {cluster}, not {self.confirm}", f"nothing was begun; say --confirm '{cluster}'"
            )

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        """The name as given, else as typed now, under who is connected.

        Raises:
            InputError: another name was given, or there is nobody to ask.
        """
        self.announce(cluster)
        if self.confirm is not None:
            return StopAnswer.STOP
        say("\n" + "\n".join(["connected now:", *(f"   {printable(line)}" for line in connected or ("nobody",))]))
        other = f", or {_WARM} for one more warm pass first" if warm else ""
        question = f"next, {cluster} is stopped: its clients lose their connections. Type {cluster} to go on{other}: "
        for _ in range(_TRIES):
            typed = _typed(question, "--confirm NAME")
            if typed.strip() == cluster:
                return StopAnswer.STOP
            if warm and typed.strip().lower() == _WARM:
                return StopAnswer.WARM_FIRST
            if not typed:
                break
            question = f"that is not its name, and nothing was stopped. Type {cluster} to go on: "
        return StopAnswer.DECLINED

    def ends_here(self) -> bool:
        """No: at a terminal Ctrl-C ends it."""
        return False

    def has_done(self, step: Step) -> bool:
        """Whether the person says so."""
        if self.yes:
            return True
        from core.migration.plan.steps.opening import DECIDE

        say(f"\n{step.number}. {printable(step.title)}\n   {printable(step.reason)}")
        for line in step.table.splitlines():
            say(f"   {printable(line)}")
        what = "yours to do. Type done when it is, no to stop here"
        if step.name == DECIDE:
            what = "type done to open new now, no to leave it closed: clients wait then, until --resume or --rollback"
        while True:
            typed = _typed(f"   {what}: ", "--yes-to-hooks")
            if not typed or typed.strip().lower() in {"no", "n"}:
                return False
            if typed.strip().lower() in {"done", "yes", "y"}:
                return True

    def takes_on(self, found: str) -> str:
        """How clients reach the new cluster, as said beforehand, else as typed now.

        Nobody is asked where --yes-to-hooks stands for them, or there is no terminal.
        """
        if self.other_way is not None or self.yes or not sys.stdin.isatty():
            return self.other_way or ""
        say(f"\n{printable(found)}.")
        return ask(
            "   Is the old server kept out on purpose? Then type how clients reach the new cluster; it is recorded "
            "with your name. Nothing typed stops here: "
        )

    def take_over(self, move: str, shown: str) -> bool:
        """The move's name as given, else as typed; either way under all that would run."""
        say(f"\n{shown}")
        if self.own is not None:
            return self.own == move
        question = f"Type {printable(move)} to take it over, anything else to stop here: "
        return _typed(question, "--take-over MOVE").strip() == move


def _typed(question: str, option: str) -> str:
    """The line that is typed; empty at the end of the input."""
    if not sys.stdin.isatty():
        raise InputError("a person must answer here, and there is no terminal to ask on", f"answer by {option}")
    return ask(question)


def _execute(context: Context, options: argparse.Namespace) -> int:
    from core.actions import execution as actions

    people = TerminalPeople(options.confirm, options.yes_to_hooks, options.take_over, options.other_way)
    if options.anew and (options.resume or options.status or options.cancel or options.rollback):
        raise InputError("--anew begins an execution: it goes with --rehearsal, --dress-rehearsal or alone")
    if options.take_over and not (options.resume or options.rollback or options.cancel):
        raise InputError("--take-over is of an execution that there is: it goes with --resume, --rollback or --cancel")
    if options.other_way is not None:
        if options.rehearsal or options.dress_rehearsal or options.status or options.cancel or options.rollback:
            raise InputError("--other-way is of a move: it goes with --resume or alone")
        if not options.other_way.strip():
            raise InputError("how do clients reach the new cluster?", "say how with --other-way: it is recorded")
    asked = _asked(options)
    if options.status:
        execution, alive = actions.execution_status(context.session, options.move)
        return _show(execution, options, actions.outcome(context.session, execution), alive=alive)
    if options.resume:
        execution = actions.resume_execution(context.session, options.move, people, context.job)
    elif options.cancel:
        execution = actions.cancel_execution(context.session, options.move, people, context.job)
    elif options.rollback:
        execution = actions.roll_back_execution(context.session, options.move, people, context.job)
    else:
        kind = Kind.REHEARSAL if options.rehearsal or options.dress_rehearsal else Kind.REAL
        _refuse_unanswerable(kind, options)
        execution = actions.execute(
            context.session,
            options.move,
            kind,
            people,
            context.job,
            verify=Verify(options.verify),
            anew=options.anew,
            dressed=options.dress_rehearsal,
            asked=asked,
        )
    return _show(execution, options, actions.outcome(context.session, execution))


def _asked(options: argparse.Namespace) -> Dressing:
    """What a dress rehearsal is to do beyond its own steps."""
    given = {"--keep-wal": options.keep_wal, "--amcheck": options.amcheck, "--amcheck-time": options.amcheck_time}
    wanted = next((name for name, value in given.items() if value), None)
    if wanted is not None and not options.dress_rehearsal:
        raise InputError(f"{wanted} is of a dress rehearsal: it goes with --dress-rehearsal")
    if options.amcheck_time is not None and not options.amcheck:
        raise InputError("--amcheck-time is of --amcheck: say both")
    seconds = seconds_of(options.amcheck_time or _AMCHECK_TIME) if options.amcheck else None
    return Dressing(
        None if options.keep_wal is None else int(size_of(options.keep_wal)),
        None if seconds is None else math.ceil(seconds),
        _queries(options),
    )


def _queries(options: argparse.Namespace) -> Queries | None:
    """The queries that are to be measured, their scripts looked at; None where there are none."""
    beside = [
        f"--queries-{name}"
        for name in ("as", "on-old", "in", "clients", "seconds")
        if getattr(options, f"queries_{name.replace('-', '_')}") not in {None, False}
    ]
    if not options.queries and beside:
        raise InputError(f"{beside[0]} is of queries: name a script with --queries FILE")
    if not options.queries:
        return None
    if not options.dress_rehearsal:
        raise InputError("--queries is of a dress rehearsal: it goes with --dress-rehearsal")
    if options.queries_as is None:
        raise InputError(
            "as whom are the queries to run?",
            "name a role of the cluster with --queries-as ROLE: one that an application uses, and no administrator",
        )
    from core.migration.findings.query_scripts import check_queries, read_script

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
    """A night's work must not end at a question that nobody can answer."""
    if kind is Kind.REAL and not sys.stdin.isatty() and not (options.confirm and options.yes_to_hooks):
        raise InputError(
            "there is no terminal to ask on before the cluster is stopped", "add --confirm NAME and --yes-to-hooks"
        )


def _show(
    execution: Execution, options: argparse.Namespace, outcome: "tuple[Paragraph, ...]", *, alive: bool = False
) -> int:
    from core.migration.execution.queries import query_results

    queries = query_results(execution)
    if options.json:
        from core.migration.execution.account import account

        said = {"execution": execution, "alive": alive, "account": account(execution), "outcome": outcome}
        print_document({**said, "queries": queries})
    else:
        show("\n".join([text(execution, alive=alive), *query_lines(queries), *outcome_lines(outcome)]))
    return 0


def query_lines(results: "QueryResults | None") -> list[str]:
    """What the queries of a dress rehearsal took on each server, for people."""
    if results is None:
        return []
    from core.migration.execution.queries import METRICS, SHOWN, lines, missing, sentences

    rows = [
        (
            line.script or ("all scripts" if len(results.scripts) > 1 else results.scripts[0][0]),
            METRICS[line.metric],
            *(
                missing(results, line, place) if value is None else units.metric(line.metric, value)
                for place, value in enumerate(line.values)
            ),
            _ratio(line.ratio),
        )
        for line in lines(results)
    ]
    shown = table(("queries", "", *SHOWN, "new : old"), rows, right=(2, 3, 4))
    return ["", shown, *(f"  {printable(sentence)}" for sentence in sentences(results))]


def _ratio(ratio: "Interval | None") -> str:
    return "" if ratio is None else f"{units.ratio(ratio.ratio)} ({ratio.low:.2f} to {ratio.high:.2f})"


def outcome_lines(outcome: "tuple[Paragraph, ...]") -> list[str]:
    """What an execution came to, for people."""
    width = max((len(paragraph.title) for paragraph in outcome), default=0)
    lines = [""] if outcome else []
    for paragraph in outcome:
        for number, sentence in enumerate(paragraph.sentences):
            lines.append(f"{'' if number else paragraph.title:{width}}  {printable(sentence)}")
    return lines


def text(execution: Execution, *, alive: bool = False) -> str:
    """An execution for people: how it stands, then a line for each try at a step."""
    at_it = f", carried out by {execution.owner}" + ("" if alive else ", whose program has ended")
    stands = f"{execution.state}{at_it if execution.ended_at is None else ''}"
    head = f"execution {execution.id} of {execution.move}, {execution.kind}: {stands}"
    lines = [printable(head), *([f"  {printable(execution.message)}"] if execution.message else [])]
    lines += [f"  {printable(sentence)}" for sentence in _how_it_stands(execution)]
    if alive:
        from core.migration.execution.progress import sentences

        lines += [f"  {printable(sentence)}" for sentence in sentences(execution, datetime.now(UTC))]
    rows = [_row(run) for run in execution.steps]
    lines += ["", table(("step", "", "began (UTC)", "took", "sent", "came to"), rows, right=(0, 3, 4))]
    return "\n".join([*lines, *_next(execution, alive=alive)])


def _how_it_stands(execution: Execution) -> list[str]:
    """Of an execution that is not over: what is so on both servers, and for how long clients have had none."""
    if execution.state in {State.DONE, State.ROLLED_BACK}:
        return []
    from core.migration.execution.account import downtime
    from core.migration.execution.status import how_both_stand

    said, down = [how_both_stand(execution)], downtime(execution, datetime.now(UTC))
    if down is not None and down.ended_at is None:
        said.append(
            f"clients have had no server since {down.began_at:%H:%M:%S} UTC, for {units.duration(down.seconds)}"
        )
    return said


def _next(execution: Execution, *, alive: bool) -> list[str]:
    """Lines on what is to be done with an execution that ended on its way."""
    left = [step for step in execution.steps_taken if not execution.done(step.number)]
    if not left or alive or execution.state in {State.DONE, State.ROLLED_BACK}:
        return []
    from core.migration.execution.status import ways_on

    next_step = f"next: step {left[0].number}, {left[0].title}"
    return ["", printable(next_step), printable(f"  hint: {ways_on(execution)}")]


def _row(run: StepRun) -> tuple[str, ...]:
    took = (run.ended_at - run.started_at).total_seconds() if run.ended_at is not None else None
    came_to = "done" if run.done else "void" if run.void else run.message or "not ended"
    if run.done and run.message:
        came_to = f"left out: {run.message}"
    title = f"back: {run.title}" if run.back else run.title
    sent = units.size(run.bytes) if run.bytes is not None else ""
    return str(run.number), title, f"{run.started_at:%Y-%m-%d %H:%M:%S}", units.duration(took), sent, came_to
