"""Whether the configuration of old fits new: settings, paths, addresses, access rules, certificate, files elsewhere."""

from datetime import timedelta
from ipaddress import ip_address, ip_network

from core.facts.catalog import ClusterWide, Edited
from core.facts.start_files import SECTION as START_FILES
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.binaries import outside
from core.migration.findings.catalogs import age, binaries, cluster_wide, listed
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
from core.migration.findings.layout import configuration_left, configuration_outside
from core.migration.findings.local_start import held
from core.migration.findings.releases import numbers

_SOON = timedelta(days=30)
_TOLD_SINCE = (9, 2)
"""The first series whose server program tells settings without being started (-C)."""
_WHERE_IT_LISTENS = ("port", "listen_addresses", "unix_socket_directories")
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
    answers = {each: said for each, said in asked.settings if each not in held(cluster)}
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


def listen_addresses(case: Case) -> Finding:
    """listen_addresses names no address that new does not have."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    setting = cluster.settings.get("listen_addresses")
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
    own = [rule for rule in wide.hba if _is_about(rule.address, case.old.addresses)]
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


def _is_about(address: str, addresses: tuple[str, ...]) -> bool:
    """Whether a rule's address is one of the server's own, or stands for its own networks."""
    if address in ("samehost", "samenet"):
        return True
    try:
        network = ip_network(address, strict=False)
    except ValueError:
        return False
    return network.num_addresses == 1 and any(ip_address(each) in network for each in addresses)


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
    """No setting was edited in the files without being in force: the first start on new would bring it."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if cluster.edited is None:
        return _pending_restart(case)
    edited = {each.name: each for each in cluster.edited}
    if not edited:
        return passed("none", NOTHING, "every setting that the files give is in force" + age(cluster))
    moved = [name for name in _WHERE_IT_LISTENS if name in edited]
    elsewhere = (
        f". The new cluster will listen elsewhere than the old one does ({listed(moved)}): clients would not find it, "
        "and the end of the move would say so"
        if moved
        else ""
    )
    return warning(
        listed([_shown(each) for each in edited.values()]),
        NOTHING,
        f"edited but not in force: {listed([_shown(each) for each in edited.values()])}; the first start brings what "
        f"the files say{elsewhere}",
        "take the edits back, or bring them into force on the old server (pg_ctl reload; some need a restart); to move "
        "with them as they are, waive this check",
    )


def _shown(edited: Edited) -> str:
    if edited.in_file is None:
        return f"{edited.name} (its values may be secret)"
    return f"{edited.name} is '{edited.in_force}' in force and '{edited.in_file}' in the file"


def _pending_restart(case: Case) -> Finding:
    """What pg_settings alone says: what was edited and read, and needs a restart."""
    found = cluster_wide(case)
    if isinstance(found, Finding):
        return found
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
        Declaration("certificate", "server certificate", False, "certificate of old, names of new", "ssl-tcp"),
        certificate,
    ),
    (
        Declaration(
            "pending-settings",
            "settings that are edited but not in force",
            False,
            "settings of old, in force and in its files",
            "view-pg-settings",
        ),
        pending_settings,
    ),
)
