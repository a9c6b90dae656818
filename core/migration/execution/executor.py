"""One step of a plan, carried out and recorded: on a server, detached there, on the workstation, or by a person."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from core.errors import BlockedError, Cancelled, CommandError, HistoryError, PghaulError, UnreachableError
from core.facts.model import TrialStart
from core.jobs import CommandEnded, CommandStarted, Event, Job, Note, Progress
from core.migration.execution.progress import make_progress_event
from core.migration.execution.rsync_log import RsyncLog
from core.migration.execution.status import suggest_next_commands
from core.migration.execution.workstation import run_here
from core.migration.model import step_ids
from core.migration.model.execution import FOR_A_PERSON, Execution, ExecutionJournal, State, StepRun, StopAnswer
from core.migration.model.plan import OPERATOR, OperatorTask, Plan, RemoteCall, Step, call_of, functions_file
from core.redaction import CUT, end_without_secrets
from core.servers import remote_jobs
from core.servers.connection import Server
from core.servers.remote_jobs import RemoteJob
from core.servers.shell import Secret, call, with_secrets
from core.sides import Side
from core.text import first_line, own_sentence, sentence
from core.this_workstation import whoami

KEPT = 256 << 10
"""Characters of a step's output that the history keeps: its end."""

DEADLINE = 1800.0
"""Seconds after which a command that is not detached is ended: a start that takes longer needs eyes."""


class Operator(Protocol):
    """Who answers for the person at the workstation: the terminal, the window, or options given beforehand."""

    def announce(self, cluster: str) -> None:
        """An execution is about to begin, or to go on; raises InputError where another cluster's name was given."""
        ...

    def confirm_stop(self, cluster: str, connected: Sequence[str], *, warm: bool) -> StopAnswer:
        """Whether the person has typed the cluster's name, so that it may be stopped.

        `connected`: who is, a line each; `warm`: one more warm pass may be asked for instead.
        """
        ...

    def wants_to_end(self) -> bool:
        """Whether the person wants no further step to begin; asked between two of them."""
        ...

    def confirm_manual_step(self, step: Step) -> bool:
        """Wait until the person has done that step; False: it will not be done."""
        ...

    def accept_finding(self, found: str) -> str:
        """Why the person takes on what a step has found, in their words; empty: they do not."""
        ...

    def confirm_take_over(self, move: str, shown: str) -> bool:
        """Whether the person, shown these lines, has said the move's name: no seal vouches for what they tell of."""
        ...


@dataclass
class Executor:
    """An execution under way.

    Attributes:
        connect: from a side to the connected server, connecting it anew where need be.
        try_start: tries the start on new once more, before old is stopped; None where nothing is tried.
        outputs: what the steps printed since this process took over.
        passwords: of roles of the cluster, by the id of the step that logs in with it; kept nowhere else.
    """

    id: int
    journal: ExecutionJournal
    connect: Callable[[Side], Server]
    operator: Operator
    job: Job
    try_start: Callable[[Job], TrialStart | None] | None = None
    outputs: dict[int, str] = field(default_factory=dict)
    passwords: Mapping[str, Secret] = field(default_factory=dict)
    _reporting: threading.Lock = field(default_factory=threading.Lock)
    _asking: bool = False
    _plan: Plan | None = None
    _token: str | None = None

    def __post_init__(self) -> None:
        listened = self.job
        self.job = listened.relay(lambda event: self._report(listened, event))

    def _report(self, listened: Job, event: Event) -> None:
        with self._reporting:  # two steps may run side by side; whoever listens hears one after the other
            if not (self._asking and isinstance(event, Progress)):
                listened.report(_remove_job_tag(event))

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While a person is asked, no progress is shown over the question."""
        with self._reporting:
            self._asking = True
        try:
            yield
        finally:
            self._asking = False

    def tell_progress(self) -> None:
        """Report how far it is."""
        self.job.report(make_progress_event(self.execution, datetime.now(UTC)))

    @property
    def execution(self) -> Execution:
        """As the history has it now."""
        return self.journal.execution(self.id)

    @property
    def plan(self) -> Plan:
        """What is carried out; nothing changes it once the execution has begun."""
        # no cached_property: on Python 3.11 all instances share its lock, and a history on a server may hang
        if self._plan is None:
            self._plan = self.execution.plan
        return self._plan

    @property
    def token(self) -> str:
        """By which both servers know what this execution has left there."""
        if self._token is None:
            self._token = self.execution.token
        return self._token

    @property
    def sides(self) -> tuple[tuple[Side, str], ...]:
        """Each side with its data directory."""
        return ((Side.OLD, self.plan.data_directory), (Side.NEW, self.plan.target))


@dataclass(frozen=True, slots=True)
class StepOutput:
    """What a step printed, the bytes of cluster that it sent, and why it counts as left out; empty: it does not."""

    output: str
    bytes: int | None = None
    left_out: str = ""


def run_step(executor: Executor, step: Step, *, back: bool = False) -> None:
    """Run a step and record it.

    Raises:
        CommandError, BlockedError: it failed; it was not done.
        UnreachableError: a server was lost, and the step's end was not seen: its row stays open.
        Cancelled: the job was cancelled.
    """
    executor.job.check()
    latest = executor.execution.latest(step.number, back=back)
    run = StepRun(
        id=0,
        number=step.number,
        title=step.title,
        attempt=1 if latest is None else latest.attempt + 1,
        started_at=datetime.now(UTC),
        back=back,
    )
    run = replace(run, id=executor.journal.step_started(executor.id, run))
    _run_and_record(executor, step, run, lambda: _perform_step(executor, step, run))


def follow_earlier_step(executor: Executor, step: Step) -> bool:
    """Follow a detached step that an earlier process began, if it is still there; whether it was."""
    remote = step.remote
    if remote is None or not remote.detached:
        return False
    run = executor.execution.latest(step.number)
    if run is None or run.ended_at is not None:
        return False
    server = executor.connect(remote.side)
    found = _find_job(executor, server, step)
    if found is None:
        return False
    executor.job.report(Note(f"{server.name}: the step was begun earlier and is followed now: {step.title}"))
    unseen = timedelta(seconds=remote_jobs.ended_ago(server, found, executor.job) or 0)
    _run_and_record(executor, step, run, lambda: _follow_detached(executor, server, step, run, found), unseen)
    return True


def record_skipped_step(executor: Executor, step: Step, why: str) -> None:
    """Record that a step is not needed."""
    now = datetime.now(UTC)
    run = StepRun(0, step.number, step.title, 1, now)
    run = replace(run, id=executor.journal.step_started(executor.id, run))
    executor.journal.step_ended(replace(run, ended_at=now, exit_status=0, message=why))


def end_detached_steps(executor: Executor, side: Side) -> None:
    """End and remove every detached step of this execution on a side."""
    server = executor.connect(side)
    for each in remote_jobs.find(server, Job()):
        if executor.token in each.title:
            remote_jobs.kill(server, each, Job())
            remote_jobs.remove(server, each, Job())


def get_step_output(executor: Executor, step: Step) -> str:
    """What a step printed: now, or as the history has it; it is run again where that is not all of it."""
    if step.number not in executor.outputs:
        latest = executor.execution.latest(step.number)
        if latest is None or not latest.done or step.private or latest.output.startswith(CUT):
            run_step(executor, step)
        else:
            executor.outputs[step.number] = latest.output
    return executor.outputs[step.number]


def _run_and_record(
    executor: Executor, step: Step, run: StepRun, perform: Callable[[], StepOutput], unseen: timedelta = timedelta(0)
) -> None:
    """Record how it ends. `unseen`: how long ago that was, where nobody was there; its rate is reckoned by it."""
    try:
        printed = perform()
    except UnreachableError:
        raise
    except PghaulError as reported:
        error = _find_started_server(executor, step, run, reported) or reported
        failure = error.__cause__ if isinstance(error, BlockedError) else error  # of a proof, that of its command
        status = failure.exit_status if isinstance(failure, CommandError) else None
        said = (
            ""
            if isinstance(error, Cancelled)
            else _get_error_output(failure if isinstance(failure, CommandError) else error)
        )
        failed = replace(run, ended_at=datetime.now(UTC), exit_status=status or 1, message=error.message)
        executor.journal.step_ended(replace(failed, output=end_without_secrets(said, KEPT)))
        if error is reported:
            raise
        raise error from reported
    kept = "" if step.private else end_without_secrets(printed.output, KEPT)
    # the same now and as the history will have it, so that what was compared once compares again; or all of it
    executor.outputs[step.number] = printed.output if step.private or kept.startswith(CUT) else kept
    ended = max(run.started_at, datetime.now(UTC) - unseen)
    done = replace(run, ended_at=ended, exit_status=0, bytes=printed.bytes, output=kept, message=printed.left_out)
    executor.journal.step_ended(done)


def _find_started_server(executor: Executor, step: Step, run: StepRun, error: PghaulError) -> PghaulError | None:
    """Return the failure of a step on the old server as the consequence of somebody having started the stopped cluster.

    None where no server is running there, or one may be: before its stop, after the cutover, and in a rollback.
    """
    plan, execution = executor.plan, executor.execution
    proof = plan.step(step_ids.CHECK_STOPPED)
    if proof is None or run.back or step.side is not Side.OLD or not isinstance(error, CommandError):
        return None
    if not execution.done(proof.number) or execution.past_return:
        return None
    look = call_of(plan, call("refuse_running_server", plan.data_directory).text)
    try:
        executor.connect(step.side).run(look, Job(), user=proof.user, deadline=DEADLINE)
    except CommandError as found:
        return _make_step_error(step.server, step, found) if own_sentence(found.stderr) else None
    except PghaulError:  # the failure of the step counts, not that of this look
        return None
    return None


def _get_error_output(error: PghaulError) -> str:
    return error.stderr if isinstance(error, CommandError) else str(error)


def _perform_step(executor: Executor, step: Step, run: StepRun) -> StepOutput:
    match step.action:
        case RemoteCall() as remote:
            return _run_on_server(executor, step, remote, run)
        case OperatorTask(command=command) if command:
            return _run_on_workstation(executor, step, command)
    return _wait_for_manual_step(executor, step)


def _run_on_server(executor: Executor, step: Step, remote: RemoteCall, run: StepRun) -> StepOutput:
    server = executor.connect(remote.side)
    if remote.detached:
        return _run_detached(executor, server, step, remote, run)
    call, stdin = call_of(executor.plan, remote.call), _build_step_input(executor, remote)
    if step.id in executor.passwords:
        call = with_secrets({"PGPASSWORD": executor.passwords[step.id]}, call)
    try:
        beats = step.id == step_ids.MEASURE_QUERIES_OLD
        done = server.run(
            call, executor.job, user=remote.user, stdin=stdin, deadline=DEADLINE, title=step.title, beats=beats
        )
    except CommandError as error:
        if error.exit_status == FOR_A_PERSON and remote.reads == step_ids.CHECK_LISTENERS:
            return _ask_to_accept(executor, server.name, step, error)
        raise _make_step_error(server.name, step, error) from error
    return StepOutput(done.stdout)


def _ask_to_accept(executor: Executor, server: str, step: Step, error: CommandError) -> StepOutput:
    """What a person knows better than a server can see, by their word, which is recorded; without it BlockedError."""
    found = _find_failure_reason(error.stderr)
    with executor.asking():
        reason = " ".join(executor.operator.accept_finding(f"{server}: {found}").split())
    if not reason:
        raise BlockedError(
            f"{server}: {step.title} failed: {found}",
            "if the old server is kept out on purpose, say how clients reach the new cluster: "
            f"pghaul execute {executor.execution.move} --resume --client-route 'HOW'; it is recorded with your name",
        )
    looked, who = found.partition(". ")[0], whoami()
    return StepOutput(error.stderr, left_out=f"{sentence(looked)} Accepted by {who}: {reason}")


def _build_step_input(executor: Executor, remote: RemoteCall) -> bytes:
    """What the step reads: what another one printed, and the plan's functions where new is to keep them."""
    plan = executor.plan
    other = plan.step(remote.reads) if remote.reads else None
    said = "" if other is None else get_step_output(executor, other)
    kept = functions_file(plan.functions) if remote.takes_functions else ""
    return (said + kept).encode("utf-8", "surrogateescape")


def _make_step_error(server: str, step: Step, error: CommandError) -> PghaulError:
    """The failure by the step's title; its command stands in the plan and the history."""
    if error.exit_status is None:
        return error
    last = _find_failure_reason(error.stderr)
    if step.verification.only_checks and error.exit_status not in _NOT_RUN:
        return BlockedError(_describe_failure(server, step) + (f": {last}" if last else ""), error.hint)
    return CommandError(
        f"{_describe_failure(server, step)} with exit status {error.exit_status}" + (f": {last}" if last else ""),
        error.hint,
        command=error.command,
        exit_status=error.exit_status,
        stderr=error.stderr,
    )


def _describe_failure(server: str, step: Step) -> str:
    return f'{server}: the step "{step.title}" failed'


def _find_failure_reason(stderr: str) -> str:
    """Our own sentence among what a failed step said, with the words of the program ahead of it; else the last line.

    The sentence names what could not be done, and the program why: `No space left on device`.
    """
    own = own_sentence(stderr)
    if not own:
        return stderr.strip().rpartition("\n")[2]
    before, _, _ = f"\n{stderr}".partition("\npghaul: ")
    lines = [line.strip() for line in before.split("\n")[-_LINES_OF_A_PROGRAM:]]
    told = next((line for line in reversed(lines) if _PROGRAM_SAYS.match(line)), "")
    return f"{own} ({told})" if told and told not in own else own


_LINES_OF_A_PROGRAM = 4
"""psql says in a second line, and a third, what it asks itself."""


_PROGRAM_SAYS = re.compile(r"[\w./+-]+( error)?: \S")
"""How a program's complaint begins: by its name, as `sync: error syncing '/srv/pg': Input/output error`."""


_NOT_RUN = (126, 127)
"""Exit statuses of the shell: the program may not be executed, or is not there."""


def _wait_for_manual_step(executor: Executor, step: Step) -> StepOutput:
    with executor.asking():
        done = executor.operator.confirm_manual_step(step)
    if not done:
        raise BlockedError(
            f"Step {step.number} was not done: {step.title}.",
            suggest_next_commands(replace(executor.execution, state=State.STOPPED)),
        )
    return StepOutput("")


def _run_on_workstation(executor: Executor, step: Step, command: str) -> StepOutput:
    """The DBA's own command on the workstation, in the workstation's own shell."""
    executor.job.report(CommandStarted("workstation", OPERATOR, command, title=step.title))
    began = datetime.now(UTC)
    status = None
    try:
        done = run_here(command, executor.job)
        status = done.exit_status
    finally:
        seconds = (datetime.now(UTC) - began).total_seconds()
        executor.job.report(CommandEnded("workstation", command, status, seconds))
    if done.exit_status != 0:
        said = first_line(done.stderr)
        raise CommandError(
            f"workstation: `{step.call}` failed with exit status {done.exit_status}" + (f": {said}" if said else ""),
            command=command,
            exit_status=done.exit_status,
            stderr=done.stderr,
        )
    return StepOutput(done.stdout)


def _run_detached(executor: Executor, server: Server, step: Step, remote: RemoteCall, run: StepRun) -> StepOutput:
    call, stdin = call_of(executor.plan, remote.call), _build_step_input(executor, remote)
    try:
        begun = remote_jobs.start(
            server, call, executor.job, title=_job_title(executor, step), user=remote.user, stdin=stdin
        )
    except CommandError as error:
        raise _make_step_error(server.name, step, error) from error
    return _follow_detached(executor, server, step, run, begun)


def _follow_detached(executor: Executor, server: Server, step: Step, run: StepRun, begun: RemoteJob) -> StepOutput:
    """The end of a detached step. When the server is lost it goes on there, and nothing of it is removed."""
    log = RsyncLog(step.size)

    def grown(data: bytes) -> None:
        if log.add(data):
            with suppress(HistoryError):  # a copy does not end for want of its figures; its end is recorded or fails
                executor.journal.step_progressed(run.id, log.done, log.total)
                executor.tell_progress()

    try:
        done = remote_jobs.follow(server, begun, executor.job, on_output=grown)
    except UnreachableError:
        raise
    except PghaulError as error:
        remote_jobs.kill(server, begun, Job())
        _remove_job(server, begun)
        if isinstance(error, CommandError):
            raise _make_unseen_end_error(step, error, log.text()) from error
        raise
    _remove_job(server, begun)
    said = log.text()
    if done.exit_status != 0:
        hint = _HINTS.get(done.exit_status, "")
        ended = CommandError("", hint, command=step.call, exit_status=done.exit_status, stderr=said)
        raise _make_step_error(server.name, step, ended) from ended
    return StepOutput(said, log.sent)


def _make_unseen_end_error(step: Step, error: CommandError, stderr: str) -> CommandError:
    """The failure of a detached step whose exit status nobody knows: by its title, with the last that it said."""
    message, last = _TAG_WITHIN.sub("", error.message), _find_failure_reason(stderr)
    return CommandError(
        message + (f": {last}" if last else ""),
        error.hint,
        command=step.call,
        stderr=stderr,
        exit_status=error.exit_status,
    )


_ANEW = "The rsync daemon on the new server did not accept the copy. --resume starts it again and tries its port."

_HINTS = {
    10: _ANEW,
    11: "rsync could not write or read a file. Check whether the disk is full or read-only.",
    12: "The connection between the servers broke, or the new server has no space left.",
    23: "Some files could not be read or written. The lines above name them.",
    25: "More files than listed would have been deleted on the new server. Check whether all old disks are mounted.",
    30: "Nothing arrived for ten minutes. Check the network between the servers.",
    35: _ANEW,
    255: "The SSH connection between the servers broke. Check the network, and sshd on the new server.",
}
"""What rsync's exit status means; source: rsync(1), EXIT VALUES, and ssh(1)."""


def _remove_job(server: Server, begun: RemoteJob) -> None:
    remote_jobs.remove(server, begun, Job())


def _job_title(executor: Executor, step: Step) -> str:
    """By which its detached job is found again."""
    return f"{step.title} [{executor.token} {step.number}]"


def _remove_job_tag(event: Event) -> Event:
    """For people, without what a detached job is found again by."""
    return replace(event, title=_TAG.sub("", event.title)) if isinstance(event, CommandStarted) else event


_TAG = re.compile(r" \[[0-9a-f]{8} \d+\]$")
_TAG_WITHIN = re.compile(r" \[[0-9a-f]{8} \d+\]")


def _find_job(executor: Executor, server: Server, step: Step) -> RemoteJob | None:
    title = _job_title(executor, step)
    return next((each for each in remote_jobs.find(server, executor.job) if each.title == title), None)
