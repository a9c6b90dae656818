"""What ssh itself would do with a profile: OpenSSH's own answer where it is installed, else paramiko's reading.

`ssh -G HOST` prints the configuration after aliases, Include, Match (its `exec` too) and defaults. Without OpenSSH,
`ssh_fallback` reads the files, and stops where it could not honour a line. What the profile states wins over both.
PGHAUL_SSH_CONFIG names another file than ~/.ssh/config (`none`: no file at all), as `ssh -F`.
"""

import getpass
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from core.errors import InputError
from core.servers import ssh_fallback
from core.servers.profiles import Profile
from core.servers.ssh_fallback import CONFIG_VARIABLE
from core.servers.ssh_tokens import expand, expand_proxy, tokens

_HOP = re.compile(r"(?:ssh://)?(?:(?P<user>.+)@)?(?P<host>\[[^\]]+\]|[^:\[\]@]+)(?::(?P<port>\d{1,5}))?/?")
_TIMEOUT = 10.0
_OF_SHELLS = frozenset("'`\"$\\;&<>|(){}")
"""In a host's name they could be meant for the shell of a ProxyCommand alone; ssh refuses them since 9.6."""
_OF_SHELLS_IN_USERS = _OF_SHELLS - {"$", "\\"}

_ALGORITHMS = ("hostkeyalgorithms", "casignaturealgorithms", "ciphers", "macs", "kexalgorithms")
_METHODS = {
    "pubkeyauthentication": "publickey",
    "passwordauthentication": "password",
    "kbdinteractiveauthentication": "keyboard-interactive",
}

Options = Mapping[str, Sequence[str]]
"""Keyword in lower case -> the values of its lines."""


@dataclass(frozen=True, slots=True)
class Destination:
    """One SSH server to log in to: the target itself or a jump host.

    Attributes:
        alias: the name as given; `host`: the address that it stands for.
        identities_only: offer the identity files alone, no other key of the agent.
        identity_agent: path of the agent's socket; None: SSH_AUTH_SOCK; empty: no agent.
        known_hosts: the user's files, then the system's; an accepted key is added to the first.
        ask_unknown: False when the configuration says `StrictHostKeyChecking yes`.
        jumps: ProxyJump's value; `proxy_command`: what to run instead of a socket.
        revoked_host_keys: files of keys that no server may show; `known_hosts_command`: what prints further entries,
            as it stands in the configuration; `tokens`: what each letter of its tokens stands for.
        algorithms: by `hostkeyalgorithms`, `casignaturealgorithms`, `ciphers`, `macs` and `kexalgorithms` those that
            are allowed, best first; where one is missing, all are.
        methods: the ways to log in that are allowed; None: all.
        required_rsa_bits: how long an RSA key must be, on either side.
    """

    alias: str
    host: str
    port: int
    user: str
    identity_files: tuple[Path, ...] = ()
    certificate_files: tuple[Path, ...] = ()
    identities_only: bool = False
    identity_agent: str | None = None
    known_hosts: tuple[Path, ...] = ()
    host_key_alias: str | None = None
    hash_known_hosts: bool = False
    ask_unknown: bool = True
    jumps: str | None = None
    proxy_command: str | None = None
    explicit_identity: bool = False
    revoked_host_keys: tuple[Path, ...] = ()
    known_hosts_command: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)
    algorithms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    methods: frozenset[str] | None = None
    required_rsa_bits: int = 1024

    @property
    def known_as(self) -> str:
        """The name that known_hosts has for it: `host`, or `[host]:port` where the port is not 22."""
        name = (self.host_key_alias or self.host).lower()
        return name if self.port == 22 or self.host_key_alias else f"[{name}]:{self.port}"

    @property
    def shown(self) -> str:
        """For people: `dba@10.0.0.1 port 2222`."""
        return f"{self.user}@{self.host}" + ("" if self.port == 22 else f" port {self.port}")


def destination(profile: Profile) -> Destination:
    """Where the profile leads, `~/.ssh/config` honoured.

    Raises:
        InputError: the address or a jump host is no name that ssh takes, or its configuration cannot be read.
    """
    found = resolve(profile.address, user=profile.user, port=profile.port)
    if profile.identity_file:
        found = replace(
            found, identity_files=(_home_path(profile.identity_file),), identities_only=True, explicit_identity=True
        )
    if profile.jump is not None:
        found = replace(found, jumps=profile.jump or None, proxy_command=None)
    return found


def jump_host(profile: Profile, host: str, user: str | None, port: int | None) -> Destination:
    """A jump host as ~/.ssh/config has it; the profile's identity file is offered to it too, after its own."""
    found = resolve(host, user=user, port=port)
    if profile.identity_file:
        found = replace(found, identity_files=(*found.identity_files, _home_path(profile.identity_file)))
    return found


def _home_path(name: str) -> Path:
    """A file as a person names it, ~ for a home; the home of nobody stays as it is, and no file is there."""
    return Path(os.path.expanduser(name))  # noqa: PTH111  pathlib's raises RuntimeError there


def resolve(name: str, *, user: str | None = None, port: int | None = None) -> Destination:
    """The destination of a name of ~/.ssh/config; `user` and `port` win over it."""
    check_address(name)
    check_user(user)
    return _destination(name, _options(name, user, port), user, port)


def check_address(name: str) -> None:
    """Raise InputError for what ssh takes for no host name, address or alias."""
    if not name or name.startswith("-") or "," in name or _unfit(name, _OF_SHELLS) or any(map(str.isspace, name)):
        raise InputError(f"{name!r} is not the address of a server", "give a host name, an IP address or an ssh alias")


def check_user(user: str | None) -> None:
    """Raise InputError for what ssh takes for no user; None is as ssh would."""
    if user is not None and not _is_user(user):
        raise InputError(f"{user!r} is not a valid user name", "give the name of the user to log in as")


def _is_user(word: str) -> bool:
    """As ssh's own `valid_ruser` has it."""
    option = word.startswith("-") or " -" in word
    return not (option or word.endswith("\\") or _unfit(word, _OF_SHELLS_IN_USERS))


def _unfit(word: str, characters: frozenset[str]) -> bool:
    return bool(characters & set(word)) or not word.isprintable()


def hops(jumps: str) -> tuple[tuple[str, str | None, int | None], ...]:
    """ProxyJump's value as (host, user, port), nearest first; raises InputError for what is not a jump host."""
    if jumps.strip().lower() == "none":
        return ()
    found = []
    for part in jumps.split(","):
        match = _HOP.fullmatch(part.strip())
        if match is None or match["host"].startswith("-"):
            raise InputError(f"{part!r} is not a jump host", "write it as [user@]host[:port], several with commas")
        found.append((match["host"].strip("[]"), match["user"], int(match["port"]) if match["port"] else None))
    return tuple(found)


def check_jumps(jumps: str | None) -> None:
    """Raise InputError for what is no ProxyJump, or names what no jump host can be; None and nothing are as ssh has it.

    Nobody is asked where they lead: what ~/.ssh/config says of them is looked at as they are reached.
    """
    for host, user, _ in hops(jumps) if jumps else ():
        check_address(host)
        check_user(user)


def parse_options(text: str) -> dict[str, list[str]]:
    """`ssh -G`'s lines `keyword value`, a keyword of several lines with all its values."""
    options: dict[str, list[str]] = {}
    for line in text.splitlines():
        keyword, _, value = line.strip().partition(" ")
        options.setdefault(keyword.lower(), []).append(value)
    return options


def _options(name: str, user: str | None, port: int | None) -> Options:
    program = shutil.which("ssh")
    if program is None:
        return ssh_fallback.options(name)
    arguments = [program, "-G"]
    if chosen := os.environ.get(CONFIG_VARIABLE):
        arguments += ["-F", chosen]
    if user:
        arguments += ["-l", user]
    if port:
        arguments += ["-p", str(port)]
    hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # no console flashes up on Windows
    try:
        answer = subprocess.run(
            [*arguments, "--", name],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT,
            check=False,
            creationflags=hidden,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"`ssh -G {name}` did not answer within {_TIMEOUT:.0f} s",
            "run it in a terminal; a `Match exec` in ~/.ssh/config may hang",
        ) from error
    if answer.returncode != 0:
        reason = answer.stderr.decode(errors="replace").strip()
        raise InputError(f"`ssh -G {name}` failed: {reason}", "correct ~/.ssh/config or the address")
    return parse_options(answer.stdout.decode(errors="replace"))


def _destination(name: str, options: Options, user: str | None, port: int | None) -> Destination:
    last = partial(_last, options)
    login = user or last("user") or getpass.getuser()
    host = last("hostname") or name
    number = port or int(last("port") or 22)
    alias, jumps, command = last("hostkeyalias"), last("proxyjump"), last("proxycommand")
    here = getpass.getuser()
    known = tokens(host=host, name=name, port=number, user=login, local_user=here, jumps=jumps or "", alias=alias or "")

    def paths(keyword: str, default: str = "") -> tuple[Path, ...]:
        lines = options.get(keyword) or ([default] if default else [])
        return tuple(Path(expand(keyword, word, known)).expanduser() for line in lines for word in _words(line))

    files = paths("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2")
    files += paths("globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2")
    return Destination(
        alias=name,
        host=host,
        port=number,
        user=login,
        identity_files=paths("identityfile", "~/.ssh/id_ed25519 ~/.ssh/id_ecdsa ~/.ssh/id_rsa"),
        certificate_files=paths("certificatefile"),
        identities_only=last("identitiesonly") == "yes",
        identity_agent=_agent(options.get("identityagent", ("SSH_AUTH_SOCK",))[0], known),
        known_hosts=files,
        host_key_alias=alias,
        hash_known_hosts=last("hashknownhosts") == "yes",
        ask_unknown=last("stricthostkeychecking") not in {"yes", "true"},
        jumps=jumps,
        proxy_command=expand_proxy(command, known) if command else None,
        revoked_host_keys=paths("revokedhostkeys"),
        known_hosts_command=last("knownhostscommand"),
        tokens=known,
        algorithms={word: tuple(allowed.split(",")) for word in _ALGORITHMS if (allowed := last(word))},
        methods=_methods(options),
        required_rsa_bits=int(last("requiredrsasize") or 1024),
    )


def _last(options: Options, keyword: str) -> str | None:
    values = options.get(keyword, ())
    return values[0] if values and values[0].lower() != "none" else None


def _methods(options: Options) -> frozenset[str]:
    """The ways to log in that no line forbids."""
    preferred = _last(options, "preferredauthentications")
    listed = frozenset(preferred.split(",")) if preferred else frozenset(_METHODS.values())
    return frozenset(
        method
        for keyword, method in _METHODS.items()
        if method in listed and _last(options, keyword) not in {"no", "false"}
    )


def _words(line: str) -> list[str]:
    """A line's file names; one name may be quoted, or hold spaces where such a file exists. `none` is no file."""
    if Path(line).expanduser().is_file():
        return [line]
    return [word.strip('"') for word in line.split() if word.lower() != "none"]


def _agent(value: str, known: Mapping[str, str]) -> str | None:
    if value == "SSH_AUTH_SOCK":
        return None
    if value.lower() == "none":
        return ""
    if value.startswith("$") and not value.startswith("${"):
        return os.environ.get(value[1:], "")
    return str(Path(expand("IdentityAgent", value, known)).expanduser())
