"""The steps that copy: warm passes while old runs, the stop and its proof, the final pass, the links, the proof."""

from core.migration.estimate.copy_methods import MOST_PASSES
from core.migration.findings.data_roots import DataRoot, relinked
from core.migration.model.move import Hook, Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step, undone
from core.migration.plan import cluster_control, service
from core.migration.plan.site import Site
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
"""Names of steps: the stop, its proof, the fence; and how those of a data root begin, a warm pass and what it loses."""

_AGAIN = "nothing to undo: another pass overwrites it; to give up, remove the target folders"


def copy(site: Site, *dressed: Step) -> list[Step]:
    """A running cluster: warm passes, stop, fence, final pass. A stopped one: fence, one cold pass.

    `dressed`: steps of a dress rehearsal, behind the warm passes.
    """
    if not site.cluster.running:
        return [
            prove_copyable(site),
            prove_files(site),
            *see_listeners(site),
            *_stop_proven(site),
            *_fence(site),
            prove_data_roots_stopped(site),
            *_deletions(site),
            *_cold(site),
            *_still_stopped(site),
            *_settle(site),
        ]
    return [
        *_warm(site),
        *dressed,
        prove_data_roots(site),
        prove_copyable(site),
        prove_files(site),
        *see_listeners(site),
        *before_the_stop(site),
        *_stop(site),
        *_stop_proven(site),
        *_fence(site),
        prove_data_roots_stopped(site),
        *_deletions(site),
        *_changed(site),
        *_cold(site),
        *_still_stopped(site),
        *_settle(site),
    ]


def _warm(site: Site) -> list[Step]:
    passed = [
        step
        for number in range(1, MOST_PASSES + 1)
        for step in (*(_warm_pass(site, root, number) for root in site.roots), *sum_ahead(site, number))
    ]
    last = next(at for at, step in enumerate(passed) if step.warm_pass == MOST_PASSES)
    made = [*passed[:last], *before_the_last_pass(site), *passed[last:]]
    return [remember_data_roots(site), *made]


def _warm_pass(site: Site, root: DataRoot, number: int) -> Step:
    return Step(
        f"warm pass {number} of {MOST_PASSES}: {root.source}",
        "old",
        site.owner,
        str(passes.gentle_warm_pass(root, *site.lists)),
        "while old runs: the more lies on new already, the shorter is the stop" if number == 1 else "what changed",
        _AGAIN,
        native=_rsyncs(site, root, passes.PRESENT, passes.MISSING),
        phase=Phase.WARM,
        share=site.share(root) / number**2,
        name=f"{WARM}{number}-{root.label}",
        warm_pass=number,
        root=root.label,
        detached=True,
        rehearsed=True,
        bytes=root.copied_bytes,
    )


def _rsyncs(site: Site, root: DataRoot, *options: tuple[str, ...]) -> tuple[str, ...]:
    """The rsyncs that a pass over a data root comes to, as a person would type them."""
    return tuple(passes.native(site.channel, root, *each) for each in options)


def _stop(site: Site) -> list[Step]:
    stop = service.stop_old(site)
    return [
        *see_clients(site),
        Step(
            "stop the applications",
            "you",
            "",
            "",
            "from here on clients wait; pooled connections, cron jobs and monitoring too",
            "start them again",
            phase=Phase.STOP,
            name=Hook.STOP_APPLICATIONS,
            stopped=True,
            skippable=False,
        ),
        *take_inventory(site),
        prove_copyable_in_the_stop(site),
        prove_files_in_the_stop(site),
        Step(
            "stop old",
            "old",
            stop.user,
            str(stop.command),
            "files of a running server are no cluster",
            stop.undo,
            native=stop.native,
            phase=Phase.STOP,
            share=5.0,
            name=STOP,
            stopped=True,
            detached=True,
        ),
    ]


def _stop_proven(site: Site) -> list[Step]:
    return [
        Step(
            "prove the stop",
            "old",
            site.owner,
            str(cluster_control.prove_stopped(site.old_path, site.cluster.data_directory)),
            "no server lives in it and the control file says `shut down`; refusing connections is not enough",
            ONLY_LOOKS,
            native=cluster_control.native_prove_stopped(site.old_path, site.cluster.data_directory, fenced=False),
            phase=Phase.STOP,
            name=STOPPED,
            proves=True,
            stopped=True,
            rehearsed=not site.cluster.running,
            skippable=False,
        )
    ]


def _still_stopped(site: Site) -> list[Step]:
    """The stop proven again: had somebody started old meanwhile, its control file would be another one."""
    return [
        Step(
            "prove that old stayed stopped",
            "old",
            site.owner,
            str(cluster_control.prove_stopped(site.old_path, site.cluster.data_directory)),
            "the control file must be the very same as before the pass: else somebody started old under it",
            ONLY_LOOKS,
            native=cluster_control.native_prove_stopped(site.old_path, site.cluster.data_directory, fenced=True),
            phase=Phase.VERIFY,
            agrees_with=STOPPED,
            proves=True,
            stopped=True,
            skippable=False,
        )
    ]


def _fence(site: Site) -> list[Step]:
    fence = cluster_control.fence(site.cluster, site.owner)
    return [
        Step(
            "keep old from starting",
            "old",
            fence.user,
            str(fence.command),
            "two servers with one identity must never both run: without its control file no postmaster starts there",
            fence.undo,
            native=fence.native,
            phase=Phase.STOP,
            name=FENCE,
            stopped=True,
            skippable=False,
        )
    ]


def _deletions(site: Site) -> list[Step]:
    return [
        Step(
            f"list what the last pass will remove from {root.target}",
            "old",
            site.owner,
            str(passes.deletions(root)),
            "read it: only what old has removed since the first pass may stand here",
            ONLY_LOOKS,
            native=_rsyncs(site, root, ("--dry-run", "--delete", "--itemize-changes")),
            phase=Phase.FINAL if site.cluster.running else Phase.COPY,
            timed_as=Phase.VERIFY,
            name=f"{DELETIONS}{root.label}",
            stopped=True,
            rehearsed=not site.cluster.running,
            skippable=False,
            detached=True,
            beside=root != site.roots[0],
        )
        for root in site.roots
    ]


def _changed(site: Site) -> list[Step]:
    return [
        Step(
            f"final pass, changed files: {root.source}",
            "old",
            site.owner,
            str(passes.changed_pass(root)),
            "every file that changed since the last warm pass began, byte for byte: times are not trusted",
            _AGAIN,
            native=_rsyncs(site, root, (*passes.IN_PLACE, "--files-from=…")),
            phase=Phase.FINAL,
            share=site.share(root),
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,  # it removes nothing, so the list of what will be removed may come meanwhile
        )
        for root in site.roots
    ]


def _cold(site: Site) -> list[Step]:
    running = site.cluster.running
    return [
        Step(
            f"{'final pass, the rest' if running else 'copy'}: {root.source}",
            "old",
            site.owner,
            str((passes.rest_pass if running else passes.cold_pass)(root)),
            "folders, links, what is new and what is gone" if running else "the cluster as it was shut down",
            _AGAIN,
            native=_rsyncs(
                site, root, *([("--delete",)] if running else [passes.PRESENT, (*passes.MISSING, "--delete")])
            ),
            phase=Phase.FINAL if running else Phase.COPY,
            timed_as=Phase.VERIFY if running else None,
            share=site.share(root),
            stopped=True,
            rehearsed=not running,
            skippable=False,
            detached=True,
            beside=root != site.roots[0],
            bytes=None if running else root.copied_bytes,
        )
        for root in site.roots
    ]


def _settle(site: Site) -> list[Step]:
    """Links to their new places, all on disk, and the proof that both sides hold the same."""
    target, user = site.move.target, site.channel.writer
    links = [
        Step(
            f"set the link {root.link}",
            "new",
            user,
            str(command("ln", "-sfn", "--", root.target, f"{target}/{root.link}")),
            "it lies elsewhere on new",
            undone(user, "new", command("ln", "-sfn", "--", root.source, f"{target}/{root.link}")),
            phase=Phase.VERIFY,
            stopped=True,
            skippable=False,
        )
        for root in relinked(site.move, site.cluster)
    ]
    flush = Step(
        "flush new's disks",
        "new",
        user,
        str(call("flush_all", *(root.target for root in site.roots))),
        "what was copied must survive a power cut, and a write that failed anywhere on its way must not be forgotten",
        "nothing to undo",
        native=tuple(command("sync", "-f", root.target).text for root in site.roots),
        phase=Phase.VERIFY,
        stopped=True,
        skippable=False,
        detached=True,
    )
    looked_for = checksums(site) if site.verify is Verify.ALL else []
    return [*links, flush, *verify(site), *looked_for]
