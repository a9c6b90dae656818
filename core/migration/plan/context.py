"""What every step's text is made from."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from core.facts.model import Cluster, Facts
from core.facts.programs import program_path, programs_of
from core.facts.services import Service
from core.migration.findings.data_roots import DataRoot
from core.migration.findings.edited import predict_new_cluster
from core.migration.findings.releases import numbers
from core.migration.findings.services import service_for
from core.migration.model.move import Move, Verify
from core.migration.transports.copy_channel import LISTS, CopyChannel
from core.servers.profiles import Profile


@dataclass(frozen=True, slots=True)
class OverwriteWaiver:
    """A cluster that a copy may destroy. `checkpoint`: its latest; `words`: what it is, by whom and why."""

    checkpoint: str
    description: str


@dataclass(frozen=True, slots=True)
class PlanContext:
    """A move with everything that is known of both ends.

    Attributes:
        channel: the copy channel.
        roots: the folders to copy, the data directory first.
        made_at: when the plan was made: what it leaves behind is known by it.
        overwrite_waiver: what lies in the target with old's identifier but without a mark of a copy, where somebody
            has given it up for this one.
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

    @property
    def owner(self) -> str:
        """Who owns the cluster on the old server."""
        return self.cluster.owner or self.old.database_user

    @property
    def service(self) -> Service | None:
        """What starts new; None: pg_ctl alone."""
        return service_for(self.move.target, self.cluster, self.new_facts)

    @property
    def major_version(self) -> tuple[int, ...]:
        """The cluster's major version in numbers: (15,), (9, 6); empty where it is none of PostgreSQL's."""
        return numbers(self.cluster.series)

    @property
    def old_path(self) -> str:
        """The PATH of the cluster's programs on the old server, for its owner alone."""
        return programs_of(self.old_facts, self.cluster, self.owner)

    @property
    def new_path(self) -> str:
        """The PATH of the cluster's programs on the new server, for who will own it there, and nobody else."""
        return program_path(self.new_facts, self.cluster.series, self.channel.writer)

    @property
    def new_cluster(self) -> Cluster:
        """The cluster as it will listen on the new server."""
        return predict_new_cluster(self.move, self.cluster)

    @property
    def port(self) -> int:
        """The port of the first, local start: the cluster's own, or the next that no server of new uses."""
        taken = {cluster.port for cluster in self.new_facts.clusters if cluster.running}
        port = self.new_cluster.port or 5432
        while port in taken:
            port += 1
        return port

    @property
    def lists(self) -> tuple[int, str]:
        """Of how many files each side keeps lists, as far as is known, and in which folder."""
        return sum(root.files or 0 for root in self.roots), LISTS

    def share(self, root: DataRoot) -> float:
        """The root's share of the bytes that a copy brings; all roots alike where their sizes are not known."""
        size = (self.cluster.size_bytes or 0) - sum(each.idle_bytes for each in self.roots)
        if size <= 0 or root.copied_bytes is None:
            return 1 / len(self.roots)
        return root.copied_bytes / size
