"""The probe of the network from the old to the new server without ssh.

It uses iperf3 if both servers have it, and otherwise plain TCP by socat.
"""

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
"""The default port of iperf3, which a firewall is most likely to allow."""

_DEADLINE = 25.0
_LISTENS = 15
"""The seconds after which a listener ends by itself, even if the workstation is lost."""


def measure(
    old: Server, new: Server, address: str, old_facts: Facts, new_facts: Facts, seconds: int, job: Job
) -> tuple[Timing, str, Completed]:
    """Return the timing, a description of the method, and the sender's command with its output.

    Args:
        old: the old server.
        new: the new server.
        address: the address of the new server.
        old_facts: the facts of the old server.
        new_facts: the facts of the new server.
        seconds: the duration of the measurement.
        job: receives progress, and can be cancelled.

    Raises:
        CommandError, ParseError: no tool is on both servers, or no data arrived.
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
    """Return the timing by the output of iperf3; raise ParseError as `parse_iperf3_summary` does."""
    summary = parse_iperf3_summary(text)
    rate = summary.received_bits_per_second or summary.sent_bits_per_second or 0.0
    return Timing(round(rate / 8 * seconds), seconds)


def _on_both(name: str, *facts: Facts) -> bool:
    return all((tool := each.tool(name)) is not None and tool.path is not None for each in facts)


def _free_port(new: Server, job: Job) -> int:
    """Return a port on the new server on which nothing listens, if possible the default port of iperf3."""
    finding = call("free_port", _IPERF3_PORT, *random.sample(range(20000, 30000), 20))
    return int(new.run(finding, job, title="probe: find a free port").stdout)


@contextmanager
def _listening(new: Server, shell: Shell, job: Job) -> Iterator[None]:
    """Run the listener on the new server during the `with` block, and end it in any case."""
    listener = Job()
    with ThreadPoolExecutor(1) as pool, job.on_cancel(listener.cancel):
        ended: Future[Completed] = pool.submit(new.run, shell, listener, deadline=_DEADLINE, accept=(0, 1, 124))
        try:
            yield
        finally:
            listener.cancel()
            _forget(ended)


def _forget(ended: Future[Completed]) -> None:
    """Wait for the end of the listener. It always ends with an error, because it was cancelled."""
    try:
        ended.result()
    except PghaulError:
        return


def _limited(*words: str | int) -> Shell:
    # --foreground: it must stay in the process group of the command, so that it ends with the command.
    return command("timeout", "--foreground", "-k", 2, _LISTENS, *words)


def _socat_listen(port: int) -> Shell:
    return _limited("socat", "-u", f"TCP-LISTEN:{port},reuseaddr", "OPEN:/dev/null,wronly")
