"""Check that the new cluster can run before the cutover without what starts work by itself."""

from core.facts.catalog import ClusterWide
from core.facts.model import Cluster
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.binaries import list_preloaded_libraries
from core.migration.findings.catalogs import age_note, binaries_or_finding, cluster_wide_or_finding, format_list
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, unknown
from core.migration.findings.local_start import (
    list_isolation_settings,
    list_session_libraries,
    list_unbound_worker_libraries,
)


def check_local_start(context: CheckContext) -> Finding:
    """Check that isolation settings hold back everything that starts work by itself until the cutover."""
    found = cluster_wide_or_finding(context)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    old = format_list(_list_starting_work(cluster, wide)) or "none"
    settings = list_isolation_settings(cluster)
    return (
        _not_preventable(cluster, old)
        or _refused_settings(context, old, settings)
        or passed(
            old,
            ", ".join(settings),
            "The first start of the new cluster is for local connections only. Until the cutover, "
            f"isolation settings hold back everything that starts work by itself.{age_note(cluster)}",
        )
    )


def _list_starting_work(cluster: Cluster, wide: ClusterWide) -> list[str]:
    """Return what starts work in the cluster, or may do so: any preloaded library counts."""
    enabled = [f"subscription {each.name} in {each.database}" for each in wide.subscriptions if each.enabled]
    at_start, later = list_preloaded_libraries(cluster)
    return [*enabled, *wide.workers, *(f"library {each}" for each in (*at_start, *later))]


def _not_preventable(cluster: Cluster, old: str) -> Finding | None:
    """Return a finding if some work cannot be prevented by any setting."""
    workers, sessions = list_unbound_worker_libraries(cluster), list_session_libraries(cluster)
    if workers:
        return blocker(
            old,
            NOTHING,
            f"{format_list(list(workers))} may start background workers. PostgreSQL {cluster.series} "
            "has no setting that limits them.",
            "Remove them from shared_preload_libraries on the old server before the move (this has "
            "no effect until it is stopped). Add them again on the new server after the cutover.",
        )
    if sessions:
        return blocker(
            old,
            NOTHING,
            f"A role or database makes sessions load {format_list(list(sessions))}. These libraries may "
            "run something at each login, also on the new server before the cutover.",
            "Before the move, run ALTER ROLE or ALTER DATABASE … RESET session_preload_libraries (or "
            "local_preload_libraries), and SET it again after the cutover.",
        )
    return None


def _refused_settings(context: CheckContext, old: str, settings: tuple[str, ...]) -> Finding | None:
    """Return a finding if the new server's binaries refuse an isolation setting, or were not asked."""
    asked = binaries_or_finding(context, old)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.settings)
    refused = {each: answers[each] for each in settings if answers.get(each)}
    if refused:
        return blocker(
            old,
            "; ".join(refused.values()),
            f"The new server's binaries refuse {format_list(list(refused))}. What these settings hold "
            "back would run before the cutover.",
            "Install PostgreSQL's own binaries of that major version on the new server.",
        )
    if not set(settings) <= set(answers):
        return unknown(
            old,
            NOTHING,
            "The new server's binaries were not asked for the isolation settings of the local-only start.",
            "Run the checks again.",
        )
    return None


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "local-start",
            "Local-only start",
            True,
            "subscriptions, workers and loaded libraries of the old cluster, settings that "
            "the new server's binaries accept",
            "bgworker",
        ),
        check_local_start,
    ),
)
