"""The key's line on new, and the receiver behind it, run by a real shell; the whole way is tested between two hosts."""

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.migration.model.plan import functions_file
from core.migration.transports import copy_channel
from core.migration.transports.copy_channel import CopyChannel
from core.servers.functions import library
from core.servers.shell import Shell
from tests.core.migration.running import program, run


@pytest.fixture
def channel(tmp_path: Path) -> CopyChannel:
    target = tmp_path / 'it\'s $(touch x) "ö" \\'
    target.mkdir()
    return CopyChannel(
        "pghaul-copy-0123",
        str(tmp_path / "key"),
        "10.0.0.2",
        22,
        "dba",
        "postgres",
        (),
        ("10.0.0.1",),
        (("data", str(target)),),
    )


def _line(channel: CopyChannel, home: Path) -> str:
    """The options of the key's line as sshd reads them: source auth-options.c, opt_dequote."""
    (home / ".ssh").mkdir(mode=0o700, exist_ok=True)
    _run(copy_channel.allow_key(channel), home, "ssh-ed25519 AAAA pghaul-copy-0123\n")
    return (home / ".ssh" / "authorized_keys").read_text().splitlines()[-1]


def _run(shell: Shell, home: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """With a `getent` that names this home, for the file belongs to whoever logs in."""
    program(home / "programs/getent", f"echo 'u:x:1:1::{home}:/bin/sh'")
    program(home / "programs/unshare", "exit 1")
    return run(shell, given=given, folder=home, programs=home / "programs")


def _asked(channel: CopyChannel, home: Path, words: str) -> subprocess.CompletedProcess[str]:
    """What new answers to those words behind the key, with an rsync that only says where it is and what it is asked."""
    program(home / "programs/rsync", 'printf "%s|" "$PWD" "$@"')
    (home / "functions").write_text(functions_file(library(["receive_copy"])))
    forced = _forced(_line(channel, home)).replace(channel.functions_folder, str(home))
    return _run(Shell(f"export SSH_ORIGINAL_COMMAND='{words}'; {forced}", ""), home)


def _forced(line: str) -> str:
    assert line.startswith('restrict,from="10.0.0.1",command="')
    rest = line.partition('command="')[2]
    text, position = "", 0
    while rest[position] != '"':
        if rest[position : position + 2] == '\\"':
            position += 1
        text, position = text + rest[position], position + 1
    assert re.fullmatch(r'",expiry-time="[0-9]{12}" ssh-ed25519 AAAA pghaul-copy-0123', rest[position:])
    return text


def test_the_receiver_takes_an_rsync_server_into_its_own_folder(channel: CopyChannel, tmp_path: Path) -> None:
    words = "--server -lHtpre.iLsfxCIvu --inplace --timeout=600 . ."
    done = _asked(channel, tmp_path, f"pghaul-receive data {words}")
    folder = channel.targets[0][1]
    assert done.stdout == f"{folder}|--server|-lHtpre.iLsfxCIvu|--inplace|--timeout=600|.|.|"
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        "",
        "id",
        "rsync --server . .",
        "pghaul-receive",
        "pghaul-receive other --server . .",
        "pghaul-receive data",
        "pghaul-receive discard; id",
        "pghaul-receive data;id --server . .",
    ],
)
def test_the_receiver_refuses_all_else(channel: CopyChannel, tmp_path: Path, asked: str) -> None:
    done = _asked(channel, tmp_path, asked)
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr.startswith("pghaul: this key allows one copy only")


def test_shell_signs_in_what_is_asked_are_words(channel: CopyChannel, tmp_path: Path) -> None:
    done = _asked(channel, tmp_path, "pghaul-receive data --server $(id) `id` * ;id")
    assert (done.returncode, done.stdout) == (126, "")
    assert "$(id)" in done.stderr


def test_functions_of_somebody_else_are_never_run(channel: CopyChannel, tmp_path: Path) -> None:
    """Had something tidied the folder away, anybody could make another one of that name."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(tmp_path, 65534, 65534)
    assert _asked(channel, tmp_path, "pghaul-receive data --server -lHtpr . .").returncode == 1


def test_other_keys_stay_as_they_were(channel: CopyChannel, tmp_path: Path) -> None:
    file = tmp_path / ".ssh" / "authorized_keys"
    file.parent.mkdir(mode=0o700)
    before = "# mine\n\nssh-rsa AAAA me@pghaul-copy-0123.example\nssh-rsa BBBB no newline at the end"
    file.write_text(before)
    for _ in range(2):
        _line(channel, tmp_path)
        assert file.read_text().count("ssh-ed25519") == 1
    _run(copy_channel.forbid_key(channel), tmp_path)
    assert file.read_text() == before + "\n"
    assert [path.name for path in file.parent.iterdir()] == ["authorized_keys"]


def test_a_file_that_was_made_for_the_key_is_removed_with_it(channel: CopyChannel, tmp_path: Path) -> None:
    _run(copy_channel.allow_key(channel), tmp_path, "ssh-ed25519 AAAA pghaul-copy-0123\n")
    assert (tmp_path / ".ssh" / "authorized_keys").stat().st_mode & 0o777 == 0o600
    _run(copy_channel.allow_key(channel), tmp_path, "ssh-ed25519 BBBB pghaul-copy-0123\n")
    _run(copy_channel.forbid_key(channel), tmp_path)
    assert not (tmp_path / ".ssh").exists()
    assert _run(copy_channel.forbid_key(channel), tmp_path).returncode == 0


def test_a_key_is_made_afresh_and_only_for_its_owner(channel: CopyChannel, tmp_path: Path) -> None:
    for _ in range(2):
        done = _run(copy_channel.make_key(channel), tmp_path)
        assert done.stdout.startswith("ssh-ed25519 ")
        assert done.stdout.endswith(f" {channel.marker}\n")
    folder = Path(channel.folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "key").stat().st_mode & 0o777 == 0o600
    _run(copy_channel.pin_host_keys(channel), tmp_path, "ssh-ed25519 HHHH root@new\necdsa EEEE\n# whole\n")
    assert (folder / "known_hosts").read_text() == "10.0.0.2 ssh-ed25519 HHHH\n10.0.0.2 ecdsa EEEE\n"
    assert _run(copy_channel.pin_host_keys(channel), tmp_path, "").returncode != 0
    _run(copy_channel.remove_key(channel), tmp_path)
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("missing", range(1, len("ssh-ed25519 AAAA pghaul-copy-0123\n") + 1))
def test_a_key_that_was_cut_off_is_not_allowed(channel: CopyChannel, tmp_path: Path, missing: int) -> None:
    """A connection that is lost ends the input like a whole one; the comment may look like a word of the key."""
    cut = "ssh-ed25519 AAAA pghaul-copy-0123\n"[:-missing]
    for arrived in (cut, f"{cut}\n"):
        if arrived != "ssh-ed25519 AAAA pghaul-copy-0123\n":
            done = _run(copy_channel.allow_key(channel), tmp_path, arrived)
            assert (done.returncode, "the key is incomplete" in done.stderr) == (1, True)
            assert not (tmp_path / ".ssh").exists()


def test_host_keys_that_were_cut_off_are_not_pinned(channel: CopyChannel, tmp_path: Path) -> None:
    Path(channel.folder).mkdir()
    done = _run(copy_channel.pin_host_keys(channel), tmp_path, "ssh-ed25519 HHHH root@new\n")
    assert (done.returncode, "incomplete" in done.stderr) == (1, True)
    assert list(Path(channel.folder).iterdir()) == []


@pytest.mark.parametrize(("purpose", "minutes"), [("probe", 30), ("copy", 14 * 24 * 60)])
def test_a_key_expires_and_a_probes_within_minutes(
    channel: CopyChannel, tmp_path: Path, purpose: str, minutes: int
) -> None:
    before = datetime.now()  # noqa: DTZ005  sshd reads the local time of its host
    line = _line(replace(channel, purpose=purpose), tmp_path)
    expiry = datetime.strptime(line.partition('expiry-time="')[2][:12], "%Y%m%d%H%M")  # noqa: DTZ007
    assert abs(expiry - before - timedelta(minutes=minutes)) < timedelta(minutes=2)


def test_an_sshd_that_knows_no_expiry_gets_a_line_that_it_takes(channel: CopyChannel, tmp_path: Path) -> None:
    program(tmp_path / "programs/sshd", "echo 'unknown option -- V\nOpenSSH_7.4p1, OpenSSL 1.0.2k-fips' >&2; exit 1")
    assert "expiry-time" not in _line(channel, tmp_path)


_THEIRS = "# mine\nssh-rsa AAAA me\nssh-rsa BBBB another\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken", ["cat", "chmod", "cp", "flock", "getent", "grep", "mkdir", "mktemp", "mv", "readlink", "rm", "sync"]
)
def test_whatever_breaks_no_key_is_lost(channel: CopyChannel, tmp_path: Path, broken: str) -> None:
    """A disk that fills behind the first look at it is one of these."""
    file = tmp_path / ".ssh/authorized_keys"
    file.parent.mkdir(mode=0o700)
    file.write_text(_THEIRS)
    program(tmp_path / "programs/getent", f"echo 'u:x:1:1::{tmp_path}:/bin/sh'")
    program(tmp_path / "programs" / broken, "exit 3")
    for shell in (copy_channel.allow_key(channel), copy_channel.forbid_key(channel)):
        run(shell, given="ssh-ed25519 AAAA pghaul-copy-0123\n", folder=tmp_path, programs=tmp_path / "programs")
        assert file.read_text().startswith(_THEIRS)


def test_keys_are_on_the_disk_before_they_take_the_place_of_others(channel: CopyChannel, tmp_path: Path) -> None:
    file = tmp_path / ".ssh/authorized_keys"
    file.parent.mkdir(mode=0o700)
    file.write_text(_THEIRS)
    file.chmod(0o640)
    for name in ("sync", "mv"):
        program(tmp_path / "programs" / name, f'echo "{name} $*" >>{tmp_path}/ran; exec {shutil.which(name)} "$@"')
    _line(channel, tmp_path)
    flushed, renamed, functions_folder = (tmp_path / "ran").read_text().splitlines()
    new = flushed.removeprefix("sync -- ")
    assert new.startswith(f"{file}.")
    assert (renamed, functions_folder) == (f"mv -f -- {new} {file}", f"sync -- {file.parent}")
    assert [path.name for path in file.parent.iterdir()] == ["authorized_keys"]
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.slow
def test_moves_at_once_keep_each_others_lines(channel: CopyChannel, tmp_path: Path) -> None:
    """Each makes the file anew of what it has read; the last to come takes the file away that the first has made."""
    moves = [replace(channel, marker=f"pghaul-copy-{number}") for number in range(8)]
    program(tmp_path / "programs/getent", f"echo 'u:x:1:1::{tmp_path}:/bin/sh'")
    file = tmp_path / ".ssh/authorized_keys"

    def change(shell: Shell, marker: str) -> None:
        given = f"ssh-ed25519 AAAA {marker}\n"
        done = run(shell, given=given, folder=tmp_path, programs=tmp_path / "programs")
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(len(moves)) as pool:
        for _ in range(3):
            list(pool.map(lambda each: change(copy_channel.allow_key(each), each.marker), moves))
            assert sorted(line.split()[-1] for line in file.read_text().splitlines()[1:]) == [
                each.marker for each in moves
            ]
            list(pool.map(lambda each: change(copy_channel.forbid_key(each), each.marker), moves))
            assert not file.parent.exists()
