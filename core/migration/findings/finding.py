"""What a comparison is given, what it found, and why something is not known."""

from dataclasses import dataclass

from core.facts.clusters import SETTINGS
from core.facts.databases import SQL
from core.facts.file_systems import MOUNTS, SPACE
from core.facts.model import Cluster, Facts
from core.migration.findings.cluster import no_cluster_in
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
    """What every comparison is given: the move and the facts of both servers."""

    move: Move
    old: Facts
    new: Facts

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that moves."""
        return self.old.cluster(self.move.cluster)

    @property
    def target(self) -> Cluster | None:
        """The cluster that lies at the target already."""
        return self.new.cluster(self.move.target)

    @property
    def siblings(self) -> tuple[Cluster, ...]:
        """Clusters of the same major version on the new server, with the trial cluster: its own binaries made them.

        The target's own stands last.
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


def no_cluster(context: CheckContext) -> Finding:
    """The finding of every check that needs the cluster's facts when there are none."""
    return unknown(NOTHING, NOTHING, *no_cluster_in(context.old, context.move.cluster))


def reason(facts: Facts, *sections: str, of: str | None = None) -> str:
    """Why something is not in the facts: the gap of one of these sections, of that folder, else a plain word."""
    gap = facts.gap(*sections, of=of)
    return f"{gap.subject}: {gap.reason}" if gap is not None else "the facts do not contain it"


def no_settings(context: CheckContext) -> str:
    """Return why the facts of the old server do not contain the cluster's settings."""
    return reason(context.old, SETTINGS.name, SQL.name, of=context.move.cluster)


def no_file_system(facts: Facts) -> str:
    """Why a file system is not in the facts."""
    return reason(facts, MOUNTS.name, SPACE.name)


def unread_of(context: CheckContext, *sections: str) -> Finding | None:
    """The finding where one of these sections of the cluster could not be read; None where all were."""
    gap = context.old.gap(*sections, of=context.move.cluster)
    if gap is None:
        return None
    return unknown(
        NOTHING,
        NOTHING,
        f"pghaul could not read the {gap.subject} ({gap.reason}).",
        f"Read the facts again: `pghaul facts {context.old.server}`.",
    )
