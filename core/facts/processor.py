"""The processors: lscpu, or /proc/cpuinfo where it is missing."""

import re

from core.facts.model import Processor
from core.facts.sections import Section
from core.facts.text import first_line, parse_whole_number, unreadable_error


def parse_processor(text: str) -> Processor:
    """The processors from the English text of lscpu or of /proc/cpuinfo.

    Raises:
        ParseError: no number of processors can be read.
    """
    values = _first_of_each(text)
    return _from_cpuinfo(text, values) if "processor" in values else _from_lscpu(text, values)


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
    for line in text.removeprefix("\ufeff").splitlines():
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


SECTION = Section("processor", "processor", ("processor_facts",), parse_processor)
