"""What a list of servers says: each entry a server as it is described, and the move of its cluster where there is one.

Every kind of list is brought to the same fields, which are the columns of a CSV: those of a profile by their names, and
of a move `new`, `cluster`, `target` and `move`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.servers.profiles import Profile, Rights
from core.servers.ssh_config import check_address, check_jumps, check_user

FIELDS = (
    *("name", "address", "user", "port", "identity_file", "jump", "rights", "database_user", "copy_address"),
    *("new", "cluster", "target", "move"),
)
MOST = 10_000
"""Servers of one list: a range such as db[1:9999999] is somebody's mistake."""
MOST_GROUPS = 2_000
MOST_NAMED = 10 * MOST
"""Of an inventory: groups, and how often it names a server, as each stands in several groups."""


@dataclass(frozen=True, slots=True)
class WantedMove:
    """A move as a list has it: of a cluster on the server of the same entry to the server `new`."""

    name: str
    new: str
    cluster: str
    target: str


def name_of_move(server: str, cluster: str) -> str:
    """Return how the move of a cluster is called if its list has no name for it."""
    return f"{server}{cluster}"


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry. `place`: where it stands, for people: `line 7`."""

    place: str
    profile: Profile
    move: WantedMove | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry that was not taken, and why; `name` is empty where it has none."""

    place: str
    name: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ServerList:
    """A list as it was read. A server may stand in several entries, a move each."""

    listed: tuple[Listed, ...]
    refused: tuple[Refused, ...] = ()

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """Every server once, in the order of the list."""
        return tuple({each.profile.name: each.profile for each in self.listed}.values())


Fields = tuple[str, Mapping[str, str]]
"""An entry before it is looked at: its place, and its fields that say something."""


def server_list(entries: Sequence[Fields], refused: Sequence[Refused] = ()) -> ServerList:
    """The list of these entries; what is none, or describes a server or a move otherwise than before, is refused."""
    listed: list[Listed] = []
    wrong = [*refused]
    servers: dict[str, Listed] = {}
    moves: dict[str, Listed] = {}
    for place, fields in entries:
        try:
            each = _listed(place, fields)
            _refuse_other(each, servers, moves)
        except InputError as error:
            wrong.append(Refused(place, fields.get("name") or fields.get("address", ""), error.message, error.hint))
            continue
        servers.setdefault(each.profile.name, each)
        if each.move is not None:
            moves[each.move.name] = each
        listed.append(each)
    return _without_moves_to_themselves(listed, wrong, servers)


def _without_moves_to_themselves(
    listed: Sequence[Listed], wrong: Sequence[Refused], servers: Mapping[str, Listed]
) -> ServerList:
    """Return the list without moves from a server to itself; the new server may stand below its move."""
    kept, refused = list[Listed](), [*wrong]
    for each in listed:
        new = None if each.move is None else servers.get(each.move.new)
        try:
            if each.move is not None and new is not None:
                refuse_same_server(each.move, each.profile, new.profile)
        except InputError as error:
            refused.append(Refused(each.place, each.profile.name, error.message, error.hint))
        else:
            kept.append(each)
    return ServerList(tuple(kept), tuple(refused))


_WITHIN_SERVER = "to move the cluster to another folder of its server, add the move with: pghaul move add"


def refuse_same_server(move: WantedMove, old: Profile, new: Profile, *, same_machine: bool = False) -> None:
    """Raise InputError if both servers of a move are one, by their name, by the way to them, or as it was read.

    A cluster can be moved within its server. In a list this is a mistake: a copied row, or two names for one server.
    """
    if old.name == new.name:
        said = f"the move {move.name} leads from the server {old.name} to itself"
        hint = f"name another new server; {_WITHIN_SERVER}"
    elif (old.address.lower(), old.port, old.jump) == (new.address.lower(), new.port, new.jump):
        said = f"the servers {old.name} and {new.name} of the move {move.name} have the same address"
        hint = f"correct the address of one of them; {_WITHIN_SERVER}"
    elif same_machine:
        said = f"the servers {old.name} and {new.name} of the move {move.name} are the same machine"
        hint = f"name a new server on another machine; {_WITHIN_SERVER}"
    else:
        return
    raise InputError(said, hint)


def _listed(place: str, fields: Mapping[str, str]) -> Listed:
    name = fields.get("name") or fields.get("address", "")
    profile = Profile(
        name=name,
        address=fields.get("address") or name,
        user=fields.get("user"),
        port=_port(fields.get("port")),
        identity_file=fields.get("identity_file"),
        jump=fields.get("jump"),
        rights=_rights(fields.get("rights")),
        database_user=fields.get("database_user") or "postgres",
        copy_address=fields.get("copy_address"),
    )
    for address in (profile.address, *([profile.copy_address] if profile.copy_address else [])):
        check_address(address)
    for user in (profile.user, profile.database_user):
        check_user(user)
    check_jumps(profile.jump)
    return Listed(place, profile, _move(name, fields))


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536):
        raise InputError(f"{text!r} is not a port number", "give a number from 1 to 65535")
    return int(text)


def _rights(text: str | None) -> Rights:
    try:
        return Rights(text) if text else Rights.SUDO
    except ValueError:
        raise InputError(f"{text!r} is not a valid value for rights", f"use one of: {', '.join(Rights)}") from None


def _move(server: str, fields: Mapping[str, str]) -> WantedMove | None:
    new, cluster = fields.get("new"), fields.get("cluster")
    if new is None and cluster is None:
        return None
    if new is None or cluster is None:
        missing = "new" if new is None else "cluster"
        raise InputError(f"the move of {server} has no {missing}", "a move needs both new and cluster")
    target = fields.get("target") or cluster
    for folder in (cluster, target):
        if not folder.startswith("/"):
            raise InputError(
                f"{folder!r} is not an absolute path", "give the full path on the server, beginning with /"
            )
    clean = cluster.rstrip("/") or "/"
    return WantedMove(fields.get("move") or name_of_move(server, clean), new, clean, target.rstrip("/") or "/")


def _refuse_other(each: Listed, servers: Mapping[str, Listed], moves: Mapping[str, Listed]) -> None:
    before = servers.get(each.profile.name)
    if before is not None and before.profile != each.profile:
        raise InputError(
            f"{each.profile.name} is described differently in {before.place}",
            "use the same description in all entries, or give one of them another name",
        )
    if each.move is not None and each.move.name in moves:
        raise InputError(
            f"the move {each.move.name} is already defined in {moves[each.move.name].place}",
            "give one of them another name",
        )
