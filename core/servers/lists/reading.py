"""A list of servers, whichever of the known kinds it is: told by its own words, not by the name of its file."""

import re
from itertools import pairwise
from pathlib import Path

from core.errors import InputError, ParseError
from core.files import is_same_file
from core.servers.lists.ansible import parse_ini, parse_json
from core.servers.lists.csv_file import is_csv, parse_csv
from core.servers.lists.model import ServerList, server_list
from core.servers.shell import quoted
from core.servers.ssh_hosts import config_file, named_hosts

_EXPECTED = "a CSV whose first row names the columns, an Ansible inventory, or your own ~/.ssh/config"
_YAML = re.compile(r"---|[\w.-]+:(\s*#.*)?")
_SSH_BLOCK = re.compile(r"\s*(?:Host|Match)\s+\S", re.IGNORECASE)
_SSH_OPTION = re.compile(r"\s+[A-Z]\w+[ =]", re.IGNORECASE)


def read_list(name: str, text: str) -> ServerList:
    """The servers of a list. `name`: of its file, `-` for what came by a pipe.

    Raises:
        InputError: no server stands in it; it is an ssh configuration that ssh would not use, or YAML.
    """
    found = _read(name, text)
    if found.listed:
        return found
    if not found.refused:
        raise ParseError(f"there is no server in {name}", f"expected: {_EXPECTED}")
    first = found.refused[0]
    raise ParseError(f"there is no server in {name}: {first.place}: {first.reason}", f"expected: {_EXPECTED}")


def _read(name: str, text: str) -> ServerList:
    used = config_file()
    if used is not None and name != "-" and is_same_file(Path(name), used):
        return server_list([(str(used), {"name": host}) for host in named_hosts()])
    if text.lstrip().startswith("{"):
        return server_list(*parse_json(text))
    if is_csv(text):
        return server_list(list(parse_csv(text)))
    said = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if said and _YAML.fullmatch(said[0].strip()):
        raise InputError(
            f"{name} is an inventory in YAML, which only Ansible can read",
            f"ansible-inventory -i {quoted(name)} --list | pghaul server import -",
        )
    if any(_SSH_BLOCK.match(line) and _SSH_OPTION.match(below) for line, below in pairwise(said)):
        raise InputError(
            f"{name} is an ssh configuration file that ssh does not use",
            f"include it in ~/.ssh/config, or set PGHAUL_SSH_CONFIG={quoted(name)}",
        )
    return server_list(*parse_ini(text))
