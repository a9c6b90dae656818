"""Settings that were edited in the files of the old server and are not in force there, and which values are to hold.

A start reads the files. Where what is in force is to hold, the new server is given it in postgresql.auto.conf, which is
stronger than every other file (since 9.4), and the old one as options of its start, where pg_ctl starts it. Those stand
in postmaster.opts between double quotes, which nothing escapes, and so `pg_ctl restart` hands them to a shell.
"""

from dataclasses import replace
from ipaddress import ip_address
from posixpath import normpath

from core.facts.catalog import Edited
from core.facts.model import Cluster
from core.migration.findings.releases import numbers
from core.migration.findings.start_options import OF_THE_LAYOUT
from core.migration.model.move import EditedSettings, Move

SOCKETS = frozenset({"unix_socket_directories", "unix_socket_directory"})
"""The setting of the folders of the Unix sockets; before 9.3 it has the second name, and one folder."""
WHERE_IT_LISTENS = ("port", "listen_addresses", *sorted(SOCKETS))
_AUTO_CONF_SINCE = (9, 4)
_NOT_IN_OPTIONS = frozenset('"$`\\')
_EVERY_ADDRESS = {4: "0.0.0.0", 6: "::"}  # noqa: S104  names of addresses, nothing is bound


def predict_new_cluster(move: Move, cluster: Cluster) -> Cluster:
    """The cluster as it will listen once a server has been started with what was chosen."""
    if move.edited is not EditedSettings.FILE:
        return cluster
    found = {each.name: each.in_file for each in cluster.edited or () if each.name in WHERE_IT_LISTENS}
    values = {name: value for name, value in found.items() if value is not None}
    port = int(values["port"]) if "port" in values else cluster.port
    return replace(cluster, port=port, settings={**cluster.settings, **values})


def kept_in_force(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """The settings, `NAME=VALUE`, which both servers are given so that what is in force holds."""
    if move.edited is not EditedSettings.IN_FORCE:
        return ()
    return tuple(f"{each.name}={each.in_force}" for each in cluster.edited or () if _hindrance(cluster, each) is None)


def given_back(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """Those of `kept_in_force` that the start of the old server is given, where pg_ctl starts it."""
    return tuple(each for each in kept_in_force(move, cluster) if not _NOT_IN_OPTIONS & set(each))


def not_given_back(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """The names of the others."""
    given = set(given_back(move, cluster))
    return tuple(each.partition("=")[0] for each in kept_in_force(move, cluster) if each not in given)


def not_kept(cluster: Cluster) -> tuple[str, ...]:
    """Those that no server can be given, each with the reason behind its name."""
    why = ((each.name, _hindrance(cluster, each)) for each in cluster.edited or ())
    return tuple(f"{name} ({reason})" for name, reason in why if reason is not None)


def leads_away(edited: Edited) -> bool:
    """Whether a server that listens by the files would not listen at each place that is in force."""
    if edited.name not in WHERE_IT_LISTENS or edited.in_force is None or edited.in_file is None:
        return False
    then, coming = _listed(edited.in_force), _listed(edited.in_file)
    if edited.name in SOCKETS:
        return not {normpath(each) for each in then} <= {normpath(each) for each in coming}
    if edited.name == "port":
        return edited.in_force != edited.in_file
    return not all(each in coming or _covered(each, coming) for each in then)


def _listed(value: str) -> set[str]:
    return {each.strip().strip('"') for each in value.split(",") if each.strip()}


def _covered(address: str, by: set[str]) -> bool:
    try:
        every = {_EVERY_ADDRESS[ip_address(address).version]}
    except ValueError:  # a name, or *
        every = set(_EVERY_ADDRESS.values())
    return "*" in by or every <= by


def from_files(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """The names of those of which the files hold, as was chosen."""
    return tuple(each.name for each in cluster.edited or ()) if move.edited is EditedSettings.FILE else ()


def _hindrance(cluster: Cluster, edited: Edited) -> str | None:
    """Why no server can be given what is in force; None: it can."""
    if numbers(cluster.series) < _AUTO_CONF_SINCE:
        return "PostgreSQL has no postgresql.auto.conf before 9.4"
    if edited.name in OF_THE_LAYOUT:
        return "each server has its own value"
    if edited.in_force is None:
        return "its values may be secret"
    if any(each < " " and each != "\t" for each in edited.in_force):
        return "its value contains a line break or another control character"
    return None
