"""What a trial start takes to the new server: the old cluster's whole configuration, and the options of its server.

How it goes: resources/sh/trial_start.sh.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from posixpath import join, normpath

from core.facts.model import Cluster, Facts
from core.facts.programs import program_path
from core.migration.findings.edited import kept_in_force, predict_new_cluster
from core.migration.findings.hosts import Hosts, hosts_of
from core.migration.findings.layout import config_file_outside, configuration_brought
from core.migration.findings.local_start import list_isolation_settings
from core.migration.findings.releases import numbers
from core.migration.findings.services import debian_settings, rules_beside, service_for
from core.migration.model.execution import LOCK_FOLDER, LOCK_NAME
from core.migration.model.move import Move
from core.servers.shell import Shell, call, command, with_program

_SINCE = (10,)
"""Before 10 a server takes its semaphores as the kernel of the host is set up for them, and a namespace of its own is
not."""
_SEGMENT_SINCE = (11,)
"""The first major version whose initdb knows --wal-segsize."""
_USUAL_SEGMENT = 16 * 2**20
_LARGEST_SEGMENT = 64 * 2**20
"""A larger one would fill the memory that a trial may take; of settings only those that must be twice its size tell."""
_TRIED = frozenset({"listen_addresses", "logging_collector", "archive_mode", "max_wal_senders"})
"""What the first local start holds back and a trial must not: they are among what it tries."""
_OTHERWISE = (
    ("archive_command=", (10,), (100,)),
    ("archive_library=", (15,), (100,)),
    ("external_pid_file=pghaul-trial.pid", (10,), (100,)),
    ("stats_temp_directory=pg_stat_tmp", (10,), (15,)),
    ("ssl_passphrase_command=", (11,), (100,)),
    ("min_dynamic_shared_memory=0", (14,), (100,)),
    ("wal_sync_method=fdatasync", (10,), (100,)),
    ("debug_io_direct=", (16,), (100,)),
    ("plperl.on_init=", (10,), (100,)),
    ("log_line_prefix=", (10,), (100,)),
    ("log_min_messages=warning", (10,), (100,)),
)
"""What a trial has otherwise: nothing is written elsewhere, no command runs, no memory is filled, and what the server
says is plain. A file system in memory may know no direct writes (before Linux 6.6). With the first major version that
has it, and the first that has not."""
_FILES_OF_A_START = {
    "ssl_cert_file": "server.crt",
    "ssl_key_file": "server.key",
    "ssl_ca_file": "",
    "ssl_crl_file": "",
    "ssl_dh_params_file": "",
    "krb_server_keyfile": "",
}
"""Settings that name a file which a start reads, with where it lies unless they say so."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial start.

    Attributes:
        pack: the command on the old server, as the owner, whose output `start` reads.
        start: the command on the new server, as root.
        lacking: addresses that it does not listen on, because the new server lacks them yet.
    """

    pack: Shell
    start: Shell
    lacking: tuple[str, ...]


def trial_of(move: Move, cluster: Cluster, old: Facts, new: Facts, writer: str, holder: str = "-") -> Trial | str:
    """The commands, or why no trial start is made.

    `writer`: who will own the new cluster. `holder`: the token of the execution whose own locks are no hindrance.
    """
    major_version = numbers(cluster.series)
    if major_version < _SINCE:
        return f"PostgreSQL {cluster.series} is older than 10, for which pghaul has no trial start"
    if hosts_of(old, new) is Hosts.ONE:
        return "both clusters are on the same host, where the old cluster uses the same port"
    if cluster.configuration_files is None:
        return "it is not known which configuration files the old cluster reads"
    coming = predict_new_cluster(move, cluster)
    lacking = _lacking(coming, new)
    brought = [path.removeprefix("/") for path in configuration_brought(cluster)]
    start = call(
        "trial_start",
        f"{LOCK_FOLDER}/{LOCK_NAME}",
        holder,
        program_path(new, cluster.series, writer),
        writer,
        cluster.data_directory,
        move.target,
        _segment(cluster),
        _options(_files(move, cluster, new)),
        # what holds back comes behind what the new cluster is given, and so is stronger
        _options([*kept_in_force(move, cluster), *_settings(coming, lacking)]),
        *brought,
    )
    within = with_program(["trial_inside", "trial_prepare", "trial_run"], start)
    return Trial(call("pack_for_trial", cluster.data_directory, *_packed(cluster)), within, lacking)


def _packed(cluster: Cluster) -> list[str]:
    """What a start reads, inside the data directory too; of what is not there nothing is packed."""
    read = [each.path for each in cluster.configuration_files or () if each.state == "file"]
    values = {each.name: each.value for each in cluster.wide.settings} if cluster.wide is not None else {}
    keys = [values.get(name) or cluster.settings.get(name) or usual for name, usual in _FILES_OF_A_START.items()]
    inside = [normpath(join(cluster.data_directory, each)) for each in keys if each]
    inside = [each for each in (*read, *inside) if each.startswith(f"{cluster.data_directory}/")]
    return list(dict.fromkeys((*configuration_brought(cluster), *inside)))


def _files(move: Move, cluster: Cluster, new: Facts) -> list[str]:
    """Where the configuration lies, as the plan has it for what starts the new cluster."""
    file = config_file_outside(cluster)
    said = [f"data_directory={move.target}"]
    if file is None:
        return said
    said += [f"config_file={file}", *rules_beside(cluster)]
    service = service_for(move.target, cluster, new)
    if service is not None and service.debian:
        settings = debian_settings(move.target, cluster, service)
        said += [f"{name}={settings[name]}" for name in ("hba_file", "ident_file") if name in settings]
    return said


def _settings(cluster: Cluster, lacking: tuple[str, ...]) -> list[str]:
    """What holds back all that must not be done, and lets the server say plainly what is wrong."""
    major_version = numbers(cluster.series)
    settings = [each for each in list_isolation_settings(cluster) if each.partition("=")[0] not in _TRIED]
    settings += [text for text, since, until in _OTHERWISE if since <= major_version < until]
    if lacking:
        left = [each for each in _addresses(cluster) if each not in lacking]
        settings.append(f"listen_addresses={','.join(left) or 'localhost'}")
    return settings


def _options(settings: Iterable[str]) -> str:
    """As the server program takes them, each quoted for the shell that pg_ctl runs."""
    return " ".join(f"-c {command(each)}" for each in settings)


def _segment(cluster: Cluster) -> int | str:
    size = cluster.control.wal_segment_size if cluster.control is not None else _USUAL_SEGMENT
    usual = size == _USUAL_SEGMENT or size > _LARGEST_SEGMENT or numbers(cluster.series) < _SEGMENT_SINCE
    return "-" if usual else size // 2**20


def _addresses(cluster: Cluster) -> list[str]:
    return [each.strip() for each in cluster.settings.get("listen_addresses", "").split(",") if each.strip()]


def _lacking(cluster: Cluster, new: Facts) -> tuple[str, ...]:
    """Addresses to listen on that the new server does not have: they may come over with the cluster."""
    found = []
    for each in _addresses(cluster):
        try:
            address = ip_address(each)
        except ValueError:
            continue  # a name, or *
        if not (address.is_unspecified or address.is_loopback or str(address) in new.addresses):
            found.append(each)
    return tuple(found)
