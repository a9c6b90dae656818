"""Known, unknown, changed, revoked and certified host keys, all made by ssh-keygen."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest

from core.errors import HostKeyError
from core.servers import certificates, host_keys
from core.servers.host_keys import Entry
from core.servers.ssh_config import Destination

OLD = Destination("old", "old.example.org", 22, "dba")


class Person:
    """Says yes or no, and remembers what was shown."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.seen: list[tuple[str, ...]] = []

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        self.seen.append((server, address, key_type, fingerprint))
        return self.answer

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        raise NotImplementedError


def make(folder: Path, name: str, kind: str = "ed25519") -> paramiko.PKey:
    bits = ["-b", "2048"] if kind == "rsa" else []
    subprocess.run(["ssh-keygen", "-q", "-t", kind, *bits, "-N", "", "-f", str(folder / name)], check=True)
    return public(folder / f"{name}.pub")


def public(path: Path) -> paramiko.PKey:
    """A public key as a transport hands it out: with its certificate, if that is what the file is."""
    blob = paramiko.pkey.PublicBlob.from_file(str(path))
    kind = blob.key_type.removesuffix("-cert-v01@openssh.com")
    return paramiko.PKey.from_type_string(kind, blob.key_blob)


def sign(folder: Path, authority: str, name: str, *options: str) -> paramiko.PKey:
    words = ["ssh-keygen", "-q", "-s", str(folder / authority), "-I", "the id", *options, str(folder / f"{name}.pub")]
    subprocess.run(words, check=True)
    return public(folder / f"{name}-cert.pub")


def entries(folder: Path, *lines: str) -> tuple[Entry, ...]:
    """known_hosts of lines such as `@cert-authority * ca`, the last word being a key file's name."""
    text = ""
    for line in lines:
        *words, name = line.split()
        text += f"{' '.join(words)} {(folder / f'{name}.pub').read_text()}"
    path = folder / "known"
    path.write_text(text)
    return host_keys.read_known_hosts([path])


def verify(key: paramiko.PKey, known: tuple[Entry, ...], *, accepts: bool = False, to: Destination = OLD) -> Person:
    person = Person(accepts)
    host_keys.verify(key, known, to, "old", person)
    return person


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_known_key_asks_nobody(tmp_path: Path, kind: str) -> None:
    key = make(tmp_path, "host", kind)
    assert verify(key, entries(tmp_path, "old.example.org host")).seen == []


def test_an_unknown_key_is_shown_and_then_kept(tmp_path: Path) -> None:
    key = make(tmp_path, "host")
    to = replace(OLD, known_hosts=(tmp_path / "mine", tmp_path / "system"))
    person = verify(key, (), accepts=True, to=to)
    assert person.seen == [("old", "old.example.org", "ssh-ed25519", host_keys.fingerprint(key.asbytes()))]
    assert verify(key, host_keys.read_known_hosts(to.known_hosts), to=to).seen == []
    assert not (tmp_path / "system").exists()


def test_a_declined_key_is_not_kept(tmp_path: Path) -> None:
    to = replace(OLD, known_hosts=(tmp_path / "mine",))
    with pytest.raises(HostKeyError, match=r"\(ssh-ed25519 SHA256:"):
        verify(make(tmp_path, "host"), (), to=to)
    assert not (tmp_path / "mine").exists()


def test_strict_checking_asks_nobody(tmp_path: Path) -> None:
    with pytest.raises(HostKeyError, match="StrictHostKeyChecking is yes"):
        verify(make(tmp_path, "host"), (), accepts=True, to=replace(OLD, ask_unknown=False))


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_a_changed_key_is_refused_with_both_fingerprints(tmp_path: Path, kind: str) -> None:
    known_key, key = make(tmp_path, "known_key"), make(tmp_path, "host", kind)
    with pytest.raises(HostKeyError) as caught:
        verify(key, entries(tmp_path, "other known_key", "old.example.org known_key"), accepts=True)
    assert host_keys.fingerprint(known_key.asbytes()) in caught.value.message
    assert host_keys.fingerprint(key.asbytes()) in caught.value.message
    assert f"{tmp_path / 'known'}:2" in caught.value.message
    assert re.search(r"\b2\b", caught.value.hint)


def test_a_revoked_key_is_refused_though_it_is_known(tmp_path: Path) -> None:
    key = make(tmp_path, "host")
    with pytest.raises(HostKeyError, match="revoked"):
        verify(key, entries(tmp_path, "old.example.org host", "@revoked * host"), accepts=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_certificate_of_a_trusted_authority_is_enough(tmp_path: Path, kind: str) -> None:
    make(tmp_path, "ca", kind)
    make(tmp_path, "host", kind)
    key = sign(tmp_path, "ca", "host", "-h", "-n", "old.example.org,other", "-V", "+1d")
    assert verify(key, entries(tmp_path, "@cert-authority *.example.org ca")).seen == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["-h", "-n", "new.example.org"], "new.example.org"),
        (["-h", "-n", "old.example.org", "-V", "20200101:20200102"], certificates.NOT_NOW),
        (["-n", "old.example.org"], certificates.OF_A_USER),
    ],
)
def test_a_certificate_that_does_not_hold_is_refused(tmp_path: Path, options: list[str], problem: str) -> None:
    make(tmp_path, "ca")
    make(tmp_path, "host")
    key = sign(tmp_path, "ca", "host", *options)
    with pytest.raises(HostKeyError, match=problem):
        verify(key, entries(tmp_path, "@cert-authority * ca"), accepts=True)


def test_a_certificate_of_an_unknown_authority_counts_as_its_plain_key(tmp_path: Path) -> None:
    make(tmp_path, "ca")
    make(tmp_path, "other")
    make(tmp_path, "host")
    key = sign(tmp_path, "ca", "host", "-h", "-n", "old.example.org")
    assert len(verify(key, entries(tmp_path, "@cert-authority * other"), accepts=True).seen) == 1


def test_a_forged_certificate_is_no_proof(tmp_path: Path) -> None:
    make(tmp_path, "ca")
    make(tmp_path, "host")
    sign(tmp_path, "ca", "host", "-h", "-n", "old.example.org")
    blob = paramiko.pkey.PublicBlob.from_file(str(tmp_path / "host-cert.pub")).key_blob
    forged = certificates.parse(blob.replace(b"old.example.org", b"new.example.org"))
    assert forged is not None
    assert certificates.problem(forged, "new.example.org") == certificates.FORGED
    for length in range(40, len(blob)):
        cut = certificates.parse(blob[:length])
        assert cut is None or certificates.problem(cut, "old.example.org") is not None
    assert certificates.parse(b"") is None


def test_the_server_is_asked_for_the_types_that_are_known(tmp_path: Path) -> None:
    make(tmp_path, "rsa", "rsa")
    make(tmp_path, "ca")
    known = entries(tmp_path, "old.example.org rsa", "@cert-authority new.example.org ca")
    assert host_keys.wanted_types(known, "old.example.org")[:2] == ("rsa-sha2-512", "rsa-sha2-256")
    assert host_keys.wanted_types(known, "new.example.org")[0] == "ssh-ed25519-cert-v01@openssh.com"
    assert host_keys.wanted_types(known, "third")[0] == "ssh-ed25519"
