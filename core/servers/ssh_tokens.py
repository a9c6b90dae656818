"""The TOKENS and environment variables of ssh_config(5), where and as OpenSSH expands them."""

import hashlib
import os
import re
import socket
from collections.abc import Container, Mapping
from pathlib import Path

from core.errors import InputError

_PROXY = frozenset("hnpr")
"""Of ProxyCommand and ProxyJump; `${VARIABLE}` is left to the shell that runs the command."""
_UNKNOWN = "ssh refuses it, too: see TOKENS in `man ssh_config`"


def tokens(*, host: str, name: str, port: int, user: str, local_user: str, jumps: str, alias: str) -> dict[str, str]:
    """What each letter stands for: `name` is the name as given, `host` what it leads to."""
    here = socket.gethostname()
    connection = hashlib.sha1(f"{here}{host}{port}{user}{jumps}".encode(), usedforsecurity=False).hexdigest()
    uid = str(os.getuid()) if hasattr(os, "getuid") else ""
    return {
        "h": host,
        "n": name,
        "p": str(port),
        "r": user,
        "u": local_user,
        "d": str(Path.home()),
        "i": uid,
        "j": jumps,
        "k": alias or name,
        "l": here,
        "L": here.partition(".")[0],
        "C": connection,
    }


def expand(keyword: str, text: str, known: Mapping[str, str]) -> str:
    """Tokens and `${VARIABLE}` in a path or an argument of a keyword.

    Raises:
        InputError: a token that has no meaning there, or a variable that is not set: ssh refuses both.
    """
    return _percent(keyword, re.sub(r"\$\{(\w+)\}", lambda found: _variable(keyword, found[1]), text), known, known)


def expand_proxy(command: str, known: Mapping[str, str]) -> str:
    """The tokens of a ProxyCommand; raises InputError for one that has no meaning there."""
    return _percent("ProxyCommand", command, known, _PROXY)


def _percent(keyword: str, text: str, known: Mapping[str, str], allowed: Container[str]) -> str:
    def meant(found: re.Match[str]) -> str:
        letter = found[1]
        if letter == "%":
            return "%"
        if letter not in allowed or letter not in known:
            raise InputError(
                f"{keyword} in the ssh configuration contains %{letter}, which is not defined there", _UNKNOWN
            )
        return known[letter]

    return re.sub(r"%(.?)", meant, text, flags=re.DOTALL)


def _variable(keyword: str, name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise InputError(f"{keyword} in the ssh configuration contains ${{{name}}}, which is not set", _UNKNOWN)
    return value
