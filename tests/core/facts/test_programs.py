"""Where the programs of a series are looked for."""

from dataclasses import replace
from datetime import UTC, datetime

from core.facts.model import Cluster, Facts, Tool
from core.facts.programs import program_path

CLUSTER = Cluster("/srv/pg/data", "15", "15.5", running=True, port=5432, owner="postgres", bin_directory="/opt/pg/bin")
FACTS = Facts("old", datetime(2026, 1, 1, tzinfo=UTC), 0.0, 1, clusters=(CLUSTER,))


def test_the_programs_of_a_cluster_come_first() -> None:
    assert program_path(FACTS, "15").startswith("/opt/pg/bin:/usr/lib/postgresql/15/bin:")
    assert program_path(FACTS, "16").startswith("/usr/lib/postgresql/16/bin:")


def test_a_server_program_of_that_series_is_found_wherever_it_lies() -> None:
    found = replace(FACTS, clusters=(), tools=(Tool("postgres", "/usr/local/pgsql/bin/postgres", "9.6.24"),))
    assert program_path(found, "9.6").startswith("/usr/local/pgsql/bin:")
    assert program_path(found, "15").startswith("/usr/lib/postgresql/15/bin:")
