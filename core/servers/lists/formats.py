"""The formats of a list of servers: CSV and Ansible's inventories, told apart by their words, not by file names."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from core.errors import InputError, ParseError
from core.files import is_same_file
from core.servers.lists.model import FIELDS, MOST, MOST_GROUPS, MOST_NAMED, Fields, Refused, ServerList, server_list
from core.servers.shell import quoted, split
from core.servers.ssh_config import config_file, named_hosts

_DELIMITERS = ",;\t"
_NAMES = {"name", "address"}
_SHOWN = 5


def is_csv(text: str) -> bool:
    """Whether the first line names columns of ours: the one of the servers, or any among several."""
    head = _head(text)
    return bool(_NAMES & set(head)) or (len(head) > 1 and bool(set(FIELDS) & set(head)))


def parse_csv(text: str) -> Iterator[Fields]:
    """The entries; `place` is the line in which each ends.

    Raises:
        ParseError: no column is known to hold the addresses; or a line is none of a CSV: a quotation mark that is not
            closed makes one of megabytes.
    """
    names = _head(text)
    _refuse_other_columns(names)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        next(rows, None)
        for row in rows:
            fields = {name: cell.strip() for name, cell in zip(names, row, strict=False) if name in FIELDS}
            found = {name: cell for name, cell in fields.items() if cell}
            if found:
                yield f"line {rows.line_num}", found
    except csv.Error as error:
        raise ParseError(
            f"line {rows.line_num} of the list is not valid CSV: {error}", "close or remove the quotation mark"
        ) from error


def _refuse_other_columns(names: Sequence[str]) -> None:
    """Where no column is called address, one that is not known may be it: the names would be taken for addresses."""
    unknown = [repr(name[:60]) for name in names if name not in FIELDS]
    if "address" in names or ("name" in names and not unknown):
        return
    named = f"; unknown columns: {', '.join(unknown[:_SHOWN])}" if unknown else ""
    raise ParseError(
        f"the list has no column with the name address{named}",
        "name the column of addresses address; if the names are the addresses, remove the other columns",
    )


def _head(text: str) -> list[str]:
    first = text.partition("\n")[0].strip()
    return [name.strip().strip('"').lower().replace(" ", "_") for name in first.split(_delimiter(text))]


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


# An Ansible inventory: the INI form, and the JSON that `ansible-inventory --list` prints.
#
# Sources: docs.ansible.com, "How to build your inventory" (ranges, groups of groups, how variables are merged) and
# "Developing dynamic inventory" (the JSON). Of a host's variables those are read that say how ssh reaches it, and ours:
# pghaul_rights, pghaul_database_user, pghaul_copy_address, pghaul_new, pghaul_cluster, pghaul_target, pghaul_move.
# Passwords are not read.

_BRACKETED = re.compile(r"\[[^\]]*(?:\]\s*(?:[#;].*)?)?")
_SECTION = re.compile(r"\[(?P<group>[^:\]]+)(?::(?P<kind>\w+))?\]\s*(?:[#;].*)?")
_RANGE = re.compile(r"\[(\d+|[A-Za-z]):(\d+|[A-Za-z])(?::(\d{1,9}))?\]")
_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:]+):(?P<port>\d{1,5})")
_VARIABLES = {
    "address": ("ansible_host", "ansible_ssh_host"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "identity_file": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
    **{
        name: (f"pghaul_{name}",)
        for name in ("jump", "rights", "database_user", "copy_address", "new", "cluster", "target", "move")
    },
}
_ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
_COMMAND_HINT = "move it from the inventory to ~/.ssh/config, for that host"
_BY_SSH = {"ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh", "ansible.builtin.paramiko_ssh"}
_DEEPEST = 50


@dataclass
class _Inventory:
    """What a file says. `places`: where each host first stands; `hosts`, `children`: by group; `named`: how often."""

    places: dict[str, str] = field(default_factory=dict)
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    hosts: dict[str, list[str]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, dict[str, str]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    named: int = 0

    def count(self, more: int) -> None:
        """So many hosts are named, those again too that are known: a short text can name billions."""
        if self.named + more > MOST_NAMED:
            raise InputError(f"the list names servers more than {MOST_NAMED:,} times", "shorten a range")
        self.named += more

    def add_group(self, group: str) -> None:
        """A group, whatever is said of it."""
        if group not in self.hosts and len(self.hosts) >= MOST_GROUPS:
            raise InputError(
                f"the list has more than {MOST_GROUPS:,} groups", "leave out hosts that are not PostgreSQL servers"
            )
        self.hosts.setdefault(group, [])

    def add(self, host: str, group: str, place: str) -> None:
        """A host of a group."""
        if host not in self.places and len(self.places) >= MOST:
            raise InputError(f"the list has more than {MOST} servers", "shorten a range")
        self.places.setdefault(host, place)
        self.add_group(group)
        self.hosts[group].append(host)

    def entries(self) -> Iterator[Fields]:
        """Every host with what its groups and it itself say: the nearer word counts."""
        groups = self._groups_of_hosts()
        for host, place in self.places.items():
            merged: dict[str, str] = {}
            for group in groups.get(host, ()):
                merged |= self.variables.get(group, {})
            merged |= self.own.get(host, {})
            connection = merged.get("ansible_connection", "ssh")
            if connection not in _BY_SSH:
                reason = f"its connection type is {connection}, not ssh"
                hint = "set ansible_connection to ssh if ssh reaches it, or leave it out of the list"
                self.refused.append(Refused(place, host, reason, hint))
                continue
            fields = _fields(host, merged)
            if "jump" not in fields and (named := _with_command(merged)) is not None:
                self.refused.append(Refused(place, host, f"its {named} contains a ProxyCommand", _COMMAND_HINT))
                continue
            yield place, fields

    def _groups_of_hosts(self) -> dict[str, list[str]]:
        """Of each host its groups, the farthest first; of those that are as far, by name, as Ansible has it."""
        depths = self._depths()
        parents: dict[str, list[str]] = {}
        for group, children in self.children.items():
            for child in children:
                parents.setdefault(child, []).append(group)
        around = {group: {"all", *_upwards(group, parents)} for group in self.hosts}
        found: dict[str, set[str]] = {}
        for group, hosts in self.hosts.items():
            for host in hosts:
                found.setdefault(host, set()).update(around[group])
        return {host: sorted(names, key=lambda name: (depths.get(name, 1), name)) for host, names in found.items()}

    def _depths(self) -> dict[str, int]:
        """How many groups lie above each at the most."""
        depths = {"all": 0}
        for _ in range(_DEEPEST):
            before = dict(depths)
            for group, children in self.children.items():
                for child in children:
                    depths[child] = max(depths.get(child, 1), depths.get(group, 1) + 1)
            if depths == before:
                return depths
        raise ParseError(
            f"groups of the inventory contain each other, or are nested {_DEEPEST} levels deep",
            f"check the children of {', '.join(sorted(depths)[:5])}",
        )


def parse_json(text: str) -> tuple[list[Fields], list[Refused]]:
    """The hosts of `ansible-inventory --list`; raises ParseError where it is none."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(
            f"the list begins like JSON, but is not valid JSON: {error}",
            "print it again: `ansible-inventory -i FILE --list`",
        ) from error
    if not isinstance(document, dict):
        raise ParseError(
            "the list is JSON, but not an inventory", "print the inventory with: `ansible-inventory -i FILE --list`"
        )
    made = _Inventory()
    for group, value in document.items():
        # older scripts print a group as a plain list of its hosts
        said = {"hosts": value} if isinstance(value, list) else value
        if not isinstance(said, dict) or group == "_meta":
            continue
        made.variables[group] = _texts(said.get("vars"))
        made.children[group] = _names(said.get("children"))
        for host in _names(said.get("hosts")):
            made.add(host, group, f"group {group}")
    meta = document.get("_meta")
    known = meta.get("hostvars") if isinstance(meta, dict) else None
    for host, value in known.items() if isinstance(known, dict) else ():
        made.add(host, "all", "hostvars")
        made.own[host] = _texts(value)
    return list(made.entries()), made.refused


def parse_ini(text: str) -> tuple[list[Fields], list[Refused]]:
    """The hosts of the INI form; a line that is none of it is refused by itself."""
    made = _Inventory()
    group, kind = "ungrouped", "hosts"
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        place = f"line {number}"
        if not line or line[0] in "#;":
            continue
        try:
            if _BRACKETED.fullmatch(line):
                group, kind = _section(line)
                made.add_group(group)
            else:
                _TAKE[kind](made, group, line, place)
        except InputError as error:
            made.refused.append(Refused(place, "", error.message, error.hint))
            if _BRACKETED.fullmatch(line):  # what follows belongs to nobody knows what
                kind = "nothing"
    return list(made.entries()), made.refused


def _section(line: str) -> tuple[str, str]:
    match = _SECTION.fullmatch(line)
    kind = (match["kind"] or "hosts") if match is not None else ""
    if match is None or kind not in {"hosts", "vars", "children"}:
        raise InputError(f"{line[:60]!r} is not a section", "write it as [group], [group:vars] or [group:children]")
    return match["group"].strip(), kind


def _take_host(made: _Inventory, group: str, line: str, place: str) -> None:
    pattern, *words = _words(line)
    said = dict(_assignment(word) for word in words)
    for host in _expanded(pattern, made.count):
        port = _PORT.fullmatch(host)
        name = host if port is None else port["host"].strip("[]")
        made.add(name, group, place)
        made.own.setdefault(name, {}).update(said if port is None else {"ansible_port": port["port"], **said})


def _take_variable(made: _Inventory, group: str, line: str, _place: str) -> None:
    name, value = _assignment(line)
    words = _words(value) if value[:1] in {"'", '"'} else [value]
    made.variables.setdefault(group, {})[name] = words[0] if len(words) == 1 else value


def _take_child(made: _Inventory, group: str, line: str, _place: str) -> None:
    child = _words(line)[0]
    made.add_group(child)
    made.children.setdefault(group, []).append(child)


def _take_nothing(_made: _Inventory, _group: str, _line: str, _place: str) -> None:
    """What stands below a section that is none: the section was refused already."""


_TAKE = {"hosts": _take_host, "vars": _take_variable, "children": _take_child, "nothing": _take_nothing}


def _words(line: str) -> list[str]:
    try:
        words = split(line, comments=True)
    except InputError as error:
        raise InputError(f"the closing quotation mark is missing in {line[:60]!r}", "add the quotation mark") from error
    if not words:
        raise InputError(f"{line[:60]!r} contains no name", "write the name of a server or of a group")
    return words


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{text[:60]!r} is not a variable", "write it as name=value")
    return name.strip(), value.strip()


def _expanded(pattern: str, counted: Callable[[int], None]) -> list[str]:
    """`db[01:03].lan` -> db01.lan, db02.lan, db03.lan; several ranges each with each. None is made before `counted`."""
    parts: list[Iterable[str]] = []
    at, count = 0, 1
    for match in _RANGE.finditer(pattern):
        length, values = _values(*match.groups())
        count *= length
        if count > MOST:
            raise InputError(f"{pattern[:60]!r} stands for more than {MOST} servers", "write a shorter range")
        parts += [[pattern[at : match.start()]], values]
        at = match.end()
    counted(count)
    return ["".join(each) for each in product(*parts, [pattern[at:]])]


def _values(first: str, last: str, step: str | None) -> tuple[int, Iterable[str]]:
    """How many a range has, and which."""
    by = int(step or 1)
    if first.isdigit() and last.isdigit() and len(first) <= 9 and len(last) <= 9 and by:
        width = len(first) if first.startswith("0") else 0
        numbers = range(int(first), int(last) + 1, by)
        if 0 < len(numbers) <= MOST:
            return len(numbers), (f"{number:0{width}d}" for number in numbers)
    elif first.isalpha() and last.isalpha() and ord(first) <= ord(last) and by:
        codes = range(ord(first), ord(last) + 1, by)
        return len(codes), map(chr, codes)
    raise InputError(f"[{first}:{last}] is not a range of at most {MOST} servers", "write it as [01:50] or [a:f]")


def _upwards(group: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    found, ahead = set[str](), [group]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += parents.get(name, ())
    return found


def _names(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | dict) else []


def _texts(value: Any) -> dict[str, str]:
    """The variables that are a word or a number; what is encrypted is neither."""
    found = value.items() if isinstance(value, dict) else ()
    return {name: str(each) for name, each in found if isinstance(each, str | int) and not isinstance(each, bool)}


def _fields(host: str, variables: Mapping[str, str]) -> dict[str, str]:
    fields = {"name": host}
    for name, known in _VARIABLES.items():
        said = next((variables[each] for each in known if variables.get(each)), None)
        if said is not None:
            fields[name] = said
    jump = _jump(variables)
    return fields if jump is None or "jump" in fields else {**fields, "jump": jump}


def _jump(variables: Mapping[str, str]) -> str | None:
    """What `-J` or `-o ProxyJump=` of ssh's arguments name."""
    for name in _ARGUMENTS:
        found = re.search(r"(?:-J\s*|(?i:ProxyJump)[= ]\s*)([^\s'\"]+)", variables.get(name, ""))
        if found is not None:
            return found[1]
    return None


def _with_command(variables: Mapping[str, str]) -> str | None:
    """The variable whose arguments for ssh name a ProxyCommand, which no profile holds."""
    return next((name for name in _ARGUMENTS if "proxycommand" in variables.get(name, "").lower()), None)


# A list of servers, whichever of the known kinds it is: told by its own words, not by the name of its file.

_EXPECTED = "a CSV whose first row names the columns, an Ansible inventory, or your own ~/.ssh/config"
_YAML = re.compile(r"---|[^\s\[;=:][^\s=:]*:(\s.*)?")
"""A line that only YAML has: a key, which may be quoted or have a value behind it. Of the hosts of an INI file only an
address of IPv6 ends so, and it has further colons."""
_SSH_BLOCK = re.compile(r"\s*(?:Host|Match)\s+\S", re.IGNORECASE)
_SSH_OPTION = re.compile(r"\s+[A-Z]\w+[ =]", re.IGNORECASE)


def read_list(name: str, text: str) -> ServerList:
    """The servers of a list. `name`: of its file, `-` for what came by a pipe.

    Raises:
        InputError: no server stands in it; it is an ssh configuration that ssh would not use, or YAML.
    """
    found, told = _read(name, text)
    if found.listed:
        return found
    if not found.refused:
        raise ParseError(f"there is no server in {name}", f"expected: {_EXPECTED}")
    first = found.refused[0]
    raise ParseError(
        f"the list {name} contains no server that can be used: {first.place}: {first.reason}",
        first.hint if told else f"{first.hint}; expected: {_EXPECTED}",
    )


def _read(name: str, text: str) -> tuple[ServerList, bool]:
    """The list, and whether it says itself what kind it is; any other text is only taken for an inventory."""
    used = config_file()
    if used is not None and name != "-" and is_same_file(Path(name), used):
        return server_list([(str(used), {"name": host}) for host in named_hosts()]), True
    if text.lstrip().startswith("{"):
        return server_list(*parse_json(text)), True
    if is_csv(text):
        return server_list(list(parse_csv(text))), True
    said = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if any(_YAML.fullmatch(line.strip()) for line in said):
        raise InputError(
            f"{name} is an inventory in YAML, which only Ansible can read",
            f"let Ansible print it: `ansible-inventory -i {quoted(name)} --list | pghaul server import -`",
        )
    if any(_SSH_BLOCK.match(line) and _SSH_OPTION.match(below) for line, below in pairwise(said)):
        raise InputError(
            f"{name} is an ssh configuration file that ssh does not use",
            f"include it in ~/.ssh/config, or set PGHAUL_SSH_CONFIG={quoted(name)}",
        )
    told = any(_BRACKETED.fullmatch(line.strip()) or "=" in line for line in said)
    return server_list(*parse_ini(text)), told
