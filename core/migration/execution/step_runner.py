"""Carry out single steps of a plan and record them: on a server, detached there, on the workstation, or by a person."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType

from core import this_workstation
from core.documents import each_text, redacted_text
from core.errors import (
    BlockedError,
    Cancelled,
    CommandError,
    HistoryError,
    PausedError,
    PghaulError,
    TakenOverError,
    UnreachableError,
)
from core.jobs import CommandEnded, CommandStarted, Event, Job, Note, Progress
from core.migration.execution.rsync_log import RsyncLog
from core.migration.execution.status import suggest_next_commands
from core.migration.execution.timeline import make_progress_event
from core.migration.model import step_ids
from core.migration.model.execution import (
    CANCELLED_STEP,
    FOR_A_PERSON,
    Execution,
    ExecutionJournal,
    Operator,
    State,
    StepRun,
)
from core.migration.model.plan import OPERATOR, OperatorTask, RemoteCall, Step, call_of, functions_file
from core.migration.model.schedule import FailedTry
from core.redaction import CUT, end_without_secrets
from core.servers import remote_jobs
from core.servers.connection import Server
from core.servers.remote_jobs import RemoteJob
from core.servers.shell import Secret, call, quoted, with_secrets
from core.sides import Side
from core.text import first_line, own_sentence, sentence
from core.this_workstation import HIDDEN, whoami

KEPT = 256 << 10
"""Characters of a step's output that the history keeps: its end."""

DEADLINE = 1800.0
"""Seconds after which a command that is not detached is ended: a start that takes longer needs eyes."""


@dataclass(frozen=True, slots=True)
class StepOutput:
    """What a step printed, the bytes of cluster that it sent, and why it counts as left out; empty: it does not."""

    output: str
    bytes: int | None = None
    left_out: str = ""


class StepRunner:
    """Carries out single steps of one execution and records them.

    It holds the execution in memory. Each event is recorded in the history first, and then applied to it. Every text
    of a run is redacted before both, so that it is the same in both.

    Attributes:
        id: the number of the execution in the history.
        journal: where the execution is recorded.
        connect: returns the connected server of a side, and connects it anew if need be.
        operator: answers the questions of the plan.
        job: reports what happens, and is cancelled by the user.
        outputs: what the steps have printed since this process took over, by their numbers.
        passwords: of roles of the cluster, by the id of the step that logs in with it; kept nowhere else.
        plan: what is carried out; nothing changes it once the execution has begun.
        token: by which both servers know what this execution has left there.
    """

    def __init__(
        self,
        execution_id: int,
        journal: ExecutionJournal,
        connect: Callable[[Side], Server],
        operator: Operator,
        job: Job,
        passwords: Mapping[str, Secret] = MappingProxyType({}),
    ) -> None:
        self.id = execution_id
        self.journal = journal
        self.connect = connect
        self.operator = operator
        self.job = job.relay(partial(self._report, job))
        self.outputs: dict[int, str] = {}
        self.passwords = passwords
        self._reporting = threading.Lock()
        self._asking = False
        self._applying = threading.Lock()
        self._execution = journal.execution(execution_id)
        self.plan = self._execution.plan
        self.token = self._execution.token

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
    def sides(self) -> tuple[tuple[Side, str], ...]:
        """Each side with its data directory."""
        return ((Side.OLD, self.plan.data_directory), (Side.NEW, self.plan.target))

    # --- the execution, in memory and in the history

    @property
    def execution(self) -> Execution:
        """The execution as this process has recorded it."""
        return self._execution

    def reload(self) -> Execution:
        """Read the execution again, and return it: before both servers are locked, others may have gone on with it."""
        with self._applying:
            self._execution = self.journal.execution(self.id)
            return self._execution

    def record_state(self, state: State, message: str = "") -> None:
        """Record how the execution stands."""
        self.journal.execution_changed(self.id, state, message)
        self.reload()

    def record_failed_try(self, failed: FailedTry) -> None:
        """Record a failure after which the execution waits and goes on."""
        self.journal.try_failed(self.id, failed)
        self.reload()

    def record_begun_try(self, at: datetime) -> None:
        """Record that the execution waits no more after a failure.

        Raises:
            TakenOverError: another process has gone on with it meanwhile.
        """
        self.journal.try_began(self.id, at)
        self.reload()

    def record_end(self, run: StepRun) -> None:
        """Record the end of a run, or what a later look has made of it."""
        ended = each_text(run, redacted_text)
        self.journal.step_ended(ended)
        self._apply(lambda execution: execution.with_ended(ended))

    def void_from(self, first: int) -> None:
        """Let the steps of the plan from that number on count as not done."""
        self.journal.steps_void(self.id, first)
        self._apply(lambda execution: execution.with_void(first))

    def _record_start(self, run: StepRun) -> StepRun:
        begun = each_text(run, redacted_text)
        started = replace(begun, id=self.journal.step_started(self.id, begun))
        self._apply(lambda execution: execution.with_started(started))
        return started

    def _record_progress(self, run: StepRun, done: int, total: int | None) -> None:
        self.journal.step_progressed(run.id, done, total)
        self._apply(lambda execution: execution.with_progress(run.id, done, total))

    def _apply(self, change: Callable[[Execution], Execution]) -> None:
        with self._applying:  # steps run side by side
            self._execution = change(self._execution)

    # --- steps

    def run(self, step: Step, *, back: bool = False) -> None:
        """Run a step and record it.

        Raises:
            CommandError, BlockedError: it failed; it was not done.
            UnreachableError: a server was lost, and the step's end was not seen: its row stays open.
            Cancelled: the job was cancelled.
        """
        self.job.check()
        latest = self.execution.latest(step.number, back=back)
        run = StepRun(
            id=0,
            number=step.number,
            title=step.title,
            attempt=1 if latest is None else latest.attempt + 1,
            started_at=datetime.now(UTC),
            back=back,
        )
        run = self._record_start(run)
        self._run_and_record(step, run, lambda: self._perform_step(step, run))

    def follow_earlier(self, step: Step) -> bool:
        """Follow a detached step that an earlier process began, if it is still there; whether it was."""
        remote = step.remote
        if remote is None or not remote.detached:
            return False
        run = self.execution.latest(step.number)
        if run is None or run.ended_at is not None:
            return False
        server = self.connect(remote.side)
        found = self._find_job(server, step)
        if found is None:
            return False
        self.job.report(Note(f"{server.name}: the step was begun earlier and is followed now: {step.title}"))
        unseen = timedelta(seconds=remote_jobs.ended_ago(server, found, self.job) or 0)
        self._run_and_record(step, run, lambda: self._follow_detached(server, step, run, found), unseen)
        return True

    def skip(self, step: Step, why: str) -> None:
        """Record that a step is not needed."""
        now = datetime.now(UTC)
        run = StepRun(0, step.number, step.title, 1, now)
        run = self._record_start(run)
        self.record_end(replace(run, ended_at=now, exit_status=0, message=why))

    def end_detached(self, side: Side) -> None:
        """End and remove every detached step of this execution on a side."""
        server = self.connect(side)
        for each in remote_jobs.find(server, Job()):
            if self.token in each.title:
                remote_jobs.kill(server, each, Job())
                remote_jobs.remove(server, each, Job())

    def output_of(self, step: Step) -> str:
        """What a step printed: now, or as the history has it; it is run again where that is not all of it."""
        if step.number not in self.outputs:
            latest = self.execution.latest(step.number)
            if latest is None or not latest.done or step.private or latest.output.startswith(CUT):
                self.run(step)
            else:
                self.outputs[step.number] = latest.output
        return self.outputs[step.number]

    def _run_and_record(
        self, step: Step, run: StepRun, perform: Callable[[], StepOutput], unseen: timedelta = timedelta(0)
    ) -> None:
        """Record how it ends. `unseen`: how long ago that was, where nobody was there; its rate is reckoned by it."""
        try:
            printed = perform()
        # Nobody has seen how the step ended, and it may still run. So its row stays open, and a resume follows it
        # instead of running it a second time beside itself. The same holds for a process that has gone on with it.
        except (UnreachableError, TakenOverError):
            raise
        except PghaulError as reported:
            error = self._find_started_server(step, run, reported) or reported
            failure = error.__cause__ if isinstance(error, BlockedError) else error  # of a proof, that of its command
            status = failure.exit_status if isinstance(failure, CommandError) else None
            said = (
                ""
                if isinstance(error, Cancelled)
                else _get_error_output(failure if isinstance(failure, CommandError) else error)
            )
            if isinstance(error, Cancelled | PausedError):
                status = CANCELLED_STEP
            failed = replace(run, ended_at=datetime.now(UTC), exit_status=status or 1, message=error.message)
            self.record_end(replace(failed, output=end_without_secrets(said, KEPT)))
            if error is reported:
                raise
            raise error from reported
        kept = "" if step.private else end_without_secrets(printed.output, KEPT)
        # the same now and as the history will have it, so that what was compared once compares again; or all of it
        self.outputs[step.number] = printed.output if step.private or kept.startswith(CUT) else kept
        ended = max(run.started_at, datetime.now(UTC) - unseen)
        done = replace(run, ended_at=ended, exit_status=0, bytes=printed.bytes, output=kept, message=printed.left_out)
        self.record_end(done)

    def _find_started_server(self, step: Step, run: StepRun, error: PghaulError) -> PghaulError | None:
        """Return the failure of a step on the old server as the consequence of a start of the stopped cluster.

        None where no server is running there, or one may be: before its stop, after the cutover, and in a rollback.
        """
        plan, execution = self.plan, self.execution
        proof = plan.step(step_ids.CHECK_STOPPED)
        if proof is None or run.back or step.side is not Side.OLD or not isinstance(error, CommandError):
            return None
        if not execution.done(proof.number) or execution.past_return:
            return None
        look = call_of(plan, call("refuse_running_server", plan.data_directory).text)
        try:
            self.connect(step.side).run(look, Job(), user=proof.user, deadline=DEADLINE)
        except CommandError as found:
            return _make_step_error(step.server, step, found) if own_sentence(found.stderr) else None
        except PghaulError:  # the failure of the step counts, not that of this look
            return None
        return None

    def _perform_step(self, step: Step, run: StepRun) -> StepOutput:
        match step.action:
            case RemoteCall() as remote:
                return self._run_on_server(step, remote, run)
            case OperatorTask(command=command) if command:
                return self._run_on_workstation(step, command)
        return self._wait_for_manual_step(step)

    def _run_on_server(self, step: Step, remote: RemoteCall, run: StepRun) -> StepOutput:
        server = self.connect(remote.side)
        if remote.detached:
            return self._run_detached(server, step, remote, run)
        call, stdin = call_of(self.plan, remote.call), self._build_step_input(remote)
        if step.id in self.passwords:
            call = with_secrets({"PGPASSWORD": self.passwords[step.id]}, call)
        try:
            beats = step.id == step_ids.MEASURE_QUERIES_OLD
            done = server.run(
                call, self.job, user=remote.user, stdin=stdin, deadline=DEADLINE, title=step.title, beats=beats
            )
        except CommandError as error:
            if error.exit_status == FOR_A_PERSON and remote.reads == step_ids.CHECK_LISTENERS:
                return self._ask_to_accept(server.name, step, error)
            raise _make_step_error(server.name, step, error) from error
        return StepOutput(done.stdout)

    def _ask_to_accept(self, server: str, step: Step, error: CommandError) -> StepOutput:
        """Return what a person knows better than a server can see; it is recorded. Without it raise BlockedError."""
        found = _find_failure_reason(error.stderr)
        with self.asking():
            reason = " ".join(self.operator.accept_finding(f"{server}: {found}").split())
        self.job.check()
        if not reason:
            raise BlockedError(
                f"{server}: {step.title} failed: {found}",
                "if the old server is kept out on purpose, say how clients reach the new cluster: "
                f"pghaul execute {quoted(self.execution.move)} --resume --client-route 'HOW'; it is recorded with your "
                "name",
            )
        looked, who = found.partition(". ")[0], whoami()
        return StepOutput(error.stderr, left_out=f"{sentence(looked)} Accepted by {who}: {reason}")

    def _build_step_input(self, remote: RemoteCall) -> bytes:
        """What the step reads: what another one printed, and the plan's functions where the new server is to keep
        them."""
        plan = self.plan
        other = plan.step(remote.reads) if remote.reads else None
        said = "" if other is None else self.output_of(other)
        kept = functions_file(plan.functions) if remote.takes_functions else ""
        return (said + kept).encode("utf-8", "surrogateescape")

    def _wait_for_manual_step(self, step: Step) -> StepOutput:
        with self.asking():
            done = self.operator.confirm_manual_step(step)
        self.job.check()  # who cancels while the question is open gives no answer
        if not done:
            raise PausedError(
                f"Step {step.number} was not done: {step.title}.",
                suggest_next_commands(replace(self.execution, state=State.STOPPED)),
            )
        return StepOutput("")

    def _run_on_workstation(self, step: Step, command: str) -> StepOutput:
        """The DBA's own command on the workstation, in the workstation's own shell."""
        self.job.report(CommandStarted("workstation", OPERATOR, command, title=step.title))
        began = time.monotonic()
        status = None
        try:
            done = run_here(command, self.job)
            status = done.exit_status
        finally:
            self.job.report(CommandEnded("workstation", command, status, time.monotonic() - began))
        if done.exit_status != 0:
            said = first_line(done.stderr)
            raise CommandError(
                f"workstation: `{step.call}` failed with exit status {done.exit_status}"
                + (f": {said}" if said else ""),
                command=command,
                exit_status=done.exit_status,
                stderr=done.stderr,
            )
        return StepOutput(done.stdout)

    def _run_detached(self, server: Server, step: Step, remote: RemoteCall, run: StepRun) -> StepOutput:
        call, stdin = call_of(self.plan, remote.call), self._build_step_input(remote)
        try:
            begun = remote_jobs.start(
                server, call, self.job, title=self._job_title(step), user=remote.user, stdin=stdin
            )
        except CommandError as error:
            raise _make_step_error(server.name, step, error) from error
        return self._follow_detached(server, step, run, begun)

    def _follow_detached(self, server: Server, step: Step, run: StepRun, begun: RemoteJob) -> StepOutput:
        """The end of a detached step. When the server is lost it goes on there, and nothing of it is removed."""
        log = RsyncLog(step.size)

        def grown(data: bytes) -> None:
            if log.add(data):
                # a copy does not end because its progress cannot be recorded; its end is recorded or fails
                with suppress(HistoryError):
                    self._record_progress(run, log.done, log.total)
                    self.tell_progress()

        try:
            done = remote_jobs.follow(server, begun, self.job, on_output=grown)
        except UnreachableError:
            raise
        except PghaulError as error:
            # A cancelled job, too: an rsync that goes on would write to the new server while its steps are undone. The
            # kill has a job of its own, because this one may be cancelled already.
            remote_jobs.kill(server, begun, Job())
            _remove_job(server, begun)
            if isinstance(error, CommandError):
                raise _make_unseen_end_error(step, error, log.text()) from error
            raise
        self.journal.refuse_taken_over(self.id)  # who has gone on with it reads the result there
        _remove_job(server, begun)
        said = log.text()
        if done.exit_status != 0:
            hint = _MAKE_SPACE if _DISK_IS_FULL.search(said) else _HINTS.get(done.exit_status, "")
            ended = CommandError("", hint, command=step.call, exit_status=done.exit_status, stderr=said)
            raise _make_step_error(server.name, step, ended) from ended
        return StepOutput(said, log.sent)

    def _job_title(self, step: Step) -> str:
        """By which its detached job is found again."""
        return f"{step.title} [{self.token} {step.number}]"

    def _find_job(self, server: Server, step: Step) -> RemoteJob | None:
        title = self._job_title(step)
        return next((each for each in remote_jobs.find(server, self.job) if each.title == title), None)


def _get_error_output(error: PghaulError) -> str:
    return error.stderr if isinstance(error, CommandError) else str(error)


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
    full = _DISK_IS_FULL.search(stderr)  # rsync only says last that something is missing
    told = full[0] if full is not None else told
    return f"{own} ({told})" if told and told not in own else own


_LINES_OF_A_PROGRAM = 4
"""psql says in a second line, and a third, what it asks itself."""


_PROGRAM_SAYS = re.compile(r"[\w./+-]+( error)?: \S")
"""How a program's complaint begins: by its name, as `sync: error syncing '/srv/pg': Input/output error`."""


_DISK_IS_FULL = re.compile(r"^rsync: .*\((?:28|122)\)$", re.MULTILINE)
"""What rsync says of a write that failed with ENOSPC or EDQUOT, which only its receiver can meet."""


_MAKE_SPACE = "The disk of the new server is full, or its quota is used up. Make space there, and go on with --resume."


_NOT_RUN = (126, 127)
"""Exit statuses of the shell: the program may not be executed, or is not there."""


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


_CONNECTION_BROKE = frozenset({None, 10, 12, 30, 35, 255})
"""Exit statuses of a pass that a broken connection leaves; None: the old server was restarted, or the pass was killed
there."""


_FAILS_AGAIN = re.compile(
    r"^(?:Host key verification failed\.|\S+: Permission denied \(|.*[Bb]ad configuration option|"
    r".*no matching .+ found|sudo: |.*: command not found\r?$|rsync: .*\((?:5|30)\)\r?$)",
    re.MULTILINE,
)
"""What is said where another try would fail too, although the status is one of a broken connection: by ssh, whose
messages are not translated, by a shell, and by rsync of EIO and EROFS."""


def broke_between_servers(error: CommandError) -> bool:
    """Return whether a pre-copy pass failed because the connection between the servers broke: it may come back."""
    if error.exit_status not in _CONNECTION_BROKE:
        return False
    return _DISK_IS_FULL.search(error.stderr) is None and _FAILS_AGAIN.search(error.stderr) is None


def _remove_job(server: Server, begun: RemoteJob) -> None:
    remote_jobs.remove(server, begun, Job())


def _remove_job_tag(event: Event) -> Event:
    """For people, without what a detached job is found again by."""
    return replace(event, title=_TAG.sub("", event.title)) if isinstance(event, CommandStarted) else event


_TAG = re.compile(r" \[[0-9a-f]{8} \d+\]$")


_TAG_WITHIN = re.compile(r" \[[0-9a-f]{8} \d+\]")


_LOOK = 0.2
"""Seconds between two looks whether the job was cancelled."""


@dataclass(frozen=True, slots=True)
class EndedCommand:
    """How a command on the workstation ended, and what it printed."""

    exit_status: int
    stdout: str
    stderr: str


def run_here(line: str, job: Job) -> EndedCommand:
    """Run the command line as the person who wrote it would. Cancelled with the job, all that it started ends with it.

    Raises:
        Cancelled: the job was cancelled.
    """
    # On Windows, the command is one text: in a list of words, quotes of the line would be escaped, which cmd does not
    # understand. With /s, cmd removes the outer quotes alone.
    windows = this_workstation.on_windows()
    process = subprocess.Popen(
        f'cmd /d /s /c "{line}"' if windows else ("/bin/sh", "-c", line),
        executable=this_workstation.windows_program("cmd") if windows else None,
        # It gets no input, because the terminal may be waiting for an answer to pghaul. It gets a session of its own,
        # so that a cancel can end everything that it has started.
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="oem" if windows else None,  # the code page of its consoles, in which cmd and its programs write
        errors="replace",
        start_new_session=True,
        creationflags=HIDDEN,
    )
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                stdout, stderr = process.communicate(timeout=_LOOK)
                return EndedCommand(process.returncode, stdout, stderr)
            job.check()
    except BaseException:  # a cancel too: the hook's processes must not outlive it
        _end(process)
        raise


def _end(process: "subprocess.Popen[str]") -> None:
    """Kill it with all that it has started, and read what it left unread."""
    if this_workstation.on_windows():  # which has no groups of processes; taskkill follows who has started whom
        words = [this_workstation.windows_program("taskkill"), "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False, creationflags=HIDDEN)
        process.kill()  # if taskkill was not allowed to
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
