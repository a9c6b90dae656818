"""The steps that compare the copy with the old cluster before it starts.

Each side lists all its files with the checksum of each file. The checksums of these lists are printed and compared. The
lists themselves stay until the copy channel is closed: a file that was read after a pre-copy pass is read again in the
downtime only if it has changed, and files that differ can be named (`execution.difference` reads the lists). On the new
server files are read from the disk, not from the cache. `resources/sh/verify.sh` says how this is done: a line for each
file has its checksum, and the ctime and inode at which it was read, so what a pre-copy pass has copied is read only
once. If the lists differ, `execution.resume` leaves the files that differ to the next passes.
"""

import re

from core.facts.model import Facts
from core.migration.findings.data_roots import relinked_roots
from core.migration.model import step_ids
from core.migration.model.move import Verify
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
from core.migration.model.transport import Route
from core.migration.plan.context import PlanContext
from core.migration.transports.passes import part_argument
from core.servers.shell import Shell, call, command
from core.sides import Side

LARGEST_LISTING = 24 << 20

_WHILE_RUNNING = 2
"""How many files are read at the same time on a server that has clients."""


def checksum_in_advance(context: PlanContext, number: int) -> list[Step]:
    """Return the steps after a pre-copy pass that compute checksums on both sides at the same time.

    They read files that have not changed since. There are none if every file is read during the downtime anyway.
    """
    if reads_every_file(context):
        return []
    return [
        Step(
            id=step_ids.of_part(step_ids.CHECKSUM_IN_ADVANCE, number, Side.OLD),
            title=f"Compute checksums on the old server before the downtime: pass {number}",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(_checksum_call("checksum_in_advance", context, on_new=False)),
                native=_native_checksums(context, on_new=False),
                detached=True,
            ),
            reason="Files that do not change from here on need not be read during the downtime. Files that change are "
            "read again.",
            undo=ONLY_LOOKS,
            phase=Phase.WARM,
            in_rehearsal=True,
            precopy_pass=number,
        ),
        Step(
            id=step_ids.of_part(step_ids.CHECKSUM_IN_ADVANCE, number, Side.NEW),
            title=f"Compute checksums on the new server before the downtime: pass {number}",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(_checksum_call("checksum_in_advance", context, on_new=True)),
                native=_native_checksums(context, on_new=True),
                detached=True,
            ),
            reason="The files are read from its disk, because its cache may hold what has never reached the disk.",
            undo=ONLY_LOOKS,
            phase=Phase.WARM,
            in_rehearsal=True,
            parallel=True,
            precopy_pass=number,
            timing=Timing(share=0.0),  # it runs beside the step on the old server
        ),
    ]


def verify_steps(context: PlanContext) -> list[Step]:
    """Return the steps that list both sides at the same time; their outputs must be equal."""
    if reads_every_file(context):
        contents = "Every file is read now."
    elif context.cluster.running:
        contents = "Only the files that have changed since their checksums were computed are read now."
    else:
        contents = (
            "No file is read again: rsync has compared checksums of what it sent, and the flush reports failed writes."
        )
    return [
        Step(
            id=step_ids.CHECKSUMS_OLD,
            title="Compute the checksums of the old server",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,
                call=str(_checksum_call("checksum_all", context, on_new=False)),
                native=_native_checksums(context, on_new=False),
                detached=True,
            ),
            reason=f"They cover each path with its type, size, time, mode, owner, link target and contents. {contents}",
            undo=ONLY_LOOKS,
            phase=Phase.VERIFY,
            downtime=True,
            parallel=True,  # it runs beside the flush on the new server
            resume=ResumePolicy(required=True),
            verification=Verification(lists=str(_print_lists(context, on_new=False))),
        ),
        Step(
            id=step_ids.COMPARE_CHECKSUMS,
            title="Compute the checksums of the new server, and compare both",
            action=RemoteCall(
                side=Side.NEW,
                user=context.channel.writer,
                call=str(_checksum_call("checksum_all", context, on_new=True)),
                native=_native_checksums(context, on_new=True),
                detached=True,
            ),
            reason="A copy that differs must not be started.",
            undo=ONLY_LOOKS,
            phase=Phase.VERIFY,
            downtime=True,
            parallel=True,
            resume=ResumePolicy(required=True),
            verification=Verification(
                equals=step_ids.CHECKSUMS_OLD,
                lists=str(_print_lists(context, on_new=True)),
                resync=str(call("mark_rest_synced", *_data_root_arguments(context))),
            ),
        ),
    ]


def _data_root_arguments(context: PlanContext) -> list[str]:
    return [word for root in context.roots for word in (root.label, root.source, part_argument(root))]


def reads_every_file(context: PlanContext) -> bool:
    """Return whether every file is read during the downtime.

    For a copy of a stopped cluster that is so in two cases. Over NFS, rsync does not compare checksums of what arrives.
    Before Linux 5.8, the kernel of the new server may forget a failed write, because syncfs does not report it.
    """
    # For a running cluster, files that were read in advance and have not changed since are not read again, whatever the
    # kernel or the route. Their checksums on the new server were computed from its disk.
    if context.verify is Verify.ALL or context.cluster.running:
        return context.verify is Verify.ALL
    return context.channel.transport.route is Route.NFS or not _reports_lost_writes(context.new_facts)


def _reports_lost_writes(facts: Facts) -> bool:
    version = re.match(r"(\d+)\.(\d+)", facts.system.kernel) if facts.system is not None else None
    return version is not None and (int(version[1]), int(version[2])) >= (5, 8)


def remove_lists(context: PlanContext) -> Step:
    """Return the step that removes the lists from the new server.

    On the old server they lie in the folder of the copy's key and are removed with it.
    """
    folder = _folder_on_new(context)
    return Step(
        id=step_ids.REMOVE_LISTS_NEW,
        title="Remove the lists of files from the new server",
        action=RemoteCall(
            side=Side.NEW,
            user=context.channel.writer,
            call=str(call("remove_folder", folder)),
            native=(f"rm -r {folder}",),
        ),
        reason="They were needed to compare the files, and to name those that differ.",
        undo="Nothing to undo: nobody needs them any more.",
        phase=Phase.CLOSE,
        downtime=True,
        in_rehearsal=True,
        resume=ResumePolicy(channel=ChannelUse.CLOSES),
    )


def _checksum_call(function: str, context: PlanContext, *, on_new: bool) -> Shell:
    """Return the call that lists one side and computes missing checksums; on the new server it drops caches first."""
    facts = (context.old_facts, context.new_facts)
    threads = _threads(facts[on_new])
    # before the last pass the new server has no control file, which tells which WAL is idle; all WAL there is read
    idle_known = function == "checksum_all" or not on_new
    # during the downtime there are no clients to be spared
    wrapper = (
        ()
        if function == "checksum_all"
        else ("run_within_free_space" if on_new else "run_beside_server", *context.lists)
    )
    roots = [
        (
            root.label,
            root.link or "-",
            root.target if on_new else root.source,
            part_argument(root, idle_known=idle_known),
        )
        for root in context.roots
    ]
    return call(
        *wrapper,
        function,
        _list_folder(context, on_new=on_new),
        context.channel.writer if on_new else "-",  # on the new server all files belong to the writer
        threads if on_new or function == "checksum_all" else min(threads, _WHILE_RUNNING),
        _checksum_program(context),
        "forget_cached" if on_new else "true",
        context.new_path if on_new else context.old_path,
        context.move.target if on_new else context.cluster.data_directory,
        "//".join(root.link for root in relinked_roots(context.move, context.cluster)),
        *(word for root in roots for word in root),
    )


def _native_checksums(context: PlanContext, *, on_new: bool) -> tuple[str, ...]:
    """Return the commands by which a person computes the checksums of each data root."""
    commands = []
    for root in context.roots:
        path = root.target if on_new else root.source
        folder = command("find", *([f"{path}/{part}" for part in root.parts] or [path])).text
        commands.append(f"{folder} -printf '%u %y %m %s %Ts %P %l\\n' | sort | sha256sum")
        if on_new:
            commands.append(f"{folder} -type f -exec dd if={{}} iflag=nocache count=0 \\;")
        commands.append(f"{folder} -type f -exec sha256sum {{}} + | sort | sha256sum")
    return tuple(commands)


def _print_lists(context: PlanContext, *, on_new: bool) -> Shell:
    """Return the call that prints the lists, compressed: about 15 MB for a million files, cut off above the limit."""
    roots = [word for root in context.roots for word in (root.label, root.link or "-")]
    return call("print_lists", _list_folder(context, on_new=on_new), LARGEST_LISTING, *roots)


def _list_folder(context: PlanContext, *, on_new: bool) -> str:
    return _folder_on_new(context) if on_new else f"{context.channel.folder}/compared"


def _folder_on_new(context: PlanContext) -> str:
    return f"{context.channel.folder}-on-new"


def _checksum_program(context: PlanContext) -> str:
    """Return the program that computes checksums on both sides.

    It is `none` if rsync has compared checksums already and the kernel reports failed writes.
    """
    if not context.cluster.running and not reads_every_file(context):
        return "none"
    return "openssl" if all(map(_has_openssl, (context.old_facts, context.new_facts))) else "sha256sum"


def _has_openssl(facts: Facts) -> bool:
    tool = facts.tool("openssl")
    return tool is not None and tool.path is not None


def _threads(facts: Facts) -> int:
    return facts.processor.threads if facts.processor is not None else 2
