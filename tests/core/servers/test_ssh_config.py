"""What ssh would do with a name, by ssh itself and by paramiko's reading."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InputError
from core.servers.profiles import Profile
from core.servers.ssh_config import Destination, destination, hops, resolve

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="OpenSSH's client is not installed")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config"
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return path


@needs_ssh
def test_alias_include_and_match_are_honoured(config: Path, tmp_path: Path) -> None:
    (tmp_path / "more").write_text(
        "Host db-*\n  HostName %h.example.org\n  Port 2222\n  User alice\n  ProxyJump gate:2200,inner\n"
        f"  IdentityFile {tmp_path}/id_%r\n  CertificateFile {tmp_path}/cert.pub\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {tmp_path}/a {tmp_path}/b\n  IdentityAgent none\n  HashKnownHosts yes\n"
        "  StrictHostKeyChecking yes\n"
    )
    config.write_text(f"Include {tmp_path}/more\nMatch user bob\n  Port 2023\n")
    found = resolve("db-old")
    assert (found.host, found.port, found.user, found.jumps) == ("db-old.example.org", 2222, "alice", "gate:2200,inner")
    assert found.identity_files == (tmp_path / "id_alice",)
    assert found.certificate_files == (tmp_path / "cert.pub",)
    assert found.known_hosts[:2] == (tmp_path / "a", tmp_path / "b")
    assert (found.identities_only, found.identity_agent, found.hash_known_hosts) == (True, "", True)
    assert not found.ask_unknown
    assert found.known_as == "[db-old.example.org]:2222"
    assert resolve("elsewhere", user="bob").port == 2023


@needs_ssh
def test_the_profile_wins(config: Path) -> None:
    config.write_text("Host *\n  User alice\n  Port 2222\n  ProxyCommand nc %h %p\n")
    profile = Profile("old", "10.0.0.1", user="bob", port=22, identity_file="~/key", jump="gate")
    found = destination(profile)
    assert (found.user, found.port, found.jumps, found.proxy_command) == ("bob", 22, "gate", None)
    assert found.identity_files == (Path("~/key").expanduser(),)
    assert found.identities_only
    assert destination(Profile("old", "10.0.0.1")).proxy_command == "nc 10.0.0.1 2222"


@needs_ssh
def test_a_broken_configuration_is_named(config: Path) -> None:
    config.write_text("Nonsense yes\n")
    with pytest.raises(InputError, match=r"\bold\b.*nonsense") as caught:
        resolve("old")
    assert "config" in caught.value.hint


@pytest.mark.parametrize("name", ["", "-oX", "two words", "a\nb", "a\0b", "a;b", "$(id)", "`id`", "a|b"])
def test_what_is_no_host_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(repr(name))):
        resolve(name)


@pytest.mark.parametrize("user", ["-oX", "a;touch x", "`id`", "a -oX", "a\\", "a\nb"])
def test_nor_is_every_word_a_user(user: str) -> None:
    with pytest.raises(InputError, match=re.escape(repr(user))):
        resolve("db", user=user)


@needs_ssh
def test_what_the_configuration_says_of_trust_is_taken_over(config: Path, tmp_path: Path) -> None:
    config.write_text(
        "Host db\n  RevokedHostKeys ~/revoked\n  KnownHostsCommand /usr/bin/keys %H %%\n  Ciphers aes256-ctr\n"
        "  HostKeyAlgorithms ssh-ed25519,rsa-sha2-512\n  CASignatureAlgorithms ssh-ed25519\n"
        "  PasswordAuthentication no\n  PreferredAuthentications publickey,password\n"
        f"  IdentityFile {tmp_path}/%C-%i-%k-%L-%l-%n-%%\n"
    )
    found = resolve("db")
    assert found.revoked_host_keys == (tmp_path / "revoked",)
    assert found.known_hosts_command == "/usr/bin/keys %H %%"
    assert found.algorithms["hostkeyalgorithms"] == ("ssh-ed25519", "rsa-sha2-512")
    assert found.algorithms["ciphers"] == ("aes256-ctr",)
    assert found.algorithms["casignaturealgorithms"] == ("ssh-ed25519",)
    assert found.methods == frozenset({"publickey"})
    assert found.identity_files[0].name.endswith("-db-%")
    assert resolve("other").methods == frozenset({"publickey", "password", "keyboard-interactive"})


@needs_ssh
def test_match_exec_is_run_as_ssh_runs_it(config: Path, tmp_path: Path) -> None:
    config.write_text(f'Match exec "test %n-%r = db-bob && touch {tmp_path}/ran"\n  HostName matched.example\n')
    assert resolve("db", user="bob").host == "matched.example"
    assert (tmp_path / "ran").exists()
    assert resolve("db", user="eve").host == "db"


@needs_ssh
@pytest.mark.parametrize(
    "line", ["IdentityFile /k/%q", "ProxyCommand nc %i", "IdentityFile ${NOT_THERE}/k", "UserKnownHostsFile /k%"]
)
def test_a_token_without_a_meaning_stops(config: Path, line: str) -> None:
    config.write_text(f"Host db\n  {line}\n")
    with pytest.raises(InputError):
        resolve("db")


@needs_ssh
def test_a_proxy_command_keeps_its_escapes_and_its_shells_variables(config: Path) -> None:
    config.write_text("Host db\n  ProxyCommand proxy --to %h:%p as %r of %n 100%% ${HOME}\n  HostName db.example\n")
    assert resolve("db", user="bob").proxy_command == "proxy --to db.example:22 as bob of db 100% ${HOME}"


def test_the_home_of_nobody_is_no_end_of_it() -> None:
    profile = Profile("old", "192.0.2.1", identity_file="~no-such-user/key")
    assert destination(profile).identity_files == (Path("~no-such-user/key"),)
    home = replace(profile, identity_file="~/key")
    assert destination(home).identity_files == (Path.home() / "key",)


def test_hops_are_read_as_ssh_writes_them() -> None:
    assert hops("a,bob@b:2222,ssh://c@[::1]:22") == (("a", None, None), ("b", "bob", 2222), ("::1", "c", 22))
    assert hops("none") == ()
    for wrong, part in (("-oX", "-oX"), ("a,b:c", "b:c"), ("a,,b", ""), ("", "")):
        with pytest.raises(InputError, match=f"^{part!r} "):
            hops(wrong)


def test_known_as_has_the_port_only_where_it_is_unusual() -> None:
    assert Destination("Old", "OLD.example", 22, "dba").known_as == "old.example"
    assert Destination("old", "old.example", 2222, "dba", host_key_alias="alias").known_as == "alias"
