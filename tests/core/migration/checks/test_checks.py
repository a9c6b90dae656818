import re
from dataclasses import replace
from typing import Any

import pytest

from core.facts.host_environment import HostEnvironment
from core.facts.model import Cluster, Facts, FileSystem, Gap, HugePages, Link, Memory, NetworkLink, Tool
from core.facts.programs import SERVER_PROGRAMS
from core.facts.sections import TRIAL
from core.migration.checks import CHECKS, documentation, run_checks
from core.migration.estimate import estimate, spec_of
from core.migration.findings.finding import NOTHING
from core.migration.findings.releases import CONTROL_VERSIONS, parse_release
from core.migration.fleet import make_fleet_move
from core.migration.model.checks import CheckResult, Status
from core.migration.model.move import Move
from core.migration.probing.trial_cluster import with_known_trials
from tests.core.migration.builders import DATA, TARGET, cluster, control, move, new, old, space, trial


def one(identifier: str, old_facts: Facts, new_facts: Facts, undertaking: Move | None = None) -> CheckResult:
    results = run_checks(undertaking or move(), old_facts, new_facts)
    return next(result for result in results if result.id == identifier)


def programs(*versions: str | None) -> dict[str, dict[str, str]]:
    """Further facts: the server programs of these versions, where packages put them."""
    found = {f"/usr/lib/postgresql/{each}/bin/postgres": each for each in versions if each}
    return {SERVER_PROGRAMS.title: found}


def test_a_good_pair_passes_everything() -> None:
    results = run_checks(move(), old(), new())
    assert {result.id: result.message for result in results if result.status is not Status.PASS} == {}
    assert {result.id for result in results} == {check.id for check in CHECKS}


def test_every_result_has_evidence_a_hint_and_its_documentation() -> None:
    for result in run_checks(move(), old(cluster(series="9.0", running=True)), new()):
        assert result.message
        assert result.old
        assert result.new
        assert result.hint or result.status is Status.PASS
        assert result.documentation.startswith("https://www.postgresql.org/docs/9.0/")


def test_worst_first() -> None:
    ranks = [
        list(Status).index(result.status) for result in run_checks(move(), old(cluster(version="15.20")), new(gaps=()))
    ]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 2


def test_an_empty_server_is_never_a_pass_of_what_was_not_compared() -> None:
    bare = replace(old(), clusters=(), system=None, memory=None, file_systems=(), tools=())
    nothing = replace(bare, host_environment=HostEnvironment())
    results = {result.id: result.status for result in run_checks(move(), nothing, replace(nothing, server="new"))}
    assert results.pop("cluster-exists") is Status.BLOCKER
    assert results.pop("target-stopped") is Status.PASS
    assert set(results.values()) == {Status.UNKNOWN}


BINARIES: list[tuple[str, dict[str, Any], dict[str, Any], Status, str]] = [
    ("minor", {"version": "15.20"}, {"version": "15.18"}, Status.WARNING, "15.18, which is older than 15.20"),
    ("minor", {"series": "8.2", "version": "8.2.18"}, {"series": "8.2", "version": "8.2.5"}, Status.WARNING, "8.2.5"),
    ("minor", {"series": "8.2", "version": "8.2.5"}, {"series": "8.2", "version": "8.2.18"}, Status.PASS, "8.2.18"),
    ("series", {"series": "17", "version": "17beta1"}, {"series": "17", "version": "17.2"}, Status.BLOCKER, "17beta1"),
    ("series", {"series": "17", "version": "17beta1"}, {"series": "17", "version": "17beta2"}, Status.BLOCKER, "beta1"),
    ("series", {"series": "17", "version": "17beta1"}, {"series": "17", "version": "17beta1"}, Status.PASS, "17"),
    ("series", {"series": "8.0", "version": "8.0.1"}, {"series": "8.1", "version": "8.1.2"}, Status.BLOCKER, "8.1"),
    ("minor", {"version": "15.18"}, {"version": "15.18"}, Status.PASS, "15.18"),
    ("minor", {"version": "15.9"}, {"version": "15.10"}, Status.PASS, "15.10"),
    ("series", {"series": "9.5", "version": "9.5.2"}, {"series": "9.6", "version": "9.6.2"}, Status.BLOCKER, "9.6"),
    ("series", {"series": "8.2", "version": "8.2.5"}, {"series": "8.2", "version": "8.2.18"}, Status.PASS, "8.2"),
    ("series", {"series": "18", "version": "18beta1"}, {"series": "18", "version": "18.1"}, Status.BLOCKER, "beta1"),
    ("series", {"series": "18", "version": "18.1"}, {"series": "18", "version": "18rc1"}, Status.BLOCKER, "18rc1"),
    ("product", {"version": "9.4.26 (Greenplum Database 6)"}, {}, Status.BLOCKER, "Greenplum"),
    ("product", {"product": "openGauss"}, {}, Status.BLOCKER, "openGauss"),
]


@pytest.mark.parametrize(("identifier", "on_old", "on_new", "status", "words"), BINARIES)
def test_binaries(identifier: str, on_old: dict[str, Any], on_new: dict[str, Any], status: Status, words: str) -> None:
    theirs = cluster(**{"data_directory": "/var/lib/postgresql/x", "version": "15.18", **on_new})
    result = one(identifier, old(cluster(**on_old)), new(theirs, further=programs(theirs.version)))
    assert (result.status, words in result.message) == (status, True), result.message


def test_binaries_that_are_not_known_and_the_control_file_of_a_fork_are_shown() -> None:
    missing = one("minor", old(cluster(version=None)), new(cluster(data_directory="/x", version="15.10")))
    assert (missing.status, missing.old, missing.new) == (Status.UNKNOWN, "major version 15", "15.10")
    assert missing.message != one("minor", old(), new(cluster(data_directory="/x", version=None))).message
    fork = one("product", old(cluster(control=control(pg_control_version=8330500))), new())
    assert (fork.status, "8330500" in fork.old) == (Status.BLOCKER, True)
    assert str(CONTROL_VERSIONS["15"]) in fork.new


@pytest.mark.parametrize(
    ("before", "after", "ways"),
    [
        ("15.8", "16.2", ("pg_upgrade to 16", "dump & restore", "logical replication")),
        ("9.6.2", "16.2", ("pg_upgrade", "dump & restore")),
        ("8.2.5", "16.2", ("PostgreSQL 8.2 ", "dump & restore")),
        ("16.2", "15.8", ("PostgreSQL 16 ", "dump & restore")),
    ],
)
def test_the_ways_that_remain_between_series(before: str, after: str, ways: tuple[str, ...]) -> None:
    here, there = parse_release(before), parse_release(after)
    assert here is not None
    assert there is not None
    theirs = cluster(data_directory="/x", version=after, series=there.major_version)
    facts = new(theirs, further=programs(after))
    result = one("series", old(cluster(version=before, series=here.major_version)), facts)
    assert result.status is Status.BLOCKER
    assert [way for way in ways if way not in result.hint] == []
    assert ("pg_upgrade" in result.hint) == any("pg_upgrade" in way for way in ways)
    assert ("logical replication" in result.hint) == ("logical replication" in ways)
    assert result.documentation.startswith(f"https://www.postgresql.org/docs/{here.major_version}/")


NO_TRIAL = Gap(TRIAL, "trial cluster", "initdb was not found")
P, B, U = Status.PASS, Status.BLOCKER, Status.UNKNOWN
BESIDE: list[tuple[str, dict[str, Any], Status, bool]] = [
    ("binaries of both", {"further": programs("16.2", "15.18")}, P, False),
    ("binaries of the other version alone", {"further": programs("16.2")}, B, False),
    ("no binaries at all", {"further": programs()}, B, False),
    ("one that told no version", {"further": {SERVER_PROGRAMS.title: {"/opt/a/bin/postgres": ""}}}, U, True),
    ("the tool postgres", {"tools": (Tool("postgres", "/usr/lib/postgresql/15/bin/postgres", "15.18"),)}, P, False),
    ("the tool pgbench", {"tools": (Tool("pgbench", "/usr/lib/postgresql/15/bin/pgbench", "15.18"),)}, P, False),
    ("programs that were not read", {}, U, True),
    ("programs not read, a trial in vain", {"gaps": (NO_TRIAL,)}, B, False),
    ("binaries, a trial in vain", {"gaps": (NO_TRIAL,), "further": programs("16.2", "15.18")}, P, False),
    ("a trial", {"trials": (trial(),)}, P, False),
]


@pytest.mark.parametrize(("what", "there", "status", "pending"), BESIDE)
@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("at", ["/var/lib/postgresql/16/main", TARGET])
def test_a_cluster_of_another_major_version_stands_beside_the_binaries_that_the_move_needs(
    at: str, running: bool, what: str, there: dict[str, Any], status: Status, pending: bool
) -> None:
    """A survey makes no trial cluster: it decides by the programs that are installed, not by the clusters."""
    theirs = cluster(data_directory=at, series="16", version="16.2", running=running)
    facts = new(theirs, **{"trial_start": None, "trials": (), **there})
    results = run_checks(move(), old(), facts)
    series, minor = (next(each for each in results if each.id == name) for name in ("series", "minor"))
    assert series.status is status, what
    assert series.pending is pending
    assert (minor.status is Status.PASS) is (status is Status.PASS)
    fleet_move = make_fleet_move(move(), old(), results, None)
    assert (series.title in fleet_move.stops) is (status is Status.BLOCKER)
    assert (series.title in fleet_move.pending) is pending
    if status is not Status.UNKNOWN:  # the estimate says the same
        copies = estimate(spec_of(move(), old(), [], new=facts)).method("warm-copy")
        assert copies is not None
        assert bool(copies.ruled_out) is (status is Status.BLOCKER)
    if status is Status.BLOCKER:
        assert "16" in series.message
        assert "install PostgreSQL 15" in series.hint


def test_no_cluster_on_new_but_the_servers_tools() -> None:
    tool = Tool("pg_test_fsync", "/usr/lib/postgresql/15/bin/pg_test_fsync", "15.18")
    facts = replace(new(), clusters=(), trials=(), tools=(tool,))
    assert one("minor", old(), facts).status is Status.PASS
    assert one("minor", old(), replace(facts, tools=(replace(tool, version="16.2"),))).status is Status.UNKNOWN
    assert one("minor", old(), replace(facts, tools=())).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"catalog_version": 202209062}, "catalog version"),
        ({"block_size": 32768}, "block size"),
        ({"max_alignment": 4}, "maximum alignment"),
        ({"float8_by_value": False}, "float8 by value"),
        ({"fields": {"Maximum length of identifiers": "128"}}, "Maximum length of identifiers"),
    ],
)
def test_control_data_differs(change: dict[str, Any], label: str) -> None:
    theirs = cluster(data_directory="/var/lib/postgresql/15/main", control=control(system_identifier="1", **change))
    result = one("control-data", old(), new(theirs))
    assert result.status is Status.BLOCKER
    assert label in result.message


def test_wal_segment_size_and_checksums_travel_with_the_cluster() -> None:
    theirs = control(system_identifier="1", wal_segment_size=67108864, data_checksums=1)
    assert one("control-data", old(), new(cluster(data_directory="/x", control=theirs))).status is Status.PASS


def test_control_data_of_new_not_known() -> None:
    result = one("control-data", old(), new(cluster(data_directory="/x", control=None)))
    assert result.status is Status.UNKNOWN
    assert "PostgreSQL 15 " in result.hint


def test_a_trial_is_known_as_long_as_its_release_is_installed() -> None:
    trial = cluster(data_directory="a trial cluster of 15.18", version="15.18", control=control(system_identifier="3"))
    tools = (Tool("pg_test_fsync", "/usr/lib/postgresql/15/bin/pg_test_fsync", "15.18"),)
    fresh = replace(new(), clusters=(), trials=(), tools=(*new().tools, *tools))
    tried = replace(fresh, trials=(trial,))
    assert one("control-data", old(), fresh).status is Status.UNKNOWN
    assert one("control-data", old(), tried).status is Status.PASS
    assert with_known_trials(fresh, tried) == tried
    assert with_known_trials(fresh, None) == fresh
    newer = replace(fresh, tools=(replace(tools[0], version="15.19"),))
    assert with_known_trials(newer, tried).trials == ()
    assert with_known_trials(replace(fresh, tools=()), tried).trials == ()
    beside = replace(fresh, tools=(replace(tools[0], version="16.2"),), further=programs("16.2", "15.18"))
    assert with_known_trials(beside, tried).trials == (trial,)


def test_architecture_and_libc() -> None:
    fresh = new()
    assert fresh.system is not None
    arm = replace(fresh, system=replace(fresh.system, architecture="aarch64", libc="glibc 2.28"))
    assert one("architecture", old(), arm).status is Status.BLOCKER
    assert one("libc", old(), arm).status is Status.WARNING
    same = replace(fresh, system=replace(fresh.system, architecture="amd64"))
    assert one("architecture", old(), same).status is Status.PASS


def marked(**changes: Any) -> Cluster:
    """In the target, a copy of pghaul's that is not opened."""
    return cluster(**{"data_directory": TARGET, "fenced": True, "copy_of": control().system_identifier, **changes})


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        (new(marked()), Status.PASS),
        (new(marked(control=None)), Status.PASS),
        (new(marked(copy_of="2")), Status.BLOCKER),
        (new(cluster(data_directory=TARGET)), Status.WARNING),
        (new(cluster(data_directory=TARGET, control=control(system_identifier="2"))), Status.BLOCKER),
        (new(cluster(data_directory=TARGET, control=None)), Status.UNKNOWN),
        (new(gaps=(Gap("identity", f"version of {TARGET}", "it is empty", TARGET, absent=True),)), Status.PASS),
        (new(gaps=(Gap("identity", "version", "it is empty", f"{TARGET}2", absent=True),)), Status.UNKNOWN),
        (new(gaps=(Gap("identity", "version", "it holds no PG_VERSION", TARGET),)), Status.UNKNOWN),
        (new(gaps=()), Status.UNKNOWN),
    ],
)
def test_target_identity(facts: Facts, status: Status) -> None:
    assert one("target-identity", old(), facts).status is status


@pytest.mark.parametrize(
    ("held", "copied", "status"),
    [
        ((), False, Status.PASS),
        ((), True, Status.PASS),
        (("PG_15_202209061",), True, Status.PASS),
        (("PG_15_202209061",), False, Status.BLOCKER),
        (("notes", "PG_14_202107181", "PG_15_202209061"), True, Status.PASS),
        (("notes", "PG_14_202107181", "PG_15_202204151"), False, Status.PASS),
        (("notes", "PG_15_202209061"), False, Status.BLOCKER),
    ],
)
def test_the_target_of_a_tablespace_is_empty_or_ours(held: tuple[str, ...], copied: bool, status: Status) -> None:
    controlled = control(catalog_version=202209061)
    holding = cluster(tablespaces=(space("/space"),), control=controlled)
    target = (marked(control=controlled),) if copied else ()
    found = one("target-identity", old(holding), new(*target, target_entries={"/space": held}))
    assert found.status is status
    named = [name for name in held if f" {name}" in found.message]
    assert ("/space " in found.message) is (status is Status.BLOCKER)
    assert named == (list(held)[-1:] if status is Status.BLOCKER else [])


@pytest.mark.parametrize(
    ("running", "there", "status"),
    [
        (False, "0/3000028", Status.WARNING),
        (False, "0/2FFFFFF", Status.WARNING),
        (False, "0/30000A0", Status.BLOCKER),
        (False, "1/28", Status.BLOCKER),
        (True, "0/30000A0", Status.WARNING),
        (True, "0/28", Status.WARNING),
    ],
)
def test_a_target_that_is_ahead_of_a_stopped_old_is_the_one_in_use(running: bool, there: str, status: Status) -> None:
    controlled = control(checkpoint_location=there)
    on_old = old(cluster(running=running))
    unmarked = one("target-identity", on_old, new(cluster(data_directory=TARGET, control=controlled)))
    assert unmarked.status is status
    started = one("target-identity", on_old, new(marked(control=controlled)))
    assert started.status is Status.PASS


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"leftovers": ("standby.signal",)}, "(standby.signal)"),
        ({"leftovers": ("postmaster.pid", "backup_label")}, "(backup_label)"),
        ({"control": control(state="shut down in recovery")}, "(shut down in recovery)"),
    ],
)
def test_the_same_cluster_without_a_mark_is_named_for_what_it_may_be(changes: dict[str, Any], named: str) -> None:
    found = one("target-identity", old(cluster(running=True)), new(cluster(data_directory=TARGET, **changes)))
    assert found.status is Status.WARNING
    assert named in found.message
    assert found.new.startswith("latest checkpoint ")


def test_what_an_earlier_move_left_fenced_is_told_from_a_clone() -> None:
    fenced, clone = (
        one("target-identity", old(cluster(running=True)), new(cluster(data_directory=TARGET, fenced=left)))
        for left in (True, False)
    )
    assert (fenced.status, clone.status) == (Status.WARNING, Status.WARNING)
    assert fenced.message != clone.message


def test_a_tablespaces_target_that_nobody_looked_at_is_not_taken_for_empty() -> None:
    found = one("target-identity", old(cluster(tablespaces=(space("/a space"),))), new(target_entries={}))
    assert found.status is Status.UNKNOWN
    assert "`ls -la '/a space'`" in found.hint


@pytest.mark.parametrize("reason", ["", "any words"])
@pytest.mark.parametrize(("begun", "status"), [(True, Status.PASS), (False, Status.BLOCKER)])
def test_what_lies_in_a_tablespaces_target_beside_a_copy_that_has_only_begun_is_of_it(
    reason: str, begun: bool, status: Status
) -> None:
    holding = cluster(tablespaces=(space("/space"),), control=control(catalog_version=202209061))
    gap = Gap("identity", f"version of {TARGET}", reason, TARGET, absent=True, copy_begun=begun)
    facts = new(gaps=(gap,), target_entries={"/space": ("PG_15_202209061",)})
    assert one("target-identity", old(holding), facts).status is status


def host(facts: Facts, name: str, boot: str | None, address: str, machine: str | None = "m") -> Facts:
    """The facts as of a host of that name, start, address and installation."""
    assert facts.system is not None
    system = replace(facts.system, hostname=name, boot_id=boot, machine_id=machine)
    links = (
        NetworkLink("lo", "unknown", None, 65536, ("127.0.0.1", "::1")),
        NetworkLink("eth0", "up", None, 1500, (address, "fe80::1")),
    )
    return replace(facts, system=system, network_links=links)


HOSTS: list[tuple[str, tuple[str, str | None, str], tuple[str, str | None, str, str | None], Status]] = [
    ("one host by two profiles", ("db", "b", "10.0.0.1"), ("db", "b", "10.0.0.1", "m"), Status.BLOCKER),
    ("one host that was renamed", ("db", "b", "10.0.0.1"), ("db2", "b", "10.0.0.1", "m"), Status.BLOCKER),
    ("one host whose address was changed", ("db", "b", "10.0.0.1"), ("db", "b", "10.0.0.2", "m"), Status.BLOCKER),
    ("containers of one kernel, one image", ("old", "b", "10.0.0.1"), ("new", "b", "10.0.0.2", "m"), Status.PASS),
    ("cloned machines", ("old", "b", "10.0.0.1"), ("new", "c", "10.0.0.2", "m"), Status.PASS),
    ("cloned machines, never named", ("localhost", "b", "10.0.0.1"), ("localhost", "c", "10.0.0.2", "m"), Status.PASS),
    ("two hosts with Docker", ("old", "b", "172.17.0.1"), ("new", "c", "172.17.0.1", "n"), Status.PASS),
    ("one host, restarted in between", ("db", "b", "10.0.0.1"), ("db", "c", "10.0.0.1", "m"), Status.UNKNOWN),
    ("no boot id", ("db", None, "10.0.0.1"), ("db", "b", "10.0.0.2", "m"), Status.UNKNOWN),
    ("no boot id, no machine id", ("db", "b", "10.0.0.1"), ("db2", None, "10.0.0.1", None), Status.UNKNOWN),
    ("no boot id, another installation", ("db", None, "10.0.0.1"), ("db", None, "10.0.0.2", "n"), Status.PASS),
]


@pytest.mark.parametrize(("on_old", "on_new", "status"), [row[1:] for row in HOSTS], ids=[row[0] for row in HOSTS])
def test_the_very_cluster_is_no_copy_of_itself(
    on_old: tuple[str, str | None, str], on_new: tuple[str, str | None, str, str | None], status: Status
) -> None:
    """Two profiles lead to one host, and the target is the cluster that moves."""
    facts = host(old(), *on_old), host(new(cluster()), *on_new)
    itself = move(target=DATA)
    result = one("two-places", *facts, itself)
    assert (result.status, result.blocking) == (status, True)
    for shown, (name, boot, address, *_) in ((result.old, on_old), (result.new, on_new)):
        assert [value for value in (f"host {name}", address, DATA) if value not in shown] == []
        assert status is Status.PASS or f"boot ID {boot or NOTHING}" in shown
    expected = Status.WARNING if status is Status.PASS else status
    assert one("target-identity", *facts, itself).status is expected
    assert one("two-places", *facts).status is Status.PASS


@pytest.mark.parametrize(
    ("on_old", "on_new", "shown"),
    [
        (("old", "b", "10.0.0.1"), ("new", "b", "10.0.0.2"), ("host old, 10.0.0.1: ", "host new, 10.0.0.2: ")),
        (("db", "b", "10.0.0.1"), ("db", "c", "10.0.0.2"), ("host db, boot ID b, ", "host db, boot ID c, ")),
        (
            ("db", None, "10.0.0.1"),
            ("db", None, "10.0.0.2", "n"),
            ("host db, machine ID m, ", "host db, machine ID n, "),
        ),
        (("old", None, "10.0.0.1"), ("new", None, "10.0.0.2"), ("host old, 10.0.0.1: ", "host new, 10.0.0.2: ")),
    ],
    ids=["containers of one kernel", "two starts", "two installations", "clones of unknown boots"],
)
def test_two_hosts_are_shown_by_what_tells_them_apart(
    on_old: tuple[str, str | None, str], on_new: tuple[str, str | None, str], shown: tuple[str, str]
) -> None:
    result = one("two-places", host(old(), *on_old), host(new(), *on_new))
    assert result.status is Status.PASS
    assert [result.old.startswith(shown[0]), result.new.startswith(shown[1])] == [True, True]


@pytest.mark.parametrize(
    ("target", "spaces", "status"),
    [
        (f"{DATA}/new", {}, Status.BLOCKER),
        ("/srv/pg/", {}, Status.BLOCKER),
        (f"{TARGET}/../../data/.", {}, Status.BLOCKER),
        (f"{DATA}2", {}, Status.BLOCKER),
        ("/space/data", {"/space": "/space2"}, Status.BLOCKER),
        (TARGET, {"/space": f"{DATA}/space"}, Status.BLOCKER),
        (f"{DATA}2", {"/space": "/space2"}, Status.PASS),
    ],
)
def test_places_on_one_host(target: str, spaces: dict[str, str], status: Status) -> None:
    """A tablespace that is given no place of its own stays where it is: on one host, on itself."""
    facts = (
        host(old(cluster(tablespaces=(space("/space"),))), "db", "b", "10.0.0.1"),
        host(new(), "db", "b", "10.0.0.1"),
    )
    assert one("two-places", *facts, move(target=target, tablespace_targets=spaces)).status is status


def test_two_hosts_with_the_same_network_storage() -> None:
    def mounted(facts: Facts, point: str, device: str = "nas:/vol/pg", kind: str = "nfs4") -> Facts:
        return replace(facts, file_systems=(*facts.file_systems, FileSystem(point, device, kind, (), 9, 9)))

    old_facts, elsewhere = mounted(old(), "/srv/pg/data"), move(target="/mnt/x")
    assert one("two-places", old_facts, mounted(new(), "/mnt"), elsewhere).status is Status.BLOCKER
    assert one("two-places", old_facts, mounted(new(), "/mnt", "nas:/vol/pg2"), elsewhere).status is Status.PASS
    data = move(cluster="/nas/data", target="/nas/copy")
    apart = mounted(old(cluster(data_directory="/nas/data")), "/nas"), mounted(new(), "/nas")
    assert one("two-places", *apart, data).status is Status.PASS
    overlay = mounted(old(), "/srv/pg/data", "overlay", "overlay"), mounted(new(), "/srv/pg/data", "overlay", "overlay")
    assert one("two-places", *overlay, move(target=DATA)).status is Status.PASS


def test_a_server_runs_in_the_target() -> None:
    result = one("target-stopped", old(), new(cluster(data_directory=TARGET, running=True)))
    assert (result.status, result.blocking) == (Status.BLOCKER, True)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.PASS),
        ({"running": True, "control": control(state="in production")}, Status.PASS),
        ({"fenced": True, "control": control(state="shut down")}, Status.WARNING),
        ({"control": control(state="in production")}, Status.BLOCKER),
        ({"control": control(state="shut down in recovery")}, Status.BLOCKER),
        ({"control": None}, Status.UNKNOWN),
    ],
)
def test_old_stopped(changes: dict[str, Any], status: Status) -> None:
    assert one("old-stopped", old(cluster(**changes)), new()).status is status


@pytest.mark.parametrize(
    ("lying", "running", "status"),
    [
        (("postmaster.pid",), True, Status.PASS),
        (("postmaster.pid",), False, Status.WARNING),
        (("standby.signal",), False, Status.BLOCKER),
        (("base/pgsql_tmp/pgsql_tmp1.0", "backup_label"), False, Status.BLOCKER),
    ],
)
def test_leftovers(lying: tuple[str, ...], running: bool, status: Status) -> None:
    assert one("leftovers", old(cluster(leftovers=lying, running=running)), new()).status is status


def test_a_link_that_leads_nowhere() -> None:
    result = one("links", old(cluster(links=(Link("pg_wal", "/gone", dangling=True),))), new())
    assert result.status is Status.BLOCKER
    assert "/gone" in result.old


def test_a_tablespace_inside_the_data_directory() -> None:
    inside = cluster(tablespaces=(space(f"{DATA}/space"),))
    assert one("tablespaces-inside", old(inside), new()).status is Status.WARNING
    beside = cluster(tablespaces=(space(f"{DATA}2"),))
    result = one("tablespaces-inside", old(beside), new())
    assert (result.status, result.old) == (Status.PASS, "1 tablespace outside")
    assert one("tablespaces-inside", old(), new()).old == "0 tablespaces outside"


@pytest.mark.parametrize(
    ("targets", "status"),
    [
        ({}, Status.PASS),
        ({"/space": "/x"}, Status.PASS),
        ({"/wal": "/x"}, Status.PASS),
        ({"/not/there": "/x"}, Status.BLOCKER),
        ({"/space": "/x", "/space/": "/y"}, Status.BLOCKER),
        ({f"{DATA}/space": "/x"}, Status.BLOCKER),
    ],
)
def test_a_target_for_what_the_cluster_does_not_have(targets: dict[str, str], status: Status) -> None:
    links = (Link("pg_wal", "/wal", dangling=False, files=3),)
    holding = old(cluster(tablespaces=(space("/space"), space(f"{DATA}/space", 16401)), links=links))
    result = one("tablespace-targets", holding, new(), move(tablespace_targets=targets))
    assert (result.status, result.blocking) == (status, True)
    if status is Status.BLOCKER:
        assert list(targets)[-1] in result.message


def _with_room(available: int, inodes: int | None = 8_000_000) -> Facts:
    system = FileSystem("/srv/pg", "/dev/sdb", "xfs", ("rw",), 90_000_000_000, available, 9_000_000, inodes)
    return replace(new(), file_systems=(new().file_systems[0], system))


@pytest.mark.parametrize(
    ("available", "status"),
    [(9_999_999_999, Status.BLOCKER), (10_000_000_000, Status.WARNING), (10_600_000_000, Status.PASS)],
)
def test_space(available: int, status: Status) -> None:
    assert one("space", old(), _with_room(available)).status is status


def test_space_is_counted_for_each_file_system() -> None:
    """The tablespace of 4 GB goes to the root file system, the other 6 GB to the data disk."""
    moved = move(tablespace_targets={"/space": "/var/space"})
    holding = old(cluster(tablespaces=(space("/space"),)))
    assert one("space", holding, _with_room(6_500_000_000), moved).status is Status.PASS
    result = one("space", holding, _with_room(5_000_000_000), moved)
    assert result.status is Status.BLOCKER
    assert "/srv/pg" in result.message
    full = replace(
        new(), file_systems=tuple(replace(each, available_bytes=3_000_000_000) for each in new().file_systems)
    )
    short = re.findall(r"(/\S*) \D+([\d.]+ GiB) \D+([\d.]+ GiB)", one("space", holding, full, moved).message)
    assert short == [("/", "3.7 GiB", "2.8 GiB"), ("/srv/pg", "5.6 GiB", "2.8 GiB")]


def test_an_earlier_copy_is_overwritten_not_added() -> None:
    there = replace(_with_room(1_000_000_000), clusters=(cluster(data_directory=TARGET),))
    assert one("space", old(), there).status is Status.PASS
    other = replace(there, clusters=(cluster(data_directory=TARGET, control=control(system_identifier="2")),))
    assert one("space", old(), other).status is Status.BLOCKER


@pytest.mark.parametrize(
    ("available", "status"),
    # 2,000 files
    [(4_000_000, Status.BLOCKER), (4_100_000, Status.PASS), (80_000_000_000, Status.PASS)],
)
def test_room_for_lists_of_files(available: int, status: Status) -> None:
    tmp = FileSystem("/tmp", "/dev/sdb", "xfs", ("rw",), 90_000_000_000, available)
    here = replace(old(), file_systems=(*old().file_systems, tmp))
    assert one("lists", here, new()).status is status
    apart = one("lists", replace(here, file_systems=(*old().file_systems, replace(tmp, device="/dev/sdc"))), new())
    assert apart.status is status
    data = FileSystem("/srv/pg", "/dev/sdb", "xfs", ("rw",), 90_000_000_000, available)
    beside = one("lists", replace(here, file_systems=(tmp, data)), new())
    assert (beside.message != apart.message) is (status is Status.BLOCKER)
    assert one("lists", old(), replace(new(), file_systems=(tmp, data))).status is status


def test_inodes() -> None:
    assert one("inodes", old(), _with_room(80_000_000_000, 1999)).status is Status.BLOCKER
    assert one("inodes", old(), _with_room(80_000_000_000, None)).status is Status.PASS
    assert one("inodes", old(cluster(files=None)), new()).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("setting", "status"),
    [("8GB", Status.PASS), ("14GB", Status.WARNING), ("16384", Status.PASS), ("100 percent", Status.UNKNOWN)],
)
def test_memory(setting: str, status: Status) -> None:
    assert one("memory", old(cluster(settings={"shared_buffers": setting})), new()).status is status
    if setting == "16384":
        small = replace(new(), memory=Memory(150_000_000, None, 0))
        assert one("memory", old(cluster(settings={"shared_buffers": setting})), small).status is Status.WARNING


@pytest.mark.parametrize(
    ("limit", "status"), [(None, Status.PASS), (16, Status.PASS), (15, Status.WARNING), (7, Status.WARNING)]
)
def test_memory_that_a_control_group_limits(limit: int | None, status: Status) -> None:
    memory = Memory(32 << 30, 30 << 30, 0, limit_bytes=None if limit is None else limit << 30)
    of = cluster(settings={"shared_buffers": "6553MB"})
    found = one("memory", old(of), replace(new(), memory=memory))
    assert found.status is status
    assert found.new == f"memory {32 if limit is None else limit}.0 GiB"
    assert ("control group" in found.message) is (limit is not None)


def test_huge_pages_are_memory_beside_that_of_a_control_group() -> None:
    pages = HugePages(2 << 20, 4096, 4096, 0)
    memory = Memory(32 << 30, 20 << 30, 0, 4096, 2 << 20, (pages,), limit_bytes=4 << 30)
    of = cluster(settings={"shared_buffers": "6GB", "shared_memory_size": "6400MB", "huge_pages": "try"})
    found = one("memory", old(of), replace(new(), memory=memory))
    assert (found.status, found.new) == (Status.PASS, "memory 32.0 GiB")
    without = one(
        "memory", old(replace(of, settings=of.settings | {"huge_pages": "off"})), replace(new(), memory=memory)
    )
    assert (without.status, without.new) == (Status.WARNING, "memory 4.0 GiB")
    assert "control group" in without.message


def test_tools() -> None:
    lacking = replace(new(), tools=(Tool("rsync", None, None),))
    assert one("rsync", old(), lacking).status is Status.BLOCKER
    assert {"rsync", "new"} <= set(re.findall(r"\w+", one("rsync", old(), lacking).message))
    assert one("rsync", old(), replace(new(), tools=())).status is Status.UNKNOWN


def test_find_and_tar_of_busybox_stop_a_move() -> None:
    busybox = tuple(replace(tool, version=None) if tool.name in {"find", "tar"} else tool for tool in old().tools)
    result = one("gnu-tools", old(), replace(new(), tools=busybox))
    assert result.status is Status.BLOCKER
    named = re.findall(r"\b(find|tar|\w+sum|sort) \(server (old|new)\)", result.message)
    assert named == [("find", "new"), ("tar", "new")]
    assert one("ssh", replace(old(), tools=(Tool("ssh", None, None),)), new()).status is Status.BLOCKER


def test_pages_that_had_another_name() -> None:
    assert documentation("upgrading", "9.0").endswith("/9.0/migration.html")
    assert documentation("upgrading", "15").endswith("/15/upgrading.html")
    assert documentation("collation", "8.4").endswith("/8.4/locale.html")
    assert documentation("upgrading", None).endswith("/current/upgrading.html")
