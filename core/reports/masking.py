"""Masking: names of servers, addresses and people become words that say nothing, the same word wherever they stand.

Every text of a finished document passes, whatever its kind. What is known by name (profiles, hosts, users) is replaced
wherever it stands as a word of its own. Addresses and e-mail addresses are replaced also where nobody has named them,
and so are servers and users where nothing else can be named: in a mount source, a connection string, the target of a
storage network, or the option of a program.

Facts name servers and users besides those of the profiles: standbys, hosts of certificates and access rules, roles of a
cluster. Such a name that is a word of pghaul's own texts, as of a role `backup`, tells nothing and stays: a report
without this word could not be read.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from core.benchmarks.model import Run
from core.benchmarks.tools import readers
from core.errors import ParseError
from core.facts.model import Facts
from core.language import tr, vocabulary
from core.servers.profiles import Profile

_SAYS_NOTHING = {"old", "new", "localhost", "root", "postgres", "you", "admin", "server"}
"""Names that are words of the report itself, or that every host has."""
_ADDRESS = re.compile(
    r"""
    (?<![^\W_]) (?<![.:])
    (?: \d{1,3}(?:\.\d{1,3}){3} (?![^\W_]|\.\d)              # IPv4, also with a port behind it
      | (?=[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:)[0-9A-Fa-f:]{3,39}   # IPv6: two colons at least
        (?:(?:\.\d{1,3}){3})? (?![^\W_]|:|\.\d) )           # which may end as IPv4 does
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
_IS = r"(?:[ ]=[ ]|=)"
"""Between a setting and its value, which is in the same line; with blanks as re.VERBOSE has them."""
_LETTER = re.compile(r"[^\W\d_]")
_BEGIN, _END = r"(?<![^\W_])", r"(?![^\W_])"
"""Where a name begins and ends. In names that are made of others, such as `db1_slot`, an underscore stands between."""
_SERVER = re.compile(
    rf"""
    (?<![\w./:-]) (?!file:) (?P<mounted>{_HOST}) (?= (?:,{_HOST}){{0,9}} (?::\d{{1,5}})? :/(?!/) )  # nfs1:/export
    | (?<![\w./:-]) // (?P<shared>{_HOST}) (?= /\w )                             # //filer/share
    | \b (?:host(?:addr|name)?|ldapserver|radiusservers) \s?=\s? ["']? (?P<given>{_HOSTS})  # host=a,b
    | \b (?:fallback_)? application_name {_IS} ["']? (?P<application>{_HOST})
    | \b synchronous_standby_names (?:{_IS}|[ ](?i:to)[ ]) '(?P<listed> {_HOST}(?:,[ ]?{_HOST})* )'
    | \b synchronous_standby_names (?:{_IS}|[ ](?i:to)[ ]) ["']? (?:(?i:FIRST|ANY)[ ])? (?:\d+[ ]?)?
        (?P<standbys> \([^()\n]*\) | {_HOST}(?:,{_HOST})* )                      # FIRST 1 (a, b)
    | (?<![\w./:-]) (?P<brick>{_HOST}) (?= :[\w./-]+\s [^\n]{{0,200}}? \b(?:fuse\.)?glusterfs\b )  # a:volume
    | \b (?:backup-?)? volfile-?servers?= (?P<volfile>{_HOST}(?::{_HOST})*)
    | (?<=\s) (?:-h|--host) \s (?P<option>{_HOST}) (?!\w)
    | \b (?:postgres(?:ql)?|ldaps?|gluster(?:\+\w+)?):// (?:[^\s/@]{{1,200}}@)? (?P<address>{_HOSTS})
    """,
    re.VERBOSE,
)
"""Where only a server can be named. The group that has matched is the server, or several with signs between them."""
_TARGET = re.compile(r"\b(?:iqn|nqn)\.\d{4}-\d\d(?:(?!-lun-\d)[.:-]*\w)+", re.IGNORECASE)
"""The name of a target or an initiator in a storage network (iSCSI: RFC 3720; NVMe over Fabrics): it has the domain
of a company, and often a host."""
_USER = re.compile(
    rf"""
    \b (?i:user(?:name)?) {_IS} ["']? (?P<given>[^\W\d][\w.-]*)
    | (?<=\s) (?:-U\s?|--username[=\s]) ["']? (?P<option>[^\W\d][\w.-]*)
    | \b (?:sudo|runuser) \s -u \s (?P<become>[^\W\d][\w.-]*)
    | \b postgres(?:ql)?:// (?P<address>[^\W\d][\w.-]*) (?=(?::[^/\s@]*)?@)
    """,
    re.VERBOSE,
)
"""Where only a user can be named: a role of a cluster or an account of a host."""
_OF_PROGRAMS = re.compile(
    r"""
    pg_(?:basebackup|receivewal|receivexlog|recvlogical|dump|dumpall|restore|rewind)
    | walreceiver | psql | pgbench | pghaul | pgbackrest | barman_\w+ | [\d.]+(?:/main)?
    | pg_(?:monitor|maintain|checkpoint|database_owner|(?:read|write|signal|stat|execute|use|create)_\w+)
    | pgsql | enterprisedb | same(?:host|net|user|role|group)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What programs call themselves, and how PostgreSQL and its packages call their roles and accounts on every host."""
_PORT = re.compile(r":\d+$", re.ASCII)
_CLIENT = re.compile(
    rf"""
    "hostname" \s{{0,9}} : \s{{0,9}} "({_HOST})"           # fio --client, as JSON
    | ^ < ({_HOST}) > [ ] \S[^\n]{{0,200}}? : [ ] \(g=\d   # the same for people
    """,
    re.VERBOSE | re.MULTILINE,
)
_WIDTHS = (15, 16, 19)
"""Characters to which bonnie++ cuts the name of a machine in its tables."""
_NO_MAIL = re.compile(r"@openssh\.com$|@libssh\.org$|\.service$")
"""What ssh calls its ciphers, and systemd its units."""


class Mask:
    """What stands for what, growing as texts pass.

    Attributes:
        servers, people, users: names that are known. Capitals do not count: a name may begin a sentence.
    """

    def __init__(self, servers: Iterable[str], people: Iterable[str] = (), users: Iterable[str] = ()) -> None:
        self._words: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        # a text is masked twice where it was cut: what stands for a name must not be taken for one
        said = _SAYS_NOTHING | {word.casefold() for word in (tr("server"), tr("person"), tr("user"), tr("address"))}
        for known, word in ((servers, tr("server")), (people, tr("person")), (users, tr("user"))):
            for name in dict.fromkeys(known):
                if name and name.casefold() not in said:
                    self._named(name, word)
        longest_first = "|".join(map(_pattern, sorted(self._words, key=len, reverse=True)))
        self._known = re.compile(rf"{_BEGIN}(?:{longest_first}){_END}", re.IGNORECASE) if longest_first else None

    def text(self, text: str) -> str:
        """The text with all of them replaced."""
        text = _MAIL.sub(self._mail, text)
        text = _TARGET.sub(lambda found: self._named(found[0], tr("server")), text)
        text = _SERVER.sub(self._servers, text)
        text = _USER.sub(self._user, text)
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
        is_number = not _LETTER.search(name)  # a port, or an address, which is replaced as one
        if is_number or self._says_nothing(found[0]):
            return found[0]
        return self._words.get(name.partition(".")[0]) or self._named(found[0], tr("server"))

    def _user(self, found: re.Match[str]) -> str:
        begin = found.start(found.lastgroup or 0) - found.start()
        name = found[0][begin:]
        return found[0] if self._says_nothing(name) else found[0][:begin] + self._named(name, tr("user"))

    def _says_nothing(self, name: str) -> bool:
        known = name.casefold() in _SAYS_NOTHING or name in self._words.values()
        return known or _OF_PROGRAMS.fullmatch(name) is not None

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
            self._numbers[word] += 1
            self._words[found.casefold()] = f"{word}-{self._numbers[word]}"
        return self._words[found.casefold()]


def _pattern(name: str) -> str:
    """Return what finds a name between `_BEGIN` and `_END`.

    A word of pghaul's own texts is also a part of settings and functions: a server `log` is not in `log_directory`.
    """
    return rf"(?<!_){re.escape(name)}(?!_)" if _is_word(name) else re.escape(name)


def server_names(profiles: Iterable[Profile], facts: Iterable[Facts | None]) -> tuple[str, ...]:
    """What servers are called: by their profiles, by themselves, by other servers, and the addresses that they have."""
    names: list[str] = []
    for profile in profiles:
        names += [profile.name, profile.address, profile.copy_address or ""]
        names += [host for _, host in _hops(profile)]
    for found in facts:
        if found is not None and found.system is not None:
            names += [found.system.hostname, found.system.hostname.partition(".")[0]]
        if found is not None:
            names += _telling(_other_servers(found))
    return tuple(name for name in names if name)


def _hops(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield the user and the host of each jump host; an archive may bring a value that no ssh would take."""
    jump = (profile.jump or "").strip()
    for hop in [] if jump.lower() == "none" else jump.split(","):
        user, _, host = hop.strip().removeprefix("ssh://").removesuffix("/").rpartition("@")
        yield user, _PORT.sub("", host).strip("[]")


def machine_names(runs: Iterable[Run]) -> tuple[str, ...]:
    """What benchmark tools call the machines on which they ran: the output of somebody else tells no other name."""
    names: list[str] = []
    for run in runs:
        reader = readers().get(run.workload.tool)
        for output in (each.raw for each in run.repetitions):
            names += (str(found[1] or found[2]) for found in _CLIENT.finditer(output))
            if reader is not None and reader.common_name is not None:
                with suppress(ParseError):  # what cannot be read any more names no machine
                    found = (each.name for each in reader.parse(output).results)
                    names += (name for name in found if name is not None and name != reader.common_name)
    cut = [name[:width] for name in names for width in _WIDTHS]
    return tuple(dict.fromkeys(_telling([*names, *cut])))


def _other_servers(facts: Facts) -> Iterator[str]:
    """Standbys, servers of volumes, and hosts of certificates and access rules."""
    for system in facts.file_systems:
        if "gluster" in system.kind:
            yield from re.findall(_HOST, system.device.partition(":")[0])
    for wide in (cluster.wide for cluster in facts.clusters if cluster.wide is not None):
        for setting in wide.settings:
            if setting.name == "synchronous_standby_names":
                yield from re.findall(_HOST, setting.value or "")
        yield from (each.name for each in wide.receivers)
        yield from (slot.name for slot in wide.slots if slot.kind == "physical")  # mostly called as the standby is
        if wide.certificate is not None:
            yield from (name.removeprefix("*.") for name in wide.certificate.names)
        for rule in wide.hba or ():
            if rule.network is None:
                yield rule.address.removeprefix(".")
            for name, _, value in (option.partition("=") for option in rule.options):
                if name in {"ldapserver", "radiusservers"}:
                    yield from re.findall(_HOST, value)


def user_names(
    profiles: Iterable[Profile], facts: Iterable[Facts | None], named: Iterable[str] = ()
) -> tuple[str, ...]:
    """Roles of clusters and accounts of hosts that profiles and facts name, and those that are named otherwise."""
    known = [*named, *(profile.database_user for profile in profiles)]
    for found in facts:
        known += [] if found is None else _users(found)
    return tuple(dict.fromkeys(_telling(known)))


def _users(facts: Facts) -> Iterator[str]:
    yield from (job.user or "" for job in facts.host_environment.schedule or ())
    for cluster in facts.clusters:
        yield from (cluster.owner or "", cluster.unit_user or "")
        if cluster.wide is not None:
            yield from (setting.role for setting in cluster.wide.role_settings)
            for rule in cluster.wide.hba or ():
                yield from re.findall(_HOST, rule.users)


def _telling(names: Iterable[str]) -> Iterator[str]:
    """Those names by which a server or a user can be recognised."""
    for name in names:
        if _LETTER.search(name) and not _is_word(name) and _OF_PROGRAMS.fullmatch(name) is None:
            yield name


def _is_word(name: str) -> bool:
    return name.casefold() in vocabulary() or len(name) < 2


def people_names(profiles: Iterable[Profile], owners: Iterable[str]) -> tuple[str, ...]:
    """Who logs in, and who has done something: `user@workstation`, and both of its parts."""
    names = [profile.user or "" for profile in profiles]
    names += [user for profile in profiles for user, _ in _hops(profile)]
    for owner in owners:
        names += [owner, *owner.split("@")]
    return tuple(name for name in names if name)
