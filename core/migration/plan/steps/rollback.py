"""The way back before the point of no return: new stopped, fenced and kept, old let go and started, the key gone."""

from core.migration.findings.edited import given_back
from core.migration.findings.services import unit_at_work, unmatched_unit
from core.migration.model.plan import ONLY_LOOKS, Step
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.configuration import restore_configuration
from core.migration.plan.steps.inventory import OLD_SETTINGS, compare_old_settings
from core.migration.plan.steps.prepare import close_channel

OLD_RUNS = "old-runs"
"""The name of the step that looks at the port and the unit in which the old server runs again."""

_KEPT = "Nothing to undo: the files of the new cluster stay for another attempt."
_ONLY_ONE = "Two copies of one cluster must never run at the same time."


def rollback(context: PlanContext) -> list[Step]:
    """From wherever the plan has got to: each step does nothing where there is nothing to undo."""
    return [
        *_never_opened(context),
        _unopened(context),
        _close_new(context),
        *_unregistered(context),
        *restore_configuration(context),
        *close_channel(context),
        *_old_again(context),
    ]


def back_with_loss(context: PlanContext) -> list[Step]:
    """What makes old the only server again after new was opened, by hand: what clients wrote to new is lost on old."""
    stop = service.stop_new(context)
    close = cluster_control.fence_opened(context.move.target, context.channel.writer)
    stopping, closing = str(stop.command), str(close.command)
    return [
        Step("Stop the new cluster", "new", stop.user, stopping, _ONLY_ONE, _KEPT, stop.native, name="stop-new"),
        Step("Fence the new cluster", "new", close.user, closing, _ONLY_ONE, _KEPT, close.native, name="fence-new"),
        *(step for step in _old_again(context) if step.name != OLD_SETTINGS),
    ]


def _never_opened(context: PlanContext) -> list[Step]:
    """Old itself knows: it may be another workstation, or another copy of the script, that goes back."""
    if context.cluster.fenced:
        return []
    data = context.cluster.data_directory
    return [
        Step(
            "Check that there was no cutover",
            "old",
            context.owner,
            str(cluster_control.never_opened(data)),
            "What clients have written since a cutover is on the new server only.",
            ONLY_LOOKS,
            cluster_control.native_never_opened(data),
            name="no-cutover",
            proves=True,
        )
    ]


def _unopened(context: PlanContext) -> Step:
    """An opening may have failed, and its host have started new since."""
    return Step(
        "Check that nobody has written to the new cluster",
        "new",
        context.channel.writer,
        str(cluster_control.unopened(context.move.target)),
        "No server may have run there but the one of the local-only start.",
        ONLY_LOOKS,
        cluster_control.native_unopened(context.move.target),
        name="unopened",
        proves=True,
    )


def _unregistered(context: PlanContext) -> list[Step]:
    """New's host is told nothing of new any more, the last first."""
    changes = [*service.register(context), *service.enable(context)]
    return [
        Step(
            "Unregister the new cluster from its host",
            "new",
            change.undone.user,
            str(change.undone.command),
            "The host must not start a cluster that never had its cutover.",
            "Nothing to undo: another attempt registers it again.",
            change.undone.native,
            name=f"unregister-{at}",
        )
        for at, change in enumerate(reversed(changes))
        if change.undone is not None
    ]


def _close_new(context: PlanContext) -> Step:
    target = context.move.target
    return Step(
        "Stop and fence the new cluster",
        "new",
        context.channel.writer,
        str(cluster_control.give_back(target)),
        f"{_ONLY_ONE} A data directory without the mark of a copy is left alone.",
        _KEPT,
        cluster_control.native_give_back(target),
        name="close-new",
        proves=True,
        detached=True,
    )


def _old_again(context: PlanContext) -> list[Step]:
    cluster, owner = context.cluster, context.owner
    if cluster.fenced:
        return []  # an earlier move left it so: what it was
    unfence = cluster_control.unfence(cluster, owner)
    allow = Step(
        "Remove the fence of the old cluster",
        "old",
        unfence.user,
        str(unfence.command),
        "It is the only copy again that may run.",
        "To undo, fence the old cluster again.",
        unfence.native,
        name="unfence-old",
    )
    if not cluster.running:
        return [allow]
    start = service.start_old(context)
    where = context.old_path, cluster.data_directory
    # where the files are to hold, an edit may have been taken back since
    ports = tuple(dict.fromkeys(each.port for each in (context.new_cluster, cluster) if each.port is not None))
    unit = unit_at_work(cluster, context.old_facts) or unmatched_unit(cluster, context.old_facts)
    return [
        allow,
        Step(
            "Start the old cluster",
            "old",
            start.user,
            str(start.command),
            "It is started in the way in which its host always starts it.",
            "To undo, stop it.",
            start.native,
            name="start-old",
            detached=True,
        ),
        Step(
            "Check that the old cluster runs",
            "old",
            owner,
            str(
                cluster_control.prove_running(context.old_path, cluster, ports, unit, given_back(context.move, cluster))
            ),
            "Clients may connect again. It must accept connections at the port that it had.",
            ONLY_LOOKS,
            cluster_control.native_prove_running(*where),
            proves=True,
            name=OLD_RUNS,
        ),
        *compare_old_settings(context),
    ]
