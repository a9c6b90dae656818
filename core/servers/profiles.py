"""A server as the DBA describes it: where it is, who logs in, how that user gains the rights that the work needs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, Self


class Rights(StrEnum):
    """How commands that need more than the login user's rights are run."""

    NONE = "none"
    SUDO = "sudo"
    SUDO_PASSWORD = "sudo-password"  # noqa: S105  the name of a way, not a password
    SUDO_POSTGRES = "sudo-postgres"
    """`sudo -n -u postgres` alone is allowed, nothing as root."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A server profile. What is None comes from ~/.ssh/config or ssh's own default.

    Attributes:
        name: the DBA's name for the server, unique in the history.
        address: host name, IP address or an alias of ~/.ssh/config.
        jump: jump hosts as ssh's ProxyJump has them, `[user@]host[:port][,…]`.
        database_user: the operating-system user that owns the clusters.
        copy_address: the address by which the other server reaches this one; None: `address` as resolved by ssh.
    """

    name: str
    address: str
    user: str | None = None
    port: int | None = None
    identity_file: str | None = None
    jump: str | None = None
    rights: Rights = Rights.SUDO
    database_user: str = "postgres"
    copy_address: str | None = None


class ToKeep(str):
    """An answer of `Asker.secret` that is put into the OS keyring once the server has accepted it.

    `not_kept` is called, on the thread that connects, if the keyring does not store it.
    """

    not_kept: Callable[[], None]

    def __new__(cls, answer: str, not_kept: Callable[[], None] = lambda: None) -> Self:
        made = super().__new__(cls, answer)
        made.not_kept = not_kept
        return made


class Asker(Protocol):
    """Who answers when a connection has a question: the terminal, a dialog, or nobody.

    Each may be called on the thread that connects; an answer of None or False means declined.
    """

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        """Whether the unknown host key, `SHA256:…`, is the server's own."""
        ...

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:
        """A password, passphrase, sudo password or keyboard-interactive answer.

        `kind` is `password`, `passphrase`, `sudo`, `role` (a password of PostgreSQL's) or `interactive`. The answer is
        kept for the session only, unless it is a ToKeep.
        """
        ...


class Nobody:
    """An Asker for unattended work: trusts no unknown key, knows no secret."""

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:  # noqa: ARG002  it answers no to whatever is asked
        return False

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:  # noqa: ARG002  it answers no to whatever is asked
        return None
