"""What a finished move leaves on the servers, and what is still to be done: sentences for the operator."""

from core.migration.findings.edited import list_settings_kept_in_force
from core.migration.findings.layout import configuration_copied
from core.migration.findings.services import debian_config_file
from core.migration.model.plan import FollowUp, FollowUpGroup
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.configuration import saved_configuration


def list_remaining_files(context: PlanContext) -> tuple[FollowUp, ...]:
    """Return what remains on both servers after the move, and when it can be removed."""
    cluster, target = context.cluster, context.move.target
    kept = [
        FollowUp(
            "old-files",
            FollowUpGroup.CLEAN_UP,
            f"{context.old.name}: {cluster.data_directory} and its tablespaces hold the stopped cluster. Remove it "
            "when the new cluster has proven itself and has a backup of its own.",
        ),
        FollowUp(
            "fence",
            FollowUpGroup.INFORMATION,
            f"{context.old.name}: {cluster.data_directory}/{cluster_control.FENCE} holds the record of the "
            "cutover and pg_control, which was moved there so that the old cluster cannot start.",
        ),
    ]
    if configuration_copied(cluster):
        kept.append(
            FollowUp(
                "saved-configuration",
                FollowUpGroup.INFORMATION,
                f"{context.new.name}: {saved_configuration(context)} holds the files that the configuration has "
                "replaced, if any.",
            )
        )
    elif context.service is not None and context.service.debian:
        file = debian_config_file(context.service)
        kept.append(
            FollowUp(
                "saved-configuration",
                FollowUpGroup.INFORMATION,
                f"{context.new.name}: the move replaces {file}. The previous file is kept as "
                f"{file}{service.SAVED_SUFFIX}.",
            )
        )
    log = f"{context.new.name}: {target}/{cluster_control.LOG} holds the messages of the starts by pg_ctl."
    return (*kept, FollowUp("start-log", FollowUpGroup.INFORMATION, log))


def list_follow_up_tasks(context: PlanContext) -> tuple[FollowUp, ...]:
    """Return the tasks after the cutover, the most urgent first, and information for then."""
    archiving = []
    backup = "Take a backup of the new cluster."
    if context.cluster.settings.get("archive_mode", "off") != "off":
        backup = (
            "Take a new base backup. Nothing was archived during the local-only start, so the archive may have a gap."
        )
        said = (
            "Check that the new cluster archives its WAL. Since the cutover it uses the archive_command of the old "
            "cluster: select archived_count, failed_count, last_failed_time from pg_stat_archiver. While that fails, "
            "WAL fills the disk of the new server."
        )
        archiving.append(FollowUp("archiving", FollowUpGroup.VERIFY, said))
    return (
        FollowUp("backup", FollowUpGroup.BACK_UP, backup),
        *archiving,
        *_start_at_boot(context),
        *_settings_to_decide(context),
        *_replication_tasks(context),
        FollowUp(
            "cache",
            FollowUpGroup.INFORMATION,
            "The first queries are slow, because the memory of the new server contains no data yet. pg_prewarm can "
            "load tables in advance.",
        ),
        FollowUp(
            "statistics",
            FollowUpGroup.INFORMATION,
            "ANALYZE is not needed, because the statistics are copied with the files.",
        ),
    )


def _start_at_boot(context: PlanContext) -> list[FollowUp]:
    """Return the task on a unit that does not start the new cluster at boot: the plan enables it only if the old
    cluster started at boot."""
    unit = context.service
    if unit is None or unit.enabled is not False or service.enable_at_boot(context):
        return []
    task = f"Enable {unit.unit} on the server {context.new.name} if the new cluster is to start at boot."
    return [FollowUp("start-at-boot", FollowUpGroup.VERIFY, task)]


def _settings_to_decide(context: PlanContext) -> list[FollowUp]:
    """Return the task on settings for which the value in force was kept instead of the value in the files."""
    settings = list_settings_kept_in_force(context.move, context.cluster)
    if not settings:
        return []
    names = ", ".join(each.partition("=")[0] for each in settings)
    task = (
        f"Decide on the settings that were edited on the old server and never loaded: {names}. The file "
        "postgresql.auto.conf of the new cluster keeps the values that were in force. After ALTER SYSTEM RESET of a "
        "setting, the next reload or restart takes it from the other files."
    )
    return [FollowUp("edited-settings", FollowUpGroup.VERIFY, task)]


def _replication_tasks(context: PlanContext) -> list[FollowUp]:
    """Return the tasks on standbys, archivers and replication slots of the old server."""
    wide = context.cluster.wide
    if wide is None:
        return []
    tasks = []
    if wide.receivers:
        names = ", ".join(dict.fromkeys(each.name for each in wide.receivers))
        task = f"Point the receivers of the old cluster's WAL to the new cluster: {names}."
        tasks.append(FollowUp("receivers", FollowUpGroup.BACK_UP, task))
    if wide.slots:
        names = ", ".join(dict.fromkeys(each.name for each in wide.slots))
        task = f"Drop the replication slots that nobody uses on the new server, because they keep WAL: {names}."
        tasks.append(FollowUp("slots", FollowUpGroup.CLEAN_UP, task))
    return tasks
