"""Whether the configuration of old fits new: settings, paths, addresses, access rules, certificate, files elsewhere."""

from datetime import timedelta
from ipaddress import ip_address
from pathlib import PurePosixPath
from posixpath import normpath

from core.facts.catalog import ClusterWide, Edited, HbaRule
from core.facts.configuration_files import SECTION as CONFIGURATION_FILES
from core.facts.configuration_files import ConfigurationFile, Mention
from core.facts.model import Cluster
from core.facts.start_files import SECTION as START_FILES
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.binaries import outside, wanted
from core.migration.findings.catalogs import age, binaries, cluster_wide, listed
from core.migration.findings.edited import as_it_will_be, leads_away, not_given_back, not_kept
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    no_settings,
    passed,
    reason,
    unknown,
    warning,
)
from core.migration.findings.host_names import named_by_catalogs
from core.migration.findings.layout import config_file_outside, configuration_left, configuration_outside
from core.migration.findings.local_start import held
from core.migration.findings.releases import numbers
from core.migration.findings.services import service_at_work, service_for
from core.migration.model.checks import Status
from core.migration.model.move import EditedSettings, Move
from core.servers.shell import for_hint

_SOON = timedelta(days=30)
_TOLD_SINCE = (9, 2)
_STRONGER = ("database", "user", "database user", "global")
"""Sources by which a role or a database sets what a session has."""
"""The first series whose server program tells settings without being started (-C)."""
_NEEDED_TO_START = frozenset(
    {
        *("data_directory", "hba_file", "ident_file", "unix_socket_directories", "log_directory"),
        *("ssl_cert_file", "ssl_key_file", "ssl_ca_file", "ssl_crl_file", "ssl_crl_dir", "ssl_dh_params_file"),
    }
)
"""Settings that name a place without which a server does not start, or runs as another cluster."""
_MADE_ABSOLUTE = frozenset({"data_directory", "config_file", "hba_file", "ident_file"})
"""Settings that the server sets anew to a whole path, so that it no longer tells where each was set."""
_SET_BY_DEBIAN = ("data_directory", "external_pid_file")
"""Those that pghaul sets anew where Debian's tools start the new cluster."""
_EVERYWHERE = ("*", "", "localhost", "0.0.0.0", "::", "127.0.0.1", "::1")  # noqa: S104  names of addresses, nothing is bound


def settings(case: Case) -> Finding:
    """New's binaries take every setting of old, with its value."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if cluster.wide is None and not cluster.settings:
        return unknown(NOTHING, NOTHING, f"the settings of old are not known: {no_settings(case)}", "read them again")
    asked = binaries(case, f"{len(cluster.settings)} settings")
    if isinstance(asked, Finding):
        return asked
    own = {f"{each.name}={each.value}" for each in cluster.wide.settings} if cluster.wide is not None else set()
    of_roles = {each.word for each in named_by_catalogs(cluster) if each.setting} - own
    apart = {*held(cluster), *of_roles}
    if all(each in apart for each in wanted(cluster).settings):
        return passed("none", NOTHING, "old sets nothing that new's binaries could refuse" + age(cluster))
    answers = {each: said for each, said in asked.settings if each not in apart}
    refused = {each: said for each, said in answers.items() if said}
    if refused:
        return blocker(
            "; ".join(refused),
            "; ".join(refused.values()),
            f"new's binaries do not take {listed([each.partition('=')[0] for each in refused])}: "
            "the server would not start there",
            "change or remove the setting for new, or install binaries that were built with what it needs",
        )
    if not answers:
        return unknown(NOTHING, NOTHING, "new's binaries did not answer for any setting", "run the checks again")
    return passed(f"{len(answers)} settings", "all taken", "new's binaries take every setting" + age(cluster))


def setting_paths(case: Case) -> Finding:
    """Every path outside the data directory that a setting names, and every program, is there on new."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, _ = found
    named = outside(cluster)
    old = listed(list(named)) or "none"
    if not named:
        return passed(old, NOTHING, "no setting names a path outside the data directory" + age(cluster))
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths)
    missing = [path for path in named if answers.get(path)]
    if missing:
        return warning(
            listed([f"{path} ({named[path]})" for path in missing]),
            f"missing: {listed(missing)}",
            f"settings name what is not there on new: {listed(missing)}",
            "make it there, with the same owner and mode, or change the setting for new",
        )
    silent = [path for path in named if path not in answers]
    if silent:
        return unknown(old, listed(silent), f"whether new has {listed(silent)} is not known", "run the checks again")
    return passed(old, "all there", "every path and program that a setting names is there on new" + age(cluster))


def named_things(case: Case) -> Finding:
    """What catalogs and pg_hba.conf name of the host is there on new: files, PAM services, hosts, time zones."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, _ = found
    named = named_by_catalogs(cluster)
    if not named:
        return passed("none", NOTHING, "neither catalogs nor pg_hba.conf name anything of the host" + age(cluster))
    old = listed([each.shown for each in named])
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return asked
    answers = dict(asked.paths) | dict(asked.settings)
    missing = [each for each in named if answers.get(each.word)]
    if missing:
        shown = listed([f"{each.shown} ({each.by})" for each in missing])
        return warning(
            shown,
            listed(list(dict.fromkeys(answers[each.word] for each in missing))),
            f"the new server lacks what is named on the old one: {shown}. What uses it fails there, or clients are "
            f"refused{age(cluster)}",
            "copy the file, make the service, have the name resolved, or install the time zone or locale on the new "
            "server",
        )
    silent = [each.shown for each in named if each.word not in answers]
    if silent:
        return unknown(old, listed(silent), f"whether new has {listed(silent)} is not known", "run the checks again")
    return passed(old, "all there", "the new server has all that catalogs and pg_hba.conf name" + age(cluster))


def listen_addresses(case: Case) -> Finding:
    """listen_addresses names no address that new does not have."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    setting = as_it_will_be(case.move, cluster).settings.get("listen_addresses")
    if setting is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"listen_addresses is not known: {no_settings(case)}",
            "look in postgresql.conf",
        )
    named = [word.strip() for word in setting.split(",") if word.strip() not in _EVERYWHERE]
    there = ", ".join(case.new.addresses) or NOTHING
    names = {case.new.system.hostname} if case.new.system is not None else set()
    foreign = [word for word in named if word not in case.new.addresses and word not in names]
    if foreign:
        return warning(
            f"listen_addresses = '{setting}'",
            there,
            f"new has no {listed(foreign)}: a server that can bind none of its addresses does not start",
            "set listen_addresses for new, or move the address over with the cluster",
        )
    return passed(f"listen_addresses = '{setting}'", there, "new can listen on every address that is named")


def access_rules(case: Case) -> Finding:
    """Every line of pg_hba.conf can be read, and no rule of it is about old's own place in the network."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    if not wide.hba:
        return unknown(
            f"series {cluster.series}",
            NOTHING,
            f"PostgreSQL {cluster.series} does not tell how it reads pg_hba.conf",
            f"look through {cluster.hba_file or 'pg_hba.conf'} for old's addresses",
        )
    methods = sorted({rule.method for rule in wide.hba if not rule.error})
    old = f"{len(wide.hba)} rules: {listed(methods)}"
    errors = _broken_rules(wide)
    if errors:
        return warning(
            listed(errors),
            NOTHING,
            "pg_hba.conf has lines that cannot be read, so that nothing is known of who may come in by them",
            "mend the lines on the old server; see: select * from pg_hba_file_rules where error is not null",
        )
    own = [rule for rule in wide.hba if _is_about(rule, case.old.addresses)]
    if own:
        return warning(
            listed([f"line {rule.line}: {rule.kind} {rule.databases} {rule.users} {rule.address}" for rule in own]),
            ", ".join(case.new.addresses) or NOTHING,
            "rules name old's own addresses, or networks that are taken from the server's own" + age(cluster),
            "see that who came in by them still does on new",
        )
    return passed(old, NOTHING, "every rule can be read, and none names old's own addresses" + age(cluster))


def _broken_rules(wide: ClusterWide) -> list[str]:
    return [f"line {rule.line}: {rule.error}" for rule in wide.hba or () if rule.error]


def start_files(case: Case) -> Finding:
    """A server starts with the files of the old one as they stand on its disk; what runs has read them long ago."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if numbers(cluster.series) < _TOLD_SINCE:
        return warning(
            f"series {cluster.series}",
            NOTHING,
            f"PostgreSQL {cluster.series} does not tell whether a server would start with the files as they stand",
            "have the old server read its files again (pg_ctl reload), and look for errors in its log",
        )
    if cluster.start_complaints is None:
        why = reason(case.old, START_FILES.name, of=case.move.cluster)
        return unknown(
            NOTHING,
            NOTHING,
            f"whether a server would start with the files as they stand is not known: {why}",
            f"read the facts again: pghaul facts {case.old.server}",
        )
    file = cluster.hba_file or "pg_hba.conf"
    # what was read while it ran says nothing of the file that a stopped one has now
    rules = _broken_rules(cluster.wide) if cluster.wide is not None and cluster.wide.taken_at is None else []
    errors = [*cluster.start_complaints, *(f"{file} {each}" for each in rules)]
    if errors:
        return blocker(
            listed(errors),
            NOTHING,
            f"no server would start with the files of the old one as they stand: {listed(errors)}. The running server "
            "goes on with what it read before; once it is stopped, neither it nor the new one could be started",
            "mend the files on the old server, have it read them again (pg_ctl reload), and read the facts again",
        )
    looked = "the configuration files"
    if cluster.running and cluster.wide is not None and cluster.wide.hba is not None:
        looked += " and pg_hba.conf"
    return passed(looked, NOTHING, f"a server would start with {looked} as they stand" + age(cluster))


def _is_about(rule: HbaRule, addresses: tuple[str, ...]) -> bool:
    """Whether a rule's address is one of the server's own, or stands for its own networks."""
    if rule.address in ("samehost", "samenet"):
        return True
    network = rule.network
    return network is not None and network.num_addresses == 1 and any(ip_address(each) in network for each in addresses)


def files_elsewhere(case: Case) -> Finding:
    """The configuration lies in the data directory, where the copy takes it along."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if cluster.config_file is None:
        return unknown(
            NOTHING,
            NOTHING,
            f"where the configuration lies is not known: {no_settings(case)}",
            "look for it",
        )
    files = configuration_outside(cluster)
    if not files:
        return passed(
            cluster.config_file, NOTHING, "the configuration lies in the data directory and is copied with it"
        )
    left = configuration_left(cluster)
    if left:
        return warning(
            listed(list(files)),
            NOTHING,
            f"{listed(list(left))} of old's configuration lies in a folder of the system's: pghaul puts nothing there, "
            "and new does not start without it",
            "put new's own there beforehand, readable for the database user: the plan looks for it before the stop",
        )
    return warning(
        listed(list(files)),
        NOTHING,
        "configuration lies outside the data directory: the plan takes it along, and puts aside what new has there",
        "read it for paths, memory and addresses of old",
    )


def moved_paths(case: Case) -> Finding:
    """No file of the configuration names a place inside the old data directory where that has another path on new."""
    cluster, target = case.cluster, case.move.target
    if cluster is None:
        return no_cluster(case)
    data = cluster.data_directory
    if normpath(target) == normpath(data):
        return passed(data, target, "the data directory has the same path on both servers")
    if cluster.configuration_files is None:
        why = reason(case.old, CONFIGURATION_FILES.name, of=data)
        return unknown(
            data,
            target,
            f"whether the configuration names places inside the data directory is not known: {why}",
            f"read the facts again: pghaul facts {case.old.server}",
        )
    service = service_for(target, cluster, case.new)
    left: tuple[str, ...] = _SET_BY_DEBIAN if service is not None and service.debian else ()
    if service is None and config_file_outside(cluster) is not None:
        left = ("data_directory",)  # pg_ctl is given it
    named = {name: where for name, where in _naming(case.move, cluster) if name not in left}
    included = [
        f"{each.by} includes {each.path}"
        for each in cluster.configuration_files
        if each.by is not None and each.absolute and _inside(each.path, data)
    ]
    needed = [f"{name} ({where})" for name, where in named.items() if name in _NEEDED_TO_START] + included
    if needed:
        return blocker(
            listed(needed),
            target,
            f"the configuration names places inside the old data directory, {data}, and the new one is {target}: "
            f"{listed(needed)}. The new server would not start, or would read the files of another cluster",
            "remove the lines of hba_file and ident_file where the file lies in the data directory anyway, write the "
            "others relative to it (log_directory = 'log'), or move to the same path; then read the facts again: "
            f"pghaul facts {case.old.server}",
        )
    if named:
        shown = listed([f"{name} ({where})" for name, where in named.items()])
        return warning(
            shown,
            target,
            f"settings name the old data directory, {data}, and the new one is {target}: {shown}",
            "look what each does on the new server, and write what holds at either path, as %p in archive_command",
        )
    return passed(data, target, f"the configuration names no place inside {data}{age(cluster)}")


def _naming(move: Move, cluster: Cluster) -> list[tuple[str, str]]:
    """The settings whose value names the data directory, with where each is set; of a running server those in force.

    Of those that were edited and not loaded the value counts that the new server will have.
    """
    found = [
        (mention.setting, f"{each.path} line {mention.line}")
        for each in cluster.configuration_files or ()
        for mention in each.mentions
        if _in_force(cluster, each, mention)
    ]
    elsewhere = [each for each in (cluster.wide.settings if cluster.wide is not None else ()) if each.file is None]
    found += [(each.name, each.source) for each in elsewhere if _inside(each.value or "", cluster.data_directory)]
    for each in cluster.edited or ():
        kept = move.edited is EditedSettings.IN_FORCE
        if _inside((each.in_force if kept else each.in_file) or "", cluster.data_directory):
            found.append((each.name, "in force, as chosen to hold" if kept else "edited, and not in force"))
    return found


def _in_force(cluster: Cluster, file: ConfigurationFile, mention: Mention) -> bool:
    """Whether no other line goes before that one, where the server tells."""
    if cluster.wide is None or mention.setting in _MADE_ABSOLUTE:
        return True
    place = normpath(file.path), mention.line, mention.setting
    return place in {(normpath(each.file), each.line, each.name.lower()) for each in cluster.wide.settings if each.file}


def _inside(path: str, folder: str) -> bool:
    return path.startswith("/") and PurePosixPath(normpath(path)).is_relative_to(folder)


def certificate(case: Case) -> Finding:
    """The server's certificate is valid for a while, and for new."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
    cluster, wide = found
    one = wide.certificate
    if one is None:
        state = cluster.settings.get("ssl")
        if state in (None, "off"):
            return passed(f"ssl {state or 'not in this series'}", NOTHING, "the server uses no certificate")
        return unknown(
            f"ssl {state}",
            NOTHING,
            "the server's certificate could not be read: there is no openssl on old, or it may not read the file",
            "look with: openssl x509 -noout -enddate -ext subjectAltName -in server.crt",
        )
    shown = f"{one.file}: for {listed(list(one.names)) or 'nobody'}, until {one.not_after:%Y-%m-%d}"
    if one.not_after - case.old.taken_at < _SOON:
        return warning(
            shown, NOTHING, f"the server's certificate ends on {one.not_after:%Y-%m-%d}{age(cluster)}", "renew it"
        )
    host = case.new.system.hostname if case.new.system is not None else None
    fits = {name.lower() for name in one.names} & {
        *case.new.addresses,
        *({host.lower()} if host is not None else set()),
    }
    if fits or any(name.startswith("*.") for name in one.names):
        return passed(shown, host or NOTHING, "the server's certificate is valid, and for new too")
    return warning(
        shown,
        f"{host or NOTHING}, {', '.join(case.new.addresses)}",
        "the server's certificate names neither new's host name nor its addresses: clients with sslmode=verify-full "
        "turn away, unless the name moves with the cluster",
        "have one made for new, or let the old name lead to new",
    )


def pending_settings(case: Case) -> Finding:
    """No setting was edited in the files without being in force, or it was chosen which value is to hold."""
    cluster, chosen = case.cluster, case.move.edited
    if cluster is None:
        return no_cluster(case)
    if cluster.edited is None:
        if chosen is EditedSettings.IN_FORCE or (chosen is not None and cluster.running):
            return _not_carried_out(case, cluster)
        return _pending_restart(case)
    if not cluster.edited:
        return passed(
            "none",
            NOTHING,
            f"every setting of PostgreSQL itself that the files give is in force{_left_out(cluster)}; those of "
            f"extensions are not compared{age(cluster)}",
        )
    shown = listed([_shown(each) for each in cluster.edited])
    said = f"edited but not in force: {shown}"
    in_force, of_files = (for_hint("pghaul", "move", "edited", case.move.name, each.value) for each in EditedSettings)
    bring = "take the edits back, or bring them into force on the old server (pg_ctl reload; some need a restart)"
    hint = (
        f"{bring}; or choose which values both servers are to have: those in force ({in_force}), or those of the files "
        f"({of_files})"
    )
    moved = [each.name for each in cluster.edited if leads_away(each)]
    if chosen is EditedSettings.IN_FORCE:
        return _in_force_chosen(case, cluster, shown, said, bring)
    if chosen is EditedSettings.FILE:
        where = ". Clients find it there" if moved else ""
        return passed(
            shown,
            NOTHING,
            f"{said}. As chosen, the new server has what the files say{where}; so has the old one after a rollback"
            + age(cluster),
        )
    if moved:
        return blocker(
            shown,
            NOTHING,
            f"{said}. By {listed(moved)} in the files the new server would listen elsewhere than the old one does, and "
            "clients would not find it",
            hint,
        )
    return warning(shown, NOTHING, f"{said}; the first start brings what the files say", hint)


def _in_force_chosen(case: Case, cluster: Cluster, shown: str, said: str, bring: str) -> Finding:
    left = list(not_kept(cluster))
    if left:
        return blocker(
            shown,
            NOTHING,
            f"{said}. What is in force is to hold, as chosen, and pghaul cannot set {listed(left)}",
            bring,
        )
    said += ". As chosen, postgresql.auto.conf of the new server gets what is in force"
    service, lost = service_at_work(cluster, case.old), not_given_back(case.move, cluster)
    if service is None and lost:
        return warning(
            shown,
            NOTHING,
            f"{said}; a rollback starts the old server with it as options. Only {listed(list(lost))} would be as the "
            'files say then: pg_ctl does not read a value with one of " $ ` \\ back from postmaster.opts',
            "take the edits back, if a rollback is to bring the old server back as it runs now",
        )
    if service is None:
        back = "a rollback starts the old server with it as options"
        return passed(shown, NOTHING, f"{said}; {back}{age(cluster)}")
    return warning(
        shown,
        NOTHING,
        f"{said}. After a rollback {service.unit} would start the old server with what its files say",
        "take the edits back, if a rollback is to bring the old server back as it runs now",
    )


def _not_carried_out(case: Case, cluster: Cluster) -> Finding:
    why = "the old server does not run" if not cluster.running else "its settings were not compared with its files"
    return warning(
        NOTHING,
        NOTHING,
        "Which settings of the old server are edited and not in force is not known, so the choice which values hold "
        f"cannot be carried out: {why}",
        "start the old server, or look why its files could not be read, and run the checks again; or take the choice "
        f"back: {for_hint('pghaul', 'move', 'edited', case.move.name, '--none')}",
    )


def _left_out(cluster: Cluster) -> str:
    """What the session that asks cannot tell of the files."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    names = [each.name for each in settings if each.source in _STRONGER]
    return f", as far as a session tells in which a role or a database sets {listed(names)}" if names else ""


def _shown(edited: Edited) -> str:
    if edited.in_file is None:
        return f"{edited.name} (its values may be secret)"
    return f"{edited.name} is '{edited.in_force}' in force and '{edited.in_file}' in the file"


def _pending_restart(case: Case) -> Finding:
    """What pg_settings alone says: what was edited and read, and needs a restart."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        # not known; but it alone is no reason to stop a move
        return warning(found.old, found.new, found.message, found.hint) if found.status is Status.UNKNOWN else found
    cluster, wide = found
    if not wide.pending:
        return passed("none", NOTHING, "no change of a setting waits for a restart" + age(cluster))
    return warning(
        listed(list(wide.pending)),
        NOTHING,
        f"changed in the files but not yet in force: {listed(list(wide.pending))}; the first start on new brings them",
        "look whether they are meant, and try them by a restart of old beforehand",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "start-files",
            "start with the files as they stand",
            True,
            "configuration files of old, as its server program reads them",
            "config-setting",
        ),
        start_files,
    ),
    (
        Declaration(
            "settings", "settings and new's binaries", True, "settings of old, what new takes", "config-setting"
        ),
        settings,
    ),
    (
        Declaration(
            "setting-paths",
            "paths in settings",
            False,
            "paths and programs of old's settings, files on new",
            "config-setting",
        ),
        setting_paths,
    ),
    (
        Declaration(
            "named-things",
            "what catalogs and pg_hba.conf name",
            False,
            "dictionaries, foreign tables on files, rules, settings of roles on old; files and names of new",
            "textsearch-dictionaries",
        ),
        named_things,
    ),
    (
        Declaration(
            "listen-addresses",
            "addresses to listen on",
            False,
            "listen_addresses of old, addresses of new",
            "runtime-config-connection",
        ),
        listen_addresses,
    ),
    (
        Declaration(
            "access-rules",
            "client authentication (pg_hba.conf)",
            False,
            "pg_hba.conf of old, addresses of both",
            "auth-pg-hba-conf",
        ),
        access_rules,
    ),
    (
        Declaration(
            "configuration-elsewhere",
            "configuration outside the data directory",
            False,
            "paths of old's configuration files",
            "runtime-config-file-locations",
        ),
        files_elsewhere,
    ),
    (
        Declaration(
            "moved-paths",
            "paths inside the data directory",
            True,
            "values of old's configuration files, path of the target",
            "runtime-config-file-locations",
        ),
        moved_paths,
    ),
    (
        Declaration("certificate", "server certificate", False, "certificate of old, names of new", "ssl-tcp"),
        certificate,
    ),
    (
        Declaration(
            "pending-settings",
            "settings that are edited but not in force",
            True,
            "settings of old, in force and in its files",
            "view-pg-settings",
        ),
        pending_settings,
    ),
)
