"""The catalogs of the cluster on old, or the finding that says why they are not known."""

from core.facts.catalog import Binaries, Catalogs, ClusterWide
from core.facts.databases import SQL
from core.facts.model import Cluster, Database
from core.facts.sections import TRIAL
from core.migration.findings.finding import NOTHING, Case, Finding, no_cluster, reason, unknown

_SHOWN = 12


def cluster_wide(case: Case) -> tuple[Cluster, ClusterWide] | Finding:
    """The cluster and what SQL told of it as a whole; a finding where that was not read."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if cluster.wide is None:
        return _unread(case, cluster, "the catalogs of the whole cluster")
    return cluster, cluster.wide


def databases(case: Case) -> list[tuple[Database, Catalogs]] | Finding:
    """Every database that is no template with its catalogs; a finding where there is one whose were not read."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    found = [(each, each.catalogs) for each in cluster.databases if not each.template]
    if not found:
        return _unread(case, cluster, "the catalogs of its databases")
    missing = [database.name for database, catalogs in found if catalogs is None]
    if missing:
        return _unread(case, cluster, f"the catalogs of {listed(missing)}")
    return [(database, catalogs) for database, catalogs in found if catalogs is not None]


def binaries(case: Case, old: str) -> Binaries | Finding:
    """What new's binaries answered in a trial cluster; a finding where they were not asked. `old`: the evidence."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    known = [each.binaries for each in case.new.trials if each.series == cluster.series]
    if known and known[0] is not None:
        return known[0]
    return unknown(
        old,
        NOTHING,
        f"new's binaries were not asked: {reason(case.new, TRIAL)}",
        "run the checks again: they have new's binaries make a trial cluster and answer in it",
    )


def age(cluster: Cluster) -> str:
    """Where the inside of a stopped cluster was read earlier: when; to stand behind a message."""
    taken_at = cluster.wide.taken_at if cluster.wide is not None else None
    return f" (as read while it ran, {taken_at:%Y-%m-%d %H:%M} UTC)" if taken_at is not None else ""


def listed(words: list[str]) -> str:
    """The first of them, and how many more there are."""
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"


def _unread(case: Case, cluster: Cluster, what: str) -> Finding:
    if not cluster.running:
        return unknown(
            "stopped",
            NOTHING,
            f"{what} are not known: the cluster is stopped, and its facts were never read while it ran",
            f"start it once, run `pghaul facts {case.old.server}` and stop it: what was read is kept for the checks",
        )
    gap = case.old.gap(SQL.name, of=case.move.cluster)
    return unknown(
        "running",
        NOTHING,
        f"{what} could not be read by SQL: {gap.reason if gap is not None else 'the facts do not say'}",
        "let its owner in by the Unix socket (pg_hba.conf: local all postgres peer), and read the facts again",
    )
