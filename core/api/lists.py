"""Import a list of servers and the moves in it into the history."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from core.api.session import Session
from core.errors import InputError
from core.history.recorded_profiles import checked_name
from core.migration.findings.volumes import volume_path
from core.migration.model.move import Move
from core.servers.lists.model import Listed, Refused, ServerList, WantedMove
from core.servers.profiles import Profile


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of importing a list.

    Attributes:
        added: the names of servers that were added.
        changed: the names of servers whose description was changed.
        kept: the names of servers that are known with the same description.
        moves: the names of all moves of the list that exist now.
        refused: the entries that were not imported, each with the reason.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    kept: tuple[str, ...]
    moves: tuple[str, ...]
    refused: tuple[Refused, ...]

    @property
    def servers(self) -> tuple[str, ...]:
        """Return the names of all imported servers."""
        return (*self.added, *self.changed, *self.kept)


def import_list(session: Session, found: ServerList, *, replacing: bool = False) -> Taken:
    """Import the servers and moves of a list; with `replacing` also those that are known with another description."""
    taken = import_servers(session, found, replacing=replacing)
    return import_moves(session, found, taken, replacing=replacing)


def import_servers(session: Session, found: ServerList, *, replacing: bool) -> Taken:
    """Import the servers of a list, all valid ones at once, because there may be thousands."""
    known = {profile.name: profile for profile in session.store.profiles()}
    sorting = _ServerSorter(known, replacing=replacing)
    for each in {each.profile.name: each for each in found.listed}.values():
        with sorting.collecting_refusals(each):
            sorting.sort(each.profile)
    session.store.put_profiles([*sorting.added, *sorting.changed])
    added, changed, kept = (
        tuple(each.name for each in part) for part in (sorting.added, sorting.changed, sorting.kept)
    )
    return Taken(added, changed, kept, moves=(), refused=(*found.refused, *sorting.refused))


def import_moves(session: Session, found: ServerList, taken: Taken, *, replacing: bool) -> Taken:
    """Import the moves of the imported servers; their volumes come from the facts of the servers, if any."""
    sorting = _ServerSorter({}, replacing=replacing)
    known = {move.name: move for move in session.store.moves()}
    servers = set(taken.servers)
    names = []
    for each in found.listed:
        if each.move is not None and each.profile.name in servers:
            with sorting.collecting_refusals(each):
                _import_move(session, each.profile.name, each.move, known.get(each.move.name), replacing=replacing)
                names.append(each.move.name)
    return replace(taken, moves=tuple(names), refused=(*taken.refused, *sorting.refused))


def _import_move(session: Session, old: str, wanted: WantedMove, known: Move | None, *, replacing: bool) -> None:
    if known is not None:
        if (known.old, known.new, known.cluster, known.target) == (old, wanted.new, wanted.cluster, wanted.target):
            return
        if not replacing:
            raise InputError(
                f"the move {wanted.name!r} exists already with other servers or folders", "change it with --replace"
            )
        _refuse_loss(known, old, wanted)
    for server in (old, wanted.new):
        session.store.profile(server)
    move = Move(
        name=wanted.name,
        old=old,
        new=wanted.new,
        cluster=wanted.cluster,
        target=wanted.target,
        old_volume=volume_path(session.store.facts(old), wanted.cluster),
        new_volume=volume_path(session.store.facts(wanted.new), wanted.target),
        tablespace_targets={} if known is None else known.tablespace_targets,
        plain_text=known is not None and known.plain_text,
        edited=known.edited if known is not None and (known.old, known.cluster) == (old, wanted.cluster) else None,
    )
    session.store.put_move(move)


def _refuse_loss(known: Move, old: str, wanted: WantedMove) -> None:
    """Raise InputError if the list would change the meaning of tablespace targets or of a permission."""
    if known.tablespace_targets and (known.old, known.cluster) != (old, wanted.cluster):
        lost = "tablespace locations for another cluster"
    elif known.plain_text and (known.old, known.new) != (old, wanted.new):
        lost = "permission to copy without encryption between other servers"
    else:
        return
    raise InputError(f"the move {known.name!r} has {lost}", "set up the move again yourself: pghaul move add --replace")


@dataclass
class _ServerSorter:
    """Sorts the servers of a list by what is done with them."""

    known: dict[str, Profile]
    replacing: bool
    added: list[Profile] = field(default_factory=list)
    changed: list[Profile] = field(default_factory=list)
    kept: list[Profile] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def sort(self, profile: Profile) -> None:
        before = self.known.get(checked_name("server", profile.name))
        if before is None:
            self.added.append(profile)
        elif before == profile:
            self.kept.append(profile)
        elif self.replacing:
            self.changed.append(profile)
        else:
            raise InputError(
                f"the server {profile.name!r} exists already with another description", "change it with --replace"
            )

    @contextmanager
    def collecting_refusals(self, entry: Listed) -> Iterator[None]:
        """Collect the error of an entry that cannot be imported, and let the others go on."""
        try:
            yield
        except InputError as error:
            self.refused.append(Refused(entry.place, entry.profile.name, error.message, error.hint))
