"""What stands around a server's clusters: accounts, clocks, what starts, watches, schedules and guards them.

Nouns alone. None means that it could not be read; an empty tuple that there is none.
"""

from dataclasses import dataclass

UNLIMITED = (1 << 63) - 1
"""A limit that is none."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the host, by name."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Clock:
    """The server's clock against the workstation's, at the moment when the server answered."""

    ahead_seconds: float
    """How far it is ahead of the workstation's; negative: behind."""
    error_seconds: float
    """By how much that may be wrong either way: half of the time that the answer took."""
    synchronised: bool | None = None
    """Whether the kernel holds it to a time server."""


@dataclass(frozen=True, slots=True)
class HaOrPooler:
    """A program that starts, stops or fronts clusters: `role` is `manager`, `watcher` or `pooler`."""

    name: str
    role: str
    running: bool
    enabled: bool
    """It comes up with the host."""
    files: tuple[str, ...] = ()
    """Its configuration files."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A line of a crontab, or a timer; `place` is its file, secrets of the line are masked."""

    place: str
    user: str | None
    line: str


@dataclass(frozen=True, slots=True)
class Autostart:
    """What brings services up.

    Attributes:
        enabled, masked: service units by name.
        restart: `Restart=` of the units of PostgreSQL, by their name.
        start_conf: first word of Debian's start.conf (auto, manual, disabled) by cluster, `15/main`.
        scripts: names of init scripts that start a PostgreSQL in a run level.
    """

    enabled: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    restart: dict[str, str] | None = None
    start_conf: dict[str, str] | None = None
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Soft limits of processes: open files, locked bytes; UNLIMITED where there is none."""

    open_files: int | None
    locked_bytes: int | None


@dataclass(frozen=True, slots=True)
class Process:
    """The running server process of a cluster: its limits, and who started it."""

    limits: Limits
    parent: str | None
    """Name of the process that it is a child of: `init` where that is process 1, `patroni`…"""
    unit: str | None
    """The systemd unit whose control group it runs in."""
    restart: str | None = None
    """Restart= of the host's unit that watches it, `always`, `on-failure`…; None: none does, or it is not known."""
    memory_limit_bytes: int | None = None
    """The lowest limit of memory of the control groups that it runs in; None: there is none, or it is not known."""


@dataclass(frozen=True, slots=True)
class SecurityPolicy:
    """What forbids: SELinux (`enforcing`, `permissive`, `disabled`), AppArmor and its profiles of PostgreSQL."""

    selinux: str | None
    apparmor: bool | None
    profiles: tuple[str, ...] | None = ()
    """None: only root may read them."""


@dataclass(frozen=True, slots=True)
class Firewall:
    """Rules for what comes in: whether what no rule allows is dropped, and the lines that name ports."""

    drops: bool
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """A socket that listens."""

    address: str
    """An IP address, those of IPv6 written out but for `::`; of a Unix socket its path."""
    port: int
    process: int | None = None
    """None: it cannot be seen, as one of another container."""
    program: str = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """Whether systemd-logind removes the shared memory of an ordinary account that logs out; None: it does not say."""

    removes: bool | None
    most: int = 999
    """The highest user id of the system's own accounts, whose memory it leaves alone."""
    lingering: tuple[str, ...] = ()
    """Accounts that count as logged in for ever (`loginctl enable-linger`)."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What the kernel can mount and serve: NFS as a client, as a server, and over UDP."""

    nfs: bool | None
    nfsd: bool | None
    nfs_udp: bool | None


@dataclass(frozen=True, slots=True)
class DiskHealth:
    """What a disk says of itself by SMART; healthy None: it did not say."""

    device: str
    healthy: bool | None
    said: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A ZFS file system's properties, by where it is mounted."""

    mount_point: str
    name: str
    properties: dict[str, str]


@dataclass(frozen=True, slots=True)
class IrregularFiles:
    """Files of a data directory and its tablespaces that a copy may not bring over as they are.

    Numbers count all of them; `examples` has some paths of each kind: hard-link, sparse, foreign, unreadable,
    partial, special.
    """

    hard_links: int
    sparse: int
    sparse_bytes: int
    """What the sparse files hold beyond what they take."""
    foreign: int
    """They belong to another user than the data directory."""
    unreadable: int
    """The data directory's owner may not read them."""
    partial: int
    """What a broken-off copy left: `.~tmp~`, `.rsync-partial`, `.NAME.xxxxxx`."""
    examples: dict[str, tuple[str, ...]]
    empty: int | None = None
    """Files that hold nothing, whose contents need no reading; None in facts of before they were counted."""
    special: int = 0
    """FIFOs and devices, which no copy brings; a socket is made anew by whoever listens."""


@dataclass(frozen=True, slots=True)
class HostEnvironment:
    """All of it, of one host."""

    accounts: tuple[Account, ...] | None = None
    clock: Clock | None = None
    ha_and_poolers: tuple[HaOrPooler, ...] | None = None
    schedule: tuple[Scheduled, ...] | None = None
    autostart: Autostart | None = None
    limits: Limits | None = None
    """What a session of the login user, or of root, gets: the server that such a session starts inherits it."""
    removal: Removal | None = None
    """None in facts of before it was read."""
    security_policy: SecurityPolicy | None = None
    firewall: Firewall | None = None
    listening: tuple[Listening, ...] | None = None
    """None also in facts of before it was read."""
    kernel: Kernel | None = None
    disks: tuple[DiskHealth, ...] | None = None
    datasets: tuple[Dataset, ...] | None = None
    virtual_addresses: tuple[str, ...] | None = None
    """Addresses that are not an interface's own first one, or that keepalived moves about."""
