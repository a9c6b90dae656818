"""In which state the cluster and its target are: there at all, running, shut down cleanly, what lies about."""

import re

from core.facts.clusters import BEGUN, CONTROL, IDENTITY, PLACE
from core.facts.discovery import POSTMASTERS
from core.facts.irregular_files import SECTION as IRREGULAR_FILES
from core.facts.model import Cluster
from core.facts.sections import RIGHTS
from core.facts.sizes import LINKS
from core.migration.checks.declaration import Check, Declaration
from core.migration.checks.distinct import two_places
from core.migration.findings.data_roots import data_roots, names_of, roots_of
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    passed,
    reason,
    unknown,
    unread_of,
    warning,
)
from core.migration.model.checks import Status
from core.servers.shell import for_hint

TARGET_IDENTITY = "target-identity"
"""The check whose waiver gives up the same cluster without a mark, as its evidence names it, for the copy."""
_RECOVERY = ("standby.signal", "recovery.signal", "recovery.conf", "backup_label", "tablespace_map")
_STANDBY = ("standby.signal", "recovery.conf")
_RECOVERING = ("in archive recovery", "shut down in recovery", "in recovery")


def cluster_exists(case: Case) -> Finding:
    """The data directory on old holds a cluster."""
    cluster = case.cluster
    if cluster is not None:
        running = "running" if cluster.running else "stopped"
        return passed(f"{cluster.data_directory} ({running})", NOTHING, f"a cluster of series {cluster.series}")
    found = ", ".join(each.data_directory for each in case.old.clusters) or "no cluster"
    why = reason(case.old, PLACE.name, IDENTITY.name, of=case.move.cluster)
    return blocker(
        found,
        NOTHING,
        f"{case.move.cluster} on {case.old.server} holds no cluster: {why}",
        "name the data directory as pghaul facts shows it, with links resolved",
    )


def target_identity(case: Case) -> Finding:
    """The target is empty, or holds an earlier copy of this very cluster; so are those of its other folders."""
    found = _data_directory(case)
    return found if found.status is Status.BLOCKER else _strange_root(case) or found


def _strange_root(case: Case) -> Finding | None:
    """The target of a tablespace or a link that holds what no copy of it brings, or anything beside no copy."""
    cluster = case.cluster
    if cluster is None:
        return None
    for root in data_roots(case.move, cluster)[1:]:
        held = case.new.target_entries.get(root.target)
        if held is None:
            return unknown(
                root.source,
                root.target,
                f"the facts of {case.new.server} do not say what lies in {root.target}, where {root.source} goes",
                f"look with: {for_hint('ls', '-la', root.target)}; it must be empty or not exist",
            )
        names = names_of(root, cluster.series)
        marked = case.target is not None or _begun(case)
        if root.parts:  # what lies beside them stays
            strange = next((name for name in held if not marked and name in root.parts), None)
        else:
            strange = next((name for name in held if not marked or not re.fullmatch(names, name)), None)
        if strange is not None:
            return blocker(
                root.source,
                f"{root.target}: {strange}",
                f"{root.target} on {case.new.server} holds {strange}, which is no copy of {root.source}: it would be "
                "removed",
                "empty it if nobody needs what it holds; or name another target for it: pghaul move add --replace … "
                f"--tablespace {root.source}=FOLDER",
            )
    return None


def _data_directory(case: Case) -> Finding:
    target, cluster, path = case.target, case.cluster, case.move.target
    identifier = cluster.control.system_identifier if cluster is not None and cluster.control is not None else None
    shown = f"system identifier {identifier}" if identifier is not None else NOTHING
    if target is None:
        gap = case.new.gap(PLACE.name, IDENTITY.name, of=path)
        if gap is not None and gap.absent:
            return passed(shown, f"{path}: {gap.reason}", "nothing lies at the target yet")
        return unknown(
            shown,
            f"{path}: {gap.reason}" if gap is not None else NOTHING,
            f"the facts of {case.new.server} do not say what lies in {path}",
            f"look with: {for_hint('ls', '-la', path)}; it must be empty or not exist",
        )
    if target.copy_of is not None:
        return _marked(case, target.copy_of, identifier, shown)
    if target.control is None or identifier is None:
        return unknown(
            shown,
            path,
            f"{path} holds a cluster whose system identifier could not be compared",
            "move it away, or name another target",
        )
    there = f"system identifier {target.control.system_identifier}"
    if target.control.system_identifier == identifier:
        doubt = two_places(case)
        if doubt.status is not Status.PASS:
            return Finding(doubt.status, shown, there, f"{path} may hold no copy: {doubt.message}", doubt.hint)
        return _unmarked(case, target)
    return blocker(
        shown,
        there,
        f"{path} on {case.new.server} holds another cluster",
        "name another target; or, if that cluster is not needed, remove it yourself (Debian: pg_dropcluster)",
    )


def _begun(case: Case) -> bool:
    """Whether a copy of pghaul's own has begun in the target, which holds no more than its mark yet."""
    gap = case.new.gap(IDENTITY.name, of=case.move.target)
    return gap is not None and BEGUN in gap.reason


def _marked(case: Case, copy_of: str, identifier: str | None, shown: str) -> Finding:
    """A copy that pghaul has made and not opened: of this cluster, or of another."""
    path, there = case.move.target, f"a copy of system identifier {copy_of}"
    if copy_of != identifier:
        what = f"{path} on {case.new.server} holds a copy of another cluster, not opened yet"
        return blocker(shown, there, what, "name another target; or, if nobody needs it, remove it yourself")
    doubt = two_places(case)
    if doubt.status is not Status.PASS:
        return Finding(doubt.status, shown, there, f"{path} may hold no copy: {doubt.message}", doubt.hint)
    return passed(shown, there, f"{path} holds an earlier copy of this cluster: it will be brought up to date")


def _unmarked(case: Case, target: Cluster) -> Finding:
    """The same cluster without the mark of a copy: nobody but a person can tell whether it is needed.

    What is ahead of an old that is stopped is most likely the one that was left for it.
    """
    ours, cluster = target.control, case.cluster
    here = cluster.control.checkpoint_location if cluster is not None and cluster.control is not None else NOTHING
    there = ours.checkpoint_location if ours is not None else NOTHING
    said = f"latest checkpoint {here}", f"latest checkpoint {there}, {_known_as(target)}"
    what = f"{target.data_directory} on {case.new.server} holds {_known_as(target)}: the copy destroys it"
    before, after = _place_in_wal(here), _place_in_wal(there)
    if cluster is not None and not cluster.running and before is not None and after is not None and after > before:
        ahead = f"{what}, and it is ahead of old, which is stopped"
        return blocker(*said, ahead, "if it is the one in use, leave it; if nobody needs it, remove it yourself")
    return warning(*said, what, "name another target; or give it up for the copy: waive this check with your reason")


def _known_as(target: Cluster) -> str:
    """What a cluster of old's identifier may be that bears no mark of a copy."""
    state = target.control.state if target.control is not None else ""
    found = next((name for name in target.leftovers if name in _RECOVERY), None)
    if found is not None:
        return f"a standby or a restored backup of this cluster ({found})"
    if state in _RECOVERING:
        return f"a standby of this cluster ({state})"
    if target.fenced:
        return "this cluster as an earlier move left it, fenced"
    return "a clone of this cluster, or a copy of it that was opened"


def _place_in_wal(location: str) -> tuple[int, int] | None:
    """`16/B374D848` as numbers that can be compared; None of anything else."""
    found = re.fullmatch(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})", location)
    return (int(found[1], 16), int(found[2], 16)) if found is not None else None


def target_stopped(case: Case) -> Finding:
    """No server runs in the target."""
    target = case.target
    if target is None:
        gap = case.new.gap(POSTMASTERS.name, RIGHTS)
        if gap is not None:
            why = f"which servers run on {case.new.server} is not known: {gap.subject}: {gap.reason}"
            return unknown(NOTHING, NOTHING, why, f"look on {case.new.server} with: ps -C postgres -o args")
        return passed(NOTHING, "no cluster", "no cluster is known at the target")
    if not target.running:
        return passed(NOTHING, "stopped", "no server runs in the target")
    return blocker(
        NOTHING,
        f"running on port {target.port if target.port is not None else 'unknown'}",
        f"a server runs in {case.move.target} on {case.new.server}: a copy under it would destroy both",
        "stop that server, or name another target",
    )


def old_stopped(case: Case) -> Finding:
    """Old is shut down cleanly, or is known to run and will be stopped by the plan."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    state = cluster.control.state if cluster.control is not None else None
    if cluster.running:
        return warning(
            f"running, {state or 'state not readable'}",
            NOTHING,
            "old runs: files that are copied now are no cluster until old was shut down and the final pass is done",
            "nothing to do yet: the plan copies while old runs, then stops it, proves the stop and copies what changed",
        )
    if state is None:
        return unknown(
            "stopped, state not readable",
            NOTHING,
            f"whether old was shut down cleanly is not known: {reason(case.old, CONTROL.name, of=case.move.cluster)}",
            "run pg_controldata on the data directory: it must say `shut down`",
        )
    if cluster.fenced and state == "shut down":
        return warning(
            f"{state}, fenced",
            NOTHING,
            "an earlier move has stopped old and keeps it from starting: what clients wrote since is on its new",
            "move it from there; or, if it was moved nowhere: pghaul execute --rollback of that move",
        )
    if state == "shut down":
        return passed(state, NOTHING, "old was shut down cleanly")
    if state == "shut down in recovery":
        return blocker(
            state,
            NOTHING,
            "old is a stopped standby: its files are not the whole of the truth",
            "move the primary, or promote this server and shut it down",
        )
    return blocker(
        f"stopped, but {state}",
        NOTHING,
        f"no server runs in {cluster.data_directory}, yet its control file says `{state}`: it crashed",
        "start old once, let it recover, and shut it down with pg_ctl stop -m fast",
    )


def primary(case: Case) -> Finding:
    """Old is a primary: a standby's files are those of another server, and it follows that one when it starts."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    state = cluster.control.state if cluster.control is not None else None
    files = [name for name in cluster.leftovers if name in _STANDBY]
    shown = ", ".join([*files, state or "state not readable"])
    if files or state in _RECOVERING:
        return blocker(
            shown,
            NOTHING,
            "old is a standby, or recovers: its files are not the whole of the truth",
            "move the primary; or promote this server (pg_ctl promote) when that one is gone for good",
        )
    if state is None:
        return unknown(
            shown,
            NOTHING,
            f"whether old is a primary is not known: {reason(case.old, CONTROL.name, of=case.move.cluster)}",
            "ask it: select pg_is_in_recovery(); or run pg_controldata on the data directory",
        )
    return passed(shown, NOTHING, "a primary")


def leftovers(case: Case) -> Finding:
    """Files that change how the copy would start."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    lying = [name for name in cluster.leftovers if not (name == "postmaster.pid" and cluster.running)]
    lying += cluster.irregular_files.examples.get("partial", ()) if cluster.irregular_files is not None else ()
    if not lying:
        unread = unread_of(case, LINKS.name, IRREGULAR_FILES.name)
        if unread is not None:
            return unread
        return passed("none", NOTHING, "nothing lies in the data directory that changes how it starts")
    shown = ", ".join(lying)
    if any(name in _RECOVERY for name in lying):
        return blocker(
            shown,
            NOTHING,
            f"{shown}: the copy would start as a standby or a restored backup",
            "let old finish its recovery, or remove what is left from an earlier backup, then shut down",
        )
    hint = "they are copied as they are; look whether old was shut down cleanly and no pass of a copy was broken off"
    return warning(shown, NOTHING, f"{shown} lie in the data directory", hint)


def tablespaces_inside(case: Case) -> Finding:
    """No tablespace lies inside the data directory, where PostgreSQL warns against it."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    inside = [
        space.location for space in cluster.tablespaces if f"{space.location}/".startswith(f"{cluster.data_directory}/")
    ]
    if not inside:
        unread = unread_of(case, LINKS.name)
        if unread is not None:
            return unread
        number = len(cluster.tablespaces)
        shown = f"{number} {'tablespace' if number == 1 else 'tablespaces'} outside"
        return passed(shown, NOTHING, "every tablespace has a place of its own")
    return warning(
        ", ".join(inside),
        NOTHING,
        "a tablespace lies inside the data directory: it travels with it, and its link is set to the new place",
        "see after the start that \\db shows it inside the target",
    )


def tablespace_targets(case: Case) -> Finding:
    """Every folder that the move names a target for is a data root of the cluster; else its target goes unheeded."""
    cluster, named = case.cluster, case.move.tablespace_targets
    if cluster is None:
        return no_cluster(case)
    movable = [root.source for root in roots_of(cluster)[1:]]
    wrong = sorted(set(named) - set(movable))
    evidence = ", ".join(movable) or "none", ", ".join(f"{here} -> {there}" for here, there in named.items()) or "none"
    unread = unread_of(case, LINKS.name)
    if unread is not None and named:
        return unread
    if not wrong:
        return passed(*evidence, "every folder that the move gives a target is a data root of the cluster")
    return blocker(
        *evidence,
        f"the move gives {', '.join(wrong)} a target, but the cluster has no tablespace or link of its own there",
        "name the locations as pghaul facts shows them; what lies inside the data directory travels with it",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration("cluster-exists", "cluster on old", True, "the data directory on old", "creating-cluster"),
        cluster_exists,
    ),
    (
        Declaration(
            TARGET_IDENTITY, "what is in the target", True, "identifiers, and the mark of a copy", "backup-file"
        ),
        target_identity,
    ),
    (
        Declaration("target-stopped", "servers in the target", True, "servers running on new", "server-shutdown"),
        target_stopped,
    ),
    (Declaration("old-stopped", "shutdown of old", True, "cluster state on old", "server-shutdown"), old_stopped),
    (
        Declaration(
            "leftovers",
            "leftovers in the data directory",
            True,
            "signal, label and lock files on old",
            "storage-file-layout",
        ),
        leftovers,
    ),
    (
        Declaration(
            "tablespaces-inside",
            "tablespaces in the data directory",
            False,
            "tablespace locations on old",
            "manage-ag-tablespaces",
        ),
        tablespaces_inside,
    ),
    (
        Declaration(
            "tablespace-targets",
            "targets of the tablespaces",
            True,
            "tablespace and other links on old, targets of the move",
            "manage-ag-tablespaces",
        ),
        tablespace_targets,
    ),
    (Declaration("primary", "role of old", True, "state and signal files of old", "warm-standby"), primary),
)
