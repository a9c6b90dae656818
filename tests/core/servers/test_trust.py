"""What the ssh configuration says of whom to trust: revoked keys, algorithms, a command that knows more."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import HostKeyError, InputError
from core.servers import host_keys
from core.servers.host_keys import further_entries
from core.servers.ssh_config import Destination, tokens
from tests.core.servers.test_host_keys import OLD, entries, make, sign, verify

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH's client is not installed")

TOKENS = tokens(host="old.example.org", name="old", port=22, user="dba", local_user="me", jumps="", alias="")


def _revoking(folder: Path, name: str, form: str) -> Destination:
    path = folder / "revoked"
    if form == "text":
        path.write_text(f"# these are gone\n\n{(folder / name).read_text()}")
    else:
        subprocess.run(["ssh-keygen", "-q", "-k", "-f", str(path), str(folder / name)], check=True)
    return replace(OLD, revoked_host_keys=(path,))


@pytest.mark.parametrize("form", ["text", "krl"])
def test_a_revoked_key_is_refused_though_it_is_known(tmp_path: Path, form: str) -> None:
    key, other = make(tmp_path, "host"), make(tmp_path, "other")
    to = _revoking(tmp_path, "host.pub", form)
    with pytest.raises(HostKeyError, match=rf"\(RevokedHostKeys {to.revoked_host_keys[0]}\)"):
        verify(key, entries(tmp_path, "old.example.org host"), accepts=True, to=to)
    assert verify(other, entries(tmp_path, "old.example.org other"), to=to).seen == []


@pytest.mark.parametrize("form", ["text", "krl"])
@pytest.mark.parametrize("revoked", ["host.pub", "ca.pub", "host-cert.pub"])
def test_so_is_a_certificate_by_its_key_or_its_authority(tmp_path: Path, form: str, revoked: str) -> None:
    make(tmp_path, "ca")
    make(tmp_path, "host")
    key = sign(tmp_path, "ca", "host", "-h", "-n", "old.example.org", "-z", "7")
    to = _revoking(tmp_path, revoked, form)
    with pytest.raises(HostKeyError, match=rf"\(RevokedHostKeys {to.revoked_host_keys[0]}\)"):
        verify(key, entries(tmp_path, "@cert-authority * ca"), accepts=True, to=to)


@pytest.mark.parametrize("content", [None, b"no key at all\n", b"SSHKRL\n\0cut off"])
def test_where_nobody_knows_who_is_revoked_nobody_is_trusted(tmp_path: Path, content: bytes | None) -> None:
    key, path = make(tmp_path, "host"), tmp_path / "revoked"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HostKeyError, match="RevokedHostKeys"):
        verify(key, entries(tmp_path, "old.example.org host"), to=replace(OLD, revoked_host_keys=(path,)))


def test_only_algorithms_that_are_allowed_are_asked_for(tmp_path: Path) -> None:
    make(tmp_path, "rsa", "rsa")
    known = entries(tmp_path, "old.example.org rsa", "@cert-authority old.example.org rsa")
    allowed = ("ssh-ed25519", "rsa-sha2-512", "sk-ssh-ed25519@openssh.com")
    assert host_keys.wanted_types(known, "old.example.org", allowed) == ("rsa-sha2-512", "ssh-ed25519")
    with pytest.raises(HostKeyError, match="HostKeyAlgorithms"):
        host_keys.wanted_types(known, "old.example.org", ("ssh-dss",))


def test_an_authoritys_signature_must_be_allowed(tmp_path: Path) -> None:
    make(tmp_path, "ca", "ecdsa")
    make(tmp_path, "host")
    key = sign(tmp_path, "ca", "host", "-h", "-n", "old.example.org")
    known = entries(tmp_path, "@cert-authority * ca")
    to = replace(OLD, algorithms={"casignaturealgorithms": ("ssh-ed25519",)})
    with pytest.raises(HostKeyError, match=r"ecdsa-sha2-nistp256.*CASignatureAlgorithms"):
        verify(key, known, accepts=True, to=to)
    assert (
        verify(key, known, to=replace(OLD, algorithms={"casignaturealgorithms": ("ecdsa-sha2-nistp256",)})).seen == []
    )


def test_an_rsa_key_that_is_too_short_proves_no_server(tmp_path: Path) -> None:
    make(tmp_path, "ca")
    key = make(tmp_path, "host", "rsa")
    signed = sign(tmp_path, "ca", "host", "-h", "-n", "old.example.org")
    known = entries(tmp_path, "old.example.org host", "@cert-authority * ca")
    for each in (key, signed):
        assert verify(each, known).seen == []
        with pytest.raises(HostKeyError, match=r"\b2048 .*RequiredRSASize .*\b3072\b"):
            verify(each, known, accepts=True, to=replace(OLD, required_rsa_bits=3072))


def _asking(folder: Path, script: str, words: str = "%H %I %t %n") -> Destination:
    program = folder / "it's a program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return replace(OLD, known_hosts_command=f'"{program}" {words} 100%%', tokens=TOKENS)


def test_a_command_tells_further_keys(tmp_path: Path) -> None:
    key = make(tmp_path, "host")
    told = f"echo \"$@\" >>'{tmp_path}/asked'; echo \"$1 $(cat '{tmp_path}/host.pub')\""
    to = _asking(tmp_path, told)
    assert further_entries(to)
    assert verify(key, further_entries(to, key), to=to).seen == []
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["old.example.org ORDER NONE old 100%", "old.example.org HOSTNAME ssh-ed25519 old 100%"]
    assert further_entries(OLD) == ()


@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$"])
def test_where_it_fails_nobody_is_trusted(tmp_path: Path, script: str) -> None:
    with pytest.raises(HostKeyError, match="KnownHostsCommand"):
        further_entries(_asking(tmp_path, script))


@pytest.mark.parametrize("command", ["keys %H", "'/usr/bin/keys", "/bin/echo %q"])
def test_it_is_no_command_that_ssh_would_run(command: str) -> None:
    with pytest.raises(InputError):
        further_entries(replace(OLD, known_hosts_command=command, tokens=TOKENS))


def test_it_is_not_there() -> None:
    with pytest.raises(HostKeyError, match="/nowhere/keys"):
        further_entries(replace(OLD, known_hosts_command="/nowhere/keys", tokens=TOKENS))
