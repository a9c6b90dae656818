"""The steps of a rollback before the point of no return.

The new cluster is stopped and fenced and its files stay. The fence of the old cluster is removed, the old cluster is
started, and the copy's key is removed.
"""

from core.migration.findings.edited import list_settings_for_old_start
from core.migration.findings.services import active_unit, unknown_unit
from core.migration.model import step_ids
from core.migration.model.plan import ONLY_LOOKS, RemoteCall, Step, Verification
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.configuration import restore_configuration
from core.migration.plan.steps.inventory import compare_old_settings
from core.migration.plan.steps.prepare import close_channel
from core.sides import Side

_FILES_STAY = "Nothing to undo: the files of the new cluster stay for another attempt."
_ONLY_ONE = "Two copies of one cluster must never run at the same time."


def rollback_steps(context: PlanContext) -> list[Step]:
    """Return the steps of a rollback from any step of the plan: each does nothing if there is nothing to undo."""
    return [
        # The two checks come first, while nothing is changed on either server. The second one needs the checksum that
        # was kept when the fence was lifted, and fencing the new cluster again removes it.
        *_check_no_cutover(context),
        _check_copy_unchanged(context),
        # The new cluster is stopped and fenced before anything else is undone, and long before the old cluster starts:
        # at no moment may both be able to run.
        _stop_and_fence_new(context),
        *_unregister(context),
        *restore_configuration(context),
        *close_channel(context),
        *_restart_old(context),
    ]


def rollback_steps_with_loss(context: PlanContext) -> list[Step]:
    """Return the manual steps of a rollback after the cutover.

    What clients have written to the new cluster is lost then.
    """
    stop = service.stop_new(context)
    fence = cluster_control.fence_after_cutover(context.move.target, context.channel.writer)
    stopping, fencing = str(stop.command), str(fence.command)
    return [
        Step(
            id=step_ids.STOP_NEW_CLUSTER,
            title="Stop the new cluster",
            action=RemoteCall(side=Side.NEW, user=stop.user, call=stopping, native=stop.native),
            reason=_ONLY_ONE,
            undo=_FILES_STAY,
        ),
        Step(
            id=step_ids.FENCE_NEW,
            title="Fence the new cluster, so that it cannot start",
            action=RemoteCall(side=Side.NEW, user=fence.user, call=fencing, native=fence.native),
            reason=_ONLY_ONE,
            undo=_FILES_STAY,
        ),
        *(step for step in _restart_old(context) if step.id != step_ids.COMPARE_OLD_SETTINGS),
    ]


def _check_no_cutover(context: PlanContext) -> list[Step]:
    """Return the check that the old server has recorded no cutover.

    The old server is asked because the rollback may run on another workstation or from another copy of the script.
    """
    if context.cluster.fenced:
        return []
    data = context.cluster.data_directory
    return [
        Step(
            id=step_ids.CHECK_NO_CUTOVER,
            title="Check that there was no cutover",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(cluster_control.check_no_cutover(data)),
                native=cluster_control.native_check_no_cutover(data),
            ),
            reason="What clients have written since a cutover is on the new server only.",
            undo=ONLY_LOOKS,
            verification=Verification(only_checks=True),
        )
    ]


def _check_copy_unchanged(context: PlanContext) -> Step:
    """Return the check that no other server has run in the target: a failed cutover step may have started one."""
    return Step(
        id=step_ids.CHECK_COPY_UNCHANGED,
        title="Check that the new cluster was never started for clients",
        action=RemoteCall(
            side=Side.NEW,
            user=context.channel.writer,
            call=str(cluster_control.check_copy_unchanged(context.move.target)),
            native=cluster_control.native_check_copy_unchanged(context.move.target),
        ),
        reason="The step that allows client connections may have started the new cluster before it failed. Then "
        "clients may have written to it, and a rollback would lose what they wrote.",
        undo=ONLY_LOOKS,
        verification=Verification(only_checks=True),
    )


def _unregister(context: PlanContext) -> list[Step]:
    """Return the steps that undo the changes to the host of the new cluster, the last change first."""
    files = "Restore the files in /etc/postgresql of the new server"
    at_boot = "Disable the start of the new cluster at boot"
    changes = [(files, each) for each in service.register_with_host(context)]
    changes += [(at_boot, each) for each in service.enable_at_boot(context)]
    return [
        Step(
            id=step_ids.of_part(step_ids.UNREGISTER, number),
            title=title,
            action=RemoteCall(
                side=Side.NEW, user=change.revert.user, call=str(change.revert.command), native=change.revert.native
            ),
            reason="The host must not start a cluster that never had its cutover.",
            undo="Nothing to undo: another attempt registers it again.",
        )
        for number, (title, change) in enumerate(reversed(changes))
        if change.revert is not None
    ]


def _stop_and_fence_new(context: PlanContext) -> Step:
    target = context.move.target
    return Step(
        id=step_ids.STOP_AND_FENCE_NEW,
        title="Stop the new cluster, and fence it so that it cannot start",
        action=RemoteCall(
            side=Side.NEW,
            user=context.channel.writer,
            call=str(cluster_control.stop_and_fence(target)),
            native=cluster_control.native_stop_and_fence(target),
            detached=True,
        ),
        reason=f"{_ONLY_ONE} A data directory without the mark of a copy is left alone.",
        undo=_FILES_STAY,
        verification=Verification(only_checks=True),
    )


def _restart_old(context: PlanContext) -> list[Step]:
    cluster, owner = context.cluster, context.owner
    if cluster.fenced:
        return []  # an earlier move has fenced it, and it stays as it was before this move
    unfence = cluster_control.unfence_cluster(cluster, owner)
    remove_fence = Step(
        id=step_ids.UNFENCE_OLD,
        title="Remove the fence of the old cluster",
        action=RemoteCall(side=Side.OLD, user=unfence.user, call=str(unfence.command), native=unfence.native),
        reason="It is the only copy again that may run.",
        undo="To undo, fence the old cluster again.",
    )
    if not cluster.running:
        return [remove_fence]
    start = service.start_old(context)
    server = context.old_path, cluster.data_directory
    # if the values in the files were chosen, somebody may have reverted an edit since
    ports = tuple(dict.fromkeys(each.port for each in (context.new_cluster, cluster) if each.port is not None))
    unit = active_unit(cluster, context.old_facts) or unknown_unit(cluster, context.old_facts)
    return [
        remove_fence,
        Step(
            id=step_ids.START_OLD_CLUSTER,
            title="Start the old cluster",
            action=RemoteCall(
                side=Side.OLD, user=start.user, call=str(start.command), native=start.native, detached=True
            ),
            reason="It is started in the way in which its host always starts it.",
            undo="To undo, stop it.",
        ),
        Step(
            id=step_ids.CHECK_OLD_RUNS,
            title="Check that the old cluster runs",
            action=RemoteCall(
                side=Side.OLD,
                user=owner,
                call=str(
                    cluster_control.prove_running(
                        context.old_path, cluster, ports, unit, list_settings_for_old_start(context.move, cluster)
                    )
                ),
                native=cluster_control.native_prove_running(*server),
            ),
            reason="Clients may connect again. It must accept connections at the port that it had.",
            undo=ONLY_LOOKS,
            verification=Verification(only_checks=True),
        ),
        *compare_old_settings(context),
    ]
