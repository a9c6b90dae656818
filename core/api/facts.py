"""Read the facts of a server, and get those of the two servers of a move.

`read_facts` is an action. The other functions serve actions, whose job already records commands.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core import units
from core.api.session import Session, record_commands
from core.documents import each_text
from core.errors import ServerError
from core.facts.collation_order import libc_locales
from core.facts.collect import collect, merge_previous
from core.facts.model import Cluster, Facts
from core.facts.sections import LOST
from core.history.store import Store
from core.jobs import Job, Note
from core.migration.findings.data_roots import data_roots
from core.migration.model.move import Move
from core.migration.plan.cluster_control import explain_fence
from core.migration.probing.trial_cluster import with_known_trials, with_trial_cluster
from core.reports.masking import Mask, people_names, server_names, user_names
from core.servers.connection import Server
from core.servers.shell import for_hint, quoted
from core.sides import Side

__all__ = [
    "collect_and_save",
    "explain_fence",
    "get_facts",
    "get_facts_of_both",
    "get_facts_of_server",
    "mask_facts",
    "read_facts",
]

_FRESH_SECONDS = 900.0
"""Facts that are older, in seconds, are used with a note on their age."""


def mask_facts(store: Store, facts: Facts) -> Facts:
    """Return facts in which neutral words replace the names of servers, users and people, and addresses, as in a masked
    report. What the sections of clusters have printed is left out: there, names are in hexadecimal."""
    profiles = store.profiles()
    known = (facts, *(store.facts(profile.name) for profile in profiles))
    readable = {name: text for name, text in facts.raw.items() if not name.startswith("/")}
    mask = Mask(server_names(profiles, known), people_names(profiles, ()), user_names(profiles, known))
    return each_text(replace(facts, raw=readable), mask.text)


def read_facts(session: Session, server: str, job: Job, folders: Sequence[str] = ()) -> Facts:
    """Read the facts of a server.

    Args:
        session: the history and the connections.
        server: the name of the server.
        job: the job that reports progress.
        folders: data directories to examine besides those that are found.
    """
    return _read(session, server, record_commands(session.store, job), folders)


def collect_and_save(
    store: Store,
    server: Server,
    job: Job,
    known: Facts | None,
    *,
    folders: Sequence[str] = (),
    targets: Sequence[str] = (),
    trial: Cluster | None = None,
    add_trial_start: Callable[[Server, Facts], Facts] | None = None,
) -> Facts:
    """Collect fresh facts of a server, save them, and return them.

    Args:
        store: the history.
        server: the connected server.
        job: the job that reports progress.
        known: the latest facts before; None if there are none.
        folders: data directories to examine besides those that are found.
        targets: folders whose entries are listed, because a copy will go there.
        trial: the cluster for which the server's binaries are tried; None to try none.
        add_trial_start: adds the result of a trial start to the facts before they are saved.

    Raises:
        ServerError: a session was lost while the facts were read; the facts are saved all the same.
    """
    locales = libc_locales(trial) if trial is not None else ()
    facts = collect(server, job, folders=folders, locales=locales, targets=targets)
    # If the latest facts tell no machine ID, those before them say which machine it was.
    told = store.facts_that_tell_machine(server.name) if known is None or known.machine_id is None else known
    if told is not None and facts.is_of_another_machine(told):
        known = None  # what was tried on that one says nothing of this one
        job.report(
            Note(
                f"{server.name} is another machine than before: its machine ID has changed; transfer tests, checks, "
                "estimates and plans of its moves no longer apply",
                "warning",
            )
        )
    facts = merge_previous(facts, known)
    if trial is None:
        facts = with_known_trials(facts, known)
    else:
        facts = with_trial_cluster(server, facts, trial.series, job, of=trial)
    if add_trial_start is not None and facts.gap(LOST) is None:
        facts = add_trial_start(server, facts)
    elif known is not None:  # the check compares what it stands on with these facts
        facts = replace(facts, trial_start=known.trial_start)
    store.save_facts(facts)
    lost = facts.gap(LOST)
    if lost is not None:
        raise ServerError(
            f"{server.name}: {lost.subject}: {lost.reason}; the session was terminated, or PostgreSQL crashed and "
            "restarted",
            "check the log of PostgreSQL before anything else; what was read is shown by: "
            + for_hint("pghaul", "facts", server.name, "--last"),
        )
    return facts


def _read(
    session: Session,
    server: str,
    job: Job,
    folders: Sequence[str] = (),
    targets: Sequence[str] = (),
    trial: Cluster | None = None,
    add_trial_start: Callable[[Server, Facts], Facts] | None = None,
) -> Facts:
    connected, known = session.server(server, job), session.store.facts(server)
    # the targets of all moves, so that the checks and the plan of each of them say the same afterwards
    of_moves = [move.target for move in session.store.moves() if move.new == server]
    return collect_and_save(
        session.store,
        connected,
        job,
        known,
        folders=list(dict.fromkeys((*folders, *of_moves))),
        targets=targets,
        trial=trial,
        add_trial_start=add_trial_start,
    )


def get_facts(
    session: Session,
    move: Move,
    side: Side,
    job: Job,
    *,
    refresh: bool = False,
    cluster: Cluster | None = None,
    trial: Cluster | None = None,
    add_trial_start: Callable[[Server, Facts], Facts] | None = None,
) -> Facts:
    """Return the latest facts of a side, or read them if there are none or they lack what is needed.

    Facts of the old server must contain the cluster, facts of the new server the entries of the target folders.

    Args:
        session: the history and the connections.
        move: the move.
        side: the side.
        job: the job that reports progress.
        refresh: read the facts in any case.
        cluster: the old cluster, if it is known into which folders of the new server it will be copied.
        trial: the cluster for which the server's binaries are tried; None to try none.
        add_trial_start: adds the result of a trial start to the facts before they are saved.
    """
    server, folder = (move.old, move.cluster) if side is Side.OLD else (move.new, move.target)
    cluster = trial or cluster
    targets = [place.target for place in data_roots(move, cluster)[1:]] if cluster is not None else []
    known = None if refresh else session.store.facts(server)
    if known is not None and _are_sufficient(known, side, folder, targets if trial is not None else []):
        return _with_note_on_age(known, server, job)
    if not refresh:
        what = f"facts of {server}" if known is None else f"facts of {folder} on {server}"
        job.report(Note(f"there are no {what} yet; reading them now"))
    return _read(session, server, job, [folder], targets, trial, add_trial_start)


def get_facts_of_server(session: Session, server: str, job: Job, *, refresh: bool = False) -> Facts:
    """Return the latest facts of a server, or read them if there are none; no move takes part.

    Args:
        session: the history and the connections.
        server: the name of the server.
        job: the job that reports progress.
        refresh: read the facts in any case.
    """
    known = None if refresh else session.store.facts(server)
    if known is not None:
        return _with_note_on_age(known, server, job)
    if not refresh:
        job.report(Note(f"there are no facts of {server} yet; reading them now"))
    return _read(session, server, job)


def _with_note_on_age(known: Facts, server: str, job: Job) -> Facts:
    """Return these facts, with a note if they are not fresh."""
    age = (datetime.now(UTC) - known.taken_at).total_seconds()
    if age > _FRESH_SECONDS:
        read_again = f"read them again with: pghaul facts {quoted(server)}"
        job.report(Note(f"the facts of {server} are {units.duration(age)} old; {read_again}"))
    return known


def _are_sufficient(known: Facts, side: Side, folder: str, targets: Sequence[str]) -> bool:
    if side is Side.OLD:
        return known.cluster(folder) is not None
    return all(target in known.target_entries for target in targets)


def get_facts_of_both(session: Session, move: Move, job: Job, *, refresh: bool) -> tuple[Facts, Facts]:
    """Return the facts of the old and the new server, each as `get_facts` returns them."""
    old = get_facts(session, move, Side.OLD, job, refresh=refresh)
    return old, get_facts(session, move, Side.NEW, job, refresh=refresh, cluster=old.cluster(move.cluster))
