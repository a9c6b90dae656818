"""Passes to a receiver: what the rsync of this machine asks for is taken, and everything arrives."""

import re
import shutil
from pathlib import Path

import pytest

from core.migration.model.transport import Route, Transport
from core.migration.transports.rsync_versions import Version
from tests.core.migration.transports.receiving import said

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed here"),
]


@pytest.mark.parametrize(
    ("version", "transport"),
    [
        ((3, 0, 9), Transport(compression="zlib:3")),
        ((3, 1, 3), Transport(route=Route.DAEMON)),
        ((3, 2, 7), Transport(compression="zstd:3", streams=2)),
    ],
    ids=str,
)
def test_every_pass_is_taken(tmp_path: Path, version: Version, transport: Transport) -> None:
    """`version`: of the other server; what is asked of rsync goes by the older of both."""
    assert len(said(tmp_path, transport, version)) > 2


@pytest.mark.parametrize(
    ("version", "streams", "limits"),
    [((3, 0, 9), 1, {878906}), ((3, 2, 7), 1, {878906}), ((3, 2, 7), 2, {878906, 439453})],
)
def test_the_limit_holds_for_pre_copy_passes_alone(
    tmp_path: Path, version: Version, streams: int, limits: set[int]
) -> None:
    """900 MB/s are 878,906 KiB/s; the streams share them."""
    lines = said(tmp_path, Transport(streams=streams), version, limit=900_000_000)
    assert {int(found[1]) for line in lines if (found := re.search(r"--bwlimit=(\d+)", line))} == limits
