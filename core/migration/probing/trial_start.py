"""The trial start on the new server: an empty cluster, with the old one's whole configuration and server options.

It is made for the checks, and removed before they get its result. resources/sh/trial_start.sh says how it works.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import ip_address
from posixpath import join, normpath

from core.errors import Cancelled, CommandError, InputError, PghaulError
from core.facts.model import Cluster, Facts, TrialStart
from core.facts.programs import program_path
from core.jobs import Job
from core.migration.findings.data_roots import data_roots
from core.migration.findings.edited import list_settings_kept_in_force, predict_new_cluster
from core.migration.findings.hosts import Hosts, compare_hosts
from core.migration.findings.layout import configuration_copied, configuration_not_copied, named_config_file_on_new
from core.migration.findings.local_start import list_isolation_settings
from core.migration.findings.releases import version_numbers
from core.migration.findings.services import access_rules_beside_configuration, debian_settings, service_of_target
from core.migration.findings.trial import trial_basis
from core.migration.model.execution import LOCK_FOLDER, LOCK_NAME
from core.migration.model.move import Hook, HookCommand, Move
from core.servers.connection import Server
from core.servers.shell import Shell, call, command, lowered, with_program
from core.text import complaint, lines_of

_SINCE = (10,)
"""Before 10 a server uses semaphores within limits of the kernel that a namespace of its own does not inherit."""
_SEGMENT_SINCE = (11,)
"""The first major version whose initdb has the option --wal-segsize."""
_USUAL_SEGMENT = 16 * 2**20
_LARGEST_SEGMENT = 64 * 2**20
"""Larger segments would fill the memory of the trial. Only settings that depend on that size would notice."""
_TRIED = frozenset({"listen_addresses", "logging_collector", "archive_mode", "max_wal_senders"})
"""Isolation settings that a trial start must not use, because it tries the cluster's own values."""
_OVERRIDDEN = (
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
"""Settings that a trial overrides, with the first major version that has each setting and the first that has not.

With them nothing is written elsewhere, no command runs, no memory is filled, and messages have no prefix. A file system
in memory may not support direct I/O (before Linux 6.6)."""
_FILES_READ_AT_START = {
    "ssl_cert_file": "server.crt",
    "ssl_key_file": "server.key",
    "ssl_ca_file": "",
    "ssl_crl_file": "",
    "ssl_dh_params_file": "",
    "krb_server_keyfile": "",
}
"""Settings that name a file which a start reads, with the default path of the file."""


@dataclass(frozen=True, slots=True)
class TrialCommands:
    """The commands of a trial start.

    Attributes:
        pack: the command on the old server, as the owner; `start` reads its output.
        start: the command on the new server, as root.
        lacking: addresses on which the trial does not listen, because the new server does not have them yet.
    """

    pack: Shell
    start: Shell
    lacking: tuple[str, ...]


def prepare_trial_start(
    move: Move, cluster: Cluster, old: Facts, new: Facts, writer: str, holder: str = "-"
) -> TrialCommands | str:
    """Return the commands of a trial start, or the reason why none is possible.

    Args:
        move: the move.
        cluster: the old cluster.
        old: the facts of the old server.
        new: the facts of the new server.
        writer: the user that will own the new cluster.
        holder: the token of the execution whose own locks do not prevent a trial start; `-` for none.
    """
    major_version = version_numbers(cluster.series)
    if major_version < _SINCE:
        return f"PostgreSQL {cluster.series} is older than 10, for which pghaul has no trial start"
    if compare_hosts(old, new) is Hosts.ONE:
        return "both clusters are on the same host, where the old cluster uses the same port"
    if cluster.configuration_files is None:
        return "it is not known which configuration files the old cluster reads"
    new_cluster = predict_new_cluster(move, cluster)
    lacking = _missing_addresses(new_cluster, new)
    copied = [path.removeprefix("/") for path in configuration_copied(cluster)]
    start = call(
        "trial_start",
        f"{LOCK_FOLDER}/{LOCK_NAME}",
        holder,
        program_path(new, cluster.series, writer),
        writer,
        cluster.data_directory,
        move.target,
        _wal_segment_megabytes(cluster),
        _as_options(_configuration_settings(move, cluster, new)),
        # isolation settings come last, so that they override the settings of the new cluster
        _as_options([*list_settings_kept_in_force(move, cluster), *_trial_settings(new_cluster, lacking)]),
        *copied,
    )
    start_with_programs = with_program(["trial_inside", "trial_prepare", "trial_run"], start)
    return TrialCommands(
        call("pack_for_trial", cluster.data_directory, *_files_to_pack(cluster)), start_with_programs, lacking
    )


def _files_to_pack(cluster: Cluster) -> list[str]:
    """Return the files that a start reads, including those in the data directory; absent files are skipped later."""
    read = [each.path for each in cluster.configuration_files or () if each.state == "file"]
    values = {each.name: each.value for each in cluster.wide.settings} if cluster.wide is not None else {}
    keys = [values.get(name) or cluster.settings.get(name) or usual for name, usual in _FILES_READ_AT_START.items()]
    inside = [normpath(join(cluster.data_directory, each)) for each in keys if each]
    inside = [each for each in (*read, *inside) if each.startswith(f"{cluster.data_directory}/")]
    return list(dict.fromkeys((*configuration_copied(cluster), *inside)))


def _configuration_settings(move: Move, cluster: Cluster, new: Facts) -> list[str]:
    """Return the settings that name the configuration, as the plan sets them for the new cluster."""
    file = named_config_file_on_new(cluster, move.target)
    settings = [f"data_directory={move.target}"]
    if file is None:
        return settings
    settings += [f"config_file={file}", *access_rules_beside_configuration(cluster)]
    service = service_of_target(move.target, cluster, new)
    if service is not None and service.debian:
        debian = debian_settings(move.target, cluster, service)
        settings += [f"{name}={debian[name]}" for name in ("hba_file", "ident_file") if name in debian]
    return settings


def _trial_settings(cluster: Cluster, lacking: tuple[str, ...]) -> list[str]:
    """Return the settings that prevent any effect outside the trial, and make the server's messages plain."""
    major_version = version_numbers(cluster.series)
    settings = [each for each in list_isolation_settings(cluster) if each.partition("=")[0] not in _TRIED]
    settings += [text for text, since, until in _OVERRIDDEN if since <= major_version < until]
    if lacking:
        addresses = [each for each in _addresses(cluster) if each not in lacking]
        settings.append(f"listen_addresses={','.join(addresses) or 'localhost'}")
    return settings


def _as_options(settings: Iterable[str]) -> str:
    """Return settings as options of the server program, each quoted for the shell that pg_ctl runs."""
    return " ".join(f"-c {command(each)}" for each in settings)


def _wal_segment_megabytes(cluster: Cluster) -> int | str:
    size = cluster.control.wal_segment_size if cluster.control is not None else _USUAL_SEGMENT
    is_default = size == _USUAL_SEGMENT or size > _LARGEST_SEGMENT or version_numbers(cluster.series) < _SEGMENT_SINCE
    return "-" if is_default else size // 2**20


def _addresses(cluster: Cluster) -> list[str]:
    return [each.strip() for each in cluster.settings.get("listen_addresses", "").split(",") if each.strip()]


def _missing_addresses(cluster: Cluster, new: Facts) -> tuple[str, ...]:
    """Return addresses in listen_addresses that the new server lacks: they may be moved with the cluster."""
    found = []
    for each in _addresses(cluster):
        try:
            address = ip_address(each)
        except ValueError:
            continue  # a name, or *
        if not (address.is_unspecified or address.is_loopback or str(address) in new.addresses):
            found.append(each)
    return tuple(found)


_PACK_SECONDS = 60.0
_START_SECONDS = 200.0
"""Longer than the time after which the shell function trial_start itself ends the trial."""
_STARTED, _REFUSED, _LACKS = "started", "refused ", "lacks "


def with_trial_start(
    old: Server,
    new: Server,
    old_facts: Facts,
    new_facts: Facts,
    move: Move,
    job: Job,
    holder: str = "-",
    *,
    hooks: Sequence[HookCommand] = (),
) -> Facts:
    """Return the facts of the new server with the result of a trial start.

    They are returned unchanged if the facts of the old server do not contain the cluster.

    Args:
        old: the old server.
        new: the new server.
        old_facts: the facts of the old server.
        new_facts: the facts of the new server.
        move: the move.
        job: receives progress, and can be cancelled.
        holder: the token of the execution that makes the trial; its own locks do not prevent it. `-`: it has none.
        hooks: the commands of the move that are still to run.

    Raises:
        Cancelled: the job was cancelled; nothing of the trial is left.
    """
    cluster = old_facts.cluster(move.cluster)
    if cluster is None:
        return new_facts
    chosen = "" if move.edited is None else move.edited.value
    # Only this hook runs before the stop of the old cluster, and the trial start is repeated just before that stop.
    ahead = (each.hook for each in hooks if each.hook is Hook.STOP_APPLICATIONS and not each.from_elsewhere)
    made = TrialStart(
        move.cluster,
        move.target,
        old_facts.taken_at.isoformat(),
        chosen,
        at=datetime.now(UTC),
        basis=trial_basis(cluster, new_facts, move.target),
        hook=next((each.value for each in ahead), ""),
    )
    try:
        trial = prepare_trial_start(move, cluster, old_facts, new_facts, new.profile.database_user, holder)
    except InputError as error:  # a path that cannot be an argument of a command
        trial = error.message
    if isinstance(trial, str):
        made = replace(made, not_tried=trial)
    elif not new.can_become("root", job):
        made = replace(
            made,
            not_tried=f"pghaul may not run commands as root on {new.name}. A trial start needs that for its namespaces",
        )
    else:
        made = _tried(old, new, trial, made, cluster.owner or old.profile.database_user, job)
    made = _with_unit_conditions(new, new_facts, move, cluster, made, job)
    return replace(new_facts, trial_start=made)


def _with_unit_conditions(
    new: Server, new_facts: Facts, move: Move, cluster: Cluster, made: TrialStart, job: Job
) -> TrialStart:
    """Return the trial start with what may keep the unit of the target from starting the new cluster.

    Only a unit of the system is examined, and only as root.
    """
    service = service_of_target(move.target, cluster, new_facts)
    if service is None or service.user is not None or not new.can_become("root", job):
        return made
    hinders = call("print_unit_obstacles", service.unit, new.profile.database_user, move.target)
    title = f"Check whether {service.unit} can start the new cluster"
    made = replace(made, hindering=_told(new, hinders, title, job))
    unmet = call("print_unmet_conditions", service.unit, *_brought(move, cluster))
    title = f"Check whether the conditions of {service.unit} are met"
    told = [line.partition(" ") for line in _told(new, unmet, title, job)]
    return replace(
        made,
        unmet=tuple(line for kind, _, line in told if kind == "unmet"),
        unjudged=tuple(line for kind, _, line in told if kind == "unjudged"),
    )


def _brought(move: Move, cluster: Cluster) -> list[str]:
    """Return the paths on the new server to which the move copies something, as far as they are known before it."""
    data, left = cluster.data_directory, configuration_not_copied(cluster)
    read = [each.path for each in cluster.configuration_files or () if each.state == "file" and each.path not in left]
    read = [f"{move.target}{each.removeprefix(data)}" if each.startswith(f"{data}/") else each for each in read]
    roots = [root.target for root in data_roots(move, cluster)]
    brought = [f"{move.target}/PG_VERSION", *read, *roots, *configuration_copied(cluster)]
    return [each for each in brought if "\n" not in each]  # no command can name one, and neither does a unit


def _told(new: Server, asked: Shell, title: str, job: Job) -> tuple[str, ...]:
    """Return the lines that the command prints about the unit; none if it fails.

    Args:
        new: the new server.
        asked: the command.
        title: its title.
        job: receives progress, and can be cancelled.
    """
    try:
        done = new.run(asked, job, user="root", deadline=_PACK_SECONDS, title=title)
    except Cancelled:
        raise
    except PghaulError:
        return ()
    return tuple(lines_of(done.stdout))


def _tried(old: Server, new: Server, trial: TrialCommands, made: TrialStart, owner: str, job: Job) -> TrialStart:
    made = replace(made, lacking=trial.lacking)
    try:
        title = "Pack the configuration of the old cluster for a trial start"
        packed = old.run(lowered(trial.pack), job, user=owner, deadline=_PACK_SECONDS, title=title)
        title = "Start an empty cluster with the configuration of the old cluster, isolated from the host"
        given = packed.stdout.encode()
        done = new.run(trial.start, job, user="root", stdin=given, deadline=_START_SECONDS, title=title)
    except Cancelled:
        raise
    except CommandError as error:
        return replace(made, not_tried=complaint(error.stderr) or error.message)
    except PghaulError as error:
        return replace(made, not_tried=error.message)
    first, _, rest = done.stdout.partition("\n")
    if first == _STARTED:
        said = [line for line in lines_of(rest) if not line.startswith("note: ")]
        lacking = [line.removeprefix(_LACKS) for line in said if line.startswith(_LACKS)]
        listened = tuple(line for line in said if not line.startswith(_LACKS))
        return replace(made, listened=listened, lacking=(*made.lacking, *lacking))
    if first.startswith(_REFUSED):
        return replace(made, failed=first.removeprefix(_REFUSED))
    return replace(made, not_tried=f"it ended without a result: {first!r}")
