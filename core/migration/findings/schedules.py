"""The scheduled jobs of both hosts side by side: what old runs must be set up on new, or be left behind on purpose.

The facts keep of crontabs and timers what bears on PostgreSQL alone, with secrets masked (see core/facts/schedules).
"""

from core.facts.model import Facts

_MOST = 200
_NONE = "-"


def side_by_side(old: Facts, new: Facts) -> str:
    """A table as text: where on old and where on new each job stands; empty where neither host has one.

    A job is the same on both where its user and its line are, whatever file they stand in.
    """
    jobs: dict[tuple[str | None, str], dict[str, str]] = {}
    for side, facts in (("old", old), ("new", new)):
        for job in facts.host_environment.schedule or ():
            jobs.setdefault((job.user, job.line), {}).setdefault(side, job.place)
    unread = [facts.server for facts in (old, new) if facts.host_environment.schedule is None]
    said = [f"the jobs of {server} could not be read" for server in unread]
    if not jobs:
        return "\n".join(said)
    rows = [("old", "new", "user", "job")]
    for (user, line), at in list(jobs.items())[:_MOST]:
        rows.append((at.get("old", _NONE), at.get("new", _NONE), user or _NONE, line))
    if len(jobs) > _MOST:
        said.append(f"and {len(jobs) - _MOST} more")
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    return "\n".join(["".join(sign if sign.isprintable() else "?" for sign in line) for line in (*lines, *said)])
