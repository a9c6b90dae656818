"""The steps that copy the cluster.

They are the pre-copy passes while the old cluster runs, its stop with a check, the final sync, the links to data roots
with another path, and the comparison of both sides.
"""

from core import units
from core.migration.estimate.copy_methods import MOST_PASSES
from core.migration.findings.data_roots import DataRoot, relinked_roots
from core.migration.model import step_ids
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import (
    ONLY_LOOKS,
    OperatorTask,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    Timing,
    Verification,
    undone,
)
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.before_stop import (
    check_copyable,
    check_copyable_in_downtime,
    check_restartable,
    check_restartable_in_downtime,
    checkpoint_before_last_pass,
    checkpoint_before_stop,
)
from core.migration.plan.steps.corruption import page_checksum_steps
from core.migration.plan.steps.inventory import list_clients, take_inventory
from core.migration.plan.steps.known_data_roots import check_data_roots, check_data_roots_stopped, record_data_roots
from core.migration.plan.steps.reached import check_port_is_free, list_listeners
from core.migration.plan.steps.verify import checksum_in_advance, reads_every_file, verify_steps
from core.migration.transports import passes
from core.servers.shell import call, command
from core.sides import Side

_UNDO_COPY = "Nothing to undo: another pass overwrites these files. To give up the move, remove the target directories."
_UNDO_FLUSH = "Nothing to undo: the files stay the same."


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
            # A stopped cluster is copied by one pass that compares checksums of all that it sends. No pre-copy pass has
            # run, so there is no list of changed files to go by.
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
        # Whatever could end the move is looked for while the old cluster still serves its clients. Behind the stop,
        # each finding would cost downtime.
        check_data_roots(context),
        check_copyable(context),
        check_restartable(context),
        *list_listeners(context),
        *checkpoint_before_stop(context),
        # The files of a running server are no usable backup (PostgreSQL's manual, chapter File System Level Backup). So
        # the stop is proven before the last passes. The fence comes right behind the proof: from then on no service,
        # cron job or colleague can start the old cluster while its files are read.
        *_stop_steps(context),
        *_check_stopped(context),
        *_fence_old(context),
        check_data_roots_stopped(context),
        # The deletions are listed before a pass deletes anything: the list is shown, and its length limits that pass.
        # If a disk of the old server vanishes in between, the pass ends instead of emptying the copy.
        *_list_deletions(context),
        *_copy_changed_files(context),
        *_copy_remaining_files(context),
        # Only behind the last pass can the control file tell that no server has run while its files were read: a server
        # writes it at its start, before it accepts connections (xlog.c, StartupXLOG).
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
            *_flush_behind_pass(context, number),
        )
    ]
    # The checkpoint comes directly before the last pass, which is the last one that copies what it writes without
    # downtime. Earlier, later changes would again be in memory only.
    last = next(at for at, step in enumerate(passes_and_checksums) if step.precopy_pass == MOST_PASSES)
    steps = [*passes_and_checksums[:last], *checkpoint_before_last_pass(context), *passes_and_checksums[last:]]
    return [record_data_roots(context), *steps]


def _explain_pre_copy(context: PlanContext, number: int) -> str:
    """Return the reason of a pre-copy pass. It names the limit of the move."""
    limit = context.channel.precopy_limit
    if number == 1 and limit is None:
        return "The old cluster keeps running. The more is on the new server already, the shorter is the downtime."
    if limit is None:
        return "The old cluster keeps running. This pass copies what has changed since the pass before."
    if number == 1:
        return (
            "The old cluster keeps running. The more is on the new server already, the shorter is the downtime. This "
            f"pass sends at most {units.rate(limit)}, as the move says. The final sync has no limit."
        )
    return (
        "The old cluster keeps running. This pass copies what has changed since the pass before. It sends at most "
        f"{units.rate(limit)}, as the move says. The final sync has no limit."
    )


def _pre_copy_step(context: PlanContext, root: DataRoot, number: int) -> Step:
    limit = passes.limit_options(context.channel)
    return Step(
        id=step_ids.of_part(step_ids.PRE_COPY, number, root.label),
        title=f"Pre-copy pass {number} of {MOST_PASSES}: copy {root.source}",
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(passes.limited_pre_copy_pass(root, *context.lists)),
            native=_native_rsyncs(context, root, (*limit, *passes.PRESENT), (*limit, *passes.MISSING)),
            detached=True,
        ),
        reason=_explain_pre_copy(context, number),
        undo=_UNDO_COPY,
        phase=Phase.WARM,
        in_rehearsal=True,
        precopy_pass=number,
        root=root.label,
        size=root.copied_bytes,
        timing=Timing(share=context.share(root)),
    )


def _flush_behind_pass(context: PlanContext, number: int) -> list[Step]:
    """Return the flush behind a pre-copy pass. Checksums in advance on the new server begin with one, so only a plan
    without them needs it: else a slow disk would write the copy of the passes during the downtime."""
    if not reads_every_file(context):
        return []
    return [
        Step(
            id=step_ids.of_part(step_ids.PRE_COPY_FLUSH, number),
            title=f"Flush the disks of the new server before the downtime: pass {number}",
            action=_flush(context),
            reason="What this pass has copied need not be written during the downtime.",
            undo=_UNDO_FLUSH,
            phase=Phase.WARM,
            in_rehearsal=True,
            precopy_pass=number,
        )
    ]


def _flush(context: PlanContext) -> RemoteCall:
    targets = [root.target for root in context.roots]
    return RemoteCall(
        side=Side.NEW,
        user=context.channel.writer,
        call=str(call("flush_file_systems", *targets)),
        native=tuple(command("sync", "-f", target).text for target in targets),
        detached=True,
    )


def _native_rsyncs(context: PlanContext, root: DataRoot, *options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rsync commands of a pass over a data root, as a person would type them."""
    return tuple(passes.native_rsync(context.channel, root, *each) for each in options)


def _stop_steps(context: PlanContext) -> list[Step]:
    stop = service.stop_old(context)
    return [
        *list_clients(context),
        Step(
            id=step_ids.STOP_APPLICATIONS,
            title="Stop the applications",
            action=OperatorTask(hook=Hook.STOP_APPLICATIONS),
            reason="From here on clients wait. Stop connection pools, cron jobs and monitoring, too.",
            undo="To undo, start the applications again.",
            phase=Phase.BEFORE_STOP,
            downtime=True,
            resume=ResumePolicy(required=True),
        ),
        # The inventory comes behind the stop of the applications, so that little changes after it. The old cluster must
        # still run for it, because it is taken by SQL.
        *take_inventory(context),
        check_copyable_in_downtime(context),
        check_restartable_in_downtime(context),
        *check_port_is_free(context),
        Step(
            id=step_ids.STOP_OLD_CLUSTER,
            title="Stop the old cluster",
            action=RemoteCall(side=Side.OLD, user=stop.user, call=str(stop.command), native=stop.native, detached=True),
            reason="The files of a running cluster are not consistent with each other.",
            undo=stop.undo,
            phase=Phase.STOP,
            downtime=True,
            timing=Timing(share=5.0),
        ),
    ]


def _check_stopped(context: PlanContext) -> list[Step]:
    return [
        Step(
            id=step_ids.CHECK_STOPPED,
            title="Check that the old cluster is stopped",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(cluster_control.prove_stopped(context.old_path, context.cluster.data_directory)),
                native=cluster_control.native_prove_stopped(
                    context.old_path, context.cluster.data_directory, fenced=False
                ),
            ),
            reason="No server may run in the data directory, and the control file must say `shut down`. It is not "
            "enough that connections are refused.",
            undo=ONLY_LOOKS,
            phase=Phase.STOP,
            downtime=True,
            in_rehearsal=not context.cluster.running,
            resume=ResumePolicy(required=True),
            verification=Verification(only_checks=True),
        )
    ]


def _check_stayed_stopped(context: PlanContext) -> list[Step]:
    """Return the step that compares the control file again: a start in the meantime would have changed it."""
    return [
        Step(
            id=step_ids.CHECK_STAYED_STOPPED,
            title="Check that the old cluster has stayed stopped",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(cluster_control.prove_stopped(context.old_path, context.cluster.data_directory)),
                native=cluster_control.native_prove_stopped(
                    context.old_path, context.cluster.data_directory, fenced=True
                ),
            ),
            reason="The control file must be the same as before these files were copied. Otherwise somebody has "
            "started the old cluster in the meantime.",
            undo=ONLY_LOOKS,
            phase=Phase.VERIFY,
            downtime=True,
            resume=ResumePolicy(required=True),
            verification=Verification(only_checks=True, equals=step_ids.CHECK_STOPPED),
        )
    ]


def _fence_old(context: PlanContext) -> list[Step]:
    fence = cluster_control.fence_cluster(context.cluster, context.owner)
    return [
        Step(
            id=step_ids.FENCE_OLD,
            title="Fence the old cluster: move pg_control to pghaul-fence, so that it cannot start",
            action=RemoteCall(side=Side.OLD, user=fence.user, call=str(fence.command), native=fence.native),
            reason="Two copies of one cluster must never run at the same time. Without its control file no server "
            "starts there.",
            undo=fence.undo,
            phase=Phase.STOP,
            downtime=True,
            resume=ResumePolicy(required=True),
        )
    ]


def _list_deletions(context: PlanContext) -> list[Step]:
    return [
        Step(
            id=step_ids.of_part(step_ids.LIST_DELETIONS, root.label),
            title=f"List the files that the copy will delete on the new server: {root.target}",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(passes.list_deletions(root)),
                native=_native_rsyncs(context, root, ("--dry-run", "--delete", "--itemize-changes")),
                detached=True,
            ),
            reason="Read this list. It may contain only files that the old cluster has deleted since the first pass.",
            undo=ONLY_LOOKS,
            phase=Phase.FINAL if context.cluster.running else Phase.COPY,
            downtime=True,
            in_rehearsal=not context.cluster.running,
            parallel=root != context.roots[0],
            resume=ResumePolicy(required=True),
            timing=Timing(share=0.0),  # the final sync runs beside it
        )
        for root in context.roots
    ]


def _copy_changed_files(context: PlanContext) -> list[Step]:
    return [
        Step(
            id=step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, root.label),
            title=f"Final sync, changed files: {root.source}",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(passes.changed_pass(root)),
                native=_native_rsyncs(context, root, (*passes.IN_PLACE, "--files-from=…")),
                detached=True,
            ),
            reason="Every file that has changed since the last pre-copy pass began is compared byte for byte. The "
            "times of files are not trusted.",
            undo=_UNDO_COPY,
            phase=Phase.FINAL,
            downtime=True,
            parallel=True,  # it deletes nothing, so the list of deletions can be made at the same time
            resume=ResumePolicy(required=True),
            timing=Timing(share=context.share(root)),
        )
        for root in context.roots
    ]


def _copy_remaining_files(context: PlanContext) -> list[Step]:
    running = context.cluster.running
    return [
        Step(
            id=step_ids.of_part(step_ids.FINAL_SYNC_REST if running else step_ids.COPY, root.label),
            title=f"{'Final sync, new and deleted files' if running else 'Copy the stopped cluster'}: {root.source}",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str((passes.rest_pass if running else passes.full_pass)(root)),
                native=_native_rsyncs(
                    context, root, *([("--delete",)] if running else [passes.PRESENT, (*passes.MISSING, "--delete")])
                ),
                detached=True,
            ),
            reason="This pass copies folders, links and new files, and deletes what the old cluster no longer has."
            if running
            else "All files are copied as the shutdown has left them.",
            undo=_UNDO_COPY,
            phase=Phase.FINAL if running else Phase.COPY,
            downtime=True,
            in_rehearsal=not running,
            parallel=root != context.roots[0],
            size=None if running else root.copied_bytes,
            resume=ResumePolicy(required=True),
            timing=Timing(share=context.share(root)),
        )
        for root in context.roots
    ]


def _link_flush_and_verify(context: PlanContext) -> list[Step]:
    """Return the steps that set links to moved data roots, flush the disks, and compare both sides."""
    target, user = context.move.target, context.channel.writer
    links = [
        Step(
            id=step_ids.of_part(step_ids.LINK, root.label),
            title=f"Set the link {root.link}",
            action=RemoteCall(
                side=Side.NEW, user=user, call=str(command("ln", "-sfn", "--", root.target, f"{target}/{root.link}"))
            ),
            reason="The directory has another path on the new server.",
            undo=undone(user, Side.NEW, command("ln", "-sfn", "--", root.source, f"{target}/{root.link}")),
            phase=Phase.VERIFY,
            downtime=True,
            resume=ResumePolicy(required=True),
        )
        for root in relinked_roots(context.move, context.cluster)
    ]
    # The flush ends before the first start. A write that the kernel could not finish is then reported while the old
    # cluster still has everything.
    flush = Step(
        id=step_ids.FLUSH_NEW,
        title="Flush the disks of the new server",
        action=_flush(context),
        reason="The copied files must survive a power failure, and no failed write may go unnoticed.",
        undo=_UNDO_FLUSH,
        phase=Phase.VERIFY,
        downtime=True,
        resume=ResumePolicy(required=True),
    )
    # pg_checksums needs a cluster that is stopped and was shut down cleanly, so it runs before the first start. It sees
    # damage that both sides share, which no comparison of them can show.
    page_checksums = page_checksum_steps(context) if context.verify is Verify.ALL else []
    return [*links, flush, *verify_steps(context), *page_checksums]
