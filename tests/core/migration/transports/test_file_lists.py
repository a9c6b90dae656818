"""The lists by a real shell on real files: what changed, what may be trusted, who carries what."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.migration.model.transport import Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import call
from tests.core.migration.running import run

LONG_AGO = 1_600_000_000_000_000_000


@pytest.fixture
def channel(tmp_path: Path) -> CopyChannel:
    folder = tmp_path / "key it's"
    folder.mkdir()
    return CopyChannel("key", str(folder), "10.0.0.2", 22, "dba", "postgres", (), ("10.0.0.1",), (("data", "/new"),))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for name, size in (("a", 3_000_000), ("b", 2_000_000), ("c d", 1_000_000), ("e\nf", 900_000), ("ö", 1)):
        (folder / name).write_bytes(b"x" * size)
        os.utime(folder / name, ns=(LONG_AGO, LONG_AGO))
    return folder


def listing(channel: CopyChannel, data: Path, streams: int = 1, label: str = "data") -> None:
    channel = replace(channel, transport=Transport(streams=streams))
    done = run(passes.prepare_call(channel, call("list_changed_files", label)), folder=data)
    assert done.returncode == 0, done.stderr


def vouch(channel: CopyChannel) -> None:
    assert run(passes.prepare_call(channel, call("mark_synced", "data"))).returncode == 0


def listed(channel: CopyChannel, streams: int) -> list[set[str]]:
    files = [Path(channel.folder, f"files-data-{stream}.names").read_bytes() for stream in range(1, streams + 1)]
    return [{os.fsdecode(name) for name in content.split(b"\0") if name} for content in files]


def settle(channel: CopyChannel) -> None:
    """As if the two seconds had passed in which nothing is vouched for: the list of all stands for the settled one."""
    Path(channel.folder, "now-data").replace(Path(channel.folder, "next-data"))


def test_the_first_pass_carries_all_and_splits_it_by_size(channel: CopyChannel, data: Path) -> None:
    listing(channel, data, 2)
    first, second = listed(channel, 2)
    assert "./a" in first
    assert "./b" in second
    assert first | second == {"./a", "./b", "./c d", "./e\nf", "./ö"}
    assert not first & second


def test_more_streams_than_files(channel: CopyChannel, data: Path) -> None:
    listing(channel, data, 8)
    assert sum(len(names) for names in listed(channel, 8)) == 5


def test_what_stood_still_since_a_pass_that_ended_well_is_trusted(channel: CopyChannel, data: Path) -> None:
    listing(channel, data)
    settle(channel)
    vouch(channel)
    listing(channel, data)
    assert listed(channel, 1) == [set()]


def test_a_page_changed_with_size_and_times_as_before_is_carried(channel: CopyChannel, data: Path) -> None:
    listing(channel, data)
    settle(channel)
    vouch(channel)
    with (data / "b").open("r+b") as file:
        file.write(b"y")
    os.utime(data / "b", ns=(LONG_AGO, LONG_AGO))
    (data / "new").write_bytes(b"")
    listing(channel, data)
    assert listed(channel, 1) == [{"./b", "./new"}]


def test_what_was_written_just_before_a_pass_is_not_vouched_for(channel: CopyChannel, data: Path) -> None:
    """Its times are old, but no program sets back the ctime."""
    listing(channel, data)
    vouch(channel)
    listing(channel, data)
    assert len(listed(channel, 1)[0]) == 5


def test_a_pass_that_did_not_end_well_vouches_for_nothing(channel: CopyChannel, data: Path) -> None:
    for _ in range(2):
        listing(channel, data)
        settle(channel)
    assert len(listed(channel, 1)[0]) == 5


def test_data_roots_do_not_share_lists(channel: CopyChannel, data: Path) -> None:
    listing(channel, data)
    settle(channel)
    vouch(channel)
    listing(channel, data, label="data-1")
    assert b"./a\0" in Path(channel.folder, "files-data-1-1.names").read_bytes()
