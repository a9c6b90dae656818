"""The known_hosts files as sshd(8) describes them: hashed names, patterns, @cert-authority and @revoked."""

import base64
import binascii
import fnmatch
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from core.errors import HostKeyError

COMPARE = "compare it with the fingerprint on the console of the server (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub)"
"""What to do about an unknown key."""


class Marker(StrEnum):
    """What a line says about its key."""

    KEY = ""
    AUTHORITY = "@cert-authority"
    REVOKED = "@revoked"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: the key `blob` of `key_type` belongs to the names that match `patterns`."""

    marker: Marker
    patterns: str
    key_type: str
    blob: bytes
    file: Path
    line: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def fingerprint(blob: bytes) -> str:
    """A public key's fingerprint as ssh-keygen -l shows it: `SHA256:…`, base64 without padding."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def read(files: Iterable[Path]) -> tuple[Entry, ...]:
    """The entries of all files that exist; a line that is none is skipped, as ssh does."""
    entries: list[Entry] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise HostKeyError(f"{file} cannot be read: {error.strerror}", "allow your user to read it") from error
        entries += parse(text, file)
    return tuple(entries)


def parse(text: str, file: Path) -> tuple[Entry, ...]:
    """The entries of one file's text."""
    found = (_entry(line, file, number) for number, line in enumerate(text.splitlines(), 1))
    return tuple(entry for entry in found if entry is not None)


def _entry(line: str, file: Path, number: int) -> Entry | None:
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    marker = Marker.KEY
    if words[0].startswith("@"):
        if words[0] not in {Marker.AUTHORITY, Marker.REVOKED}:
            return None
        marker = Marker(words.pop(0))
    if len(words) < 3:
        return None
    try:
        blob = base64.b64decode(words[2], validate=True)
    except binascii.Error:
        return None
    return Entry(marker, words[0], words[1], blob, file, number)


def matches(patterns: str, name: str) -> bool:
    """Whether a name stands in a line's first field: hashed, or patterns with `*`, `?` and `!` for none of these."""
    if patterns.startswith("|1|"):
        return _matches_hash(patterns, name)
    found = False
    for pattern in patterns.lower().split(","):
        if pattern.startswith("!"):
            if _matches_pattern(pattern[1:], name):
                return False
        elif _matches_pattern(pattern, name):
            found = True
    return found


def _matches_pattern(pattern: str, name: str) -> bool:
    """Only `*` and `?` are special in ssh; `[` is not, as in `[host]:2222`."""
    return re.fullmatch(fnmatch.translate(pattern.replace("[", "[[]")), name.lower()) is not None


def _matches_hash(field: str, name: str) -> bool:
    """`|1|base64(salt)|base64(HMAC-SHA1(salt, name))`, as `HashKnownHosts` writes it."""
    parts = field.split("|")
    if len(parts) != 4:
        return False
    try:
        salt, digest = base64.b64decode(parts[2], validate=True), base64.b64decode(parts[3], validate=True)
    except binascii.Error:
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), "sha1").digest(), digest)


def add(file: Path, name: str, key_type: str, blob: bytes, *, hashed: bool) -> None:
    """Append a key that the user accepted; the file is made with mode 0600, its folder with 0700.

    Raises:
        HostKeyError: the file cannot be written.
    """
    if hashed:
        salt = secrets.token_bytes(20)
        digest = hmac.new(salt, name.encode(), "sha1").digest()
        name = f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
    line = f"{name} {key_type} {base64.b64encode(blob).decode()}\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(number, "a+b", buffering=0) as stream:
            if _ends_inside_a_line(stream):
                line = "\n" + line
            stream.write(line.encode())
    except OSError as error:
        raise HostKeyError(
            f"the accepted host key of {name} cannot be written to {file}: {error.strerror}",
            "allow your user to write the file",
        ) from error


def _ends_inside_a_line(stream: BinaryIO) -> bool:
    if not stream.seekable() or stream.seek(0, os.SEEK_END) == 0:
        return False
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) != b"\n"
