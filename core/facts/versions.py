"""PostgreSQL's version numbers, from `version()`, from a program's `--version`, or bare.

Before 10 a major version has two numbers (8.2, 9.6) and the third is the minor release; since 10 it has one
(https://www.postgresql.org/support/versioning/). Forks print a PostgreSQL number too; it says where they branched off,
not what their data files are compatible with, so the product is told apart.
"""

import re
from dataclasses import dataclass

from core.facts.parsing import first_line, unreadable_error


@dataclass(frozen=True, slots=True)
class Version:
    """One version. What the text does not tell is None; of a fork, the number is PostgreSQL's."""

    product: str
    version: str | None
    series: str | None
    minor: int | None
    prerelease: str | None
    """`beta1`, `rc2`, `devel`…"""
    architecture: str | None


# behind it a packager or a fork may have put whatever they count by: -YB-2.13, +deb12u1, _1, .dfsg
_NUMBER = re.compile(
    r"(?P<numbers>[0-9]{1,3}(?:\.[0-9]{1,5}){0,4})(?P<prerelease>(?:devel|alpha|beta|rc)[0-9]*)?(?!\.?[0-9])"
)
_ARCHITECTURE = re.compile(r"(?:\bon |\ACockroachDB [^(]*\()(?P<architecture>[A-Za-z][A-Za-z0-9_]*)-[A-Za-z0-9_.]+")
_LEAD = re.compile(
    r"(?P<product>PostgreSQL|EnterpriseDB|PostgresPro|Postgres Pro)\b\)? +(?=[0-9])"  # also `NAME (PostgreSQL) 15.5`
    # bare, as server_version has it: 16.15 (Ubuntu 16.15-0ubuntu0.24.04.1), 11.2-YB-2.15.0.1-b0
    r"|\A(?=[0-9][0-9.]*(?:devel|(?:alpha|beta|rc)[0-9]+)?(?:[-+_][^\s()]{1,60})?(?: \(.{1,99}\))?\Z)",
    re.IGNORECASE,
)
_FORKS = (
    (re.compile(r"\bGreenplum\b", re.IGNORECASE), "Greenplum"),
    (re.compile(r"\bRedshift\b", re.IGNORECASE), "Redshift"),
    (re.compile(r"\bopenGauss\b", re.IGNORECASE), "openGauss"),
    (re.compile(r"\bGaussDB\b", re.IGNORECASE), "GaussDB"),
    (re.compile(r"\bCloudberry\b", re.IGNORECASE), "Cloudberry"),
    (re.compile(r"\b(?:EnterpriseDB|EDB)\b", re.IGNORECASE), "EDB Postgres Advanced Server"),
    (re.compile(r"\bPostgres ?Pro\b", re.IGNORECASE), "Postgres Pro"),
    (re.compile(r"-YB-|\bYugabyte", re.IGNORECASE), "YugabyteDB"),
    (re.compile(r"\bCockroachDB\b", re.IGNORECASE), "CockroachDB"),
    (re.compile(r"\bMaterialize\b", re.IGNORECASE), "Materialize"),
    (re.compile(r"\bAurora\b", re.IGNORECASE), "Amazon Aurora"),
    (re.compile(r"\bAmazon RDS\b|\brds\.amazonaws\b|\(RDS\)"), "Amazon RDS"),
    (re.compile(r"\bCloud ?SQL\b", re.IGNORECASE), "Google Cloud SQL"),
    (re.compile(r"\bAlloyDB\b", re.IGNORECASE), "AlloyDB"),
    (re.compile(r"\bAzure (?:Database|PostgreSQL|Cosmos)", re.IGNORECASE), "Azure Database for PostgreSQL"),
    (re.compile(r"\bAgensGraph\b", re.IGNORECASE), "AgensGraph"),
    (re.compile(r"\bBabelfish\b", re.IGNORECASE), "Babelfish"),
    (re.compile(r"\bPolarDB\b", re.IGNORECASE), "PolarDB"),
    (re.compile(r"\bIvorySQL\b", re.IGNORECASE), "IvorySQL"),
    (re.compile(r"\bVastbase\b", re.IGNORECASE), "Vastbase"),
    (re.compile(r"\bKingbase", re.IGNORECASE), "KingbaseES"),
    (re.compile(r"\bFujitsu\b", re.IGNORECASE), "Fujitsu Enterprise Postgres"),
)
"""Products that branched off, and services that run one of their own. Citus is none of them: it is an extension."""


def fork_of(text: str) -> str | None:
    """The fork or managed service that a version text names; None for PostgreSQL itself."""
    flat = " ".join(text.split())
    return next((name for pattern, name in _FORKS if pattern.search(flat)), None)


def parse_version(text: str) -> Version:
    """The version in a text such as `PostgreSQL 15.5 on x86_64-pc-linux-gnu, compiled by gcc … 12.2.0, 64-bit`.

    Line breaks of a terminal or a mail are allowed inside. Compiler and package numbers are never taken for it.

    Raises:
        ParseError: neither PostgreSQL nor one of its forks is named, and it is no bare version number.
    """
    flat = " ".join(text.split())
    fork = fork_of(flat)
    lead = _LEAD.search(flat)
    number = _NUMBER.match(flat, lead.end()) if lead is not None else None
    if number is None and fork is None:
        raise unreadable_error("version", "a text such as 'PostgreSQL 15.5 on x86_64-pc-linux-gnu'", first_line(text))
    major_version, minor = _parts(number["numbers"], number["prerelease"]) if number is not None else (None, None)
    architecture = _ARCHITECTURE.search(flat)
    return Version(
        product=fork or "PostgreSQL",
        version=_written(major_version, minor, number["prerelease"])
        if number is not None and major_version is not None
        else None,
        series=major_version,
        minor=minor,
        prerelease=number["prerelease"] if number is not None else None,
        architecture=architecture["architecture"] if architecture is not None else None,
    )


def _parts(numbers: str, prerelease: str | None) -> tuple[str, int | None]:
    """Series and minor: `9.6.24` -> 9.6, 24; `15.5` -> 15, 5; a pre-release has no minor."""
    words = numbers.split(".")
    length = 2 if int(words[0]) < 10 else 1
    major_version = ".".join(words[:length])
    has_minor = prerelease is None and len(words) > length
    return major_version, int(words[length]) if has_minor else None


def _written(major_version: str, minor: int | None, prerelease: str | None) -> str:
    return major_version + (f".{minor}" if minor is not None else "") + (prerelease or "")
