"""The steps that prove the copy before it starts: both sides' manifests and sums, made at the same time, must agree.

What is printed and compared are the sums of lists. The lists themselves stay beside them until the way of the copy is
closed, so that files that differ can be named: `execution.difference` reads them.
"""

from dataclasses import dataclass
from typing import LiteralString

from core.facts.model import Facts
from core.migration.findings.data_roots import DataRoot, relinked
from core.migration.model.move import Verify
from core.migration.model.plan import Phase, Step
from core.migration.model.transport import Route
from core.migration.plan.cluster_control import control_data
from core.migration.plan.site import Site
from core.migration.transports import idle_wal
from core.servers.shell import Shell, command, environment, pipe, redirect, script, sequence

BEGAN, SUMS = "began", "sums"
"""Names of steps: from when on what changed is summed up, and the sums of old."""

_LEFT_OUT = ("postmaster.pid", "pghaul-start.log")
LARGEST_LISTING = 24 << 20
_AT_A_TIME = 8
"""Files of one program that sums up: so few that its lines leave it in one write, and those of several never mix."""

_SUM: LiteralString = "sha256sum"
_SUM_OF_LARGE: LiteralString = "openssl dgst -sha256 -r"
"""The same sums, some four times as fast where the processor has instructions for them, but slower to begin with."""


@dataclass(frozen=True, slots=True)
class End:
    """One side of the comparison. `openssl`: both sides have it, for the sums of large files."""

    folder: str
    owner: str
    threads: int
    openssl: bool


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
            "nothing to undo: it only looks",
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
            "nothing to undo: it only looks",
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
    """On old: from when on what changed is summed up. Prints `@SECONDS`, a moment ago by the host's clock.

    A moment, for what is written within one tick of the clock; ten minutes where another host's clock sets the times.
    """
    return script(
        "case $(stat -f -c %T -- @folder@) in nfs* | smb* | cifs* | ceph* | fuse*) ago=600 ;; *) ago=3 ;; esac; "
        'echo "@$(($(date +%s) - ago))"',
        folder=folder,
    )


def forget_lists(site: Site) -> Step:
    """On new its list lies by itself; on old it lies in the folder of the copy's key, and goes with it."""
    return Step(
        "remove the lists from new",
        "new",
        site.channel.writer,
        str(
            script(
                "[ ! -d @folder@ ] || { rm -f -- @lists@ && rmdir -- @folder@; }",
                folder=_folder_on_new(site),
                lists=_lists(site, on_new=True),
            )
        ),
        "they were for naming what differs",
        "nothing to undo: they are of no use any more",
        phase=Phase.CLOSE,
        timed_as=Phase.VERIFY,
        stopped=True,
        closes=True,
    )


def manifest(owner: str) -> Shell:
    """In a data root: every entry but those left out, a line each, sorted.

    Of each: owner, type, mode, path; of a file its size and time of change in nanoseconds, of a link its target. The
    owner stands by name, as numbers differ between hosts. A folder's size and time are its file system's own. A line
    break in a name becomes byte 1.
    """
    listed = script(
        'find . -mindepth 1 \\( "$@" \\) -prune -o '
        "\\( -user @owner@ -printf 'owner ' -o -printf '%u ' \\) "
        "\\( -type f -printf '%y %m %s %T@ %P\\0' -o -type l -printf '%y %P -> %l\\0' -o -printf '%y %m %P\\0' \\)",
        owner=owner,
    )
    return pipe(listed, command("tr", "\\n\\0", "\\001\\n"), command("sort"))


def contents(end: End, *, since: bool) -> Shell:
    """In a data root: the sum of each file but those left out, those that changed since `$since` alone if `since`.

    A line of it is `SUM  ./PATH`, whichever program made it.
    """
    changed: LiteralString = ' -newermt "$since"' if since else ""
    found: LiteralString = 'find . \\( "$@" \\) -prune -o -type f' + changed
    summed: LiteralString = " -print0 | xargs -0 -r -n @files@ -P @threads@ "
    all_alike: LiteralString = found + summed + _SUM
    by_size: LiteralString = (
        f"{{ {found} ! -size +1024k{summed}{_SUM} && {found} -size +1024k{summed}{_SUM_OF_LARGE} | sed 's/ \\*/  /'; }}"
    )
    sums = script(by_size if end.openssl else all_alike, files=_AT_A_TIME, threads=end.threads)
    return pipe(sums, command("sort"))


def _leave_out(paths: tuple[str, ...], idle: Shell | None) -> Shell:
    """In a data root: what `find` is to pass over, as the shell's own arguments: paths, and WAL that nobody needs."""
    # every path that find prints begins with a dot
    named = command(
        "set", "--", "-path", "-", *(word for path in paths for word in ("-o", "-path", f"./{_literal(path)}"))
    )
    if idle is None:
        return named
    added = script(
        'idle=$(sh -c @idle@) || exit; set -f; for each in $idle; do set -- "$@" -o -path "$each"; done', idle=idle
    )
    return sequence(named, added)


def _literal(path: str) -> str:
    """The path as a pattern that matches it alone."""
    return "".join(f"\\{sign}" if sign in "*?[]\\" else sign for sign in path)


def _of_all(site: Site) -> bool:
    """Whether every file's contents are compared. rsync sums up what it sends, but not what arrives over NFS."""
    over_nfs = site.channel.transport.route is Route.NFS
    return site.verify is Verify.ALL or (over_nfs and not site.cluster.running)


def _sums(site: Site, *, on_new: bool) -> Shell:
    """A line of each root with its sums, and one of the control file: the same text on both sides. Keeps the lists."""
    lists = _lists(site, on_new=on_new)
    data = site.move.target if on_new else site.cluster.data_directory
    control = control_data(site.new_path if on_new else site.old_path, data)
    found = [redirect(command("true"), stdout=lists)]
    if on_new:
        ours: LiteralString = "[ -d @folder@ ] && [ ! -L @folder@ ] && [ -O @folder@ ] || mkdir -m 700 -- @folder@"
        found.insert(0, script(ours, folder=_folder_on_new(site)))
    for root in site.roots:
        end = _end(site, root, on_new=on_new)
        found += [
            script("cd -- @folder@ && printf '%s\\n' @label@", folder=end.folder, label=root.label),
            _leave_out(_left_out(site, root), _idle(root, end, control)),
        ]
        parts = {"manifest": manifest(end.owner)}
        if _of_all(site) or site.cluster.running:
            parts["sums"] = contents(end, since=not _of_all(site))
        for kind, each in parts.items():
            heading = script("printf '# %s %s\\n' @kind@ @link@ >>@lists@", kind=kind, link=root.link, lists=lists)
            found += [heading, pipe(each, command("tee", "-a", "--", lists), command("sha256sum"))]
    found.append(script("echo control && sha256sum < @file@", file=f"{data}/global/pg_control"))
    whole = environment({"LC_ALL": "C"}, sequence(*found))
    if not site.cluster.running:
        return whole
    return sequence(script("read -r since && export since"), whole)


def packed(lists: str) -> Shell:
    """Print lists that were kept, packed: of a million files some 20 MB, of more the beginning."""
    return pipe(command("gzip", "-c", "--", lists), command("head", "-c", LARGEST_LISTING), command("base64"))


def _lists(site: Site, *, on_new: bool) -> str:
    return f"{_folder_on_new(site) if on_new else site.channel.folder}/compared"


def _folder_on_new(site: Site) -> str:
    return f"{site.channel.folder}-on-new"


def _left_out(site: Site, root: DataRoot) -> tuple[str, ...]:
    """What is not compared: what a server writes when it runs, and the links that the plan sets anew."""
    return (*_LEFT_OUT, *(each.link for each in relinked(site.move, site.cluster))) if root.label == "data" else ()


def _idle(root: DataRoot, end: End, control: Shell) -> Shell | None:
    """The patterns of WAL that nobody needs, where the root holds the WAL; the rule stands in `idle_wal`."""
    if root.wal is None:
        return None
    return idle_wal.patterns(control, f"{end.folder}/{root.wal}", f"./{idle_wal.below(root)}")


def _end(site: Site, root: DataRoot, *, on_new: bool) -> End:
    openssl = _has_openssl(site.old_facts) and _has_openssl(site.new_facts)
    if on_new:
        return End(root.target, site.channel.writer, _threads(site.new_facts), openssl)
    return End(root.source, site.owner, _threads(site.old_facts), openssl)


def _has_openssl(facts: Facts) -> bool:
    tool = facts.tool("openssl")
    return tool is not None and tool.path is not None


def _threads(facts: Facts) -> int:
    return facts.processor.threads if facts.processor is not None else 2
