"""Passes to a receiver: what the rsync of this machine asks for is taken, and everything arrives."""

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
