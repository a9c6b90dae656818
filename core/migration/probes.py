"""Probes of a move: short measurements of each link of the copy chain, and of a sample of the copy as a whole.

Each is bounded in bytes and seconds; none writes on old but the key's folder in /tmp. Whatever happens, the key, the
folders and the processes are gone afterwards; what a crash of the workstation left, the next probe of the move removes.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from hashlib import sha256

from core.errors import CommandError, InputError, ParseError, PghaulError
from core.facts.model import Facts
from core.jobs import Job, Note, Progress
from core.migration import passage as way_of
from core.migration.model import Move, Probe, ProbeJournal, Quantity
from core.migration.passage import Passage, address_of, passage
from core.migration.places import Place, places
from core.migration.probing import commands, wire
from core.migration.probing.timing import Timing, parse_timing
from core.servers.connection import Completed, Server
from core.servers.shell import Shell

_DEADLINE = 60.0


class _Site:
    """Both ends of the probes of a move.

    Attributes:
        reader: who reads the cluster on old; `writer`: who receives on new.
        place: the largest of the cluster's folders, from which samples are taken.
    """

    def __init__(self, old: Server, new: Server, old_facts: Facts, new_facts: Facts, move: Move, job: Job) -> None:
        cluster = old_facts.cluster(move.cluster)
        if cluster is None:
            raise InputError(
                f"the facts of {old_facts.server} know no cluster in {move.cluster}",
                f"read them again: pghaul facts {old_facts.server}",
            )
        self.old, self.new, self.move, self.job = old, new, move, job
        self.old_facts, self.new_facts = old_facts, new_facts
        self.reader = cluster.owner or old.profile.database_user
        self.writer = new.profile.database_user
        self.place: Place = max(places(move, cluster), key=lambda place: place.size_bytes or 0)
        self.address = address_of(new.profile, new.address)
        self.scratch_name = f".pghaul-probe-{sha256(move.name.encode()).hexdigest()[:12]}"

    def on_old(self, title: str, shell: Shell, job: Job | None = None, stdin: bytes = b"") -> Completed:
        return self.old.run(shell, job or self.job, user=self.reader, stdin=stdin, deadline=_DEADLINE, title=title)

    def on_new(self, title: str, shell: Shell) -> Completed:
        return self.new.run(shell, self.job, user=self.writer, deadline=_DEADLINE, title=title)


def probe(
    old: Server,
    new: Server,
    old_facts: Facts,
    new_facts: Facts,
    move: Move,
    journal: ProbeJournal,
    job: Job,
) -> tuple[Probe, ...]:
    """Measure read, write, wire, ssh and a sample end to end, one after the other; each is recorded as it ends.

    A link that cannot be measured is said and left out.

    Raises:
        InputError: the facts of old do not know the cluster.
        AuthenticationError: the rights to read the cluster or to write on new are missing.
        UnreachableError: a connection was lost.
        CommandError, ParseError: nothing at all could be measured; the first reason.
        Cancelled: the job was cancelled; everything has been removed.
    """
    site = _Site(old, new, old_facts, new_facts, move, job)
    measured: list[Probe] = []
    troubles: list[PghaulError] = []

    def take(position: int, quantity: Quantity, measure: Callable[[], tuple[Timing, str, Completed]]) -> None:
        job.report(Progress(f"probe: {quantity}", position, len(Quantity)))
        taken = _taken(quantity, measure, job, troubles)
        if taken is not None:
            journal.probe_taken(move.name, taken)
            measured.append(taken)

    take(0, Quantity.READ, lambda: _read(site))
    take(1, Quantity.WIRE, lambda: wire.measure(old, new, site.address, old_facts, new_facts, job))
    with _scratch(site) as scratch:
        take(2, Quantity.WRITE, lambda: _write(site, scratch))
        with _passage(site, scratch) as way:
            take(3, Quantity.SSH, lambda: _ssh(site, way))
            take(4, Quantity.END_TO_END, lambda: _end_to_end(site, way, scratch))
    job.report(Progress("probe", len(Quantity), len(Quantity)))
    if not measured:
        raise troubles[0]
    return tuple(measured)


def _taken(
    quantity: Quantity,
    measure: Callable[[], tuple[Timing, str, Completed]],
    job: Job,
    troubles: list[PghaulError],
) -> Probe | None:
    """One probe; None, and a warning, where its link could not be measured."""
    try:
        timing, method, completed = measure()
    except (CommandError, ParseError) as error:
        job.check()
        why = (
            (error.stderr.strip().splitlines() or [error.message])[-1]
            if isinstance(error, CommandError)
            else error.message
        )
        job.report(Note(f"{quantity} was not measured: {why}", level="warning"))
        troubles.append(error)
        return None
    return Probe(
        quantity=quantity,
        bytes_per_second=timing.bytes / timing.seconds,
        bytes=timing.bytes,
        seconds=timing.seconds,
        method=method,
        command=completed.command,
        raw=completed.stdout,
        taken_at=datetime.now(UTC),
    )


def _read(site: _Site) -> tuple[Timing, str, Completed]:
    completed = site.on_old("probe: read", commands.read(site.place.source))
    direct = "direct yes" in completed.stdout
    how = "past the page cache" if direct else "page cache dropped first"
    return parse_timing(completed.stdout), f"dd of the largest relation files, {how}", completed


def _write(site: _Site, scratch: str) -> tuple[Timing, str, Completed]:
    completed = site.on_new("probe: write", commands.write(scratch))
    return parse_timing(completed.stdout), "dd of random bytes, flushed at the end", completed


def _ssh(site: _Site, way: Passage) -> tuple[Timing, str, Completed]:
    completed = site.on_old("probe: ssh", commands.cipher(way))
    return parse_timing(completed.stdout), "zeros through one ssh stream", completed


def _end_to_end(site: _Site, way: Passage, scratch: str) -> tuple[Timing, str, Completed]:
    chosen = site.on_old("probe: choose a sample", commands.choose_sample(way, site.place.source)).stdout.split()
    sent = site.on_old("probe: end-to-end", commands.send_sample(way, site.place.source))
    landed = site.on_new("probe: wait for the disk", commands.arrived(scratch)).stdout
    how = f"the plan's own rsync of a sample of {chosen[-1]} files, until on new's disk"
    return parse_timing(f"{sent.stdout}\n{landed}"), how, sent


@contextmanager
def _scratch(site: _Site) -> Iterator[str]:
    """A folder for the writer on the target's file system, as root where that is allowed; gone on leaving."""
    user = "root" if site.new.can_become("root", site.job) else site.writer
    make = commands.make_scratch(site.move.target, site.scratch_name, site.writer)
    remove = commands.remove_scratch(site.move.target, site.scratch_name)
    try:
        yield site.new.run(make, site.job, user=user, title="probe: make a folder").stdout
    finally:
        _clean(site, lambda job: site.new.run(remove, job, user=user), f"the folder {site.scratch_name} on new")


@contextmanager
def _passage(site: _Site, scratch: str) -> Iterator[Passage]:
    """The way from old to new for these probes; the key is gone on both ends on leaving."""
    targets = [(commands.LABEL, scratch)]
    way = passage(
        site.move,
        site.new.profile,
        site.old_facts,
        targets,
        purpose="probe",
        address=site.address,
        login=site.new.login,
    )
    with ExitStack() as ends:  # each is cleaned up, whatever becomes of the other or of who listens
        ends.callback(_clean, site, lambda job: site.on_old("", way_of.remove_key(way), job), f"{way.folder} on old")
        forbid = way_of.forbid_key(way)
        ends.callback(_clean, site, lambda job: site.new.run(forbid, job, user=way.login), "the probe's key on new")
        key = site.on_old("probe: make a key", way_of.make_key(way)).stdout
        site.new.run(way_of.allow_key(way), site.job, user=way.login, stdin=key.encode(), title="probe: allow the key")
        hosts = site.new.run(way_of.read_host_keys(), site.job, title="probe: read the host keys").stdout
        site.on_old("probe: pin the host keys", way_of.pin_host_keys(way), stdin=hosts.encode())
        yield way


def _clean(site: _Site, remove: Callable[[Job], object], what: str) -> None:
    """Remove something with a job of its own, for the probe's may be cancelled; say what could not be removed."""
    try:
        remove(Job())
    except PghaulError as error:
        text = f"{what} could not be removed: {error.message}; the next probe of the move removes it"
        site.job.report(Note(text, level="warning"))
