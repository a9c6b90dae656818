"""What reads the old server's files lets the server go first while it serves, and hurries in the downtime."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.lab.hosts import Host
from tests.live.command_line import CommandLine
from tests.live.moving import DATA

pytestmark = pytest.mark.lab

_LOOK = f"""
while read -t 0.02 -r _; [ $? -gt 128 ]; do
  if [ -e '{DATA}/postmaster.pid' ]; then state=serves; else state=stopped; fi
  for each in /proc/[0-9]*; do
    {{ read -r name <"$each/comm"; }} 2>/dev/null || continue
    case $name in rsync | openssl | sha256sum) ;; *) continue ;; esac
    stat=$(cat "$each/stat" 2>/dev/null) && stat=${{stat##*) }} && set -- $stat && nice=${{17}} &&
      io=$(ionice -p "${{each#/proc/}}" 2>/dev/null) && readlink "$each/exe" >/dev/null && echo "$state $name $nice $io"
  done
done
"""
"""Until its standard input ends: a line for each look at each process that reads files. One that is about to end has no
priority of its disk any more: it lost its program before."""


@contextmanager
def looked_at(host: Host) -> Iterator[set[str]]:
    """What such a look has seen by the end."""
    seen: set[str] = set()
    with subprocess.Popen(
        host.command("bash", "-c", _LOOK), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as looking:
        try:
            yield seen
        finally:
            seen.update(looking.communicate()[0].splitlines())


@pytest.mark.long
def test_what_reads_files_yields_while_the_old_server_serves_and_not_in_the_downtime(cli: CommandLine) -> None:
    with looked_at(cli.lab.old) as seen:
        code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, err
    assert {line for line in seen if line.startswith("serves rsync")} == {"serves rsync 10 best-effort: prio 7"}
    stopped = [line.split(" ", 3) for line in seen if line.startswith("stopped ")]
    assert {(name, nice) for _, name, nice, _ in stopped} >= {("rsync", "0")}
    assert {nice for _, _, nice, _ in stopped} == {"0"}
    assert not any("prio 7" in io for *_, io in stopped)
    assert {line.split()[2] for line in seen if line.startswith("serves ")} == {"10"}
