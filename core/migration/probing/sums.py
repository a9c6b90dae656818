"""The probe of checksums: both servers compute them at the same time, as when a copy is verified. No disk is read."""

from concurrent.futures import ThreadPoolExecutor

from core.facts.model import Facts
from core.migration.probing import commands
from core.migration.probing.taking import Measured, ProbeContext
from core.migration.probing.timing import Timing, parse_timing

_ON_OLD = 2
"""Processes on the old server, whose PostgreSQL server has clients; as many as in a plan."""

_MOST = 16
"""The largest number of processes on the new server. More would not improve the measurement."""


def measure(site: ProbeContext, seconds: int) -> Measured:
    """Measure both servers, and return the result of the slower one, for which the other has to wait.

    Args:
        site: both servers and the move.
        seconds: the duration of the measurement.

    Raises:
        CommandError, ParseError: one of the servers cannot compute the checksums.
    """
    program = "openssl" if all(map(_has_openssl, (site.old_facts, site.new_facts))) else "sha256sum"
    threads = site.new_facts.processor.threads if site.new_facts.processor is not None else _ON_OLD
    with ThreadPoolExecutor(2) as pool:
        on_old = pool.submit(site.on_old, "probe: sums", commands.sums(program, _ON_OLD, seconds))
        on_new = pool.submit(site.on_new, "probe: sums", commands.sums(program, min(threads, _MOST), seconds))
        both = on_old.result(), on_new.result()
    timings = [parse_timing(each.stdout) for each in both]
    slower = max(range(2), key=lambda side: _a_byte(timings[side]))
    server = ("old", "new")[slower]
    how = (
        f"{program} over zeros, on both servers at the same time; the rate is that of the {server} server, which is "
        "slower"
    )
    return timings[slower], how, both[slower]


def _a_byte(timing: Timing) -> float:
    return timing.seconds / timing.bytes


def _has_openssl(facts: Facts) -> bool:
    tool = facts.tool("openssl")
    return tool is not None and tool.path is not None
