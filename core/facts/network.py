"""The network of a host: its interfaces, and what listens there."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_address

from core.facts.host_environment import Listening
from core.facts.model import NetworkLink
from core.facts.parsing import first_line, lines_of, parse_whole_number, unreadable_error
from core.facts.sections import Section

# `eth0@if7`: behind the at stands the peer of a veth, or the device of a vlan
_LINK = re.compile(r"[0-9]+: (?P<name>[^\s:@]+)(?:@\S+)?: <.*?> mtu (?P<mtu>[0-9]{1,9})\b(?P<rest>.*)")
_ADDRESS = re.compile(r"[0-9]+: (?P<name>\S+)\s+inet6? (?P<address>[0-9a-fA-F.:]+(?:/[0-9]{1,3})?)\s.*")
_SYSFS = re.compile(r"sysfs (?P<name>\S+) (?P<state>\S+) (?P<mtu>\S+) (?P<hardware>\S+) (?P<speed>\S+)")


@dataclass(slots=True)
class _Link:
    state: str
    mtu: int
    hardware: str
    bits_per_second: int | None = None
    addresses: list[str] = field(default_factory=list)


def parse_network(text: str) -> tuple[NetworkLink, ...]:
    """The links from `ip -o link`, `ip -o addr` and our own lines from /sys/class/net; sysfs alone will do.

    Raises:
        ParseError: no interface can be read, not even lo.
    """
    lines = lines_of(text)
    links = _from_ip(lines)
    # a host without ip: what /sys shows is believed, though a container may show another's
    only_sysfs = not links
    for line in lines:
        found = _SYSFS.fullmatch(line)
        mtu = parse_whole_number(found["mtu"]) if found else None
        if found is None or mtu is None:
            continue
        if only_sysfs:
            links[found["name"]] = _Link(found["state"], mtu, found["hardware"])
        link = links.get(found["name"])
        # in a container /sys may be the host's: an interface of the same name need not be the same
        if link is not None and link.hardware == found["hardware"]:
            link.bits_per_second = _speed(found["speed"])
    if not links:
        raise unreadable_error("network", "an interface", first_line(text))
    for line in lines:
        address = _ADDRESS.fullmatch(line)
        if address is not None and address["name"] in links:
            links[address["name"]].addresses.append(address["address"])
    return tuple(
        NetworkLink(name, link.state, link.bits_per_second, link.mtu, tuple(link.addresses))
        for name, link in links.items()
    )


def _from_ip(lines: list[str]) -> dict[str, _Link]:
    links = {}
    for line in lines:
        found = _LINK.fullmatch(line)
        if found is not None:
            state = re.search(r"\bstate (\S+)", found["rest"])
            # a tunnel's address is an IPv4 address, a bridge's a MAC: both are compared as text
            hardware = re.search(r"\blink/\S+ ([0-9a-f:]+)", found["rest"])
            links[found["name"]] = _Link(
                state[1].lower() if state else "unknown", int(found["mtu"]), hardware[1] if hardware else "-"
            )
    return links


def _speed(text: str) -> int | None:
    """Megabits a second; -1 and 4294967295 are the kernel's words for not known."""
    number = parse_whole_number(text)
    return None if number is None or not 0 < number < 10_000_000 else number * 1_000_000


NETWORK = Section("network", "network links", ("network_facts",), parse_network)


# What listens on a host, whoever it is: TCP ports, and Unix sockets of PostgreSQL's kind.
#
# How it is found: resources/sh/listening.sh.

_TCP = re.compile(r"tcp (?P<address>[0-9a-f.:]{2,45}) (?P<port>\d{1,5}) (?P<process>\d{1,10}) (?P<program>\S+)")
_UNIX = re.compile(r"unix (?P<process>\d{1,10}) (?P<program>\S+) (?P<path>/.*[.]s[.]PGSQL[.](?P<port>\d{1,5}))")


def parse_listening(text: str) -> tuple[Listening, ...]:
    """Each socket that listens.

    Raises:
        ParseError: it is no such list.
    """
    lines = lines_of(text)
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


LISTENING = Section("listening", "listening sockets", ("listening_sockets",), parse_listening, deadline=10)
