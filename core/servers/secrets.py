"""Passwords and passphrases: from the session's memory, the OS keyring, or the person asked. Never stored elsewhere.

The session keeps what was asked until the program ends, so that a sudo password is asked for once. The OS keyring is
read, and written only when the user says so: through `remember`, or by an answer `ToKeep` once it was accepted. A
keyring that keeps plain text (keyrings.alt) counts as none.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import keyring
import keyring.errors
from keyring.backend import KeyringBackend

from core.redaction import know
from core.servers.profiles import Asker, ToKeep
from core.settings import PROGRAM


@dataclass(frozen=True, slots=True)
class Key:
    """What a secret is for. `kind` is Asker.secret's; `detail` tells several of one kind apart: a key file's path."""

    server: str
    kind: str
    detail: str = ""

    @property
    def account(self) -> str:
        """The account under which the OS keyring has it."""
        return "/".join(part for part in (self.server, self.kind, self.detail) if part)


class Secrets:
    """The secrets of this session; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Key, str] = {}
        self._wrong: dict[Key, set[str]] = {}
        self._to_keep: dict[Key, ToKeep] = {}
        self._asking: dict[Key, threading.Lock] = {}

    def get(self, key: Key, prompt: str, asker: Asker) -> str | None:
        """The secret, asked for when neither the session nor the keyring knows it; None when declined.

        Two threads that need the same secret ask once.
        """
        with self._lock:
            asking = self._asking.setdefault(key, threading.Lock())
        with asking:
            with self._lock:
                known = self._known.get(key)
                wrong = set(self._wrong.get(key, ()))
            if known is not None:
                return known
            found = remembered(key)
            if found is None or found in wrong:
                found = asker.secret(key.server, _after_refusal(key, prompt) if wrong else prompt, kind=key.kind)
            if found is not None:
                know(found)
                with self._lock:
                    self._known[key] = found
                    if isinstance(found, ToKeep):
                        self._to_keep[key] = found
            return found

    def accepted(self, key: Key) -> None:
        """Put the secret into the OS keyring, if the user wants this: it was accepted. Without success the user is
        told, as it is asked for again in the next session.
        """
        with self._lock:
            value = self._to_keep.pop(key, None)
        if value is not None and not remember(key, str(value)):
            value.not_kept()

    def forget(self, key: Key, value: str) -> None:
        """Drop a secret that was refused; the next `get` asks again."""
        with self._lock:
            if self._known.get(key) == value:
                del self._known[key]
            if self._to_keep.get(key) == value:
                del self._to_keep[key]
            self._wrong.setdefault(key, set()).add(value)

    def forget_server(self, server: str) -> None:
        """Drop all that the session knows of a server: its profile was changed or removed."""
        with self._lock:
            for known in (self._known, self._wrong, self._to_keep):
                _drop(known, server)


def remember(key: Key, value: str) -> bool:
    """Put a secret into the OS keyring; False when there is none, and then it stays in the session only."""
    if not _usable(keyring.get_keyring()):
        return False
    try:
        keyring.set_password(PROGRAM, key.account, value)
    except keyring.errors.KeyringError:
        return False
    return True


def has_keyring() -> bool:
    """Whether there is a keyring that can keep a secret."""
    backend = keyring.get_keyring()
    parts: Iterable[KeyringBackend] = getattr(backend, "backends", None) or [backend]
    return _usable(backend) and not all(type(part).__module__ in _KEEP_NOTHING for part in parts)


_KEEP_NOTHING = ("keyring.backends.fail", "keyring.backends.null")
"""What keyring has where there is none, or where the user has turned it off."""


session_secrets = Secrets()
"""What every connection of this program asks."""


def _after_refusal(key: Key, prompt: str) -> str:
    word = "passphrase" if key.kind == "passphrase" else "password"
    return f"the {word} was not accepted; {prompt}"


def _drop(known: dict[Key, str] | dict[Key, ToKeep] | dict[Key, set[str]], server: str) -> None:
    for key in [key for key in known if key.server == server]:
        del known[key]


def remembered(key: Key) -> str | None:
    """What the OS keyring has; None: nothing, or there is no keyring."""
    if not _usable(keyring.get_keyring()):
        return None
    try:
        return keyring.get_password(PROGRAM, key.account)
    except keyring.errors.KeyringError:
        return None


def _usable(backend: KeyringBackend) -> bool:
    parts: Iterable[KeyringBackend] = getattr(backend, "backends", None) or [backend]
    return not any(type(part).__module__.startswith("keyrings.alt") for part in parts)
