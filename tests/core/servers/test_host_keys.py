"""Known, unknown, changed, revoked and certified host keys, all made by ssh-keygen."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest

from core.errors import HostKeyError
from core.servers import certificates, host_keys
from core.servers.host_keys import Entry, Marker, matches_host
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


# known_hosts as ssh-keygen itself writes it, and as people do.

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIE2lCkhBdHSPkF0GT0TaGpAO+W1N6DHtQKTtQ9ZqQyT2"


def keygen(*words: str | Path) -> str:
    return subprocess.run(["ssh-keygen", *map(str, words)], capture_output=True, text=True, check=True).stdout


def test_lines_of_every_kind(tmp_path: Path) -> None:
    text = (
        f"# a comment\n\nold,10.0.0.1 ssh-ed25519 {KEY} comment with spaces\n"
        f"@cert-authority *.example.org ssh-ed25519 {KEY}\n@revoked * ssh-ed25519 {KEY}\n"
        f"@unheard-of x ssh-ed25519 {KEY}\nbroken ssh-ed25519 not-base64!\nshort line\nä ssh-ed25519 {KEY}\n"
    )
    entries = host_keys.parse_known_hosts(text, tmp_path / "known")
    assert [(entry.marker, entry.patterns, entry.line) for entry in entries] == [
        (Marker.KEY, "old,10.0.0.1", 3),
        (Marker.AUTHORITY, "*.example.org", 4),
        (Marker.REVOKED, "*", 5),
        (Marker.KEY, "ä", 9),
    ]
    assert entries[0].place == f"{tmp_path / 'known'}:3"


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        ("old,new", "new", True),
        ("OLD", "old", True),
        ("*.example.org,!bad.example.org", "good.example.org", True),
        ("*.example.org,!bad.example.org", "bad.example.org", False),
        ("10.0.0.?", "10.0.0.7", True),
        ("10.0.0.?", "10.0.0.77", False),
        ("[old]:2222", "[old]:2222", True),
        ("old", "[old]:2222", False),
        ("[old]:*", "[old]:2222", True),
        ("|1|broken", "old", False),
        ("|1|!!|!!", "old", False),
    ],
)
def test_patterns(patterns: str, name: str, expected: bool) -> None:
    assert matches_host(patterns, name) is expected


def test_names_that_ssh_keygen_hashed_are_found(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(f"old ssh-ed25519 {KEY}\n[new]:2222 ssh-ed25519 {KEY}\n")
    keygen("-q", "-H", "-f", path)
    entries = host_keys.read_known_hosts([path])
    assert all(entry.patterns.startswith("|1|") for entry in entries)
    assert [matches_host(entry.patterns, "old") for entry in entries] == [True, False]
    assert [matches_host(entry.patterns, "[new]:2222") for entry in entries] == [False, True]


@pytest.mark.parametrize("hashed", [False, True])
def test_ssh_finds_what_was_added(tmp_path: Path, hashed: bool) -> None:
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key")
    kind, key = (tmp_path / "key.pub").read_text().split()[:2]
    path = tmp_path / "ssh" / "known"
    entry = host_keys.parse_known_hosts(f"x {kind} {key}", path)[0]
    host_keys.add_known_host(path, "[old]:2222", kind, entry.blob, hashed=hashed)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert key in keygen("-F", "[old]:2222", "-f", path)
    assert host_keys.fingerprint(entry.blob) in keygen("-l", "-f", tmp_path / "key.pub")


def test_a_last_line_without_its_end_is_not_spoilt(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(f"old ssh-ed25519 {KEY}")
    host_keys.add_known_host(path, "new", "ssh-ed25519", b"blob", hashed=False)
    assert [entry.patterns for entry in host_keys.read_known_hosts([path])] == ["old", "new"]


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    path = re.escape(str(tmp_path))
    with pytest.raises(HostKeyError, match=path) as unread:
        host_keys.read_known_hosts([tmp_path])
    with pytest.raises(HostKeyError, match=rf"\balder\b.*{path}") as unwritten:
        host_keys.add_known_host(tmp_path, "alder", "ssh-ed25519", b"", hashed=False)
    for refused in (unread, unwritten):
        assert isinstance(refused.value.__cause__, IsADirectoryError)
