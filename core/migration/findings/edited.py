"""Settings that were edited in the files of the old server and are not in force there, and the operator's choice.

A start reads the files. If the values in force were chosen, the new server gets them in postgresql.auto.conf, which
overrides every other file (since 9.4). The old server gets them as options of its start, if pg_ctl starts it. Options
are stored in postmaster.opts between double quotes without escapes, and `pg_ctl restart` passes them to a shell. So
values with special characters cannot be options.
"""

import re
from dataclasses import replace
from ipaddress import ip_address
from posixpath import normpath

from core.facts.catalog import Edited, Setting
from core.facts.model import Cluster
from core.migration.findings.releases import version_numbers
from core.migration.model.move import EditedSettings, Move

SOCKETS = frozenset({"unix_socket_directories", "unix_socket_directory"})
"""The setting of the directories of the Unix sockets. Before 9.3 it has the second name, and one directory."""
_SEVERAL_SOCKETS_SINCE = (9, 3)
WHERE_IT_LISTENS = ("port", "listen_addresses", *sorted(SOCKETS))
_AUTO_CONF_SINCE = (9, 4)
_NOT_IN_OPTIONS = frozenset('"$`\\')
_EVERY_ADDRESS = {4: "0.0.0.0", 6: "::"}  # noqa: S104  names of addresses, nothing is bound


def socket_setting(cluster: Cluster) -> str:
    """Return the name of the setting of the directories of the Unix sockets in the cluster's major version."""
    several = version_numbers(cluster.series) >= _SEVERAL_SOCKETS_SINCE
    return "unix_socket_directories" if several else "unix_socket_directory"


def list_socket_folders(cluster: Cluster) -> tuple[str, ...]:
    """Return the directories of the cluster's Unix sockets: by its settings, else as it was seen running."""
    named = next((cluster.settings[each] for each in sorted(SOCKETS) if each in cluster.settings), None)
    folders = [cluster.socket_directory or ""] if named is None else split_folders(named)
    return tuple(dict.fromkeys(normpath(each) for each in folders if each.startswith("/")))


def split_folders(value: str) -> list[str]:
    """Split a list of directories as PostgreSQL does: at commas, but not within double quotes.

    Source: PostgreSQL's varlena.c, SplitDirectoriesString.
    """
    found = re.finditer(r'\s*(?:"((?:[^"]|"")*)"|([^,"][^,]*))\s*(?:,|$)', value)
    return [(each[1] or "").replace('""', '"') or (each[2] or "").strip() for each in found]


def predict_new_cluster(move: Move, cluster: Cluster) -> Cluster:
    """Return the cluster with the port and addresses that it has after a start with the chosen values."""
    if move.edited is not EditedSettings.FILE:
        return cluster
    in_file = {each.name: each.in_file for each in cluster.edited or () if each.name in WHERE_IT_LISTENS}
    values = {name: value for name, value in in_file.items() if value is not None}
    port = int(values["port"]) if "port" in values else cluster.port
    return replace(cluster, port=port, settings={**cluster.settings, **values})


def list_settings_kept_in_force(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """Return the settings, `NAME=VALUE`, that both servers get so that the values in force are kept."""
    if move.edited is not EditedSettings.IN_FORCE:
        return ()
    return tuple(
        f"{each.name}={each.in_force}" for each in cluster.edited or () if _why_not_kept(cluster, each) is None
    )


def list_settings_for_old_start(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """Return those of `list_settings_kept_in_force` that pg_ctl can give the old server as options."""
    return tuple(each for each in list_settings_kept_in_force(move, cluster) if not _NOT_IN_OPTIONS & set(each))


def list_settings_missing_at_old_start(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """Return the names of the settings that pg_ctl cannot give the old server as options."""
    given = set(list_settings_for_old_start(move, cluster))
    return tuple(each.partition("=")[0] for each in list_settings_kept_in_force(move, cluster) if each not in given)


def list_settings_not_kept(cluster: Cluster) -> tuple[str, ...]:
    """Return the names of settings that no server can be given, each with the reason in parentheses."""
    why = ((each.name, _why_not_kept(cluster, each)) for each in cluster.edited or ())
    return tuple(f"{name} ({reason})" for name, reason in why if reason is not None)


def changes_listening(edited: Edited) -> bool:
    """Return whether a start with the files would no longer listen at each address in force."""
    if edited.name not in WHERE_IT_LISTENS or edited.in_force is None or edited.in_file is None:
        return False
    in_force, in_file = _split_list(edited.in_force), _split_list(edited.in_file)
    if edited.name in SOCKETS:
        return not {normpath(each) for each in in_force} <= {normpath(each) for each in in_file}
    if edited.name == "port":
        return edited.in_force != edited.in_file
    return not all(each in in_file or _is_covered(each, in_file) for each in in_force)


def _split_list(value: str) -> set[str]:
    return {each.strip().strip('"') for each in value.split(",") if each.strip()}


def _is_covered(address: str, listening: set[str]) -> bool:
    try:
        wildcards = {_EVERY_ADDRESS[ip_address(address).version]}
    except ValueError:  # a name, or *
        wildcards = set(_EVERY_ADDRESS.values())
    return "*" in listening or wildcards <= listening


_MEMORY_UNITS = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_TIME_UNITS = {"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_WORDS = {"on": "on", "true": "on", "yes": "on", "1": "on", "off": "off", "false": "off", "no": "off", "0": "off"}


def display_value(value: str, unit: str) -> str:
    """Return a value of pg_settings with its unit, as SHOW prints it.

    Args:
        value: the value, which counts that unit: `16384`.
        unit: the unit of the setting: `8kB`; empty if it has none.
    """
    base = _size_of_unit(unit)
    if base is None or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) or float(value) == 0:
        return value  # such as -1, which is no size or duration
    sizes, size = base
    if "." in value:
        return f"{value}{unit}"
    total = int(value) * size
    name = next(each for each in sorted(sizes, key=sizes.__getitem__, reverse=True) if total % sizes[each] == 0)
    return f"{total // sizes[name]}{name}"


def canonical_value(value: str, unit: str) -> str:
    """Return the value as the server keeps it if it is a switch or a number, which may be typed with a unit: `128MB`.

    Args:
        value: the value, as pg_settings has it or as somebody has typed it.
        unit: the unit of the setting; empty if it has none.
    """
    typed, base = re.fullmatch(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", value), _size_of_unit(unit)
    if re.fullmatch(r"\s*0[0-7]+\s*", value):  # as for a mode of files
        return str(int(value, 8))
    if base is None or typed is None:
        return _WORDS.get(value.strip().lower(), value.strip())
    sizes, size = base
    if typed[2] not in ("", *sizes):
        return value.strip()
    number = float(typed[1]) * (sizes[typed[2]] / size if typed[2] else 1)
    return f"{number:.15g}"


def _size_of_unit(unit: str) -> tuple[dict[str, int], int] | None:
    """Return the units in which a setting of this unit can be typed, and how many of the smallest one the unit has."""
    found = re.fullmatch(r"([0-9]*)([A-Za-z]+)", unit)
    sizes = next((each for each in (_MEMORY_UNITS, _TIME_UNITS) if found is not None and found[2] in each), None)
    return None if found is None or sizes is None else (sizes, int(found[1] or 1) * sizes[found[2]])


def list_settings_from_files(move: Move, cluster: Cluster) -> tuple[str, ...]:
    """Return the names of the edited settings if the values in the files were chosen."""
    return tuple(each.name for each in cluster.edited or ()) if move.edited is EditedSettings.FILE else ()


def _why_not_kept(cluster: Cluster, edited: Edited) -> str | None:
    """Return why no server can be given the value in force, or None if it can."""
    if version_numbers(cluster.series) < _AUTO_CONF_SINCE:
        return "PostgreSQL has no postgresql.auto.conf before 9.4"
    if edited.name in OF_THE_LAYOUT:
        return "each server has its own value"
    if edited.in_force is None:
        return "its values may be secret"
    if any(each < " " and each != "\t" for each in edited.in_force):
        return "its value contains a line break or another control character"
    return None


OF_THE_LAYOUT = frozenset({"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"})
"""Settings that each server has for itself: they are copied with the configuration, or its service names them."""


def command_line_settings(cluster: Cluster) -> tuple[Setting, ...]:
    """Return the settings on the command line of the running server, except those in `OF_THE_LAYOUT`."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    return tuple(each for each in settings if each.source == "command line" and each.name not in OF_THE_LAYOUT)


def environment_settings(cluster: Cluster) -> frozenset[str]:
    """Return the names of settings that the server got from environment variables (PGPORT, PGDATESTYLE, …)."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    return frozenset(each.name for each in settings if each.source == "environment variable")


def typed_options(cluster: Cluster) -> tuple[str, ...]:
    """Return the settings of the command line as `NAME=VALUE`, for a person who starts the server.

    An ellipsis stands for a value that may be secret or that does not fit on a line.
    """
    return tuple(f"{each.name}={_displayed_value(each.value)}" for each in command_line_settings(cluster))


def _displayed_value(value: str | None) -> str:
    return value if value is not None and value.isprintable() else "…"
