"""The memory limit of a real control group, which is made below the one of this process."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.facts.kernel import parse_process
from core.facts.machine import parse_memory
from core.servers.functions import library
from tests.lab import caps
from tests.lab.machine import CGROUPS, MEMORY, killed_at_the_end

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not (MEMORY / "memory.limit_in_bytes").exists(),
    reason="only root may make control groups, and here of version 1",
)

LIMIT = 512 << 20
NAME = f"limit-{os.getpid()}"


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """A process in a group without a limit of its own, below one with a limit."""
    with killed_at_the_end(subprocess.Popen(["sleep", "infinity"])) as made:
        try:
            outer = caps.cap_memory(NAME, "old", made.pid, None, LIMIT)
            (outer / "inner").mkdir()
            (outer / "inner" / "cgroup.procs").write_text(str(made.pid))
            yield made
        finally:
            made.kill()
            made.wait()
            caps.remove_groups(NAME)


def said(function: str, *words: object, groups: list[Path] | None = None, settings: str = "") -> str:
    """What a function prints, within these groups."""
    shell = ["sh", "-c", f'{library([function])}\n{settings}\n{function} "$@"', "sh", *map(str, words)]
    ended = subprocess.run([*caps.in_groups(groups or []), *shell], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout


def test_the_limit_of_a_process_is_that_of_a_group_above_its_own(process: "subprocess.Popen[bytes]") -> None:
    assert said("memory_limit", CGROUPS, f"/proc/{process.pid}") == f"{LIMIT}\n"
    read = parse_process(said("cluster_process", settings=f"cluster_pid={process.pid}"))
    assert read is not None
    assert read.memory_limit_bytes == LIMIT


def test_the_memory_of_a_session_in_a_group_is_limited(process: "subprocess.Popen[bytes]") -> None:
    (outer,) = caps.groups(NAME)
    within = parse_memory(said("memory_facts", groups=[outer / "inner"]))
    outside = parse_memory(said("memory_facts"))
    assert process.poll() is None
    assert (within.limit_bytes, within.usable_bytes) == (LIMIT, LIMIT)
    assert within.total_bytes == outside.total_bytes
    assert outside.limit_bytes is None or outside.limit_bytes > LIMIT


def test_a_process_that_has_ended_has_no_limit(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    assert said("memory_limit", CGROUPS, f"/proc/{process.pid}") == ""
