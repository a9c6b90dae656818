"""The wire from old to new without ssh: iperf3 where both have it, else plain TCP by socat; from server to server."""

import random
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from core.errors import CommandError, PghaulError
from core.facts.model import Facts
from core.jobs import Job
from core.migration.probing.commands import MOST_BYTES
from core.migration.probing.iperf3 import parse_iperf3_summary
from core.migration.probing.timing import Timing, parse_timing
from core.servers.connection import Completed, Server
from core.servers.shell import Shell, call, command

_IPERF3_PORT = 5201
"""iperf3's own, which a firewall is likeliest to let through."""

_DEADLINE = 25.0
_LISTENS = 15
"""Seconds after which a listener ends by itself, whatever became of us."""


def measure(
    old: Server, new: Server, address: str, old_facts: Facts, new_facts: Facts, seconds: int, job: Job
) -> tuple[Timing, str, Completed]:
    """The timing of so many seconds, how it was taken, and the sender's command with its output.

    Raises:
        CommandError, ParseError: no tool is on both sides, or the stream did not come through.
    """
    if _on_both("iperf3", old_facts, new_facts):
        return _measure(old, new, address, seconds, job, iperf3=True)
    if _on_both("socat", old_facts, new_facts):
        return _measure(old, new, address, seconds, job, iperf3=False)
    raise CommandError(
        "the wire was not measured: neither iperf3 nor socat is on both servers",
        "install iperf3 on both servers; without it, the estimate uses the sample of the copy",
    )


def _measure(
    old: Server, new: Server, address: str, seconds: int, job: Job, *, iperf3: bool
) -> tuple[Timing, str, Completed]:
    port = _free_port(new, job)
    listen = _limited("iperf3", "-s", "-1", "-p", port) if iperf3 else _socat_listen(port)
    with _listening(new, listen, job):
        words = (address, port, seconds) if iperf3 else (address, port, 4 * MOST_BYTES, seconds)
        send = call("iperf3_probe" if iperf3 else "wire_probe", *words)
        completed = old.run(send, job, deadline=_DEADLINE, title="probe: wire")
    if iperf3:
        return _carried(completed.stdout, seconds), "iperf3, 1 stream", completed
    return parse_timing(completed.stdout), "plain TCP by socat, 1 stream", completed


def _carried(text: str, seconds: int) -> Timing:
    """What new received by iperf3 in its time; raises ParseError as `parse_iperf3_summary` does."""
    summary = parse_iperf3_summary(text)
    rate = summary.received_bits_per_second or summary.sent_bits_per_second or 0.0
    return Timing(round(rate / 8 * seconds), seconds)


def _on_both(name: str, *facts: Facts) -> bool:
    return all((tool := each.tool(name)) is not None and tool.path is not None for each in facts)


def _free_port(new: Server, job: Job) -> int:
    """A port on the new server that nothing listens on, iperf3's own if it can be."""
    finding = call("free_port", _IPERF3_PORT, *random.sample(range(20000, 30000), 20))
    return int(new.run(finding, job, title="probe: find a free port").stdout)


@contextmanager
def _listening(new: Server, shell: Shell, job: Job) -> Iterator[None]:
    """The listener on the new server while the body runs; it is ended on leaving, whatever happened."""
    listener = Job()
    with ThreadPoolExecutor(1) as pool, job.on_cancel(listener.cancel):
        ended: Future[Completed] = pool.submit(new.run, shell, listener, deadline=_DEADLINE, accept=(0, 1, 124))
        try:
            yield
        finally:
            listener.cancel()
            _forget(ended)


def _forget(ended: Future[Completed]) -> None:
    """Wait for the listener's end; that it was cancelled is how it ends."""
    try:
        ended.result()
    except PghaulError:
        return


def _limited(*words: str | int) -> Shell:
    # in the group of the command, or it would not end with it
    return command("timeout", "--foreground", "-k", 2, _LISTENS, *words)


def _socat_listen(port: int) -> Shell:
    return _limited("socat", "-u", f"TCP-LISTEN:{port},reuseaddr", "OPEN:/dev/null,wronly")
