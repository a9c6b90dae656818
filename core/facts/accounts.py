"""The users of a host with their numbers, and whether shared memory goes when they log out."""

import re

from core.facts.host_environment import Account, Removal
from core.facts.parsing import first_line, lines_of, parse_whole_number, unreadable_error
from core.facts.sections import Section

_USUAL = ("postgres", "enterprisedb", "pgsql")
_MOST = 5000
_LINE = re.compile(r"(?P<name>[^:\s][^:]*):(?P<uid>[0-9]{1,10}):(?P<gid>[0-9]{1,10})")


def parse_accounts(text: str) -> tuple[Account, ...]:
    """Users from lines `NAME:UID:GID`; a name that comes again is the same user.

    Raises:
        ParseError: there is not one.
    """
    found: dict[str, Account] = {}
    for line in lines_of(text)[:_MOST]:
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


ACCOUNTS = section("postgres")


# Whether systemd-logind removes the shared memory of ordinary accounts when they log out (RemoveIPC).
#
# Sources: logind.conf(5); PostgreSQL's manual, "systemd RemoveIPC".


def parse_removal(text: str) -> Removal:
    """What `removal_facts` prints; where no session of systemd can be, nothing is removed.

    Raises:
        ParseError: a line cannot be read.
    """
    if not text.strip():
        return Removal(removes=False)
    removes: bool | None = None
    most, lingering = 999, []
    for line in lines_of(text):
        name, equals, value = line.partition("=")
        if not equals or name not in ("removes", "most", "lingers"):
            raise unreadable_error("logind", "a line NAME=VALUE", first_line(text))
        if name == "removes":
            removes = {"b true": True, "b false": False}.get(value)
        elif name == "most":
            most = min(most, parse_whole_number(value) or most)
        else:
            lingering.append(value)
    return Removal(removes, most, tuple(lingering))


REMOVAL = Section(
    "shared-memory", "RemoveIPC setting of systemd-logind", ("removal_facts", "/run/systemd/sessions"), parse_removal
)
