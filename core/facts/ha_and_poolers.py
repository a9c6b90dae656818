"""Programs beside PostgreSQL that matter when a cluster moves: those that start clusters again, and those in front.

A program is told by the first words of its command line alone, never by a word somewhere in it: an editor that has
`patroni.yml` open is no Patroni. Command lines may hold secrets and are not kept.
"""

import posixpath
import re

from core.facts.host_environment import HaOrPooler
from core.facts.parsing import lines_of, unreadable_error
from core.facts.sections import Section, decode_hexadecimal

_ROLES = {
    "patroni": "manager",
    "repmgrd": "manager",
    "pacemakerd": "manager",
    "pg_autoctl": "manager",
    "keepalived": "manager",
    "stolon-keeper": "manager",
    "supervisord": "watcher",
    "monit": "watcher",
    "pgbouncer": "pooler",
    "pgpool": "pooler",
    "odyssey": "pooler",
    "pgcat": "pooler",
    "haproxy": "pooler",
}
_FILES = {
    "patroni": "/etc/patroni/*.yml /etc/patroni/*.yaml /etc/patroni.yml",
    "repmgrd": "/etc/repmgr.conf /etc/repmgr/*/repmgr.conf /etc/repmgr/*.conf",
    "pacemakerd": "/etc/corosync/corosync.conf",
    "keepalived": "/etc/keepalived/keepalived.conf",
    "pgbouncer": "/etc/pgbouncer/pgbouncer.ini /etc/pgbouncer.ini",
    "pgpool": "/etc/pgpool2/pgpool.conf /etc/pgpool-II*/pgpool.conf /etc/pgpool.conf",
    "odyssey": "/etc/odyssey/odyssey.conf /etc/odyssey.conf",
    "pgcat": "/etc/pgcat.toml",
    "haproxy": "/etc/haproxy/haproxy.cfg",
}
_UNITS = {"repmgr": "repmgrd", "pacemaker": "pacemakerd", "pgautofailover": "pg_autoctl", "supervisor": "supervisord"}
"""Names that units have where they differ from the program's."""

_VIRTUAL_ADDRESS = re.compile(r"virtual ([0-9a-fA-F.:]+)(?:/[0-9]{1,3})?")
_INTERPRETER = re.compile(r"python[0-9.]*|ruby|perl")


def parse_ha_and_poolers(text: str) -> tuple[HaOrPooler, ...]:
    """The programs that run, come up with the host, or are set up, by name.

    Raises:
        ParseError: a line is none of ours.
    """
    running, enabled, files = set(), set(), list[str]()
    for line in lines_of(text):
        word, _, rest = line.partition(" ")
        if word == "process":
            try:
                running.add(_program(decode_hexadecimal(rest.removeprefix("=")).split("\0")))
            except ValueError as error:
                raise unreadable_error("ha-and-poolers", "hexadecimal digits", line) from error
        elif word == "file":
            files.append(rest)
        elif word == "unit":
            # an instance `patroni@main.service` is a patroni too
            name = re.split(r"[@.]", rest)[0]
            enabled.add(_UNITS.get(name, name))
        else:
            raise unreadable_error("ha-and-poolers", "a line process, file or unit", line)
    found = (
        HaOrPooler(name, role, name in running, name in enabled, tuple(file for file in files if _belongs(file, name)))
        for name, role in _ROLES.items()
    )
    return tuple(each for each in found if each.running or each.enabled or each.files)


def _program(arguments: list[str]) -> str | None:
    """Which of ours a command line is; titles such as `pgpool: PgpoolLogger` count by their first word."""
    # four words at most: what stands behind is an argument, and may name anything
    words = [posixpath.basename(word.split(" ")[0]).rstrip(":") for word in arguments[:4] if word]
    # patroni is a script: `python3 /usr/bin/patroni /etc/patroni.yml`
    if words and _INTERPRETER.fullmatch(words[0]):
        words = [word for word in words[1:] if not word.startswith("-")]
    return words[0] if words and words[0] in _ROLES else None


def _belongs(file: str, name: str) -> bool:
    patterns = _FILES.get(name, "").split()
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), file) for pattern in patterns)


_SECONDARY = re.compile(
    r"[0-9]+: (?P<name>\S+)\s+inet6? (?P<address>[0-9a-fA-F.:]+)/(?P<bits>[0-9]{1,3})\s(?P<rest>.*)"
)


def parse_virtual_addresses(text: str) -> tuple[str, ...]:
    """Addresses that can move to another host: `secondary` or labelled ones, single ones (/32, /128), keepalived's.

    Raises:
        ParseError: no interface with an address is listed, not even lo.
    """
    found, listed = dict[str, None](), False
    for line in lines_of(text):
        address, virtual = _SECONDARY.match(line), _VIRTUAL_ADDRESS.match(line)
        listed = listed or address is not None
        if virtual is not None:
            found[virtual[1]] = None
        elif address is not None and _moves(address):
            found[address["address"]] = None
    if not listed:
        raise unreadable_error("ip", "an address of an interface", text[:100])
    return tuple(found)


def _moves(address: re.Match[str]) -> bool:
    rest = address["rest"]
    # DHCP's and privacy addresses change by themselves, and nobody moves them
    if "scope global" not in rest or any(word in rest for word in ("temporary", "mngtmpaddr", "dynamic")):
        return False
    # a single address without its network is how keepalived and pacemaker set theirs
    return "secondary" in rest or address["bits"] in ("32", "128") or f"{address['name']}:" in rest


SECTION = Section(
    "ha-and-poolers",
    "cluster managers and poolers",
    ("ha_and_pooler_facts", "|".join(_ROLES), " ".join(_FILES.values())),
    parse_ha_and_poolers,
    private=True,
)
VIRTUAL = Section(
    "virtual-addresses",
    "virtual addresses",
    ("virtual_address_facts", "/etc/keepalived/keepalived.conf"),
    parse_virtual_addresses,
)
