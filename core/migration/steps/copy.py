"""The steps that copy: warm passes while old runs, the stop and its proof, the final pass, the links, the proof."""

from core.migration import layout
from core.migration.copy_methods import MOST_PASSES
from core.migration.places import Place, relinked
from core.migration.steps.site import Draft, Site, undone
from core.migration.transports import rsync_ssh
from core.servers.shell import Shell, command, environment, pipe, script, sequence

_AGAIN = "nothing to undo: another pass overwrites it; to give up, remove the target folders"


def copy(site: Site) -> list[Draft]:
    """A running cluster: warm passes, stop, fence, final pass. A stopped one: fence, one cold pass."""
    if not site.cluster.running:
        return [*_stop_proven(site), *_fence(site), *_deletions(site), *_cold(site), *_settle(site)]
    return [
        *_warm(site),
        *_stop(site),
        *_stop_proven(site),
        *_fence(site),
        *_deletions(site),
        *_changed(site),
        *_cold(site),
        *_settle(site),
    ]


def _warm(site: Site) -> list[Draft]:
    mark = Draft(
        "remember when the copy began",
        "old",
        site.owner,
        rsync_ssh.mark_start(site.way),
        "the final pass trusts no file that changed since then",
        "it lies in the key's folder and goes with it",
    )
    passes = [
        Draft(
            f"warm pass {number} of {MOST_PASSES}: {place.source}",
            "old",
            site.owner,
            rsync_ssh.warm_pass(site.way, place),
            "while old runs: the more lies on new already, the shorter is the stop" if number == 1 else "what changed",
            _AGAIN,
            stage="warm passes",
            weight=site.share(place) / number**2,
        )
        for number in range(1, MOST_PASSES + 1)
        for place in site.places
    ]
    return [mark, *passes]


def _stop(site: Site) -> list[Draft]:
    stop = layout.stop(site.cluster, site.owner)
    return [
        Draft(
            "stop the applications",
            "you",
            "",
            "",
            "from here on clients wait; pooled connections, cron jobs and monitoring too",
            "start them again",
            stopped=True,
            skippable=False,
        ),
        Draft(
            "stop old",
            "old",
            stop.user,
            stop.command,
            "files of a running server are no cluster",
            stop.undo,
            stage="stop old",
            weight=5.0,
            stopped=True,
        ),
    ]


def _stop_proven(site: Site) -> list[Draft]:
    read = layout.control_data(site.old_path, site.cluster.data_directory)
    proof = sequence(
        script("[ ! -e @folder@/postmaster.pid ]", folder=site.cluster.data_directory),
        pipe(read, command("grep", "-x", "Database cluster state: *shut down")),
    )
    return [
        Draft(
            "prove the stop",
            "old",
            site.owner,
            proof,
            "the control file must say `shut down`; refusing connections is not enough",
            "nothing to undo: it only looks",
            stage="stop old",
            stopped=True,
            skippable=False,
        )
    ]


def _fence(site: Site) -> list[Draft]:
    fence = layout.fence(site.cluster)
    if fence is None:
        return [
            Draft(
                "keep old stopped",
                "you",
                "",
                "",
                "nothing was found that starts it: look for init scripts, cron jobs and cluster managers of your own",
                "allow it again",
                stopped=True,
                skippable=False,
            )
        ]
    return [
        Draft(
            "keep old from starting",
            "old",
            fence.user,
            fence.command,
            "two servers with one identity must never both run",
            fence.undo,
            stopped=True,
            skippable=False,
        )
    ]


def _deletions(site: Site) -> list[Draft]:
    return [
        Draft(
            f"list what the last pass will remove from {place.target}",
            "old",
            site.owner,
            rsync_ssh.deletions(site.way, place),
            "read it: only what old has removed since the first pass may stand here",
            "nothing to undo: it only looks",
            stage="verify",
            stopped=True,
            skippable=False,
        )
        for place in site.places
    ]


def _changed(site: Site) -> list[Draft]:
    return [
        Draft(
            f"final pass, changed files: {place.source}",
            "old",
            site.owner,
            rsync_ssh.changed_pass(site.way, place),
            "every file that changed since the first pass began, compared block by block: times are not trusted",
            _AGAIN,
            stage="final pass",
            weight=site.share(place),
            stopped=True,
            skippable=False,
        )
        for place in site.places
    ]


def _cold(site: Site) -> list[Draft]:
    running = site.cluster.running
    return [
        Draft(
            f"{'final pass, the rest' if running else 'copy'}: {place.source}",
            "old",
            site.owner,
            rsync_ssh.cold_pass(site.way, place),
            "folders, links, what is new and what is gone" if running else "the cluster as it was shut down",
            _AGAIN,
            stage="verify" if running else "copy",
            weight=site.share(place),
            stopped=True,
            skippable=False,
        )
        for place in site.places
    ]


def _settle(site: Site) -> list[Draft]:
    """Links to their new places, all on disk, and the proof that both sides hold the same."""
    target, user = site.move.target, site.way.writer
    links = [
        Draft(
            f"set the link {place.link}",
            "new",
            user,
            command("ln", "-sfn", "--", place.target, f"{target}/{place.link}"),
            "it lies elsewhere on new",
            undone(user, "new", command("ln", "-sfn", "--", place.source, f"{target}/{place.link}")),
            stopped=True,
            skippable=False,
        )
        for place in relinked(site.move, site.cluster)
    ]
    flush = Draft(
        "flush new's disks",
        "new",
        user,
        command("sync"),
        "what was copied must survive a power cut",
        "nothing to undo",
        stage="verify",
        stopped=True,
        skippable=False,
    )
    return [*links, flush, *_verify(site)]


def _verify(site: Site) -> list[Draft]:
    compare = script(
        'expected=$(cat) && found=$(sh -c @list@) && [ -n "$found" ] && '
        "{ [ \"$found\" = \"$expected\" ] || { echo 'old and new differ' >&2; exit 1; }; } && echo 'old and new agree'",
        list=_listing(site.places, on_new=True),
    )
    return [
        Draft(
            "sum up old's files",
            "old",
            site.owner,
            _listing(site.places, on_new=False),
            "names and sizes of all files, and the control file byte for byte; rsync has summed up what it sent",
            "nothing to undo: it only looks",
            stage="verify",
            name="listing",
            stopped=True,
            skippable=False,
        ),
        Draft(
            "compare new's files with old's",
            "new",
            site.way.writer,
            compare,
            "a copy that lacks a file must not start",
            "nothing to undo: it only looks",
            stage="verify",
            reads="listing",
            stopped=True,
            skippable=False,
        ),
    ]


def _listing(places: tuple[Place, ...], *, on_new: bool) -> Shell:
    """Sums over each place's names and sizes, and over the control file: the same text on both sides."""
    found = []
    for place in places:
        folder = place.target if on_new else place.source
        names = script(
            "cd -- @folder@ && find . -type f ! -path ./postmaster.pid ! -path ./pghaul-start.log -printf '%s %P\\n'"
            " | sort | sha256sum",
            folder=folder,
        )
        found.append(environment({"LC_ALL": "C"}, names))
        if place.label == "data":
            found.append(script("sha256sum < @folder@/global/pg_control", folder=folder))
    return sequence(*found)
