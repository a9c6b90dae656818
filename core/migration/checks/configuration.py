"""Checks whether the old cluster's configuration fits the new server."""

from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from pathlib import PurePosixPath
from posixpath import join, normpath, relpath

from core.facts.catalog import Binaries, ClusterWide, Edited, HbaRule
from core.facts.cluster_configuration import ConfigurationFile, Mention
from core.facts.model import Cluster
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.binaries import collect_required_binaries, list_outside_paths
from core.migration.findings.catalogs import age_note, format_list
from core.migration.findings.certificates import is_certified
from core.migration.findings.edited import (
    changes_listening,
    display_value,
    list_settings_missing_at_old_start,
    list_settings_not_kept,
)
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, unknown, warning
from core.migration.findings.host_names import list_named_resources
from core.migration.findings.layout import configuration_not_copied, configuration_outside, named_config_file
from core.migration.findings.local_start import list_isolation_settings
from core.migration.findings.releases import version_numbers
from core.migration.findings.services import active_service, find_service, service_of_target
from core.migration.model.move import EditedSettings, Move
from core.servers.shell import for_hint, quoted

_SOON = timedelta(days=30)
_TOLD_SINCE = (9, 2)
"""The first major version whose server program prints settings without being started (-C)."""
_STRONGER = ("database", "user", "database user", "global")
"""The sources of settings of a role or a database."""
_NEEDED_TO_START = frozenset(
    {
        *("data_directory", "hba_file", "ident_file", "unix_socket_directories", "log_directory"),
        *("ssl_cert_file", "ssl_key_file", "ssl_ca_file", "ssl_crl_file", "ssl_crl_dir", "ssl_dh_params_file"),
    }
)
"""Settings with a path that a server needs for its start, or by which it would run another cluster."""
_MADE_ABSOLUTE = frozenset({"data_directory", "config_file", "hba_file", "ident_file"})
"""Settings that the server replaces by an absolute path, so that it no longer shows where each was set."""
_SET_BY_DEBIAN = ("data_directory", "external_pid_file")
"""Settings that pghaul changes if Debian's tools start the new cluster."""
_EVERYWHERE = ("*", "", "localhost", "0.0.0.0", "::", "127.0.0.1", "::1")  # noqa: S104  names of addresses, nothing is bound


@check(
    "settings",
    "Settings accepted by the new server",
    blocking=True,
    compares="settings of the old cluster, answers of the new server's binaries",
    page="config-setting",
    needs=(need.CLUSTER, need.SETTINGS, need.BINARIES),
)
def check_settings(
    _context: CheckContext, cluster: Cluster, _settings: Mapping[str, str], binaries: Binaries
) -> Finding:
    """Check that the new server's binaries accept every setting of the old cluster."""
    own = {f"{each.name}={each.value}" for each in cluster.wide.settings} if cluster.wide is not None else set()
    of_roles = {each.word for each in list_named_resources(cluster) if each.setting} - own
    apart = {*list_isolation_settings(cluster), *of_roles}
    if all(each in apart for each in collect_required_binaries(cluster).settings):
        return passed(
            "none",
            NOTHING,
            f"The old cluster has no setting that the new server's binaries could refuse.{age_note(cluster)}",
        )
    answers = {each: error for each, error in binaries.settings if each not in apart}
    refused = {each: error for each, error in answers.items() if error}
    if refused:
        return blocker(
            "; ".join(refused),
            "; ".join(refused.values()),
            "The new server's binaries refuse "
            f"{format_list([each.partition('=')[0] for each in refused])}. The new server would not "
            "start with it.",
            "Change or remove the setting for the new server, or install binaries that were built with what it needs.",
        )
    if not answers:
        return unknown(
            NOTHING, NOTHING, "The new server's binaries did not answer for any setting.", "Run the checks again."
        )
    return passed(
        f"{len(answers)} settings",
        "all accepted",
        f"The new server's binaries accept every setting.{age_note(cluster)}",
    )


@check(
    "setting-paths",
    "Paths and programs in settings",
    compares="paths and programs in the old cluster's settings, files of the new server",
    page="config-setting",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
    uses=(need.BINARIES,),
)
def check_setting_paths(context: CheckContext, cluster: Cluster, _wide: ClusterWide) -> Finding:
    """Check that the new server has every path outside the data directory and every program that a setting names."""
    named = list_outside_paths(cluster)
    old = format_list(list(named)) or "none"
    if not named:
        return passed(old, NOTHING, f"No setting names a path outside the data directory.{age_note(cluster)}")
    asked = need.BINARIES.value_or_finding(context, old)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths)
    missing = [path for path in named if answers.get(path)]
    if missing:
        return warning(
            format_list([f"{path} ({named[path]})" for path in missing]),
            f"missing: {format_list(missing)}",
            f"Settings name files, directories or programs that are missing on the new server: {format_list(missing)}.",
            "Create them there with the same owner and mode, or change the settings for the new server.",
        )
    silent = [path for path in named if path not in answers]
    if silent:
        return need.unanswered(old, silent)
    return passed(
        old, "all present", f"The new server has every path and program that a setting names.{age_note(cluster)}"
    )


@check(
    "named-things",
    "Dictionary files, PAM services and host names",
    compares="dictionaries, foreign tables on files, pg_hba.conf rules and settings of roles "
    "of the old cluster; files and names of the new server",
    page="textsearch-dictionaries",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
    uses=(need.BINARIES,),
)
def check_named_resources(context: CheckContext, cluster: Cluster, _wide: ClusterWide) -> Finding:
    """Check that the new server has the files, PAM services, host names and time zones that the cluster names."""
    named = list_named_resources(cluster)
    if not named:
        return passed("none", NOTHING, f"Neither the catalogs nor pg_hba.conf name any of these.{age_note(cluster)}")
    old = format_list([each.shown for each in named])
    asked = need.BINARIES.value_or_finding(context, old)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths) | dict(asked.settings)
    missing = [each for each in named if answers.get(each.word)]
    if missing:
        shown = format_list([f"{each.shown} ({each.by})" for each in missing])
        return warning(
            shown,
            format_list(list(dict.fromkeys(answers[each.word] for each in missing))),
            f"The new server lacks what the old cluster names: {shown}. What uses it fails there, "
            f"or clients are refused.{age_note(cluster)}",
            "On the new server, copy the file, create the PAM service, make the host name "
            "resolvable, or install the time zone or locale.",
        )
    silent = [each.shown for each in named if each.word not in answers]
    if silent:
        return need.unanswered(old, silent)
    return passed(
        old, "all present", f"The new server has everything that the catalogs and pg_hba.conf name.{age_note(cluster)}"
    )


@check(
    "listen-addresses",
    "Listen addresses",
    compares="listen_addresses of the old cluster, addresses of the new server",
    page="runtime-config-connection",
    needs=(need.LISTEN_ADDRESSES,),
    uses=(need.NEW_SYSTEM,),
)
def check_listen_addresses(context: CheckContext, setting: str) -> Finding:
    """Check that the new server has every address in listen_addresses."""
    named = [word.strip() for word in setting.split(",") if word.strip() not in _EVERYWHERE]
    there = ", ".join(context.new.addresses) or NOTHING
    names = {context.new.system.hostname} if context.new.system is not None else set()
    foreign = [word for word in named if word not in context.new.addresses and word not in names]
    if foreign:
        return warning(
            f"listen_addresses = '{setting}'",
            there,
            f"The new server does not have these addresses: {format_list(foreign)}. A server that cannot "
            "bind any of its addresses does not start.",
            "Change listen_addresses for the new server, or move the address to it together with the cluster.",
        )
    return passed(
        f"listen_addresses = '{setting}'",
        there,
        "The new server can listen on every address that listen_addresses names.",
    )


@check(
    "access-rules",
    "Client authentication (pg_hba.conf)",
    compares="pg_hba.conf and pg_ident.conf of the old cluster, addresses of both servers",
    page="auth-pg-hba-conf",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
)
def check_access_rules(context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check that every line of the access files can be read and that none depends on the old server's network."""
    if not wide.hba:
        return unknown(
            f"PostgreSQL {cluster.series}",
            NOTHING,
            f"It is not known how PostgreSQL {cluster.series} reads pg_hba.conf.",
            f"Look in {cluster.hba_file or 'pg_hba.conf'} for addresses of the old server.",
        )
    methods = sorted({rule.method for rule in wide.hba if not rule.error})
    old = f"{len(wide.hba)} rules: {format_list(methods)}"
    places = {rule: rule.place(cluster.hba_file) for rule in wide.hba}
    # A server does not start with an unreadable line in pg_hba.conf. With one in pg_ident.conf it starts, and only has
    # no user name maps (postmaster.c, PostmasterMain). The check `start-files` blocks the first case.
    broken = [rule for rule in wide.hba if rule.error]
    if broken:
        return warning(
            format_list([f"{places[rule]}: {rule.error}" for rule in broken]),
            NOTHING,
            f"PostgreSQL cannot read {format_list([places[rule] for rule in broken])}. It is not known which clients "
            "these lines would allow.",
            "Correct the lines on the old server. List them with `select * from pg_hba_file_rules "
            "where error is not null`.",
        )
    if wide.broken_maps:
        top = cluster.settings.get("ident_file")
        lines = [each.place(top) for each in wide.broken_maps]
        return warning(
            format_list([f"{each.place(top)}: {each.error}" for each in wide.broken_maps]),
            NOTHING,
            f"PostgreSQL cannot read {format_list(lines)}. After a start it would use no user name map at all, and "
            "refuse clients that need one.",
            "Correct the lines on the old server. List them with `select * from pg_ident_file_mappings "
            "where error is not null`.",
        )
    own = [rule for rule in wide.hba if _is_about_server(rule, context.old.addresses)]
    old_networks, new_networks = context.old.networks, context.new.networks
    # `samenet` means the networks that the server itself is in (PostgreSQL's manual, The pg_hba.conf File)
    are_known = old_networks is not None and new_networks is not None
    networks = (
        []
        if are_known and set(old_networks or ()) <= set(new_networks or ())
        else [rule for rule in wide.hba if rule.address == "samenet"]
    )
    if own or networks:
        found = [rule for rule in wide.hba if rule in own or rule in networks]
        ours = format_list([f"{places[rule]} (`{rule.address}`)" for rule in found])
        shown = format_list(
            [f"{places[rule]}: {rule.kind} {rule.databases} {rule.users} {rule.address}" for rule in found]
        )
        if not networks:
            message = (
                "These access rules refer to the server's own addresses, which are different on the new server: "
                f"{ours}.{age_note(cluster)}"
            )
        elif not own and are_known:
            message = (
                "These access rules refer to the server's own networks, which are different on the new server: "
                f"{ours}.{age_note(cluster)}"
            )
        elif not own:
            message = (
                "These access rules refer to the server's own networks, which may be different on the new server: "
                f"{ours}.{age_note(cluster)}"
            )
        else:
            message = (
                "These access rules refer to the server's own addresses, which are different on the new server, or to "
                f"its networks, which may be different: {ours}.{age_note(cluster)}"
            )
        return warning(
            f"{shown}; {format_list([*(old_networks or ())])}" if networks and are_known else shown,
            format_list([*(new_networks or ())])
            if networks and are_known
            else ", ".join(context.new.addresses) or NOTHING,
            message,
            "Check that all clients can still connect.",
        )
    return passed(
        old,
        NOTHING,
        f"Every rule of pg_hba.conf can be read, and none depends on the old server's own addresses."
        f"{age_note(cluster)}",
    )


def start_errors(cluster: Cluster) -> list[str]:
    """Return what prevents a start with the configuration files as they are on disk now, each with file and line.

    The list is empty if that is not known, too.
    """
    # rules that were read while the cluster ran say nothing about the file of the stopped cluster
    rules = (cluster.wide.hba or ()) if cluster.wide is not None and cluster.wide.taken_at is None else ()
    broken = [f"{rule.place(cluster.hba_file)}: {rule.error}" for rule in rules if rule.error]
    return [*(cluster.start_complaints or ()), *broken]


@check(
    "start-files",
    "Validity of the configuration files",
    blocking=True,
    compares="configuration files of the old cluster, as its server program reads them",
    page="config-setting",
    needs=(need.CLUSTER,),
    uses=(need.START_COMPLAINTS,),
)
def check_start_files(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that a server would start with the configuration files as they are on disk now."""
    if version_numbers(cluster.series) < _TOLD_SINCE:
        return warning(
            f"PostgreSQL {cluster.series}",
            NOTHING,
            f"PostgreSQL {cluster.series} cannot tell whether a server would start with the "
            "configuration files as they are now.",
            f"Let the old server read its files again (`{_reload(context, cluster)}`), and look for errors in its log.",
        )
    complaints = need.START_COMPLAINTS.value_or_finding(context)
    if isinstance(complaints, Finding):
        return complaints
    errors = start_errors(cluster)
    if errors:
        return blocker(
            format_list(errors),
            NOTHING,
            f"No server would start with the old cluster's files as they are now: {format_list(errors)}. "
            "The running server still uses what it has read before. Once it is stopped, neither it "
            "nor the new server can be started.",
            f"Correct the files on the old server, reload them (`{_reload(context, cluster)}`), and read the facts "
            "again.",
        )
    if options := cluster.lost_start_files.get("postmaster.opts"):
        return warning(
            options,
            NOTHING,
            f"The options of the last start of the old cluster cannot be read from {options}. They may name other "
            "configuration files. The facts are from the files that a start without options reads.",
            "Start the old cluster with its options, which writes the file again. Then read the facts again: "
            f"`pghaul facts {quoted(context.old.server)}`.",
        )
    if cluster.lost_start_files:
        lost = format_list([f"{name} = {path}" for name, path in cluster.lost_start_files.items()])
        return warning(
            lost,
            NOTHING,
            f"The last start of the old cluster named {lost} (postmaster.opts). The owner of the cluster cannot read "
            "that now. The facts are from the files that a start without it reads.",
            "Put it back, or start the old cluster with the files that it is to use. Then read the facts again: "
            f"`pghaul facts {quoted(context.old.server)}`.",
        )
    looked = "the configuration files"
    if cluster.running and cluster.wide is not None and cluster.wide.hba is not None:
        looked += " and pg_hba.conf"
    return passed(looked, NOTHING, f"PostgreSQL would start with {looked} as they are now.{age_note(cluster)}")


def _is_about_server(rule: HbaRule, addresses: tuple[str, ...]) -> bool:
    """Return whether a rule's address is one of the server's own, or stands for all of them."""
    if rule.address == "samehost":
        return True
    network = rule.network
    return network is not None and network.num_addresses == 1 and any(ip_address(each) in network for each in addresses)


@check(
    "configuration-elsewhere",
    "Configuration outside the data directory",
    compares="paths of the old cluster's configuration files",
    page="runtime-config-file-locations",
    needs=(need.CLUSTER, need.CONFIG_FILE),
)
def check_files_elsewhere(_context: CheckContext, cluster: Cluster, _file: str) -> Finding:
    """Check that the configuration is in the data directory and so is copied with it."""
    files = configuration_outside(cluster)
    if not files:
        return passed("none", NOTHING, "The configuration is in the data directory and is copied with it.")
    left = configuration_not_copied(cluster)
    if left:
        return warning(
            format_list(list(files)),
            NOTHING,
            f"{format_list(list(left))} of the old cluster's configuration is in a system directory. "
            "pghaul does not write there, and the new server does not start without it.",
            "Put the new server's own version there before the move, readable for the database user. "
            "The plan looks for it before the old cluster is stopped.",
        )
    return warning(
        format_list(list(files)),
        NOTHING,
        "Configuration files are outside the data directory. The plan copies them, and moves "
        "aside what the new server has in their place.",
        "Look in them for paths, memory settings and addresses of the old server.",
    )


@check(
    "moved-paths",
    "Configured paths inside the data directory",
    blocking=True,
    compares="values in the old cluster's configuration files, path of the target",
    page="runtime-config-file-locations",
    needs=(need.CLUSTER,),
    uses=(need.CONFIGURATION_FILES, need.NEW_SYSTEM),
)
def check_moved_paths(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the configuration names no path inside the old data directory if the target has another path."""
    target = context.move.target
    data = cluster.data_directory
    if normpath(target) == normpath(data):
        return passed(data, target, "The data directory has the same path on both servers.")
    files = need.CONFIGURATION_FILES.value_or_finding(context, data)
    if isinstance(files, Finding):
        return files
    service = service_of_target(target, cluster, context.new)
    left: tuple[str, ...] = _SET_BY_DEBIAN if service is not None and service.debian else ()
    if service is None and named_config_file(cluster) is not None:
        left = ("data_directory",)  # pg_ctl gets it as an option
    named = {name: where for name, where in _settings_naming_data_directory(context.move, cluster) if name not in left}
    included = [
        f"{each.by} includes {each.path}"
        for each in files
        if each.by is not None and each.absolute and _is_inside(each.path, data)
    ]
    needed = [f"{name} ({where})" for name, where in named.items() if name in _NEEDED_TO_START] + included
    if needed:
        return blocker(
            format_list(needed),
            target,
            f"The configuration names paths inside the old data directory {data}, but the target is "
            f"{target}: {format_list(needed)}. The new server would not start, or would read the files "
            "of another cluster.",
            "Remove the lines for hba_file and ident_file if the files are in the data directory. "
            "Write the other paths relative to it (log_directory = 'log'), or move to the same path. "
            f"Then read the facts again: `pghaul facts {quoted(context.old.server)}`.",
        )
    if strayed := _relative_names_of_other_files(cluster, target):
        by, named_file, would = strayed[0]
        return blocker(
            format_list([path for _, path, _ in strayed]),
            target,
            f"{by} names {named_file} by a relative path. The new server would look for it in {would}, where the move "
            "does not put it.",
            "Write the whole path instead, or move the file into the data directory. Then read the facts again: "
            f"`pghaul facts {quoted(context.old.server)}`.",
        )
    if named:
        shown = format_list([f"{name} ({where})" for name, where in named.items()])
        return warning(
            shown,
            target,
            f"These settings name the old data directory {data}, but the target is {target}: {shown}.",
            "Find out what each setting does on the new server. Use values that work at either path, "
            "such as %p in archive_command.",
        )
    return passed("none", NOTHING, f"The configuration names no path inside {data}.{age_note(cluster)}")


def _relative_names_of_other_files(cluster: Cluster, target: str) -> list[tuple[str, str, str]]:
    """Return the files outside of the data directory that a file inside names by a path that is relative to its own.

    Each is a tuple of the naming file, the named file, and the path at which the new server would look for it.
    """
    data, found = cluster.data_directory, []
    for each in cluster.configuration_files or ():
        if each.by is None or each.absolute or each.state == "missing":
            continue
        if not _is_inside(each.by, data) or _is_inside(each.path, data):
            continue
        would = normpath(join(target, relpath(each.path, data)))
        if would != each.path:
            found.append((each.by, each.path, would))
    return found


def _settings_naming_data_directory(move: Move, cluster: Cluster) -> list[tuple[str, str]]:
    """Return the settings whose value names the data directory, each with the place where it is set.

    Of a running server, the values in force count. For settings that were edited and not loaded, the value counts that
    the new server will have.
    """
    found = [
        (mention.setting, f"{each.path} line {mention.line}")
        for each in cluster.configuration_files or ()
        for mention in each.mentions
        if _is_in_force(cluster, each, mention)
    ]
    without_file = [each for each in (cluster.wide.settings if cluster.wide is not None else ()) if each.file is None]
    found += [(each.name, each.source) for each in without_file if _is_inside(each.value or "", cluster.data_directory)]
    for each in cluster.edited or ():
        keeps_in_force = move.edited is EditedSettings.IN_FORCE
        if _is_inside((each.in_force if keeps_in_force else each.in_file) or "", cluster.data_directory):
            found.append((each.name, "in force, which was chosen" if keeps_in_force else "edited, not in force"))
    return found


def _is_in_force(cluster: Cluster, file: ConfigurationFile, mention: Mention) -> bool:
    """Return whether no other line overrides this one, as far as the server tells."""
    if cluster.wide is None or mention.setting in _MADE_ABSOLUTE:
        return True
    place = normpath(file.path), mention.line, mention.setting
    return place in {(normpath(each.file), each.line, each.name.lower()) for each in cluster.wide.settings if each.file}


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith("/") and PurePosixPath(normpath(path)).is_relative_to(folder)


@check(
    "certificate",
    "Server certificate",
    compares="certificate of the old cluster, names of the new server",
    page="ssl-tcp",
    needs=(need.CLUSTER, need.CLUSTER_WIDE),
    uses=(need.NEW_SYSTEM,),
)
def check_certificate(context: CheckContext, cluster: Cluster, wide: ClusterWide) -> Finding:
    """Check that the server's certificate does not expire soon and is valid for the new server."""
    certificate = wide.certificate
    if certificate is None:
        state = cluster.settings.get("ssl")
        if state in (None, "off"):
            return passed(
                f"ssl {state or 'not in this major version'}", NOTHING, "The old cluster does not use a certificate."
            )
        return unknown(
            f"ssl {state}",
            NOTHING,
            "The server's certificate could not be read: openssl is missing on the old server, or "
            "may not read the file.",
            "Look with `openssl x509 -noout -enddate -ext subjectAltName -in server.crt`.",
        )
    names = format_list([*certificate.names, *certificate.addresses]) or "no name"
    shown = f"{certificate.file}: for {names}, until {certificate.not_after:%Y-%m-%d}"
    if certificate.not_after - context.old.taken_at < _SOON:
        return warning(
            shown,
            NOTHING,
            f"The server's certificate expires on {certificate.not_after:%Y-%m-%d}.{age_note(cluster)}",
            "Renew the certificate.",
        )
    host = context.new.system.hostname if context.new.system is not None else None
    if any(is_certified(certificate, each) for each in ([host] if host else []) + list(context.new.addresses)):
        return passed(shown, host or NOTHING, "The server's certificate is valid, also for the new server.")
    return warning(
        shown,
        f"{host or NOTHING}, {', '.join(context.new.addresses)}",
        "The server's certificate names neither the host name nor an address of the new server. "
        "Clients with sslmode=verify-full refuse to connect, unless the name moves with the "
        "cluster.",
        "Have a certificate made for the new server, or let the old name point to the new server.",
    )


@check(
    "pending-settings",
    "Edited settings that are not in force",
    blocking=True,
    compares="settings of the old cluster, in force and in its files",
    page="view-pg-settings",
    needs=(need.CLUSTER,),
    uses=(need.CLUSTER_WIDE, need.OLD_SYSTEM),
)
def check_pending_settings(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that every edited setting is in force, or that the operator has chosen which values apply."""
    chosen = context.move.edited
    if cluster.edited is None:
        if chosen is EditedSettings.IN_FORCE or (chosen is not None and cluster.running):
            return _choice_not_possible(context, cluster)
        return _pending_restart(context, cluster)
    if not cluster.edited:
        return passed(
            "none",
            NOTHING,
            "In the running cluster, every built-in setting has the value of the configuration files"
            f"{_unread_settings(cluster)}. Settings of extensions are not compared.{age_note(cluster)}",
        )
    shown = format_list([_describe_edit(each) for each in cluster.edited])
    summary = f"These settings are edited but not in force: {shown}"
    in_force, of_files = (
        for_hint("pghaul", "move", "edited", context.move.name, each.value) for each in EditedSettings
    )
    how_to_apply = (
        f"Undo the edits, or bring them into force on the old server (`{_reload(context, cluster)}`; some need a "
        "restart)."
    )
    hint = (
        f"{how_to_apply} Or choose which values both servers will have: those in force "
        f"(`{in_force}`), or those in the files (`{of_files}`)."
    )
    moved = [each.name for each in cluster.edited if changes_listening(each)]
    if chosen is EditedSettings.IN_FORCE:
        return _values_in_force_chosen(context, cluster, shown, summary, how_to_apply)
    if chosen is EditedSettings.FILE:
        where = ", where clients find it" if moved else ""
        return passed(
            shown,
            NOTHING,
            f"{summary}. As chosen, the new server will have the values in the files{where}. So will "
            f"the old server after a rollback.{age_note(cluster)}",
        )
    if moved:
        return blocker(
            shown,
            NOTHING,
            f"{summary}. With {format_list(moved)} from the files the new server would listen at another "
            "place than the old one. Clients would not find it.",
            hint,
        )
    return warning(
        shown, NOTHING, f"{summary}. The first start of the new server brings the values in the files into force.", hint
    )


def _reload(context: CheckContext, cluster: Cluster) -> str:
    """Return the command by which the old server reads its files again, as its host does it."""
    service = find_service(cluster, context.old)
    if service is not None and service.debian:
        return for_hint("pg_ctlcluster", *service.name.split("/", 1), "reload")
    return for_hint("pg_ctl", "reload", "-D", cluster.data_directory)


def _values_in_force_chosen(
    context: CheckContext, cluster: Cluster, shown: str, summary: str, how_to_apply: str
) -> Finding:
    """Return the finding if the operator has chosen the values in force.

    Args:
        context: the move and the facts of both servers.
        cluster: the old cluster.
        shown: the settings with both values.
        summary: the sentence that names the settings, without a full stop.
        how_to_apply: the hint on how the edits can be applied or reverted.
    """
    not_kept = list(list_settings_not_kept(cluster))
    if not_kept:
        return blocker(
            shown,
            NOTHING,
            f"{summary}. The values in force were chosen, but pghaul cannot set {format_list(not_kept)}.",
            how_to_apply,
        )
    summary += ". As chosen, postgresql.auto.conf of the new server will have the values in force"
    service, lost = active_service(cluster, context.old), list_settings_missing_at_old_start(context.move, cluster)
    if service is None and lost:
        return warning(
            shown,
            NOTHING,
            f"{summary}. A rollback starts the old server with these values as options. Only "
            f"{format_list(list(lost))} would have the value in the file then: pg_ctl cannot read a "
            'value with one of " $ ` \\ back from postmaster.opts.',
            "Undo the edits if a rollback must bring the old server back as it runs now.",
        )
    if service is None:
        rollback = "A rollback starts the old server with these values as options"
        return passed(shown, NOTHING, f"{summary}. {rollback}.{age_note(cluster)}")
    return warning(
        shown,
        NOTHING,
        f"{summary}. After a rollback, {service.unit} would start the old server with the values in its files.",
        "Undo the edits if a rollback must bring the old server back as it runs now.",
    )


def _choice_not_possible(context: CheckContext, cluster: Cluster) -> Finding:
    why = "the old server is not running" if not cluster.running else "its settings were not compared with its files"
    return warning(
        NOTHING,
        NOTHING,
        "It is not known which settings of the old server are edited but not in force, so the "
        f"chosen values cannot be applied ({why}).",
        "Start the old server, or find out why its files could not be read, and run the checks "
        "again. Or withdraw the choice: "
        f"`{for_hint('pghaul', 'move', 'edited', context.move.name, '--none')}`.",
    )


def _unread_settings(cluster: Cluster) -> str:
    """Return a remark on settings that the querying session cannot see in the files."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    names = [each.name for each in settings if each.source in _STRONGER]
    return (
        (f" (as far as pghaul's session can tell: a role or a database sets {format_list(names)} for it)")
        if names
        else ""
    )


def _describe_edit(edited: Edited) -> str:
    if edited.in_file is None:
        return f"{edited.name} (its values may be secret)"
    in_force, in_file = (display_value(each or "", edited.unit) for each in (edited.in_force, edited.in_file))
    return f"{edited.name} is '{in_force}' in force and '{in_file}' in the file"


def _pending_restart(context: CheckContext, cluster: Cluster) -> Finding:
    """Return the finding from pg_settings alone: changed settings that wait for a restart."""
    wide = need.CLUSTER_WIDE.value_or_finding(context)
    if isinstance(wide, Finding):
        # it is not known, but that alone is no reason to prevent a move
        return warning(wide.old, wide.new, wide.message, wide.hint)
    if not wide.pending:
        return passed("none", NOTHING, f"No changed setting waits for a restart.{age_note(cluster)}")
    return warning(
        format_list(list(wide.pending)),
        NOTHING,
        "These settings are changed in the files but not yet in force: "
        f"{format_list(list(wide.pending))}. The first start of the new server brings them into "
        "force.",
        "Find out whether the changes are intended. Try them with a restart of the old server before the move.",
    )


CHECKS: tuple[Check, ...] = (
    check_start_files,
    check_settings,
    check_setting_paths,
    check_named_resources,
    check_listen_addresses,
    check_access_rules,
    check_files_elsewhere,
    check_moved_paths,
    check_certificate,
    check_pending_settings,
)
