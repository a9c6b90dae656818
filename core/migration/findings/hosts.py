"""Whether the facts of two servers are facts of one host.

Two profiles may lead to one host. No single value identifies a host: cloned machines share the machine ID, containers
share the kernel's boot ID, unnamed hosts share a host name, and each Docker host has the address 172.17.0.1. One host
has the same boot ID, and its name or an address, in both facts. A restart between the two passes changes only the boot
ID.
"""

from enum import Enum, auto

from core.facts.model import Facts


class Hosts(Enum):
    """What the facts of two servers say of their hosts."""

    ONE = auto()
    PERHAPS_ONE = auto()
    TWO = auto()


def compare_hosts(old: Facts, new: Facts) -> Hosts:
    """Return whether both facts are of one host; `PERHAPS_ONE` also if they do not say enough."""
    if old.system is None or new.system is None:
        return Hosts.PERHAPS_ONE
    equal_names = old.system.hostname == new.system.hostname, bool(set(old.addresses) & set(new.addresses))
    same_boot = _are_equal(old.system.boot_id, new.system.boot_id)
    same_machine = _are_equal(old.system.machine_id, new.system.machine_id)
    if not any(equal_names):
        return Hosts.TWO
    if same_boot:
        return Hosts.ONE
    if same_boot is None:
        return Hosts.TWO if same_machine is False else Hosts.PERHAPS_ONE
    return Hosts.PERHAPS_ONE if same_machine and all(equal_names) else Hosts.TWO


def _are_equal(one: str | None, other: str | None) -> bool | None:
    """Return whether both values are equal; None if one of them is not known."""
    return None if one is None or other is None else one == other
