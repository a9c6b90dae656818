"""The steps after the copy: the local-only start, the cutover, and what follows it."""

from typing import LiteralString

from core.migration.findings.edited import list_settings_kept_in_force, typed_options
from core.migration.findings.local_start import list_isolation_settings, list_isolation_settings_for_rebuild
from core.migration.findings.schedules import format_jobs_of_both_servers
from core.migration.findings.services import access_rules_beside_configuration
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, run_by_hand, undone
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.service import Change
from core.migration.plan.steps.configuration import copy_configuration
from core.migration.plan.steps.copy import STOPPED
from core.migration.plan.steps.corruption import amcheck_steps
from core.migration.plan.steps.hooks import LEAD
from core.migration.plan.steps.inventory import compare_inventory, compare_settings, connection_arguments, native_psql
from core.migration.plan.steps.known_data_roots import check_old_cluster_unchanged
from core.migration.plan.steps.reached import check_new_is_reachable
from core.migration.plan.steps.reindex import reindex_steps
from core.migration.plan.steps.rollback import rollback_steps_with_loss
from core.servers.shell import call, command

START_NEW = "start-new"
"""The name of the step that starts the new cluster for local connections only."""

LIFT_FENCE = "lift-fence"
"""The name of the step that ends the local-only start."""

ALONE = "alone"
"""The name of the step that checks after the cutover that the old cluster does not run."""

IN_FORCE = "in-force"
"""The name of the step that keeps settings in force where the files of the old cluster say otherwise."""

DECIDE = "decide"
"""The name of the step at which the operator decides: cutover or rollback."""

OPEN = "open"
"""The name of the step that allows client connections."""

_LINE = "%s\\n"
_UNDONE_BY_ROLLBACK = "Nothing to undo: a rollback restores what the new server had there."

_ASK: LiteralString = "select version(), pg_is_in_recovery(), (select count(*) from pg_database)"


def cutover_steps(context: PlanContext) -> list[Step]:
    """Return the steps from the configuration and the local-only start to the repointing of the applications."""
    return [
        *copy_configuration(context),
        *_register(context),
        *_keep_settings_in_force(context),
        *_local_only_start(context),
        *_cutover(context),
    ]


def _register(context: PlanContext) -> list[Step]:
    """Return the steps by which the service of the new cluster finds its configuration and starts it at boot."""
    register = "Register the new cluster with its host"
    by_files = "The service of the new cluster starts it by its configuration in /etc/postgresql."
    enable = "Enable the start of the new cluster at boot"
    at_boot = "The old cluster starts at boot, too. Until the cutover the fence keeps the new cluster from starting."
    return [
        *(
            _host_step(change, f"register-{number}", register, by_files)
            for number, change in enumerate(service.register_with_host(context))
        ),
        *(
            _host_step(change, f"enable-{number}", enable, at_boot)
            for number, change in enumerate(service.enable_at_boot(context))
        ),
    ]


def _host_step(change: Change, name: str, title: str, reason: str) -> Step:
    apply, revert = change.apply, change.revert
    return Step(
        title,
        "new",
        apply.user,
        str(apply.command),
        reason,
        _UNDONE_BY_ROLLBACK if revert is None else undone(revert.user, "new", *(revert.native or (revert.command,))),
        apply.native or (apply.command.text,),
        name=name,
        phase=Phase.START,
        timed_as=Phase.VERIFY,
        stopped=True,
    )


def _keep_settings_in_force(context: PlanContext) -> list[Step]:
    """Return the step that keeps the values in force for settings that were edited and not loaded, if chosen."""
    settings = list_settings_kept_in_force(context.move, context.cluster)
    if not settings:
        return []
    user, file = context.channel.writer, f"{context.move.target}/postgresql.auto.conf"
    native = [f"{command('printf', _LINE, _line_of_conf(each))} >>{command(file)}" for each in settings]
    return [
        Step(
            f"Set what was in force on the old cluster: {', '.join(each.partition('=')[0] for each in settings)}",
            "new",
            user,
            str(call("append_settings", context.move.target, *settings)),
            "The files of the old cluster were edited and not loaded. As chosen, the values in force are kept. They go "
            "into postgresql.auto.conf, which overrides the other files. ALTER SYSTEM RESET removes them again.",
            "Nothing to undo: another attempt copies the file again. Until then nothing starts the new cluster.",
            tuple(native),
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            name=IN_FORCE,
            stopped=True,
            skippable=False,
        )
    ]


def _line_of_conf(setting: str) -> str:
    name, _, value = setting.partition("=")
    quoted = value.replace("\\", "\\\\").replace("'", "''")
    return f"{name} = '{quoted}'"


def _local_only_start(context: PlanContext) -> list[Step]:
    user, target = context.channel.writer, context.move.target
    socket = socket_directory(context)
    rebuild = reindex_steps(context, socket)
    isolation_settings = (
        list_isolation_settings_for_rebuild(context.cluster) if rebuild else list_isolation_settings(context.cluster)
    )
    start = target, context.port, context.new_path, service.config_file(context)
    options = [*access_rules_beside_configuration(context.cluster), *isolation_settings]
    return [
        Step(
            "Start the new cluster for local connections only",
            "new",
            user,
            str(cluster_control.start_local_only(*start, options)),
            "Clients must not reach it yet. Until the cutover it archives nothing, and runs no subscription, job or "
            "other background worker.",
            undone(user, "new", *cluster_control.native_stop_and_fence(target)),
            cluster_control.native_start_local_only(*start, (*typed_options(context.cluster), *options)),
            phase=Phase.START,
            name=START_NEW,
            stopped=True,
        ),
        Step(
            "Query the new cluster",
            "new",
            user,
            str(
                call(
                    "query_new_cluster",
                    *connection_arguments(context.new_path, socket, context.port, context.cluster.series),
                )
            ),
            "Look at your own tables, too, before anybody writes to them.",
            ONLY_LOOKS,
            (native_psql(socket, context.port, "postgres", _ASK),),
            name="query",
            phase=Phase.START,
            stopped=True,
            skippable=False,
        ),
        *compare_inventory(context, socket, isolation_settings),
        *rebuild,
        *(amcheck_steps(context, socket) if context.verify is Verify.ALL else []),
    ]


def _cutover(context: PlanContext) -> list[Step]:
    user, target = context.channel.writer, context.move.target
    return [
        _decide(context),
        check_old_cluster_unchanged(context),
        Step(
            "End the local-only start and lift the fence",
            "new",
            user,
            str(cluster_control.lift_fence(target)),
            "The server of the local-only start is stopped. The next step starts the new cluster as its host always "
            "starts it.",
            undone(user, "new", *cluster_control.native_stop_and_fence(target)),
            cluster_control.native_lift_fence(target),
            phase=Phase.OPEN,
            timed_as=Phase.START,
            name=LIFT_FENCE,
            stopped=True,
        ),
        _allow_connections(context),
        *_record_cutover(context),
        Step(
            "Remove the empty fence of the new cluster",
            "new",
            user,
            str(cluster_control.remove_target_fence(target)),
            "From here on it is a cluster like any other.",
            "Nothing to undo: the fence no longer holds anything.",
            cluster_control.native_remove_target_fence(target),
            name="remove-fence-new",
            phase=Phase.OPEN,
            timed_as=Phase.PREPARE,
            share=0.1,
        ),
        _check_old_stays_stopped(context),
        *compare_settings(context, socket_directory(context)),
        *check_new_is_reachable(context),
        *_cron_jobs(context),
        _repoint_applications(),
    ]


def _decide(context: PlanContext) -> Step:
    return Step(
        "Decide: cut over or roll back",
        "you",
        "",
        "",
        "Examine the new cluster, which runs for local connections only. So far the old cluster has all data, and a "
        "rollback loses nothing. Next, clients can connect to the new cluster. What they write is then on the new "
        "server only.",
        f"To roll back, {_rollback_instructions(context)}",
        phase=Phase.OPEN,
        name=DECIDE,
        stopped=True,
        skippable=False,
    )


def _allow_connections(context: PlanContext) -> Step:
    start = service.start_new(context)
    return Step(
        "Allow client connections (point of no return)",
        "new",
        start.user,
        str(start.command),
        "The new cluster is started in the way in which its host always starts it. What clients write from here on is "
        "on the new server only.",
        f"Undoing this loses what clients have written since. To undo it, {_lossy_rollback_instructions(context)}",
        start.native,
        name=OPEN,
        phase=Phase.OPEN,
        timed_as=Phase.START,
        stopped=True,
        point_of_no_return=True,
    )


def _check_old_stays_stopped(context: PlanContext) -> Step:
    data = context.cluster.data_directory
    return Step(
        "Check that the old cluster is still stopped",
        "old",
        context.owner,
        str(call("check_stays_stopped", data)),
        "If clients write to both clusters, their contents differ from then on.",
        ONLY_LOOKS,
        cluster_control.native_prove_stopped(context.old_path, data, fenced=True),
        phase=Phase.OPEN,
        timed_as=Phase.PREPARE,
        share=0.1,
        name=ALONE,
        reads=STOPPED,
        proves=True,
        skippable=False,
    )


def _repoint_applications() -> Step:
    return Step(
        "Repoint the applications",
        "you",
        "",
        "",
        "This concerns the address, the DNS name or virtual IP, connection pools, monitoring, backups, and the start "
        "at boot.",
        "To undo, point them to the old server again. What was written to the new cluster is lost.",
        phase=Phase.OPEN,
        name=LEAD,
    )


def _record_cutover(context: PlanContext) -> list[Step]:
    """Return the step that records the cutover in the fence of the old cluster.

    There is none if an earlier move has fenced the old cluster: this move does not remove that fence.
    """
    if context.cluster.fenced:
        return []
    data = context.cluster.data_directory
    return [
        Step(
            "Record the cutover in the fence of the old cluster",
            "old",
            context.owner,
            str(cluster_control.record_cutover(data)),
            "Whoever tries to roll back from here on learns there what would be lost.",
            "Nothing to undo: the record is removed with the fence.",
            cluster_control.native_record_cutover(data),
            name="record-cutover",
            phase=Phase.OPEN,
            timed_as=Phase.PREPARE,
            share=0.1,
        )
    ]


def _rollback_instructions(context: PlanContext) -> str:
    """Return the commands of a rollback before the cutover, within a sentence."""
    stop = cluster_control.native_stop_and_fence(context.move.target)
    free, start = cluster_control.unfence_cluster(context.cluster, context.owner), service.start_old(context)
    return _commands_in_turn(
        (context.channel.writer, "new", tuple(stop)), (free.user, "old", free.native), (start.user, "old", start.native)
    )


def _lossy_rollback_instructions(context: PlanContext) -> str:
    """Return the commands of a rollback after the cutover, within a sentence."""
    return _commands_in_turn(*((step.user, step.side, step.native) for step in rollback_steps_with_loss(context)))


def _commands_in_turn(*parts: tuple[str, str, tuple[str, ...]]) -> str:
    """Return commands on both servers, one after the other, within a sentence."""
    return "; then ".join(run_by_hand(user, side, *native) for user, side, native in parts)


def _cron_jobs(context: PlanContext) -> list[Step]:
    """Return the step that lists cron jobs and timers of both hosts; none if no job concerns PostgreSQL."""
    jobs = format_jobs_of_both_servers(context.old_facts, context.new_facts)
    if not jobs:
        return []
    return [
        Step(
            "Move the cron jobs",
            "you",
            "",
            "",
            "What the old server runs by crontabs and timers must run on the new server, with the paths of the new "
            "server, and no longer on the old server.",
            "To undo, move them back.",
            phase=Phase.OPEN,
            name=Hook.MOVE_CRON_JOBS,
            skippable=False,
            table=jobs,
        )
    ]


def socket_directory(context: PlanContext) -> str | None:
    """Return the directory of the new cluster's Unix socket, or None for the default of its programs."""
    setting = context.new_cluster.settings.get("unix_socket_directories", "").split(",")[0].strip()
    return setting if setting.startswith("/") else None
