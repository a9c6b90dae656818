"""Whether the copy of a cluster can be started for a dress rehearsal, and by which settings it only replays WAL."""

from core.facts.model import Cluster, Facts
from core.migration.findings.data_roots import data_roots
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.local_start import list_isolation_settings
from core.migration.findings.releases import version_numbers
from core.migration.model.move import Move

_SINCE = (10,)
"""The first major version in which a backup and a slot can both belong to a session (a backup since 9.6)."""
_RENAMED_SINCE = (15,)
"""The first major version with pg_backup_start (pg_start_backup before), as `dress_set_version` of dress.sh has it."""
_SIGNAL_SINCE = (12,)
"""The first major version in which a standby's settings are ordinary settings (recovery.conf before)."""
_TRIGGER_SINCE, _TRIGGER_UNTIL = (12,), (16,)
"""The major versions in which the file named by promote_trigger_file ends the recovery."""
_STATISTICS_UNTIL = (15,)
"""The first major version that keeps its statistics in shared memory, and has no stats_temp_directory."""
_BOUND_IN_RECOVERY = frozenset({"max_worker_processes", "max_wal_senders"})
"""Isolation settings of a local-only start that a server in recovery must not lower (xlog.c,
CheckRequiredParameterValues). So workers that a library starts before the end of recovery run in the copy."""
_ALONE = ("listen_addresses=", "ssl=off", "external_pid_file=", "log_min_messages=warning", "hot_standby=on")
_REPLAYS_ALONE = (
    *("restore_command=", "primary_conninfo=", "primary_slot_name=", "archive_cleanup_command="),
    *("recovery_end_command=", "recovery_target=", "recovery_target_name=", "recovery_target_time="),
    *("recovery_target_xid=", "recovery_target_lsn=", "recovery_min_apply_delay=0", "recovery_target_timeline=current"),
)
"""The copy gets no WAL from elsewhere and has no recovery target: it replays the WAL of the backup, and then waits."""


def explain_no_dress_rehearsal(move: Move, cluster: Cluster, old: Facts, new: Facts) -> str:
    """Return why the copy cannot be started while the old cluster serves clients; empty if it can."""
    major_version = version_numbers(cluster.series)
    if not cluster.running:
        return "the old cluster is stopped, and the move itself copies it as it is"
    if major_version < _SINCE:
        return f"PostgreSQL {cluster.series} has no replication slot that ends with its session"
    if compare_hosts(old, new) is not Hosts.TWO:
        # on one host, two tablespaces with the same path could be the same directory
        return "the old and the new server are the same host, or may be"
    if not cluster.databases:
        return "the old cluster has not been queried by SQL"
    if cluster.settings.get("wal_level") == "minimal":
        return "wal_level is minimal, so the WAL does not contain what a copy must replay"
    if cluster.wide is not None and cluster.wide.in_recovery:
        return "the old cluster is a standby"
    if all(root.wal is None for root in data_roots(move, cluster)):
        return "the WAL is inside another data root of the cluster"
    return ""


def backup_functions(cluster: Cluster) -> tuple[str, str]:
    """Return the SQL calls that begin and end a backup that belongs to its session."""
    if version_numbers(cluster.series) < _RENAMED_SINCE:
        return "pg_start_backup('pghaul', true, false)", "pg_stop_backup(false, false)"
    return "pg_backup_start('pghaul', true)", "pg_backup_stop(false)"


def list_recovery_isolation_settings(cluster: Cluster) -> tuple[str, ...]:
    """Return the settings, `NAME=VALUE`, of a copy that only replays WAL. No value has a space."""
    major_version = version_numbers(cluster.series)
    inherited = [
        each
        for each in list_isolation_settings(cluster)
        if each.partition("=")[0] not in {*_BOUND_IN_RECOVERY, "listen_addresses"}
    ]
    own = [*_ALONE, *(_REPLAYS_ALONE if major_version >= _SIGNAL_SINCE else ())]
    if _TRIGGER_SINCE <= major_version < _TRIGGER_UNTIL:
        own.append("promote_trigger_file=")
    if major_version < _STATISTICS_UNTIL:
        own.append("stats_temp_directory=pg_stat_tmp")
    return (*inherited, *own)
