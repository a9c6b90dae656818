"""The steps that copy the cluster.

They are the pre-copy passes while the old cluster runs, its stop with a check, the final sync, the links to data roots
with another path, and the comparison of both sides.
"""

from core.migration.estimate.copy_methods import MOST_PASSES
from core.migration.findings.data_roots import DataRoot, relinked_roots
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, undone
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.checkpoint import checkpoint_before_last_pass, checkpoint_before_stop
from core.migration.plan.steps.copyable import check_copyable, check_copyable_in_downtime
from core.migration.plan.steps.corruption import page_checksum_steps
from core.migration.plan.steps.inventory import list_clients, take_inventory
from core.migration.plan.steps.known_data_roots import check_data_roots, check_data_roots_stopped, record_data_roots
from core.migration.plan.steps.reached import list_listeners
from core.migration.plan.steps.start_files import check_restartable, check_restartable_in_downtime
from core.migration.plan.steps.verify import checksum_in_advance, verify_steps
from core.migration.transports import passes
from core.servers.shell import call, command

STOP, STOPPED, FENCE = "stop", "stopped", "fence"
WARM, DELETIONS = "warm-", "deletions-"
CHANGED, REST, COLD = "changed-", "rest-", "copy-"
"""Names of the steps of the stop, and prefixes of the names of the steps of each data root."""

_UNDO_COPY = "Nothing to undo: another pass overwrites these files. To give up the move, remove the target directories."


def copy_steps(context: PlanContext, *rehearsal_steps: Step) -> list[Step]:
    """Return the steps of the copy.

    A running cluster is copied by pre-copy passes, its stop, the fence and the final sync. A stopped cluster is copied
    by the fence and one pass.

    Args:
        context: the move with everything that is known of both servers.
        rehearsal_steps: the steps of a dress rehearsal, which come after the pre-copy passes.
    """
    if not context.cluster.running:
        return [
            check_copyable(context),
            check_restartable(context),
            *list_listeners(context),
            *_check_stopped(context),
            *_fence_old(context),
            check_data_roots_stopped(context),
            *_list_deletions(context),
            *_copy_remaining_files(context),
            *_check_stayed_stopped(context),
            *_link_flush_and_verify(context),
        ]
    return [
        *_pre_copy_steps(context),
        *rehearsal_steps,
        check_data_roots(context),
        check_copyable(context),
        check_restartable(context),
        *list_listeners(context),
        *checkpoint_before_stop(context),
        *_stop_steps(context),
        *_check_stopped(context),
        *_fence_old(context),
        check_data_roots_stopped(context),
        *_list_deletions(context),
        *_copy_changed_files(context),
        *_copy_remaining_files(context),
        *_check_stayed_stopped(context),
        *_link_flush_and_verify(context),
    ]


def _pre_copy_steps(context: PlanContext) -> list[Step]:
    passes_and_checksums = [
        step
        for number in range(1, MOST_PASSES + 1)
        for step in (
            *(_pre_copy_step(context, root, number) for root in context.roots),
            *checksum_in_advance(context, number),
        )
    ]
    last = next(at for at, step in enumerate(passes_and_checksums) if step.warm_pass == MOST_PASSES)
    steps = [*passes_and_checksums[:last], *checkpoint_before_last_pass(context), *passes_and_checksums[last:]]
    return [record_data_roots(context), *steps]


def _pre_copy_step(context: PlanContext, root: DataRoot, number: int) -> Step:
    return Step(
        f"Pre-copy pass {number} of {MOST_PASSES}: copy {root.source}",
        "old",
        context.owner,
        str(passes.limited_pre_copy_pass(root, *context.lists)),
        "The old cluster keeps running. The more is on the new server already, the shorter is the downtime."
        if number == 1
        else "The old cluster keeps running. This pass copies what has changed since the pass before.",
        _UNDO_COPY,
        native=_native_rsyncs(context, root, passes.PRESENT, passes.MISSING),
        phase=Phase.WARM,
        share=context.share(root) / number**2,
        name=f"{WARM}{number}-{root.label}",
        warm_pass=number,
        root=root.label,
        detached=True,
        rehearsed=True,
        bytes=root.copied_bytes,
    )


def _native_rsyncs(context: PlanContext, root: DataRoot, *options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rsync commands of a pass over a data root, as a person would type them."""
    return tuple(passes.native_rsync(context.channel, root, *each) for each in options)


def _stop_steps(context: PlanContext) -> list[Step]:
    stop = service.stop_old(context)
    return [
        *list_clients(context),
        Step(
            "Stop the applications",
            "you",
            "",
            "",
            "From here on clients wait. Stop connection pools, cron jobs and monitoring, too.",
            "To undo, start the applications again.",
            phase=Phase.STOP,
            name=Hook.STOP_APPLICATIONS,
            stopped=True,
            skippable=False,
        ),
        *take_inventory(context),
        check_copyable_in_downtime(context),
        check_restartable_in_downtime(context),
        Step(
            "Stop the old cluster",
            "old",
            stop.user,
            str(stop.command),
            "The files of a running cluster are not consistent with each other.",
            stop.undo,
            native=stop.native,
            phase=Phase.STOP,
            share=5.0,
            name=STOP,
            stopped=True,
            detached=True,
        ),
    ]


def _check_stopped(context: PlanContext) -> list[Step]:
    return [
        Step(
            "Check that the old cluster is stopped",
            "old",
            context.owner,
            str(cluster_control.prove_stopped(context.old_path, context.cluster.data_directory)),
            "No server may run in the data directory, and the control file must say `shut down`. It is not enough that "
            "connections are refused.",
            ONLY_LOOKS,
            native=cluster_control.native_prove_stopped(context.old_path, context.cluster.data_directory, fenced=False),
            phase=Phase.STOP,
            name=STOPPED,
            proves=True,
            stopped=True,
            rehearsed=not context.cluster.running,
            skippable=False,
        )
    ]


def _check_stayed_stopped(context: PlanContext) -> list[Step]:
    """Return the step that compares the control file again: a start in the meantime would have changed it."""
    return [
        Step(
            "Check that the old cluster has stayed stopped",
            "old",
            context.owner,
            str(cluster_control.prove_stopped(context.old_path, context.cluster.data_directory)),
            "The control file must be the same as before these files were copied. Otherwise somebody has started the "
            "old cluster in the meantime.",
            ONLY_LOOKS,
            native=cluster_control.native_prove_stopped(context.old_path, context.cluster.data_directory, fenced=True),
            phase=Phase.VERIFY,
            name="stayed-stopped",
            agrees_with=STOPPED,
            proves=True,
            stopped=True,
            skippable=False,
        )
    ]


def _fence_old(context: PlanContext) -> list[Step]:
    fence = cluster_control.fence_cluster(context.cluster, context.owner)
    return [
        Step(
            "Fence the old cluster",
            "old",
            fence.user,
            str(fence.command),
            "Two copies of one cluster must never run at the same time. Without its control file no server starts "
            "there.",
            fence.undo,
            native=fence.native,
            phase=Phase.STOP,
            name=FENCE,
            stopped=True,
            skippable=False,
        )
    ]


def _list_deletions(context: PlanContext) -> list[Step]:
    return [
        Step(
            f"List the files to be deleted from {root.target}",
            "old",
            context.owner,
            str(passes.list_deletions(root)),
            "Read this list. It may contain only files that the old cluster has deleted since the first pass.",
            ONLY_LOOKS,
            native=_native_rsyncs(context, root, ("--dry-run", "--delete", "--itemize-changes")),
            phase=Phase.FINAL if context.cluster.running else Phase.COPY,
            timed_as=Phase.VERIFY,
            name=f"{DELETIONS}{root.label}",
            stopped=True,
            rehearsed=not context.cluster.running,
            skippable=False,
            detached=True,
            beside=root != context.roots[0],
        )
        for root in context.roots
    ]


def _copy_changed_files(context: PlanContext) -> list[Step]:
    return [
        Step(
            f"Final sync, changed files: {root.source}",
            "old",
            context.owner,
            str(passes.changed_pass(root)),
            "Every file that has changed since the last pre-copy pass began is compared byte for byte. The times of "
            "files are not trusted.",
            _UNDO_COPY,
            native=_native_rsyncs(context, root, (*passes.IN_PLACE, "--files-from=…")),
            phase=Phase.FINAL,
            name=f"{CHANGED}{root.label}",
            share=context.share(root),
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,  # it deletes nothing, so the list of deletions can be made at the same time
        )
        for root in context.roots
    ]


def _copy_remaining_files(context: PlanContext) -> list[Step]:
    running = context.cluster.running
    return [
        Step(
            f"{'Final sync, new and deleted files' if running else 'Copy the stopped cluster'}: {root.source}",
            "old",
            context.owner,
            str((passes.rest_pass if running else passes.full_pass)(root)),
            "This pass copies folders, links and new files, and deletes what the old cluster no longer has."
            if running
            else "All files are copied as the shutdown has left them.",
            _UNDO_COPY,
            native=_native_rsyncs(
                context, root, *([("--delete",)] if running else [passes.PRESENT, (*passes.MISSING, "--delete")])
            ),
            phase=Phase.FINAL if running else Phase.COPY,
            timed_as=Phase.VERIFY if running else None,
            name=f"{REST if running else COLD}{root.label}",
            share=context.share(root),
            stopped=True,
            rehearsed=not running,
            skippable=False,
            detached=True,
            beside=root != context.roots[0],
            bytes=None if running else root.copied_bytes,
        )
        for root in context.roots
    ]


def _link_flush_and_verify(context: PlanContext) -> list[Step]:
    """Return the steps that set links to moved data roots, flush the disks, and compare both sides."""
    target, user = context.move.target, context.channel.writer
    links = [
        Step(
            f"Set the link {root.link}",
            "new",
            user,
            str(command("ln", "-sfn", "--", root.target, f"{target}/{root.link}")),
            "The directory has another path on the new server.",
            undone(user, "new", command("ln", "-sfn", "--", root.source, f"{target}/{root.link}")),
            phase=Phase.VERIFY,
            name=f"link-{root.label}",
            stopped=True,
            skippable=False,
        )
        for root in relinked_roots(context.move, context.cluster)
    ]
    flush = Step(
        "Flush the disks of the new server",
        "new",
        user,
        str(call("flush_file_systems", *(root.target for root in context.roots))),
        "The copied files must survive a power failure, and no failed write may go unnoticed.",
        "Nothing to undo: the files stay the same.",
        native=tuple(command("sync", "-f", root.target).text for root in context.roots),
        phase=Phase.VERIFY,
        name="flush",
        stopped=True,
        skippable=False,
        detached=True,
    )
    page_checksums = page_checksum_steps(context) if context.verify is Verify.ALL else []
    return [*links, flush, *verify_steps(context), *page_checksums]
