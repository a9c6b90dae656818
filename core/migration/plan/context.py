"""The context of a plan: everything from which its steps are made."""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.facts.model import Cluster, Facts
from core.facts.programs import program_path, programs_of
from core.facts.starters import Service
from core.migration.findings.data_roots import DataRoot
from core.migration.findings.edited import predict_new_cluster
from core.migration.findings.releases import version_numbers
from core.migration.findings.services import service_of_target
from core.migration.model.move import Move, Verify
from core.migration.transports.copy_channel import LISTS, CopyChannel
from core.servers.profiles import Profile


@dataclass(frozen=True, slots=True)
class OverwriteWaiver:
    """A waiver by which the copy may overwrite a cluster in the target.

    Attributes:
        checkpoint: the location of the latest checkpoint of that cluster.
        description: what the cluster is, who has waived it, and why.
    """

    checkpoint: str
    description: str


@dataclass(frozen=True, slots=True)
class PlanContext:
    """A move with everything that is known of both servers.

    Attributes:
        move: the move.
        old: the profile of the old server.
        new: the profile of the new server.
        old_facts: the facts of the old server.
        new_facts: the facts of the new server.
        cluster: the old cluster.
        channel: the copy channel.
        roots: the data roots, the data directory first.
        verify: which files are compared by their checksums during the downtime.
        made_at: when the plan was made; it is part of the names of files that the plan leaves behind.
        overwrite_waiver: the waiver for a cluster in the target that has the old cluster's system identifier but no
            mark of a copy; None if there is no such cluster or no waiver.
        socket_name: 12 digits that nobody can guess, for the folder of the socket of the local-only start.
    """

    move: Move
    old: Profile
    new: Profile
    old_facts: Facts
    new_facts: Facts
    cluster: Cluster
    channel: CopyChannel
    roots: tuple[DataRoot, ...]
    verify: Verify = Verify.CHANGED
    made_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    overwrite_waiver: OverwriteWaiver | None = None
    socket_name: str = field(default_factory=lambda: secrets.token_hex(6))

    @property
    def owner(self) -> str:
        """Return the user that owns the cluster on the old server."""
        return self.cluster.owner or self.old.database_user

    @property
    def service(self) -> Service | None:
        """Return the service that starts the new cluster; None if pg_ctl alone starts it."""
        return service_of_target(self.move.target, self.cluster, self.new_facts)

    @property
    def major_version(self) -> tuple[int, ...]:
        """Return the major version as numbers, such as (15,) or (9, 6); empty for anything else."""
        return version_numbers(self.cluster.series)

    @property
    def old_path(self) -> str:
        """Return the PATH of the cluster's programs on the old server, for the owner of the cluster."""
        return programs_of(self.old_facts, self.cluster, self.owner)

    @property
    def new_path(self) -> str:
        """Return the PATH of the cluster's programs on the new server, for the owner of the new cluster."""
        return program_path(self.new_facts, self.cluster.series, self.channel.writer)

    @property
    def new_cluster(self) -> Cluster:
        """Return the cluster with the port and addresses that it will have on the new server."""
        return predict_new_cluster(self.move, self.cluster)

    @property
    def port(self) -> int:
        """Return the port of the cluster. The local-only start has it too, on a socket in a folder of its own."""
        return self.new_cluster.port or 5432

    @property
    def local_socket(self) -> str:
        """Return the directory of the Unix socket of the local-only start: nobody else has it or can enter it."""
        return f"/tmp/pghaul-local-{self.socket_name}"  # noqa: S108  mkdir creates it or fails

    @property
    def lists(self) -> tuple[int, str]:
        """Return of how many files each side keeps lists, as far as known, and the folder of the lists."""
        return sum(root.files or 0 for root in self.roots), LISTS

    def share(self, root: DataRoot) -> float:
        """Return the root's share, from 0 to 1, of the copied bytes; equal shares if the sizes are not known."""
        size = (self.cluster.size_bytes or 0) - sum(each.idle_bytes for each in self.roots)
        if size <= 0 or root.copied_bytes is None:
            return 1 / len(self.roots)
        return root.copied_bytes / size
