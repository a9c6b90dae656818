"""What starts work by itself inside the cluster: whether new can run for its proofs without any of it."""

from core.facts.catalog import ClusterWide
from core.facts.model import Cluster
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.binaries import preloads
from core.migration.findings.catalogs import age, binaries, cluster_wide, listed
from core.migration.findings.finding import NOTHING, Case, Finding, blocker, passed, unknown
from core.migration.findings.local_start import held, loaded_by_sessions, unbound_workers


def local_start(case: Case) -> Finding:
    """All that starts work by itself is held back until new is opened; what is not could be done twice, or be lost."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    old = listed(_starting(cluster, wide)) or "none"
    settings = held(cluster)
    return (
        _not_held(cluster, old)
        or _untaken(case, old, settings)
        or passed(
            old, ", ".join(settings), "new's first start is without any of it, until new is opened" + age(cluster)
        )
    )


def _starting(cluster: Cluster, wide: ClusterWide) -> list[str]:
    """What of the cluster starts work, or may: what loads a library is not asked what it is good for."""
    enabled = [f"subscription {each.name} in {each.database}" for each in wide.subscriptions if each.enabled]
    at_start, later = preloads(cluster)
    return [*enabled, *wide.workers, *(f"library {each}" for each in (*at_start, *later))]


def _not_held(cluster: Cluster, old: str) -> Finding | None:
    """The finding where something would run whatever the server is told."""
    workers, sessions = unbound_workers(cluster), loaded_by_sessions(cluster)
    if workers:
        return blocker(
            old,
            NOTHING,
            f"{listed(list(workers))} may start background workers, for which {cluster.series} has no bound",
            "take them out of shared_preload_libraries on old before the stop (it changes nothing until then), and "
            "put them back on new once it is open",
        )
    if sessions:
        return blocker(
            old,
            NOTHING,
            f"a role or database has sessions load {listed(list(sessions))}, which may run something at each login, "
            "also on new before it is opened",
            "ALTER ROLE or ALTER DATABASE … RESET session_preload_libraries (or local_preload_libraries) before the "
            "stop, SET again once new is open; waive this where the library runs nothing by itself",
        )
    return None


def _untaken(case: Case, old: str, settings: tuple[str, ...]) -> Finding | None:
    """The finding where new's binaries were not asked for those settings, or refuse one."""
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.settings)
    refused = {each: answers[each] for each in settings if answers.get(each)}
    if refused:
        return blocker(
            old,
            "; ".join(refused.values()),
            f"new's binaries do not take {listed(list(refused))}: what it would hold back cannot be",
            "install PostgreSQL's own binaries of that series on new",
        )
    if not set(settings) <= set(answers):
        return unknown(
            old, NOTHING, "new's binaries were not asked for the settings of the local start", "run the checks again"
        )
    return None


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "local-start",
            "what runs before new is opened",
            True,
            "subscriptions, workers and loaded libraries of old, settings that new's binaries take",
            "bgworker",
        ),
        local_start,
    ),
)
