"""Masking: names of servers, addresses and people become words that say nothing, the same word wherever they stand.

Every text of a finished document passes, whatever its kind. What is known by name (profiles, hosts, users) is replaced
wherever it stands as a word of its own. Addresses and e-mail addresses are replaced also where nobody has named them,
and so are servers where only a server can be named: in a mount source, a connection string, or the option of a program.
"""

import ipaddress
import re
from collections.abc import Iterable

from core.facts.model import Facts
from core.language import tr
from core.servers.profiles import Profile

_SAYS_NOTHING = {"old", "new", "localhost", "root", "postgres", "you", "admin", "server"}
"""Names that are words of the report itself, or that every host has."""
_ADDRESS = re.compile(
    r"""
    (?<![\w.:])
    (?: \d{1,3}(?:\.\d{1,3}){3}                       # IPv4
      | (?=[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:)[0-9A-Fa-f:]{3,39} )  # IPv6: two colons at least
    (?![\w:]|\.\d)
    """,
    re.VERBOSE,
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\.[A-Za-z]{2,}(?![\w@])")
_MAC = re.compile(
    r"""
    (?<![\w.:-])
    (?: [0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}    # Ethernet
      | [0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){19}                        # InfiniBand
      | [0-9A-Fa-f]{4}(?:\.[0-9A-Fa-f]{4}){2} )                      # as switches write it
    (?![\w:-]|\.\w)
    | \benx[0-9a-f]{12}\b                                            # in the name of an interface
    """,
    re.VERBOSE,
)
_NO_MAC = re.compile(r"(?:00[:.-]?)+|(?:ff[:.-]?)+", re.IGNORECASE)
"""The address of the loopback interface, and that of all."""
_HOST = r"[A-Za-z0-9](?:[\w.-]{0,251}\w)?"
_HOSTS = rf"{_HOST}(?::\d{{1,5}})?(?:,{_HOST}(?::\d{{1,5}})?)*"
_SERVER = re.compile(
    rf"""
    (?<![\w./:-]) (?!file:) (?P<mounted>{_HOST}) (?= (?:,{_HOST}){{0,9}} (?::\d{{1,5}})? :/(?!/) )  # nfs1:/export
    | (?<![\w./:-]) // (?P<shared>{_HOST}) (?= /\w )                             # //filer/share
    | \b host (?:addr|name)? \s?=\s? ["']? (?P<given>{_HOSTS})                   # host=a,b
    | (?<=\s) (?:-h|--host) \s (?P<option>{_HOST}) (?!\w)
    | \b postgres(?:ql)?:// (?:[^\s/@]{{1,200}}@)? (?P<address>{_HOSTS})
    """,
    re.VERBOSE,
)
"""Where only a server can be named. The group that has matched is the server, or several with commas between them."""
_NO_MAIL = re.compile(r"@openssh\.com$|@libssh\.org$|\.service$")
"""What ssh calls its ciphers, and systemd its units."""


class Mask:
    """What stands for what, growing as texts pass.

    Attributes:
        servers, people: names that are known. Capitals do not count: a name may begin a sentence.
    """

    def __init__(self, servers: Iterable[str], people: Iterable[str] = ()) -> None:
        self._words: dict[str, str] = {}
        for known, word in ((servers, tr("server")), (people, tr("person"))):
            for name in dict.fromkeys(known):
                if name and name.lower() not in _SAYS_NOTHING and name.casefold() not in self._words:
                    self._words[name.casefold()] = (
                        f"{word}-{sum(text.startswith(word) for text in self._words.values()) + 1}"
                    )
        longest_first = sorted(map(re.escape, self._words), key=len, reverse=True)
        self._known = (
            re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)", re.IGNORECASE) if longest_first else None
        )

    def text(self, text: str) -> str:
        """The text with all of them replaced."""
        text = _MAIL.sub(self._mail, text)
        text = _SERVER.sub(self._servers, text)
        text = _MAC.sub(self._mac, text)
        if self._known is not None:
            text = self._known.sub(lambda found: self._words[found[0].casefold()], text)
        return _ADDRESS.sub(self._address, text)

    def _mail(self, found: re.Match[str]) -> str:
        return found[0] if _NO_MAIL.search(found[0]) else self._named(found[0], tr("person"))

    def _servers(self, found: re.Match[str]) -> str:
        begin = found.start(found.lastgroup or 0) - found.start()
        return found[0][:begin] + re.sub(_HOST, self._server, found[0][begin:])

    def _server(self, found: re.Match[str]) -> str:
        name = found[0].casefold()
        is_number = not re.search(r"[^\W\d_]", name)  # a port, or an address, which is replaced as one
        if is_number or name in _SAYS_NOTHING or name in self._words.values():
            return found[0]
        return self._words.get(name.partition(".")[0]) or self._named(found[0], tr("server"))

    def _mac(self, found: re.Match[str]) -> str:
        return found[0] if _NO_MAC.fullmatch(found[0]) else self._named(found[0], tr("address"))

    def _address(self, found: re.Match[str]) -> str:
        try:
            address = ipaddress.ip_address(found[0])
        except ValueError:
            return found[0]
        return found[0] if address.is_loopback or address.is_unspecified else self._named(found[0], tr("address"))

    def _named(self, found: str, word: str) -> str:
        if found.casefold() not in self._words:
            self._words[found.casefold()] = f"{word}-{sum(text.startswith(word) for text in self._words.values()) + 1}"
        return self._words[found.casefold()]


def server_names(profiles: Iterable[Profile], facts: Iterable[Facts | None]) -> tuple[str, ...]:
    """What servers are called: by their profiles, by themselves, and the addresses that they have."""
    names: list[str] = []
    for profile in profiles:
        names += [profile.name, profile.address, profile.jump or "", profile.copy_address or ""]
    for found in facts:
        if found is not None and found.system is not None:
            names += [found.system.hostname, found.system.hostname.partition(".")[0]]
    return tuple(name for name in names if name)


def people_names(profiles: Iterable[Profile], owners: Iterable[str]) -> tuple[str, ...]:
    """Who logs in, and who has done something: `user@workstation`, and both of its parts."""
    names = [profile.user or "" for profile in profiles]
    for owner in owners:
        names += [owner, *owner.split("@")]
    return tuple(name for name in names if name)
