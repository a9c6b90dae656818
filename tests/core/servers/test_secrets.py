"""Secrets: asked once, forgotten when wrong, read from a keyring that deserves the name, never shown."""

import sys
import threading
from types import ModuleType

import keyring
import keyring.errors
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import PasswordSetError

from core.servers.profiles import ToKeep
from core.servers.secrets import Key, Secrets, has_keyring, remember

SUDO = Key("old", "sudo", "dba")


class Person:
    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, str]] = []

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        raise NotImplementedError

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        self.asked.append((server, prompt, kind))
        return self.answers.pop(0)


class Ring(KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


def no_ring(*_: str) -> str | None:
    raise keyring.errors.NoKeyringError


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    made = Ring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: made)
    monkeypatch.setattr(keyring, "get_password", made.get_password)
    monkeypatch.setattr(keyring, "set_password", made.set_password)
    return made


def test_a_secret_is_asked_for_once() -> None:
    secrets, person = Secrets(), Person("one")
    assert secrets.get(SUDO, "sudo password", person) == "one"
    assert secrets.get(SUDO, "sudo password", person) == "one"
    assert person.asked == [("old", "sudo password", "sudo")]


def test_a_wrong_one_is_forgotten_and_asked_for_again() -> None:
    secrets, person = Secrets(), Person("wrong", "right")
    secrets.forget(SUDO, secrets.get(SUDO, "?", person) or "")
    assert secrets.get(SUDO, "?", person) == "right"
    secrets.forget(SUDO, "wrong")  # a slow second thread: the right one stays
    assert secrets.get(SUDO, "?", person) == "right"


def test_declined_is_none_and_not_kept() -> None:
    secrets, person = Secrets(), Person(None, "later")
    assert secrets.get(SUDO, "?", person) is None
    assert secrets.get(SUDO, "?", person) == "later"


def test_two_threads_ask_once() -> None:
    secrets = Secrets()
    asking, answer = threading.Event(), threading.Event()

    class Slow(Person):
        def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
            asking.set()
            answer.wait(5)
            return super().secret(server, prompt, kind=kind)

    person, found = Slow("one"), list[str | None]()
    threads = [threading.Thread(target=lambda: found.append(secrets.get(SUDO, "?", person))) for _ in range(2)]
    threads[0].start()
    assert asking.wait(5)
    threads[1].start()
    answer.set()
    for thread in threads:
        thread.join(5)
    assert found == ["one", "one"]
    assert len(person.asked) == 1


def test_the_keyring_is_read_and_a_wrong_entry_passed_over(ring: Ring) -> None:
    assert remember(SUDO, "stored")
    secrets, person = Secrets(), Person("typed")
    assert secrets.get(SUDO, "?", person) == "stored"
    secrets.forget(SUDO, "stored")
    assert secrets.get(SUDO, "?", person) == "typed"
    assert ring.kept == {("pghaul", "old/sudo/dba"): "stored"}


def test_what_is_to_be_kept_is_put_into_the_keyring_once_it_was_accepted(ring: Ring) -> None:
    secrets, person = Secrets(), Person(ToKeep("wrong"), ToKeep("right"))
    assert secrets.get(SUDO, "?", person) == "wrong"
    assert ring.kept == {}
    secrets.forget(SUDO, "wrong")
    secrets.accepted(SUDO)
    assert ring.kept == {}  # it was refused
    assert secrets.get(SUDO, "?", person) == "right"
    secrets.accepted(SUDO)
    assert ring.kept == {("pghaul", "old/sudo/dba"): "right"}
    assert Secrets().get(SUDO, "?", Person()) == "right"  # in the next session


@pytest.mark.parametrize("answer", ["typed", ToKeep("typed")], ids=["not wanted", "its server was removed"])
def test_what_is_not_to_be_kept_stays_in_the_session(ring: Ring, answer: str) -> None:
    secrets = Secrets()
    secrets.get(SUDO, "?", Person(answer))
    if isinstance(answer, ToKeep):
        secrets.forget_server("old")
    secrets.accepted(SUDO)
    assert ring.kept == {}


@pytest.mark.parametrize("kept", [True, False])
def test_what_the_keyring_does_not_store_is_told(ring: Ring, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    told: list[str] = []
    secrets, person = Secrets(), Person(ToKeep("typed", lambda: told.append("not kept")))
    assert secrets.get(SUDO, "?", person) == "typed"
    if not kept:
        monkeypatch.setattr(keyring, "set_password", _refuse_to_store)
    secrets.accepted(SUDO)
    secrets.accepted(SUDO)  # each login is accepted; it is told once
    assert told == ([] if kept else ["not kept"])
    assert (("pghaul", "old/sudo/dba") in ring.kept) is kept
    assert secrets.get(SUDO, "?", Person()) == "typed"


def _refuse_to_store(*_: str) -> None:
    raise PasswordSetError("the keyring is locked")


def test_a_keyring_that_keeps_nothing_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_keyring()
    none: KeyringBackend = fail.Keyring()  # type: ignore[no-untyped-call]
    off: KeyringBackend = null.Keyring()  # type: ignore[no-untyped-call]
    chain = Ring()
    chain.backends = [none, Ring()]  # type: ignore[attr-defined]  # as keyring's own ChainerBackend has it
    for backend, offered in ((none, False), (off, False), (chain, True)):
        monkeypatch.setattr(keyring, "get_keyring", lambda found=backend: found)
        assert has_keyring() is offered


def test_without_a_keyring_the_session_alone_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_password", no_ring)
    monkeypatch.setattr(keyring, "set_password", no_ring)
    assert not remember(SUDO, "x")
    assert Secrets().get(SUDO, "?", Person("typed")) == "typed"


@pytest.mark.parametrize("chained", [False, True])
def test_a_keyring_that_writes_plain_text_counts_as_none(monkeypatch: pytest.MonkeyPatch, chained: bool) -> None:
    module = ModuleType("keyrings.alt.file")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    plain = type("PlaintextKeyring", (Ring,), {"__module__": module.__name__})()
    chain = Ring()
    chain.backends = [Ring(), plain]  # type: ignore[attr-defined]  # as keyring's own ChainerBackend has it
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain if chained else plain)
    assert not remember(SUDO, "x")
    assert Secrets().get(SUDO, "?", Person("typed")) == "typed"
    assert plain.kept == {}


def test_a_changed_profile_starts_anew() -> None:
    secrets, person = Secrets(), Person("one", "two")
    secrets.get(SUDO, "?", person)
    secrets.forget_server("old")
    assert secrets.get(SUDO, "?", person) == "two"


def test_nothing_of_it_is_shown() -> None:
    secrets = Secrets()
    secrets.get(SUDO, "?", Person("hunter2"))
    assert "hunter2" not in f"{secrets!r} {vars(SUDO) if hasattr(SUDO, '__dict__') else SUDO!r}"


def test_a_refused_secret_is_asked_for_again_with_the_reason() -> None:
    secrets, person = Secrets(), Person("wrong", "right", "opens")
    secrets.forget(SUDO, secrets.get(SUDO, "sudo password", person) or "")
    assert secrets.get(SUDO, "sudo password", person) == "right"
    key = Key("old", "passphrase", "/key")
    secrets.forget(key, "stale")
    assert secrets.get(key, "passphrase of /key", person) == "opens"
    first, again, other = (prompt for _, prompt, _ in person.asked)
    assert first == "sudo password"
    assert again.endswith("; sudo password")
    assert other.endswith("; passphrase of /key")
