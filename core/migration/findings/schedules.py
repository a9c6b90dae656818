"""The scheduled jobs of both servers side by side, for the operator to move or to leave behind.

The facts keep of crontabs and timers what bears on PostgreSQL alone, with secrets masked (see core/facts/schedules).
"""

from core.facts.model import Facts

_MOST = 200
_NONE = "-"


def side_by_side(old: Facts, new: Facts) -> str:
    """Return a table as text: where each job stands on both servers; empty if neither has one.

    A job is the same on both where its user and its line are, whatever file they stand in.
    """
    jobs: dict[tuple[str | None, str], dict[str, str]] = {}
    for side, facts in (("old", old), ("new", new)):
        for job in facts.host_environment.schedule or ():
            jobs.setdefault((job.user, job.line), {}).setdefault(side, job.place)
    unread = [facts.server for facts in (old, new) if facts.host_environment.schedule is None]
    said = [f"The jobs of {server} could not be read." for server in unread]
    if not jobs:
        return "\n".join(said)
    rows = [("old", "new", "user", "job")]
    for (user, line), at in list(jobs.items())[:_MOST]:
        rows.append((at.get("old", _NONE), at.get("new", _NONE), user or _NONE, line))
    if len(jobs) > _MOST:
        said.append(f"{len(jobs) - _MOST} more jobs are not shown.")
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    return "\n".join(["".join(sign if sign.isprintable() else "?" for sign in line) for line in (*lines, *said)])
