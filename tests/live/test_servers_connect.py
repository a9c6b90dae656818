"""Reaching and logging in to real hosts: every way that leads in, and every way that does not, in clear words."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import (
    AuthenticationError,
    Cancelled,
    HostKeyError,
    InputError,
    PghaulError,
    ServerError,
    UnreachableError,
)
from core.jobs import Job
from core.servers.connection import connect
from core.servers.profiles import Nobody, Profile
from core.servers.secrets import session_secrets
from core.servers.shell import command
from tests.lab.hosts import Host
from tests.lab.lab import PASSPHRASE, Lab
from tests.lab.root import PASSWORD

pytestmark = pytest.mark.lab


class Person:
    """Trusts every unknown key and answers from a list, a kind of secret each."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.keys: list[str] = []

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:  # noqa: ARG002
        self.keys.append(address)
        return True

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:  # noqa: ARG002
        self.asked.append(kind)
        return self.answers.get(kind)


@pytest.fixture(autouse=True)
def _forgetful() -> Iterator[None]:
    """Nothing that one test answered is known to the next."""
    yield
    for name in ("old", "new"):
        session_secrets.forget_server(name)


@pytest.fixture
def by_password(old_profile: Profile) -> Profile:
    """Without a key: what is left is the password."""
    return replace(old_profile, identity_file=None)


def config(*lines: str) -> None:
    """Add to the test's own ssh configuration."""
    path = Path(os.environ["PGHAUL_SSH_CONFIG"])
    path.write_text("\n".join(lines) + "\n" + path.read_text())


def whoami(profile: Profile, person: Person) -> str:
    with connect(profile, person, Job()) as server:
        return server.run(command("id", "-un"), Job()).stdout.strip()


def refused(
    kind: type[PghaulError], profile: Profile, person: Person | None = None, deadline: float = 5
) -> PghaulError:
    with pytest.raises(kind) as caught:
        connect(profile, person or Person(), Job(), deadline=deadline)
    assert type(caught.value) is kind
    assert caught.value.message.startswith(("old: ", "new: "))
    assert caught.value.hint
    return caught.value


def test_an_unknown_key_is_asked_for_once_and_then_known(lab: Lab, old_profile: Profile) -> None:
    person = Person()
    assert [whoami(old_profile, person), whoami(old_profile, person)] == ["dba", "dba"]
    assert person.keys == [lab.old.address]
    known = Path.home() / ".ssh" / "known_hosts"
    assert known.stat().st_mode & 0o777 == 0o600
    assert subprocess.run(["ssh-keygen", "-F", lab.old.address, "-f", str(known)], check=False).returncode == 0


def _keys_of(host: Host, folder: Path) -> Path:
    """The public half of the host's key, as a file."""
    path = folder / "host.pub"
    path.write_text(host.exec("cat", "/etc/ssh/ssh_host_ed25519_key.pub").stdout)
    return path


def test_a_command_of_the_configuration_knows_the_host(lab: Lab, old_profile: Profile, tmp_path: Path) -> None:
    key, person = _keys_of(lab.old, tmp_path), Person()
    program = tmp_path / "keys"
    program.write_text(f'#!/bin/sh\necho "$1 $(cat {key})"\n')
    program.chmod(0o700)
    config(f"KnownHostsCommand {program} %H")
    assert (whoami(old_profile, person), person.keys) == ("dba", [])


def test_a_host_key_that_the_configuration_revokes(lab: Lab, old_profile: Profile, tmp_path: Path) -> None:
    assert whoami(old_profile, Person()) == "dba"
    config(f"RevokedHostKeys {_keys_of(lab.old, tmp_path)}")
    assert "is revoked (RevokedHostKeys" in refused(HostKeyError, old_profile).message


@pytest.mark.parametrize(
    "line", ["HostKeyAlgorithms ssh-dss", "Ciphers chacha20-poly1305@openssh.com", "MACs umac-64@openssh.com"]
)
def test_nothing_that_the_configuration_allows_is_known(old_profile: Profile, line: str) -> None:
    config(line)
    with pytest.raises((HostKeyError, InputError), match="in the ssh configuration allows only"):
        connect(old_profile, Person(), Job())


def test_a_cipher_of_the_configuration_is_kept(old_profile: Profile) -> None:
    config("Ciphers aes256-ctr", "HostKeyAlgorithms ssh-ed25519", "MACs hmac-sha2-512")
    assert whoami(old_profile, Person()) == "dba"


def test_nobody_trusts_no_unknown_key(old_profile: Profile) -> None:
    with pytest.raises(HostKeyError, match="was not accepted"):
        connect(old_profile, Nobody(), Job())


def test_a_changed_host_key_is_refused(lab: Lab, old_profile: Profile) -> None:
    key = lab.user_ca.with_suffix(".pub").read_text()  # any other key of that type
    known = Path.home() / ".ssh" / "known_hosts"
    known.write_text(f"{lab.old.address} {key}")
    error = refused(HostKeyError, old_profile)
    assert error.message.count("SHA256:") == 2
    assert f"{known}:1" in error.message


def test_a_wrong_name(old_profile: Profile) -> None:
    error = refused(UnreachableError, replace(old_profile, address="no-such-host.invalid"))
    assert "no-such-host.invalid" in error.message
    assert isinstance(error.__cause__, socket.gaierror)


def test_a_closed_port(old_profile: Profile) -> None:
    error = refused(UnreachableError, replace(old_profile, port=9))
    assert "port 9 " in error.message
    assert isinstance(error.__cause__, ConnectionRefusedError)


def test_no_answer(lab: Lab, old_profile: Profile) -> None:
    lab.cut("old")
    error = refused(UnreachableError, old_profile, deadline=1)
    assert " 1 s" in error.message
    assert isinstance(error.__cause__, TimeoutError)


def test_a_cancelled_connect_does_not_wait(lab: Lab, old_profile: Profile) -> None:
    lab.cut("old")
    job = Job()
    timer = threading.Timer(0.2, job.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        connect(old_profile, Person(), job, deadline=100)
    timer.join()


@contextmanager
def listener(greeting: bytes) -> Iterator[int]:
    """Something that is no SSH server, on a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as waiting:

        def serve() -> None:
            near, _ = waiting.accept()
            with near:
                near.sendall(greeting)
                near.shutdown(socket.SHUT_WR)
                near.recv(1024)

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(waiting.getsockname()[1])
        thread.join()


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\0\xff" * 300])
def test_what_is_no_ssh_server(old_profile: Profile, greeting: bytes) -> None:
    with listener(greeting) as port:
        error = refused(UnreachableError, replace(old_profile, address="127.0.0.1", port=port))
    assert f"127.0.0.1 port {port}" in error.message
    assert "MaxStartups" in error.hint


@contextmanager
def sshd(lab: Lab, port: int, *options: str) -> Iterator[None]:
    """A further sshd on old, with options of its own."""
    pid_file = f"/run/sshd_{port}.pid"
    words = [word for option in (f"Port={port}", f"PidFile={pid_file}", *options) for word in ("-o", option)]
    lab.old.exec("/usr/sbin/sshd", *words)
    lab.old.exec("timeout", "5", "sh", "-c", f"until [ -s {pid_file} ]; do sleep 0.05; done")
    try:
        yield
    finally:
        lab.old.exec("sh", "-c", f"kill $(cat {pid_file})")


def test_a_server_that_knows_sha1_only_is_told_apart(lab: Lab, old_profile: Profile) -> None:
    with sshd(lab, 2201, "KexAlgorithms=diffie-hellman-group14-sha1"):
        error = refused(UnreachableError, replace(old_profile, port=2201))
    assert "supports only outdated SSH algorithms" in error.message
    assert isinstance(error, UnreachableError)
    assert error.lasting  # no other try mends it
    assert "KexAlgorithms" in error.hint


def test_a_wrong_key(lab: Lab, old_profile: Profile) -> None:
    error = refused(AuthenticationError, replace(old_profile, identity_file=str(lab.user_ca)))
    assert " dba " in error.message
    assert str(lab.user_ca) in error.message
    assert "publickey, password" in error.hint


def test_a_key_file_that_is_missing(old_profile: Profile, tmp_path: Path) -> None:
    with pytest.raises(AuthenticationError, match=f"{tmp_path}/nope .*: there is no such file"):
        connect(replace(old_profile, identity_file=str(tmp_path / "nope")), Person(), Job())


def test_a_password(by_password: Profile) -> None:
    person = Person(password=PASSWORD)
    assert [whoami(by_password, person), whoami(by_password, person)] == ["dba", "dba"]
    assert person.asked == ["password"]


def test_a_wrong_password_is_asked_for_again_but_not_for_ever(by_password: Profile) -> None:
    person = Person(password="wr0ng secret")
    error = refused(AuthenticationError, by_password, person)
    assert person.asked == ["password"] * 3
    assert "password (wrong)" in error.message
    assert "wr0ng secret" not in f"{error} {error.__cause__!r}"
    assert whoami(by_password, Person(password=PASSWORD)) == "dba"


def test_no_password_given(by_password: Profile) -> None:
    assert "no password given" in refused(AuthenticationError, by_password).message


@pytest.mark.parametrize("line", ["PasswordAuthentication no", "PreferredAuthentications publickey"])
def test_no_password_is_asked_for_where_the_configuration_forbids_it(by_password: Profile, line: str) -> None:
    config(line)
    person = Person(password=PASSWORD)
    refused(AuthenticationError, by_password, person)
    assert person.asked == []


def test_a_passphrase_is_asked_for_once(lab: Lab, old_profile: Profile) -> None:
    person = Person(passphrase=PASSPHRASE)
    profile = replace(old_profile, identity_file=str(lab.key_passphrase))
    assert [whoami(profile, person), whoami(profile, person)] == ["dba", "dba"]
    assert person.asked == ["passphrase"]


def test_a_wrong_passphrase(lab: Lab, old_profile: Profile) -> None:
    person = Person(passphrase="wrong")
    error = refused(AuthenticationError, replace(old_profile, identity_file=str(lab.key_passphrase)), person)
    assert person.asked.count("passphrase") == 3
    assert "wrong passphrase" in error.message


def test_an_agent_opens_what_needs_a_passphrase(lab: Lab, by_password: Profile, tmp_path: Path) -> None:
    place = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL)
    try:
        adding = f"until [ -S '{place}' ]; do sleep 0.05; done; exec ssh-add -q '{lab.key}'"
        environment = {**os.environ, "SSH_AUTH_SOCK": str(place)}
        subprocess.run(["timeout", "10", "sh", "-c", adding], env=environment, check=True)
        config(f"IdentityAgent {place}")
        person = Person()
        assert whoami(by_password, person) == "dba"
        assert person.asked == []
    finally:
        agent.terminate()
        agent.wait()


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_a_certificate(lab: Lab, old_profile: Profile, tmp_path: Path, kind: str) -> None:
    key = tmp_path / "key"
    bits = ["-b", "2048"] if kind == "rsa" else []
    subprocess.run(["ssh-keygen", "-q", "-t", kind, *bits, "-N", "", "-f", str(key)], check=True)
    profile = replace(old_profile, identity_file=str(key))
    refused(AuthenticationError, profile)
    subprocess.run(["ssh-keygen", "-q", "-s", str(lab.user_ca), "-I", "x", "-n", "dba", f"{key}.pub"], check=True)
    assert whoami(profile, Person()) == "dba"


def test_a_host_certificate_of_a_known_authority(lab: Lab, old_profile: Profile) -> None:
    public, certificate = "/etc/ssh/ssh_host_ed25519_key.pub", "/etc/ssh/ssh_host_ed25519_key-cert.pub"
    lab.old.exec("cp", "/dev/stdin", "/tmp/host_ca", input=lab.user_ca.read_text())
    lab.old.exec("chmod", "600", "/tmp/host_ca")
    lab.old.exec("ssh-keygen", "-q", "-s", "/tmp/host_ca", "-I", "old", "-h", "-n", lab.old.address, public)
    try:
        authority = lab.user_ca.with_suffix(".pub").read_text()
        (Path.home() / ".ssh" / "known_hosts").write_text(f"@cert-authority * {authority}")
        person = Person()
        with sshd(lab, 2202, f"HostCertificate={certificate}"):
            config("Host *", "  CheckHostIP no")
            assert whoami(replace(old_profile, address=lab.old.address, port=2202), person) == "dba"
        assert person.keys == []
    finally:
        lab.old.exec("rm", "-f", certificate, "/tmp/host_ca")


def test_keyboard_interactive(by_password: Profile) -> None:
    person = Person(password=PASSWORD)
    assert whoami(replace(by_password, port=2222), person) == "dba"
    assert person.asked == ["password"]


def test_keyboard_interactive_with_a_wrong_answer(by_password: Profile) -> None:
    person = Person(password="wrong")
    error = refused(AuthenticationError, replace(by_password, port=2222), person)
    assert "keyboard-interactive (wrong)" in error.message


def test_key_and_password_both(lab: Lab, old_profile: Profile) -> None:
    with sshd(lab, 2203, "AuthenticationMethods=publickey,password"):
        assert whoami(replace(old_profile, port=2203), Person(password=PASSWORD)) == "dba"
        session_secrets.forget_server("old")
        refused(AuthenticationError, replace(old_profile, port=2203))


def came_from(profile: Profile, person: Person) -> str:
    with connect(profile, person, Job()) as server:
        return server.run(command("printenv", "SSH_CONNECTION"), Job()).stdout.split()[0]


def test_a_jump_host(lab: Lab, new_profile: Profile) -> None:
    person = Person()
    jump = f"dba@{lab.old.address}"
    assert came_from(replace(new_profile, jump=jump), person) == lab.old.address
    assert person.keys == [lab.old.address, lab.new.address]


def test_two_jump_hosts(lab: Lab, new_profile: Profile) -> None:
    jump = f"dba@{lab.new.address},dba@{lab.old.address}:22"
    assert came_from(replace(new_profile, jump=jump), Person()) == lab.old.address


def test_a_jump_host_that_cannot_go_on(lab: Lab, new_profile: Profile) -> None:
    profile = replace(new_profile, jump=f"dba@{lab.old.address}", port=9)
    error = refused(UnreachableError, profile)
    assert f" dba@{lab.old.address} " in error.message
    assert f" {lab.new.address} port 9" in error.message


def test_a_jump_hosts_changed_key_is_refused(lab: Lab, new_profile: Profile) -> None:
    key = lab.user_ca.with_suffix(".pub").read_text()
    (Path.home() / ".ssh" / "known_hosts").write_text(f"{lab.old.address} {key}")
    error = refused(HostKeyError, replace(new_profile, jump=f"dba@{lab.old.address}"))
    assert lab.old.address in error.message


def test_a_name_of_the_ssh_configuration(lab: Lab, tmp_path: Path) -> None:
    included = tmp_path / "hosts"
    included.write_text(
        f"Host gate\n  HostName {lab.old.address}\n  User dba\n"
        f"Host target\n  HostName {lab.new.address}\n  User dba\n  ProxyJump gate\nHost *\n  IdentityFile {lab.key}\n"
    )
    config(f"Include {included}")
    assert came_from(Profile("new", "target"), Person()) == lab.old.address


def test_a_proxy_command(lab: Lab, new_profile: Profile) -> None:
    options = f"-F none -i {lab.key} -o UserKnownHostsFile={lab.known_hosts} -o BatchMode=yes"
    config(f"Host {lab.new.address}", f"  ProxyCommand ssh {options} -W %h:%p dba@{lab.old.address}")
    assert came_from(new_profile, Person()) == lab.old.address


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_proxy_outlives_what_the_terminal_sends_to_all(
    lab: Lab, new_profile: Profile, number: signal.Signals
) -> None:
    config(f"Host {lab.new.address}", "  ProxyCommand socat - TCP:%h:%p")
    with connect(new_profile, Person(), Job()) as server:
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        (proxy,) = (int(child) for child in children if b"socat" in Path(f"/proc/{child}/cmdline").read_bytes())
        os.kill(proxy, number)
        assert server.run(command("echo", "there"), Job()).stdout == "there\n"
    assert not Path(f"/proc/{proxy}").exists()


def test_jump_hosts_that_lead_to_each_other(lab: Lab) -> None:
    config("Host a", "  ProxyJump b", "Host b", "  ProxyJump a")
    with pytest.raises(InputError, match=r"\b8\b"):
        connect(Profile("old", "a", user="dba", identity_file=str(lab.key)), Person(), Job())


def test_a_login_without_a_shell(lab: Lab, nosudo_profile: Profile) -> None:
    lab.old.exec("usermod", "-s", "/usr/sbin/nologin", "nosudo")
    try:
        with connect(nosudo_profile, Person(), Job()) as server, pytest.raises(ServerError) as caught:
            server.run(command("true"), Job())
        assert "the login shell of nosudo does not run commands: This account is currently not available" in str(
            caught.value
        )
    finally:
        lab.old.exec("usermod", "-s", "/bin/bash", "nosudo")
