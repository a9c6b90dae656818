"""Where the programs of a series are looked for."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.errors import ParseError
from core.facts.model import Cluster, Facts, Tool
from core.facts.programs import (
    SERVER_PROGRAMS,
    can_run,
    parse_server_programs,
    program_path,
    programs_of,
    server_programs,
)

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


def test_a_server_program_beside_others_is_found_after_the_packages() -> None:
    found = replace(FACTS, clusters=(), further={SERVER_PROGRAMS.title: {"/opt/shop/bin/postgres": "15.18"}})
    assert program_path(found, "15", "postgres").split(":")[1:3] == ["/usr/pgsql-15/bin", "/opt/shop/bin"]
    assert "/opt/shop/bin" not in program_path(found, "16", "postgres")
    assert server_programs(FACTS) is None


INSTALLED = """server /usr/lib/postgresql/16/bin/postgres
: postgres (PostgreSQL) 16.2 (Debian 16.2-1.pgdg120+2)
server /usr/lib/postgresql/15/bin/postgres
: postgres (PostgreSQL) 15.18
server /opt/shop/bin/postgres
server /opt/odd/bin/postgres
: Segmentation fault
server /usr/lib/postgresql/16/bin/postgres
: postgres (PostgreSQL) 16.2 (Debian 16.2-1.pgdg120+2)
"""


def test_each_program_has_its_version_if_it_has_told_one() -> None:
    assert parse_server_programs(INSTALLED) == {
        "/usr/lib/postgresql/16/bin/postgres": "16.2",
        "/usr/lib/postgresql/15/bin/postgres": "15.18",
        "/opt/shop/bin/postgres": "",
        "/opt/odd/bin/postgres": "",
    }
    assert parse_server_programs("") == {}


@pytest.mark.parametrize("text", ["Segmentation fault\n", ": postgres (PostgreSQL) 15.18\n", "server postgres\n"])
def test_a_line_of_no_program_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="server programs"):
        parse_server_programs(text)
