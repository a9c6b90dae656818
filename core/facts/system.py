"""The operating system: release, kernel, C library, init, clock."""

import re
from datetime import UTC, datetime

from core.facts.model import System
from core.facts.sections import Section
from core.facts.text import first_line, parse_assignments, unreadable_error


def parse_system(text: str) -> System:
    """The system from os-release's lines followed by ours, which bear `facts_`.

    Raises:
        ParseError: host name, kernel or architecture is missing.
    """
    values = {name: value.strip() for name, value in parse_assignments(text.splitlines()).items() if value.strip()}
    try:
        return System(
            hostname=values["facts_hostname"],
            # a host without any release file is some Linux still
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
        # `facts_` is a word between our shell and us, not for people
        name = str(missing.args[0]).removeprefix("facts_")
        raise unreadable_error("system", f"the {name}", first_line(text)) from None


_LONGEST = 100
"""Characters of a library's name and version."""


def _libc(value: str | None) -> str | None:
    """`glibc 2.36`, or the first line of `ldd --version`; anything else is no name of a library."""
    is_library = value is not None and len(value) < _LONGEST and re.fullmatch(r"[A-Za-z(][\w ()+.:/~-]*[0-9]\w*", value)
    return value if is_library else None


def _time_zone(value: str | None) -> str | None:
    """`Europe/Vienna` from itself or from what /etc/localtime points to."""
    return None if value is None else value.rpartition("zoneinfo/")[2]


def _clock(value: str | None) -> datetime | None:
    try:
        return None if value is None else datetime.strptime(value, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None


SECTION = Section("system", "system", ("system_facts",), parse_system)
