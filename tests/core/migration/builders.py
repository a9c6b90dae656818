"""Facts, moves and probes made by hand, each as good as it can be: a test spoils the one thing that it is about."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.facts.catalog import (
    Binaries,
    Catalogs,
    ClusterWide,
    Collation,
    Extension,
    HbaRule,
    Library,
    Ordered,
    Setting,
)
from core.facts.cluster_configuration import ConfigurationFile
from core.facts.host_environment import (
    Account,
    Autostart,
    Clock,
    DiskHealth,
    Firewall,
    HostEnvironment,
    IrregularFiles,
    Kernel,
    Limits,
    Removal,
    SecurityPolicy,
)
from core.facts.model import (
    Cluster,
    ControlData,
    Database,
    Facts,
    FileSystem,
    Gap,
    Memory,
    NetworkLink,
    Processor,
    System,
    Tablespace,
    Tool,
    TrialStart,
)
from core.history.store import Store
from core.migration.findings.local_start import list_isolation_settings
from core.migration.model.move import Move
from core.migration.model.probe import Probe, Quantity
from core.servers.profiles import Profile
from core.servers.shell import Shell

NOW = datetime(2026, 3, 7, 20, 0, tzinfo=UTC)
DATA = "/srv/pg/data"
TARGET = "/srv/pg/15/main"
IDENTIFIER = "7290123456789012345"
LOCALE = "de_AT.UTF-8"
SUM = "0123456789abcdef" * 4
ODD = '/srv/pg/it\'s $(touch x) "ö"'


def runnable(shell: Shell) -> str:
    """A call with the functions that it names ahead, as a shell runs it."""
    return f"{shell.functions}\n{shell.text}"


def control(**changes: Any) -> ControlData:
    made = ControlData(
        pg_control_version=1300,
        catalog_version=202209061,
        system_identifier=IDENTIFIER,
        state="shut down",
        block_size=8192,
        wal_block_size=8192,
        wal_segment_size=16777216,
        relation_segment_blocks=131072,
        max_alignment=8,
        float8_by_value=True,
        data_checksums=0,
        checkpoint_location="0/3000028",
        fields={"Maximum length of identifiers": "64"},
    )
    return replace(made, **changes)


def cluster(**changes: Any) -> Cluster:
    made = Cluster(
        data_directory=DATA,
        series="15",
        version="15.5",
        running=False,
        port=5432,
        owner="postgres",
        bin_directory="/usr/local/pgsql/bin",
        config_file=f"{DATA}/postgresql.conf",
        control=control(),
        size_bytes=10_000_000_000,
        files=2000,
        settings={
            "shared_buffers": "128MB",
            "huge_pages": "try",
            "archive_mode": "off",
            "listen_addresses": "*",
            "ssl": "off",
            "shared_preload_libraries": "",
            "data_checksums": "off",
        },
        databases=(database(),),
        wide=ClusterWide(
            settings=(Setting("shared_buffers", "16384", "configuration file", f"{DATA}/postgresql.conf", 1),),
            hba=(HbaRule(1, "local", "all", "postgres", "", "peer", ""),),
        ),
        product="PostgreSQL",
        owner_uid=101,
        mode="700",
        irregular_files=IrregularFiles(0, 0, 0, 0, 0, 0, {}),
        start_complaints=(),
        options=(),
    )
    data = changes.get("data_directory", DATA)
    files = (
        ConfigurationFile(f"{data}/postgresql.conf", "settings", "required", "file"),
        ConfigurationFile(f"{data}/pg_hba.conf", "rules", "required", "file"),
    )
    return replace(made, **{"configuration_files": files, **changes})


def database(**changes: Any) -> Database:
    """A database that sorts by the C library, with an extension and an index on text."""
    catalogs = Catalogs(
        extensions=(Extension("pg_trgm", "1.6"),),
        libraries=(Library("$libdir/pg_trgm", 31, "show_trgm"),),
        collations=(Collation("default", "libc", LOCALE, "2.36", "2.36", 1, 5_000_000),),
        ordered=(Ordered("index", "public.i", "t", ("default",), 5_000_000),),
    )
    made = Database("shop", 9_000_000_000, 400, 4_000_000_000, 2_000_000_000, "UTF8", LOCALE, LOCALE, "libc", LOCALE)
    return replace(made, catalogs=catalogs, **changes)


def trial(**changes: Any) -> Cluster:
    """What new's binaries answered for the cluster above."""
    answers = Binaries(
        libraries=(("$libdir/pg_trgm", ""),),
        settings=(("shared_buffers=16384", ""), *((each, "") for each in list_isolation_settings(cluster()))),
        extensions=(("pg_trgm", ("1.6", "1.5")),),
    )
    made = cluster(data_directory="a trial cluster of 15.18", version="15.18", databases=(), wide=None, settings={})
    return replace(made, control=control(system_identifier="1"), binaries=replace(answers, **changes))


def host_environment(**changes: Any) -> HostEnvironment:
    made = HostEnvironment(
        accounts=(Account("root", 0, 0), Account("postgres", 101, 104)),
        clock=Clock(0.1, 0.1, synchronised=True),
        ha_and_poolers=(),
        schedule=(),
        autostart=Autostart(),
        limits=Limits(1024, 8 << 20),
        removal=Removal(removes=True),
        security_policy=SecurityPolicy("disabled", apparmor=False),
        firewall=Firewall(drops=False),
        listening=(),
        kernel=Kernel(nfs=True, nfsd=True, nfs_udp=False),
        disks=(DiskHealth("sda", healthy=True, said="PASSED"),),
        datasets=(),
        virtual_addresses=(),
    )
    return replace(made, **changes)


def facts(server: str, **changes: Any) -> Facts:
    number = "11" if server == "old" else "12"
    made = Facts(
        server=server,
        taken_at=NOW,
        seconds=0.5,
        round_trips=2,
        system=System(
            server,
            "Debian GNU/Linux 12 (bookworm)",
            "6.1.0",
            "x86_64",
            libc="glibc 2.36",
            init="systemd",
            time_zone="Etc/UTC",
        ),
        processor=Processor("some", 1, 4, 8),
        memory=Memory(32 * 1024**3, 30 * 1024**3, 0),
        file_systems=(
            FileSystem("/", "/dev/sda1", "ext4", ("rw",), 50_000_000_000, 40_000_000_000, 3_000_000, 2_000_000),
            FileSystem("/srv/pg", "/dev/sdb", "xfs", ("rw",), 90_000_000_000, 80_000_000_000, 9_000_000, 8_000_000),
        ),
        network_links=(
            NetworkLink("lo", "unknown", None, 65536, ("127.0.0.1", "::1")),
            NetworkLink("eth0", "up", None, 1500, (f"10.77.0.{number}/24", "fe80::1")),
        ),
        tools=(
            Tool("rsync", "/usr/bin/rsync", "3.2.7"),
            Tool("ssh", "/usr/bin/ssh", "9.2p1"),
            Tool("find", "/usr/bin/find", "4.9.0"),
            Tool("tar", "/usr/bin/tar", "1.34"),
        ),
        collation_order={LOCALE: SUM},
        host_environment=host_environment(),
    )
    return replace(made, **changes)


def old(*clusters: Cluster, **changes: Any) -> Facts:
    return facts("old", clusters=clusters or (cluster(),), **changes)


def new(*clusters: Cluster, **changes: Any) -> Facts:
    """New with a cluster of its own beside the target, which is not there yet."""
    own = cluster(data_directory="/var/lib/postgresql/15/main", version="15.18", control=control(system_identifier="1"))
    absent = Gap("place", f"data directory {TARGET}", "there is no such folder", TARGET, absent=True)
    tried = () if clusters or "clusters" in changes else (trial(),)
    made = facts("new", **{"clusters": clusters or (own,), "gaps": (absent,), "trials": tried, **changes})
    started = TrialStart(DATA, TARGET, made.taken_at.isoformat(), listened=("tcp 0.0.0.0 5432",))
    return made if "trial_start" in changes else replace(made, trial_start=started)


def set_up(store: Store) -> None:
    """Two servers and the move `spring` between them."""
    for side in ("old", "new"):
        store.add_profile(profile(side))
    store.add_move(move(name="spring"))


def move(**changes: Any) -> Move:
    return replace(Move("to the new one", "old", "new", DATA, TARGET, "/srv/pg", "/srv/pg"), **changes)


def space(location: str, oid: int = 16400, size: int = 4_000_000_000, files: int = 100) -> Tablespace:
    return Tablespace(oid, f"pg_tblspc/{oid}", location, size, files)


def probe(quantity: Quantity, rate: float) -> Probe:
    return Probe(quantity, rate, int(rate * 3), 3.0, "by hand", "true", "", NOW)


def profile(side: str, **changes: Any) -> Profile:
    number = "11" if side == "old" else "12"
    return replace(Profile(side, f"10.77.0.{number}", user="dba"), **changes)
