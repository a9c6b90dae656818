"""How either end's cluster is started and stopped by what its host has for that, and new made known to its host.

Calls of `service.sh`, one for each layout: a cluster of Debian's, a unit of the host or of a user, pg_ctl alone. What
stands beside each call as `native` is what a person would type for it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from core.facts.services import Service
from core.migration.findings.edited import given_back
from core.migration.findings.layout import config_file_outside
from core.migration.findings.services import (
    debian_config_file,
    debian_folder,
    debian_settings,
    rules_beside,
    service_at_work,
    service_of,
)
from core.migration.findings.start_options import as_typed
from core.migration.model.plan import ROOT_USER, undone
from core.migration.plan.cluster_control import ClusterCommand, as_options, native_start, native_stop
from core.migration.plan.context import PlanContext
from core.servers.shell import call, command

KEPT = ".before-pghaul"
"""What the name of new's own postgresql.conf ends in, which Debian's tools do not read by that name."""
_START_CONF = ("auto", "manual")


@dataclass(frozen=True, slots=True)
class Change:
    """Something that new's host is told, and how it is taken back; None: what else the way back does takes it back."""

    made: ClusterCommand
    undone: ClusterCommand | None


@dataclass(frozen=True, slots=True)
class _Managed:
    """A cluster and what has it in hand; `service` None: pg_ctl alone, with the `options` that the old server has.

    `kept`: settings that pg_ctl gives it besides, where its files say otherwise, or nothing.
    """

    service: Service | None
    data: str
    path: str
    owner: str
    config_file: str | None
    options: tuple[str, ...]
    kept: tuple[str, ...] = ()


def start_old(context: PlanContext) -> ClusterCommand:
    """Start old as it was started; nothing where it runs."""
    return _start(_old(context))


def stop_old(context: PlanContext) -> ClusterCommand:
    """Stop old with a fast shutdown: clients are disconnected, a checkpoint is written, nothing needs recovery.

    Where it is stopped already, nothing is done.
    """
    old = _old(context)
    start = _start(old)
    return _stop(old, undone(start.user, "old", *start.native))


def start_new(context: PlanContext) -> ClusterCommand:
    """Start new for its clients, as its host always will."""
    return _start(_new(context))


def stop_new(context: PlanContext) -> ClusterCommand:
    """Stop new, which is open to clients, by what started it: by it alone nothing starts it anew."""
    return _stop(_new(context))


def _old(context: PlanContext) -> _Managed:
    cluster, config = context.cluster, config_file_outside(context.cluster)
    service = service_at_work(cluster, context.old_facts)
    kept = *rules_beside(cluster), *given_back(context.move, cluster)
    return _Managed(service, cluster.data_directory, context.old_path, context.owner, config, as_typed(cluster), kept)


def _new(context: PlanContext) -> _Managed:
    options, kept = as_typed(context.cluster), tuple(rules_beside(context.cluster))
    data, owner = context.move.target, context.channel.writer
    return _Managed(context.service, data, context.new_path, owner, config_file(context), options, kept)


def _start(managed: _Managed) -> ClusterCommand:
    service, data = managed.service, managed.data
    if service is None:
        kept = as_options(managed.kept)
        where = managed.path, data, managed.config_file or "-", *([kept] if kept else [])
        native = native_start(data, managed.path, managed.config_file, *managed.options, *managed.kept)
        return ClusterCommand(managed.owner, call("start_folder", *where), (native,))
    if service.debian:
        return ClusterCommand(
            ROOT_USER, call("start_debian", *_debian(service), data), (_pg_ctlcluster(service, "start"),)
        )
    if service.user is not None:
        return ClusterCommand(
            service.user, call("start_user_unit", service.unit, data), (_started(_user_unit, service),)
        )
    return ClusterCommand(ROOT_USER, call("start_unit", service.unit, data), (_started(_unit, service),))


def _stop(managed: _Managed, undo: str = "") -> ClusterCommand:
    service, data = managed.service, managed.data
    if service is None:
        stopping = call("stop_folder", managed.path, data)
        return ClusterCommand(managed.owner, stopping, (native_stop(data, managed.path),), undo)
    if service.debian:
        native = _pg_ctlcluster(service, "stop", "-m", "fast")
        return ClusterCommand(ROOT_USER, call("stop_debian", *_debian(service), data), (native,), undo)
    if service.user is not None:
        stopping = call("stop_user_unit", service.unit, data)
        return ClusterCommand(service.user, stopping, (_user_unit("stop", service),), undo)
    return ClusterCommand(ROOT_USER, call("stop_unit", service.unit, data), (_unit("stop", service),), undo)


def enable(context: PlanContext) -> list[Change]:
    """New comes up with its host where old did; nothing where it does already, or has nothing that could."""
    service, old = context.service, service_of(context.cluster, context.old_facts)
    if service is None or service.enabled or old is None or not old.enabled:
        return []
    if service.debian:
        # of a cluster of Debian's start.conf comes along with its configuration
        return [] if old.debian else [_enable_debian(service, context.channel.writer)]
    if service.user is not None:
        return _enable_user_unit(service, service.user)
    made, back = (
        ClusterCommand(ROOT_USER, command("systemctl", word, service.unit), ()) for word in ("enable", "disable")
    )
    return [Change(made, back)]


def _enable_debian(service: Service, owner: str) -> Change:
    folder = debian_folder(service)
    file = command(f"{folder}/start.conf")
    auto, manual = (
        ClusterCommand(owner, call("write_start_conf", folder, word), (f"echo {word} >{file}",)) for word in _START_CONF
    )
    return Change(auto, manual)


def _enable_user_unit(service: Service, user: str) -> list[Change]:
    linger = ClusterCommand(ROOT_USER, call("enable_linger", user), (command("loginctl", "enable-linger", user).text,))
    made, back = (
        ClusterCommand(user, call("run_user_systemctl", word, service.unit), (_user_unit(word, service),))
        for word in ("enable", "disable")
    )
    return [Change(linger, None), Change(made, back)]


def register(context: PlanContext) -> list[Change]:
    """Debian's configuration of new leads to the target and to what came along; nothing where it does so anyway."""
    service, target = context.service, context.move.target
    if service is None or not service.debian:
        return []
    major_version, name = _debian(service)
    if config_file_outside(context.cluster) is None:
        return [_include_data(debian_config_file(service), target, f"{major_version}-{name}", context.channel.writer)]
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


def _include_data(path: str, target: str, name: str, owner: str) -> Change:
    file, kept = command(path), command(f"{path}{KEPT}")
    include = command("echo", f"include '{target}/postgresql.conf'")
    native = f"mv -- {file} {kept}", f"{include} >{file}"
    return Change(
        ClusterCommand(owner, call("register_debian", path, target, name), native),
        ClusterCommand(owner, call("unregister_debian", path), (f"mv -- {kept} {file}",)),
    )


def config_file(context: PlanContext) -> str | None:
    """New's configuration file where it lies outside the data directory: its server does not find it by itself."""
    if context.service is not None and context.service.debian:
        return debian_config_file(context.service)
    return config_file_outside(context.cluster)


def _debian(service: Service) -> tuple[str, str]:
    major_version, _, name = service.name.partition("/")
    return major_version, name


def _started(typed: Callable[[str, Service], str], service: Service) -> str:
    """Systemd starts no unit that refused too often while the fence stood, but where it is reset."""
    return f"{typed('reset-failed', service)}; {typed('start', service)}"


def _pg_ctlcluster(service: Service, *words: str) -> str:
    return command("pg_ctlcluster", *_debian(service), *words).text


def _unit(word: str, service: Service) -> str:
    return command("systemctl", word, service.unit).text


def _user_unit(word: str, service: Service) -> str:
    return command("systemctl", "--user", word, service.unit).text
