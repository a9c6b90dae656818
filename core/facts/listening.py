"""What listens on a host, whoever it is: TCP ports, and Unix sockets of PostgreSQL's kind.

How it is found: resources/sh/listening.sh.
"""

import re
from ipaddress import ip_address

from core.facts.host_environment import Listening
from core.facts.sections import Section
from core.facts.text import first_line, unreadable_error

_TCP = re.compile(r"tcp (?P<address>[0-9a-f.:]{2,45}) (?P<port>\d{1,5}) (?P<process>\d{1,10}) (?P<program>\S+)")
_UNIX = re.compile(r"unix (?P<process>\d{1,10}) (?P<program>\S+) (?P<path>/.*[.]s[.]PGSQL[.](?P<port>\d{1,5}))")


def parse_listening(text: str) -> tuple[Listening, ...]:
    """Each socket that listens.

    Raises:
        ParseError: it is no such list.
    """
    lines = text.splitlines()
    if not lines or lines[0] != "listed":
        raise unreadable_error("listening sockets", "a line 'listed'", first_line(text))
    return tuple(map(_read, lines[1:]))


def _read(line: str) -> Listening:
    found = _TCP.fullmatch(line) or _UNIX.fullmatch(line)
    if found is None:
        raise unreadable_error("listening sockets", "a socket", line)
    groups = found.groupdict()
    if groups.get("address") is not None:
        try:
            ip_address(groups["address"])
        except ValueError as error:
            raise unreadable_error("listening sockets", "an address", line) from error
    process = int(groups["process"])
    return Listening(
        address=groups.get("path") or groups.get("address") or "",
        port=int(groups["port"]),
        process=process or None,
        program=groups["program"] if process else "",
    )


SECTION = Section("listening", "listening sockets", ("listening_sockets",), parse_listening, deadline=10)
