"""Whether a server is who it says: known_hosts, KnownHostsCommand, revoked keys, and the decision that they lead to."""

import base64
import binascii
import fnmatch
import hashlib
import hmac
import os
import re
import secrets
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import paramiko

from core.errors import HostKeyError, InputError
from core.servers import certificates, ssh_config
from core.servers.certificates import too_short
from core.servers.profiles import Asker, Nobody
from core.servers.ssh_config import Destination, expand, split_words
from core.system_errors import reason
from core.this_workstation import HIDDEN, stderr_of_programs

# The known_hosts files as sshd(8) describes them: hashed names, patterns, @cert-authority and @revoked.

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


def read_known_hosts(files: Iterable[Path]) -> tuple[Entry, ...]:
    """The entries of all files that exist; a line that is none is skipped, as ssh does."""
    entries: list[Entry] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise HostKeyError(f"{file} cannot be read: {reason(error)}", "allow your user to read it") from error
        entries += parse_known_hosts(text, file)
    return tuple(entries)


def parse_known_hosts(text: str, file: Path) -> tuple[Entry, ...]:
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


def matches_host(patterns: str, name: str) -> bool:
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


def add_known_host(file: Path, name: str, key_type: str, blob: bytes, *, hashed: bool) -> None:
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
            f"the accepted host key of {name} cannot be written to {file}: {reason(error)}",
            "allow your user to write the file",
        ) from error


def _ends_inside_a_line(stream: BinaryIO) -> bool:
    if not stream.seekable() or stream.seek(0, os.SEEK_END) == 0:
        return False
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) != b"\n"


# KnownHostsCommand of ssh_config(5): a program that prints further lines of known_hosts.

_TIMEOUT = 10.0


def further_entries(to: Destination, key: paramiko.PKey | None = None) -> tuple[Entry, ...]:
    """What the destination's command prints, as ssh asks it: for the order of the algorithms, or of the key shown.

    Raises:
        InputError: it is no command that ssh would run.
        HostKeyError: it failed, or took too long: then nobody knows whom to trust.
    """
    if not to.known_hosts_command:
        return ()
    program, *words = split_words(to.known_hosts_command)
    if not Path(program).is_absolute():
        raise InputError(
            f"KnownHostsCommand {program!r} is not an absolute path",
            "give the absolute path of the program, as ssh demands",
        )
    asked = {**to.tokens, **_about(to, key)}
    arguments = [program, *(expand("KnownHostsCommand", word, asked) for word in words)]
    return parse_known_hosts(_output(arguments), Path("KnownHostsCommand"))


def _about(to: Destination, key: paramiko.PKey | None) -> dict[str, str]:
    if key is None:
        return {"H": to.known_as, "I": "ORDER", "t": "NONE", "f": "NONE", "K": "NONE"}
    shown = fingerprint(key.asbytes())
    return {"H": to.known_as, "I": "HOSTNAME", "t": key.get_name(), "f": shown, "K": key.get_base64()}


def _output(arguments: list[str]) -> str:
    try:
        ended = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr_of_programs(),
            timeout=_TIMEOUT,
            check=False,
            creationflags=HIDDEN,
        )
    except OSError as error:
        raise HostKeyError(
            f"KnownHostsCommand {arguments[0]} cannot be run: {reason(error)}", "run it in a shell to see why it fails"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise HostKeyError(
            f"KnownHostsCommand {arguments[0]} did not end in time", "run it in a shell to see why it takes so long"
        ) from error
    if ended.returncode != 0:
        raise HostKeyError(
            f"KnownHostsCommand {arguments[0]} ended with exit status {ended.returncode}",
            "ssh then trusts no host key; run the command in a shell to see why it fails",
        )
    return ended.stdout.decode("utf-8", "surrogateescape")


# RevokedHostKeys of ssh_config(5): a list of public keys, or a key revocation list, which ssh-keygen reads for us.

_KRL = b"SSHKRL\n\0"
"""The first bytes of a revocation list (OpenSSH's PROTOCOL.krl)."""
_HINT = (
    "make it readable, correct it, or remove RevokedHostKeys from the ssh configuration; until then ssh trusts no host"
)


def revoked(path: Path, key: paramiko.PKey) -> bool:
    """Whether the file revokes the key, its certificate or the authority behind that.

    Raises:
        HostKeyError: the file cannot be read, so that nobody knows: no host may be trusted then.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HostKeyError(f"RevokedHostKeys {path} cannot be read: {reason(error)}", _HINT) from error
    public = getattr(key, "public_blob", None)
    if data.startswith(_KRL):
        kind, blob = (key.get_name(), key.asbytes()) if public is None else (public.key_type, public.key_blob)
        return _by_ssh_keygen(path, kind, blob)
    certificate = certificates.parse(public.key_blob) if public is not None else None
    shown = {key.asbytes()} | ({certificate.key, certificate.authority} if certificate is not None else set())
    return any(listed in shown for listed in _listed(path, data.decode(errors="replace")))


def _listed(path: Path, text: str) -> list[bytes]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            blob = paramiko.pkey.PublicBlob.from_string(line.strip()).key_blob
        except (ValueError, paramiko.SSHException) as error:
            raise HostKeyError(f"RevokedHostKeys {path}:{number} is not a public key", _HINT) from error
        certificate = certificates.parse(blob)
        found.append(blob if certificate is None else certificate.key)
    return found


def _by_ssh_keygen(path: Path, kind: str, blob: bytes) -> bool:
    try:
        with tempfile.TemporaryDirectory() as folder:
            shown = Path(folder, "key.pub")  # Windows has no /dev/stdin
            shown.write_text(f"{kind} {base64.b64encode(blob).decode()}\n", encoding="ascii")
            asked = subprocess.run(
                [ssh_config.program("ssh-keygen") or "ssh-keygen", "-Q", "-f", str(path), str(shown)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT,
                check=False,
                creationflags=HIDDEN,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostKeyError(
            f"RevokedHostKeys {path} is a key revocation list, which only ssh-keygen can read, and ssh-keygen cannot "
            "be run",
            "install the OpenSSH client, or list the public keys themselves in that file",
        ) from error
    if asked.returncode not in {0, 1}:
        said = asked.stderr.decode(errors="replace").strip()
        raise HostKeyError(f"RevokedHostKeys {path} cannot be read: {said}", _HINT)
    return asked.returncode == 1


# Whether a server is who it says: its key against known_hosts, its certificate against the authorities named there.

_TYPES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
_CERTIFICATE = "-cert-v01@openssh.com"


def wanted_types(entries: Sequence[Entry], name: str, allowed: Sequence[str] = ()) -> tuple[str, ...]:
    """The host key algorithms to ask for, best first: what known_hosts can prove stands ahead of the rest.

    So a server with several keys shows the one that is known, and another type is never taken for a changed key.
    `allowed`: HostKeyAlgorithms; empty: all.

    Raises:
        HostKeyError: none that is allowed can be checked.
    """
    wanted = _wanted(entries, name)
    kept = tuple(kind for kind in wanted if kind in allowed) if allowed else wanted
    if not kept:
        raise HostKeyError(
            f"HostKeyAlgorithms in the ssh configuration allows only {', '.join(allowed)}, and pghaul can verify "
            f"{name} with none of them",
            f"allow one of {', '.join(wanted)}",
        )
    return kept


def _wanted(entries: Sequence[Entry], name: str) -> tuple[str, ...]:
    own = [entry for entry in entries if matches_host(entry.patterns, name)]
    known = {algorithm for entry in own if entry.marker is Marker.KEY for algorithm in _algorithms(entry.key_type)}
    order = sorted(_TYPES, key=lambda kind: kind not in known)
    if any(entry.marker is Marker.AUTHORITY for entry in own):
        return (*(kind + _CERTIFICATE for kind in _TYPES), *order)
    return tuple(order)


def _algorithms(key_type: str) -> tuple[str, ...]:
    return ("rsa-sha2-512", "rsa-sha2-256") if key_type == "ssh-rsa" else (key_type,)


def verify(key: paramiko.PKey, entries: Sequence[Entry], to: Destination, server: str, asker: Asker) -> None:
    """Accept the key that the server proved to hold, ask about an unknown one, or refuse.

    Raises:
        HostKeyError: the key is too short, revoked, changed, or unknown and declined; or who is revoked is not known.
    """
    name = to.known_as
    own = [entry for entry in entries if matches_host(entry.patterns, name)]
    plain = key.asbytes()
    if short := too_short(key, to):
        raise HostKeyError(
            f"{server}: the host key {fingerprint(plain)} is {short}",
            "create a stronger host key on the server (ssh-keygen -t ed25519), or set RequiredRSASize for this host",
        )
    # In this order: a revoked key is refused even if a line of known_hosts trusts it. A certificate is looked at before
    # plain keys, as ssh does. Nobody is asked as long as any key of the host is known, because then the key has
    # changed.
    _refuse_revoked(plain, own, server)
    _refuse_listed(key, to, server)
    if _certified(key, own, to, server):
        return
    known = [entry for entry in own if entry.marker is Marker.KEY and entry.key_type in _readable()]
    if any(entry.blob == plain for entry in known):
        return
    if known:
        raise _changed(known, key.get_name(), plain, to, server)
    _ask(key.get_name(), plain, to, server, asker)


def _readable() -> set[str]:
    return {"ssh-rsa", *_TYPES}


def _certified(key: paramiko.PKey, own: Sequence[Entry], to: Destination, server: str) -> bool:
    """Whether the key comes with a certificate of an authority that known_hosts trusts for this host."""
    public = getattr(key, "public_blob", None)
    certificate = certificates.parse(public.key_blob) if public is not None else None
    if certificate is None or certificate.key != key.asbytes():
        return False
    _refuse_revoked(certificate.authority, own, server)
    if not any(entry.marker is Marker.AUTHORITY and entry.blob == certificate.authority for entry in own):
        return False
    allowed = to.algorithms.get("casignaturealgorithms", ())
    problem = certificates.problem(certificate, to.host_key_alias or to.host, signatures=allowed)
    if problem is not None and not any(entry.marker is Marker.KEY for entry in own):
        raise HostKeyError(
            f"{server}: the host certificate {certificate.key_id!r} of {to.known_as} is refused: {problem}",
            "have it renewed by the authority that @cert-authority in known_hosts names",
        )
    return problem is None


def _refuse_revoked(blob: bytes, own: Sequence[Entry], server: str) -> None:
    for entry in own:
        if entry.marker is Marker.REVOKED and entry.blob == blob:
            raise HostKeyError(
                f"{server}: the host key {fingerprint(blob)} is revoked ({entry.place})",
                "do not connect: the key may have been stolen; ask the administrator of the server for its new key",
            )


def _refuse_listed(key: paramiko.PKey, to: Destination, server: str) -> None:
    for path in to.revoked_host_keys:
        if revoked(path, key):
            raise HostKeyError(
                f"{server}: the host key {fingerprint(key.asbytes())} is revoked (RevokedHostKeys {path})",
                "do not connect: the key may have been stolen; ask the administrator of the server for its new key",
            )


def _changed(known: Sequence[Entry], kind: str, blob: bytes, to: Destination, server: str) -> HostKeyError:
    expected = next((entry for entry in known if entry.key_type == kind), known[0])
    return HostKeyError(
        f"{server}: the host key of {to.known_as} has changed: known is {expected.key_type} "
        f"{fingerprint(expected.blob)} ({expected.place}), the server shows {kind} "
        f"{fingerprint(blob)}",
        "Another computer may intercept the connection. If the server was reinstalled, compare the fingerprint on its "
        f"console (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub), then remove line {expected.line} of {expected.file}",
    )


def _ask(kind: str, blob: bytes, to: Destination, server: str, asker: Asker) -> None:
    shown = fingerprint(blob)
    if not to.ask_unknown:
        raise HostKeyError(
            f"{server}: the host key of {to.known_as} is not known ({kind} {shown}), and StrictHostKeyChecking is yes",
            "add it to known_hosts, or set StrictHostKeyChecking to ask for this host",
        )
    if not asker.accept_host_key(server, to.known_as, kind, shown):
        raise HostKeyError(
            f"{server}: the host key of {to.known_as} is not known and was not accepted ({kind} {shown})",
            f"{COMPARE}, then accept it",
        )
    if to.known_hosts:
        add_known_host(to.known_hosts[0], to.known_as, kind, blob, hashed=to.hash_known_hosts)


# Who answers where nobody is there to be asked: what was said beforehand, and no more.


@dataclass(frozen=True, slots=True)
class Unattended(Nobody):
    """An Asker that never waits, knows no secret, and trusts what it was told to.

    Attributes:
        trusted: SHA256 fingerprints of host keys that were named beforehand.
    """

    trusted: frozenset[str] = frozenset()

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        """Whether it was named beforehand.

        Raises:
            HostKeyError: it was not; it says how it is.
        """
        if fingerprint in self.trusted:
            return True
        mismatch = ", and it does not match any --host-key" if self.trusted else ""
        raise HostKeyError(
            f"{server}: the host key of {address} is not known{mismatch} ({key_type} {fingerprint})",
            f"{COMPARE}, then trust it with: --host-key {fingerprint}",
        )
