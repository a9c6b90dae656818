"""What ssh itself would do with a profile: OpenSSH's own answer where it is installed, else paramiko's reading.

`ssh -G HOST` prints the configuration after aliases, Include, Match (its `exec` too) and defaults. Without OpenSSH,
`ssh_fallback` reads the files, and stops where it could not honour a line. What the profile states wins over both.
PGHAUL_SSH_CONFIG names another file than ~/.ssh/config (`none`: no file at all), as `ssh -F`. On Windows, OpenSSH is
the one that comes with the system.
"""

import glob
import hashlib
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import paramiko

from core import this_workstation
from core.errors import InputError
from core.servers.profiles import Profile
from core.servers.shell import split
from core.system_errors import reason
from core.this_workstation import user_name

# Where OpenSSH is, and how it names files. On Windows: https://github.com/PowerShell/Win32-OpenSSH/wiki.

_PROGRAM_DATA = "__PROGRAMDATA__"
"""How the OpenSSH of Windows names the folder %PROGRAMDATA% in the output of `ssh -G`."""
_BETWEEN_FILES_OF_WINDOWS = re.compile(rf"\s+(?=[A-Za-z]:[\\/]|[~/%$]|\\\\|{_PROGRAM_DATA}|none\b)")
"""The space ahead of a further file name. Other spaces belong to a name, as in `C:\\Users\\Jane Doe`."""


def program(name: str) -> str | None:
    """Return the path of OpenSSH's program `name` (ssh, ssh-keygen); None if it is not installed.

    On Windows, the one of the system comes first. One on PATH may be Git's, which names files in its own way and
    reaches no agent of Windows.
    """
    if this_workstation.on_windows():
        found = Path(os.environ.get("SYSTEMROOT", "C:/Windows"), "System32", "OpenSSH", f"{name}.exe")
        if found.is_file():
            return str(found)
    return shutil.which(name)


def system_folder() -> Path:
    """Return the folder of the configuration for all users of this workstation."""
    return Path(_program_data(), "ssh") if this_workstation.on_windows() else Path("/etc/ssh")


def split_words(text: str) -> list[str]:
    """Return the words of a line of ssh's configuration. On Windows, a backslash separates folders."""
    return split(text, escapes=not this_workstation.on_windows())


def _program_data() -> str:
    return os.environ.get("PROGRAMDATA", "C:/ProgramData")


def _path(name: str) -> Path:
    return Path(name.replace(_PROGRAM_DATA, _program_data())).expanduser()


# The TOKENS and environment variables of ssh_config(5), where and as OpenSSH expands them.

_PROXY = frozenset("hnpr")
"""Of ProxyCommand and ProxyJump; `${VARIABLE}` is left to the shell that runs the command."""
_UNKNOWN = "ssh refuses it, too: see TOKENS in `man ssh_config`"


def tokens(*, host: str, name: str, port: int, user: str, local_user: str, jumps: str, alias: str) -> dict[str, str]:
    """What each letter stands for: `name` is the name as given, `host` what it leads to."""
    here = socket.gethostname()
    connection = hashlib.sha1(f"{here}{host}{port}{user}{jumps}".encode(), usedforsecurity=False).hexdigest()
    uid = str(os.getuid()) if hasattr(os, "getuid") else ""
    return {
        "h": host,
        "n": name,
        "p": str(port),
        "r": user,
        "u": local_user,
        "d": str(Path.home()),
        "i": uid,
        "j": jumps,
        "k": alias or name,
        "l": here,
        "L": here.partition(".")[0],
        "C": connection,
    }


def expand(keyword: str, text: str, known: Mapping[str, str]) -> str:
    """Tokens and `${VARIABLE}` in a path or an argument of a keyword.

    Raises:
        InputError: a token that has no meaning there, or a variable that is not set: ssh refuses both.
    """
    return _percent(keyword, re.sub(r"\$\{(\w+)\}", lambda found: _variable(keyword, found[1]), text), known, known)


def expand_proxy(command: str, known: Mapping[str, str]) -> str:
    """The tokens of a ProxyCommand; raises InputError for one that has no meaning there."""
    return _percent("ProxyCommand", command, known, _PROXY)


def _percent(keyword: str, text: str, known: Mapping[str, str], allowed: Container[str]) -> str:
    def meant(found: re.Match[str]) -> str:
        letter = found[1]
        if letter == "%":
            return "%"
        if letter not in allowed or letter not in known:
            raise InputError(
                f"{keyword} in the ssh configuration contains %{letter}, which is not defined there", _UNKNOWN
            )
        return known[letter]

    return re.sub(r"%(.?)", meant, text, flags=re.DOTALL)


def _variable(keyword: str, name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise InputError(f"{keyword} in the ssh configuration contains ${{{name}}}, which is not set", _UNKNOWN)
    return value


# The ssh configuration without OpenSSH: paramiko's reading, and a stop at each line that it would get wrong.
#
# paramiko knows no Include, no system-wide file, and of Match only what names a host; and pghaul evaluates the keywords
# below alone. A line that was passed over in silence could have said whom not to trust.

CONFIG_VARIABLE = "PGHAUL_SSH_CONFIG"

_HONOURED = frozenset(
    """
    host hostname user port identityfile certificatefile identitiesonly identityagent userknownhostsfile
    globalknownhostsfile hostkeyalias hashknownhosts stricthostkeychecking proxyjump proxycommand revokedhostkeys
    knownhostscommand hostkeyalgorithms casignaturealgorithms ciphers macs kexalgorithms pubkeyauthentication
    passwordauthentication kbdinteractiveauthentication preferredauthentications requiredrsasize
    """.split()  # noqa: SIM905  a list of words, as ssh's manual has them
)
_OF_NO_CONCERN = frozenset(
    """
    addkeystoagent batchmode checkhostip clearallforwardings compression connectionattempts connecttimeout
    controlmaster controlpath controlpersist dynamicforward escapechar exitonforwardfailure fingerprinthash
    forkafterauthentication forwardagent forwardx11 forwardx11timeout forwardx11trusted gatewayports
    gssapiauthentication gssapidelegatecredentials ipqos localcommand localforward loglevel logverbose
    numberofpasswordprompts permitlocalcommand permitremoteopen rekeylimit remotecommand remoteforward requesttty
    sendenv serveralivecountmax serveraliveinterval sessiontype setenv stdinnull streamlocalbindmask
    streamlocalbindunlink syslogfacility tcpkeepalive tunnel tunneldevice updatehostkeys usekeychain
    verifyhostkeydns visualhostkey xauthlocation
    """.split()  # noqa: SIM905  a list of words, as ssh's manual has them
)
"""They say neither whom to trust nor how to log in: comfort, forwardings, proofs that a person is asked for anyway."""
_MATCHED = frozenset({"all", "host", "originalhost", "localuser"})
_NUMBERS = frozenset({"port", "requiredrsasize"})
_LISTS = frozenset({"hostkeyalgorithms", "casignaturealgorithms", "ciphers", "macs", "kexalgorithms"})


def fallback_options(name: str) -> dict[str, list[str]]:
    """What the configuration says of a name: keyword in lower case -> the values of its lines.

    Raises:
        InputError: it cannot be read, or a line says what cannot be honoured without OpenSSH.
    """
    config = paramiko.SSHConfig()
    for path in _files():
        try:
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            for number, line in enumerate(text.splitlines(), 1):
                _check(path, number, line.strip())
            config.parse(iter(text.splitlines()))
        except OSError as error:
            raise InputError(f"{path} cannot be read: {reason(error)}", "allow your user to read it") from error
        except paramiko.ConfigParseError as error:
            raise InputError(f"{path} cannot be read: {error}", "correct it; `ssh -G` may show more details") from error
    found = config.lookup(name)
    made: dict[str, list[str]] = {}
    for key in found:
        value: object = found[key]
        made[key] = [str(part) for part in value] if isinstance(value, list) else [str(value)]
    return made


def _files() -> Iterator[Path]:
    """The user's file ahead of the system's: the first value counts. A file that is named is the only one."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    paths = (Path(chosen),) if chosen else (Path.home() / ".ssh" / "config", _system_file())
    return (path for path in paths if path.is_file())


def _check(path: Path, number: int, line: str) -> None:
    if not line or line.startswith("#"):
        return
    keyword, _, value = line.replace("=", " ", 1).partition(" ")
    keyword, value = keyword.lower(), value.strip()
    # ssh_config(5): relative to ~/.ssh in whatever file of a user's, beside it in the system's
    if not _honourable(keyword, value, path.parent if path == _system_file() else Path.home() / ".ssh"):
        raise InputError(
            f"{path}:{number}: only OpenSSH can interpret {line!r}, and it is not installed",
            "install the OpenSSH client (ssh), which pghaul then uses to read the file; or name another file in "
            "PGHAUL_SSH_CONFIG",
        )


def _system_file() -> Path:
    return system_folder() / "ssh_config"


def _honourable(keyword: str, value: str, folder: Path) -> bool:
    if keyword == "include":
        return not any(glob.glob(str(folder / Path(word).expanduser())) for word in split_words(value))  # noqa: PTH207  the pattern may be absolute
    if keyword == "match":
        words = [word.lower().lstrip("!") for word in value.split()]
        return bool(words) and (words == ["all"] or all(word in _MATCHED for word in words[::2]))
    if keyword in _LISTS and (value[:1] in {"+", "-", "^"} or "*" in value):  # relative to OpenSSH's own list
        return False
    if keyword in _NUMBERS and not (value.isascii() and value.isdigit() and len(value) < 6):
        return False
    return keyword in _OF_NO_CONCERN or (keyword in _HONOURED and "%%" not in value)


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
    ssh = program("ssh")
    if ssh is None:
        return fallback_options(name)
    arguments = [ssh, "-G"]
    if chosen := os.environ.get(CONFIG_VARIABLE):
        arguments += ["-F", chosen]
    if user:
        arguments += ["-l", user]
    if port:
        arguments += ["-p", str(port)]
    try:
        answer = subprocess.run(
            [*arguments, "--", name],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT,
            check=False,
            creationflags=this_workstation.HIDDEN,
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
    login = user or last("user") or user_name()
    host = last("hostname") or name
    number = port or int(last("port") or 22)
    alias, jumps, command = last("hostkeyalias"), last("proxyjump"), last("proxycommand")
    here = user_name()
    known = tokens(host=host, name=name, port=number, user=login, local_user=here, jumps=jumps or "", alias=alias or "")

    def paths(keyword: str, default: str = "") -> tuple[Path, ...]:
        lines = options.get(keyword) or ([default] if default else [])
        return tuple(_path(expand(keyword, word, known)) for line in lines for word in _words(line))

    files = paths("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2")
    of_all = system_folder()
    files += paths("globalknownhostsfile", f"{of_all / 'ssh_known_hosts'} {of_all / 'ssh_known_hosts2'}")
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
    words = _BETWEEN_FILES_OF_WINDOWS.split(line) if this_workstation.on_windows() else line.split()
    return [word.strip('"') for word in words if word.lower() != "none"]


def _agent(value: str, known: Mapping[str, str]) -> str | None:
    if value == "SSH_AUTH_SOCK":
        return None
    if value.lower() == "none":
        return ""
    if value.startswith("$") and not value.startswith("${"):
        return os.environ.get(value[1:], "")
    return str(Path(expand("IdentityAgent", value, known)).expanduser())


# The hosts that ~/.ssh/config names, to offer where a server is described. Source: ssh_config(5), Host and Include.


def named_hosts() -> tuple[str, ...]:
    """The names of all Host lines that are no pattern, in their order; none where there is no file to read."""
    used = config_file()
    return () if used is None else tuple(dict.fromkeys(_of_files(used)))


def config_file() -> Path | None:
    """The user's configuration that ssh goes by; None: it goes by none."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    if chosen == "none":
        return None
    return Path(chosen) if chosen else Path.home() / ".ssh" / "config"


def hosts_of(text: str) -> tuple[str, ...]:
    """The names of the Host lines of one file that are no pattern."""
    names = (word for keyword, words in _lines(text) if keyword == "host" for word in words)
    return tuple(name for name in names if not set(name) & set("*?!"))


def _lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Keyword in lower case and words of each line; `Keyword=value` is the same as `Keyword value`."""
    for line in text.splitlines():
        words = line.replace("=", " ", 1).replace('"', " ").split()
        if words and not words[0].startswith("#"):
            yield words[0].lower(), words[1:]


def _of_files(config: Path) -> Iterator[str]:
    """The names in it, then those in what it includes, each file once: files may include each other."""
    ahead, seen = [config], set[Path]()
    while ahead:
        path = ahead.pop(0)
        if path in seen:
            continue
        seen.add(path)
        with suppress(OSError, UnicodeDecodeError):  # what cannot be read offers nothing; ssh itself says why it fails
            text = path.read_text(encoding="utf-8")
            yield from hosts_of(text)
            included = [word for keyword, words in _lines(text) if keyword == "include" for word in words]
            ahead = [*(file for pattern in included for file in _included(pattern)), *ahead]


def _included(pattern: str) -> list[Path]:
    """The files that an Include names; none in the home of somebody whom there is not, or where it names no file."""
    with suppress(OSError, RuntimeError, ValueError):
        whole = Path(pattern).expanduser()
        base = whole if whole.is_absolute() else Path.home() / ".ssh" / pattern
        return sorted(each.resolve() for each in base.parent.glob(base.name))
    return []
