"""Checks of what connects the cluster to others or works by itself, and whether a local-only start holds it back."""

from collections.abc import Sequence

from core.facts.catalog import ClusterWide
from core.facts.model import Cluster
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.checks.needs import Databases
from core.migration.findings.binaries import list_preloaded_libraries
from core.migration.findings.catalogs import age_note, format_list
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, unknown, warning
from core.migration.findings.local_start import (
    list_isolation_settings,
    list_session_libraries,
    list_unbound_worker_libraries,
)
from core.migration.findings.pgbackrest import UNREADABLE, configuration_files, data_paths, is_target

_OFF = ("off", "")


@check(
    "archiving",
    "WAL archiving",
    compares="archive_mode of the old cluster",
    page="continuous-archiving",
    needs=(need.CLUSTER, need.ARCHIVE_MODE),
)
def check_archiving(_context: CheckContext, cluster: Cluster, mode: str) -> Finding:
    """Check for WAL archiving: the new cluster would use the same archive."""
    if mode in _OFF:
        return passed(f"archive_mode {mode or 'off'}", NOTHING, "The old cluster does not archive WAL.")
    programs = format_list(list(cluster.wide.programs)) if cluster.wide is not None else ""
    library = cluster.settings.get("archive_library", "")
    how = ", ".join(word for word in (programs, library) if word)
    return warning(
        f"archive_mode {mode}" + (f": {how}" if how else ""),
        NOTHING,
        "The old cluster archives its WAL, and the new cluster will use the same command. Both "
        "may write to the same archive, or the new server cannot reach it.",
        "The local-only start does not archive. From the cutover on, the new cluster archives as "
        "the old one did. Check that the command works on the new server and writes to a place "
        "of its own. Take a base backup after the cutover: the existing ones end with the old "
        "cluster.",
    )


@check(
    "pgbackrest",
    "Data directory in pgBackRest's configuration",
    compares="archive_command of the old cluster, pgBackRest configuration on the new server, the target",
    page="continuous-archiving",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
    uses=(need.BINARIES,),
)
def check_pgbackrest(context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check that the pgBackRest configuration on the new server names the target."""
    options = wide.pgbackrest
    if not options:
        return passed("none", NOTHING, f"archive_command does not run pgBackRest.{age_note(cluster)}")
    stanza = options.get("stanza", "")
    old = " ".join(["pgBackRest", *(f"--{name}={value}" for name, value in sorted(options.items()) if name)])
    asked = need.BINARIES.value_or_finding(context, old)
    if isinstance(asked, Finding):
        return asked
    target = context.move.target
    paths = data_paths(options, asked.pgbackrest)
    words = [f"{each.option}={each.path}, {each.place}" for each in paths]
    words += [f"{file}: not readable for the owner" for file, text in asked.pgbackrest if text == UNREADABLE]
    new = "; ".join(words) or "none"
    if any(is_target(each.path, target) for each in paths):
        return passed(old, new, f"pgBackRest on the new server has the data directory of the move.{age_note(cluster)}")
    if not paths:
        return warning(
            old,
            new,
            "The pgBackRest configuration on the new server names no data directory for this "
            "cluster. Archiving fails from the cutover on.",
            f"Before the cutover, write pg1-path={target} into section [{stanza or 'STANZA'}] of "
            f"{configuration_files(options)[0]} on the new server, with the same repository as on "
            "the old server.",
        )
    return warning(
        old,
        new,
        "The pgBackRest configuration on the new server names another data directory than "
        f"{target}. Archiving fails from the cutover on.",
        f"Before the cutover, write {paths[0].option}={target} there ({paths[0].place}). "
        f"After the cutover, run `pgbackrest --stanza={stanza or 'STANZA'} check`.",
    )


@check(
    "slots",
    "Replication slots",
    compares="pg_replication_slots of the old cluster",
    page="warm-standby",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
)
def check_slots(_context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check for replication slots, whose consumers only know the old server."""
    return _none_or_warning(
        cluster,
        [f"{slot.name} ({slot.kind}, {'active' if slot.active else 'inactive'})" for slot in wide.slots],
        "The old cluster has no replication slots.",
        "Replication slots move with the files. They hold back WAL on the new server until a consumer reads from them.",
        "Point each consumer at the new server, or drop its slot there: `select pg_drop_replication_slot('NAME')`.",
    )


@check(
    "subscriptions",
    "Subscriptions",
    compares="pg_subscription of the old cluster",
    page="logical-replication",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
)
def check_subscriptions(_context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check for subscriptions: two running clusters would share one slot of the publisher."""
    return _none_or_warning(
        cluster,
        [
            f"{each.name} in {each.database} ({'enabled' if each.enabled else 'disabled'})"
            for each in wide.subscriptions
        ],
        "The old cluster has no subscriptions.",
        "The new cluster continues the subscriptions after the cutover. If the old cluster were "
        "running too, two subscribers would read from one slot of the publisher.",
        "Allow the new server in pg_hba.conf of the publisher. pghaul holds the subscriptions "
        "back until the cutover, and the old cluster stays stopped.",
    )


@check(
    "publications",
    "Publications",
    compares="pg_publication of the old cluster",
    page="logical-replication",
    needs=(need.CLUSTER, need.DATABASES),
)
def check_publications(_context: CheckContext, cluster: Cluster, databases: Databases) -> Finding:
    """Check for publications, whose subscribers connect to the old server."""
    return _none_or_warning(
        cluster,
        [f"{database.name}: {catalogs.publications}" for database, catalogs in databases if catalogs.publications],
        "The old cluster has no publications.",
        "Publications move with the files, but their subscribers still connect to the old server's address.",
        "Point each subscriber at the new server: ALTER SUBSCRIPTION … CONNECTION. Their slots move with the files.",
    )


@check(
    "standbys",
    "Standbys and WAL receivers",
    compares="pg_stat_replication of the old cluster",
    page="warm-standby",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
)
def check_standbys(_context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check for standbys, WAL archivers and running base backups."""
    backups = ["an exclusive backup"] if wide.exclusive_backup else []
    return _none_or_warning(
        cluster,
        [*(f"{each.name} from {each.address or 'a socket'} ({each.state})" for each in wide.receivers), *backups],
        "No standby, archiver or base backup receives WAL from the old cluster.",
        "Standbys follow the old server's address. A base backup that is running when the old cluster stops is lost.",
        "Let backups finish first. Once the new cluster is running, set its address in "
        "primary_conninfo of each standby, or rebuild the standby.",
    )


@check(
    "prepared-transactions",
    "Prepared transactions",
    compares="pg_prepared_xacts of the old cluster",
    page="sql-prepare-transaction",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
)
def check_prepared_transactions(_context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check for prepared transactions, which keep their locks after the move."""
    return _none_or_warning(
        cluster,
        list(wide.prepared),
        "The old cluster has no prepared transactions.",
        "Prepared transactions move with all their locks, until somebody commits them or rolls them back.",
        "Let their transaction manager finish them before the old cluster is stopped: COMMIT "
        "PREPARED or ROLLBACK PREPARED.",
    )


_SCHEDULERS = {"pg_cron": "pg_cron", "pgagent": "pgAgent", "pg_partman": "pg_partman", "timescaledb": "TimescaleDB"}


@check(
    "schedulers",
    "Schedulers and background workers",
    compares="extensions and background workers of the old cluster",
    page="bgworker",
    needs=(need.CLUSTER, need.CLUSTER_WIDE, need.DATABASES),
)
def check_schedulers(_context: CheckContext, cluster: Cluster, wide: ClusterWide, databases: Databases) -> Finding:
    """Check for schedulers and background workers, which start after the cutover."""
    names = [
        f"{_SCHEDULERS[extension.name]} in {database.name}"
        for database, catalogs in databases
        for extension in catalogs.extensions
        if extension.name in _SCHEDULERS
    ]
    return _none_or_warning(
        cluster,
        [*names, *wide.workers],
        "The old cluster has no schedulers and no background workers of extensions.",
        "Scheduled jobs and background workers run on the new server from the cutover on. Until "
        "then the plan holds back every background worker.",
        "Read the jobs for what depends on the old server. Start separate programs (pgAgent's, "
        "pg_timetable's) for the new server only after the cutover.",
    )


@check(
    "unlogged",
    "Unlogged tables",
    compares="pg_class of every database of the old cluster",
    page="sql-createtable",
    needs=(need.CLUSTER, need.DATABASES),
)
def check_unlogged_tables(_context: CheckContext, cluster: Cluster, databases: Databases) -> Finding:
    """Report unlogged tables; after a clean shutdown they are complete."""
    # Recovery empties unlogged tables, a clean shutdown does not (PostgreSQL's manual, reference page CREATE TABLE).
    # The plan proves the clean shutdown, so this is no warning.
    having = [f"{database.name}: {catalogs.unlogged}" for database, catalogs in databases if catalogs.unlogged]
    if not having:
        return passed("none", NOTHING, f"No database has unlogged tables.{age_note(cluster)}")
    return passed(
        format_list(having),
        NOTHING,
        "Unlogged tables move with their contents, because the old cluster is shut down cleanly. "
        f"On a standby they would be empty.{age_note(cluster)}",
    )


@check(
    "checksums",
    "Data checksums",
    compares="pg_controldata of the old cluster",
    page="app-initdb",
    needs=(need.CLUSTER,),
)
def check_data_checksums(_context: CheckContext, cluster: Cluster) -> Finding:
    """Report whether data checksums are on; without them, damaged pages stay undetected."""
    state = cluster.settings.get("data_checksums")
    if state is None:
        return passed("none in this major version", NOTHING, f"PostgreSQL {cluster.series} has no data checksums.")
    return passed(
        f"data_checksums {state}",
        NOTHING,
        "Data checksums are on and move with the cluster."
        if state == "on"
        else (
            "Data checksums are off. `pg_checksums --enable` turns them on while the cluster is "
            "stopped (PostgreSQL 12 and later)."
        ),
    )


def _none_or_warning(cluster: Cluster, having: Sequence[str], none: str, why: str, hint: str) -> Finding:
    """Return a pass if there is nothing, or a warning that names what there is.

    Args:
        cluster: the old cluster.
        having: what there is; empty for nothing.
        none: the message of the pass.
        why: the message of the warning.
        hint: the hint of the warning.
    """
    if not having:
        return passed("none", NOTHING, f"{none}{age_note(cluster)}")
    return warning(format_list(list(having)), NOTHING, f"{why}{age_note(cluster)}", hint)


@check(
    "local-start",
    "Local-only start",
    blocking=True,
    compares="subscriptions, workers and loaded libraries of the old cluster, settings that "
    "the new server's binaries accept",
    page="bgworker",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
    uses=(need.BINARIES,),
)
def check_local_start(context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check that isolation settings hold back everything that starts work by itself until the cutover."""
    old = format_list(_list_starting_work(cluster, wide)) or NOTHING
    settings = list_isolation_settings(cluster)
    return (
        _not_preventable(cluster, old)
        or _refused_settings(context, old, settings)
        or passed(
            old,
            "for local connections only, read-only, without background work",
            "The first start of the new cluster is for local connections only. Until the cutover, "
            f"temporary settings keep background work from starting by itself.{age_note(cluster)}",
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
    # max_worker_processes exists since 9.4. In 9.3 a preloaded library can start workers that nothing limits, also in
    # the local-only start.
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
    asked = need.BINARIES.value_or_finding(context, old)
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
    check_archiving,
    check_pgbackrest,
    check_slots,
    check_subscriptions,
    check_publications,
    check_standbys,
    check_prepared_transactions,
    check_schedulers,
    check_unlogged_tables,
    check_data_checksums,
    check_local_start,
)
