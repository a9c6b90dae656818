"""One pass over one server: all facts in two round trips, three where the rights of the first attempt were refused."""

import posixpath
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Self

from core.documents import each_text
from core.errors import AuthenticationError, CommandError, InputError
from core.facts import (
    accounts,
    block_devices,
    collation_order,
    data_files,
    discovery,
    file_systems,
    ha_and_poolers,
    kernel,
    machine,
    network,
    programs,
    security_policy,
    starters,
)
from core.facts.clusters import MOST, Found, clusters_script, parse_owner_answers, read_clusters, section_names
from core.facts.discovery import Candidate, Postmasters
from core.facts.host_environment import HostEnvironment
from core.facts.model import Cluster, Facts, FileSystem, Gap
from core.facts.reader import Reader
from core.facts.sections import NO_CLUSTER, RIGHTS, Answer, Section, bundle_sections, new_mark, parse_answers
from core.facts.starters import services
from core.jobs import Job, Progress
from core.redaction import without_secrets
from core.servers.connection import Server
from core.servers.profiles import Rights
from core.servers.remote_process import BoundedOutput
from core.servers.shell import Shell

# What surrounds the clusters of a host, out of the answers of the first round trip.

ENVIRONMENT: dict[str, Section[Any]] = {
    "accounts": accounts.ACCOUNTS,
    "ha_and_poolers": ha_and_poolers.SECTION,
    "virtual_addresses": ha_and_poolers.VIRTUAL,
    "autostart": starters.AUTOSTART,
    "limits": kernel.SESSION,
    "removal": accounts.REMOVAL,
    "security_policy": security_policy.SELINUX_AND_APPARMOR,
    "firewall": security_policy.FIREWALL,
    "listening": network.LISTENING,
    "kernel": kernel.KERNEL,
    "disks": block_devices.HEALTH,
    "datasets": block_devices.DATASETS,
    "schedule": starters.SCHEDULES,
}
"""Field of HostEnvironment -> the section that fills it."""

FURTHER: tuple[Section[dict[str, str]], ...] = (kernel.KERNEL_SETTINGS, programs.SERVER_PROGRAMS)
"""Sections of texts, each a dictionary: they stand in `Facts.further` by their titles, and wherever facts are shown."""


def host_sections(database_user: str) -> tuple[Section[Any], ...]:
    """The sections of a host, but for its clock, which is to be asked first of all."""
    # the profile says who owns clusters there: that name is asked of the directory service too
    environment = ENVIRONMENT | {"accounts": accounts.section(database_user)}
    return (machine.SYNCHRONISED, *environment.values(), *FURTHER)


def further(reader: Reader) -> dict[str, dict[str, str]]:
    """What the sections of `FURTHER` brought, by their titles."""
    return {section.title: found for section in FURTHER if (found := reader.read(section)) is not None}


def host_environment(reader: Reader, asked_at: float, answered_at: float, folders: Sequence[str]) -> HostEnvironment:
    """The environment of the clusters; `folders` are theirs, which scheduled jobs may name.

    Moments are the workstation's, in seconds since 1970: when the question left, when the server's time came in.
    """
    # which jobs bear on a cluster is known only when the clusters are
    about = replace(starters.SCHEDULES, parse=partial(starters.parse_schedules, folders=folders))
    now, synchronised_clock = reader.read(machine.NOW), reader.read(machine.SYNCHRONISED)
    return HostEnvironment(
        clock=None
        if now is None
        else machine.compare_clock(now, asked_at, answered_at, synchronised=synchronised_clock),
        **{field: reader.read(section) for field, section in (ENVIRONMENT | {"schedule": about}).items()},
    )


HOST: tuple[Section[Any], ...] = (
    machine.NOW,
    machine.SYSTEM,
    machine.PROCESSOR,
    machine.MEMORY,
    block_devices.BLOCK_DEVICES,
    block_devices.BLOCK_QUEUES,
    block_devices.ARRAYS,
    file_systems.MOUNTS,
    file_systems.SPACE,
    file_systems.INODES,
    file_systems.GEOMETRY,
    network.NETWORK,
    programs.TOOLS,
    discovery.DEBIAN,
    discovery.UNITS,
    discovery.USER_UNITS,
    discovery.POSTMASTERS,
    discovery.FOLDERS,
)
"""The clock stands first: between question and answer lies the least time then."""
_FIRST_DEADLINE = 60.0
_SECOND_DEADLINE = 600.0
_HIDDEN = "its data directory cannot be seen, because that needs root or the server runs in a container"
_NO_CLUSTER = Gap(
    NO_CLUSTER,
    "clusters",
    "pg_lsclusters, systemd units, running servers and the common data directories show no PostgreSQL cluster; "
    "name the data directory if there is one",
)


def collect(
    server: Server, job: Job, *, folders: Sequence[str] = (), locales: Sequence[str] = (), targets: Sequence[str] = ()
) -> Facts:
    """Everything that pghaul knows about a server, in at most three round trips; it only reads.

    Args:
        server: a connected server.
        job: told of the progress; a cancel ends what runs on the server.
        folders: data directories that the DBA names, absolute.
        locales: libc locales to sort a list under, besides those that the running clusters use.
        targets: folders, absolute, whose names are to be read: a copy is to go there.

    Raises:
        InputError: a named folder is not absolute.
        ServerError: the server could not be asked at all. Whatever else fails is a gap of the facts.
        Cancelled: the job was cancelled.
    """
    named = _named(folders)
    trips = _Trips(server, job)
    wanted = _ExtraSections.of(locales, targets)
    sections = [*HOST, *host_sections(server.profile.database_user), *wanted.sections]
    names = [section.name for section in sections]
    # Two trips, because the second one depends on the first: which folders may hold clusters is known only from the
    # units, processes and lists of the host.
    first = trips.ask(lambda mark: bundle_sections(mark, sections), names, _FIRST_DEADLINE, "facts of the host")
    reader = Reader(first)
    running = reader.read(discovery.POSTMASTERS) or Postmasters()
    started_by = _started_by(reader)
    candidates = _bounded(reader, discovery.merge_candidates([*named, *_candidates(reader, running, started_by)]))
    found = _clusters(trips, candidates, running, server.profile.database_user) if candidates else Found((), (), {})
    private = {section.name for section in sections if section.private}
    raw = {name: answer.shown for name, answer in first.items() if name not in private} | found.raw
    facts = _facts(server.name, trips, reader, wanted, found, started_by)
    return each_text(replace(facts, raw=raw), without_secrets)


@dataclass(frozen=True, slots=True)
class _ExtraSections:
    """What is asked besides: a list sorted under those locales, the names in those folders; None: not."""

    order: Section[Any] | None
    entries: Section[Any] | None

    @classmethod
    def of(cls, locales: Sequence[str], targets: Sequence[str]) -> Self:
        possible = [folder for folder in targets if not {"\n", "\0"} & set(folder)]  # no plan can go to others
        return cls(
            collation_order.section(locales) if locales else None,
            data_files.section(possible) if possible else None,
        )

    @property
    def sections(self) -> list[Section[Any]]:
        return [section for section in (self.order, self.entries) if section is not None]


def _clusters(trips: "_Trips", candidates: Sequence[Candidate], running: Postmasters, user: str) -> Found:
    # the host's facts need root or nobody; a cluster's its owner
    trips.become_database_user()
    marks = [new_mark() for _ in candidates]
    answered = trips.ask(
        lambda mark: clusters_script(mark, marks, candidates, running.pids, user),
        section_names(candidates),
        _SECOND_DEADLINE,
        "facts of the clusters",
    )
    return read_clusters(candidates, parse_owner_answers(marks, answered))


def _facts(
    name: str, trips: "_Trips", reader: Reader, wanted: _ExtraSections, found: Found, started_by: Sequence[Candidate]
) -> Facts:
    queues = reader.read(block_devices.BLOCK_QUEUES) or {}
    folders = [cluster.data_directory for cluster in found.clusters]
    environment = host_environment(reader, trips.asked_at, trips.answered_at, folders)
    # The gaps stand last, because what is read above them adds to them.
    return Facts(
        server=name,
        taken_at=datetime.now(UTC),
        round_trips=trips.count,
        system=reader.read(machine.SYSTEM),
        processor=reader.read(machine.PROCESSOR),
        memory=reader.read(machine.MEMORY),
        block_devices=block_devices.devices_with_queues(reader.read(block_devices.BLOCK_DEVICES) or (), queues),
        arrays=block_devices.arrays_with_queues(reader.read(block_devices.ARRAYS) or (), queues),
        file_systems=_file_systems(reader),
        network_links=reader.read(network.NETWORK) or (),
        tools=reader.read(programs.TOOLS) or (),
        clusters=found.clusters,
        collation_order=((reader.read(wanted.order) if wanted.order else None) or {}) | found.collation_order,
        target_entries=(reader.read(wanted.entries) if wanted.entries else None) or {},
        further=further(reader),
        host_environment=environment,
        services=services(started_by, environment.autostart),
        gaps=(*trips.gaps, *reader.gaps, *found.gaps, *(() if found.clusters or found.gaps else (_NO_CLUSTER,))),
        seconds=time.monotonic() - trips.began,
    )


def _named(folders: Iterable[str]) -> list[Candidate]:
    for folder in folders:
        if not posixpath.isabs(folder) or "\0" in folder:
            raise InputError(f"The data directory {folder!r} is not an absolute path.", "Give the path from / on.")
    return [Candidate(folder, ("named",)) for folder in folders]


def _started_by(reader: Reader) -> list[Candidate]:
    """The folders that something starts, Debian's first."""
    sections = (discovery.DEBIAN, discovery.UNITS, discovery.USER_UNITS)
    return [found for section in sections for found in reader.read(section) or ()]


def _candidates(reader: Reader, running: Postmasters, started_by: Sequence[Candidate]) -> list[Candidate]:
    """Every folder that the server itself points to. The running servers come first: what they tell is in force."""
    reader.gaps += [Gap(discovery.POSTMASTERS.name, f"running server {pid}", _HIDDEN) for pid in running.hidden]
    return [
        *running.candidates,
        *started_by,
        *(reader.read(discovery.FOLDERS) or ()),
    ]


def _bounded(reader: Reader, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """As many as are looked into, those that somebody names and that run first among them.

    Of several names of one folder the first is looked into, and so those go ahead whose configuration is known: of a
    cluster of Debian's behind a link `pg_lsclusters` knows it by the link, and whoever names the folder does not.
    """
    if len(candidates) > MOST:
        reason = f"pghaul examines at most {MOST} directories; name the data directory if it is not among them"
        reader.gaps.append(Gap(NO_CLUSTER, f"{len(candidates) - MOST} more directories", reason))
    return sorted(candidates[:MOST], key=lambda one: one.config_file is None)


def _file_systems(reader: Reader) -> tuple[FileSystem, ...]:
    mounts = reader.read(file_systems.MOUNTS) or ()
    space = reader.read(file_systems.SPACE) or {}
    inodes = reader.read(file_systems.INODES) or {}
    found, without = file_systems.file_systems(mounts, space, inodes)
    reader.gaps += [
        Gap(file_systems.SPACE.name, f"file system {point}", "df does not show its space") for point in without
    ]
    geometries = reader.read(file_systems.GEOMETRY) or {}
    return file_systems.with_geometries(found, geometries)


class _Trips:
    """The round trips of one pass: as root where the profile has rights for it, else as the login user, with a gap.

    Attributes:
        began: when the pass did, by the monotonic clock; `count`: round trips so far.
        gaps: rights that were refused.
        asked_at, answered_at: when the first question left and when the server's time came in, by this clock.
    """

    def __init__(self, server: Server, job: Job) -> None:
        self.began, self.count = time.monotonic(), 0
        self.gaps: list[Gap] = []
        self.asked_at = self.answered_at = 0.0
        self._server = server
        self._job = job
        rights = server.profile.rights
        self._user = "root" if rights in (Rights.SUDO, Rights.SUDO_PASSWORD) else None

    def become_database_user(self) -> None:
        """The next trip looks into clusters, which `sudo -u postgres` alone is enough for."""
        if self._server.profile.rights is Rights.SUDO_POSTGRES:
            self._user = self._server.profile.database_user

    def ask(
        self, script: Callable[[str], Shell], names: Collection[str], deadline: float, title: str
    ) -> dict[str, Answer]:
        """The answers to a bundle of sections of these names; those that came before a deadline struck are kept."""
        mark = new_mark()
        shell = script(mark)
        output = BoundedOutput()
        self.count += 1
        if not self.answered_at:
            self.asked_at = time.time()

        def heard(data: bytes) -> None:
            output.add(data)
            # the moment when the clock's own line came, not when the whole answer was there
            if not self.answered_at and machine.ANSWER.search(output.data, 0, 4096):
                self.answered_at = time.time()

        self._job.report(Progress(f"facts:{self._server.name}", f"facts of {self._server.name}", self.count - 1, 2))
        try:
            ended = self._server.run(shell, self._job, user=self._user, deadline=deadline, on_stdout=heard, title=title)
        except (AuthenticationError, CommandError) as error:
            # the deadline struck, or a signal: what came before is worth more than an error
            if mark.encode() in output.data:
                said = error.stderr if isinstance(error, CommandError) else ""
                return parse_answers(mark, names, bytes(output.data), said)
            # it failed as the login user itself: there is nobody left to ask as
            if self._user is None:
                raise
            self.gaps.append(Gap(RIGHTS, f"rights of {self._user}", error.message))
            # whoever has no rights still sees what everybody may see, and the gap says whom it asked as
            self._user = None
            return self.ask(script, names, deadline, title)
        return parse_answers(mark, names, bytes(output.data), ended.stderr)


# What an earlier pass knows that this one could not read: the inside of a cluster that is stopped now.
#
# A cluster that is stopped for its copy answers no SQL. What its catalogs said while it ran still holds, as long as it
# is the same cluster and was not started since without being looked at; the time stands in `ClusterWide.taken_at`.


def merge_previous(facts: Facts, earlier: Facts | None) -> Facts:
    """Return the facts, completed by `earlier` facts of the same server for the same clusters and C library."""
    if earlier is None:
        return facts
    return replace(
        facts,
        clusters=tuple(_with_earlier_catalogs(cluster, earlier) for cluster in facts.clusters),
        # another libc sorts otherwise: its sums say nothing any more
        collation_order=(earlier.collation_order if _libc(earlier) == _libc(facts) else {}) | facts.collation_order,
    )


def _with_earlier_catalogs(cluster: Cluster, earlier: Facts) -> Cluster:
    known = earlier.cluster(cluster.data_directory)
    # a running cluster that refuses SQL is a gap: what it said yesterday must not hide that
    if (
        cluster.running
        or cluster.databases
        or known is None
        or known.wide is None
        or not _is_same_cluster(cluster, known)
    ):
        return cluster
    taken_at = known.wide.taken_at or earlier.taken_at
    return replace(
        cluster,
        databases=known.databases,
        wide=replace(known.wide, taken_at=taken_at),
        # what its files say now comes before what was in force then
        settings=known.settings | cluster.settings,
    )


def _is_same_cluster(cluster: Cluster, known: Cluster) -> bool:
    """Whether both are one cluster: no other has its system identifier, but a copy of it, which lies elsewhere."""
    return (
        cluster.control is not None
        and known.control is not None
        and cluster.control.system_identifier == known.control.system_identifier
    )


def _libc(facts: Facts) -> str | None:
    return facts.system.libc if facts.system is not None else None
