"""The settings that a command line gives to the server program, from the words of a unit's ExecStart.

Options as in postgres(1) and pg_ctl(1).
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

from core.errors import InputError
from core.facts.cluster_queries import UNSHOWN
from core.servers.shell import split

Options = tuple[tuple[str, str | None], ...]
"""Settings by name, in the words of the command line; None for one that may hold a secret."""

_SERVERS = ("postgres", "postmaster", "edb-postgres")
_VALUED = {
    "-B": "shared_buffers",
    "-N": "max_connections",
    "-S": "work_mem",
    "-W": "post_auth_delay",
    "-h": "listen_addresses",
    "-k": "unix_socket_directories",
    "-p": "port",
}
_FLAGS = {
    "-F": ("fsync", "off"),
    "-O": ("allow_system_table_mods", "on"),
    "-P": ("ignore_system_indexes", "on"),
    "-i": ("listen_addresses", "*"),
    "-l": ("ssl", "on"),
}


def options_of(command: Sequence[str]) -> Options | None:
    """Return the settings that a command gives the server.

    None if that is unclear: the command is a script, or it has a variable or another kind of option.

    Args:
        command: the words of the command, with known variables replaced.
    """
    program = posixpath.basename(command[0].lstrip("@-:+!")) if command else ""
    try:
        if program in _SERVERS:
            given = dict(_settings(command[1:]))
        elif program == "pg_ctl":
            given = dict(_settings([word for text in _pg_ctl_options(command[1:]) for word in split(text)]))
        else:
            return None
    except (InputError, ValueError):
        return None
    return tuple((name, None if _may_be_secret(name) else value) for name, value in sorted(given.items()))


def _pg_ctl_options(words: Sequence[str]) -> Iterator[str]:
    """Yield what -o of pg_ctl passes to the server."""
    following = iter(words)
    for word in following:
        if word in ("-o", "--options"):
            yield _next_value(following)
        elif word.startswith("--options="):
            yield word.partition("=")[2]
        elif word.startswith("-o"):
            yield word[2:]
        elif word.startswith("$"):
            raise ValueError(word)


def _settings(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each setting with its value.

    Raises:
        ValueError: a word has no clear meaning.
    """
    following = iter(words)
    for word in following:
        short, joined = word[:2], word[2:]
        if word == "-D":
            _next_value(following)
        elif short == "-D":
            continue
        elif short in ("--", "-c"):
            name, equals, value = (joined or _next_value(following)).partition("=")
            if not equals:
                raise ValueError(word)
            yield name.replace("-", "_").lower(), _without_systemd_escapes(value)
        elif short in _VALUED:
            yield _VALUED[short], _without_systemd_escapes(joined or _next_value(following))
        elif word in _FLAGS:
            yield _FLAGS[word]
        else:
            raise ValueError(word)


def _next_value(following: Iterator[str]) -> str:
    """Return the value of an option; raise ValueError if there is none."""
    value = next(following, None)
    if value is None:
        raise ValueError("an option without its value")
    return value


def _without_systemd_escapes(value: str) -> str:
    """Return the value without systemd's escapes; raise ValueError for a variable or specifier."""
    if "$" in value or re.search(r"%(?!%)", value.replace("%%", "")):
        raise ValueError(value)
    return value.replace("%%", "%")


def _may_be_secret(name: str) -> bool:
    return re.search(UNSHOWN, name) is not None and not re.fullmatch("ssl.*file", name)
