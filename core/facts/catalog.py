"""What only a running cluster tells of itself: the nouns of its catalogs. Sizes in bytes.

`Catalogs` belongs to one database, `ClusterWide` to the whole cluster; each is read whole or not at all.
"""

from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension that was created in a database."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Library:
    """A library that functions of a database lead to."""

    name: str
    """As `pg_proc.probin` has it: `$libdir/pg_trgm`, or an absolute path."""
    functions: int
    example: str
    """The name of one of the functions."""


@dataclass(frozen=True, slots=True)
class Collation:
    """A collation that something of a database is ordered by; not C, POSIX or a builtin one, which never change."""

    name: str
    """`default` is the database's own."""
    provider: str
    """`libc` or `icu`."""
    locale: str
    recorded: str | None
    """The library's version when it was created or last refreshed; None where the major version keeps none."""
    actual: str | None
    """The version of the library that is there."""
    objects: int
    size_bytes: int
    """Of its indexes."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """Something whose rows or bounds lie in the order of a collation."""

    kind: str
    """`index`, `unique index`, `primary key`, `exclusion constraint`, `range partitions` or `check constraint`."""
    name: str
    """With its schema."""
    table: str
    collations: tuple[str, ...]
    size_bytes: int
    """Of the index; of range partitions their tables; 0 of a check constraint."""


@dataclass(frozen=True, slots=True)
class Bloated:
    """A large table of which much is no row: dead ones, or room that VACUUM made. `bytes` of it, `wasted_bytes` about.

    Without its indexes and its TOAST table.
    """

    table: str
    bytes: int
    wasted_bytes: int


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A text search dictionary that somebody made; what it is told names files of the server."""

    name: str
    """With its schema."""
    template: str
    """`ispell`, `synonym`, `thesaurus`, `unaccent`…"""
    options: str
    """As CREATE TEXT SEARCH DICTIONARY has them: `dictfile = 'de', stopwords = 'german'`."""


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """A foreign table of file_fdw, and the file that it reads."""

    table: str
    """With its schema."""
    path: str


@dataclass(frozen=True, slots=True)
class Catalogs:
    """What the catalogs of one database say."""

    extensions: tuple[Extension, ...] = ()
    libraries: tuple[Library, ...] = ()
    collations: tuple[Collation, ...] = ()
    ordered: tuple[Ordered, ...] = ()
    """The largest of them; `Collation.objects` counts all."""
    unlogged: int = 0
    """Unlogged tables and indexes."""
    publications: int = 0
    tables: int | None = None
    """Tables, indexes and large objects that users made; None where the major version does not tell (before 9.0)."""
    indexes: int | None = None
    large_objects: int | None = None
    toast_tables: int | None = None
    """Of tables that users made; None in facts of before this was asked."""
    bloated: tuple[Bloated, ...] = ()
    """The most wasted first."""
    dictionaries: tuple[Dictionary, ...] = ()
    foreign_files: tuple[ForeignFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that is not as it was built in, and where it comes from."""

    name: str
    value: str | None
    """As pg_settings has it, in the setting's own unit; None of one whose value may hold a secret."""
    source: str
    """`configuration file`, `command line`, `database`…"""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A setting whose value in the files is not the one in force; both None where they may be a secret.

    A file was edited, or the server's command line gives another value.
    """

    name: str
    in_force: str | None
    """As pg_settings has it, in the setting's own unit."""
    in_file: str | None
    """Likewise: what a start would bring."""
    unit: str = ""
    """Of both values, as pg_settings has it: `8kB`, `ms`; empty of a value without one, and in earlier facts."""


@dataclass(frozen=True, slots=True)
class HbaRule:
    """A line of pg_hba.conf, or of a file that it includes."""

    line: int
    kind: str
    databases: str
    users: str
    address: str
    """Address and mask, or a host name; empty of `local`."""
    method: str
    error: str
    """Why the server does not take the line; empty where it does."""
    options: tuple[str, ...] = ()
    """Those that name something of the host: `pamservice=…`, `ldapserver=…`, `radiusservers=…`."""
    file: str = ""
    """The file of the line; empty where the major version does not tell (before 16, which has no included files)."""

    def place(self, top: str | None) -> str:
        """Return the file and the line for display; `top` is the cluster's pg_hba.conf, if it is known."""
        return f"{self.file or top or 'pg_hba.conf'} line {self.line}"

    @property
    def network(self) -> IPv4Network | IPv6Network | None:
        """What the address and the mask are; None of a name or a keyword."""
        address, _, mask = self.address.partition("/")
        try:
            bits = int(ip_address(mask)).bit_count() if mask else ip_address(address).max_prefixlen
            return ip_network(f"{address}/{bits}", strict=False)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class BrokenMap:
    """A line of pg_ident.conf, or of a file that it includes, that the server does not take."""

    line: int
    error: str
    file: str = ""
    """As of an HbaRule."""

    def place(self, top: str | None) -> str:
        """Return the file and the line for display; `top` is the cluster's pg_ident.conf, if it is known."""
        return f"{self.file or top or 'pg_ident.conf'} line {self.line}"


@dataclass(frozen=True, slots=True)
class RoleSetting:
    """What ALTER DATABASE or ALTER ROLE has set, where the host decides whether a server takes it."""

    database: str
    """Empty: in every one."""
    role: str
    """Empty: for every one."""
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A replication slot that outlives its session."""

    name: str
    kind: str
    database: str
    active: bool


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of logical replication; how it reaches its publisher may hold a password and is not read."""

    database: str
    name: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Receiver:
    """Who receives this cluster's WAL now: a standby, an archiver, a base backup (`state` backup)."""

    name: str
    address: str
    state: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """The server's certificate: until when, and for which host names and addresses."""

    file: str
    not_after: datetime
    names: tuple[str, ...]
    """The DNS names among its alternative names; its common name if there are none."""
    addresses: tuple[str, ...] = ()
    """The IP addresses among its alternative names."""


@dataclass(frozen=True, slots=True)
class ClosedDatabase:
    """A database that takes no connections, as the shared catalogs know it; its own were not looked into."""

    name: str
    size_bytes: int
    encoding: str
    collate: str
    ctype: str
    provider: str
    """Of its collation: `libc`, `icu` or `builtin`."""
    locale: str | None
    """Of its collation, as that provider names it."""
    half_dropped: bool
    """A DROP DATABASE of it was interrupted."""


@dataclass(frozen=True, slots=True)
class ClusterWide:
    """What the catalogs and views of the whole cluster say."""

    taken_at: datetime | None = None
    """None: with these facts. Facts of a stopped cluster keep what was read while it ran, and this is when."""
    in_recovery: bool = False
    exclusive_backup: bool = False
    settings: tuple[Setting, ...] = ()
    closed: tuple[ClosedDatabase, ...] = ()
    hba: tuple[HbaRule, ...] | None = None
    """None: the major version does not tell (before 10)."""
    broken_maps: tuple[BrokenMap, ...] = ()
    """Empty also where the major version does not tell (before 15)."""
    role_settings: tuple[RoleSetting, ...] = ()
    slots: tuple[Slot, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    receivers: tuple[Receiver, ...] = ()
    prepared: tuple[str, ...] = ()
    """`DATABASE: NAME` of each prepared transaction."""
    workers: tuple[str, ...] = ()
    """Background workers that extensions started: schedulers among them."""
    programs: tuple[str, ...] = ()
    """Programs that archive_command and its like start, by the first word of each command."""
    pgbackrest: dict[str, str] = field(default_factory=dict)
    """What archive_command tells pgBackRest of its data directory, by option; one without a name: it runs it."""
    pending: tuple[str, ...] = ()
    """Settings that were changed in the files and wait for a restart."""
    kept_wal_bytes: int | None = None
    """WAL older than the last checkpoint needs, which a slot, the archiver or a setting holds; None before 10."""
    idle_wal_bytes: int | None = None
    """Segments with names beyond the one in use, which the server keeps to write over them; None before 10."""
    certificate: Certificate | None = None
    """None: there is none, or it could not be read."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """What a trial cluster showed of the binaries that made it; each was asked for by what the old cluster has."""

    libraries: tuple[tuple[str, str], ...] = ()
    """A library, and why it could not be loaded; empty where it could."""
    preloads: tuple[tuple[str, str], ...] = ()
    """A library that the server is to load when it starts, likewise."""
    settings: tuple[tuple[str, str], ...] = ()
    """A setting as `name=value`, and why the binaries do not take it; empty where they do."""
    paths: tuple[tuple[str, str], ...] = ()
    """A path or program that a setting names, and why it is of no use; empty where it is there."""
    extensions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """An available extension and its versions, the default one first."""
    icu: tuple[tuple[str, str], ...] = ()
    """An ICU locale and the version of its collation; a reason behind a `!` where there is none."""
    pgbackrest: tuple[tuple[str, str], ...] = ()
    """A configuration file of pgBackRest, its lines of sections and data directories; `unreadable` for the owner."""
    unverified: tuple[tuple[str, str], ...] = ()
    """A library that was not loaded, since somebody else could have written it; and why."""
