"""Where the programs of a series are looked for."""

from dataclasses import replace
from datetime import UTC, datetime

from core.facts.model import Cluster, Facts, Tool
from core.facts.programs import can_run, program_path, programs_of

CLUSTER = Cluster("/srv/pg/data", "15", "15.5", running=True, port=5432, owner="postgres", bin_directory="/opt/pg/bin")
FACTS = Facts("old", datetime(2026, 1, 1, tzinfo=UTC), 0.0, 1, clusters=(CLUSTER,))


def test_the_programs_of_a_cluster_come_first() -> None:
    assert program_path(FACTS, "15", "postgres").startswith("/opt/pg/bin:/usr/lib/postgresql/15/bin:")
    assert program_path(FACTS, "16", "postgres").startswith("/usr/lib/postgresql/16/bin:")


def test_a_server_program_of_that_series_is_found_wherever_it_lies() -> None:
    found = replace(FACTS, clusters=(), tools=(Tool("postgres", "/usr/local/pgsql/bin/postgres", "9.6.24"),))
    assert program_path(found, "9.6", "postgres").startswith("/usr/local/pgsql/bin:")
    assert program_path(found, "15", "postgres").startswith("/usr/lib/postgresql/15/bin:")


def test_what_an_account_says_of_its_programs_counts_for_it_alone() -> None:
    fake = replace(CLUSTER, data_directory="/home/mallory/data", owner="mallory", bin_directory="/home/mallory/bin")
    found = replace(FACTS, clusters=(fake, CLUSTER))
    assert program_path(found, "15", "mallory").startswith("/home/mallory/bin:/usr/lib/postgresql/15/bin:")
    assert program_path(found, "15", "postgres").startswith("/opt/pg/bin:/usr/lib/postgresql/15/bin:")
    for path in (program_path(found, "15", "postgres"), programs_of(found, CLUSTER, "postgres")):
        assert "mallory" not in path
    assert "/opt/pg/bin" not in program_path(found, "15", "root")


def test_packages_serve_everybody() -> None:
    packaged = replace(CLUSTER, owner="mallory", bin_directory="/usr/lib/postgresql/15.5/bin")
    sly = replace(packaged, bin_directory="/usr/../home/mallory/bin")
    assert can_run(packaged, "postgres")
    assert not can_run(sly, "postgres")
    assert not can_run(replace(packaged, bin_directory="/usr/local/pgsql/bin"), "postgres")
    assert not can_run(replace(packaged, bin_directory=None), "mallory")


def test_a_cluster_is_run_by_its_own_programs() -> None:
    """Of one series several may be installed, each with libraries that the others lack."""
    other = replace(CLUSTER, data_directory="/srv/pg/other", bin_directory="/opt/other/bin")
    both = replace(FACTS, clusters=(CLUSTER, other))
    assert programs_of(both, CLUSTER, "postgres").split(":")[:2] == ["/opt/pg/bin", "/opt/other/bin"]
    assert programs_of(both, other, "postgres").split(":")[:2] == ["/opt/other/bin", "/opt/pg/bin"]
