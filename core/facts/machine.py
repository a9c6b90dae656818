"""The machine and its operating system: processors, memory, release, and its clock."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core.facts.host_environment import Clock
from core.facts.model import HugePages, Memory, Processor, System
from core.facts.parsing import first_line, lines_of, parse_assignments, parse_whole_number, unreadable_error
from core.facts.sections import Section


def parse_processor(text: str) -> Processor:
    """The processors from the English text of lscpu or of /proc/cpuinfo, and from `Cpus_allowed_list` of proc(5).

    Raises:
        ParseError: no number of processors can be read.
    """
    values = _first_of_each(text)
    found = _from_cpuinfo(text, values) if "processor" in values else _from_lscpu(text, values)
    return replace(found, threads=min(found.threads, _listed(values.get("Cpus_allowed_list")) or found.threads))


def _from_lscpu(text: str, values: dict[str, str]) -> Processor:
    # `CPU(s)` counts those that are switched off, too
    threads = _listed(values.get("On-line CPU(s) list")) or parse_whole_number(values.get("CPU(s)"))
    if not threads:
        raise unreadable_error("lscpu", "a line CPU(s)", first_line(text))
    sockets, per_socket = (
        parse_whole_number(values.get("Socket(s)")),
        parse_whole_number(values.get("Core(s) per socket")),
    )
    return Processor(
        model=_named(values.get("Model name")),
        sockets=sockets or None,
        cores=sockets * per_socket or None if sockets is not None and per_socket is not None else None,
        threads=threads,
    )


def _from_cpuinfo(text: str, values: dict[str, str]) -> Processor:
    """On x86 `physical id` and `core id` count sockets and cores; elsewhere they are absent and so are the counts."""
    threads = sockets = 0
    places: set[tuple[str, str]] = set()
    for block in re.split(r"\n\s*\n", text):
        fields = _first_of_each(block)
        threads += parse_whole_number(fields.get("processor")) is not None
        if "physical id" in fields and "core id" in fields:
            # hyper-threads share both ids: a core counts once
            places.add((fields["physical id"], fields["core id"]))
    sockets = len({socket for socket, _ in places})
    if not threads:
        raise unreadable_error("/proc/cpuinfo", "a line processor", first_line(text))
    return Processor(_named(values.get("model name")), sockets or None, len(places) or None, threads)


def _first_of_each(text: str) -> dict[str, str]:
    """`label: value` lines; the first of a label wins, as big.LITTLE machines repeat the later ones."""
    values: dict[str, str] = {}
    for line in lines_of(text.removeprefix("\ufeff")):
        label, colon, value = line.partition(":")
        if colon:
            values.setdefault(label.strip(), value.strip())
    return values


def _named(model: str | None) -> str | None:
    # a virtual machine's lscpu prints a dash
    return None if model in (None, "", "-") else model


def _listed(ranges: str | None) -> int | None:
    """How many processors a list such as `0-3,8` holds; None where it cannot be read."""
    count = 0
    for part in (ranges or "").split(","):
        found = re.fullmatch(r"\s*([0-9]{1,6})(?:-([0-9]{1,6}))?\s*", part)
        if found is None:
            return None
        count += int(found[2] or found[1]) - int(found[1]) + 1
    return count if count > 0 else None


PROCESSOR = Section("processor", "processor", ("processor_facts",), parse_processor)


# Main memory, swap and huge pages, as /proc/meminfo has them, and what control groups allow of it.

_LINE = re.compile(r"(\w+(?:\(\w+\))?):\s+([0-9]{1,18})( kB)?\s*")
_HUGE_LINE = re.compile(
    r"/sys/kernel/mm/hugepages/hugepages-([0-9]{1,12})kB/(nr|free|resv|nr_overcommit|surplus)_hugepages:([0-9]{1,18})"
)
_GROUP_LINE = re.compile(r"control_group_limit=([0-9]{1,18})")


def parse_memory(text: str) -> Memory:
    """Memory from /proc/meminfo, whose kB are 1024 bytes, from the huge pages in /sys, and from control groups.

    Raises:
        ParseError: MemTotal is missing.
    """
    values = {}
    pools = dict[int, dict[str, int]]()
    limit: int | None = None
    for line in lines_of(text):
        if found := _LINE.fullmatch(line):
            values[found[1]] = int(found[2]) * (1024 if found[3] else 1)
        elif found := _HUGE_LINE.fullmatch(line):
            pools.setdefault(int(found[1]) * 1024, {})[found[2]] = int(found[3])
        elif found := _GROUP_LINE.fullmatch(line):
            limit = int(found[1])
    if not values.get("MemTotal"):
        raise unreadable_error("/proc/meminfo", "a line MemTotal", first_line(text))
    total = values["MemTotal"]
    return Memory(
        total_bytes=total,
        available_bytes=values.get("MemAvailable"),
        swap_bytes=values.get("SwapTotal", 0),
        huge_pages_total=values.get("HugePages_Total"),
        huge_page_bytes=values.get("Hugepagesize"),
        huge_pages=_huge_pages(pools, values),
        limit_bytes=limit if limit is not None and 0 < limit < total else None,
    )


def _huge_pages(pools: Mapping[int, Mapping[str, int]], values: Mapping[str, int]) -> tuple[HugePages, ...]:
    """Return the huge pages of each size; only those of the default size where /sys does not show them."""
    found = [
        HugePages(size, each["nr"], each["free"], each["resv"], each.get("nr_overcommit", 0), each.get("surplus", 0))
        for size, each in sorted(pools.items())
        if {"nr", "free", "resv"} <= each.keys()
    ]
    named = [values.get(name) for name in ("Hugepagesize", "HugePages_Total", "HugePages_Free", "HugePages_Rsvd")]
    known = [each for each in named if each is not None]
    if not found and len(known) == len(named):
        found = [HugePages(*known)]
    return tuple(found)


MEMORY = Section("memory", "memory", ("memory_facts",), parse_memory)


# The operating system: release, kernel, C library, init, clock.


def parse_system(text: str) -> System:
    """The system from os-release's lines followed by ours, which bear `facts_`.

    Raises:
        ParseError: host name, kernel or architecture is missing.
    """
    values = {name: value.strip() for name, value in parse_assignments(lines_of(text)).items() if value.strip()}
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


SYSTEM = Section("system", "system", ("system_facts",), parse_system)


# How far a server's clock is from the workstation's, and whether a time server keeps it.
#
# The server's time is asked for first of all in a round trip. It was read between the moment when the question left and
# the moment when the answer came; the middle of the two is taken, and half of their distance is what it may be wrong
# by.

ANSWER = re.compile(rb"now=[0-9.%N]+\n")
"""The line that tells the time, as it stands in the stream of a round trip."""
_NOW = re.compile(r"now=([0-9]{1,12})(?:\.([0-9]{1,9}))?\S*")
_YES = re.compile(r"(?:NTPSynchronized|synchronised)=yes|synchronized: yes|Leap status\s*:\s*Normal", re.IGNORECASE)
_NO = re.compile(r"(?:NTPSynchronized|synchronised)=no|synchronized: no|Not synchronised", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Now:
    """The server's time in seconds since 1970, and by how much it was rounded."""

    seconds: float
    rounding: float


def parse_now(text: str) -> Now:
    """The server's time from `now=SECONDS.NANOSECONDS`; an old or small `date` knows no %N and leaves it as it stands.

    Raises:
        ParseError: there is no such line.
    """
    found = _NOW.fullmatch(first_line(text).strip())
    if found is None:
        raise unreadable_error("date", "seconds since 1970", first_line(text))
    return Now(float(f"{found[1]}.{found[2] or '5'}"), 0.0 if found[2] else 0.5)


def compare_clock(now: Now, asked_at: float, answered_at: float, *, synchronised: bool | None = None) -> Clock:
    """Return the difference of the server's clock to the workstation's.

    Args:
        now: the time of the server.
        asked_at: when the workstation asked, in seconds since 1970.
        answered_at: when the workstation had the answer, in seconds since 1970.
        synchronised: whether a time server keeps the server's clock; None if that is not known.
    """
    off = max(answered_at - asked_at, 0.0) / 2 + now.rounding
    return Clock(now.seconds - (asked_at + answered_at) / 2, off, synchronised)


def parse_synchronised(text: str) -> bool | None:
    """Return whether a time server keeps the clock; None if no program there knows."""
    return True if _YES.search(text) else False if _NO.search(text) else None


NOW = Section("clock", "clock", ("date", "-u", "+now=%s.%N"), parse_now, deadline=3)
SYNCHRONISED = Section(
    "time-sync", "time synchronisation", ("clock_sync_facts", "/run/systemd/system"), parse_synchronised
)
