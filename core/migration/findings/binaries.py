"""What the old cluster needs of the new server's binaries: libraries, settings, paths and locales."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.facts.model import Cluster
from core.migration.findings.data_roots import required_files
from core.migration.findings.edited import split_folders
from core.migration.findings.host_names import list_named_resources
from core.migration.findings.pgbackrest import configuration_files

PRELOADS = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries")
_PATHS = frozenset(
    {
        *(
            "log_directory",
            "stats_temp_directory",
            "unix_socket_directories",
            "external_pid_file",
            "krb_server_keyfile",
        ),
        *("ssl_cert_file", "ssl_key_file", "ssl_ca_file", "ssl_crl_file", "ssl_crl_dir", "ssl_dh_params_file"),
    }
)
_NOT_TRIED = _PATHS | {
    *("data_directory", "config_file", "hba_file", "ident_file", "port", *PRELOADS),
    *("block_size", "wal_block_size", "wal_segment_size", "segment_size", "server_version", "data_checksums"),
}
"""Settings that are not tried: they name a path, are tried as libraries, or only report a fact."""


@dataclass(frozen=True, slots=True)
class RequiredBinaries:
    """What the old cluster needs of the new server's binaries.

    Attributes:
        libraries: the names of libraries, as LOAD takes them.
        preloads: the libraries that the server loads when it starts.
        settings: settings, `NAME=VALUE`.
        paths: absolute paths, programs by name, and the resources of `host_names`.
        icu: ICU locales.
        pgbackrest: configuration files of pgBackRest, and directories of such files.
    """

    libraries: tuple[str, ...] = ()
    preloads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    icu: tuple[str, ...] = ()
    pgbackrest: tuple[str, ...] = ()


def collect_required_binaries(cluster: Cluster) -> RequiredBinaries:
    """Return what the cluster needs of its binaries, as far as its facts tell."""
    catalogs = [each.catalogs for each in cluster.databases if each.catalogs is not None]
    at_start, per_session = list_preloaded_libraries(cluster)
    locales = {
        collation.locale for each in catalogs for collation in each.collations if collation.provider == "icu"
    } | {each.locale for each in cluster.databases if each.provider == "icu" and each.locale is not None}
    resources = list_named_resources(cluster)
    closed = cluster.wide.closed if cluster.wide is not None else ()
    locales |= {each.locale for each in closed if each.provider == "icu" and each.locale is not None}
    return RequiredBinaries(
        libraries=_unique([*(library.name for each in catalogs for library in each.libraries), *per_session]),
        preloads=at_start,
        settings=_unique(
            [
                *(f"{name}={value}" for name, value in _changed_settings(cluster) if name not in _NOT_TRIED),
                *(each.word for each in resources if each.setting),
            ]
        ),
        paths=_unique(
            [
                *list_outside_paths(cluster),
                *required_files(cluster),
                *(each.word for each in resources if not each.setting),
            ]
        ),
        icu=_unique(locales),
        pgbackrest=configuration_files(cluster.wide.pgbackrest) if cluster.wide is not None else (),
    )


def _changed_settings(cluster: Cluster) -> list[tuple[str, str]]:
    """Return the settings that are not at their defaults; without SQL, those that matter for a move."""
    if cluster.wide is None:
        return list(cluster.settings.items())
    return [
        (each.name, each.value) for each in cluster.wide.settings if each.value is not None and "." not in each.name
    ]


def list_outside_paths(cluster: Cluster) -> dict[str, str]:
    """Return absolute paths outside the data directory and programs, each with the setting that names it."""
    found: dict[str, str] = {}
    for name, value in (*cluster.settings.items(), *_changed_settings(cluster)):
        if name not in _PATHS:
            continue
        words = split_folders(value) if name == "unix_socket_directories" else [value]
        for word in words:
            path = posixpath.dirname(word) if name == "external_pid_file" else word
            if path.startswith("/") and not f"{path}/".startswith(f"{cluster.data_directory}/"):
                found.setdefault(path, name)
    if cluster.wide is not None:
        found |= dict.fromkeys(cluster.wide.programs, "a command")
    return found


def list_preloaded_libraries(cluster: Cluster) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the libraries that the server loads when it starts, and those that each session loads."""
    lists: list[tuple[str, str]] = [
        (name, value) for name, value in cluster.settings.items() if name in PRELOADS and value
    ]
    if cluster.wide is not None:
        lists += [(each.name, each.value) for each in cluster.wide.settings if each.name in PRELOADS and each.value]
    found: dict[str, list[str]] = {"start": [], "session": []}
    for name, value in lists:
        words = [word.strip().strip('"') for word in value.split(",") if word.strip()]
        if name == "shared_preload_libraries":
            found["start"] += words
        else:
            as_named = name == "session_preload_libraries"
            found["session"] += [word if as_named or "/" in word else f"$libdir/plugins/{word}" for word in words]
    return _unique(found["start"]), _unique(found["session"])


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    """Return each word once, in order. Words that a line of SQL cannot contain are left out and so stay unknown."""
    return tuple(sorted({word for word in words if word.isprintable() and not re.search(r"['\\]", word)}))
