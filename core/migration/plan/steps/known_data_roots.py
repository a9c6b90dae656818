"""Checks that the plan knows every data root, and that each is still the same directory with the same contents.

Nothing else would notice a difference. If a tablespace was created after the facts were read, only its link is copied,
and both sides agree. If the disk of a tablespace is not mounted, the last pass deletes all its files on the new server,
and both sides agree, too. The new cluster starts, and only a query on such a table shows that its files are missing.
`data_roots.sh` says how a data root is identified.
"""

from dataclasses import replace

from core.facts.model import Cluster
from core.migration.findings.data_roots import linked_folders, version_folder
from core.migration.model import step_ids
from core.migration.model.plan import (
    ONLY_LOOKS,
    ChannelUse,
    Phase,
    RemoteCall,
    ResumePolicy,
    Step,
    Timing,
    Verification,
)
from core.migration.plan.cluster_control import native_prove_stopped
from core.migration.plan.context import PlanContext
from core.servers.shell import Shell, call, command
from core.sides import Side
from core.text import lines_of

_LEAST = 0.9
"""A data root that loses more than a tenth of its relations between two checks, in files or bytes, is reported."""


def record_data_roots(context: PlanContext) -> Step:
    """Return the step before the first pre-copy pass that records the data roots for later checks."""
    step = _check_step(
        context,
        step_ids.RECORD_DATA_ROOTS,
        "Record the directories of the old cluster (data, tablespaces, WAL)",
        print_data_roots(context.cluster),
    )
    return replace(step, in_rehearsal=True, timing=Timing(share=0.01))


def check_data_roots(context: PlanContext) -> Step:
    """Return the check of the data roots before the stop, so that the downtime does not begin in vain."""
    step = _check_step(
        context,
        step_ids.CHECK_DATA_ROOTS,
        "Check that the plan covers all directories of the old cluster",
        compare_data_roots(context.cluster),
        reads=step_ids.RECORD_DATA_ROOTS,
    )
    return replace(
        step,
        in_rehearsal=True,
        resume=ResumePolicy(required=True, channel=ChannelUse.OPENS),
        timing=Timing(share=0.01),
    )


def check_data_roots_stopped(context: PlanContext) -> Step:
    """Return the check of the data roots during the downtime, before anything is deleted on the new server.

    By then nobody can create a tablespace any more.
    """
    # A cluster that was stopped from the beginning had no earlier check to compare with. Its first look is the record.
    running = context.cluster.running
    step = _check_step(
        context,
        step_ids.CHECK_DATA_ROOTS_STOPPED,
        "Check again that the plan covers all directories of the old cluster",
        compare_data_roots(context.cluster) if running else print_data_roots(context.cluster),
        reads=step_ids.CHECK_DATA_ROOTS if running else "",
    )
    return replace(step, phase=Phase.STOP, downtime=True, in_rehearsal=not running)


def check_old_cluster_unchanged(context: PlanContext) -> Step:
    """Return the check, directly before the cutover, that the old cluster has not changed since its stop."""
    data = context.cluster.data_directory
    step = _check_step(
        context,
        step_ids.CHECK_OLD_UNCHANGED,
        "Check that the old cluster is unchanged since its stop",
        call("check_roots_unchanged", context.old_path, *_data_root_arguments(context.cluster)),
        native=native_prove_stopped(context.old_path, data, fenced=True),
        reads=step_ids.CHECK_DATA_ROOTS_STOPPED,
    )
    return replace(
        step,
        reason="The new cluster would lack whatever was written to the old cluster since its stop.",
        phase=Phase.OPEN,
        downtime=True,
        timing=Timing(share=0.1),
    )


def are_same_roots(before: str, now: str) -> bool:
    """Return whether two outputs describe the same data roots.

    Boot identifier and device numbers are ignored, because they change when the host is restarted.
    """

    def identities(output: str) -> list[str]:
        lines = (line.split(" ", 1) for line in lines_of(output))
        return sorted(rest for first, *rests in lines if first.isdigit() for rest in rests)

    return identities(before) == identities(now)


def _check_step(
    context: PlanContext, step_id: str, title: str, check: Shell, *, native: tuple[str, ...] = (), reads: str = ""
) -> Step:
    return Step(
        id=step_id,
        title=title,
        action=RemoteCall(
            side=Side.OLD,
            user=context.owner,
            call=str(check),
            native=(*native, *native_data_roots(context.cluster)),
            reads=reads,
        ),
        reason="A tablespace that was created after the facts were read, or whose disk is not mounted, would be "
        "missing on the new server, and nobody would notice.",
        undo=ONLY_LOOKS,
        phase=Phase.WARM,
        resume=ResumePolicy(required=True),
        verification=Verification(only_checks=True),
    )


def print_data_roots(cluster: Cluster) -> Shell:
    """Return the call that prints the identity of every data root; it fails for a link that the plan does not know."""
    return call("list_data_roots", *_data_root_arguments(cluster))


def compare_data_roots(cluster: Cluster) -> Shell:
    """Return the call that compares the data roots with the recorded ones; it fails if one is another or missing."""
    return call("compare_data_roots", str(_LEAST), *_data_root_arguments(cluster))


def _data_root_arguments(cluster: Cluster) -> tuple[str, ...]:
    return (
        cluster.data_directory,
        version_folder(cluster),
        *(word for root in linked_folders(cluster) for word in root),
    )


def native_data_roots(cluster: Cluster) -> tuple[str, ...]:
    """Return the commands by which a person looks at the data roots."""
    data = cluster.data_directory
    folders = dict.fromkeys((data, *(folder for _, folder in linked_folders(cluster))))
    return (command("find", data, "-type", "l", "-printf", "%P -> %l\\n").text, command("df", *folders).text)
