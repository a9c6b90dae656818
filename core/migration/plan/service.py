"""Commands that start and stop the cluster on either server, and that register the new cluster with its host.

They call functions of `service.sh`, one for each layout: a Debian cluster, a unit of the system or of a user, and
pg_ctl alone. Beside each call, `native` is what a person would type instead.
"""

from collections.abc import Callable
from dataclasses import dataclass

from core.facts.starters import Service
from core.migration.findings.edited import list_settings_for_old_start, typed_options
from core.migration.findings.layout import config_file_outside, named_config_file, named_config_file_on_new
from core.migration.findings.services import (
    access_rules_beside_configuration,
    active_service,
    debian_config_file,
    debian_folder,
    debian_settings,
    find_service,
)
from core.migration.model.plan import ROOT_USER, undone
from core.migration.plan.cluster_control import ClusterCommand, as_options, native_signal, native_start, native_stop
from core.migration.plan.context import PlanContext
from core.servers.shell import call, command
from core.sides import Side

SAVED_SUFFIX = ".before-pghaul"
"""The suffix of the saved postgresql.conf of the new server; Debian's tools do not read a file of that name."""
_START_CONF = ("auto", "manual")


@dataclass(frozen=True, slots=True)
class Change:
    """A change to the host of the new server.

    Attributes:
        apply: the command that makes the change.
        revert: the command that undoes it; None if another step of the rollback undoes it.
    """

    apply: ClusterCommand
    revert: ClusterCommand | None


@dataclass(frozen=True, slots=True)
class _ManagedCluster:
    """A cluster and the service that starts it.

    Attributes:
        service: the service; None if pg_ctl alone starts the cluster.
        data: the data directory.
        path: the PATH of the cluster's programs.
        owner: the user that owns the cluster.
        config_file: the configuration file, if a start must name it.
        options: the options with which the old server was started, `NAME=VALUE`.
        extra_settings: further settings that pg_ctl gives the server, `NAME=VALUE`.
    """

    service: Service | None
    data: str
    path: str
    owner: str
    config_file: str | None
    options: tuple[str, ...]
    extra_settings: tuple[str, ...] = ()


def start_old(context: PlanContext) -> ClusterCommand:
    """Return the command that starts the old cluster as it was started before; a running one is left alone."""
    return _start(_old_cluster(context))


def stop_old(context: PlanContext) -> ClusterCommand:
    """Return the command that stops the old cluster with a fast shutdown; a stopped one is left alone.

    Clients are disconnected and a checkpoint is written, so that no recovery is needed.
    """
    old = _old_cluster(context)
    start = _start(old)
    return _stop(old, undone(start.user, Side.OLD, *start.native))


def start_new(context: PlanContext) -> ClusterCommand:
    """Return the command that starts the new cluster in the way in which its host always starts it."""
    return _start(_new_cluster(context))


def stop_new(context: PlanContext) -> ClusterCommand:
    """Return the command that stops the new cluster after the cutover.

    It uses the service that started the cluster. Otherwise the service would start it again.
    """
    return _stop(_new_cluster(context))


def _old_cluster(context: PlanContext) -> _ManagedCluster:
    cluster, config = context.cluster, named_config_file(context.cluster)
    service = active_service(cluster, context.old_facts)
    extra = *access_rules_beside_configuration(cluster), *list_settings_for_old_start(context.move, cluster)
    return _ManagedCluster(
        service, cluster.data_directory, context.old_path, context.owner, config, typed_options(cluster), extra
    )


def _new_cluster(context: PlanContext) -> _ManagedCluster:
    options, extra = typed_options(context.cluster), tuple(access_rules_beside_configuration(context.cluster))
    data, owner = context.move.target, context.channel.writer
    return _ManagedCluster(context.service, data, context.new_path, owner, config_file(context), options, extra)


def _start(managed: _ManagedCluster) -> ClusterCommand:
    service, data = managed.service, managed.data
    # Whatever manages a cluster must also start and stop it. systemd does not know a server that pg_ctl has started
    # beside its unit. With Restart=always it would start a server again that pg_ctl has stopped (systemd.service(5)).
    if service is None:
        options = as_options(managed.extra_settings)
        where = managed.path, data, managed.config_file or "-", *([options] if options else [])
        native = native_start(data, managed.path, managed.config_file, *managed.options, *managed.extra_settings)
        return ClusterCommand(managed.owner, call("start_folder", *where), (native,))
    if service.debian:
        return ClusterCommand(
            ROOT_USER, call("start_debian", *_debian(service), data), (_pg_ctlcluster(service, "start"),)
        )
    if service.user is not None:
        return ClusterCommand(
            service.user, call("start_user_unit", service.unit, data), (_native_start_unit(_user_unit, service),)
        )
    return ClusterCommand(ROOT_USER, call("start_unit", service.unit, data), (_native_start_unit(_unit, service),))


def _stop(managed: _ManagedCluster, undo: str = "") -> ClusterCommand:
    service, data = managed.service, managed.data
    if service is None:
        stopping = call("stop_folder", managed.path, data)
        return ClusterCommand(managed.owner, stopping, (native_stop(data, managed.path),), undo)
    if service.debian:
        native = _pg_ctlcluster(service, "stop", "-m", "fast")
        return ClusterCommand(ROOT_USER, call("stop_debian", *_debian(service), data), (native,), undo)
    if service.user is not None:
        stopping = call("stop_user_unit", service.unit, data)
        return ClusterCommand(service.user, stopping, _native_stop_unit(_user_unit, service, data), undo)
    native_stop_unit = _native_stop_unit(_unit, service, data)
    return ClusterCommand(ROOT_USER, call("stop_unit", service.unit, data), native_stop_unit, undo)


def enable_at_boot(context: PlanContext) -> list[Change]:
    """Return the changes that start the new cluster at boot if the old cluster starts at boot.

    The list is empty if it is enabled already or if no service starts it.
    """
    service, old = context.service, find_service(context.cluster, context.old_facts)
    if service is None or service.enabled or old is None or not old.enabled:
        return []
    if service.debian:
        # between two Debian clusters, start.conf is copied with the configuration
        return [] if old.debian else [_enable_debian(service, context.channel.writer)]
    if service.user is not None:
        return _enable_user_unit(service, service.user)
    apply, revert = (
        ClusterCommand(ROOT_USER, command("systemctl", word, service.unit), ()) for word in ("enable", "disable")
    )
    return [Change(apply, revert)]


def _enable_debian(service: Service, owner: str) -> Change:
    folder = debian_folder(service)
    file = command(f"{folder}/start.conf")
    auto, manual = (
        ClusterCommand(owner, call("write_start_conf", folder, word), (f"echo {word} >{file}",)) for word in _START_CONF
    )
    return Change(auto, manual)


def _enable_user_unit(service: Service, user: str) -> list[Change]:
    # Without lingering, the units of a user start at that user's first login, not at boot (loginctl).
    linger = ClusterCommand(ROOT_USER, call("enable_linger", user), (command("loginctl", "enable-linger", user).text,))
    apply, revert = (
        ClusterCommand(user, call("run_user_systemctl", word, service.unit), (_user_unit(word, service),))
        for word in ("enable", "disable")
    )
    return [Change(linger, None), Change(apply, revert)]


def register_with_host(context: PlanContext) -> list[Change]:
    """Return the changes to Debian's configuration of the new cluster, so that it names the target.

    The list is empty if no Debian cluster is involved or if the configuration names the target already.
    """
    service, target = context.service, context.move.target
    if service is None or not service.debian:
        return []
    major_version, name = _debian(service)
    if config_file_outside(context.cluster) is None:
        included = named_config_file_on_new(context.cluster, target) or f"{target}/postgresql.conf"
        return [
            _include_data(
                debian_config_file(service), target, f"{major_version}-{name}", context.channel.writer, included
            )
        ]
    settings = debian_settings(target, context.cluster, service)
    if not settings:
        return []
    native = tuple(command("pg_conftool", major_version, name, "set", *each).text for each in settings.items())
    words = (word for each in settings.items() for word in each)
    return [
        Change(
            ClusterCommand(
                context.channel.writer, call("set_debian_settings", debian_config_file(service), *words), native
            ),
            None,
        )
    ]


def _include_data(path: str, target: str, name: str, owner: str, included: str) -> Change:
    file, saved = command(path), command(f"{path}{SAVED_SUFFIX}")
    lines = command(
        "printf",
        r"%s\n",
        f"hba_file = '{target}/pg_hba.conf'",
        f"ident_file = '{target}/pg_ident.conf'",
        f"include '{included}'",
        f"data_directory = '{target}'",
        f"external_pid_file = '/run/postgresql/{name}.pid'",
    )
    native = f"mv -- {file} {saved}", f"{lines} >{file}"
    return Change(
        ClusterCommand(owner, call("register_debian", path, target, name, included), native),
        ClusterCommand(owner, call("unregister_debian", path), (f"mv -- {saved} {file}",)),
    )


def config_file(context: PlanContext) -> str | None:
    """Return the configuration file of the new cluster if a start must name it, else None."""
    if context.service is not None and context.service.debian:
        return debian_config_file(context.service)
    return named_config_file_on_new(context.cluster, context.move.target)


def _debian(service: Service) -> tuple[str, str]:
    major_version, _, name = service.name.partition("/")
    return major_version, name


def _native_start_unit(typed: Callable[[str, Service], str], service: Service) -> str:
    """Return the commands that start a unit, and reset it first: systemd does not start one that failed too often."""
    return f"{typed('reset-failed', service)}; {typed('start', service)}"


def _native_stop_unit(typed: Callable[[str, Service], str], service: Service, data: str) -> tuple[str, ...]:
    """Return the commands that stop a unit with a fast shutdown, whatever signal the unit has for its stop."""
    stop = typed("stop", service)
    return f"{stop} --no-block", native_signal(data, "INT"), stop


def _pg_ctlcluster(service: Service, *words: str) -> str:
    return command("pg_ctlcluster", *_debian(service), *words).text


def _unit(word: str, service: Service) -> str:
    return command("systemctl", word, service.unit).text


def _user_unit(word: str, service: Service) -> str:
    return command("systemctl", "--user", word, service.unit).text
