"""The scheduled jobs of both servers as a table, from which the operator decides which to move.

The facts contain only those crontab lines and timers that concern PostgreSQL, with secrets masked (see
core/facts/schedules).
"""

from core.facts.model import Facts
from core.sides import Side

_MOST = 200
_NONE = "-"


def format_jobs_of_both_servers(old: Facts, new: Facts) -> str:
    """Return a table as text with the file of each job on both servers; empty if neither has a job.

    A job is the same on both servers if user and line are equal, even if the files differ.
    """
    jobs: dict[tuple[str | None, str], dict[Side, str]] = {}
    for side, facts in ((Side.OLD, old), (Side.NEW, new)):
        for job in facts.host_environment.schedule or ():
            jobs.setdefault((job.user, job.line), {}).setdefault(side, job.place)
    unread = [facts.server for facts in (old, new) if facts.host_environment.schedule is None]
    notes = [f"The jobs of the server {server} could not be read." for server in unread]
    if not jobs:
        return "\n".join(notes)
    rows = [("old", "new", "user", "job")]
    for (user, line), places in list(jobs.items())[:_MOST]:
        rows.append((places.get(Side.OLD, _NONE), places.get(Side.NEW, _NONE), user or _NONE, line))
    if len(jobs) > _MOST:
        notes.append(f"{len(jobs) - _MOST} more jobs are not shown.")
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    return "\n".join(
        ["".join(character if character.isprintable() else "?" for character in line) for line in (*lines, *notes)]
    )
