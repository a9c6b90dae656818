"""The steps that copy: warm passes while old runs, the stop and its proof, the final pass, the links, the proof."""

from core.migration.estimate.copy_methods import MOST_PASSES
from core.migration.findings.data_roots import DataRoot, relinked
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, undone
from core.migration.plan import cluster_control, service
from core.migration.plan.context import PlanContext
from core.migration.plan.steps.checkpoint import before_the_last_pass, before_the_stop
from core.migration.plan.steps.copyable import prove_copyable, prove_copyable_in_the_stop
from core.migration.plan.steps.corruption import checksums
from core.migration.plan.steps.inventory import see_clients, take_inventory
from core.migration.plan.steps.known_data_roots import prove_data_roots, prove_data_roots_stopped, remember_data_roots
from core.migration.plan.steps.reached import see_listeners
from core.migration.plan.steps.start_files import prove_files, prove_files_in_the_stop
from core.migration.plan.steps.verify import sum_ahead, verify
from core.migration.transports import passes
from core.servers.shell import call, command

STOP, STOPPED, FENCE = "stop", "stopped", "fence"
WARM, DELETIONS = "warm-", "deletions-"
CHANGED, REST, COLD = "changed-", "rest-", "copy-"
"""Names of steps: the stop, its proof, the fence; and how those of a data root begin, pass by pass."""

_AGAIN = "Nothing to undo: another pass overwrites these files. To give up the move, remove the target directories."


def copy(context: PlanContext, *dressed: Step) -> list[Step]:
    """A running cluster: warm passes, stop, fence, final pass. A stopped one: fence, one cold pass.

    `dressed`: steps of a dress rehearsal, behind the warm passes.
    """
    if not context.cluster.running:
        return [
            prove_copyable(context),
            prove_files(context),
            *see_listeners(context),
            *_stop_proven(context),
            *_fence(context),
            prove_data_roots_stopped(context),
            *_deletions(context),
            *_cold(context),
            *_still_stopped(context),
            *_settle(context),
        ]
    return [
        *_warm(context),
        *dressed,
        prove_data_roots(context),
        prove_copyable(context),
        prove_files(context),
        *see_listeners(context),
        *before_the_stop(context),
        *_stop(context),
        *_stop_proven(context),
        *_fence(context),
        prove_data_roots_stopped(context),
        *_deletions(context),
        *_changed(context),
        *_cold(context),
        *_still_stopped(context),
        *_settle(context),
    ]


def _warm(context: PlanContext) -> list[Step]:
    passed = [
        step
        for number in range(1, MOST_PASSES + 1)
        for step in (*(_warm_pass(context, root, number) for root in context.roots), *sum_ahead(context, number))
    ]
    last = next(at for at, step in enumerate(passed) if step.warm_pass == MOST_PASSES)
    made = [*passed[:last], *before_the_last_pass(context), *passed[last:]]
    return [remember_data_roots(context), *made]


def _warm_pass(context: PlanContext, root: DataRoot, number: int) -> Step:
    return Step(
        f"Pre-copy pass {number} of {MOST_PASSES}: copy {root.source}",
        "old",
        context.owner,
        str(passes.gentle_warm_pass(root, *context.lists)),
        "The old cluster keeps running. The more is on the new server already, the shorter is the downtime."
        if number == 1
        else "The old cluster keeps running. This pass copies what has changed since the pass before.",
        _AGAIN,
        native=_rsyncs(context, root, passes.PRESENT, passes.MISSING),
        phase=Phase.WARM,
        share=context.share(root) / number**2,
        name=f"{WARM}{number}-{root.label}",
        warm_pass=number,
        root=root.label,
        detached=True,
        rehearsed=True,
        bytes=root.copied_bytes,
    )


def _rsyncs(context: PlanContext, root: DataRoot, *options: tuple[str, ...]) -> tuple[str, ...]:
    """The rsyncs that a pass over a data root comes to, as a person would type them."""
    return tuple(passes.native(context.channel, root, *each) for each in options)


def _stop(context: PlanContext) -> list[Step]:
    stop = service.stop_old(context)
    return [
        *see_clients(context),
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
        prove_copyable_in_the_stop(context),
        prove_files_in_the_stop(context),
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


def _stop_proven(context: PlanContext) -> list[Step]:
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


def _still_stopped(context: PlanContext) -> list[Step]:
    """The stop proven again: had somebody started old meanwhile, its control file would be another one."""
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


def _fence(context: PlanContext) -> list[Step]:
    fence = cluster_control.fence(context.cluster, context.owner)
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


def _deletions(context: PlanContext) -> list[Step]:
    return [
        Step(
            f"List the files to be deleted from {root.target}",
            "old",
            context.owner,
            str(passes.deletions(root)),
            "Read this list. It may contain only files that the old cluster has deleted since the first pass.",
            ONLY_LOOKS,
            native=_rsyncs(context, root, ("--dry-run", "--delete", "--itemize-changes")),
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


def _changed(context: PlanContext) -> list[Step]:
    return [
        Step(
            f"Final sync, changed files: {root.source}",
            "old",
            context.owner,
            str(passes.changed_pass(root)),
            "Every file that has changed since the last pre-copy pass began is compared byte for byte. The times of "
            "files are not trusted.",
            _AGAIN,
            native=_rsyncs(context, root, (*passes.IN_PLACE, "--files-from=…")),
            phase=Phase.FINAL,
            name=f"{CHANGED}{root.label}",
            share=context.share(root),
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,  # it removes nothing, so the list of what will be removed may come meanwhile
        )
        for root in context.roots
    ]


def _cold(context: PlanContext) -> list[Step]:
    running = context.cluster.running
    return [
        Step(
            f"{'Final sync, new and deleted files' if running else 'Copy the stopped cluster'}: {root.source}",
            "old",
            context.owner,
            str((passes.rest_pass if running else passes.cold_pass)(root)),
            "This pass copies folders, links and new files, and deletes what the old cluster no longer has."
            if running
            else "All files are copied as the shutdown has left them.",
            _AGAIN,
            native=_rsyncs(
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


def _settle(context: PlanContext) -> list[Step]:
    """Links to their new places, all on disk, and the proof that both sides hold the same."""
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
        for root in relinked(context.move, context.cluster)
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
    looked_for = checksums(context) if context.verify is Verify.ALL else []
    return [*links, flush, *verify(context), *looked_for]
