"""Passes by a real rsync, from folder to folder: what a time that was set back does not hide."""

import os
import shutil
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
