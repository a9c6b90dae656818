"""Huge pages of a real kernel: which of them are free, and whether a server gets its shared memory from them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.facts.collect import collect
from core.facts.model import HugePages
from core.jobs import Job
from core.migration.findings.memory import huge_pages_of_size, takes_huge_pages, takes_surplus_pages
from core.servers.connection import Server
from tests.lab.extra import Extra, extra
from tests.lab.lab import Lab
from tests.lab.machine import LabError

pytestmark = [pytest.mark.lab, pytest.mark.measures]
"""A server of another test takes huge pages of the machine as well, if it starts meanwhile."""

_NUMBER = Path("/proc/sys/vm/nr_hugepages")
_OVERCOMMIT = Path("/proc/sys/vm/nr_overcommit_hugepages")
_SIZE, _PAGES, _PROMISED, _USED = 2 << 20, 32, 8, 4
_FOR_OTHERS = f"""
import mmap, sys
huge = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000
held = mmap.mmap(-1, {(_PROMISED + _USED) * _SIZE}, flags=huge)
for page in range({_USED}):
    held[page * {_SIZE}] = 1
print("held", flush=True)
sys.stdin.read()
"""
"""Another process is promised pages, and uses some of them."""


@pytest.fixture
def reserved() -> Iterator[HugePages]:
    """Huge pages of this machine, some of which a process holds; the hosts have the same kernel."""
    before = _NUMBER.read_text()
    if int(before):
        pytest.skip("this machine has huge pages of its own")
    try:
        _NUMBER.write_text(str(_PAGES))
    except OSError as error:
        pytest.skip(f"no huge pages can be reserved here: {error}")
    try:
        if int(_NUMBER.read_text()) < _PAGES or "2048 kB" not in Path("/proc/meminfo").read_text():
            pytest.skip("this machine has not enough memory for huge pages of 2 MiB in one piece")
        words = [sys.executable, "-c", _FOR_OTHERS]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            yield HugePages(_SIZE, _PAGES, _PAGES - _USED, _PROMISED)
            assert holder.stdin is not None
            holder.stdin.close()
    finally:
        _NUMBER.write_text(before)


@pytest.fixture
def surplus() -> Iterator[None]:
    """No huge page is reserved, and the kernel may make 20 on demand."""
    if int(_NUMBER.read_text()) or int(_OVERCOMMIT.read_text()):
        pytest.skip("this machine has huge pages of its own")
    try:
        _OVERCOMMIT.write_text("20")
    except OSError as error:
        pytest.skip(f"no huge pages can be made here: {error}")
    yield
    _OVERCOMMIT.write_text("0")


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Extra]:
    """One of the new host that does not run."""
    with extra(lab.new, "huge", 5466) as made:
        made.control("-m", "fast", "stop")
        yield made


@contextmanager
def running(cluster: Extra, buffers: int, huge: str = "on") -> Iterator[None]:
    """The cluster runs with so many megabytes of shared buffers; LabError where it does not start."""
    settings = f"huge_pages = {huge}\nshared_buffers = '{buffers}MB'\nmax_connections = 20\n"
    cluster.host.exec("tee", f"{cluster.folder}/postgresql.auto.conf", user="postgres", input=settings)
    cluster.control("start")
    try:
        yield
    finally:
        cluster.control("-m", "fast", "stop")


def test_a_server_gets_what_is_free_and_promised_to_nobody(
    cluster: Extra, new_server: Server, reserved: HugePages
) -> None:
    memory = collect(new_server, Job()).memory
    assert memory is not None
    pages = huge_pages_of_size(memory, 0)
    assert pages == reserved
    assert pages.available_bytes == 40 << 20
    # 44 MB would fit into all that no process uses, and 38 MB alone into what is promised to nobody
    for buffers, takes in ((16, True), (38, False), (44, False)):
        shared = shared_memory_of(cluster, buffers)
        assert shared > buffers << 20
        assert takes_huge_pages("on", shared, pages) is takes
        assert starts(cluster, buffers) is takes


def test_a_server_gets_surplus_pages(cluster: Extra, new_server: Server, surplus: None) -> None:  # noqa: ARG001
    memory = collect(new_server, Job()).memory
    assert memory is not None
    pages = huge_pages_of_size(memory, 0)
    assert (pages.available_bytes, pages.surplus_bytes) == (0, 40 << 20)
    for buffers, takes in ((16, True), (38, False)):
        assert takes_surplus_pages("on", shared_memory_of(cluster, buffers), pages) is takes
        assert starts(cluster, buffers) is takes


def test_the_facts_tell_the_whole_shared_memory(cluster: Extra, new_server: Server) -> None:
    """As many pages as the server says that it takes from huge pages."""
    with running(cluster, 16, "off"):
        found = collect(new_server, Job(), folders=[cluster.folder]).cluster(cluster.folder)
        pages = int(cluster.sql("show shared_memory_size_in_huge_pages"))
    assert found is not None
    assert -(-int(found.settings["shared_memory_size"]) // (_SIZE >> 20)) == pages


def shared_memory_of(cluster: Extra, buffers: int) -> int:
    """Bytes of all shared memory of such a server, as it tells itself."""
    with running(cluster, buffers, "off"):
        return int(cluster.sql("select setting from pg_settings where name = 'shared_memory_size'")) << 20


def starts(cluster: Extra, buffers: int) -> bool:
    try:
        with running(cluster, buffers):
            assert cluster.sql("show shared_buffers") == f"{buffers}MB"
    except LabError:
        return False
    return True
