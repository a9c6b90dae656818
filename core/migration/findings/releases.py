"""PostgreSQL's numbering: which releases share a data directory's format, and what is no PostgreSQL at all.

Before 10 a major version is `major.minor` and the release a third number (9.6.24); since 10 a major version is one
number (15.18). Releases of one major version read each other's files; a beta or release candidate may not even read
the next one's. Source: https://www.postgresql.org/support/versioning/
"""

import re
from dataclasses import dataclass

from core.facts.versions import fork_of

_RELEASE = re.compile(
    r"""
    ^\s*
    (?P<words>(?:[^\W\d]\S*\s+|\([^)]*\)\s*)*)          # what stands ahead of the number: a product's name
    (?P<first>\d{1,9})(?:\.(?P<second>\d{1,9}))?(?:\.(?P<third>\d{1,9}))?
    (?P<more>(?:\.\d+)*)                                 # a fourth number is a fork's
    (?P<prerelease>(?:alpha|beta|rc)\d+|devel)?
    (?P<rest>.*)$                                        # a packager's words in parentheses
    """,
    re.VERBOSE | re.DOTALL,
)
CONTROL_VERSIONS: dict[str, int] = {
    "8.0": 74,
    "8.1": 812,
    "8.2": 822,
    "8.3": 833,
    "8.4": 843,
    "9.0": 903,
    "9.1": 903,
    "9.2": 922,
    "9.3": 937,
    "9.4": 942,
    "9.5": 942,
    "9.6": 960,
    "10": 1002,
    "11": 1100,
    "12": 1201,
    "13": 1300,
    "14": 1300,
    "15": 1300,
    "16": 1300,
    "17": 1700,
    "18": 1800,
}
"""PG_CONTROL_VERSION of each major version, from src/include/catalog/pg_control.h of its release branch."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release by its number. `fork`: the name of the product when it is not PostgreSQL; None: PostgreSQL."""

    major_version: str
    minor: int | None
    prerelease: str | None = None
    fork: str | None = None


def parse_release(text: str | None) -> Release | None:
    """`15.5`, `9.6.24 (Debian …)`, `18beta1`, `9.4.26 (Greenplum Database 6.25.3)`; None where there is no number."""
    found = _RELEASE.match(text or "")
    if text is None or found is None:
        return None
    first, second, third = (int(part) if part is not None else None for part in found.group("first", "second", "third"))
    fork = fork_of(text)
    if first is None:
        return None
    if first >= 10:
        # EnterpriseDB counts three numbers where PostgreSQL has two: 17.4.0
        odd = third is not None
        major_version, minor = str(first), second
    else:
        odd = bool(found["more"])
        major_version, minor = f"{first}.{second or 0}", third
    if fork is None and odd:
        fork = f"a build numbered {text.strip()}"
    return Release(major_version=major_version, minor=minor, prerelease=found["prerelease"], fork=fork)


def numbers(major_version: str) -> tuple[int, ...]:
    """A major version in numbers: (15,), (9, 6); empty where it is none of PostgreSQL's."""
    parts = major_version.split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
