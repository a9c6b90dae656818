"""known_hosts as ssh-keygen itself writes it, and as people do."""

import re
import subprocess
from pathlib import Path

import pytest

from core.errors import HostKeyError
from core.servers import host_keys
from core.servers.host_keys import Marker, matches_host

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
