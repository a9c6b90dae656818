"""What a plan leaves behind when it is done, and what is still to do then: sentences for people."""

from core.migration.findings.edited import kept_in_force
from core.migration.findings.layout import configuration_brought
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.configuration import put_aside


def remains(context: PlanContext) -> tuple[str, ...]:
    """What lies on the servers in the end, and when it may go."""
    cluster, target = context.cluster, context.move.target
    said = [
        (
            f"{context.old.name}: {cluster.data_directory} and its tablespaces hold the stopped cluster. Remove it "
            "when the new cluster has proven itself and has a backup of its own."
        ),
        (
            f"{context.old.name}: {cluster.data_directory}/{cluster_control.FENCE} holds its control file, without "
            "which it cannot start."
        ),
    ]
    if configuration_brought(cluster):
        said.append(
            f"{context.new.name}: {put_aside(context)} holds the files that the configuration has replaced, if any."
        )
    elif (file := service.config_file(context)) is not None:
        said.append(f"{context.new.name}: {file}{service.KEPT} holds what Debian's tools read there before.")
    said.append(
        f"{context.new.name}: {target}/{cluster_control.LOG} holds the server's messages when pg_ctl started it."
    )
    return tuple(said)


def advice(context: PlanContext) -> tuple[str, ...]:
    """What to do once new is open, the most urgent first, and what not."""
    archiving = ""
    backup = "Take a backup of the new cluster."
    if context.cluster.settings.get("archive_mode", "off") != "off":
        backup = (
            "Take a new base backup. Nothing was archived during the local-only start, so the archive may have a gap."
        )
        archiving = (
            "Check that the new cluster archives its WAL. Since the cutover it uses the archive_command of the old "
            "cluster: select archived_count, failed_count, last_failed_time from pg_stat_archiver. While that fails, "
            "WAL fills the disk of the new server."
        )
    return (
        backup,
        *([archiving] if archiving else []),
        *_kept(context),
        *_followers(context),
        "Warm up the memory of the new server, for example by pg_prewarm. Until then the first queries are slow.",
        "Do not run ANALYZE. The statistics of the planner were copied with the tables, the cumulative ones as files.",
    )


def _kept(context: PlanContext) -> list[str]:
    """What new was given in the place of what its files say."""
    kept = kept_in_force(context.move, context.cluster)
    if not kept:
        return []
    names = ", ".join(each.partition("=")[0] for each in kept)
    said = (
        f"Decide on the settings that were edited on the old server and never loaded: {names}. The file "
        "postgresql.auto.conf of the new cluster keeps the values that were in force. After ALTER SYSTEM RESET of a "
        "setting, the next reload or restart takes it from the other files."
    )
    return [said]


def _followers(context: PlanContext) -> list[str]:
    """What hung on the old server, and now must hang on the new server."""
    wide = context.cluster.wide
    if wide is None:
        return []
    said = []
    if wide.receivers:
        names = dict.fromkeys(each.name for each in wide.receivers)
        said.append(f"Point the receivers of the old cluster's WAL to the new cluster: {', '.join(names)}.")
    if wide.slots:
        names = dict.fromkeys(each.name for each in wide.slots)
        said.append(
            f"Drop the replication slots that nobody uses on the new server, because they keep WAL: {', '.join(names)}."
        )
    return said
