"""The checks of what lies inside the cluster, each spoiled in its one way."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from posixpath import dirname
from typing import Any

import pytest

from core.facts.catalog import (
    BrokenMap,
    Catalogs,
    Certificate,
    ClosedDatabase,
    ClusterWide,
    Edited,
    Extension,
    HbaRule,
    Library,
    Receiver,
    RoleSetting,
    Setting,
    Slot,
)
from core.facts.catalog import Subscription as Subscribed
from core.facts.cluster_configuration import ConfigurationFile, Mention
from core.facts.collect import merge_previous
from core.facts.host_environment import Listening
from core.facts.model import Cluster, Database, Facts, NetworkLink
from core.facts.starters import Service
from core.migration.checks import run_checks
from core.migration.findings.binaries import collect_required_binaries, list_preloaded_libraries
from core.migration.findings.collations import affected_collations
from core.migration.findings.finding import NOTHING, CheckContext
from core.migration.model.checks import CheckResult, Status
from core.migration.model.move import EditedSettings
from tests.core.migration.builders import (
    DATA,
    LOCALE,
    NOW,
    SUM,
    TARGET,
    cluster,
    control,
    database,
    host_environment,
    move,
    new,
    old,
    trial,
)

B, U, W, P = Status.BLOCKER, Status.UNKNOWN, Status.WARNING, Status.PASS


def one(identifier: str, here: Facts, there: Facts) -> CheckResult:
    return next(result for result in run_checks(move(), here, there) if result.id == identifier)


def wide(**changes: Any) -> Facts:
    """Old, whose cluster as a whole is spoiled."""
    made = cluster()
    assert made.wide is not None
    return old(replace(made, wide=replace(made.wide, **changes)))


def inside(**changes: Any) -> Facts:
    """Old, whose database is spoiled in its catalogs."""
    made = database()
    assert made.catalogs is not None
    return old(cluster(databases=(replace(made, catalogs=replace(made.catalogs, **changes)),)))


def answering(**changes: Any) -> Facts:
    """New, whose binaries answer otherwise."""
    return new(trials=(trial(**changes),))


def test_text_that_sorts_differently_names_the_indexes_and_the_order_of_work() -> None:
    result = one("collation", old(), new(collation_order={LOCALE: "f" * 64}))
    assert result.status is W
    assert "index public.i 4.8 MiB" in result.old
    assert result.hint.index("REINDEX") < result.hint.index("REFRESH COLLATION VERSION")


def test_a_later_library_may_sort_differently_though_the_list_does_not_show_it() -> None:
    there = new()
    assert there.system is not None
    later = replace(there, system=replace(there.system, libc="glibc 2.41"))
    result = one("collation", old(), later)
    surely = one("collation", old(), replace(there, collation_order={LOCALE: "f" * 64}))
    assert (result.status, result.message == surely.message) == (W, False)
    assert ("glibc 2.36" in result.old, "glibc 2.41" in result.new) == (True, True)


def test_a_locale_that_is_missing_stops_the_move() -> None:
    gone = new(collation_order={LOCALE: "missing"})
    assert (one("locales", old(), gone).status, one("collation", old(), gone).status) == (B, W)
    assert "shop" in one("locales", old(), gone).old


def test_the_locale_that_is_always_there_is_not_asked_for() -> None:
    plain = database(collate="C", ctype="POSIX", locale="C")
    here = old(cluster(databases=(replace(plain, catalogs=Catalogs()),)))
    assert one("locales", here, new(collation_order={})).status is P
    assert one("collation", here, new(collation_order={})).status is P


@pytest.mark.parametrize(
    ("answer", "collates", "there"),
    [("153.120", P, P), ("153.121", W, P), ("!ICU is not supported in this build", W, B), (None, U, U)],
)
def test_icu(answer: str | None, collates: Status, there: Status) -> None:
    made = database(provider="icu", locale="de-AT")
    assert made.catalogs is not None
    one_of_icu = replace(made.catalogs.collations[0], provider="icu", locale="de-AT", actual="153.120")
    here = old(cluster(databases=(replace(made, catalogs=replace(made.catalogs, collations=(one_of_icu,))),)))
    facts = answering(icu=(("de-AT", answer),) if answer is not None else ())
    assert one("collation", here, facts).status is collates
    assert one("locales", here, facts).status is there


def test_what_is_affected_is_named_by_database() -> None:
    found = affected_collations(CheckContext(move(), old(), new(collation_order={LOCALE: "f" * 64})))
    assert found is not None
    assert [(each.database.name, [one.name for one in each.ordered]) for each in found] == [("shop", ["public.i"])]


def test_a_library_that_new_cannot_load_names_database_and_function() -> None:
    said = 'could not access file "$libdir/pg_trgm": No such file or directory'
    result = one("extension-libraries", old(), answering(libraries=(("$libdir/pg_trgm", said),)))
    assert (result.status, said in result.new) == (B, True)
    assert "shop: show_trgm()" in result.old
    assert one("extension-libraries", old(), answering(libraries=())).status is U


def test_a_library_that_was_not_loaded_is_never_green() -> None:
    """Somebody else on new could have written it: the file is named, also beside one that did not answer."""
    made = database()
    assert made.catalogs is not None
    own = Library("/srv/x.so", 1, "f")
    here = old(cluster(databases=(replace(made, catalogs=replace(made.catalogs, libraries=(own,))),)))
    result = one("extension-libraries", here, answering(libraries=(), unverified=(("/srv/x.so", "others can"),)))
    assert (result.status, "/srv/x.so: others can" in result.new, "not verified: /srv/x.so" in result.message) == (
        W,
        True,
        True,
    )
    settings = cluster().settings | {"shared_preload_libraries": "/srv/x.so, pg_cron"}
    preloaded = one(
        "preload-libraries", old(cluster(settings=settings)), answering(unverified=(("/srv/x.so", "others can"),))
    )
    assert (preloaded.status, preloaded.new) == (W, "/srv/x.so: others can; pg_cron: no answer")


def test_versions_of_extensions() -> None:
    assert one("extension-versions", inside(extensions=(Extension("pg_trgm", "1.5"),)), new()).status is W
    assert one("extension-versions", inside(extensions=(Extension("vector", "0.5"),)), new()).status is W
    assert one("extension-versions", inside(extensions=()), new()).status is P


@pytest.mark.parametrize(
    ("answers", "status"),
    [((("pg_cron", ""),), P), ((("pg_cron", 'could not access file "pg_cron"'),), B), ((), U)],
)
def test_libraries_that_the_server_loads(answers: tuple[tuple[str, str], ...], status: Status) -> None:
    settings = cluster().settings | {"shared_preload_libraries": "pg_cron"}
    result = one("preload-libraries", old(cluster(settings=settings)), answering(preloads=answers))
    assert (result.status, result.old) == (status, "pg_cron")


def test_libraries_of_sessions_are_loaded_as_postgresql_finds_them() -> None:
    listed = (
        Setting("session_preload_libraries", 'auto_explain, "my lib"', "database or role"),
        Setting("local_preload_libraries", "plain", "configuration file"),
    )
    assert list_preloaded_libraries(cluster(wide=ClusterWide(settings=listed))) == (
        (),
        ("$libdir/plugins/plain", "auto_explain", "my lib"),
    )


def test_what_cannot_stand_in_a_statement_is_not_asked_and_stays_unknown() -> None:
    made = database()
    assert made.catalogs is not None
    odd = replace(made.catalogs.libraries[0], name="it's\n")
    here = cluster(databases=(replace(made, catalogs=replace(made.catalogs, libraries=(odd,))),))
    assert collect_required_binaries(here).libraries == ()
    assert one("extension-libraries", old(here), answering(libraries=())).status is U


def test_a_setting_that_new_does_not_take_stops_the_move() -> None:
    result = one("settings", old(), answering(settings=(("wal_compression=lz4", "invalid value"),)))
    assert (result.status, result.old, result.new) == (B, "wal_compression=lz4", "invalid value")
    assert one("settings", old(), answering(settings=())).status is U
    names_places = wide(settings=(Setting("unix_socket_directories", "/tmp", "configuration file"),))
    assert one("settings", names_places, answering(settings=())).status is P


def test_paths_and_programs_of_settings() -> None:
    here = wide(settings=(Setting("log_directory", "/var/log/pg", "configuration file"),), programs=("wal-g",))
    missing = answering(paths=(("/var/log/pg", "no such file or folder"), ("wal-g", "")))
    result = one("setting-paths", here, missing)
    assert (result.status, result.old) == (W, "/var/log/pg (log_directory)")
    assert one("setting-paths", here, answering(paths=(("/var/log/pg", ""), ("wal-g", "")))).status is P
    assert one("setting-paths", here, answering(paths=())).status is U
    inside_it = wide(settings=(Setting("log_directory", f"{DATA}/log", "configuration file"),))
    assert one("setting-paths", inside_it, new()).status is P


@pytest.mark.parametrize(
    ("setting", "status"),
    [("*", P), ("localhost, 10.77.0.12", P), ("new", P), ("10.77.0.11", W), ("localhost,old", W)],
)
def test_addresses_to_listen_on(setting: str, status: Status) -> None:
    here = old(cluster(settings=cluster().settings | {"listen_addresses": setting}))
    assert one("listen-addresses", here, new()).status is status


@pytest.mark.parametrize(
    ("address", "error", "status"),
    [
        ("192.0.2.0/255.255.255.0", "", P),
        ("0.0.0.0/0.0.0.0", "", P),
        ("clients.example.org", "", P),
        ("10.77.0.11/255.255.255.255", "", W),
        ("samenet", "", W),
        ("2001:db8::11/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", W),
        ("2001:db8::/ffff:ffff::", "", P),
        ("", "invalid IP address", W),
    ],
)
def test_rules_of_access(address: str, error: str, status: Status) -> None:
    rule = HbaRule(7, "host", "all", "all", address, "scram-sha-256", error)
    links = (NetworkLink("eth0", "up", None, 1500, ("10.77.0.11/24", "2001:db8::11/64")),)
    here = replace(wide(hba=(rule,)), network_links=links)
    result = one("access-rules", here, new())
    assert result.status is status
    assert status is P or "pg_hba.conf line 7" in result.old


@pytest.mark.parametrize(
    ("addresses", "differ", "may_differ"),
    [
        (("samehost",), True, False),
        (("10.77.0.11/255.255.255.255",), True, False),
        (("samenet",), False, True),
        (("samenet", "samehost"), True, True),
    ],
)
def test_networks_are_not_said_to_be_others_where_they_are_not_known(
    addresses: tuple[str, ...], differ: bool, may_differ: bool
) -> None:
    rules = tuple(
        HbaRule(line, "host", "all", "all", each, "scram-sha-256", "") for line, each in enumerate(addresses, 7)
    )
    links = (NetworkLink("eth0", "up", None, 1500, ("10.77.0.11",)),)
    result = one("access-rules", replace(wide(hba=rules), network_links=links), new())
    assert ("are different" in result.message, "may be different" in result.message) == (differ, may_differ)
    assert [each for each in addresses if f"`{each}`" not in result.message] == []


@pytest.mark.parametrize(
    ("address", "status", "shown"),
    [
        ("10.77.0.12/24", P, NOTHING),
        ("10.77.0.12/16", W, "10.77.0.0/16"),
        ("10.78.0.12/24", W, "10.78.0.0/24"),
        ("10.77.0.12", W, "10.77.0.12"),
    ],
)
def test_the_networks_of_both_servers_are_compared(address: str, status: Status, shown: str) -> None:
    rule = HbaRule(7, "host", "all", "all", "samenet", "scram-sha-256", "")
    links = (NetworkLink("eth0", "up", None, 1500, ("10.77.0.11/24", "fe80::1/64")),)
    there = replace(new(), network_links=(NetworkLink("eth0", "up", None, 1500, (address, "fe80::2/64")),))
    result = one("access-rules", replace(wide(hba=(rule,)), network_links=links), there)
    assert (result.status, result.new) == (status, shown)
    assert status is P or ("are different" in result.message) == ("/" in address)
    assert status is P or "/" not in address or result.old.endswith("samenet; 10.77.0.0/24")


@pytest.mark.parametrize(
    ("identifier", "address", "error", "status"),
    [
        ("access-rules", "", "invalid IP address", W),
        ("access-rules", "samehost", "", W),
        ("start-files", "", "invalid IP address", B),
    ],
)
@pytest.mark.parametrize("file", ["/etc/more/app.conf", ""])
def test_a_rule_is_named_by_its_own_file(identifier: str, address: str, error: str, status: Status, file: str) -> None:
    """Before 16 there are no included files, and the view names none."""
    rule = HbaRule(7, "host", "all", "all", address, "scram-sha-256", error, file=file)
    result = one(identifier, old(cluster(wide=ClusterWide(hba=(rule,)), hba_file="/etc/top.conf")), new())
    assert result.status is status
    for text in (result.old, result.message):
        assert f"{file or '/etc/top.conf'} line 7" in text
        assert text.count(" line 7") == text.count(f"{file or '/etc/top.conf'} line 7")


def test_files_that_a_start_reads() -> None:
    broken = HbaRule(7, "host", "all", "all", "", "", "invalid authentication method")
    complaint = 'unrecognized configuration parameter "shared_bufers" in file "/srv/pg/15/main/postgresql.conf" line 9'
    spoiled = one("start-files", old(cluster(start_complaints=(complaint,))), new())
    assert (spoiled.status, complaint in spoiled.message, spoiled.blocking) == (B, True, True)
    assert one("start-files", wide(hba=(broken,)), new()).status is B
    stopped = replace(cluster().wide or ClusterWide(), hba=(broken,), taken_at=NOW)
    assert one("start-files", old(cluster(wide=stopped)), new()).status is P
    assert one("start-files", old(cluster(start_complaints=None)), new()).status is U
    assert one("start-files", old(cluster(series="9.1", start_complaints=())), new()).status is W


@pytest.mark.parametrize("file", ["/etc/more/maps.conf", ""])
def test_a_broken_user_name_map_is_named_by_its_own_file(file: str) -> None:
    broken = BrokenMap(3, "missing entry at end of line", file)
    settings = cluster().settings | {"ident_file": "/etc/ident.conf"}
    made = cluster().wide
    assert made is not None
    result = one("access-rules", old(cluster(settings=settings, wide=replace(made, broken_maps=(broken,)))), new())
    place = f"{file or '/etc/ident.conf'} line 3"
    assert (result.status, result.old) == (W, f"{place}: missing entry at end of line")
    assert f"cannot read {place}." in result.message


def test_files_of_the_last_start_that_are_gone() -> None:
    lost = old(cluster(lost_start_files={"config_file": "/etc/own.conf", "hba_file": "/etc/hba.conf"}))
    result = one("start-files", lost, new())
    assert (result.status, result.old) == (W, "config_file = /etc/own.conf, hba_file = /etc/hba.conf")
    assert result.old in result.message
    garbled = one("start-files", old(cluster(lost_start_files={"postmaster.opts": "/d/postmaster.opts"})), new())
    assert (garbled.status, garbled.old) == (W, "/d/postmaster.opts")
    named = old(cluster(start_files={"config_file": "/etc/own.conf"}))
    assert one("start-files", named, new()).status is P


PORT, SECRET = Edited("port", "5432", "5433"), Edited("a.password", None, None)
MEMORY = Edited("work_mem", "4096", "8192", "kB")


def edited(*edits: Edited, chosen: EditedSettings | None = None, **changes: Any) -> CheckResult:
    """What the check of edits says, of a cluster with these changes."""
    found = run_checks(move(edited=chosen), old(cluster(edited=edits, **changes)), new())
    return next(each for each in found if each.id == "pending-settings")


def test_edits_that_are_not_in_force() -> None:
    result = edited()
    assert (result.status, "Settings of extensions are not compared" in result.message) == (P, True)
    result = edited(MEMORY, SECRET)
    assert result.status is W
    assert re.search(r"\bwork_mem \D+'4MB' \D+'8MB' .*\ba.password\b", result.message)
    assert "in-force" in result.hint


def test_edits_by_which_clients_would_not_find_the_new_server_must_be_decided() -> None:
    result = edited(PORT, MEMORY)
    assert (result.status, result.blocking, "With port from the files" in result.message) == (B, True, True)
    assert re.search(r"pghaul move edited .* file`\)\.$", result.hint)
    assert edited(PORT, chosen=EditedSettings.FILE).status is P
    assert edited(PORT, chosen=EditedSettings.IN_FORCE).status is P
    assert edited(Edited("listen_addresses", "localhost", "*")).status is W


def test_what_is_in_force_cannot_always_be_kept() -> None:
    assert edited(PORT, SECRET, chosen=EditedSettings.IN_FORCE).status is B
    assert edited(PORT, series="9.3", chosen=EditedSettings.IN_FORCE).status is B
    assert edited(PORT, SECRET, chosen=EditedSettings.FILE).status is P


def test_a_choice_that_cannot_be_carried_out_is_never_green() -> None:
    for running, chosen, said in (
        (True, EditedSettings.IN_FORCE, "not compared"),
        (True, EditedSettings.FILE, "not compared"),
        (False, EditedSettings.IN_FORCE, "is not running"),
    ):
        found = run_checks(move(edited=chosen), old(cluster(edited=None, running=running)), new())
        result = next(each for each in found if each.id == "pending-settings")
        assert (result.status, said in result.message) == (W, True)
    found = run_checks(move(edited=EditedSettings.FILE), old(cluster(edited=None, running=False)), new())
    assert "choice" not in next(each for each in found if each.id == "pending-settings").message


def test_what_a_role_or_a_database_sets_is_not_compared() -> None:
    sets = replace(
        cluster().wide or ClusterWide(),
        settings=(Setting("work_mem", "4096", "user"), Setting("port", "5432", "configuration file")),
    )
    result = edited(wide=sets)
    assert (result.status, "a role or a database sets work_mem" in result.message) == (P, True)
    assert "a role" not in edited().message


def test_what_a_rollback_cannot_give_the_old_server_is_said() -> None:
    result = edited(Edited("search_path", '"$user", public', "a"), chosen=EditedSettings.IN_FORCE)
    assert (result.status, "Only search_path would have the value in the file" in result.message) == (W, True)


def test_a_unit_starts_the_old_server_with_what_its_files_say() -> None:
    unit = "postgresql-15.service"
    here = old(cluster(edited=(PORT,), unit=unit), services=(Service(DATA, "postgresql-15", unit),))
    found = run_checks(move(edited=EditedSettings.IN_FORCE), here, new())
    result = next(each for each in found if each.id == "pending-settings")
    assert (result.status, unit in result.message) == (W, True)


def test_a_port_of_the_files_is_looked_for_where_they_are_to_hold() -> None:
    there = new(host_environment=host_environment(listening=(Listening("0.0.0.0", 5433, 7, "other"),)))
    here = old(cluster(edited=(PORT,), settings=cluster().settings | {"listen_addresses": "*"}))
    for chosen, status in ((None, P), (EditedSettings.IN_FORCE, P), (EditedSettings.FILE, B)):
        found = run_checks(move(edited=chosen), here, there)
        assert next(each for each in found if each.id == "port-free").status is status, chosen


def test_configuration_elsewhere() -> None:
    outside = "/etc/postgresql/15/main/postgresql.conf"
    assert one("configuration-elsewhere", old(cluster(config_file=outside)), new()).status is W
    included = wide(settings=(Setting("port", "5432", "configuration file", "/etc/more.conf", 3),))
    result = one("configuration-elsewhere", included, new())
    assert (result.status, result.old) == (W, "/etc/more.conf")
    inside = one("configuration-elsewhere", old(), new())
    assert (inside.status, inside.old) == (P, "none")


@pytest.mark.parametrize(
    ("days", "names", "status"),
    [
        (400, ("NEW",), P),
        (400, ("*.example.org",), W),
        (400, ("old",), W),
        (400, ("10.77.0.12",), P),
        (400, ("10.77.0.13",), W),
        (10, ("new",), W),
        (-5, ("new",), W),
    ],
)
def test_the_certificate(days: int, names: tuple[str, ...], status: Status) -> None:
    here = wide(certificate=Certificate("server.crt", NOW + timedelta(days=days), names))
    assert one("certificate", here, new()).status is status


def test_a_certificate_for_a_wildcard_or_an_address() -> None:
    server = new()
    assert server.system is not None
    named = replace(server, system=replace(server.system, hostname="new.example.org"))
    made = Certificate("server.crt", NOW + timedelta(days=400), ("*.example.org",), (server.addresses[0],))
    found = [
        one("certificate", wide(certificate=each), there)
        for each, there in ((made, server), (replace(made, addresses=()), server), (replace(made, addresses=()), named))
    ]
    assert [each.status for each in found] == [P, W, P]
    assert f"for *.example.org, {server.addresses[0]}, until" in found[0].old


def test_a_certificate_that_could_not_be_read_is_not_passed() -> None:
    assert one("certificate", old(cluster(settings=cluster().settings | {"ssl": "on"})), new()).status is U


@pytest.mark.parametrize(
    ("identifier", "changes"),
    [
        ("slots", {"slots": (Slot("standby", "physical", "", active=False),)}),
        ("subscriptions", {"subscriptions": (Subscribed("shop", "sub", enabled=True),)}),
        ("standbys", {"receivers": (Receiver("walreceiver", "192.0.2.1", "streaming"),)}),
        ("standbys", {"exclusive_backup": True}),
        ("prepared-transactions", {"prepared": ("shop: x",)}),
        ("schedulers", {"workers": ("pg_cron launcher",)}),
        ("pending-settings", {"pending": ("shared_buffers",)}),
    ],
)
def test_what_there_should_not_be(identifier: str, changes: dict[str, Any]) -> None:
    result = one(identifier, wide(**changes), new())
    assert (result.status, bool(result.hint)) == (W, True)
    assert result.old not in ("none", "")


def test_what_databases_should_not_have() -> None:
    assert one("publications", inside(publications=2), new()).old == "shop: 2"
    assert one("schedulers", inside(extensions=(Extension("pg_cron", "1.6"),)), new()).old == "pg_cron in shop"
    assert one("unlogged", inside(unlogged=3), new()).status is P


@pytest.mark.parametrize(("mode", "status"), [("off", P), ("on", W), ("always", W)])
def test_archiving(mode: str, status: Status) -> None:
    here = old(cluster(settings=cluster().settings | {"archive_mode": mode}))
    assert one("archiving", here, new()).status is status


def stopped(**changes: Any) -> Cluster:
    """As a pass finds a stopped cluster: nobody answers SQL."""
    return cluster(databases=(), wide=None, **changes)


def test_a_stopped_cluster_is_known_by_what_was_read_while_it_ran() -> None:
    earlier = replace(old(), taken_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    now = merge_previous(old(stopped(), collation_order={}), earlier)
    result = one("extension-libraries", now, new())
    assert (result.status, ", 2026-03-01 09:30 UTC.)" in result.message) == (P, True)
    assert now.collation_order == {LOCALE: SUM}
    again = merge_previous(old(stopped(), collation_order={}), now)
    assert again.clusters == now.clusters, "the time stays that of the reading"


def test_another_cluster_in_its_place_is_not_taken_for_it() -> None:
    other = stopped(control=control(system_identifier="99"))
    assert merge_previous(old(other), old()).clusters == (other,)
    running = replace(stopped(), running=True)
    assert merge_previous(old(running), old()).clusters == (running,), (
        "what a running one does not answer stays unknown"
    )


def test_a_stopped_cluster_that_was_never_read_says_what_to_do() -> None:
    result = one("extension-libraries", old(stopped()), new())
    assert (result.status, "`pghaul facts old`" in result.hint) == (U, True)


def test_a_database_that_was_not_read_is_named() -> None:
    unread = Database("closed", 1000)
    here = old(cluster(running=True, databases=(database(), unread)))
    for identifier in ("collation", "locales", "extension-libraries", "publications"):
        result = one(identifier, here, new())
        assert (result.status, "closed" in result.message) == (U, True), identifier


def moved(*mentions: Mention, included: str = "", target: str = TARGET, debian: bool = False) -> CheckResult:
    """The check of paths inside the data directory, which is another on new; `mentions` of postgresql.conf."""
    main = ConfigurationFile(CONF, "settings", "required", "file", mentions=mentions)
    more = (ConfigurationFile(included, "settings", "required", "file", CONF),) if included else ()
    in_force = tuple(Setting(each.setting, None, "configuration file", CONF, each.line) for each in mentions[:1])
    here = old(cluster(configuration_files=(main, *more), wide=ClusterWide(settings=in_force)))
    services = (Service(target, "15/main", "postgresql@15-main.service", debian=True),) if debian else ()
    results = run_checks(move(target=target), here, new(services=services))
    return next(each for each in results if each.id == "moved-paths")


CONF = f"{DATA}/postgresql.conf"


def test_paths_inside_the_data_directory() -> None:
    assert moved().status is P
    needed = moved(Mention(7, "hba_file"), Mention(9, "ssl_cert_file"))
    assert (needed.status, needed.blocking) == (B, True)
    assert f"hba_file ({CONF} line 7)" in needed.message
    assert "ssl_cert_file" not in needed.message  # another line goes before it
    assert moved(Mention(7, "hba_file"), target=DATA).status is P
    for only_named in ("archive_command", "external_pid_file", "stats_temp_directory"):  # a start does without
        assert moved(Mention(7, only_named)).status is W
    assert moved(included=f"{DATA}/more.conf").status is B
    assert moved(included="/srv/more.conf").status is P
    assert moved(Mention(7, "data_directory")).status is B
    assert moved(Mention(7, "data_directory"), debian=True).status is P
    outside = cluster(
        config_file="/srv/conf/postgresql.conf",
        configuration_files=(
            ConfigurationFile(
                "/srv/conf/postgresql.conf", "settings", "required", "file", mentions=(Mention(1, "data_directory"),)
            ),
        ),
    )
    assert one("moved-paths", old(outside), new()).status is P  # pg_ctl is told where it is
    unread = run_checks(move(), old(cluster(configuration_files=None)), new())
    assert next(each for each in unread if each.id == "moved-paths").status is U


@pytest.mark.parametrize(
    ("path", "by", "absolute", "target", "status"),
    [
        ("/srv/old/list", f"{DATA}/pg_hba.conf", False, TARGET, B),
        ("/srv/old/list", f"{DATA}/pg_hba.conf", False, DATA, P),
        (f"{dirname(DATA)}/list", f"{DATA}/pg_hba.conf", False, f"{dirname(DATA)}/other", P),
        ("/srv/old/list", f"{DATA}/pg_hba.conf", True, TARGET, P),
        (f"{DATA}/list", f"{DATA}/pg_hba.conf", False, TARGET, P),
        ("/srv/old/list", "/srv/conf/pg_hba.conf", False, TARGET, P),
    ],
)
def test_relative_names_that_lead_out_of_the_data_directory(
    path: str,
    by: str,
    absolute: bool,
    target: str,
    status: Status,
) -> None:
    named = ConfigurationFile(path, "list", "required", "file", by, absolute=absolute)
    results = run_checks(move(target=target), old(cluster(configuration_files=(named,))), new())
    result = next(each for each in results if each.id == "moved-paths")
    assert (result.status, path in result.message) == (status, status is B)


def test_options_that_name_the_data_directory() -> None:
    options = wide(settings=(Setting("hba_file", f"{DATA}/hba", "command line"),))
    assert one("moved-paths", options, new()).status is B


@pytest.mark.parametrize("chosen", [None, *EditedSettings])
def test_edits_that_name_the_data_directory_count_where_the_new_server_will_have_them(
    chosen: EditedSettings | None,
) -> None:
    kept = chosen is EditedSettings.IN_FORCE
    for in_force, in_file, names in ((f"{DATA}/log", "log", kept), ("log", f"{DATA}/log", not kept)):
        edits = (Edited("log_directory", in_force, in_file),)
        found = run_checks(move(edited=chosen), old(cluster(edited=edits)), new())
        assert next(each for each in found if each.id == "moved-paths").status is (B if names else P)


def test_databases_that_take_no_connections() -> None:
    closed = ClosedDatabase("archive", 1, "UTF8", "xx_XX", "xx_XX", "libc", None, half_dropped=True)
    result = one("closed-databases", wide(closed=(closed,)), new())
    assert (result.status, result.old) == (W, "archive")
    assert "DROP DATABASE" in result.message
    assert one("closed-databases", wide(), new()).status is P
    locales = one("locales", wide(closed=(closed,)), new(collation_order={LOCALE: SUM, "xx_XX": "missing"}))
    assert (locales.status, "xx_XX (archive)" in locales.old) == (B, True)


@pytest.mark.parametrize(
    ("answer", "status"), [((("host:app.example", ""),), P), ((("host:app.example", "no such host"),), W), ((), U)]
)
def test_what_rules_and_catalogs_name(answer: tuple[tuple[str, str], ...], status: Status) -> None:
    rule = HbaRule(7, "host", "all", "all", "app.example", "md5", "")
    result = one("named-things", wide(hba=(rule,)), new(trials=(trial(paths=answer),)))
    assert result.status is status
    assert result.old.startswith("app.example")
    assert one("named-things", wide(), new()).status is P


def test_a_time_zone_of_a_role_that_new_lacks_is_no_blocker() -> None:
    word = "TimeZone=Europe/Kyiv"
    here = wide(role_settings=(RoleSetting("", "ann", "TimeZone", "Europe/Kyiv"),))
    usual = trial().binaries
    assert usual is not None
    there = new(trials=(trial(settings=(*usual.settings, (word, "invalid value"))),))
    assert one("named-things", here, there).status is W
    assert one("settings", here, there).status is P


_CONF = "/etc/pgbackrest/pgbackrest.conf"


@pytest.mark.parametrize(
    ("told", "files", "status"),
    [
        ({}, {}, P),
        ({"": "", "stanza": "main"}, {}, W),
        ({"": "", "stanza": "main"}, {_CONF: f"[main]\npg1-path={TARGET}/"}, P),
        ({"": "", "stanza": "main"}, {_CONF: "[main]\npg1-path = /srv/old"}, W),
        ({"": "", "stanza": "main"}, {_CONF: f"[other]\npg1-path={TARGET}"}, W),
        ({"": ""}, {_CONF: f"[other]\npg1-path={TARGET}"}, P),
        # the section of the command is the stronger, and another host's data directory is none of this one's
        ({"": "", "stanza": "main"}, {_CONF: f"[main:archive-push]\npg1-path={TARGET}\n[main]\npg1-path=/x"}, P),
        ({"": "", "stanza": "main"}, {_CONF: f"[main]\npg1-path=/x\npg2-host=b\npg2-path={TARGET}"}, W),
        ({"": "", "pg1-path": "/x"}, {_CONF: f"[main]\npg1-path={TARGET}"}, W),
        ({"": "", "stanza": "main"}, {_CONF: "[main]", "/etc/pgbackrest.conf": f"[main]\npg1-path={TARGET}"}, W),
        ({"": "", "stanza": "main"}, {_CONF: "unreadable"}, W),
    ],
)
def test_pgbackrest_is_told_where_the_data_directory_will_be(
    told: dict[str, str], files: dict[str, str], status: Status
) -> None:
    wide = cluster().wide
    assert wide is not None
    here = old(cluster(wide=replace(wide, pgbackrest=told)))
    result = one("pgbackrest", here, answering(pgbackrest=tuple(files.items())))
    assert result.status is status
    assert (TARGET in result.hint) == (status is W)


@pytest.mark.parametrize(
    ("told", "files"),
    [
        ({}, ()),
        ({"": ""}, (_CONF, "/etc/pgbackrest.conf", "/etc/pgbackrest/conf.d")),
        ({"": "", "config": "/a"}, ("/a",)),
        ({"": "", "config-include-path": "/b"}, (_CONF, "/etc/pgbackrest.conf", "/b")),
        ({"": "", "config-path": "/c"}, ("/c/pgbackrest.conf", "/c/conf.d")),
    ],
)
def test_files_of_pgbackrest_by_its_options(told: dict[str, str], files: tuple[str, ...]) -> None:
    assert collect_required_binaries(cluster(wide=ClusterWide(pgbackrest=told))).pgbackrest == files
