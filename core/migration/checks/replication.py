"""Checks of what connects the cluster to others: archive, replication, subscriptions, scheduled work."""

from collections.abc import Sequence

from core.facts.model import Cluster
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import (
    age_note,
    binaries_or_finding,
    cluster_wide_or_finding,
    databases_or_finding,
    format_list,
)
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    explain_missing_settings,
    no_cluster_finding,
    passed,
    unknown,
    warning,
)
from core.migration.findings.pgbackrest import UNREADABLE, configuration_files, data_paths, is_target

_OFF = ("off", "")


def check_archiving(context: CheckContext) -> Finding:
    """Check for WAL archiving: the new cluster would use the same archive."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    mode = cluster.settings.get("archive_mode")
    if mode is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"The value of archive_mode is not known ({explain_missing_settings(context)}).",
            "Read archive_mode in postgresql.conf.",
        )
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


def check_pgbackrest(context: CheckContext) -> Finding:
    """Check that the pgBackRest configuration on the new server names the target."""
    found = cluster_wide_or_finding(context)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    options = wide.pgbackrest
    if not options:
        return passed("none", NOTHING, f"archive_command does not run pgBackRest.{age_note(cluster)}")
    stanza = options.get("stanza", "")
    old = " ".join(["pgBackRest", *(f"--{name}={value}" for name, value in sorted(options.items()) if name)])
    asked = binaries_or_finding(context, old)
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


def check_slots(context: CheckContext) -> Finding:
    """Check for replication slots, whose consumers only know the old server."""
    found = cluster_wide_or_finding(context)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    return _none_or_warning(
        cluster,
        [f"{slot.name} ({slot.kind}, {'active' if slot.active else 'inactive'})" for slot in wide.slots],
        "The old cluster has no replication slots.",
        "Replication slots move with the files. They hold back WAL on the new server until a consumer reads from them.",
        "Point each consumer at the new server, or drop its slot there: `select pg_drop_replication_slot('NAME')`.",
    )


def check_subscriptions(context: CheckContext) -> Finding:
    """Check for subscriptions: two running clusters would share one slot of the publisher."""
    found = cluster_wide_or_finding(context)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
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


def check_publications(context: CheckContext) -> Finding:
    """Check for publications, whose subscribers connect to the old server."""
    found, cluster = databases_or_finding(context), context.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster_finding(context)
    return _none_or_warning(
        cluster,
        [f"{database.name}: {catalogs.publications}" for database, catalogs in found if catalogs.publications],
        "The old cluster has no publications.",
        "Publications move with the files, but their subscribers still connect to the old server's address.",
        "Point each subscriber at the new server: ALTER SUBSCRIPTION … CONNECTION. Their slots move with the files.",
    )


def check_standbys(context: CheckContext) -> Finding:
    """Check for standbys, WAL archivers and running base backups."""
    found = cluster_wide_or_finding(context)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    backups = ["an exclusive backup"] if wide.exclusive_backup else []
    return _none_or_warning(
        cluster,
        [*(f"{each.name} from {each.address or 'a socket'} ({each.state})" for each in wide.receivers), *backups],
        "No standby, archiver or base backup receives WAL from the old cluster.",
        "Standbys follow the old server's address. A base backup that is running when the old cluster stops is lost.",
        "Let backups finish first. Once the new cluster is running, set its address in "
        "primary_conninfo of each standby, or rebuild the standby.",
    )


def check_prepared_transactions(context: CheckContext) -> Finding:
    """Check for prepared transactions, which keep their locks after the move."""
    found = cluster_wide_or_finding(context)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    return _none_or_warning(
        cluster,
        list(wide.prepared),
        "The old cluster has no prepared transactions.",
        "Prepared transactions move with all their locks, until somebody commits them or rolls them back.",
        "Let their transaction manager finish them before the old cluster is stopped: COMMIT "
        "PREPARED or ROLLBACK PREPARED.",
    )


_SCHEDULERS = {"pg_cron": "pg_cron", "pgagent": "pgAgent", "pg_partman": "pg_partman", "timescaledb": "TimescaleDB"}


def check_schedulers(context: CheckContext) -> Finding:
    """Check for schedulers and background workers, which start after the cutover."""
    found, whole = databases_or_finding(context), cluster_wide_or_finding(context)
    if isinstance(whole, Finding):
        return whole
    if isinstance(found, Finding):
        return found
    cluster, wide = whole
    names = [
        f"{_SCHEDULERS[extension.name]} in {database.name}"
        for database, catalogs in found
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


def check_unlogged_tables(context: CheckContext) -> Finding:
    """Report unlogged tables; after a clean shutdown they are complete."""
    found, cluster = databases_or_finding(context), context.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster_finding(context)
    having = [f"{database.name}: {catalogs.unlogged}" for database, catalogs in found if catalogs.unlogged]
    if not having:
        return passed("none", NOTHING, f"No database has unlogged tables.{age_note(cluster)}")
    return passed(
        format_list(having),
        NOTHING,
        "Unlogged tables move with their contents, because the old cluster is shut down cleanly. "
        f"On a standby they would be empty.{age_note(cluster)}",
    )


def check_data_checksums(context: CheckContext) -> Finding:
    """Report whether data checksums are on; without them, damaged pages stay undetected."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
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


CHECKS: tuple[Check, ...] = (
    (
        Declaration("archiving", "WAL archiving", False, "archive_mode of the old cluster", "continuous-archiving"),
        check_archiving,
    ),
    (
        Declaration(
            "pgbackrest",
            "Data directory of pgBackRest",
            False,
            "archive_command of the old cluster, pgBackRest configuration on the new server, the target",
            "continuous-archiving",
        ),
        check_pgbackrest,
    ),
    (
        Declaration("slots", "Replication slots", False, "pg_replication_slots of the old cluster", "warm-standby"),
        check_slots,
    ),
    (
        Declaration(
            "subscriptions", "Subscriptions", False, "pg_subscription of the old cluster", "logical-replication"
        ),
        check_subscriptions,
    ),
    (
        Declaration("publications", "Publications", False, "pg_publication of the old cluster", "logical-replication"),
        check_publications,
    ),
    (
        Declaration(
            "standbys", "Standbys and WAL receivers", False, "pg_stat_replication of the old cluster", "warm-standby"
        ),
        check_standbys,
    ),
    (
        Declaration(
            "prepared-transactions",
            "Prepared transactions",
            False,
            "pg_prepared_xacts of the old cluster",
            "sql-prepare-transaction",
        ),
        check_prepared_transactions,
    ),
    (
        Declaration(
            "schedulers",
            "Schedulers and background workers",
            False,
            "extensions and background workers of the old cluster",
            "bgworker",
        ),
        check_schedulers,
    ),
    (
        Declaration(
            "unlogged", "Unlogged tables", False, "pg_class of every database of the old cluster", "sql-createtable"
        ),
        check_unlogged_tables,
    ),
    (
        Declaration("checksums", "Data checksums", False, "pg_controldata of the old cluster", "app-initdb"),
        check_data_checksums,
    ),
)
