"""When a copy can be started while old serves its clients, and what it must not do then."""

from typing import Any

import pytest

from core.facts.catalog import ClusterWide
from core.facts.model import Link
from core.migration.findings.dress import explain_no_dress_rehearsal, list_recovery_isolation_settings
from tests.core.migration.builders import cluster, move, new, old, space


def refused(*, one: bool = False, **changes: Any) -> str:
    made = cluster(**{"running": True, **changes})
    here = old(made)
    return explain_no_dress_rehearsal(move(), made, here, here if one else new())


def test_a_running_cluster_that_was_asked_can_be() -> None:
    assert refused() == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"running": False}, "is stopped"),
        ({"series": "9.6"}, "9.6"),
        ({"databases": ()}, "SQL"),
        ({"settings": {"wal_level": "minimal"}}, "wal_level"),
        ({"wide": ClusterWide(in_recovery=True)}, "standby"),
    ],
)
def test_what_cannot_be_is_said(changes: dict[str, Any], said: str) -> None:
    assert said in refused(**changes)


def test_neither_can_one_within_one_host_nor_with_wal_that_no_root_holds() -> None:
    assert "same host" in refused(one=True)
    inside = Link("pg_wal", "/space/wal", dangling=False)
    assert "WAL" in refused(links=(inside,), tablespaces=(space("/space"),))


def test_it_replays_and_takes_nothing_from_elsewhere() -> None:
    held = dict(each.split("=", 1) for each in list_recovery_isolation_settings(cluster(series="15")))
    assert {"max_worker_processes", "max_wal_senders"}.isdisjoint(
        held
    )  # a server in recovery takes no less than old had
    assert (held["listen_addresses"], held["archive_mode"], held["hot_standby"]) == ("", "off", "on")
    assert (held["promote_trigger_file"], held["external_pid_file"], held["ssl"]) == ("", "", "off")
    assert held["recovery_target_timeline"] == "current"
    assert (held["restore_command"], held["primary_conninfo"], held["recovery_target_time"]) == ("", "", "")
    before = dict(each.split("=", 1) for each in list_recovery_isolation_settings(cluster(series="11")))
    assert {"restore_command", "promote_trigger_file"}.isdisjoint(
        before
    )  # they stand in recovery.conf, which the copy brings
    later = dict(each.split("=", 1) for each in list_recovery_isolation_settings(cluster(series="16")))
    assert {"promote_trigger_file", "stats_temp_directory"}.isdisjoint(later)
    assert not any(" " in each for each in list_recovery_isolation_settings(cluster(series="18")))
