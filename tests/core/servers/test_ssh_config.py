"""What ssh would do with a name, by ssh itself and by paramiko's reading."""

import shutil
from pathlib import Path

import pytest

from core.errors import InputError
from core.servers.profiles import Profile
from core.servers.ssh_config import Destination, destination, expand, hops, resolve

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
    with pytest.raises(InputError, match=r"cannot tell how to reach old.*nonsense") as caught:
        resolve("old")
    assert "config" in caught.value.hint


@pytest.mark.parametrize("name", ["", "-oProxyCommand=touch x", "two words", "a\nb", "a\0b"])
def test_what_is_no_host_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no address"):
        resolve(name)


def test_without_openssh_paramiko_reads_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(config.parent))
    config.write_text("Host db\n  HostName db.example.org\n  Port 2222\n  User alice\n  ProxyJump gate\n")
    found = resolve("db")
    assert (found.host, found.port, found.user, found.jumps) == ("db.example.org", 2222, "alice", "gate")
    assert found.known_hosts[0] == Path.home() / ".ssh" / "known_hosts"


def test_hops_are_read_as_ssh_writes_them() -> None:
    assert hops("a,bob@b:2222,ssh://c@[::1]:22") == (("a", None, None), ("b", "bob", 2222), ("::1", "c", 22))
    assert hops("none") == ()
    for wrong in ("-oX", "a:b", "a,,b", ""):
        with pytest.raises(InputError, match="no jump host"):
            hops(wrong)


def test_tokens_and_variables_are_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "/run")
    assert expand("%d/%%h-%h-%r ${PLACE}/%q", {"d": "/home", "h": "db", "r": "bob"}) == ("/home/%h-db-bob /run/%q")


def test_known_as_has_the_port_only_where_it_is_unusual() -> None:
    assert Destination("Old", "OLD.example", 22, "dba").known_as == "old.example"
    assert Destination("old", "old.example", 2222, "dba", host_key_alias="alias").known_as == "alias"
