"""rsync over one ssh stream: the transport of a plan, and the one that other transports stand beside.

Options, and why:
    -rlptH      folders, links as they are, modes, times, hard links. Not the owner: the receiver is the database user
                of new, whatever number it has there, and owns what it writes. Not ACLs and labels: they are new's own.
    --inplace   what changed of a file of 1 GB is written into it, not a second file beside it; a broken pass goes on
                where it stopped. Never --delay-updates, which hides what was copied where a later --delete removes it.
    --rsync-path=pghaul-receive LABEL   new's folder is chosen by the key's own line on new (see passage), so no path
                crosses a remote shell, and without that line nothing can be written, let alone deleted.
RSYNC_PROTECT_ARGS=0 keeps the server's options on the command line, where the receiver checks them.

Exit 24 (a file vanished) is what a running server does to a warm pass; source: rsync(1), EXIT VALUES.
"""

from core.migration.passage import Passage, destination, receiver, ssh
from core.migration.places import Place
from core.servers.shell import Shell, command, environment, pipe, redirect, script, sequence

NAME = "rsync over ssh, one stream"
ACCEPTED_WARM = (0, 24)

_OPTIONS = ("-rlptH", "--inplace", "--timeout=600", "--stats")
_EXCLUDED = ("/postmaster.pid", "/pghaul-start.log")


def warm_pass(way: Passage, place: Place) -> Shell:
    """On old: everything, while the server runs; a file that vanishes meanwhile is no fault."""
    copied = _rsync(way, place.label, [*_exclude(place)], f"{place.source}/")
    return script("sh -c @copy@ || [ $? -eq 24 ]", copy=copied)


def cold_pass(way: Passage, place: Place) -> Shell:
    """On old, stopped: everything, and what is not on old removed on new. rsync checks the sum of all it sends."""
    return _rsync(way, place.label, ["--delete", *_exclude(place)], f"{place.source}/")


def mark_start(way: Passage) -> Shell:
    """On old: from when on no file's time is trusted: the start of the first warm pass, less ten minutes."""
    return command("touch", "-d", "10 minutes ago", f"{way.folder}/started")


def changed_pass(way: Passage, place: Place) -> Shell:
    """On old, stopped: every file changed since the first warm pass began, compared block by block, never by its time.

    rsync's own quick check compares size and whole seconds: a page that was rewritten in the second in which the warm
    pass read it would be missed.
    """
    listed = f"{way.folder}/changed-{place.label}"
    find = redirect(command("find", ".", "-type", "f", "-newer", f"{way.folder}/started", "-print0"), stdout=listed)
    options = ["--ignore-times", "--from0", f"--files-from={listed}", *_exclude(place)]
    return sequence(command("cd", "--", place.source), find, _rsync(way, place.label, options, "./"))


def deletions(way: Passage, place: Place) -> Shell:
    """On old: the names that the last pass would remove on new, one a line; a dry run."""
    dry = _rsync(way, place.label, ["--dry-run", "--delete", "--itemize-changes", *_exclude(place)], f"{place.source}/")
    return pipe(dry, command("sed", "-n", "s/^[*]deleting *//p"))


def sample_pass(way: Passage, label: str, folder: str, listed: str, seconds: int) -> Shell:
    """On old: the files that `listed` names below `folder`, NUL after each, as a pass sends them, for so many seconds.

    `timeout` stays in the process group (--foreground), or it would not end with the group.
    """
    limit = ("timeout", "--foreground", "-k", 2, seconds)
    options = ["--from0", f"--files-from={listed}"]
    return sequence(command("cd", "--", folder), _rsync(way, label, options, "./", limit))


def _rsync(way: Passage, label: str, options: list[str], source: str, ahead: tuple[str | int, ...] = ()) -> Shell:
    program, *rest = (*(str(word) for word in ahead), "rsync")
    return environment(
        {"LC_ALL": "C", "RSYNC_PROTECT_ARGS": "0"},
        command(
            program,
            *rest,
            *_OPTIONS,
            *options,
            *("-e", ssh(way), f"--rsync-path={receiver(label)}", source, destination(way)),
        ),
    )


def _exclude(place: Place) -> list[str]:
    return [f"--exclude={pattern}" for pattern in _EXCLUDED] if place.label == "data" else []
