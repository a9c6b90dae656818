"""What cron and systemd's timers run on a host: jobs that know the cluster by its place must move with it.

Whole crontabs are read, but kept is only what bears on PostgreSQL, with secrets masked.
"""

import re
from collections.abc import Sequence

from core.facts.host_environment import Scheduled
from core.facts.sections import Section
from core.facts.text import unreadable_error
from core.redaction import without_secrets

_ABOUT = re.compile(
    r"\b(postgres\w*|psql|pg_\w+|pgbackrest|barman|wal-[eg]|vacuumdb|reindexdb|pgbench|repmgr|patroni\w*|PGDATA)\b"
)
# five fields of time or `@daily`, then the user: so in /etc/crontab and /etc/cron.d alone
_SYSTEM_LINE = re.compile(r"(?:@\w+|(?:\S+\s+){4}\S+)\s+(?P<user>[A-Za-z_][\w.-]*)\s+(?P<rest>\S.*)")
_VARIABLE = re.compile(r"\s*[A-Za-z_]\w*\s*=")
_PRESENT_OWNERS = {"postgres", "pgsql", "enterprisedb"}


def parse_schedules(text: str, folders: Sequence[str] = ()) -> tuple[Scheduled, ...]:
    """The jobs that run as a database user, name PostgreSQL, or name one of the folders.

    Raises:
        ParseError: a line is none of ours.
    """
    found, place, owner = [], "", ""
    for line in text.splitlines():
        if line.startswith("place "):
            place, _, owner = line.removeprefix("place ").rpartition(" ")
        elif line.startswith(": ") and place:
            job = _job(place, owner, line[2:], folders)
            found += [job] if job is not None else []
        elif line.strip() and line != ":":
            raise unreadable_error("crontabs", "a line 'place FILE USER'", line)
    return tuple(found)


def _job(place: str, owner: str, line: str, folders: Sequence[str]) -> Scheduled | None:
    # `MAILTO=dba`, `PGPASSWORD=…`: nothing that runs
    if _VARIABLE.match(line):
        return None
    system = _SYSTEM_LINE.fullmatch(line) if owner == "-" else None
    user = owner if owner != "-" else system["user"] if system is not None else None
    # not in the user's name: `postgres` there says who it is that runs anything
    names = _ABOUT.search(system["rest"] if system is not None else line) is not None
    if user not in _PRESENT_OWNERS and not names and not any(folder in line for folder in folders):
        return None
    return Scheduled(place, user, without_secrets(line.strip())[:500])


SECTION = Section("schedules", "scheduled jobs", ("schedule_facts",), parse_schedules, private=True)
