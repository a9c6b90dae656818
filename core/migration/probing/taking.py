"""Both servers of the probes of a move, and how one probe is taken and recorded."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from core.errors import CommandError, ParseError, PghaulError
from core.facts.model import Facts
from core.jobs import Job, Note, Progress
from core.migration.findings.cluster import find_cluster
from core.migration.findings.data_roots import DataRoot, data_roots
from core.migration.model.move import Move
from core.migration.model.plan import Step, alone, functions_file, functions_of
from core.migration.model.probe import Probe, ProbeJournal, Quantity
from core.migration.model.transport import PLAIN, Transport
from core.migration.probing import commands
from core.migration.probing.timing import Timing, ratio_of
from core.migration.transports.copy_channel import new_server_address, unique_name
from core.servers.connection import Completed, Server
from core.servers.shell import Shell, lowered
from core.sides import Side
from core.text import complaint

DEADLINE_SECONDS = 60.0

_NONE: Mapping[Quantity, Probe] = {}


class ProbeContext:
    """Both servers of the probes of a move, and what the probes need to know about the cluster.

    Attributes:
        seed: a secret from which the names of files and folders are made, so that nobody can guess them.
        reader: the user who reads the cluster on the old server.
        writer: the user who receives the files on the new server.
        size_bytes: the size of the whole cluster.
        root: the largest data root, from which samples are taken.
        address: the address at which the old server reaches the new server.
        scratch_name: the name of the scratch folder.
    """

    def __init__(
        self, old: Server, new: Server, old_facts: Facts, new_facts: Facts, move: Move, seed: str, job: Job
    ) -> None:
        cluster = find_cluster(old_facts, move.cluster)
        self.old, self.new, self.move, self.seed, self.job = old, new, move, seed, job
        self.old_facts, self.new_facts = old_facts, new_facts
        self.size_bytes = cluster.size_bytes
        self.reader = cluster.owner or old.profile.database_user
        self.writer = new.profile.database_user
        self.root: DataRoot = max(data_roots(move, cluster), key=lambda root: root.size_bytes or 0)
        self.address = new_server_address(new.profile, new.address)
        self.scratch_name = f".pghaul-probe-{unique_name(move, seed)}"

    def on_old(self, title: str, shell: Shell, job: Job | None = None, stdin: bytes = b"") -> Completed:
        job = job or self.job
        return self.old.run(lowered(shell), job, user=self.reader, stdin=stdin, deadline=DEADLINE_SECONDS, title=title)

    def on_new(self, title: str, shell: Shell, stdin: str = "") -> Completed:
        given = stdin.encode(errors="surrogateescape")
        return self.new.run(shell, self.job, user=self.writer, stdin=given, deadline=DEADLINE_SECONDS, title=title)

    def carry_out(self, step: Step, job: Job, stdin: str = "") -> Completed:
        """Carry out a step of a plan for a probe, and return its result."""
        server = self.old if step.side is Side.OLD else self.new
        kept = functions_file(functions_of([step])) if step.remote is not None and step.remote.takes_functions else ""
        given, title = (stdin + kept).encode(errors="surrogateescape"), f"probe: {step.title}"
        return server.run(alone(step), job, user=step.user, stdin=given, deadline=DEADLINE_SECONDS, title=title)


Measured = tuple[Timing, str, Completed]


def again_if_nothing(measure: Callable[[], Measured], what: str, job: Job) -> Measured:
    """Return the measurement. It is repeated once if the first try returned none.

    The time for connecting is subtracted from that of a sample. If a busy host connects more slowly than shortly
    before, no time may be left.

    Raises:
        ParseError: neither try returned a measurement.
        Cancelled: the job was cancelled.
    """
    try:
        return measure()
    except ParseError:
        job.check()
        job.report(Note(f"{what} returned no measurement and is repeated"))
        return measure()


class ProbeRecorder:
    """Takes the probes of one pass, and records each as it ends.

    Attributes:
        taken: the probes so far.
        errors: the reasons why other probes could not be taken.
    """

    def __init__(self, move: str, journal: ProbeJournal, job: Job, again: Mapping[Quantity, Probe] = _NONE) -> None:
        self._move, self._journal, self._job, self._began_at = move, journal, job, datetime.now(UTC)
        self._again = again
        self.taken: list[Probe] = []
        self.errors: list[PghaulError] = []

    @property
    def rates(self) -> dict[Quantity, float]:
        """The rate of each link that was measured, in bytes per second."""
        return {probe.quantity: probe.bytes_per_second for probe in (*self._again.values(), *self.taken)}

    @property
    def samples(self) -> int:
        """The number of samples that were copied."""
        return sum(probe.quantity is Quantity.END_TO_END for probe in self.taken)

    def take(
        self, quantity: Quantity, measure: Callable[[], Measured], transport: Transport | None = None
    ) -> Probe | None:
        """Take a probe, record it and return it. An earlier result that is used again is returned instead.

        Returns None, and reports a warning, if the probe could not be taken.
        """
        if quantity in self._again:
            return self._again[quantity]
        of = f" ({transport.name})" if transport is not None and transport != PLAIN else ""
        self._job.report(Progress(f"probe:{quantity.name}{of}", f"probe: {quantity}{of}", len(self.taken), None))
        try:
            timing, method, completed = measure()
        except (CommandError, ParseError) as error:
            self._job.check()
            self._job.report(Note(f"{quantity}{of} was not measured: {reason_of(error)}", level="warning"))
            self.errors.append(error)
            return None
        taken = Probe(
            quantity=quantity,
            bytes_per_second=timing.bytes / timing.seconds,
            bytes=timing.bytes,
            seconds=timing.seconds,
            method=method,
            command=completed.command,
            raw=completed.stdout,
            taken_at=datetime.now(UTC),
            transport=transport,
            ratio=ratio_of(completed.stdout) if quantity is Quantity.END_TO_END else None,
            began_at=self._began_at,
        )
        self._journal.probe_taken(self._move, taken)
        self.taken.append(taken)
        return taken


def reason_of(error: CommandError | ParseError) -> str:
    """Return the last line of the command's error output, or the error's own message if there is none."""
    if isinstance(error, CommandError):
        return complaint(error.stderr) or error.message
    return error.message


@contextmanager
def scratch_folder(site: ProbeContext) -> Iterator[str]:
    """Create a folder for the writer on the target's file system, and remove it at the end.

    Uses root if that is allowed.
    """
    user = "root" if site.new.can_become("root", site.job) else site.writer
    make = commands.make_scratch(site.move.target, site.scratch_name, site.writer)
    remove = commands.remove_scratch(site.move.target, site.scratch_name)
    try:
        yield site.new.run(make, site.job, user=user, title="probe: make a folder").stdout
    finally:
        clean(
            site, lambda job: site.new.run(remove, job, user=user), f"the folder {site.scratch_name} on the new server"
        )


def clean(site: ProbeContext, remove: Callable[[Job], object], what: str) -> None:
    """Remove something, and report what could not be removed.

    It has its own job, because that of the probe may be cancelled.
    """
    try:
        remove(Job())
    except PghaulError as error:
        text = f"{what} could not be removed: {error.message}; the next probe of the move removes it"
        site.job.report(Note(text, level="warning"))
