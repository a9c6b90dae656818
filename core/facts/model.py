"""What a server is: the facts of one pass, each subject a frozen dataclass, numbers in SI base units.

None means that it could not be read or does not apply; what could not be read stands in `Facts.gaps` with the reason.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Interface, IPv6Interface, ip_interface

from core.facts.catalog import Binaries, Catalogs, ClusterWide, Edited
from core.facts.cluster_configuration import ConfigurationFile
from core.facts.host_environment import HostEnvironment, IrregularFiles, Process
from core.facts.starters import Service


@dataclass(frozen=True, slots=True)
class System:
    """The operating system."""

    hostname: str
    name: str
    """The distribution's own words, such as `Debian GNU/Linux 12 (bookworm)`."""
    kernel: str
    architecture: str
    """As `uname -m`: x86_64, aarch64…"""
    distribution: str | None = None
    """`ID` of os-release: debian, rocky…"""
    distribution_version: str | None = None
    libc: str | None = None
    """As `getconf GNU_LIBC_VERSION`: `glibc 2.36`."""
    init: str | None = None
    """`systemd` where it runs as process 1, else the name of process 1."""
    time_zone: str | None = None
    clock: datetime | None = None
    """The server's own time when it answered."""
    machine_id: str | None = None
    """Of the installation; cloned machines and containers may share it."""
    boot_id: str | None = None
    """Of the running kernel, anew at each start; its containers share it."""


@dataclass(frozen=True, slots=True)
class Processor:
    """The processors of the whole machine."""

    model: str | None
    sockets: int | None
    cores: int | None
    """Physical cores of all sockets; None where the machine does not say."""
    threads: int
    """Logical processors that are online, and that the session in which pghaul read this may use."""


@dataclass(frozen=True, slots=True)
class HugePages:
    """The huge pages of one size that are reserved on a host: memory that serves nothing else."""

    size_bytes: int
    total: int
    free: int
    """Those that no process uses."""
    promised: int
    """Those of the free ones that a process has been promised; /proc/meminfo calls them HugePages_Rsvd."""
    overcommit: int = 0
    """How many surplus pages the kernel may make on demand, from memory that is free in one piece."""
    surplus: int = 0
    """Those that it has made; the total includes them."""

    @property
    def total_bytes(self) -> int:
        """Return what they take from the memory of the host."""
        return self.total * self.size_bytes

    @property
    def available_bytes(self) -> int:
        """Return what another process can get."""
        return max(0, self.free - self.promised) * self.size_bytes

    @property
    def surplus_bytes(self) -> int:
        """Return what the kernel may add on demand; it may refuse to."""
        return max(0, self.overcommit - self.surplus) * self.size_bytes


@dataclass(frozen=True, slots=True)
class Memory:
    """Main memory, swap and huge pages of the machine, and the limit of control groups."""

    total_bytes: int
    available_bytes: int | None
    swap_bytes: int
    huge_pages_total: int | None = None
    huge_page_bytes: int | None = None
    """The default size; `huge_pages_total` is of this size."""
    huge_pages: tuple[HugePages, ...] = ()
    """By size; empty in facts of before these were read."""
    limit_bytes: int | None = None
    """What the control groups of the session in which pghaul read this allow, as those of a container do: processes and
    page cache together. None if they allow everything, and in facts of before this was read."""

    @property
    def usable_bytes(self) -> int:
        """Return how much of the memory pghaul and what it starts there can use."""
        return self.total_bytes if self.limit_bytes is None else self.limit_bytes


@dataclass(frozen=True, slots=True)
class BlockDevice:
    """One block device, whole or part."""

    name: str
    """Kernel name without /dev/: sda, nvme0n1, md0, loop3."""
    kind: str
    """As lsblk's TYPE: disk, part, raid1, lvm, loop…"""
    size_bytes: int
    parents: tuple[str, ...] = ()
    """Names of the devices that it lies on."""
    rotational: bool | None = None
    scheduler: str | None = None
    """The active one of /sys/block/…/queue/scheduler."""
    read_ahead_bytes: int | None = None
    model: str | None = None
    read_only: bool = False
    mapper: str | None = None
    """Of a device-mapper device its name below /dev/mapper."""
    write_cache: str | None = None
    """As the kernel takes it: `write back` or `write through`."""
    physical_block_bytes: int | None = None
    minimum_io_bytes: int | None = None
    """Of a striped device its chunk."""
    optimal_io_bytes: int | None = None
    """Of a striped device its whole stripe; None where the device names none."""
    alignment_offset_bytes: int | None = None
    """How far its start lies off the physical blocks below; 0: aligned."""
    start_bytes: int | None = None
    """Of a partition: where it starts on its disk."""


@dataclass(frozen=True, slots=True)
class Array:
    """A Linux md array as /proc/mdstat shows it."""

    name: str
    level: str | None
    state: str
    devices: tuple[str, ...]
    degraded: bool
    action: str | None = None
    """recovery, resync, reshape or check, while it runs."""
    progress: float | None = None
    """0 to 1."""
    finish_seconds: float | None = None
    chunk_bytes: int | None = None
    layout: str | None = None
    """In mdstat's words: `2 near-copies`, `algorithm 2`."""
    raid_devices: int | None = None
    """Members that the array is made for, spares not counted."""
    stripe_cache_pages: int | None = None
    """Of levels 4, 5 and 6: /sys/block/…/md/stripe_cache_size."""
    write_threads: int | None = None
    """Of levels 4, 5 and 6: extra write threads, /sys/block/…/md/group_thread_cnt; 0: the array's own one alone."""

    @property
    def data_devices(self) -> int | None:
        """Members whose worth of data one stripe holds; None where that is not known."""
        if self.raid_devices is None or self.level is None:
            return None
        copies = re.fullmatch(r"([1-9]) near-copies", self.layout or "")
        lost = {"raid0": 0, "raid4": 1, "raid5": 1, "raid6": 2}
        if self.level == "raid10":
            even = copies is not None and self.raid_devices % int(copies[1]) == 0
            return self.raid_devices // int(copies[1]) if copies is not None and even else None
        return self.raid_devices - lost[self.level] if self.level in lost else None


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A mounted file system with its space."""

    mount_point: str
    device: str
    kind: str
    """ext4, xfs, nfs4…"""
    options: tuple[str, ...]
    size_bytes: int
    available_bytes: int
    """What an unprivileged user may still write, as df's Available."""
    inodes: int | None = None
    inodes_free: int | None = None
    """None where the file system makes inodes as it goes (btrfs)."""
    block_bytes: int | None = None
    stripe_unit_bytes: int | None = None
    """XFS's sunit, ext4's stride; 0: made without. None: not known."""
    stripe_width_bytes: int | None = None
    """XFS's swidth, ext4's stripe width."""
    features: tuple[str, ...] = ()
    """Of ext's family, as dumpe2fs names them: has_journal, extent…; empty where they were not read."""


@dataclass(frozen=True, slots=True)
class NetworkLink:
    """A network interface."""

    name: str
    state: str
    """As /sys/class/net/…/operstate."""
    bits_per_second: int | None
    """None where the driver does not say (virtual links)."""
    mtu: int
    addresses: tuple[str, ...] = ()
    """Each with the length of its network's prefix (`192.0.2.11/24`), which facts of earlier releases lack."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A benchmark or copy tool; path None: not installed."""

    name: str
    path: str | None
    version: str | None


@dataclass(frozen=True, slots=True)
class ControlData:
    """What pg_controldata says; the whole of it, untranslated, in `fields` by its English label."""

    pg_control_version: int
    catalog_version: int
    system_identifier: str
    state: str
    """English: `shut down`, `in production`, `shut down in recovery`…"""
    block_size: int
    wal_block_size: int
    wal_segment_size: int
    relation_segment_blocks: int
    max_alignment: int
    float8_by_value: bool | None
    data_checksums: int | None
    """0: off. None where the major version has none."""
    checkpoint_location: str
    fields: dict[str, str] = field(default_factory=dict)
    read_by: str | None = None
    """Version of the pg_controldata that printed it; it is believed only where it is of the cluster's major version."""


@dataclass(frozen=True, slots=True)
class Tablespace:
    """A tablespace of a cluster, by its link."""

    oid: int
    link: str
    """pg_tblspc/16400, below the data directory."""
    location: str
    """What the link resolves to."""
    size_bytes: int | None
    files: int | None
    written: str | None = None
    """What the link itself says: another link, or a path from its folder on."""


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link inside the data directory, besides the tablespaces."""

    path: str
    """Below the data directory."""
    target: str
    """Resolved, absolute."""
    dangling: bool
    size_bytes: int | None = None
    files: int | None = None
    to_file: bool = False
    """It leads to a single file: it is copied as a link, and the file is not."""
    written: str | None = None
    """What the link itself says, as of a tablespace."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database of a running cluster."""

    name: str
    size_bytes: int
    relations: int | None = None
    largest_table_bytes: int | None = None
    index_bytes: int | None = None
    encoding: str | None = None
    collate: str | None = None
    ctype: str | None = None
    provider: str | None = None
    """Of its collation: `libc`, `icu` or `builtin`."""
    locale: str | None = None
    """Of its collation, as that provider names it."""
    collation_version: str | None = None
    """As recorded when the database was made or last refreshed; None where the major version keeps none (before 15)."""
    actual_collation_version: str | None = None
    """Of the library that is there."""
    template: bool = False
    """A template that databases are made from; its catalogs are left alone."""
    catalogs: Catalogs | None = None
    """None: they could not be read."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A PostgreSQL data directory, running or stopped, whatever its layout."""

    data_directory: str
    """Resolved, absolute; it identifies the cluster on its server."""
    series: str
    """PG_VERSION: `15`, `9.6`."""
    version: str | None
    """The binaries' full version, `15.5`; None where they were not found."""
    running: bool
    port: int | None
    owner: str | None
    name: str | None = None
    """Debian's `15/main`, or the unit's name."""
    found_by: tuple[str, ...] = ()
    """pg_lsclusters, systemd, postmaster, folder, named."""
    bin_directory: str | None = None
    config_file: str | None = None
    hba_file: str | None = None
    unit: str | None = None
    """systemd unit that starts it."""
    unit_user: str | None = None
    """Whose own systemd has the unit; None: the host's."""
    socket_directory: str | None = None
    control: ControlData | None = None
    size_bytes: int | None = None
    """Bytes of everything that a move copies: data directory, tablespaces, links; of a file what it takes or holds."""
    files: int | None = None
    written_bytes: int | None = None
    """Bytes of the files, WAL aside, that the running server wrote to in the last hour; None of a stopped one."""
    tablespaces: tuple[Tablespace, ...] = ()
    links: tuple[Link, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    """Settings that matter for a move, as `postgres -C` or pg_settings has them."""
    databases: tuple[Database, ...] = ()
    """Empty where no SQL was possible."""
    wide: ClusterWide | None = None
    """What SQL tells of the whole cluster; None where there was none."""
    binaries: Binaries | None = None
    """Of a trial cluster alone: what the binaries that made it can do."""
    leftovers: tuple[str, ...] = ()
    """backup_label, tablespace_map, standby.signal, recovery.signal… that lie in the data directory; postmaster.pid
    where no server runs."""
    product: str | None = None
    """`PostgreSQL`, or the fork whose binaries or files these are; None where neither tells."""
    owner_uid: int | None = None
    mode: str | None = None
    """Of the data directory, in octal: `700`, `750`."""
    process: Process | None = None
    """The running server; None also for a stopped cluster."""
    irregular_files: IrregularFiles | None = None
    fenced: bool = False
    """pghaul keeps it from starting: what a start needs lies in its folder pghaul-fence."""
    start_complaints: tuple[str, ...] | None = None
    """Why the server program does not take the configuration files as they stand; None: it was not asked."""
    edited: tuple[Edited, ...] | None = None
    """Settings that were edited and are not in force; None of a stopped cluster, or where that was not looked at."""
    options: tuple[Edited, ...] | None = None
    """Settings that the command line of the running server gives, and the files alone would not; None of a stopped
    cluster, or where that was not looked at."""
    configuration_files: tuple[ConfigurationFile, ...] | None = None
    """What a start reads: postgresql.conf, pg_hba.conf, pg_ident.conf, and what they name; None: it was not read."""
    start_files: dict[str, str] = field(default_factory=dict)
    """Of a stopped cluster, by setting: configuration files that the command line of its last start named, as
    postmaster.opts has it, and that these facts are from."""
    lost_start_files: dict[str, str] = field(default_factory=dict)
    """Those of them that are not there any more, or cannot be read, so that these facts are from other files."""
    copy_of: str | None = None
    """By the mark of a copy that is not opened: the system identifier of the cluster that pghaul copies here."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be read, and why."""

    section: str
    """Name of the section that did not bring it; see core/facts/sections.py for those that no section is behind."""
    subject: str
    """What it is, in words for people: `size of /srv/pg/data`."""
    reason: str
    of: str = ""
    """The data directory, where it is of one."""
    absent: bool = False
    """The folder is empty or not there: what a target of a move should be."""
    copy_begun: bool = False
    """It holds no more than the mark of a copy that pghaul has begun; it counts as absent too."""


@dataclass(frozen=True, slots=True)
class TrialStart:
    """How an empty cluster with an old one's configuration started on this server; see resources/sh/trial_start.sh."""

    cluster: str
    """The data directory of the old cluster, on the old server."""
    target: str
    """Where the cluster is to lie on this server."""
    of: str = ""
    """When the facts of the old server were taken whose configuration it was."""
    edited: str = ""
    """Which values were to hold of settings that were edited and not in force; empty: that was not chosen."""
    failed: str = ""
    """What PostgreSQL said, where it did not start, or which socket is taken; empty where it did, or was not tried."""
    not_tried: str = ""
    """Why it was not tried."""
    listened: tuple[str, ...] = ()
    """Where its server listened: `tcp ADDRESS PORT` or `unix SOCKET`."""
    lacking: tuple[str, ...] = ()
    """Addresses and names of listen_addresses that are not this server's, on which it did not listen."""
    hindering: tuple[str, ...] = ()
    """Properties of the unit of the new cluster by which systemd may not start it there: `User=other`."""
    unmet: tuple[str, ...] = ()
    """Condition…= and Assert…= of that unit by which systemd would not start it, and which the move does not meet."""
    unjudged: tuple[str, ...] = ()
    """Those of which it is not known: the move may change what they ask for, or systemd does not tell."""
    at: datetime | None = None
    """When it was made."""
    basis: str = ""
    """The checksum of the facts on which it stands, by which later facts are compared with them."""
    hook: str = ""
    """The operator's own command that the move runs before it asks again, and that may meet them; empty: none."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One pass over one server."""

    server: str
    taken_at: datetime
    seconds: float
    """How long the pass took."""
    round_trips: int
    system: System | None = None
    processor: Processor | None = None
    memory: Memory | None = None
    block_devices: tuple[BlockDevice, ...] = ()
    arrays: tuple[Array, ...] = ()
    file_systems: tuple[FileSystem, ...] = ()
    network_links: tuple[NetworkLink, ...] = ()
    tools: tuple[Tool, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    gaps: tuple[Gap, ...] = ()
    raw: dict[str, str] = field(default_factory=dict)
    """The text that each subject was read from."""
    services: tuple[Service, ...] = ()
    """What starts data directories here, those that are empty as well."""
    trials: tuple[Cluster, ...] = ()
    """What trial clusters showed of the server's binaries (see core/migration/trial); no cluster of its own."""
    trial_start: TrialStart | None = None
    """None: none was made."""
    collation_order: dict[str, str] = field(default_factory=dict)
    """By libc locale the sum of a sorted list of words, or `missing` (see core/facts/collation_order)."""
    target_entries: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names in folders that a copy is to go to, those that were asked for; nothing in one that is not there."""
    further: dict[str, dict[str, str]] = field(default_factory=dict)
    """What people compare and no check reads: by a section's title its values by name (see core/facts/host)."""
    host_environment: HostEnvironment = field(default_factory=HostEnvironment)
    """What stands around the clusters: accounts, clocks, managers, cron jobs, security policy, limits."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every address that another host may see it by: not those of the loopback, nor of one cable alone."""
        return tuple(dict.fromkeys(str(interface.ip) for interface, _ in self._interfaces()))

    @property
    def networks(self) -> tuple[str, ...] | None:
        """The networks that those addresses are in, sorted (`192.0.2.0/24`); None if that is not known of each."""
        interfaces = self._interfaces()
        if not interfaces or not all(has_prefix for _, has_prefix in interfaces):
            return None
        return tuple(sorted({str(interface.network) for interface, _ in interfaces}))

    def _interfaces(self) -> list[tuple[IPv4Interface | IPv6Interface, bool]]:
        """Every interface that another host may see, and whether the length of its prefix is known."""
        found = []
        for text in (address for link in self.network_links for address in link.addresses):
            try:
                interface = ip_interface(re.sub("%[^/]*", "", text))
            except ValueError:
                continue
            if not (interface.ip.is_loopback or interface.ip.is_link_local):
                found.append((interface, "/" in text))
        return found

    def gaps_besides(self, folder: str) -> tuple[Gap, ...]:
        """The gaps without what is as it should be: that `folder`, a target, is empty or not there, and that a copy of
        pghaul's has no control file yet."""
        return tuple(gap for gap in self.gaps if not (gap.absent and (gap.of == folder or self.cluster(gap.of))))

    def gap(self, *sections: str, of: str | None = None) -> Gap | None:
        """The first gap of one of these sections, by name; of that data directory alone where one is given."""
        return next((gap for gap in self.gaps if gap.section in sections and of in (None, gap.of)), None)

    @property
    def machine_id(self) -> str | None:
        """The ID by which the machine is known; None if it has none, or if nobody could read it."""
        return (self.system.machine_id or None) if self.system is not None else None

    def is_of_another_machine(self, earlier: "Facts") -> bool:
        """Whether the machine IDs tell that another machine has the server's name now; not where one is not known."""
        machines = {self.machine_id, earlier.machine_id}
        return len(machines) == 2 and None not in machines

    def cluster(self, data_directory: str) -> Cluster | None:
        """The cluster in that data directory."""
        return next((cluster for cluster in self.clusters if cluster.data_directory == data_directory), None)

    def file_system_of(self, path: str) -> FileSystem | None:
        """The file system that `path`, an absolute path that need not exist yet, lies on."""
        holding = [
            system
            for system in self.file_systems
            if path == system.mount_point or path.startswith(system.mount_point.rstrip("/") + "/")
        ]
        return max(holding, key=lambda system: len(system.mount_point), default=None)

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, installed or not."""
        return next((tool for tool in self.tools if tool.name == name), None)
