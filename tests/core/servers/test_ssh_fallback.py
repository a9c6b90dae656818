"""Without OpenSSH: what is honoured, and a stop at what is not."""

from pathlib import Path

import pytest

from core.errors import InputError
from core.servers import ssh_config
from core.servers.ssh_config import resolve


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / ".ssh" / "config"
    path.parent.mkdir()
    monkeypatch.delenv("PGHAUL_SSH_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ssh_config, "SYSTEM", tmp_path / "system")
    return path


def test_what_paramiko_reads_is_honoured(config: Path) -> None:
    config.write_text(
        "# mine\n\nHost db\n  HostName db.example.org\n  Port=2222\n  User alice\n  ProxyJump gate\n  ForwardAgent no\n"
        "Match originalhost db,db2\n  RevokedHostKeys ~/revoked\n  HostKeyAlgorithms ssh-ed25519\n"
        "Include ~/none/*.conf\n"
    )
    found = resolve("db")
    assert (found.host, found.port, found.user, found.jumps) == ("db.example.org", 2222, "alice", "gate")
    assert found.known_hosts[0] == Path.home() / ".ssh" / "known_hosts"
    assert found.revoked_host_keys == (Path.home() / "revoked",)
    assert found.algorithms == {"hostkeyalgorithms": ("ssh-ed25519",)}


@pytest.mark.parametrize(("place", "stops"), [(".ssh", True), ("named", False)])
def test_another_file_includes_from_the_users_folder_too(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, stops: bool
) -> None:
    """As `ssh -F`: what lies beside that file is not meant."""
    named = tmp_path / "named" / "config"
    named.parent.mkdir()
    named.write_text("Include trust\nHost db\n  Port 2222\n")
    (tmp_path / place / "trust").write_text("Host *\n  StrictHostKeyChecking yes\n")
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(named))
    if stops:
        with pytest.raises(InputError, match="'Include trust'"):
            resolve("db")
    else:
        assert resolve("db").port == 2222
    assert not config.exists()


def test_how_long_an_rsa_key_must_be_is_honoured(config: Path) -> None:
    config.write_text("Host db\n  RequiredRSASize 3072\n")
    assert resolve("db").required_rsa_bits == 3072
    assert resolve("other").required_rsa_bits == 1024


def test_the_systems_file_counts_behind_the_users(config: Path, tmp_path: Path) -> None:
    config.write_text("Host db\n  Port 2222\n")
    (tmp_path / "system").write_text("Host *\n  Port 22\n  HostKeyAlias all\n")
    found = resolve("db")
    assert (found.port, found.host_key_alias) == (2222, "all")


@pytest.mark.parametrize(
    "line",
    [
        'Match exec "touch {home}/ran"',
        "Match user alice",
        "Match final",
        "Include {home}/.ssh/more",
        "Include more-*",
        "HostKeyAlgorithms +ssh-rsa",
        "Ciphers ^aes256-ctr",
        "CanonicalizeHostname yes",
        "PKCS11Provider /lib/token.so",
        "VerifyHostKeyDNS yes%%\n  RequiredRSASize long",
        "Port ssh",
        "ProxyCommand nc %%h %p",
        "ProxyUseFdpass yes",
        "SecurityKeyProvider none",
        "Unheard of",
    ],
)
@pytest.mark.parametrize("place", [".ssh/config", "system"])
def test_what_is_not_stops_with_the_line(config: Path, tmp_path: Path, line: str, place: str) -> None:
    for folder in (config.parent, tmp_path):
        (folder / "more").write_text("Host *\n")
        (folder / "more-of-it").write_text("Host *\n")
    (tmp_path / place).write_text(f"Host *\n  {line.format(home=tmp_path)}\n")
    with pytest.raises(InputError, match=r":[23]: .*\bOpenSSH\b") as stopped:
        resolve("db")
    assert str(tmp_path / place) in stopped.value.message
    assert "OpenSSH" in stopped.value.hint
    assert not (tmp_path / "ran").exists()
