"""KnownHostsCommand of ssh_config(5): a program that prints further lines of known_hosts."""

import subprocess
from pathlib import Path

import paramiko

from core.errors import HostKeyError, InputError
from core.servers import known_hosts
from core.servers.known_hosts import Entry
from core.servers.shell import split
from core.servers.ssh_config import Destination
from core.servers.ssh_tokens import expand

_TIMEOUT = 10.0


def further_entries(to: Destination, key: paramiko.PKey | None = None) -> tuple[Entry, ...]:
    """What the destination's command prints, as ssh asks it: for the order of the algorithms, or of the key shown.

    Raises:
        InputError: it is no command that ssh would run.
        HostKeyError: it failed, or took too long: then nobody knows whom to trust.
    """
    if not to.known_hosts_command:
        return ()
    program, *words = split(to.known_hosts_command)
    if not Path(program).is_absolute():
        raise InputError(
            f"KnownHostsCommand {program!r} is not an absolute path",
            "give the absolute path of the program, as ssh demands",
        )
    asked = {**to.tokens, **_about(to, key)}
    arguments = [program, *(expand("KnownHostsCommand", word, asked) for word in words)]
    return known_hosts.parse(_output(arguments), Path("KnownHostsCommand"))


def _about(to: Destination, key: paramiko.PKey | None) -> dict[str, str]:
    if key is None:
        return {"H": to.known_as, "I": "ORDER", "t": "NONE", "f": "NONE", "K": "NONE"}
    shown = known_hosts.fingerprint(key.asbytes())
    return {"H": to.known_as, "I": "HOSTNAME", "t": key.get_name(), "f": shown, "K": key.get_base64()}


def _output(arguments: list[str]) -> str:
    try:
        ended = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostKeyError(
            f"KnownHostsCommand {arguments[0]} cannot be run: {error}", "run it in a shell to see why it fails"
        ) from error
    if ended.returncode != 0:
        raise HostKeyError(
            f"KnownHostsCommand {arguments[0]} ended with exit status {ended.returncode}",
            "ssh then trusts no host key; run the command in a shell to see why it fails",
        )
    return ended.stdout.decode("utf-8", "surrogateescape")
