"""PostgreSQL's version texts, forks and pre-releases among them."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.versions import parse_version

DATA = Path(__file__).parents[2] / "data" / "pg_version"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded_versions(name: str) -> None:
    assert asdict(parse_version((DATA / name).read_text(encoding="utf-8"))) == EXPECTED[name]["fields"]


@pytest.mark.parametrize(
    ("text", "product", "version", "series", "minor"),
    [
        ("postgres (PostgreSQL) 15.5", "PostgreSQL", "15.5", "15", 5),
        ("pg_ctl (PostgreSQL) 9.6.24", "PostgreSQL", "9.6.24", "9.6", 24),
        ("psql (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "PostgreSQL", "15.18", "15", 18),
        ("PostgreSQL 10.0", "PostgreSQL", "10.0", "10", 0),
        ("PostgreSQL 8.2 on x86_64", "PostgreSQL", "8.2", "8.2", None),
        ("17devel", "PostgreSQL", "17devel", "17", None),
        ("9.6", "PostgreSQL", "9.6", "9.6", None),
        ("15", "PostgreSQL", "15", "15", None),
        ("postgres (EnterpriseDB) 15.4.0", "EDB Postgres Advanced Server", "15.4", "15", 4),
        ("EnterpriseDB 9.6.5.10 on x86_64-pc-linux-gnu", "EDB Postgres Advanced Server", "9.6.5", "9.6", 5),
        ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.12103", "Redshift", "8.0.2", "8.0", 2),
        ("PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu", "YugabyteDB", "11.2", "11", 2),
        ("PostgreSQL 9.2.4 (openGauss 5.0.0 build a07d57c3) compiled at 2023", "openGauss", "9.2.4", "9.2", 4),
    ],
)
def test_other_texts(text: str, product: str, version: str, series: str, minor: int | None) -> None:
    found = parse_version(text)
    assert (found.product, found.version, found.series, found.minor) == (product, version, series, minor)


@pytest.mark.parametrize("text", ["", "PostgreSQL", "MySQL 8.0.35", "compiled by gcc 12.2.0", "15.5.tar.gz15x"])
def test_other_things_are_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"^version: "):
        parse_version(text)
