"""Whether the copy of a cluster can be started while it serves its clients, and by which settings it only replays."""

from core.facts.model import Cluster, Facts
from core.migration.findings.data_roots import data_roots
from core.migration.findings.hosts import Hosts, hosts_of
from core.migration.findings.local_start import list_isolation_settings
from core.migration.findings.releases import numbers
from core.migration.model.move import Move

_SINCE = (10,)
"""The first major version in which both a backup and a slot may belong to a session (a backup since 9.6)."""
_RENAMED_SINCE = (15,)
"""The first major version with pg_backup_start (pg_start_backup before), as `dress_set_version` of dress.sh has it."""
_SIGNAL_SINCE = (12,)
"""The first major version in which a standby's settings stand among all others (recovery.conf before)."""
_TRIGGER_SINCE, _TRIGGER_UNTIL = (12,), (16,)
"""Where a file by the name of promote_trigger_file ends the recovery."""
_STATISTICS_UNTIL = (15,)
"""The first major version that keeps its statistics in shared memory, and has no stats_temp_directory."""
_BOUND_IN_RECOVERY = frozenset({"max_worker_processes", "max_wal_senders"})
"""Of what the local start holds back: a server that replays takes no less of it than old had (xlog.c,
CheckRequiredParameterValues). So what a library starts at once, and not behind the recovery, runs in the copy."""
_ALONE = ("listen_addresses=", "ssl=off", "external_pid_file=", "log_min_messages=warning", "hot_standby=on")
_REPLAYS_ALONE = (
    *("restore_command=", "primary_conninfo=", "primary_slot_name=", "archive_cleanup_command="),
    *("recovery_end_command=", "recovery_target=", "recovery_target_name=", "recovery_target_time="),
    *("recovery_target_xid=", "recovery_target_lsn=", "recovery_min_apply_delay=0", "recovery_target_timeline=current"),
)
"""Nothing comes from elsewhere, and it ends nowhere: what the backup brought is replayed, and then it waits."""


def no_dress_rehearsal(move: Move, cluster: Cluster, old: Facts, new: Facts) -> str:
    """Why the copy of this cluster cannot be started while it serves its clients; empty where it can."""
    major_version = numbers(cluster.series)
    if not cluster.running:
        return "the old cluster is stopped, and the move itself copies it as it is"
    if major_version < _SINCE:
        return f"PostgreSQL {cluster.series} has no replication slot that ends with its session"
    if hosts_of(old, new) is not Hosts.TWO:
        # where two tablespaces of one path could be one
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
    """The calls in SQL that begin and end a backup that belongs to its session."""
    if numbers(cluster.series) < _RENAMED_SINCE:
        return "pg_start_backup('pghaul', true, false)", "pg_stop_backup(false, false)"
    return "pg_backup_start('pghaul', true)", "pg_backup_stop(false)"


def list_recovery_isolation_settings(cluster: Cluster) -> tuple[str, ...]:
    """The settings, `NAME=VALUE`, by which the copy replays for its owner alone. No value holds a blank."""
    major_version = numbers(cluster.series)
    kept = [
        each
        for each in list_isolation_settings(cluster)
        if each.partition("=")[0] not in {*_BOUND_IN_RECOVERY, "listen_addresses"}
    ]
    alone = [*_ALONE, *(_REPLAYS_ALONE if major_version >= _SIGNAL_SINCE else ())]
    if _TRIGGER_SINCE <= major_version < _TRIGGER_UNTIL:
        alone.append("promote_trigger_file=")
    if major_version < _STATISTICS_UNTIL:
        alone.append("stats_temp_directory=pg_stat_tmp")
    return (*kept, *alone)
