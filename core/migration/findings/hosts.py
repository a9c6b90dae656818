"""Whether the facts of two servers are of one host.

Two profiles may lead to one host. No single value tells hosts apart: cloned machines share the machine id, containers
share the kernel's boot id, unnamed ones a host name, and each Docker has the address 172.17.0.1. One host shows the
same boot id, and its name or an address, in both facts; a restart between the two passes changes the boot id alone.
"""

from enum import Enum, auto

from core.facts.model import Facts


class Hosts(Enum):
    """What the facts of two servers say of their hosts."""

    ONE = auto()
    PERHAPS_ONE = auto()
    TWO = auto()


def hosts_of(old: Facts, new: Facts) -> Hosts:
    """Whether two facts are of one host; `PERHAPS_ONE` also where they do not say enough."""
    if old.system is None or new.system is None:
        return Hosts.PERHAPS_ONE
    alike = old.system.hostname == new.system.hostname, bool(set(old.addresses) & set(new.addresses))
    same_boot = _same(old.system.boot_id, new.system.boot_id)
    same_machine = _same(old.system.machine_id, new.system.machine_id)
    if not any(alike):
        return Hosts.TWO
    if same_boot:
        return Hosts.ONE
    if same_boot is None:
        return Hosts.TWO if same_machine is False else Hosts.PERHAPS_ONE
    return Hosts.PERHAPS_ONE if same_machine and all(alike) else Hosts.TWO


def _same(one: str | None, other: str | None) -> bool | None:
    """None: one of them is not known."""
    return None if one is None or other is None else one == other
