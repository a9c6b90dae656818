"""The size of a cluster over time, and on from there, against what its file system holds."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from core import units
from core.language import tr
from core.reports.charts.axes import Scale, size_marks
from core.reports.drawing import WIDTH, Dot, Drawing, Line, Mark, Words
from core.reports.words import day

_MONTH = 30.44 * 86400.0
_AHEAD = 12 * _MONTH


def growth(
    sizes: Sequence[tuple[datetime, float]], bytes_per_month: float | None, limits: Sequence[tuple[str, float]]
) -> Drawing | None:
    """Sizes as they were read, twelve months ahead by the growth, and each limit as a line with its name."""
    if not sizes:
        return None
    begun = sizes[0][0]
    points = [((at - begun).total_seconds(), size) for at, size in sizes]
    now, size = points[-1]
    later = size + 12 * (bytes_per_month or 0.0)
    most = 1.1 * max(later, *(value for _, value in limits), *(value for _, value in points))
    across, up = Scale(0, now + _AHEAD, 22, WIDTH - 34), Scale(0, most, 48, 3)
    made: list[Mark] = [Line(22, 48, across.end, 48, "muted"), Line(22, 3, 22, 48, "muted")]
    for mark, name in size_marks(most):
        y = up.at(mark)
        made += [Line(22, y, across.end, y, "rule", 0.4), Words(20.5, y, name, 7, "muted", "end")]
    for title, value in limits:
        y = up.at(value)
        made += [Line(22, y, across.end, y, "bad", 1.0, dashed=True), Words(across.end + 1.5, y, title, 7, "bad")]
    places = [(across.at(at), up.at(value)) for at, value in points]
    made += [Line(*one, *other, "set-2", 1.3) for one, other in pairwise(places)]
    made += [Dot(x, y, 0.9, "set-2") for x, y in places[-60:]]
    made += [
        Words(across.at(now), 51, day(sizes[-1][0]), 7, "muted", "middle"),
        Words(across.end, 51, tr("in 12 months"), 7, "muted", "middle"),
    ]
    if bytes_per_month:
        made.append(Line(across.at(now), up.at(size), across.end, up.at(later), "set-2", 1.3, dashed=True))
        made.append(Words(across.end + 1.5, up.at(later), units.size(later), 7, bold=True))
    alt = tr("Size over time: {now} now, {later} in twelve months.").format(
        now=units.size(size), later=units.size(later)
    )
    return Drawing(
        "growth", alt + " " + " ".join(f"{title}: {units.size(value)}." for title, value in limits), 53.5, tuple(made)
    )
