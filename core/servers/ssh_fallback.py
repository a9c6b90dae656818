"""The ssh configuration without OpenSSH: paramiko's reading, and a stop at each line that it would get wrong.

paramiko knows no Include, no system-wide file, and of Match only what names a host; and pghaul evaluates the keywords
below alone. A line that was passed over in silence could have said whom not to trust.
"""

import glob
import os
from collections.abc import Iterator
from pathlib import Path

import paramiko

from core.errors import InputError
from core.servers.shell import split

CONFIG_VARIABLE = "PGHAUL_SSH_CONFIG"
SYSTEM = Path("/etc/ssh/ssh_config")

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


def options(name: str) -> dict[str, list[str]]:
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
        except (OSError, paramiko.ConfigParseError) as error:
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
    paths = (Path(chosen),) if chosen else (Path.home() / ".ssh" / "config", SYSTEM)
    return (path for path in paths if path.is_file())


def _check(path: Path, number: int, line: str) -> None:
    if not line or line.startswith("#"):
        return
    keyword, _, value = line.replace("=", " ", 1).partition(" ")
    keyword, value = keyword.lower(), value.strip()
    # ssh_config(5): relative to ~/.ssh in whatever file of a user's, beside it in the system's
    if not _honourable(keyword, value, SYSTEM.parent if path == SYSTEM else Path.home() / ".ssh"):
        raise InputError(
            f"{path}:{number}: only OpenSSH can interpret {line!r}, and it is not installed",
            "install the OpenSSH client (ssh), which pghaul then uses to read the file; or name another file in "
            "PGHAUL_SSH_CONFIG",
        )


def _honourable(keyword: str, value: str, folder: Path) -> bool:
    if keyword == "include":
        return not any(glob.glob(str(folder / Path(word).expanduser())) for word in split(value))  # noqa: PTH207  the pattern may be absolute
    if keyword == "match":
        words = [word.lower().lstrip("!") for word in value.split()]
        return bool(words) and (words == ["all"] or all(word in _MATCHED for word in words[::2]))
    if keyword in _LISTS and (value[:1] in {"+", "-", "^"} or "*" in value):  # relative to OpenSSH's own list
        return False
    if keyword in _NUMBERS and not (value.isascii() and value.isdigit() and len(value) < 6):
        return False
    return keyword in _OF_NO_CONCERN or (keyword in _HONOURED and "%%" not in value)
