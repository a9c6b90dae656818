"""The steps that prove the copy before it starts: each side lists all that it holds, with the sum of every file.

What is printed and compared are the sums of these lists. The lists themselves stay until the copy channel is closed:
what was read behind a warm pass is not read again in the stop unless it has changed, and files that differ can be named
(`execution.difference` reads the lists). New's sums come from its disk, not from its cache. How it is done stands in
`resources/sh/verify.sh`.
"""

import re

from core.facts.model import Facts
from core.migration.findings.data_roots import relinked
from core.migration.model.move import Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.model.transport import Route
from core.migration.plan.context import PlanContext
from core.migration.transports.passes import part_of
from core.servers.shell import Shell, call, command

SUMS = "sums"
"""The name of the step that sums up old."""

LARGEST_LISTING = 24 << 20

_WHILE_RUNNING = 2
"""So many files at a time are read of a server that has clients."""


def sum_ahead(context: PlanContext, number: int) -> list[Step]:
    """Behind a warm pass, both sides at once: the sums of what has not changed since; none where all is read later."""
    if reads_all(context):
        return []
    return [
        Step(
            f"Checksum in advance on the old server: pass {number}",
            "old",
            context.owner,
            str(_sums("checksum_in_advance", context, on_new=False)),
            "Files that do not change from here on need not be read during the downtime. Files that change are read "
            "again.",
            ONLY_LOOKS,
            name=f"ahead-{number}-old",
            native=_native_sums(context, on_new=False),
            phase=Phase.WARM,
            share=0.2 / number**2,
            warm_pass=number,
            detached=True,
            rehearsed=True,
        ),
        Step(
            f"Checksum in advance on the new server: pass {number}",
            "new",
            context.channel.writer,
            str(_sums("checksum_in_advance", context, on_new=True)),
            "The files are read from its disk, because its cache may hold what has never reached the disk.",
            ONLY_LOOKS,
            name=f"ahead-{number}-new",
            native=_native_sums(context, on_new=True),
            phase=Phase.WARM,
            share=0.0,  # beside old's
            warm_pass=number,
            detached=True,
            rehearsed=True,
            beside=True,
        ),
    ]


def verify(context: PlanContext) -> list[Step]:
    """The lists of old, and beside it of new: what they print must be the same."""
    if reads_all(context):
        contents = "Every file is read now."
    elif context.cluster.running:
        contents = "Files that have changed since they were read in advance are read now."
    else:
        contents = (
            "No file is read again: rsync has compared checksums of what it sent, and the flush reports failed writes."
        )
    return [
        Step(
            "Compute the checksums of the old server",
            "old",
            context.owner,
            str(_sums("checksum_all", context, on_new=False)),
            f"They cover each path with its type, size, time, mode, owner, link target and contents. {contents}",
            ONLY_LOOKS,
            native=_native_sums(context, on_new=False),
            phase=Phase.VERIFY,
            name=SUMS,
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,  # the flush of new before it
            listing=str(_packed(context, on_new=False)),
        ),
        Step(
            "Compare checksums of both servers",
            "new",
            context.channel.writer,
            str(_sums("checksum_all", context, on_new=True)),
            "A copy that differs must not be started.",
            ONLY_LOOKS,
            native=_native_sums(context, on_new=True),
            phase=Phase.VERIFY,
            name="compare-sums",
            agrees_with=SUMS,
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,
            listing=str(_packed(context, on_new=True)),
            mending=str(call("mark_rest_synced", *_trusted(context))),
        ),
    ]


def _trusted(context: PlanContext) -> list[str]:
    return [word for root in context.roots for word in (root.label, root.source, part_of(root))]


def reads_all(context: PlanContext) -> bool:
    """Whether every file is read in the stop.

    A copy of a stopped cluster is where rsync does not sum up what arrives, as over NFS, or where the kernel of new may
    forget a write that failed: since 5.8 syncfs tells of it.
    """
    if context.verify is Verify.ALL or context.cluster.running:
        return context.verify is Verify.ALL
    return context.channel.transport.route is Route.NFS or not _tells_of_lost_writes(context.new_facts)


def _tells_of_lost_writes(facts: Facts) -> bool:
    found = re.match(r"(\d+)\.(\d+)", facts.system.kernel) if facts.system is not None else None
    return found is not None and (int(found[1]), int(found[2])) >= (5, 8)


def forget_lists(context: PlanContext) -> Step:
    """On new its lists lie by themselves; on old they lie in the folder of the copy's key, and go with it."""
    folder = _folder_on_new(context)
    return Step(
        "Remove the lists of files from the new server",
        "new",
        context.channel.writer,
        str(call("remove_folder", folder)),
        "They were needed to compare the files, and to name those that differ.",
        "Nothing to undo: nobody needs them any more.",
        name="remove-lists-new",
        native=(f"rm -r {folder}",),
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
        rehearsed=True,
    )


def _sums(function: str, context: PlanContext, *, on_new: bool) -> Shell:
    """The call that lists a side and sums up what has no sum yet; new's files are put out of its cache first."""
    facts = (context.old_facts, context.new_facts)
    threads = _threads(facts[on_new])
    # before the last pass new has no control file, which tells what WAL is idle; what came of that is summed up alike
    idle_known = function == "checksum_all" or not on_new
    # in the downtime nobody is served there
    ahead = (
        ()
        if function == "checksum_all"
        else ("run_within_free_space" if on_new else "run_beside_server", *context.lists)
    )
    roots = [
        (
            root.label,
            root.link or "-",
            root.target if on_new else root.source,
            part_of(root, idle_known=idle_known),
        )
        for root in context.roots
    ]
    return call(
        *ahead,
        function,
        _lists(context, on_new=on_new),
        context.channel.writer if on_new else "-",  # whosever they were on old, they become the writer's
        threads if on_new or function == "checksum_all" else min(threads, _WHILE_RUNNING),
        _program(context),
        "forget_cached" if on_new else "true",
        context.new_path if on_new else context.old_path,
        context.move.target if on_new else context.cluster.data_directory,
        "//".join(root.link for root in relinked(context.move, context.cluster)),
        *(word for root in roots for word in root),
    )


def _native_sums(context: PlanContext, *, on_new: bool) -> tuple[str, ...]:
    """What is summed up of each data root, as a person would type it."""
    shown = []
    for root in context.roots:
        there = root.target if on_new else root.source
        folder = command("find", *([f"{there}/{part}" for part in root.parts] or [there])).text
        shown.append(f"{folder} -printf '%u %y %m %s %Ts %P %l\\n' | sort | sha256sum")
        if on_new:
            shown.append(f"{folder} -type f -exec dd if={{}} iflag=nocache count=0 \\;")
        shown.append(f"{folder} -type f -exec sha256sum {{}} + | sort | sha256sum")
    return tuple(shown)


def _packed(context: PlanContext, *, on_new: bool) -> Shell:
    """Print lists that were kept, packed: of a million files some 15 MB, of more the beginning."""
    roots = [word for root in context.roots for word in (root.label, root.link or "-")]
    return call("print_lists", _lists(context, on_new=on_new), LARGEST_LISTING, *roots)


def _lists(context: PlanContext, *, on_new: bool) -> str:
    return _folder_on_new(context) if on_new else f"{context.channel.folder}/compared"


def _folder_on_new(context: PlanContext) -> str:
    return f"{context.channel.folder}-on-new"


def _program(context: PlanContext) -> str:
    """What sums files up, the same on both sides; none where rsync has, and nothing that a disk lost goes unnoticed."""
    if not context.cluster.running and not reads_all(context):
        return "none"
    return "openssl" if all(map(_has_openssl, (context.old_facts, context.new_facts))) else "sha256sum"


def _has_openssl(facts: Facts) -> bool:
    tool = facts.tool("openssl")
    return tool is not None and tool.path is not None


def _threads(facts: Facts) -> int:
    return facts.processor.threads if facts.processor is not None else 2
