"""Passes by a real rsync, from folder to folder: what a time that was set back does not hide."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.migration.findings.data_roots import DataRoot
from core.migration.model.transport import Route, Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell
from tests.core.migration.running import run

pytestmark = pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed here")

LONG_AGO = 1_600_000_000_000_000_000


@pytest.mark.slow
@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("last", [passes.pre_copy_pass, passes.changed_pass])
def test_a_page_that_changed_with_size_and_times_as_before_arrives(
    tmp_path: Path, streams: int, last: Callable[[DataRoot], Shell]
) -> None:
    old, new, way = (tmp_path / name for name in ("old it's", 'new "ö"', "way"))
    for folder in (old, new, way):
        folder.mkdir()
    page = old / "16384 $(touch x)\n`id`"
    written(page, b"x")
    transport = Transport(streams=streams, route=Route.LOCAL)
    channel = CopyChannel("key", str(way), "", 22, "", "", (), (), (("data", str(new)),), transport, (3, 2, 7))
    root = DataRoot("data", "", str(old), str(new), None, None)
    for made, filled in ((passes.pre_copy_pass, b"x"), (last, b"y")):
        written(page, filled)
        carried(channel, made(root))
        assert (new / page.name).read_bytes() == filled * 8192
    assert [path.name for path in new.iterdir()] == [page.name]


def written(page: Path, filled: bytes) -> None:
    page.write_bytes(filled * 8192)
    os.utime(page, ns=(LONG_AGO, LONG_AGO))


def carried(channel: CopyChannel, made: Shell) -> None:
    done = run(passes.prepare_call(channel, made))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("limit", "streams", "options"),
    [
        (None, 1, ()),
        (50_000_000, 1, ("--bwlimit=48828",)),
        (50_000_000, 4, ("--bwlimit=12207",)),
        (1, 8, ("--bwlimit=1",)),  # 0 would be no limit
    ],
)
def test_a_limit_is_said_in_kib_and_never_lifted(limit: int | None, streams: int, options: tuple[str, ...]) -> None:
    channel = CopyChannel("key", "/way", "", 22, "", "", (), (), (("data", "/new"),), precopy_limit=limit)
    assert passes.limit_options(channel, streams) == options


def test_a_limited_pass_takes_as_long_as_it_must(tmp_path: Path) -> None:
    old, new, way = (tmp_path / name for name in ("old", "new", "way"))
    for folder in (old, new, way):
        folder.mkdir()
    (old / "1").write_bytes(os.urandom(3_000_000))
    transport = Transport(route=Route.LOCAL)
    targets = (("data", str(new)),)
    channel = CopyChannel(
        "key", str(way), "", 22, "", "", (), (), targets, transport, (3, 2, 7), precopy_limit=2_000_000
    )
    root = DataRoot("data", "", str(old), str(new), None, None)
    began = time.monotonic()
    carried(channel, passes.pre_copy_pass(root))
    assert time.monotonic() - began > 1
    assert (new / "1").read_bytes() == (old / "1").read_bytes()
