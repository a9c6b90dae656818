"""The operating system: release, kernel, C library, init, clock."""

import re
from datetime import UTC, datetime

from core.facts.model import System
from core.facts.sections import Section
from core.facts.text import assignments, first_line, unreadable
from core.servers.shell import script

SECTION = Section(
    "system",
    script("""test -r /etc/os-release && cat /etc/os-release || cat /usr/lib/os-release 2>/dev/null ||
sed -n "1s/.*/PRETTY_NAME=&/p" /etc/redhat-release 2>/dev/null
echo
echo "facts_hostname=$(uname -n)"
echo "facts_kernel=$(uname -r)"
echo "facts_architecture=$(uname -m)"
echo "facts_libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"
echo "facts_init=$(cat /proc/1/comm 2>/dev/null)"
echo "facts_time_zone=$(cat /etc/timezone 2>/dev/null || readlink /etc/localtime 2>/dev/null)"
echo "facts_clock=$(date -u +%Y-%m-%dT%H:%M:%S)"
echo "facts_machine_id=$(cat /etc/machine-id /var/lib/dbus/machine-id 2>/dev/null | head -n 1)"
echo "facts_boot_id=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
"""),
)


def parse_system(text: str) -> System:
    """The system from os-release's lines followed by ours, which bear `facts_`.

    Raises:
        ParseError: host name, kernel or architecture is missing.
    """
    values = {name: value.strip() for name, value in assignments(text.splitlines()).items() if value.strip()}
    try:
        return System(
            hostname=values["facts_hostname"],
            name=values.get("PRETTY_NAME") or values.get("NAME") or "Linux",
            kernel=values["facts_kernel"],
            architecture=values["facts_architecture"],
            distribution=values.get("ID"),
            distribution_version=values.get("VERSION_ID"),
            libc=_libc(values.get("facts_libc")),
            init=values.get("facts_init"),
            time_zone=_time_zone(values.get("facts_time_zone")),
            clock=_clock(values.get("facts_clock")),
            machine_id=values.get("facts_machine_id"),
            boot_id=values.get("facts_boot_id"),
        )
    except KeyError as missing:
        name = str(missing.args[0]).removeprefix("facts_")
        raise unreadable("system", f"the {name}", first_line(text)) from None


def _libc(value: str | None) -> str | None:
    """`glibc 2.36`, or the first line of `ldd --version`; anything else is no name of a library."""
    return value if value is not None and re.fullmatch(r"[A-Za-z(][\w ()+.:/~-]*[0-9]\w*", value) else None


def _time_zone(value: str | None) -> str | None:
    """`Europe/Vienna` from itself or from what /etc/localtime points to."""
    return None if value is None else value.rpartition("zoneinfo/")[2]


def _clock(value: str | None) -> datetime | None:
    try:
        return None if value is None else datetime.strptime(value, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
