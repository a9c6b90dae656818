"""What a check is given, and what it returns."""

from dataclasses import dataclass

from core.facts.catalog import Binaries
from core.facts.file_systems import MOUNTS, SPACE
from core.facts.model import Cluster, Facts
from core.migration.findings.cluster import explain_missing_cluster
from core.migration.model.checks import Status
from core.migration.model.move import Move


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a comparison; `old` and `new` are the compared values as text."""

    status: Status
    old: str
    new: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What every check is given: the move and the facts of both servers."""

    move: Move
    old: Facts
    new: Facts

    @property
    def cluster(self) -> Cluster | None:
        """Return the cluster that is moved, or None if the facts do not contain it."""
        return self.old.cluster(self.move.cluster)

    @property
    def target(self) -> Cluster | None:
        """Return the cluster that already lies at the target, or None."""
        return self.new.cluster(self.move.target)

    @property
    def binaries(self) -> Binaries | None:
        """Return the answers of the new server's binaries in a trial cluster, or None if they were not asked."""
        if self.cluster is None:
            return None
        return next((each.binaries for each in self.new.trials if each.series == self.cluster.series), None)

    @property
    def siblings(self) -> tuple[Cluster, ...]:
        """Return the clusters of the same major version that the new server's binaries made, with the trial cluster.

        The cluster at the target comes last.
        """
        major_version = self.cluster.series if self.cluster is not None else None
        found = [cluster for cluster in (*self.new.clusters, *self.new.trials) if cluster.series == major_version]
        return tuple(sorted(found, key=lambda cluster: cluster.data_directory == self.move.target))


NOTHING = "–"


def passed(old: str, new: str, message: str) -> Finding:
    """Return a pass."""
    return Finding(Status.PASS, old, new, message)


def warning(old: str, new: str, message: str, hint: str) -> Finding:
    """Return a warning."""
    return Finding(Status.WARNING, old, new, message, hint)


def blocker(old: str, new: str, message: str, hint: str) -> Finding:
    """Return a blocker."""
    return Finding(Status.BLOCKER, old, new, message, hint)


def unknown(old: str, new: str, message: str, hint: str) -> Finding:
    """Return an unknown: nothing was compared, and the message says why."""
    return Finding(Status.UNKNOWN, old, new, message, hint)


def no_cluster_finding(context: CheckContext) -> Finding:
    """Return the finding of a check that needs the cluster if the facts do not contain it."""
    return unknown(NOTHING, NOTHING, *explain_missing_cluster(context.old, context.move.cluster))


def explain_gap(facts: Facts, *sections: str, of: str | None = None) -> str:
    """Return why one of these sections is missing in the facts; `of` limits the search to a data directory."""
    gap = facts.gap(*sections, of=of)
    return f"{gap.subject}: {gap.reason}" if gap is not None else "the facts do not contain it"


def explain_missing_file_system(facts: Facts) -> str:
    """Return why the facts do not contain a file system."""
    return explain_gap(facts, MOUNTS.name, SPACE.name)
