"""Several streams in one log, by a real shell: each is seen by itself while it runs, and all is said in the end."""

import subprocess
from pathlib import Path

import pytest

from core.migration.execution.rsync_log import RsyncLog
from core.migration.model.transport import Route, Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call
from tests.core.migration.builders import runnable
from tests.core.migration.running import environment, program

_RSYNC = r"""
case "$*" in
  *data-1.names*) through=14,680,064 all=73,214,117 status=0 ;;
  *data-2.names*) through=5,000,000 all=60,000,000 status=23 ;;
esac
printf '\r     %s  20%%   14.00MB/s    0:00:04  ' "$through"
while [ ! -e end ]; do sleep 0.05; done
printf '\r     %s 100%%   33.31MB/s    0:00:02 (xfr#12, to-chk=0/1041)\n' "$all"
echo 'rsync: [sender] a file vanished' >&2
printf 'Number of files: 12 (reg: 12)\nTotal transferred file size: %s bytes\nLiteral data: %s bytes\n' "$all" "$all"
printf 'Matched data: 0 bytes\n\nsent 1 bytes  received 1 bytes  2.00 bytes/sec\ntotal size is 1  speedup is 1.00\n'
exit "$status"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The copy's own on old."""
    program(tmp_path / "programs/rsync", _RSYNC)
    made = tmp_path / "key it's"
    made.mkdir()
    return made


@pytest.fixture
def shell(folder: Path) -> Shell:
    transport, targets = Transport(streams=2, route=Route.LOCAL), (("data", "/new"),)
    channel = CopyChannel("key", str(folder), "", 22, "", "", (), (), targets, transport, (3, 2, 7))
    return passes.prepare_call(channel, call("send_streams", "data", "/new"))


def begun(shell: Shell, folder: Path, log: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["dash", "-c", runnable(shell)],
        cwd=folder,
        env=environment(folder.parent / "programs"),
        stdout=log,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.slow
def test_what_each_stream_is_through_with_adds_up(folder: Path, shell: Shell) -> None:
    log = RsyncLog(None)
    log.add(b"133214117 bytes in 24 files to send\n")
    with begun(shell, folder, subprocess.PIPE) as running:
        assert running.stdout is not None
        while log.done < 19_680_064:
            line = running.stdout.readline()
            assert line, "the streams were never shown"
            log.add(line)
        assert (log.done, log.total) == (19_680_064, 133_214_117)
        (folder / "end").touch()
        log.add(running.stdout.read())
    assert running.returncode == 23
    assert (log.done, log.total, log.sent) == (133_214_117, 133_214_117, 133_214_117)
    assert log.text().count("Number of files") == log.text().count("a file vanished") == 2
    assert "==>" not in log.text()
    assert "%" not in log.text()
    assert "Terminated" not in log.text()
    assert [path.name for path in folder.iterdir()] == ["end"]


def test_it_ends_with_its_streams(folder: Path, shell: Shell, tmp_path: Path) -> None:
    """Nothing of it outlives them, not even the pause between two looks."""
    (folder / "end").touch()
    with (tmp_path / "log").open("wb") as log, begun(shell, folder, log.fileno()) as running:
        assert running.wait(20) == 23
    opened = (fd for folder in Path("/proc").glob("[0-9]*/fd") for fd in _open(folder))
    open_by = [fd for fd in opened if _leads_to(fd, tmp_path / "log")]
    assert open_by == []


def _open(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # of a process that has ended meanwhile
        return []


def _leads_to(link: Path, file: Path) -> bool:
    try:
        return link.readlink() == file
    except OSError:  # of a process that has ended meanwhile
        return False
