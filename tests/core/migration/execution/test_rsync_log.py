import pytest

from core.migration.execution.rsync_log import RsyncLog, changed_meanwhile

STATS = b"""
Number of files: 1,041 (reg: 1,007, dir: 34)
Number of created files: 0
Number of deleted files: 0
Number of regular files transferred: 12
Total file size: 73,214,117 bytes
Total transferred file size: 34,001,408 bytes
Literal data: 6,029,312 bytes
Matched data: 27,972,096 bytes
File list size: 0
File list generation time: 0.001 seconds
File list transfer time: 0.000 seconds
Total bytes sent: 6,070,001
Total bytes received: 41,239

sent 6,070,001 bytes  received 41,239 bytes  4,074,160.00 bytes/sec
total size is 73,214,117  speedup is 11.98
"""
PROGRESS = (
    b"\r              0   0%    0.00kB/s    0:00:00 (xfr#0, to-chk=1042/1044)"
    b"\r     14,680,064  20%   14.00MB/s    0:00:04  "
    b"\r     73,214,117 100%   33.31MB/s    0:00:02 (xfr#12, to-chk=0/1041)\n"
)


def test_progress_is_taken_out_and_the_end_is_kept() -> None:
    log = RsyncLog(73_000_000)
    changes = [log.add(bytes([byte])) for byte in PROGRESS + STATS]
    assert sum(changes) == 2
    assert (log.done, log.total) == (73_214_117, 73_214_117)
    assert log.text() == STATS.decode().lstrip("\n")
    assert log.sent == 6_029_312


def test_the_bytes_of_several_rsyncs_add_up() -> None:
    log = RsyncLog(None)
    log.add(STATS + b"rsync: warning: some files vanished\n" + STATS)
    assert log.sent == 2 * 6_029_312


def test_rsyncs_one_after_the_other_of_what_the_list_of_files_said() -> None:
    """Of old the cluster has grown since its size was read: the list knows."""
    log = RsyncLog(50_000_000)
    log.add(b"35000000 bytes in 12 files to send\n")
    assert log.total == 35_000_000
    log.add(PROGRESS[:40] + b"\r     20,000,000  57%   14.00MB/s    0:00:04  \r")
    assert log.done == 20_000_000
    log.add(b"\n" + STATS)
    assert log.done == 34_001_408
    log.add(b"\r        500,000   1%   14.00MB/s    0:00:04  \r")
    assert (log.done, log.total) == (34_501_408, 35_000_000)


def test_streams_in_one_log_are_told_apart_by_the_name_of_their_own() -> None:
    log = RsyncLog(None)
    log.add(
        b"==> /tmp/key/stream-data-1 <==\n4,064  20%   14.00MB/s    0:00:04  \r  14,680,064  20%   14.00MB/s    0:0 \r"
    )
    log.add(b"\n==> /tmp/key/stream-data-2 <==\n\r  5,000,000   7%   14.00MB/s    0:00:04  \n==> <==\n")
    assert log.done == 19_680_064
    log.add(b"==> /tmp/key/stream-data-1 <==\n80,064  20%   14.00MB/s    0:00:04  \n==> <==\nrsync: a file vanished\n")
    assert log.done == 19_680_064
    assert log.text() == "rsync: a file vanished\n"


def test_an_output_without_figures_sent_nothing_that_is_known() -> None:
    log = RsyncLog(None)
    assert not log.add(b"waiting for server to shut down.... done\nserver stopped\n")
    assert (log.sent, log.done, log.total) == (None, 0, None)
    assert log.text() == "waiting for server to shut down.... done\nserver stopped\n"


def test_figures_that_were_cut_off_are_not_guessed() -> None:
    log = RsyncLog(None)
    log.add(STATS[:60])
    assert log.sent is None


def test_a_log_without_end_is_kept_within_a_bound() -> None:
    log = RsyncLog(None)
    for _ in range(300):
        log.add(b"rsync: [sender] send_files failed to open a file\n" * 200)
    assert len(log.text()) <= 1 << 20
    assert log.text().endswith("failed to open a file\n")


def test_bytes_that_are_no_text() -> None:
    log = RsyncLog(None)
    log.add(b"file \xff\xfe vanished\n")
    assert log.text() == "file \ufffd\ufffd vanished\n"


def test_the_progress_of_pg_checksums_is_taken_in_and_what_it_found_is_kept() -> None:
    log = RsyncLog(50_000_000)
    assert log.add(b"  12/345 MB (3%) computed\n")
    assert (log.done, log.total) == (12 << 20, 345 << 20)
    log.add(b'pg_checksums: error: checksum verification failed in file "base/1/1259"\n345/345 MB (100%) computed\n')
    assert (log.done, log.total) == (345 << 20, 345 << 20)
    assert log.text() == 'pg_checksums: error: checksum verification failed in file "base/1/1259"\n'


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("Number of files: 3\n16777216 bytes in 4 files changed meanwhile\n", 16_777_216),
        ("5 bytes in 1 files changed meanwhile\n6 bytes in 1 files changed meanwhile\n", 6),
        ("16777216 bytes in 4 files changed meanw", None),
        ("", None),
    ],
)
def test_what_changed_during_a_pass_is_its_last_line(text: str, bytes_: int | None) -> None:
    assert changed_meanwhile(text) == bytes_
