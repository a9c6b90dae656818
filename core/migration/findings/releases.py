"""PostgreSQL's version numbers: which releases share the format of a data directory, and what is not PostgreSQL.

Before 10 a major version is `major.minor` and a release has a third number (9.6.24); since 10 a major version is one
number (15.18). Releases of one major version read each other's files; a beta or release candidate may not even read
the files of the next one. Source: https://www.postgresql.org/support/versioning/
"""

import re
from dataclasses import dataclass

from core.facts.versions import fork_of

_RELEASE = re.compile(
    r"""
    ^\s*
    (?P<words>(?:[^\W\d]\S*\s+|\([^)]*\)\s*)*)          # words before the number: the name of a product
    (?P<first>\d{1,9})(?:\.(?P<second>\d{1,9}))?(?:\.(?P<third>\d{1,9}))?
    (?P<more>(?:\.\d+)*)                                 # only forks have a fourth number
    (?P<prerelease>(?:alpha|beta|rc)\d+|devel)?
    (?P<rest>.*)$                                        # a packager's remark in parentheses
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
    """A release by its number.

    Attributes:
        major_version: such as `15` or `9.6`.
        minor: the minor version; None if the text does not contain it.
        prerelease: such as `beta1`; None for a final release.
        fork: the name of a product that is not PostgreSQL; None for PostgreSQL.
    """

    major_version: str
    minor: int | None
    prerelease: str | None = None
    fork: str | None = None


def parse_release(text: str | None) -> Release | None:
    """Return the release in a version text, or None if there is no number.

    Examples are `15.5`, `9.6.24 (Debian …)`, `18beta1` and `9.4.26 (Greenplum Database 6.25.3)`.
    """
    found = _RELEASE.match(text or "")
    if text is None or found is None:
        return None
    first, second, third = (int(part) if part is not None else None for part in found.group("first", "second", "third"))
    fork = fork_of(text)
    if first is None:
        return None
    if first >= 10:
        # EnterpriseDB has three numbers (17.4.0) where PostgreSQL has two
        has_extra_number = third is not None
        major_version, minor = str(first), second
    else:
        has_extra_number = bool(found["more"])
        major_version, minor = f"{first}.{second or 0}", third
    if fork is None and has_extra_number:
        fork = f"a build numbered {text.strip()}"
    return Release(major_version=major_version, minor=minor, prerelease=found["prerelease"], fork=fork)


def version_numbers(major_version: str) -> tuple[int, ...]:
    """Return a major version as numbers, such as (15,) or (9, 6); empty for anything else."""
    parts = major_version.split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
