"""The steps before anything is copied: the target proven and made, the key, the host keys."""

from core.migration import layout, passage
from core.migration.steps.site import Draft, Site, undone
from core.servers.shell import Shell, command, script, sequence


def prepare(site: Site) -> list[Draft]:
    """Prove and make the target folders, then open the way for this copy alone."""
    return [_prove(site), *_make_folders(site), *_open_way(site)]


def _prove(site: Site) -> Draft:
    return Draft(
        "prove that the target is empty or ours",
        "new",
        layout.ROOT,
        _empty_or_ours(site),
        "a later pass removes what old does not have: that must never happen to another cluster",
        "nothing to undo: it only looks",
        skippable=False,
        renewed=True,
        rehearsed=True,
    )


def _empty_or_ours(site: Site) -> Shell:
    """Every target is empty or absent, or the data directory bears old's system identifier and no server runs there."""
    control = site.cluster.control
    empty = [
        script('{ [ ! -e @folder@ ] || [ -z "$(ls -A -- @folder@)" ]; }', folder=each.target) for each in site.places
    ]
    ours = script(
        "[ ! -e @target@/postmaster.pid ] && [ -e @target@/global/pg_control ] && "
        "sh -c @read@ | grep -qx 'Database system identifier: *'@identifier@",
        target=site.move.target,
        read=layout.control_data(site.new_path, site.move.target),
        identifier=control.system_identifier if control is not None else "unknown",
    )
    return script(
        "sh -c @empty@ || sh -c @ours@ || "
        "{ echo 'the target is neither empty nor a copy of this cluster' >&2; exit 1; }",
        empty=sequence(*empty),
        ours=ours,
    )


def _make_folders(site: Site) -> list[Draft]:
    user = site.way.writer
    return [
        Draft(
            f"make {place.target}",
            "new",
            layout.ROOT,
            command("install", "-d", "-m", "0700", "-o", user, "-g", user, "--", place.target),
            f"{place.source} of old comes here; the owner goes by name, for numbers differ between hosts",
            undone(layout.ROOT, "new", command("rmdir", "--", place.target)) + " (while it is empty)",
            rehearsed=True,
        )
        for place in site.places
    ]


def _open_way(site: Site) -> list[Draft]:
    way = site.way
    tidy = Draft(
        "remove what an earlier try left on old",
        "old",
        site.owner,
        passage.remove_key(way),
        "lists of what was copied are good for one execution alone",
        "nothing to undo: it is of no use any more",
        rehearsed=True,
    )
    return [tidy, _make_folder(site)] if way.transport.local else [tidy, *_exchange_keys(site)]


def _make_folder(site: Site) -> Draft:
    return Draft(
        "make a folder for this copy",
        "old",
        site.owner,
        passage.make_folder(site.way),
        "both folders lie on one server: no key is needed, only a place for the lists of files",
        undone(site.owner, "old", passage.remove_key(site.way)),
        renewed=True,
        rehearsed=True,
    )


def _exchange_keys(site: Site) -> list[Draft]:
    way = site.way
    return [
        Draft(
            "make a key for this copy",
            "old",
            site.owner,
            passage.make_key(way),
            "old sends the files itself; the key opens nothing but this copy and is removed after it",
            undone(site.owner, "old", passage.remove_key(way)),
            name="key",
            renewed=True,
            rehearsed=True,
        ),
        Draft(
            "let the key do this copy alone",
            "new",
            way.login,
            passage.allow_key(way),
            "restrict, from= and a forced command: it writes into the target folders and does nothing else",
            undone(way.login, "new", passage.forbid_key(way)),
            reads="key",
            renewed=True,
            rehearsed=True,
        ),
        Draft(
            "read the host keys of new",
            "new",
            way.login,
            passage.read_host_keys(),
            "old must know new when it connects; they come through your own, checked connection",
            "nothing to undo: it only looks",
            name="host keys",
            renewed=True,
            rehearsed=True,
        ),
        Draft(
            "pin the host keys of new",
            "old",
            site.owner,
            passage.pin_host_keys(way),
            "the copy trusts these keys and no other",
            "it lies in the key's folder and goes with it",
            reads="host keys",
            renewed=True,
            rehearsed=True,
        ),
    ]


def close_way(site: Site) -> list[Draft]:
    """Take the key away on both ends, once nothing is copied any more."""
    way = site.way
    taken = [
        Draft(
            "take the key off new",
            "new",
            way.login,
            passage.forbid_key(way),
            "the copy is done: nothing is left that opens new",
            "make and allow a new key, as above",
            stopped=True,
            closes=True,
            rehearsed=True,
        )
    ]
    return [
        *([] if way.transport.local else taken),
        Draft(
            "remove the key from old",
            "old",
            site.owner,
            passage.remove_key(way),
            "nothing of the copy is left on old",
            "make and allow a new key, as above",
            stopped=True,
            closes=True,
            rehearsed=True,
        ),
    ]
