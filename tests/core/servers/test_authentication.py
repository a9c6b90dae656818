"""Key files of every format that ssh-keygen writes, their certificates, and what is none."""

import errno
import os
import select
import shutil
import socket
import subprocess
import threading
import tty
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import paramiko
import pytest

from core import this_workstation
from core.errors import AuthenticationError
from core.jobs import Job
from core.servers import authentication, secrets
from core.servers.authentication import Candidate, Locked
from core.servers.profiles import ToKeep
from core.servers.secrets import session_secrets
from core.servers.ssh_config import Destination
from tests.lab.machine import wait_until

TO = Destination("old", "old", 22, "dba")


def make(path: Path, kind: str, passphrase: str = "") -> Path:
    bits = ["-b", "2048"] if kind == "rsa" else []
    subprocess.run(["ssh-keygen", "-q", "-t", kind, *bits, "-N", passphrase, "-f", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key of each kind, named for it: to find one of RSA takes long."""
    folder = tmp_path_factory.mktemp("keys")
    for kind in ("ed25519", "ecdsa", "rsa"):
        make(folder / kind, kind)
    return folder


def rewritten(key: Path, path: Path, form: str, passphrase: str) -> Path:
    """A key in another format, its public half beside it."""
    for suffix in ("", ".pub"):
        shutil.copy(f"{key}{suffix}", f"{path}{suffix}")
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase, "-m", form, "-f", str(path)], check=True)
    return path


@pytest.mark.slow
def test_an_rsa_key_that_is_too_short_logs_nobody_in(plain: Path) -> None:
    strict = replace(TO, required_rsa_bits=3072, identity_files=(plain / "rsa", plain / "ed25519"))
    with pytest.raises(AuthenticationError, match=r"\b2048 .*RequiredRSASize .*\b3072\b"):
        list(authentication.load_key(plain / "rsa", strict))
    offered = [each.origin for each in authentication.keys_of_files(strict) if isinstance(each, Candidate)]
    assert offered == [str(plain / "ed25519")]


@pytest.mark.slow
@pytest.mark.parametrize("passphrase", ["", "pass ö"])
@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("ed25519", "RFC4716"),
        ("ecdsa", "RFC4716"),
        ("ecdsa", "PEM"),
        ("rsa", "RFC4716"),
        ("rsa", "PEM"),
        ("rsa", "PKCS8"),
    ],
)
def test_every_format_is_read(plain: Path, tmp_path: Path, kind: str, form: str, passphrase: str) -> None:
    path = rewritten(plain / kind, tmp_path / "key", form, passphrase)
    if passphrase:
        with pytest.raises(authentication.NeedsPassphraseError):
            list(authentication.load_key(path, TO))
        with pytest.raises(authentication.WrongPassphraseError):
            list(authentication.load_key(path, TO, "wrong"))
    (candidate,) = authentication.load_key(path, TO, passphrase or None)
    assert candidate.key.asbytes() == authentication.public_blob(path)


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", b"\xff\xfe\0"])
def test_what_is_no_key_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(AuthenticationError, match=f" {path} "):
        list(authentication.load_key(path, TO))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pipe", " regular file"),
        ("/dev/zero", " regular file"),
        ("long", " 64 KiB"),
        (".", ": it is a folder (EISDIR)"),
        ("a\0b", ": embedded null byte"),
    ],
)
def test_what_never_ends_is_no_key_file(tmp_path: Path, name: str, said: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "long").open("wb") as file:
        file.truncate(64 * 1024 + 1)
    path = tmp_path / name
    with pytest.raises(AuthenticationError) as caught:
        list(authentication.load_key(path, TO))
    assert f" {path} " in caught.value.message
    assert caught.value.message.endswith(said)
    assert "ssh-keygen" in caught.value.hint


def test_a_certificate_that_never_ends_is_none(plain: Path, tmp_path: Path) -> None:
    shutil.copy(plain / "ed25519", tmp_path / "key")
    for beside in ("key.pub", "key-cert.pub"):
        os.mkfifo(tmp_path / beside)
    (found,) = authentication.load_key(tmp_path / "key", replace(TO, certificate_files=(Path("/dev/zero"),)))
    assert found.origin == str(tmp_path / "key")
    assert authentication.public_blob(tmp_path / "key") is None


def test_a_missing_file_is_named_only_where_the_profile_names_it(tmp_path: Path) -> None:
    missing = tmp_path / "nope"
    assert list(authentication.keys_of_files(Destination("old", "old", 22, "dba", identity_files=(missing,)))) == []
    explicit = Destination("old", "old", 22, "dba", identity_files=(missing,), explicit_identity=True)
    with pytest.raises(AuthenticationError, match=r"/nope .*: there is no such file"):
        list(authentication.keys_of_files(explicit))


def test_locked_files_come_last(tmp_path: Path) -> None:
    locked, free = make(tmp_path / "a", "ed25519", passphrase="pass"), make(tmp_path / "b", "ed25519")
    found = list(authentication.keys_of_files(Destination("old", "old", 22, "dba", identity_files=(locked, free))))
    assert isinstance(found[0], Candidate)
    assert found[0].origin == str(free)
    assert found[1] == Locked(locked)


def test_a_key_is_offered_with_its_certificates_first(tmp_path: Path) -> None:
    authority, key = make(tmp_path / "ca", "ed25519"), make(tmp_path / "key", "ed25519")
    subprocess.run(["ssh-keygen", "-q", "-s", str(authority), "-I", "x", "-n", "dba", f"{key}.pub"], check=True)
    elsewhere = tmp_path / "other-cert.pub"
    elsewhere.write_bytes((tmp_path / "key-cert.pub").read_bytes())
    foreign = make(tmp_path / "foreign", "ed25519")
    subprocess.run(["ssh-keygen", "-q", "-s", str(authority), "-I", "x", "-n", "dba", f"{foreign}.pub"], check=True)
    to = Destination("old", "old", 22, "dba", certificate_files=(elsewhere, tmp_path / "foreign-cert.pub"))
    found = list(authentication.load_key(key, to))
    assert [each.origin for each in found] == [f"{key} with key-cert.pub", f"{key} with other-cert.pub", str(key)]
    assert [getattr(each.key, "public_blob", None) is not None for each in found] == [True, True, False]


@pytest.fixture
def agent(plain: Path, tmp_path: Path) -> Iterator[str]:
    """The socket of an agent that holds two keys."""
    place = str(tmp_path / "agent")
    with subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: Path(place).exists(), "the agent listens")
        words = ["ssh-add", "-q", str(plain / "ed25519"), str(plain / "ecdsa")]
        subprocess.run(words, env={**os.environ, "SSH_AUTH_SOCK": place}, check=True, capture_output=True)
        yield place
        process.terminate()


def _offered(to: Destination) -> list[str]:
    agent = authentication.open_agent(to)
    assert agent is not None
    try:
        return [candidate.key.get_name() for candidate in authentication.keys_of_agent(agent, to)]
    finally:
        agent.close()


def test_identities_only_offers_what_is_named_and_no_more(plain: Path, tmp_path: Path, agent: str) -> None:
    to = replace(TO, identity_agent=agent)
    assert _offered(to) == ["ssh-ed25519", "ecdsa-sha2-nistp256"]
    alone = replace(to, identities_only=True)
    assert _offered(alone) == []
    assert _offered(replace(alone, identity_files=(plain / "ecdsa",))) == ["ecdsa-sha2-nistp256"]
    # the private half in the agent alone
    shutil.copy(plain / "ed25519.pub", tmp_path / "mine.pub")
    assert _offered(replace(alone, identity_files=(tmp_path / "mine.pub",))) == ["ssh-ed25519"]


@pytest.fixture
def pipe(agent: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The rules of Windows, and a pipe to the agent: a file that is opened by its name and read and written at once."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(agent)
        ended = threading.Event()
        ends: list[int | socket.socket] = [ours, wire]

        def carry() -> None:
            while not ended.is_set():
                for ready in select.select(ends, [], [], 0.05)[0]:
                    if ready is wire:
                        os.write(ours, wire.recv(4096))
                    else:
                        wire.sendall(os.read(ours, 4096))

        carrier = threading.Thread(target=carry)
        carrier.start()
        monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
        yield os.ttyname(theirs)
        ended.set()
        carrier.join()
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("named_by", ["IdentityAgent", "SSH_AUTH_SOCK"])
def test_on_windows_an_agent_is_reached_through_its_pipe(
    named_by: str, pipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", pipe if named_by == "SSH_AUTH_SOCK" else "/none")
    to = replace(TO, identity_agent=pipe if named_by == "IdentityAgent" else None)
    agent = authentication.open_agent(to)
    assert agent is not None
    first, second = authentication.keys_of_agent(agent, to)
    assert [first.key.get_name(), second.key.get_name()] == ["ssh-ed25519", "ecdsa-sha2-nistp256"]
    public = paramiko.Ed25519Key(data=first.key.asbytes())
    signature = cast("bytes", first.key.sign_ssh_data(b"data", first.key.get_name()))  # the stubs know no agent's key
    assert public.verify_ssh_sig(b"data", paramiko.Message(signature))
    agent.close()


@pytest.mark.parametrize("pipe_name", [None, r"\\.\pipe\none"])
def test_on_windows_without_an_agent_there_are_no_keys(pipe_name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    assert _offered(replace(TO, identity_agent=pipe_name)) == []


def test_a_pipe_that_is_busy_is_asked_again(pipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows says `invalid argument` until the agent has freed the pipe of the one who used it before."""
    busy = [True, True, False]
    really = os.open

    def open_file(path: str, flags: int, *rest: int) -> int:
        if path == pipe and busy.pop(0):
            raise OSError(errno.EINVAL, "Invalid argument")
        return really(path, flags, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", open_file)
        agent = authentication.open_agent(replace(TO, identity_agent=pipe))
    assert agent is not None
    assert len(agent.get_keys()) == 2
    agent.close()


class Transport:
    """A server that takes the password, and beside it the accepted key."""

    def __init__(self, accepted: bytes = b"", refused: str = "") -> None:
        self.accepted = accepted
        self.refused = refused
        self.logged_in = False

    def auth_none(self, _user: str) -> None:
        raise paramiko.BadAuthenticationType("none", ["publickey", "password"])

    def auth_publickey(self, _user: str, key: paramiko.PKey) -> list[str]:
        if key.asbytes() == self.accepted:
            return ["password"]
        raise paramiko.AuthenticationException

    def auth_password(self, _user: str, password: str, *, fallback: bool) -> list[str]:  # noqa: ARG002
        if password == self.refused:
            raise paramiko.AuthenticationException
        self.logged_in = True
        return []

    def is_authenticated(self) -> bool:
        return self.logged_in

    def is_active(self) -> bool:
        return True


@dataclass
class Typing:
    """Types a password."""

    prompts: list[str] = field(default_factory=list)

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        raise AssertionError(server, address, key_type, fingerprint)

    def secret(self, _server: str, prompt: str, *, kind: str) -> str | None:
        self.prompts.append(prompt)
        return kind


@dataclass
class Keeping(Typing):
    """Types each password in turn, and wants it in the keyring."""

    passwords: list[str] = field(default_factory=list)

    def secret(self, _server: str, prompt: str, *, kind: str) -> str | None:  # noqa: ARG002
        return ToKeep(self.passwords.pop(0))


def test_a_password_is_kept_once_the_server_has_accepted_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []
    monkeypatch.setattr(secrets, "remembered", lambda _key: None)
    monkeypatch.setattr(secrets, "remember", lambda _key, value: kept.append(value))
    transport = cast("paramiko.Transport", Transport(refused="wrong"))
    to = replace(TO, identity_files=(), identities_only=True)
    try:
        authentication.authenticate(transport, to, "old", Keeping(passwords=["wrong", "right"]), Job())
    finally:
        session_secrets.forget_server("old")
    assert kept == ["right"]


@pytest.mark.parametrize("kinds", [(), ("ed25519",), ("ed25519", "ecdsa")], ids=["no key", "one key", "two keys"])
def test_the_prompt_for_a_password_names_the_keys_that_were_refused(
    plain: Path, monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", str(plain.parent))
    files = tuple(plain / kind for kind in kinds)
    asker = Typing()
    to = replace(TO, identity_files=files, identities_only=True)
    try:
        authentication.authenticate(cast("paramiko.Transport", Transport()), to, "old", asker, Job())
    finally:
        session_secrets.forget_server("old")
    (prompt,) = asker.prompts
    assert [kind for kind in ("ed25519", "ecdsa", "rsa") if f"~/{plain.name}/{kind}" in prompt] == [*kinds]
    assert ("refused" in prompt) is bool(kinds)
    assert to.shown in prompt


def prompted(to: Destination, transport: Transport) -> str:
    """The prompt for the password."""
    asker = Typing()
    try:
        authentication.authenticate(cast("paramiko.Transport", transport), to, "old", asker, Job())
    finally:
        session_secrets.forget_server("old")
    (prompt,) = asker.prompts
    return prompt


def test_no_refused_key_is_named_once_the_server_has_accepted_another(plain: Path) -> None:
    files = (plain / "ed25519", plain / "ecdsa")
    (accepted,) = authentication.load_key(files[1], TO)
    prompt = prompted(replace(TO, identity_files=files, identities_only=True), Transport(accepted.key.asbytes()))
    assert prompt == f"password of {TO.shown}"


def test_a_refused_key_counts_once_with_its_certificate(plain: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    shutil.copy(plain / "ed25519", key)
    shutil.copy(plain / "ed25519.pub", f"{key}.pub")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "ca")], check=True)
    signing = ["ssh-keygen", "-q", "-s", str(tmp_path / "ca"), "-I", "me", "-n", "root", f"{key}.pub"]
    subprocess.run(signing, check=True)
    to = replace(TO, identity_files=(key,), identities_only=True)
    assert len([*authentication.load_key(key, TO)]) == 2
    assert prompted(to, Transport()).endswith(f"because the server has refused the key {key}")


def test_a_refused_key_of_the_agent_is_named_by_its_comment(plain: Path, tmp_path: Path, agent: str) -> None:
    shutil.copy(plain / "ed25519.pub", tmp_path / "mine.pub")
    comment = (plain / "ed25519.pub").read_text().split(maxsplit=2)[2].strip()
    to = replace(TO, identity_agent=agent, identity_files=(tmp_path / "mine.pub",), identities_only=True)
    assert prompted(to, Transport()).endswith(f"because the server has refused the key {comment} (SSH agent)")
