"""The options on the command line of the old server: whether what starts the new one gives them too.

Where pg_ctl starts a server, pghaul gives it the options that it ran with. A unit and pg_ctlcluster give their own.
What an environment variable gave the old server nothing gives the new one.
"""

import re

from core.facts.catalog import Edited
from core.facts.model import Cluster
from core.facts.services import Service
from core.facts.start_files import SECTION as START_FILES
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.catalogs import format_list
from core.migration.findings.edited import SOCKETS
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    no_cluster_finding,
    passed,
    unknown,
    warning,
)
from core.migration.findings.layout import own_configuration_folder
from core.migration.findings.releases import version_numbers
from core.migration.findings.services import active_service, debian_folder, service_of_target
from core.migration.findings.start_options import OF_THE_LAYOUT, command_line_settings, environment_settings

_TOLD_SINCE = (9, 2)
"""The first major version whose server program shows the values in the files (-C)."""
_WORDS = {"on": "on", "true": "on", "yes": "on", "1": "on", "off": "off", "false": "off", "no": "off", "0": "off"}


def check_start_options(context: CheckContext) -> Finding:
    """Check that the service of the new cluster gives each command-line option of the old server."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    if not cluster.running:
        return passed(
            "stopped",
            NOTHING,
            "The old server is stopped, so it has no command-line options that the new server would need.",
        )
    new, options = service_of_target(context.move.target, cluster, context.new), _relevant_options(cluster)
    shown = format_list([_typed_option(each) for each in options or ()]) or ("not known" if options is None else "none")
    if new is None:
        variables = environment_settings(cluster)
        if of_variables := [each for each in options or () if each.name in variables]:
            return _finding_for_pg_ctl(context, of_variables)
        return passed(shown, "pg_ctl only", "pghaul starts the new server with the options of the old server.")
    if options is None and version_numbers(cluster.series) < _TOLD_SINCE:
        return warning(
            shown,
            new.unit,
            "The old server could not be asked for the options on its command line, and PostgreSQL "
            f"{cluster.series} does not tell them otherwise.",
            f"Look for options in its postmaster.opts, and check whether {new.unit} gives them.",
        )
    if options is None:
        why = explain_gap(context.old, START_FILES.name, of=context.move.cluster)
        return unknown(
            NOTHING,
            NOTHING,
            f"The options on the command line of the old server are not known ({why}).",
            f"Read the facts again: `pghaul facts {context.old.server}`.",
        )
    if not options:
        return passed(
            shown, NOTHING, "No command-line option of the old server sets anything that its files do not set."
        )
    if new.debian:
        return _finding_for_debian(context, cluster, shown, new)
    if new.options is None:
        return warning(
            shown,
            new.unit,
            f"The old server has options on its command line ({shown}). The options that "
            f"{new.unit} gives on the new server are not known: it starts a script, or takes "
            "options from a variable.",
            f"Check that it gives the options: `systemctl cat {new.unit}`. Or write the settings "
            "into the files of the old server, which are copied.",
        )
    return _finding_for_unit(context, cluster, options, new)


def _relevant_options(cluster: Cluster) -> list[Edited] | None:
    """Return the options that the files alone would not give, as far as the major version shows that."""
    found = cluster.options
    if found is None and version_numbers(cluster.series) < _TOLD_SINCE and cluster.wide is not None:
        return [Edited(each.name, each.value, None) for each in command_line_settings(cluster)]
    return None if found is None else [each for each in found if each.name not in OF_THE_LAYOUT]


def _finding_for_pg_ctl(context: CheckContext, options: list[Edited]) -> Finding:
    """Return the finding if pg_ctl starts the new cluster: pghaul passes options, but no environment variables."""
    shown = format_list([_typed_option(each) for each in options])
    would = format_list([f"{each.name}={each.in_file or NOTHING}" for each in options])
    return blocker(
        shown,
        NOTHING,
        f"The old server has {shown} from its environment, which is not copied. The new server would have {would}.",
        "Write the value that is in force into postgresql.conf of the old server. This changes "
        "nothing there, and the file is copied. Then read the facts again: `pghaul facts "
        f"{context.old.server}`.",
    )


def _finding_for_debian(context: CheckContext, cluster: Cluster, shown: str, new: Service) -> Finding:
    """Return the finding for a Debian cluster: pg_ctl.conf contains its options and is copied."""
    old_service = active_service(cluster, context.old)
    unit = cluster.process.unit if cluster.process is not None else None
    if (
        old_service is not None
        and old_service.debian
        and own_configuration_folder(cluster) is not None
        and unit in (None, old_service.unit)
    ):
        return passed(shown, new.unit, "The options are copied with pg_ctl.conf of the old cluster.")
    return warning(
        shown,
        new.unit,
        f"The old server has options on its command line ({shown}). pg_ctlcluster starts the "
        "new server only with the options in its pg_ctl.conf, which pghaul does not read.",
        "Write the settings into the files of the old server, which are copied. Or write the "
        f"options into {debian_folder(new)}/pg_ctl.conf on the new server.",
    )


def _finding_for_unit(context: CheckContext, cluster: Cluster, options: list[Edited], new: Service) -> Finding:
    """Return the finding from the command line of the unit: an option that is surely missing is a blocker."""
    given = dict(new.options or ())
    if any(
        each.name == "unix_socket_directory" for each in options
    ):  # before 9.3; facts contain -k by the later name of the setting
        given = {"unix_socket_directory" if name in SOCKETS else name: value for name, value in given.items()}
    old_service = active_service(cluster, context.old)
    equal_options = set(new.options or ()) & set(old_service.options or ()) if old_service is not None else set()
    lacking, doubtful = list[Edited](), list[Edited]()
    for each in options:
        if each.name in given and (
            (each.name, given[each.name]) in equal_options or _are_equal(each.in_force, given[each.name])
        ):
            continue
        certain = each.name not in given or _are_comparable(each.in_force, given[each.name])
        if certain and not _is_doubtful(cluster, each, old_service):
            lacking.append(each)
        else:
            doubtful.append(each)
    old = format_list([_typed_option(each) for each in options])
    displayed = [f"{name}={value}" for name, value in given.items() if value is not None and name not in OF_THE_LAYOUT]
    on_new = format_list(displayed) or "none"
    hint = (
        f"Add the option to ExecStart= of {new.unit}, or write the setting into the files of "
        "the old server, which are copied. Then read the facts of both servers again."
    )
    if lacking:
        description = format_list([_describe_option(each, given.get(each.name)) for each in lacking])
        return blocker(old, on_new, f"{description}. {new.unit} starts it without the option.", hint)
    if doubtful:
        description = format_list([_describe_option(each, given.get(each.name)) for each in doubtful])
        return warning(old, on_new, f"{description}, unless both values mean the same. Check {new.unit}.", hint)
    return passed(old, on_new, f"{new.unit} gives the new server the options of the old server.")


def _is_doubtful(cluster: Cluster, option: Edited, old_service: Service | None) -> bool:
    """Return whether the files alone may give the same value, or the option is Debian's directory for sockets."""
    if option.name in SOCKETS:
        return old_service is not None and old_service.debian
    return option.in_file is None and version_numbers(cluster.series) < _TOLD_SINCE


def _are_equal(in_force: str | None, given: str | None) -> bool:
    """Return whether both values are equal; if one may be secret, it is enough that both are given."""
    if in_force is None or given is None:
        return True
    return _canonical_value(in_force) == _canonical_value(given)


def _canonical_value(value: str) -> str:
    return _WORDS.get(value.strip().lower(), value.strip())


def _are_comparable(in_force: str | None, given: str | None) -> bool:
    """Return whether both are plain numbers or switches, so that other words mean another value."""
    values = [_canonical_value(each) for each in (in_force, given) if each is not None]
    return len(values) == 2 and all(each in ("on", "off") or re.fullmatch(r"-?[0-9]+", each) for each in values)


def _typed_option(option: Edited) -> str:
    return option.name if option.in_force is None else f"{option.name}={option.in_force}"


def _describe_option(option: Edited, given: str | None) -> str:
    """Return a description of the option with both values."""
    value_on_new = given if given is not None else option.in_file
    if option.in_force is None:
        return (
            f"{option.name} is set by the command line or the environment of the old server (its value may be secret)"
        )
    if value_on_new is None:
        return f"{option.name} is {option.in_force} from the command line or the environment of the old server"
    return (
        f"{option.name} is {option.in_force or NOTHING} from the command line or the "
        f"environment of the old server, and would be {value_on_new or NOTHING} on the new server"
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "start-options",
            "Command-line options of the server",
            True,
            "command line and environment of the old server, service of the new server",
            "app-postgres",
        ),
        check_start_options,
    ),
)
