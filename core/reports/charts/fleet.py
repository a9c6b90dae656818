"""How many moves fit into which window: those that nothing stops, and those that wait for something."""

from collections.abc import Sequence

from core import units
from core.language import tr
from core.reports.charts.axes import fraction
from core.reports.drawing import WIDTH, Box, Drawing, Mark, Words

_LABEL, _ROW = 42.0, 6.4


def windows(found: Sequence[tuple[str, int, int]]) -> Drawing | None:
    """A bar a window: its name, the moves that can be made in it, and those that are stopped; None without any move."""
    most = max((ready + stopped for _, ready, stopped in found), default=0)
    if most == 0:
        return None
    made: list[Mark] = [
        Box(0, 0.6, 3, 2.6, "set-2"),
        Words(4.5, 2, tr("possible"), 7.5),
        Box(44, 0.6, 3, 2.6, "planned", "muted"),
        Words(48.5, 2, tr("blocked"), 7.5),
    ]
    y, length = 8.5, WIDTH - _LABEL - 20
    for name, ready, stopped in found:
        first, second = (length * fraction(number, most) for number in (ready, stopped))
        made.append(Words(0, y, name, 8))
        made += [Box(_LABEL, y - 1.8, first, 3.6, "set-2")] if ready else []
        made += [Box(_LABEL + first, y - 1.8, second, 3.6, "planned", "muted")] if stopped else []
        said = " + ".join(units.count(number) for number in (ready, stopped) if number) or units.ABSENT
        made.append(Words(_LABEL + first + second + 2, y, said, 7.5))
        y += _ROW
    alt = tr("Moves by the maintenance window that they need.") + " "
    alt += " ".join(
        tr("{window}: {ready} possible, {stopped} blocked.").format(
            window=name, ready=units.count(ready), stopped=units.count(stopped)
        )
        for name, ready, stopped in found
    )
    return Drawing("windows", alt, y, tuple(made))
