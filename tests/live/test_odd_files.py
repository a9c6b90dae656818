"""Files, links, FIFOs and sockets that PostgreSQL did not make, and what is mended on the stopped old server."""

import pytest

from tests.lab.hosts import Host
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, ROOT, TARGET, pg_ctl, sql

pytestmark = pytest.mark.lab

_ODD = f"""
set -eu
cd '{DATA}'
chmod 644 postgresql.conf
chown root postgresql.conf
ln -s PG_VERSION link
mkfifo pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("own.socket")'
chown postgres pipe own.socket
"""
_MOUNTED = f"""
set -eu
cd '{DATA}'
mv pg_wal ../kept
mkdir -m 700 pg_wal
mount -t tmpfs -o mode=700 own-disk pg_wal
cp -a ../kept/. pg_wal
mkdir -m 700 pg_wal/lost+found
chown postgres pg_wal
"""
_EARLY, _LATE = f"{DATA}/base/early", f"{DATA}/base/late"
_CLOSED = "install -m 600 -o root /dev/null"
_FENCED = f"until [ -e {DATA}/pghaul-fence/global/pg_control ]; do sleep 0.02; done"
_UNREADABLE = (
    f"""setsid sh -c 'until [ -e "{ROOT}/over" ]; do chmod 0 "{TARGET}/base/1/PG_VERSION"; sleep 0.02; done' """
    ">/dev/null 2>&1 </dev/null &"
)
_IN_THE_MEANTIME = (
    f"mkdir {ROOT}/seen && {_CLOSED} {_EARLY}; setsid sh -c '{_FENCED}; {_CLOSED} {_LATE}' >/dev/null 2>&1 </dev/null &"
)


@pytest.fixture
def cli(cli: CommandLine) -> CommandLine:
    """The cluster has odd files."""
    cli.lab.old.exec("sh", "-c", _ODD)
    return cli


def finding(cli: CommandLine, check: str) -> str:
    for host in (cli.lab.old, cli.lab.new):
        code, _, err = cli.connecting("facts", host.name)
        assert code == 0, err
    lines = cli.connecting("check", "m", "--all")[1].splitlines()
    at = next(number for number, line in enumerate(lines) if f"[{check}]" in line)
    return "\n".join(lines[at : at + 4])


def owner(host: Host, file: str) -> str:
    return host.exec("stat", "-c", "%U", f"{TARGET}/{file}").stdout.strip()


@pytest.mark.long
def test_odd_files_arrive_or_are_refused_before_the_stop_and_a_mend_in_it_is_no_dead_end(
    cli: CommandLine,
) -> None:
    old, new = cli.lab.old, cli.lab.new
    assert "PASS" in finding(cli, "foreign-files")
    assert "contains FIFOs or devices (1)." in finding(cli, "special-files")
    # both come when the checks have passed: one before the stop, the other one behind it
    cli("move", "hook", "m", "stop-applications", "--side", "old", "--as", "root", "--command", _IN_THE_MEANTIME)
    code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert f"belong to another user: 1 ({DATA}/postgresql.conf). On the new server" in err
    assert (code, f"by the owner of the cluster, so they cannot be copied: {_EARLY}. Correct" in err) == (1, True), err
    assert sql(old, "select 1") == "1"
    old.exec("rm", _EARLY)
    go_on = ("execute", "m", "--resume", "--confirm", DATA, "--manual-steps-done")
    code, _, err = cli.connecting(*go_on)
    assert (code, "Some files could not be read" in err) == (3, True), err
    old.exec("chown", "postgres:", _LATE)
    new.exec("sh", "-c", _UNREADABLE)
    code, _, err = cli.connecting(*go_on)
    new.exec("sh", "-c", f"touch {ROOT}/over && chmod 600 '{TARGET}/base/1/PG_VERSION'")
    assert (code, '"Compute the checksums of the new server, and compare both" failed' in err) == (3, True), err
    # its sums are made, and new's are not
    old.exec("sh", "-c", f"echo '# late' >>{DATA}/pg_hba.conf")
    code, _, err = cli.connecting(*go_on)
    assert (code, "changed after their checksums were computed" in err) == (0, True), err
    assert new.exec("tail", "-n", "1", f"{TARGET}/pg_hba.conf").stdout == "# late\n"
    assert {owner(new, file) for file in ("postgresql.conf", "base/late", "link")} == {"postgres"}
    assert new.exec("sh", "-c", f"cd '{TARGET}' && find . -type p -o -type s").stdout == ""


@pytest.mark.long
def test_a_file_system_inside_the_data_directory_is_named_and_its_files_arrive(cli: CommandLine) -> None:
    """With root's own lost+found, which nobody but root may enter."""
    old, new = cli.lab.old, cli.lab.new
    pg_ctl(old, "-m", "fast", "stop")
    old.exec("sh", "-c", _MOUNTED)
    site.start(old)
    try:
        said = finding(cli, "inner-mounts")
        assert (said.startswith("WARNING"), f"{DATA}/pg_wal is own-disk" in said) == (True, True), said
        code, _, err = cli.connecting("execute", "m", "--rehearsal", "--manual-steps-done")
        assert (code, f"{DATA}/pg_wal/lost+found" in err) == (0, True), err
        code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
        assert code == 0, err
        assert new.exec("sh", "-c", f"cd '{TARGET}' && find . -name lost+found").stdout == ""
        assert sql(new, "select 1") == "1"
    finally:
        pg_ctl(old, "-m", "immediate", "stop", check=False)
        old.exec("umount", "-l", f"{DATA}/pg_wal")
