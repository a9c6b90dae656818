"""The errors that a user may meet, each a sentence with a hint and the exit code it ends the command line with.

    PghaulError
    ├── InputError          2   wrong usage or input: a file, a name, an option, an output that cannot be read
    │   └── ParseError          a tool's output holds no result; quotes the first line that could not be read
    ├── ServerError         3   a server could not be reached, refused, or did not do what it was asked
    │   ├── UnreachableError    address, port, network, time-out
    │   ├── AuthenticationError key, password, certificate, agent
    │   ├── HostKeyError        unknown and declined, changed, or revoked
    │   └── CommandError        a remote command ended with an exit status that its tool does not accept
    ├── HistoryError        2   the history cannot be opened, read or written
    │   └── HistoryLostError    the server of a team's history does not answer
    ├── BlockedError        1   blockers stand, or a verification failed
    │   └── PausedError         the operator wanted no further step: nothing has failed
    └── Cancelled           4   the user cancelled

Anything else that is raised is a bug: exit code 70 and a traceback to copy.
"""

from core.redaction import without_secrets


class PghaulError(Exception):
    """A problem that the user can act on. What it quotes of others has passed the filter.

    Attributes:
        message: a lower-case sentence that names the thing.
        hint: what to do about it; empty where the message says it all.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = without_secrets(message)
        self.hint = without_secrets(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class InputError(PghaulError):
    """Wrong usage or input."""


class TakenOverError(InputError):
    """Another process has gone on with what this one had begun: nothing of it may be changed here any more."""


class ParseError(InputError):
    """An output that holds no result, or a line that could not be read."""


class ServerError(PghaulError):
    """A server could not be reached, refused, or did not do what it was asked."""

    exit_code = 3


class UnreachableError(ServerError):
    """No connection: wrong address, closed port, no route, no answer in time.

    Attributes:
        lasting: whether it fails again until somebody changes something: no network that comes back mends it.
    """

    lasting = False

    def __init__(self, message: str, hint: str = "", *, lasting: bool = False) -> None:
        super().__init__(message, hint)
        self.lasting = lasting


class AuthenticationError(ServerError):
    """The server did not accept the user, key, certificate or password."""


class HostKeyError(ServerError):
    """The server's host key is unknown and was declined, has changed, or is revoked."""


class CommandError(ServerError):
    """A remote command ended with an exit status that its tool does not accept.

    Attributes:
        command: the command as shown to the user, secrets masked.
        exit_status: the command's exit status; None when it was ended by a deadline or a lost connection.
        stderr: what it wrote to standard error.
    """

    def __init__(
        self, message: str, hint: str = "", *, command: str = "", exit_status: int | None = None, stderr: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.command = without_secrets(command)
        self.exit_status = exit_status
        self.stderr = without_secrets(stderr)


class HistoryError(PghaulError):
    """The history cannot be opened, read or written."""


class HistoryLostError(HistoryError):
    """The server of a team's history does not answer: what could not be recorded can be so later."""


class BlockedError(PghaulError):
    """Blockers stand, or a verification failed."""

    exit_code = 1


class PausedError(BlockedError):
    """The operator wanted no further step, or did not confirm one. Nothing has failed.

    Attributes:
        stands: how both clusters stand, if the old one may be stopped by now; else empty.
    """

    stands = ""


class Cancelled(PghaulError):  # noqa: N818  it is an outcome, not a fault
    """The user cancelled."""

    exit_code = 4

    def __init__(self, message: str = "cancelled", hint: str = "") -> None:
        super().__init__(message, hint)
