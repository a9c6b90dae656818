"""Learn what a server is, and what is known of the two servers of a move.

`read_facts` is the action; the others serve actions, and are given a job that records already.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from core import units
from core.actions.session import Session, record_commands
from core.benchmarks.model import Side
from core.errors import ServerError
from core.facts.collation_order import libc_locales
from core.facts.collect import collect
from core.facts.merge_previous import merge_previous
from core.facts.model import Cluster, Facts
from core.facts.sections import LOST
from core.history.store import Store
from core.jobs import Job, Note
from core.migration.findings.data_roots import data_roots
from core.migration.model.move import Move
from core.migration.probing.trial_cluster import with_known_trials, with_trial_cluster
from core.servers.connection import Server
from core.servers.shell import for_hint

_FRESH_SECONDS = 900.0
"""Of facts that are older it is said how old they are."""


def read_facts(session: Session, server: str, job: Job, folders: Sequence[str] = ()) -> Facts:
    """Learn what a server is. `folders`: data directories that the DBA names, besides those that are found."""
    return _read(session, server, record_commands(session.store, job), folders)


def collected(
    store: Store,
    server: Server,
    job: Job,
    known: Facts | None,
    *,
    folders: Sequence[str] = (),
    targets: Sequence[str] = (),
    trial: Cluster | None = None,
    tried: Callable[[Server, Facts], Facts] | None = None,
) -> Facts:
    """Fresh facts of a server, kept; those in which a session was lost are kept too, and are an error.

    Args:
        known: the latest that there were.
        folders: data directories that are looked at besides those that are found.
        targets: folders whose names are read, because a copy is to go there.
        trial: the cluster that the server's binaries are to show that they can run.
        tried: adds to the facts what is tried on the server, before they are kept.
    """
    locales = libc_locales(trial) if trial is not None else ()
    facts = merge_previous(collect(server, job, folders=folders, locales=locales, targets=targets), known)
    if trial is None:
        facts = with_known_trials(facts, known)
    else:
        facts = with_trial_cluster(server, facts, trial.series, job, of=trial)
    if tried is not None and facts.gap(LOST) is None:
        facts = tried(server, facts)
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
    tried: Callable[[Server, Facts], Facts] | None = None,
) -> Facts:
    connected, known = session.server(server, job), session.store.facts(server)
    return collected(session.store, connected, job, known, folders=folders, targets=targets, trial=trial, tried=tried)


def facts_of(
    session: Session,
    move: Move,
    side: Side,
    job: Job,
    *,
    refresh: bool = False,
    trial: Cluster | None = None,
    tried: Callable[[Server, Facts], Facts] | None = None,
) -> Facts:
    """The latest facts of a side; read now where there are none, where they lack what it needs, or with `refresh`.

    Of old that is the cluster, of new the names in the folders that tablespaces of `trial` go to.
    """
    server, folder = (move.old, move.cluster) if side is Side.OLD else (move.new, move.target)
    targets = [place.target for place in data_roots(move, trial)[1:]] if trial is not None else []
    known = None if refresh else session.store.facts(server)
    if known is not None and _suffices(known, side, folder, targets):
        age = (datetime.now(UTC) - known.taken_at).total_seconds()
        if age > _FRESH_SECONDS:
            read_again = f"read them again with: pghaul facts {server}"
            job.report(Note(f"the facts of {server} are {units.duration(age)} old; {read_again}"))
        return known
    if not refresh:
        what = f"facts of {server}" if known is None else f"facts of {folder} on {server}"
        job.report(Note(f"there are no {what} yet; reading them now"))
    return _read(session, server, job, [folder], targets, trial, tried)


def _suffices(known: Facts, side: Side, folder: str, targets: Sequence[str]) -> bool:
    if side is Side.OLD:
        return known.cluster(folder) is not None
    return all(target in known.target_entries for target in targets)


def both_facts(session: Session, move: Move, job: Job, *, refresh: bool) -> tuple[Facts, Facts]:
    """The facts of old and of new, each as `facts_of` has them."""
    old, new = (facts_of(session, move, side, job, refresh=refresh) for side in (Side.OLD, Side.NEW))
    return old, new
