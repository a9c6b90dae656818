"""Data roots that are not what they look like, by the command line: disks that go, links that lead elsewhere."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine, Terminal
from tests.live.moving import DATA, NEW_OTHER, ROOT, SPACE, WAL, pg_ctl, sql

pytestmark = pytest.mark.lab

TARGET = f"{ROOT}/deeper/15/main"
"""Where `../wal` leads elsewhere than on old."""
ACCOUNTS = "select count(*), md5(string_agg(aid || ' ' || abalance, ',' order by aid)) from pgbench_accounts"

_DISK = f"""
set -eu
cp -a '{SPACE}/.' '{ROOT}/kept'
mount -t tmpfs -o mode=700 space '{SPACE}'
cp -a '{ROOT}/kept/.' '{SPACE}'
rm -r '{ROOT}/kept'
chown postgres: '{SPACE}'
"""
_LINKS = f"""
mkdir -m 700 '{SPACE}/lost+found' '{SPACE}/PG_13_202007201'
ln -sfn ../wal '{DATA}/pg_wal'
ln -s '{SPACE}' {ROOT}/second
for link in '{DATA}'/pg_tblspc/*; do [ ! "$link" -ef '{SPACE}' ] || ln -sfn {ROOT}/second "$link"; done
ln -s /etc/hosts '{DATA}/server.crt'
touch {ROOT}/grows
(while [ -e {ROOT}/grows ]; do echo more >>'{SPACE}/PG_13_202007201/file'; sleep 0.1; done) >/dev/null 2>&1 &
chown -h postgres: '{DATA}'/pg_wal '{DATA}'/pg_tblspc/* '{DATA}/server.crt'
"""


@pytest.fixture(scope="module")
def cluster(lab: Lab) -> Iterator[Lab]:
    site.create(lab.old, spread=True)
    yield lab
    site.remove(lab)


@pytest.fixture
def disk(cluster: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """The cluster runs, and a tablespace of it is a file system by itself."""
    with _running(CommandLine(cluster, asker, capsys), _DISK) as cli:
        yield cli


@pytest.fixture
def odd(cluster: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """It lies behind a second link too, with a `lost+found`; `pg_wal` is a relative link, and one leads to a file.

    In the folder of the tablespace another major version has its files, too, and one of them grows.
    """
    with _running(CommandLine(cluster, asker, capsys), _DISK + _LINKS) as cli:
        yield cli


@contextmanager
def _running(cli: CommandLine, arrangement: str) -> Iterator[CommandLine]:
    old, new = cli.lab.old, cli.lab.new
    site.clear(cli.lab)
    old.exec("sh", "-c", arrangement)
    site.start(old)
    site.describe(cli, TARGET, spread=True)
    yield cli
    pg_ctl(old, "-m", "immediate", "stop", check=False)
    new.exec("sh", "-c", f"{site.NEW_BIN}/pg_ctl -D {TARGET} -m immediate stop", user="postgres", check=False)
    old.exec("rm", "-f", f"{ROOT}/grows")
    old.exec("sh", "-c", f"while umount -l '{SPACE}'; do :; done 2>/dev/null", check=False)


def execute(cli: CommandLine, *options: str) -> tuple[int, str, str]:
    return cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done", *options)


@pytest.mark.long
def test_links_and_a_file_system_s_own_root_are_moved_right(odd: CommandLine) -> None:
    before = sql(odd.lab.old, ACCOUNTS)
    code, _, err = execute(odd)
    assert code == 0, err
    assert sql(odd.lab.new, ACCOUNTS) == before
    checkpoint, stop = (
        err.index(f"postgres@old: {title}\n")
        for title in ("Write a checkpoint before the stop", "Stop the old cluster")
    )
    assert checkpoint < stop
    wal = odd.lab.new.exec("readlink", f"{TARGET}/pg_wal").stdout.strip()
    spaces = odd.lab.new.exec("sh", "-c", f"readlink {TARGET}/pg_tblspc/* | sort").stdout.splitlines()
    assert (wal, spaces) == (WAL, sorted([SPACE, NEW_OTHER]))
    names = odd.lab.new.exec("ls", SPACE).stdout
    assert re.fullmatch(r"PG_15_\d+\n", names), names
    assert f"{SPACE}: PG_13_202007201). These are not copied." in err


@pytest.mark.long
@pytest.mark.parametrize("lost", [f"umount -l '{SPACE}'", f"mount -t tmpfs -o mode=777 another '{SPACE}'"])
def test_a_disk_that_goes_before_the_stop_removes_nothing_on_new(disk: CommandLine, lost: str) -> None:
    before = sql(disk.lab.old, ACCOUNTS)
    disk("move", "hook", "m", "stop-applications", "--side", "old", "--as", "root", "--command", lost)
    code, _, err = execute(disk)
    assert (code, "another folder, or on another disk" in err or "is its disk mounted?" in err) == (1, True), err
    assert int(disk.lab.new.exec("sh", "-c", f"find '{SPACE}' -type f | wc -l").stdout) >= 10
    disk.lab.old.exec("umount", SPACE, check=False)  # what lies above it, if anything
    if lost.startswith("umount"):
        return  # its files went with it
    code, _, err = disk.connecting("execute", "m", "--rollback")
    assert code == 0, err
    assert sql(disk.lab.old, ACCOUNTS) == before


@pytest.mark.long
def test_a_link_to_a_file_that_new_does_not_have_stops_the_move_before_it_begins(odd: CommandLine) -> None:
    odd.lab.old.exec("sh", "-c", f"touch {ROOT}/here && ln -sfn {ROOT}/here {DATA}/server.key")
    code, _, err = execute(odd)
    assert (code, f"server.key to {ROOT}/here" in err) == (1, True), err
    assert sql(odd.lab.old, "select 1") == "1"


@pytest.mark.long
def test_new_is_not_opened_where_a_file_of_old_has_changed_since_its_stop(
    disk: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk("move", "hook", "m", "stop-applications", "--side", "old", "--command", "true")
    written = f"touch '{SPACE}'/PG_15_*/*/*"
    monkeypatch.setattr("sys.stdin", Terminal(lambda: disk.lab.old.exec("sh", "-c", written, user="postgres")))
    code, _, err = disk.connecting("execute", "m", "--confirm", DATA)
    assert (code, "/16384 was changed" in err) == (1, True), err
    assert sql(disk.lab.new, "show listen_addresses", target=TARGET) == ""
    for _ in range(2):  # a look at what changed is not what later looks are held against
        code, _, err = disk.connecting("execute", "m", "--resume", "--confirm", DATA)
        assert (code, "cluster was started since. It lacks" in err, "--rollback. Then" in err) == (1, True, True), err
    site.unfence(disk.lab.old)
    site.start(disk.lab.old)
    pg_ctl(disk.lab.old, "-m", "fast", "stop")
    for _ in range(2):
        code, _, err = disk.connecting("execute", "m", "--resume", "--confirm", DATA)
        assert (code, "Their contents differ" in err) == (1, True), err
    assert disk.connecting("execute", "m", "--rollback")[0] == 0
    assert sql(disk.lab.old, "select 1") == "1"
