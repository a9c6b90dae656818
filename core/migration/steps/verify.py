"""The steps that prove the copy before it starts: both sides' manifests and sums, made at the same time, must agree."""

from dataclasses import dataclass

from core.facts.model import Facts
from core.migration.model import Verify
from core.migration.places import Place, relinked
from core.migration.steps.site import Draft, Site
from core.servers.shell import Shell, command, environment, pipe, script, sequence

BEGAN, SUMS = "began", "sums"
"""Names of steps: from when on what changed is summed up, and the sums of old."""

_LEFT_OUT = ("postmaster.pid", "pghaul-start.log")
_AT_A_TIME = 8
"""Files of one sha256sum: so few that its lines leave it in one write, and those of several are never mixed."""


@dataclass(frozen=True, slots=True)
class _End:
    """One side of the comparison."""

    folder: str
    owner: str
    threads: int


def verify(site: Site) -> list[Draft]:
    """The manifest and the sums of old, and beside it of new: what they print must be the same."""
    if site.verify is Verify.ALL:
        contents = "every file byte for byte"
    elif site.cluster.running:
        contents = "what changed since the copy began byte for byte"
    else:
        contents = "the control file byte for byte; rsync has summed up what it sent"
    reads = BEGAN if site.cluster.running else ""
    return [
        Draft(
            "sum up old's files",
            "old",
            site.owner,
            _sums(site, on_new=False),
            f"every path with type, size, time, mode, owner and link target; {contents}",
            "nothing to undo: it only looks",
            stage="verify",
            name=SUMS,
            reads=reads,
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,  # the flush of new before it
        ),
        Draft(
            "compare new's files with old's",
            "new",
            site.way.writer,
            _sums(site, on_new=True),
            "a copy that differs must not start: this step prints what the one before it printed, or it has failed",
            "nothing to undo: it only looks",
            stage="verify",
            agrees=SUMS,
            reads=reads,
            stopped=True,
            skippable=False,
            detached=True,
            beside=True,
        ),
    ]


def manifest(end: _End, left_out: tuple[str, ...]) -> Shell:
    """In a place: every entry, sorted, a NUL after each.

    Of each: owner, type, mode, path; of a file its size and time of change in nanoseconds, of a link its target. The
    owner stands by name, as numbers differ between hosts. A folder's size and time are its file system's own.
    """
    owner = ("(", "-user", end.owner, "-printf", "owner ", "-o", "-printf", "%u ", ")")
    entry = ("-type", "f", "-printf", r"%y %m %s %T@ %P\0", "-o", "-type", "l", "-printf", r"%y %l %P\0")
    listed = command(
        "find", ".", "-mindepth", 1, *_pruned(left_out), *owner, "(", *entry, "-o", "-printf", r"%y %m %P\0", ")"
    )
    return pipe(listed, command("sort", "-z"))


def _contents(end: _End, left_out: tuple[str, ...], *, since: bool) -> Shell:
    """In a place: the sum of each file, those that changed since `$since` alone if `since`."""
    listed = command("find", ".", *_pruned(left_out), "-type", "f")
    newer = script('-newermt "$since" -print0') if since else script("-print0")
    found = Shell(f"{listed.text} {newer.text}", f"{listed.shown} {newer.shown}")
    sums = command("xargs", "-0", "-r", "-n", _AT_A_TIME, "-P", end.threads, "sha256sum")
    return pipe(found, command("sort", "-z"), sums, command("sort"))


def _pruned(left_out: tuple[str, ...]) -> list[str]:
    patterns = [word for path in left_out for word in ("-o", "-path", f"./{_literal(path)}")]
    return ["(", *patterns[1:], ")", "-prune", "-o"]


def _literal(path: str) -> str:
    """The path as a pattern that matches it alone."""
    return "".join(f"\\{sign}" if sign in "*?[]\\" else sign for sign in path)


def _sums(site: Site, *, on_new: bool) -> Shell:
    """A line of each place with its sums, and one of the control file: the same text on both sides."""
    found = []
    for place in site.places:
        end = _end(site, place, on_new=on_new)
        left_out = _left_out(site, place)
        sums = [manifest(end, left_out)]
        if site.verify is Verify.ALL or site.cluster.running:
            sums.append(_contents(end, left_out, since=site.verify is not Verify.ALL))
        found.append(script("cd -- @folder@ && printf '%s\\n' @label@", folder=end.folder, label=place.label))
        found += [pipe(each, command("sha256sum")) for each in sums]
    data = site.move.target if on_new else site.cluster.data_directory
    control = script("echo control && sha256sum < @file@", file=f"{data}/global/pg_control")
    whole = environment({"LC_ALL": "C"}, sequence(*found, control))
    if not site.cluster.running:
        return whole
    return sequence(script("read -r since && export since"), whole)


def _left_out(site: Site, place: Place) -> tuple[str, ...]:
    """What is not compared: what a server writes when it runs, and the links that the plan sets anew."""
    return (*_LEFT_OUT, *(each.link for each in relinked(site.move, site.cluster))) if place.label == "data" else ("-",)


def _end(site: Site, place: Place, *, on_new: bool) -> _End:
    if on_new:
        return _End(place.target, site.way.writer, _threads(site.new_facts))
    return _End(place.source, site.owner, _threads(site.old_facts))


def _threads(facts: Facts) -> int:
    return facts.processor.threads if facts.processor is not None else 2
