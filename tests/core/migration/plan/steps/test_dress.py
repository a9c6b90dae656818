"""A dress rehearsal's steps: behind the warm passes, before anything is stopped, and in no plan of a move."""

from dataclasses import replace

import pytest

from core.errors import InputError
from core.facts.catalog import ClusterWide, Setting
from core.migration.model import step_ids
from core.migration.model.dress import USUAL, Queries, RehearsalOptions, Script
from core.migration.model.plan import ROOT_USER, Phase, Plan
from core.servers.shell import words_of
from tests.core.migration.builders import space
from tests.core.migration.plan.plans import plan, step

READY = step_ids.CHECK_REHEARSAL_PROGRAMS
STEPS = [step_ids.REHEARSE_PASS, step_ids.REHEARSE_START, step_ids.REHEARSE_STOP]


def made(queries: Queries | None = None) -> Plan:
    return plan(
        {"running": True, "tablespaces": (space("/space"),)}, dressed=True, asked=RehearsalOptions(queries=queries)
    )


def test_its_steps_come_behind_the_warm_passes_and_before_the_stop() -> None:
    numbers = [step(made(), each).number for each in STEPS]
    assert numbers == sorted(numbers)
    assert numbers[0] > max(each.number for each in made().steps if each.precopy_pass)
    assert numbers[-1] < min(each.number for each in made().steps if each.downtime)
    assert all(step(made(), each).in_rehearsal for each in (READY, *STEPS))
    assert not {each.id for each in plan({"running": True}).steps} & {READY, *STEPS}


def test_what_the_copy_needs_is_looked_for_before_anything_is_copied() -> None:
    listed = (
        Setting("shared_preload_libraries", "/srv/x.so", "configuration file"),
        Setting("dynamic_library_path", "/srv/of_the_role", "user"),
    )
    dressed = plan({"running": True, "wide": ClusterWide(settings=listed)}, dressed=True)
    assert step(dressed, READY).number < min(each.number for each in dressed.steps if each.precopy_pass)
    assert words_of(step(dressed, READY).call)[2:4] == ["/srv/x.so", ""]


def test_it_copies_every_data_root_and_ends_what_it_has_started() -> None:
    words = words_of(step(made(), step_ids.REHEARSE_PASS).call)
    assert words[:1] == ["run_beside_server"]
    assert {"dress_pass", "data", "/space"} <= set(words)
    assert words_of(step(made(), step_ids.REHEARSE_START).call)[-2:] == ["pg_tblspc/16400", "/space"]
    assert words_of(step(made(), step_ids.REHEARSE_STOP).call)[0] == "dress_stop_copy"
    assert step(made(), step_ids.REHEARSE_STOP).resume.closes_channel


def asking(asked: RehearsalOptions = USUAL) -> Plan:
    return plan({"running": True, "size_bytes": 12 * 10**9}, dressed=True, asked=asked)


def test_the_old_server_keeps_as_much_wal_as_was_asked_for() -> None:
    words = words_of(step(asking(), step_ids.REHEARSE_PASS).call)
    at = words.index("dress_pass") + 6
    assert words[at : at + 2] == ["-", "12"]
    limited = step(asking(RehearsalOptions(keep_wal_bytes=2_000_000_000)), step_ids.REHEARSE_PASS)
    assert words_of(limited.call)[at] == "2000000000"
    assert "1.9 GiB" in limited.reason


def test_amcheck_looks_only_where_it_was_asked_for() -> None:
    assert words_of(step(asking(), step_ids.REHEARSE_START).call)[0] == "dress_run_copy"
    asked = step(asking(RehearsalOptions(amcheck_seconds=60)), step_ids.REHEARSE_START)
    assert words_of(asked.call)[:3] == ["with_amcheck", "60", "dress_run_copy"]
    assert any("bt_index_check" in line for line in asked.native)
    assert "amcheck_copy" in asking(RehearsalOptions(amcheck_seconds=60)).functions


def test_no_stage_of_an_estimate_takes_its_time() -> None:
    assert {step(made(), each).phase for each in STEPS} == {Phase.DRESS}
    assert {step(made(), each).expected_seconds for each in STEPS} == {None}


QUERIES = Queries((Script("one.sql", 3, "select 1;\nselect 'it''s';\n"), Script("two.sql", 1, "select 2")), "reader")


def test_queries_are_measured_on_the_copy_and_on_the_old_server_where_that_is_asked_for() -> None:
    alone, both = made(QUERIES), made(replace(QUERIES, on_old=True))
    given = ["run_with_queries", "shop", "reader", "4", "10", "2"]
    given += ["3", "2", "select 1;", "select 'it''s';", "1", "1", "select 2"]
    words = words_of(step(alone, step_ids.REHEARSE_START).call)
    assert words[: len(given) + 1] == [*given, "dress_run_copy"]
    assert "pgbench" in words_of(step(alone, step_ids.CHECK_REHEARSAL_PROGRAMS).call)
    all_asked = plan({"running": True}, dressed=True, asked=RehearsalOptions(amcheck_seconds=60, queries=QUERIES))
    words = words_of(step(all_asked, step_ids.REHEARSE_START).call)
    assert words[: len(given) + 3] == [*given, "with_amcheck", "60", "dress_run_copy"]
    assert step_ids.MEASURE_QUERIES_OLD not in {each.id for each in alone.steps}
    old = step(both, step_ids.MEASURE_QUERIES_OLD)
    assert words_of(old.call)[: len(given) + 2] == [*given, "run_while_followed", "measure_twice"]
    assert not old.detached  # its job would keep the password
    assert step(both, step_ids.CHECK_QUERIES_ROLE).number < old.number
    assert words_of(step(alone, step_ids.CHECK_QUERIES_ROLE).call)[:3] == ["check_role", "shop", "reader"]
    assert step(both, step_ids.MEASURE_QUERIES_OLD).number < min(
        each.number for each in both.steps if each.precopy_pass
    )
    assert alone.queries is not None
    assert alone.queries.database == "shop"
    assert made().queries is None


def test_the_page_cache_is_dropped_before_the_copy_starts() -> None:
    cold = step(made(QUERIES), step_ids.REHEARSE_DROP_CACHE)
    assert cold.user == ROOT_USER
    assert (
        step(made(QUERIES), step_ids.REHEARSE_PASS).number
        < cold.number
        < step(made(QUERIES), step_ids.REHEARSE_START).number
    )
    assert step_ids.REHEARSE_DROP_CACHE not in {each.id for each in made().steps}


def test_where_none_can_be_made_it_is_said() -> None:
    with pytest.raises(InputError, match="is stopped"):
        plan(dressed=True)
