"""Logging in: keys, certificates and the agent first, then password or keyboard-interactive, as the server allows.

A server may want several in a row (AuthenticationMethods); each success narrows what it still asks for. Secrets come
from `secrets`; a wrong one is forgotten and asked for again, three times at most.
"""

from collections.abc import Callable, Iterator, Sequence

import paramiko

from core.errors import AuthenticationError
from core.jobs import Job
from core.servers import keys
from core.servers.keys import Candidate, Locked
from core.servers.profiles import Asker
from core.servers.secrets import Key, session_secrets
from core.servers.ssh_config import Destination

_TRIES = 3


def authenticate(transport: paramiko.Transport, to: Destination, server: str, asker: Asker, job: Job) -> None:
    """Log in on a transport whose host key is proven.

    Raises:
        AuthenticationError: nothing that was tried is accepted; it says what was tried and what the server takes.
        Cancelled: the job was cancelled meanwhile.
    """
    login = _Login(transport, to, server, asker, job)
    try:
        login.run()
    except (EOFError, OSError) as error:
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

    def run(self) -> None:
        try:
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
        agent = keys.open_agent(self.to)
        try:
            return any(self._offer(candidate) for candidate in self._candidates(agent))
        finally:
            if agent is not None:
                agent.close()

    def _candidates(self, agent: keys.Agent | None) -> Iterator[Candidate]:
        """Explicit files, then the agent, then other files; files that need a passphrase last, as they ask."""
        files = list(keys.of_files(self.to))
        unlocked = [file for file in files if isinstance(file, Candidate)]
        of_agent = list(keys.of_agent(agent, self.to))
        yield from [*unlocked, *of_agent] if self.to.explicit_identity else [*of_agent, *unlocked]
        held = {candidate.key.asbytes() for candidate in of_agent}
        for file in files:
            if isinstance(file, Locked) and keys.public_blob(file.path) not in held:
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
                candidates = list(keys.load(file.path, self.to, passphrase))
            except keys.WrongPassphraseError:
                session_secrets.forget(key, passphrase)
            else:
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
            return False
        return True

    def _password(self) -> bool:
        key = Key(self.server, "password", self.to.shown)
        for _ in range(_TRIES):
            self.job.check()
            password = session_secrets.get(key, f"password of {self.to.shown}", self.asker)
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
                return True
        return False

    def _interactive(self) -> bool:
        for _ in range(_TRIES):
            self.job.check()
            answers = _Answers(self.to, self.server, self.asker)
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


class _Answers:
    """The answers to keyboard-interactive prompts; a prompt for the password is answered from `secrets`.

    Anything else (a one-time code) is asked for each time and never kept.
    """

    def __init__(self, to: Destination, server: str, asker: Asker) -> None:
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
            answer = self.used = session_secrets.get(self.key, f"password of {self.to.shown}", self.asker)
        else:
            answer = self.asker.secret(self.key.server, f"{self.to.shown}: {shown}", kind="interactive")
        self.declined = answer is None
        return answer or ""

    def forget(self) -> None:
        if self.used is not None:
            session_secrets.forget(self.key, self.used)
