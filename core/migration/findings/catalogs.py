"""The catalogs of the old cluster, or a finding that says why they are not known."""

from core.facts.catalog import Binaries, Catalogs, ClusterWide
from core.facts.databases import SQL
from core.facts.model import Cluster, Database
from core.facts.sections import TRIAL
from core.migration.findings.finding import NOTHING, CheckContext, Finding, explain_gap, no_cluster_finding, unknown

_SHOWN = 12


def cluster_wide_or_finding(context: CheckContext) -> tuple[Cluster, ClusterWide] | Finding:
    """Return the cluster and its cluster-wide catalogs, or a finding if these were not read."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    if cluster.wide is None:
        return _unread(context, cluster, "The catalogs of the whole cluster")
    return cluster, cluster.wide


def databases_or_finding(context: CheckContext) -> list[tuple[Database, Catalogs]] | Finding:
    """Return every database except templates with its catalogs, or a finding if any catalogs were not read."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    found = [(each, each.catalogs) for each in cluster.databases if not each.template]
    if not found:
        return _unread(context, cluster, "The catalogs of its databases")
    missing = [database.name for database, catalogs in found if catalogs is None]
    if missing:
        return _unread(context, cluster, f"The catalogs of {format_list(missing)}")
    return [(database, catalogs) for database, catalogs in found if catalogs is not None]


def binaries_or_finding(context: CheckContext, old: str) -> Binaries | Finding:
    """Return the answers of the new server's binaries in a trial cluster, or a finding if they were not asked."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    known = [each.binaries for each in context.new.trials if each.series == cluster.series]
    if known and known[0] is not None:
        return known[0]
    return unknown(
        old,
        NOTHING,
        f"The new server's binaries were not asked ({explain_gap(context.new, TRIAL)}).",
        "Run the checks again: they create a trial cluster with the new server's binaries and ask it.",
    )


def age_note(cluster: Cluster) -> str:
    """Return, as a sentence to append, when the catalogs of a stopped cluster were read."""
    taken_at = cluster.wide.taken_at if cluster.wide is not None else None
    return f" (Read while the cluster was running, {taken_at:%Y-%m-%d %H:%M} UTC.)" if taken_at is not None else ""


def format_list(words: list[str]) -> str:
    """Return the first words, separated by commas, and how many more there are."""
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"


def _unread(context: CheckContext, cluster: Cluster, what: str) -> Finding:
    if not cluster.running:
        return unknown(
            "stopped",
            NOTHING,
            f"{what} are not known. The cluster is stopped, and its facts were never read while it was running.",
            f"Start it once, run `pghaul facts {context.old.server}` and stop it. pghaul keeps what it "
            "has read for the checks.",
        )
    gap = context.old.gap(SQL.name, of=context.move.cluster)
    return unknown(
        "running",
        NOTHING,
        f"{what} could not be read by SQL ({gap.reason if gap is not None else 'the facts do not contain it'}).",
        "Allow its owner to connect by the Unix socket (pg_hba.conf: local all postgres peer), "
        "and read the facts again.",
    )
