"""What a plan does of settings that were edited and are not in force, by what was chosen."""

from core.facts.catalog import Edited
from core.migration.model import step_ids
from core.migration.model.move import EditedSettings
from core.migration.model.plan import Plan
from core.servers.shell import words_of
from tests.core.migration.builders import TARGET
from tests.core.migration.plan.plans import plan, step

EDITS = (Edited("port", "5432", "5433"), Edited("search_path", "it's", "a"))


def made(chosen: EditedSettings | None) -> Plan:
    return plan({"running": True, "edited": EDITS}, {"edited": chosen})


def words(of: Plan, known: str) -> list[str]:
    return words_of(step(of, known).call)


def test_unless_it_was_chosen_nothing_is_set_and_the_server_counts() -> None:
    of = made(None)
    assert of.step(step_ids.KEEP_SETTINGS_IN_FORCE) is None
    assert words(of, step_ids.LIST_LISTENERS)[0] == "record_listeners"
    assert words(of, step_ids.COMPARE_SETTINGS)[7:9] == ["cutover", "-"]
    assert all(words_of(each.call)[-1] == "-" for each in of.way_back if each.id == step_ids.START_OLD_CLUSTER)


def test_what_is_in_force_is_set_before_the_first_start_and_given_to_the_old_server() -> None:
    of = made(EditedSettings.IN_FORCE)
    known = [each.id for each in of.steps]
    assert known.index(step_ids.KEEP_SETTINGS_IN_FORCE) == known.index(step_ids.START_LOCALLY) - 1
    assert words(of, step_ids.KEEP_SETTINGS_IN_FORCE) == ["append_settings", TARGET, "port=5432", "search_path=it's"]
    assert "it''s" in words_of(step(of, step_ids.KEEP_SETTINGS_IN_FORCE).native[1].partition(" >>")[0])[2]
    assert {"port", "search_path"} <= set(words(of, step_ids.COMPARE_INVENTORY)[-1].split(","))
    assert words(of, step_ids.LIST_LISTENERS)[0] == "record_listeners"
    (back,) = (each for each in of.way_back if each.id == step_ids.START_OLD_CLUSTER)
    assert words_of(words_of(back.call)[-1]) == ["-c", "port=5432", "-c", "search_path=it's"]
    assert any("port=5432" in each for each in back.native)
    assert words(of, step_ids.CHECK_OLD_RUNS)[3:] == ["5432", "-", "port=5432", "search_path=it's"]
    assert all("port=5432" not in each.call for each in of.steps if each.point_of_no_return)
    assert any("ALTER SYSTEM RESET" in each for each in map(str, of.advice))


def test_where_the_files_hold_both_servers_listen_by_them() -> None:
    of = made(EditedSettings.FILE)
    assert of.step(step_ids.KEEP_SETTINGS_IN_FORCE) is None
    assert [words(of, step_ids.LIST_LISTENERS)[at] for at in (0, -1)] == ["print_configured_listeners", "started"]
    assert "5433" in words(of, step_ids.START_LOCALLY)
    assert words(of, step_ids.COMPARE_SETTINGS)[7:9] == ["cutover", "port,search_path"]
    assert words(of, step_ids.CHECK_OLD_RUNS)[3:] == ["5433,5432", "-"]
    assert words(of, step_ids.COMPARE_OLD_SETTINGS)[7:9] == ["rollback", "port,search_path"]


def test_what_postmaster_opts_does_not_tell_back_is_set_on_new_alone() -> None:
    edits = (Edited("port", "5432", "5433"), Edited("search_path", '"$user", public', "a"))
    of = plan({"running": True, "edited": edits}, {"edited": EditedSettings.IN_FORCE})
    assert words(of, step_ids.KEEP_SETTINGS_IN_FORCE)[2:] == ["port=5432", 'search_path="$user", public']
    (back,) = (each for each in of.way_back if each.id == step_ids.START_OLD_CLUSTER)
    assert words_of(words_of(back.call)[-1]) == ["-c", "port=5432"]
    assert words(of, step_ids.CHECK_OLD_RUNS)[3:] == ["5432", "-", "port=5432"]
