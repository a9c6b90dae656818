import re

import pytest

from core.facts.catalog import ClusterWide, Setting
from core.migration.findings.local_start import (
    list_isolation_settings,
    list_isolation_settings_for_rebuild,
    list_session_libraries,
    list_unbound_worker_libraries,
)
from tests.core.migration.builders import cluster

ALL = ("event_triggers=off", "max_logical_replication_workers=0", "max_worker_processes=0", "autovacuum=off")


@pytest.mark.parametrize(
    ("series", "known"),
    [
        ("17", ALL),
        ("16", ALL[1:]),
        ("9.6", ALL[2:]),
        ("9.3", ALL[3:]),
        ("8.2", ALL[3:]),
    ],
)
def test_a_series_is_told_its_own_settings_alone(series: str, known: tuple[str, ...]) -> None:
    told = list_isolation_settings(cluster(series=series))
    assert [each in told for each in ALL] == [each in known for each in ALL]


def test_a_setting_needs_no_quotes_in_a_list_of_options() -> None:
    assert all(re.fullmatch(r"[a-z_]+=\w*", each) for each in list_isolation_settings(cluster(series="18")))


@pytest.mark.parametrize(
    ("libraries", "parallel"),
    [
        ("", True),
        ('pg_stat_statements, "$libdir/auto_explain.so"', True),
        ("pg_stat_statements, pg_cron", False),
        ("timescaledb", False),
    ],
)
def test_indexes_are_built_in_parallel_where_no_library_could_start_a_worker(libraries: str, parallel: bool) -> None:
    found = cluster(settings={"shared_preload_libraries": libraries})
    assert ("max_worker_processes=0" not in list_isolation_settings_for_rebuild(found)) is parallel
    assert "max_worker_processes=0" in list_isolation_settings(found)
    assert set(list_isolation_settings(found)) - set(list_isolation_settings_for_rebuild(found)) <= {
        "max_worker_processes=0"
    }


def test_libraries_that_the_next_start_loads_are_not_known() -> None:
    found = cluster(wide=ClusterWide(pending=("shared_preload_libraries",)))
    assert list_isolation_settings_for_rebuild(found) == list_isolation_settings(found)


def test_a_series_without_a_bound_for_workers() -> None:
    libraries = {"shared_preload_libraries": "pg_stat_statements,worker_spi"}
    assert list_unbound_worker_libraries(cluster(series="9.3", settings=libraries)) == ("worker_spi",)
    assert list_unbound_worker_libraries(cluster(series="9.4", settings=libraries)) == ()


def test_what_a_role_or_database_has_sessions_load() -> None:
    settings = (
        Setting("session_preload_libraries", "auto_explain, login_hook", "database or role"),
        Setting("session_preload_libraries", "other", "configuration file"),
    )
    assert list_session_libraries(cluster(wide=ClusterWide(settings=settings))) == ("login_hook",)
    assert list_session_libraries(cluster(wide=None)) == ()
