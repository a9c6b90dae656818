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
    """The settings that a command gives; None where it does not tell: a script, a variable, an option of another kind.

    `command`: its words, with the variables that are known put in.
    """
    program = posixpath.basename(command[0].lstrip("@-:+!")) if command else ""
    try:
        if program in _SERVERS:
            given = dict(_settings(command[1:]))
        elif program == "pg_ctl":
            given = dict(_settings([word for text in _of_pg_ctl(command[1:]) for word in split(text)]))
        else:
            return None
    except (InputError, ValueError):
        return None
    return tuple((name, None if _may_be_secret(name) else value) for name, value in sorted(given.items()))


def _of_pg_ctl(words: Sequence[str]) -> Iterator[str]:
    """What -o of pg_ctl hands to the server."""
    following = iter(words)
    for word in following:
        if word in ("-o", "--options"):
            yield _next(following)
        elif word.startswith("--options="):
            yield word.partition("=")[2]
        elif word.startswith("-o"):
            yield word[2:]
        elif word.startswith("$"):
            raise ValueError(word)


def _settings(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each setting with its value.

    Raises:
        ValueError: a word does not tell.
    """
    following = iter(words)
    for word in following:
        short, joined = word[:2], word[2:]
        if word == "-D":
            _next(following)
        elif short == "-D":
            continue
        elif short in ("--", "-c"):
            name, equals, value = (joined or _next(following)).partition("=")
            if not equals:
                raise ValueError(word)
            yield name.replace("-", "_").lower(), _told(value)
        elif short in _VALUED:
            yield _VALUED[short], _told(joined or _next(following))
        elif word in _FLAGS:
            yield _FLAGS[word]
        else:
            raise ValueError(word)


def _next(following: Iterator[str]) -> str:
    """The value of an option; raises ValueError where there is none."""
    value = next(following, None)
    if value is None:
        raise ValueError("an option without its value")
    return value


def _told(value: str) -> str:
    """The value without systemd's escapes; raises ValueError where a variable or a specifier stands in it."""
    if "$" in value or re.search(r"%(?!%)", value.replace("%%", "")):
        raise ValueError(value)
    return value.replace("%%", "%")


def _may_be_secret(name: str) -> bool:
    return re.search(UNSHOWN, name) is not None and not re.fullmatch("ssl.*file", name)
