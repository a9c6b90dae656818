import pytest

from core.migration.findings.releases import Release, parse_release


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15.5", Release("15", 5)),
        ("15.18 (Debian 15.18-0+deb12u1)", Release("15", 18)),
        ("9.6.24", Release("9.6", 24)),
        ("8.2.18", Release("8.2", 18)),
        ("19", Release("19", None)),
        ("18beta1", Release("18", None, "beta1")),
        ("13rc1", Release("13", None, "rc1")),
        ("17devel", Release("17", None, "devel")),
        ("postgres (PostgreSQL) 14.2", Release("14", 2)),
        ("9.4.26 (Greenplum Database 6.25.3)", Release("9.4", 26, fork="Greenplum")),
        ("EnterpriseDB 9.6.5.10", Release("9.6", 5, fork="EDB Postgres Advanced Server")),
        ("9.2.4 (openGauss 3.0.0 build 02c14696)", Release("9.2", 4, fork="openGauss")),
        ("8.0.1", Release("8.0", 1)),
        ("PostgreSQL 15.4 (Amazon Aurora)", Release("15", 4, fork="Amazon Aurora")),
        ("15.4 (Cloud SQL)", Release("15", 4, fork="Google Cloud SQL")),
        ("8.0.2 (Redshift 1.0.12103)", Release("8.0", 2, fork="Redshift")),
        ("15.5 (Debian 15.5-1.pgdg120+1) with Citus 12.1", Release("15", 5)),
        ("11.2-YB-2.21.0.0-b0", Release("11", 2, fork="YugabyteDB")),
    ],
)
def test_parse_release(text: str, expected: Release) -> None:
    assert parse_release(text) == expected


def test_a_release_of_three_numbers_is_a_build_of_somebody_elses() -> None:
    found = parse_release("17.4.0")
    assert found is not None
    assert (found.major_version, found.minor) == ("17", 4)
    assert (found.fork or "").endswith(" 17.4.0")


@pytest.mark.parametrize("text", [None, "", "unknown", "()"])
def test_no_release(text: str | None) -> None:
    assert parse_release(text) is None
