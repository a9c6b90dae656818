"""What both servers sum up beside each other, as they do to prove a copy; no disk is read."""

from concurrent.futures import ThreadPoolExecutor

from core.facts.model import Facts
from core.migration.probing import commands
from core.migration.probing.taking import Measured, ProbeContext
from core.migration.probing.timing import Timing, parse_timing

_ON_OLD = 2
"""Processes beside a server that has clients, as a plan has them."""

_MOST = 16
"""Processes on the new server: so many tell what more would do."""


def measure(site: ProbeContext) -> Measured:
    """The slower side, which the other waits for.

    Raises:
        CommandError, ParseError: one of them cannot sum up.
    """
    program = "openssl" if all(map(_has_openssl, (site.old_facts, site.new_facts))) else "sha256sum"
    threads = site.new_facts.processor.threads if site.new_facts.processor is not None else _ON_OLD
    with ThreadPoolExecutor(2) as pool:
        on_old = pool.submit(site.on_old, "probe: sums", commands.sums(program, _ON_OLD))
        on_new = pool.submit(site.on_new, "probe: sums", commands.sums(program, min(threads, _MOST)))
        both = on_old.result(), on_new.result()
    timings = [parse_timing(each.stdout) for each in both]
    slower = max(range(2), key=lambda side: _a_byte(timings[side]))
    how = (
        f"zeros by {program} on both servers at once, as for the files of a copy; {('old', 'new')[slower]} "
        "server is slower"
    )
    return timings[slower], how, both[slower]


def _a_byte(timing: Timing) -> float:
    return timing.seconds / timing.bytes


def _has_openssl(facts: Facts) -> bool:
    tool = facts.tool("openssl")
    return tool is not None and tool.path is not None
