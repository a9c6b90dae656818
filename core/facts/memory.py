"""Main memory, swap and huge pages, as /proc/meminfo has them."""

import re

from core.facts.model import Memory
from core.facts.sections import Section
from core.facts.text import first_line, unreadable_error

_LINE = re.compile(r"(\w+(?:\(\w+\))?):\s+([0-9]{1,18})( kB)?\s*")


def parse_memory(text: str) -> Memory:
    """Memory from /proc/meminfo, whose kB are 1024 bytes.

    Raises:
        ParseError: MemTotal is missing.
    """
    values = {}
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is not None:
            values[found[1]] = int(found[2]) * (1024 if found[3] else 1)
    if not values.get("MemTotal"):
        raise unreadable_error("/proc/meminfo", "a line MemTotal", first_line(text))
    return Memory(
        total_bytes=values["MemTotal"],
        available_bytes=values.get("MemAvailable"),
        swap_bytes=values.get("SwapTotal", 0),
        huge_pages_total=values.get("HugePages_Total"),
        huge_page_bytes=values.get("Hugepagesize"),
    )


SECTION = Section("memory", "memory", ("print_first", "/proc/meminfo"), parse_memory)
