"""What cron and systemd's timers run on a host: jobs that know the cluster by its place must move with it.

Whole crontabs are read, but kept is only what bears on PostgreSQL, with secrets masked.
"""

import re
from collections.abc import Sequence

from core.facts.host_environment import Scheduled
from core.facts.sections import Section
from core.facts.text import unreadable
from core.servers.shell import script

SECTION = Section(
    "schedules",
    script("""read_lines() {
  echo "place $1 $2"
  sed -e "/^[[:space:]]*#/d" -e "/^[[:space:]]*$/d" -e "s/^/: /" "$1"
}
for file in /etc/crontab /etc/cron.d/* /etc/anacrontab; do test ! -f "$file" || read_lines "$file" -; done
for file in /etc/cron.hourly/* /etc/cron.daily/* /etc/cron.weekly/* /etc/cron.monthly/*; do
  test ! -f "$file" || grep -qsE "postgres|psql|pg_|pgbackrest|barman|wal-g" "$file" || continue
  test ! -f "$file" || { echo "place $file -"; echo ": root runs $file"; }
done
for folder in /var/spool/cron/crontabs /var/spool/cron /var/spool/cron/tabs; do
  test -d "$folder" || continue
  test -r "$folder" && test -x "$folder" || { echo "$(id -un) may not read $folder" >&2; refused=yes; continue; }
  for file in "$folder"/*; do test ! -f "$file" || read_lines "$file" "${file##*/}"; done
done
for link in /etc/systemd/system/*.wants/*.timer; do
  test -e "$link" || continue
  unit=$(basename "$link" .timer).service
  cat "/etc/systemd/system/$unit" "/usr/lib/systemd/system/$unit" "/lib/systemd/system/$unit" 2>/dev/null |
    grep -E "^ExecStart=" | head -n 1 | sed "s|^|place ${link##*/} -\\n: root |"
done
test -z "$refused\""""),
)

_ABOUT = re.compile(
    r"\b(postgres\w*|psql|pg_\w+|pgbackrest|barman|wal-[eg]|vacuumdb|reindexdb|pgbench|repmgr|patroni\w*|PGDATA)\b"
)
_SECRET = re.compile(
    r"(?P<lead>\b(?:PGPASSWORD|\w*(?:password|passwd|secret|token|key))\s*=\s*)(?:'[^']*'|\"[^\"]*\"|\S+)"
    r"|(?P<user>//[^:/@\s]+):[^@/\s]+@",
    re.IGNORECASE,
)
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
            raise unreadable("crontabs", "a line 'place FILE USER'", line)
    return tuple(found)


def _job(place: str, owner: str, line: str, folders: Sequence[str]) -> Scheduled | None:
    if _VARIABLE.match(line):
        return None
    system = _SYSTEM_LINE.fullmatch(line) if owner == "-" else None
    user = owner if owner != "-" else system["user"] if system is not None else None
    names = _ABOUT.search(system["rest"] if system is not None else line) is not None
    if user not in _PRESENT_OWNERS and not names and not any(folder in line for folder in folders):
        return None
    return Scheduled(place, user, _SECRET.sub(_masked, line.strip())[:500])


def _masked(found: re.Match[str]) -> str:
    return f"{found['lead']}***" if found["lead"] is not None else f"{found['user']}:***@"
