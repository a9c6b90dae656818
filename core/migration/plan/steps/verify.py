"""The steps that prove the copy before it starts: both sides' manifests and sums, made at the same time, must agree.

What is printed and compared are the sums of lists. The lists themselves stay beside them until the copy channel is
closed, so that files that differ can be named: `execution.difference` reads them. How they are made stands in
`resources/sh/verify.sh`.
"""

from core.facts.model import Facts
from core.migration.findings.data_roots import relinked
from core.migration.model.move import Verify
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.model.transport import Route
from core.migration.plan.site import Site
from core.migration.transports.passes import wal_of
from core.servers.shell import Shell, call, command

BEGAN, SUMS = "began", "sums"
"""Names of steps: from when on what changed is summed up, and the sums of old."""

LARGEST_LISTING = 24 << 20


def verify(site: Site) -> list[Step]:
    """The manifest and the sums of old, and beside it of new: what they print must be the same."""
    if _of_all(site):
        contents = "every file byte for byte"
    elif site.cluster.running:
        contents = "what changed since the copy began byte for byte"
    else:
        contents = "the control file byte for byte; rsync has summed up what it sent"
    reads = BEGAN if site.cluster.running else ""
    return [
        Step(
            "sum up old's files",
            "old",
            site.owner,
            str(_sums(site, on_new=False)),
            f"every path with type, size, time, mode, owner and link target; {contents}",
            ONLY_LOOKS,
            native=_native_sums(site, on_new=False),
            phase=Phase.VERIFY,
            name=SUMS,
            reads=reads,
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,  # the flush of new before it
            listing=str(packed(_lists(site, on_new=False))),
        ),
        Step(
            "compare new's files with old's",
            "new",
            site.channel.writer,
            str(_sums(site, on_new=True)),
            "a copy that differs must not start: this step prints what the one before it printed, or it has failed",
            ONLY_LOOKS,
            native=_native_sums(site, on_new=True),
            phase=Phase.VERIFY,
            agrees_with=SUMS,
            reads=reads,
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,
            listing=str(packed(_lists(site, on_new=True))),
        ),
    ]


def beginning(folder: str) -> Shell:
    """On old: from when on what changed is summed up. Prints `@SECONDS`, a moment ago by the host's clock."""
    return call("copy_began", folder)


def forget_lists(site: Site) -> Step:
    """On new its list lies by itself; on old it lies in the folder of the copy's key, and goes with it."""
    folder = _folder_on_new(site)
    return Step(
        "remove the lists from new",
        "new",
        site.channel.writer,
        str(call("remove_folder", folder)),
        "they were for naming what differs",
        "nothing to undo: they are of no use any more",
        native=(f"rm -r {folder}",),
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
    )


def _of_all(site: Site) -> bool:
    """Whether every file's contents are compared. rsync sums up what it sends, but not what arrives over NFS."""
    over_nfs = site.channel.transport.route is Route.NFS
    return site.verify is Verify.ALL or (over_nfs and not site.cluster.running)


def _sums(site: Site, *, on_new: bool) -> Shell:
    """A line of each root with its sums, and one of the control file: the same text on both sides. Keeps the lists."""
    contents = "all" if _of_all(site) else "since" if site.cluster.running else "none"
    facts = (site.old_facts, site.new_facts)
    roots = [
        (root.label, root.link or "-", root.target if on_new else root.source, wal_of(root)) for root in site.roots
    ]
    return call(
        "sum_up",
        _lists(site, on_new=on_new),
        site.new_path if on_new else site.old_path,
        site.move.target if on_new else site.cluster.data_directory,
        site.channel.writer if on_new else site.owner,
        contents,
        _threads(facts[on_new]),
        "yes" if all(map(_has_openssl, facts)) else "no",
        "//".join(_literal(root.link) for root in relinked(site.move, site.cluster)),
        *(word for root in roots for word in root),
    )


def _native_sums(site: Site, *, on_new: bool) -> tuple[str, ...]:
    """What is summed up of each data root, as a person would type it."""
    since = "" if _of_all(site) else " -newermt @…"
    shown = []
    for root in site.roots:
        folder = command("find", root.target if on_new else root.source).text
        shown.append(f"{folder} -printf '%u %y %m %s %T@ %P %l\\n' | sort | sha256sum")
        if _of_all(site) or site.cluster.running:
            shown.append(f"{folder} -type f{since} -exec sha256sum {{}} + | sort | sha256sum")
    return tuple(shown)


def packed(lists: str) -> Shell:
    """Print lists that were kept, packed: of a million files some 20 MB, of more the beginning."""
    return call("print_lists", lists, LARGEST_LISTING)


def _literal(path: str) -> str:
    """The path as a pattern of find's that matches it alone."""
    return "".join(f"\\{sign}" if sign in "*?[]\\" else sign for sign in path)


def _lists(site: Site, *, on_new: bool) -> str:
    return f"{_folder_on_new(site) if on_new else site.channel.folder}/compared"


def _folder_on_new(site: Site) -> str:
    return f"{site.channel.folder}-on-new"


def _has_openssl(facts: Facts) -> bool:
    tool = facts.tool("openssl")
    return tool is not None and tool.path is not None


def _threads(facts: Facts) -> int:
    return facts.processor.threads if facts.processor is not None else 2
