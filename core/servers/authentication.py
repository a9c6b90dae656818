"""Logging in: the keys that can be offered, then password or keyboard-interactive, as the server allows.

A server may want several in a row (AuthenticationMethods); each success narrows what it still asks for. Secrets come
from `secrets`; a wrong one is forgotten and asked for again, three times at most.
"""

import errno
import io
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from paramiko.agent import AgentSSH

from core import this_workstation
from core.errors import AuthenticationError, InputError
from core.files import read_small
from core.jobs import Job
from core.servers import certificates
from core.servers.certificates import too_short
from core.servers.profiles import Asker
from core.servers.secrets import Key, session_secrets
from core.servers.ssh_config import Destination
from core.system_errors import reason

# The keys that can be offered to a server: files with their certificates, and the agent's.

_READERS: dict[type[EllipticCurvePrivateKey | Ed25519PrivateKey | RSAPrivateKey], type[paramiko.PKey]] = {
    Ed25519PrivateKey: paramiko.Ed25519Key,
    EllipticCurvePrivateKey: paramiko.ECDSAKey,
    RSAPrivateKey: paramiko.RSAKey,
}

_MOST = 64 * 1024
"""Bytes of a key file: an RSA key of 16,384 bits, the longest that ssh-keygen makes, has 12 KiB."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key to offer.

    Attributes:
        origin: where it is from, for people.
        refused_as: the name of the key in `the server has refused the key …`.
    """

    origin: str
    key: paramiko.PKey
    refused_as: str


@dataclass(frozen=True, slots=True)
class Locked:
    """A key file that needs a passphrase."""

    path: Path


_PIPE = r"\\.\pipe\openssh-ssh-agent"
"""Where the agent of OpenSSH is on Windows, unless SSH_AUTH_SOCK or IdentityAgent names another pipe."""
_PIPE_BUSY_SECONDS = 2.0
"""How long to wait for a pipe that the agent has not yet freed of the one who used it before."""


class _Pipe:
    """A named pipe of Windows, with the methods of a socket that paramiko uses for an agent."""

    def __init__(self, path: str) -> None:
        until = time.monotonic() + _PIPE_BUSY_SECONDS
        while True:
            try:
                self._handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
            except OSError as error:
                if error.errno != errno.EINVAL or time.monotonic() > until:  # so Windows says that the pipe is busy
                    raise
                time.sleep(0.1)
            else:
                return

    def send(self, data: bytes) -> int:
        return os.write(self._handle, data)

    def recv(self, most: int) -> bytes:
        return os.read(self._handle, most)

    def close(self) -> None:
        os.close(self._handle)


class _AgentAt(AgentSSH):
    """The agent behind a socket, or behind a named pipe on Windows. It has no keys if no agent is there."""

    def __init__(self, path: str) -> None:
        super().__init__()
        try:
            wire = _Pipe(path) if this_workstation.on_windows() else _socket(path)
        except OSError:
            return
        try:
            self._connect(wire)  # type: ignore[attr-defined]  # paramiko offers no public way to another socket
        except (OSError, paramiko.SSHException):
            self.close()

    def close(self) -> None:
        self._close()  # type: ignore[attr-defined]  # as above


def _socket(path: str) -> socket.socket:
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        wire.connect(path)
    except OSError:
        wire.close()
        raise
    return wire


Agent = paramiko.Agent | _AgentAt


def open_agent(to: Destination) -> Agent | None:
    """The agent that the configuration names; None where it says `none` or there is none."""
    if to.identity_agent == "":
        return None
    try:
        return _usual_agent() if to.identity_agent is None else _AgentAt(to.identity_agent)
    except paramiko.SSHException:
        return None


def _usual_agent() -> Agent:
    """The agent that ssh uses by itself. On Windows, Pageant takes its place if it has no keys, or is not there."""
    if not this_workstation.on_windows():
        return paramiko.Agent()
    agent = _AgentAt(os.environ.get("SSH_AUTH_SOCK") or _PIPE)
    if agent.get_keys():
        return agent
    agent.close()
    return paramiko.Agent()


def keys_of_agent(agent: Agent | None, to: Destination) -> Iterator[Candidate]:
    """The agent's keys; with `identities_only` those alone that an identity or certificate file names."""
    if agent is None:
        return
    allowed = {blob for path in to.identity_files for blob in _public_blobs(path)}
    allowed |= {blob for path in to.certificate_files if (blob := _blob(path)) is not None}
    for key in agent.get_keys():
        if (not to.identities_only or key.asbytes() in allowed) and not too_short(key, to):
            name = key.comment or key.get_name()
            yield Candidate(f"agent key {name}", key, f"{name} (SSH agent)")


def keys_of_files(to: Destination) -> Iterator[Candidate | Locked]:
    """The identity files that exist, those without passphrase first.

    Raises:
        AuthenticationError: the profile's own identity file is missing or is no private key.
    """
    locked: list[Locked] = []
    for path in to.identity_files:
        try:
            yield from load_key(path, to)
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


def load_key(path: Path, to: Destination, passphrase: str | None = None) -> Iterator[Candidate]:
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
            yield Candidate(f"{path} with {certificate.name}", with_certificate, str(path))
    yield Candidate(str(path), key, str(path))


def _public_key(key: paramiko.PKey) -> bytes:
    """Return the public key, without the certificate that an agent may hold for it."""
    blob = key.asbytes()
    certificate = certificates.parse(blob)
    return blob if certificate is None else certificate.key


def public_blob(path: Path) -> bytes | None:
    """The public key that lies beside a private one as `.pub`."""
    return _blob(Path(f"{path}.pub"))


def _public_blobs(path: Path) -> set[bytes]:
    """What an identity file names, as ssh has it: itself, where it is a public key; what lies beside; its own half."""
    beside = (path, Path(f"{path}.pub"), Path(f"{path}-cert.pub"))
    return {blob for each in beside if (blob := _blob(each)) is not None}


def _certifies(blob: bytes, plain: bytes) -> bool:
    certificate = certificates.parse(blob)
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
        raise _unusable(path, f"cannot be read: {reason(error)}") from error
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


# Logging in: keys, certificates and the agent first, then password or keyboard-interactive, as the server allows.

_TRIES = 3
_NAMED_KEYS = 3
"""So many refused keys are named in the prompt for a password."""


def authenticate(transport: paramiko.Transport, to: Destination, server: str, asker: Asker, job: Job) -> None:
    """Log in on a transport whose host key is proven.

    Raises:
        AuthenticationError: nothing that was tried is accepted; it says what was tried and what the server takes.
        Cancelled: the job was cancelled meanwhile.
    """
    login = _Login(transport, to, server, asker, job)
    try:
        login.run()
    except OSError as error:
        raise login.ended(reason(error)) from error
    except EOFError as error:
        raise login.ended(str(error)) from error
    except paramiko.SSHException as error:
        if isinstance(error, paramiko.AuthenticationException) and transport.is_active():
            raise login.refused() from error
        raise login.ended(str(error)) from error
    job.check()


class _Login:
    """One login under way: what the server still accepts, and what was tried."""

    def __init__(self, transport: paramiko.Transport, to: Destination, server: str, asker: Asker, job: Job) -> None:
        self.transport = transport
        self.to = to
        self.server = server
        self.asker = asker
        self.job = job
        self.accepted: Sequence[str] = ()
        self.tried: list[str] = []
        # the public keys, each with where it is from: a key counts once, with a certificate or without
        self.refused_keys: dict[bytes, str] = {}

    def run(self) -> None:
        try:
            # The method `none` is meant for this question: its refusal names the methods that are accepted, so no
            # password is asked for in vain (RFC 4252, section 5.2).
            self.transport.auth_none(self.to.user)
        except paramiko.BadAuthenticationType as error:
            self.accepted = error.allowed_types
        done: set[str] = set()
        while not self.transport.is_authenticated():
            method = next((name for name in self._methods() if name in self.accepted and name not in done), None)
            if method is None:
                raise self.refused()
            if not self._methods()[method]():
                done.add(method)

    def _methods(self) -> dict[str, Callable[[], bool]]:
        ways = {"publickey": self._keys, "password": self._password, "keyboard-interactive": self._interactive}
        return {name: way for name, way in ways.items() if self.to.methods is None or name in self.to.methods}

    def _keys(self) -> bool:
        agent = open_agent(self.to)
        try:
            return any(self._offer(candidate) for candidate in self._candidates(agent))
        finally:
            if agent is not None:
                agent.close()

    def _candidates(self, agent: Agent | None) -> Iterator[Candidate]:
        """Explicit files, then the agent, then other files; files that need a passphrase last, as they ask."""
        files = list(keys_of_files(self.to))
        unlocked = [file for file in files if isinstance(file, Candidate)]
        of_agent = list(keys_of_agent(agent, self.to))
        # A server counts every offered key (MaxAuthTries, 6 by default) and then ends the connection. So the key that
        # the profile names goes ahead of an agent with many keys.
        yield from [*unlocked, *of_agent] if self.to.explicit_identity else [*of_agent, *unlocked]
        held = {candidate.key.asbytes() for candidate in of_agent}
        for file in files:
            if isinstance(file, Locked) and public_blob(file.path) not in held:
                yield from self._unlocked(file)

    def _unlocked(self, file: Locked) -> Iterator[Candidate]:
        key = Key(self.server, "passphrase", str(file.path))
        for _ in range(_TRIES):
            self.job.check()
            passphrase = session_secrets.get(key, f"passphrase of {file.path}", self.asker)
            if passphrase is None:
                self.tried.append(f"{file.path} (no passphrase given)")
                return
            try:
                candidates = list(load_key(file.path, self.to, passphrase))
            except WrongPassphraseError:
                session_secrets.forget(key, passphrase)
            else:
                session_secrets.accepted(key)
                yield from candidates
                return
        self.tried.append(f"{file.path} (wrong passphrase)")

    def _offer(self, candidate: Candidate) -> bool:
        """Offer one key; True when the server took it, be it as the first of several proofs."""
        self.job.check()
        self.tried.append(candidate.origin)
        try:
            self.accepted = self.transport.auth_publickey(self.to.user, candidate.key)
        except paramiko.BadAuthenticationType as error:
            self.accepted = error.allowed_types
            return False
        except paramiko.AuthenticationException:
            if not self.transport.is_active():
                raise
            self.refused_keys[_public_key(candidate.key)] = candidate.refused_as
            return False
        self.refused_keys.clear()  # the server wants a password besides the key
        return True

    def _password_prompt(self) -> str:
        """Return the prompt for the password; it names the keys that the server has refused before."""
        if not self.refused_keys:
            return f"password of {self.to.shown}"
        return f"password of {self.to.shown}, because {_describe_refused_keys([*self.refused_keys.values()])}"

    def _password(self) -> bool:
        key = Key(self.server, "password", self.to.shown)
        for _ in range(_TRIES):
            self.job.check()
            password = session_secrets.get(key, self._password_prompt(), self.asker)
            if password is None:
                self.tried.append("no password given")
                return False
            try:
                self.accepted = self.transport.auth_password(self.to.user, password, fallback=False)
            except paramiko.BadAuthenticationType as error:
                self.accepted = error.allowed_types
                return False
            except paramiko.AuthenticationException:
                session_secrets.forget(key, password)
                self.tried.append("password (wrong)")
                if not self.transport.is_active():
                    raise
            else:
                session_secrets.accepted(key)
                return True
        return False

    def _interactive(self) -> bool:
        for _ in range(_TRIES):
            self.job.check()
            answers = _Answers(self.to, self.server, self.asker, self._password_prompt())
            try:
                self.accepted = self.transport.auth_interactive(self.to.user, answers)
            except paramiko.AuthenticationException:
                answers.forget()
                self.tried.append("keyboard-interactive" + (" (declined)" if answers.declined else " (wrong)"))
                if not self.transport.is_active():
                    raise
                if answers.declined:
                    return False
            else:
                session_secrets.accepted(answers.key)
                return True
        return False

    def refused(self) -> AuthenticationError:
        tried = f" (tried: {', '.join(dict.fromkeys(self.tried))})" if self.tried else ""
        takes = ", ".join(self.accepted) or "no method that pghaul supports"
        return AuthenticationError(
            f"{self.server}: {self.to.shown} refused the login of {self.to.user}{tried}",
            f"the server accepts {takes}; check the user, the password, and whether authorized_keys on the server "
            "contains the public key",
        )

    def ended(self, reason: str) -> AuthenticationError:
        return AuthenticationError(
            f"{self.server}: {self.to.shown} ended the session while {self.to.user} logged in: {reason}",
            "too many keys were offered (MaxAuthTries: name one key file in the profile), or the answer took longer "
            "than its LoginGraceTime",
        )


def _describe_refused_keys(origins: Sequence[str]) -> str:
    """Return that the server has refused these keys, the first ones by where they are from."""
    home = f"{Path.home()}/"
    known = [f"~/{one.removeprefix(home)}" if one.startswith(home) else one for one in origins]
    if len(known) == 1:
        return f"the server has refused the key {known[0]}"
    named = ", ".join(known[:_NAMED_KEYS])
    more = len(known) - _NAMED_KEYS
    if more > 0:
        return f"the server has refused {len(known)} keys: {named} and {more} more"
    return f"the server has refused the keys {named}"


class _Answers:
    """The answers to keyboard-interactive prompts; a prompt for the password is answered from `secrets`.

    Anything else (a one-time code) is asked for each time and never kept.
    """

    def __init__(self, to: Destination, server: str, asker: Asker, password_prompt: str) -> None:
        self.password_prompt = password_prompt
        self.key = Key(server, "password", to.shown)
        self.to = to
        self.asker = asker
        self.used: str | None = None
        self.declined = False

    def __call__(self, title: str, instructions: str, prompts: Sequence[tuple[str, bool]]) -> list[str]:
        about = " ".join(part.strip() for part in (title, instructions) if part.strip())
        return [self._answer(f"{about} {prompt}".strip(), prompt, hidden=not echo) for prompt, echo in prompts]

    def _answer(self, shown: str, prompt: str, *, hidden: bool) -> str:
        if self.declined:
            return ""
        if hidden and "password" in prompt.lower() and "one-time" not in prompt.lower():
            answer = self.used = session_secrets.get(self.key, self.password_prompt, self.asker)
        else:
            answer = self.asker.secret(self.key.server, f"{self.to.shown}: {shown}", kind="interactive")
        self.declined = answer is None
        return answer or ""

    def forget(self) -> None:
        if self.used is not None:
            session_secrets.forget(self.key, self.used)
