"""The keys that can be offered to a server: files with their certificates, and the agent's."""

import io
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from paramiko.agent import AgentSSH

from core.errors import AuthenticationError, InputError
from core.files import read_small
from core.servers import host_certificates
from core.servers.rsa_size import too_short
from core.servers.ssh_config import Destination

_READERS: dict[type[EllipticCurvePrivateKey | Ed25519PrivateKey | RSAPrivateKey], type[paramiko.PKey]] = {
    Ed25519PrivateKey: paramiko.Ed25519Key,
    EllipticCurvePrivateKey: paramiko.ECDSAKey,
    RSAPrivateKey: paramiko.RSAKey,
}

_MOST = 64 * 1024
"""Bytes of a key file: an RSA key of 16,384 bits, the longest that ssh-keygen makes, has 12 KiB."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key to offer; `origin` says where it is from, for people."""

    origin: str
    key: paramiko.PKey


@dataclass(frozen=True, slots=True)
class Locked:
    """A key file that needs a passphrase."""

    path: Path


class _AgentAt(AgentSSH):
    """The agent behind a socket that IdentityAgent names."""

    def __init__(self, path: str) -> None:
        super().__init__()
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            wire.connect(path)
            self._connect(wire)  # type: ignore[attr-defined]  # paramiko offers no public way to another socket
        except (OSError, paramiko.SSHException):
            wire.close()

    def close(self) -> None:
        self._close()  # type: ignore[attr-defined]  # as above


Agent = paramiko.Agent | _AgentAt


def open_agent(to: Destination) -> Agent | None:
    """The agent that the configuration names; None where it says `none` or there is none."""
    if to.identity_agent == "":
        return None
    try:
        return paramiko.Agent() if to.identity_agent is None else _AgentAt(to.identity_agent)
    except paramiko.SSHException:
        return None


def of_agent(agent: Agent | None, to: Destination) -> Iterator[Candidate]:
    """The agent's keys; with `identities_only` those alone that an identity or certificate file names."""
    if agent is None:
        return
    allowed = {blob for path in to.identity_files for blob in _public_blobs(path)}
    allowed |= {blob for path in to.certificate_files if (blob := _blob(path)) is not None}
    for key in agent.get_keys():
        if (not to.identities_only or key.asbytes() in allowed) and not too_short(key, to):
            yield Candidate(f"agent key {key.comment or key.get_name()}", key)


def of_files(to: Destination) -> Iterator[Candidate | Locked]:
    """The identity files that exist, those without passphrase first.

    Raises:
        AuthenticationError: the profile's own identity file is missing or is no private key.
    """
    locked: list[Locked] = []
    for path in to.identity_files:
        try:
            yield from load(path, to)
        except NeedsPassphraseError:
            locked.append(Locked(path))
        except AuthenticationError:
            if to.explicit_identity:
                raise
    yield from locked


class NeedsPassphraseError(Exception):
    """The key file is encrypted and no passphrase was given."""


class WrongPassphraseError(Exception):
    """The passphrase does not open the key file."""


def load(path: Path, to: Destination, passphrase: str | None = None) -> Iterator[Candidate]:
    """The key of a file: with each of its certificates first, then alone.

    Raises:
        NeedsPassphraseError, WrongPassphraseError: as they say.
        AuthenticationError: the file is missing, unreadable or no private key that is supported.
    """
    key = _read(path, passphrase)
    if short := too_short(key, to):
        raise _unusable(path, f"is {short}")
    plain = key.asbytes()
    for certificate in (Path(f"{path}-cert.pub"), *to.certificate_files):
        blob = _blob(certificate)
        if blob is not None and _certifies(blob, plain):
            with_certificate = _read(path, passphrase)
            with_certificate.load_certificate(paramiko.Message(blob))
            yield Candidate(f"{path} with {certificate.name}", with_certificate)
    yield Candidate(str(path), key)


def public_blob(path: Path) -> bytes | None:
    """The public key that lies beside a private one as `.pub`."""
    return _blob(Path(f"{path}.pub"))


def _public_blobs(path: Path) -> set[bytes]:
    """What an identity file names, as ssh has it: itself, where it is a public key; what lies beside; its own half."""
    beside = (path, Path(f"{path}.pub"), Path(f"{path}-cert.pub"))
    return {blob for each in beside if (blob := _blob(each)) is not None}


def _certifies(blob: bytes, plain: bytes) -> bool:
    certificate = host_certificates.parse(blob)
    return certificate is not None and certificate.key == plain


def _blob(path: Path) -> bytes | None:
    try:
        return paramiko.pkey.PublicBlob.from_string(read_small(path, _MOST).decode()).key_blob
    except (OSError, InputError, ValueError, paramiko.SSHException):
        return None


def _read(path: Path, passphrase: str | None) -> paramiko.PKey:
    password = passphrase.encode() if passphrase is not None else None
    try:
        data = read_small(path, _MOST)
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror or error}") from error
    except InputError as error:
        raise _unusable(path, error.message) from error
    except ValueError as error:  # a zero byte in the name
        raise _unusable(path, f"cannot be read: {error}") from error
    try:
        return _as_paramiko(_decoded(data, password))
    except TypeError as error:  # how cryptography says that a passphrase is missing
        raise NeedsPassphraseError from error
    except (ValueError, UnsupportedAlgorithm, paramiko.SSHException) as error:
        if passphrase is not None:
            raise WrongPassphraseError from error
        raise _unusable(path, "is not a private key, is damaged, or has a type that pghaul does not support") from error


def _decoded(data: bytes, password: bytes | None) -> object:
    """OpenSSH's own format or PEM (PKCS#1, PKCS#8, SEC 1)."""
    if b"OPENSSH PRIVATE KEY" in data:
        return serialization.load_ssh_private_key(data, password)
    return serialization.load_pem_private_key(data, password)


def _as_paramiko(key: object) -> paramiko.PKey:
    """Through OpenSSH's format in memory: paramiko's own readers do not know PKCS#8."""
    for kind, reader in _READERS.items():
        if isinstance(key, kind):
            text = key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
            )
            return reader.from_private_key(io.StringIO(text.decode()))
    raise UnsupportedAlgorithm(type(key).__name__)


def _unusable(path: Path, why: str) -> AuthenticationError:
    return AuthenticationError(
        f"the key file {path} {why}",
        "name a private key of type RSA, ECDSA or Ed25519 that ssh-keygen has created and that you may read",
    )
