"""The users of a host with their numbers: a cluster's owner travels by name, and its number may be another's on new."""

import re

from core.facts.host_environment import Account
from core.facts.sections import Section
from core.facts.text import first_line, unreadable_error

_USUAL = ("postgres", "enterprisedb", "pgsql")
_MOST = 5000
_LINE = re.compile(r"(?P<name>[^:\s][^:]*):(?P<uid>[0-9]{1,10}):(?P<gid>[0-9]{1,10})")


def parse_accounts(text: str) -> tuple[Account, ...]:
    """Users from lines `NAME:UID:GID`; a name that comes again is the same user.

    Raises:
        ParseError: there is not one.
    """
    found: dict[str, Account] = {}
    for line in text.splitlines()[:_MOST]:
        match = _LINE.fullmatch(line)
        if match is not None:
            # /etc/passwd stands first, and so it does for the host itself
            found.setdefault(match["name"], Account(match["name"], int(match["uid"]), int(match["gid"])))
    if not found:
        raise unreadable_error("passwd", "a line NAME:UID:GID", first_line(text))
    return tuple(found.values())


def section(database_user: str) -> Section[tuple[Account, ...]]:
    """Local users, and those of a directory service that may own a cluster."""
    names = dict.fromkeys((database_user, *_USUAL))
    return Section("accounts", "user accounts", ("account_facts", *names), parse_accounts, private=True)


SECTION = section("postgres")
