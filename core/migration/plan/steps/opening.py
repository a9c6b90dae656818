"""The steps after the copy: the local-only start, the cutover, and what follows it."""

from typing import LiteralString

from core.migration.findings.edited import list_settings_kept_in_force, socket_setting, typed_options
from core.migration.findings.local_start import list_isolation_settings, list_isolation_settings_for_rebuild
from core.migration.findings.schedules import format_jobs_of_both_servers
from core.migration.findings.services import access_rules_beside_configuration
from core.migration.model import step_ids
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import (
    ONLY_LOOKS,
    Decision,
    OperatorTask,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    Timing,
    Verification,
    run_by_hand,
    undone,
)
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.service import Change
from core.migration.plan.steps.configuration import copy_configuration
from core.migration.plan.steps.corruption import amcheck_steps
from core.migration.plan.steps.inventory import compare_inventory, compare_settings, connection_arguments, native_psql
from core.migration.plan.steps.known_data_roots import check_old_cluster_unchanged
from core.migration.plan.steps.reached import check_new_is_reachable, check_port_is_free_before_cutover
from core.migration.plan.steps.reindex import reindex_steps
from core.migration.plan.steps.rollback import rollback_steps_with_loss
from core.servers.shell import call, command
from core.sides import Side
from core.text import code

_LINE = "%s\\n"
_UNDONE_BY_ROLLBACK = "Nothing to undo: a rollback restores what the new server had there."

_ASK: LiteralString = "select version(), pg_is_in_recovery(), (select count(*) from pg_database)"


def cutover_steps(context: PlanContext) -> list[Step]:
    """Return the steps from the configuration and the local-only start to the repointing of the applications."""
    return [
        # The local-only start already reads the configuration with which the new cluster will serve its clients. So the
        # configuration is in place before it, and a mistake in it shows while a rollback loses nothing.
        *copy_configuration(context),
        *_register(context),
        *_keep_settings_in_force(context),
        *_local_only_start(context),
        *_cutover(context),
    ]


def _register(context: PlanContext) -> list[Step]:
    """Return the steps by which the service of the new cluster finds its configuration and starts it at boot."""
    register = "Prepare the files in /etc/postgresql by which the service starts the new cluster"
    by_files = "The service of the new cluster starts it by its configuration in /etc/postgresql."
    enable = "Enable the start of the new cluster at boot"
    at_boot = "The old cluster starts at boot, too. Until the cutover the fence keeps the new cluster from starting."
    return [
        *(
            _host_step(change, step_ids.of_part(step_ids.REGISTER, number), register, by_files)
            for number, change in enumerate(service.register_with_host(context))
        ),
        *(
            _host_step(change, step_ids.of_part(step_ids.ENABLE_AT_BOOT, number), enable, at_boot)
            for number, change in enumerate(service.enable_at_boot(context))
        ),
    ]


def _host_step(change: Change, step_id: str, title: str, reason: str) -> Step:
    apply, revert = change.apply, change.revert
    return Step(
        id=step_id,
        title=title,
        action=RemoteCall(
            side=Side.NEW, user=apply.user, call=str(apply.command), native=apply.native or (apply.command.text,)
        ),
        reason=reason,
        undo=_UNDONE_BY_ROLLBACK
        if revert is None
        else undone(revert.user, Side.NEW, *(revert.native or (revert.command,))),
        phase=Phase.START,
        downtime=True,
    )


def _keep_settings_in_force(context: PlanContext) -> list[Step]:
    """Return the step that keeps the values in force for settings that were edited and not loaded, if chosen."""
    settings = list_settings_kept_in_force(context.move, context.cluster)
    if not settings:
        return []
    user, file = context.channel.writer, f"{context.move.target}/postgresql.auto.conf"
    names = ", ".join(each.partition("=")[0] for each in settings)
    native = [f"{command('printf', _LINE, _line_of_conf(each))} >>{command(file)}" for each in settings]
    return [
        Step(
            id=step_ids.KEEP_SETTINGS_IN_FORCE,
            title=f"Keep the settings that were in force on the old cluster: {names}",
            action=RemoteCall(
                side=Side.NEW,
                user=user,
                call=str(call("append_settings", context.move.target, *settings)),
                native=tuple(native),
            ),
            reason="The files of the old cluster were edited and not loaded. As chosen, the values in force are kept. "
            "They go into postgresql.auto.conf, which overrides the other files. ALTER SYSTEM RESET removes them "
            "again.",
            undo="Nothing to undo: another attempt copies the file again. Until then nothing starts the new cluster.",
            phase=Phase.START,
            downtime=True,
            resume=ResumePolicy(required=True),
        )
    ]


def _line_of_conf(setting: str) -> str:
    name, _, value = setting.partition("=")
    quoted = value.replace("\\", "\\\\").replace("'", "''")
    return f"{name} = '{quoted}'"


def _local_only_start(context: PlanContext) -> list[Step]:
    user, target, socket = context.channel.writer, context.move.target, context.local_socket
    rebuild = reindex_steps(context, socket)
    isolation_settings = (
        list_isolation_settings_for_rebuild(context.cluster) if rebuild else list_isolation_settings(context.cluster)
    )
    isolation_settings = (*isolation_settings, f"{socket_setting(context.cluster)}={socket}")
    start = target, context.port, context.new_path, service.config_file(context)
    # The isolation settings stand last. A setting on the server's command line overrides the files and ALTER SYSTEM,
    # and of several options with one name the last one counts (PostgreSQL's manual, chapter Setting Parameters).
    options = [*access_rules_beside_configuration(context.cluster), *isolation_settings]
    typed = [*typed_options(context.cluster), *options]
    return [
        Step(
            id=step_ids.START_LOCALLY,
            title="Start the new cluster for local connections only",
            action=RemoteCall(
                side=Side.NEW,
                user=user,
                call=str(cluster_control.start_local_only(*start, options, socket)),
                native=cluster_control.native_start_local_only(*start, typed, socket),
            ),
            reason="The fence is opened for this start alone, and closed again as soon as the server is running: a "
            "reboot does not start it. Clients must not reach it yet: it listens only on a socket in a folder that its "
            "owner alone can enter. Until the cutover it archives nothing, and runs no subscription, job or other "
            "background worker. Transactions are read-only by default.",
            undo=undone(user, Side.NEW, *cluster_control.native_stop_and_fence(target)),
            phase=Phase.START,
            downtime=True,
        ),
        Step(
            id=step_ids.QUERY_NEW,
            title="Query the new cluster",
            action=RemoteCall(
                side=Side.NEW,
                user=user,
                call=str(
                    call(
                        "query_new_cluster",
                        *connection_arguments(context.new_path, socket, context.port, context.cluster.series),
                    )
                ),
                native=(native_psql(socket, context.port, "postgres", _ASK),),
            ),
            reason="Look at your own tables, too, before anybody writes to them.",
            undo=ONLY_LOOKS,
            phase=Phase.START,
            downtime=True,
            resume=ResumePolicy(required=True),
        ),
        # The inventory is compared while the copy is still exactly what was copied. A rebuild writes to it, and may
        # change which indexes are valid.
        *compare_inventory(context, socket, isolation_settings),
        *rebuild,
        *(amcheck_steps(context, socket) if context.verify is Verify.ALL else []),
    ]


def _cutover(context: PlanContext) -> list[Step]:
    user, target = context.channel.writer, context.move.target
    return [
        _decide(context),
        # The operator may take hours to decide. What the decision rests on is looked at again here, at the last moment
        # at which a rollback loses nothing.
        check_old_cluster_unchanged(context),
        check_port_is_free_before_cutover(context),
        # The fence is lifted in a step of its own, because from then on a reboot may start the new cluster. A rollback
        # must know whether that could have happened (`check_copy_unchanged`).
        Step(
            id=step_ids.LIFT_FENCE,
            title="Stop the new cluster after the local-only start, and lift its fence",
            action=RemoteCall(
                side=Side.NEW,
                user=user,
                call=str(cluster_control.lift_fence(target)),
                native=cluster_control.native_lift_fence(target),
            ),
            reason="The server of the local-only start is stopped. From here on anybody can start the new cluster. The "
            "next step starts it as its host always starts it.",
            undo=undone(user, Side.NEW, *cluster_control.native_stop_and_fence(target)),
            phase=Phase.OPEN,
            downtime=True,
        ),
        _allow_connections(context),
        # The cutover is recorded behind the start. In the other order, a start that fails would leave the record of a
        # cutover that never was, and every rollback would be refused.
        *_record_cutover(context),
        Step(
            id=step_ids.REMOVE_FENCE_NEW,
            title="Remove the directory pghaul-fence, now empty, from the new cluster",
            action=RemoteCall(
                side=Side.NEW,
                user=user,
                call=str(cluster_control.remove_target_fence(target)),
                native=cluster_control.native_remove_target_fence(target),
            ),
            reason="From here on it is a cluster like any other.",
            undo="Nothing to undo: the fence no longer holds anything.",
            phase=Phase.AFTER,
        ),
        # From here on clients work, and the time is no longer downtime. These steps may take as long as they need.
        _check_old_stays_stopped(context),
        *compare_settings(context, socket_directory(context)),
        *check_new_is_reachable(context),
        *_cron_jobs(context),
        _repoint_applications(),
    ]


def _decide(context: PlanContext) -> Step:
    native = code(command("psql", "-h", context.local_socket, "-p", context.port, "-d", "postgres").text)
    return Step(
        id=step_ids.DECIDE,
        title="Decide: cut over or roll back",
        action=Decision(),
        reason="Examine the new cluster, which runs for local connections only. Connect to it on the new server as "
        f"{context.channel.writer}, with {native}. So far the old cluster has all data, and a rollback loses only what "
        "you write to the new cluster yourself. Next, clients can connect to the new cluster. What they write is then "
        "on the new server only.",
        undo=f"To roll back, {_rollback_instructions(context)}",
        phase=Phase.OPEN,
        downtime=True,
        resume=ResumePolicy(required=True),
    )


def _allow_connections(context: PlanContext) -> Step:
    start = service.start_new(context)
    return Step(
        id=step_ids.CUTOVER,
        title="Start the new cluster for clients (point of no return)",
        action=RemoteCall(side=Side.NEW, user=start.user, call=str(start.command), native=start.native),
        reason="The new cluster is started in the way in which its host always starts it. What clients write from "
        "here on is on the new server only.",
        undo=f"Undoing this loses what clients have written since. To undo it, {_lossy_rollback_instructions(context)}",
        phase=Phase.OPEN,
        downtime=True,
        timing=Timing(share=5.0),
    )


def _check_old_stays_stopped(context: PlanContext) -> Step:
    data = context.cluster.data_directory
    return Step(
        id=step_ids.CHECK_OLD_STAYS_STOPPED,
        title="Check that the old cluster is still stopped",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(call("check_stays_stopped", data)),
            native=cluster_control.native_prove_stopped(context.old_path, data, fenced=True),
            reads=step_ids.CHECK_STOPPED,
        ),
        reason="If clients write to both clusters, their contents differ from then on.",
        undo=ONLY_LOOKS,
        phase=Phase.AFTER,
        resume=ResumePolicy(required=True),
        verification=Verification(only_checks=True),
    )


def _repoint_applications() -> Step:
    return Step(
        id=step_ids.REPOINT_APPLICATIONS,
        title="Repoint the applications",
        action=OperatorTask(),
        reason="This concerns the address, the DNS name or virtual IP, connection pools, monitoring, backups, and the "
        "start at boot.",
        undo="To undo, point them to the old server again. What was written to the new cluster is lost.",
        phase=Phase.AFTER,
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
            id=step_ids.RECORD_CUTOVER,
            title="Record the cutover in the directory pghaul-fence of the old cluster",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(cluster_control.record_cutover(data)),
                native=cluster_control.native_record_cutover(data),
            ),
            reason="Whoever tries to roll back from here on learns there what would be lost.",
            undo="Nothing to undo: the record is removed with the fence.",
            phase=Phase.AFTER,
        )
    ]


def _rollback_instructions(context: PlanContext) -> str:
    """Return the commands of a rollback before the cutover, within a sentence."""
    stop = cluster_control.native_stop_and_fence(context.move.target)
    free, start = cluster_control.unfence_cluster(context.cluster, context.owner), service.start_old(context)
    return _commands_in_turn(
        (context.channel.writer, Side.NEW, tuple(stop)),
        (free.user, Side.OLD, free.native),
        (start.user, Side.OLD, start.native),
    )


def _lossy_rollback_instructions(context: PlanContext) -> str:
    """Return the commands of a rollback after the cutover, within a sentence."""
    return _commands_in_turn(
        *((step.user, step.side, step.native) for step in rollback_steps_with_loss(context) if step.side is not None)
    )


def _commands_in_turn(*parts: tuple[str, Side, tuple[str, ...]]) -> str:
    """Return commands on both servers, one after the other, within a sentence."""
    return "; then ".join(run_by_hand(user, side, *native) for user, side, native in parts)


def _cron_jobs(context: PlanContext) -> list[Step]:
    """Return the step that lists cron jobs and timers of both hosts; none if no job concerns PostgreSQL."""
    jobs = format_jobs_of_both_servers(context.old_facts, context.new_facts)
    if not jobs:
        return []
    return [
        Step(
            id=step_ids.MOVE_CRON_JOBS,
            title="Move the cron jobs",
            action=OperatorTask(hook=Hook.MOVE_CRON_JOBS),
            reason="What the old server runs by crontabs and timers must run on the new server, with the paths of the "
            "new server, and no longer on the old server.",
            undo="To undo, move them back.",
            table=jobs,
            phase=Phase.AFTER,
            resume=ResumePolicy(required=True),
        )
    ]


def socket_directory(context: PlanContext) -> str | None:
    """Return the directory of the new cluster's Unix socket, or None for the default of its programs."""
    setting = context.new_cluster.settings.get("unix_socket_directories", "").split(",")[0].strip()
    return setting if setting.startswith("/") else None
