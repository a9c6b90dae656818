"""Several streams in one log, by a real shell: each is seen by itself while it runs, and all is said in the end."""

import subprocess
from pathlib import Path

import pytest

from core.migration.execution.rsync_log import RsyncLog
from core.migration.transports import stream_logs
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, command, script

_COPY = r"""
printf '\r     %s  20%%   14.00MB/s    0:00:04  ' @through@
while [ ! -e @end@ ]; do sleep 0.05; done
printf '\r     %s 100%%   33.31MB/s    0:00:02 (xfr#12, to-chk=0/1041)\n' @all@
echo 'rsync: [sender] a file vanished' >&2
printf 'Number of files: 12 (reg: 12)\nTotal transferred file size: %s bytes\nLiteral data: %s bytes\n' @all@ @all@
printf 'Matched data: 0 bytes\n\nsent 1 bytes  received 1 bytes  2.00 bytes/sec\ntotal size is 1  speedup is 1.00\n'
exit @status@
"""


@pytest.fixture
def channel(tmp_path: Path) -> CopyChannel:
    folder = tmp_path / "key it's"
    folder.mkdir()
    return CopyChannel("key", str(folder), "10.0.0.2", 22, "dba", "postgres", (), ("10.0.0.1",), (("data", "/new"),))


def copy(channel: CopyChannel, through: str, whole: str, status: int = 0) -> Shell:
    return script(_COPY, through=through, all=whole, end=f"{channel.folder}/end", status=status)


def side_by_side(copies: list[Shell]) -> Shell:
    starting = script('for stream do sh -c "$stream" & all="$all $!"; done; for each in $all; do wait "$each"; done')
    return command("sh", "-c", starting, "streams", *copies)


def test_what_each_stream_is_through_with_adds_up(channel: CopyChannel) -> None:
    copies = [copy(channel, "14,680,064", "73,214,117"), copy(channel, "5,000,000", "60,000,000", status=23)]
    shell = stream_logs.watched(channel, "data", side_by_side(stream_logs.own_logs(channel, "data", copies)))
    log = RsyncLog(None)
    log.add(b"133214117 bytes in 24 files to send\n")
    with subprocess.Popen(["dash", "-c", shell.text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        assert running.stdout is not None
        while log.done < 19_680_064:
            line = running.stdout.readline()
            assert line, "the streams were never shown"
            log.add(line)
        assert (log.done, log.total) == (19_680_064, 133_214_117)
        Path(channel.folder, "end").touch()
        log.add(running.stdout.read())
    assert running.returncode == 23
    assert (log.done, log.total, log.sent) == (133_214_117, 133_214_117, 133_214_117)
    assert log.text().count("Number of files") == log.text().count("a file vanished") == 2
    assert "==>" not in log.text()
    assert "%" not in log.text()
    assert [path.name for path in Path(channel.folder).iterdir()] == ["end"]


def test_it_ends_with_its_streams(channel: CopyChannel, tmp_path: Path) -> None:
    """Nothing of it outlives them, not even the pause between two looks."""
    Path(channel.folder, "end").touch()
    shell = stream_logs.watched(
        channel, "data", side_by_side(stream_logs.own_logs(channel, "data", [copy(channel, "1", "2")]))
    )
    with (tmp_path / "log").open("wb") as log:
        subprocess.run(["dash", "-c", shell.text], stdout=log, check=True, timeout=20)
    open_by = [fd for fd in Path("/proc").glob("[0-9]*/fd/*") if _leads_to(fd, tmp_path / "log")]
    assert open_by == []


def _leads_to(link: Path, file: Path) -> bool:
    try:
        return link.readlink() == file
    except OSError:  # of a process that has ended meanwhile
        return False
