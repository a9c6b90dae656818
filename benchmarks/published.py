"""The estimate against moves that others published: prints each with the factor by which the likely figure is off.

Right is a median of at most 1.5 and none over 4, over all moves of which enough was published to tell. The rest stands
behind them with the reason. What was assumed for a move stands in its file in `tests/data/published`.
"""

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core import units
from tests.published import Published, factor, likely, published

MEDIAN, WORST = 1.5, 4.0


@dataclass(frozen=True, slots=True)
class Row:
    """One move and its likely seconds; None where the estimate knows no such method or stage, or nothing was told."""

    move: Published
    seconds: float | None

    @property
    def factor(self) -> float | None:
        """By how much the estimate is off; None where there is none."""
        return factor(self.move, self.seconds) if self.seconds is not None else None


def rows() -> list[Row]:
    """Every published move, estimated where enough was told."""
    return [Row(each, None if each.untellable else likely(each)) for each in published()]


def median_and_worst(judged: Sequence[Row]) -> tuple[float, float]:
    """Of the factors of all that were estimated."""
    factors = [row.factor for row in judged if row.factor is not None]
    return statistics.median(factors), max(factors)


def right(judged: Sequence[Row]) -> bool:
    """Both targets are met."""
    median, worst = median_and_worst(judged)
    return median <= MEDIAN and worst <= WORST


def table(judged: Sequence[Row]) -> str:
    """The rows for people, the best first, with the verdict."""
    head = f"{'':70}{'method':24}{'published':>20}{'estimated':>12}{'factor':>8}  confidence\n"
    lines = sorted(judged, key=lambda row: (bool(row.move.untellable), row.factor or float("inf"), row.move.name))
    median, worst = median_and_worst(judged)
    counted = sum(row.factor is not None for row in judged)
    verdict = "right" if right(judged) else "MISSED"
    return (
        head
        + "".join(_line(row) for row in lines)
        + (
            f"{counted} of {len(judged)} estimated: median {median:.2f} (at most {MEDIAN:g}), "
            f"worst {worst:.2f} (at most {WORST:g}): {verdict}\n"
        )
    )


def _line(row: Row) -> str:
    move = row.move
    title = move.move if len(move.move) < 70 else f"{move.move[:66]}..."
    clock = units.duration(move.low)
    if move.low != move.high:
        clock += f"-{units.duration(move.high)}"
    start = f"{title:70}{move.method:24}{clock:>20}"
    if row.seconds is None or row.factor is None:
        missing = f"not estimated: no {' + '.join(move.clocked)} of {move.method}"
        return f"{start}  {f'not told: {move.untellable}' if move.untellable else missing}\n"
    return f"{start}{units.duration(row.seconds):>12}{row.factor:8.2f}  {move.confidence}\n"


def main() -> int:
    """Print the table; 0 where both targets are met."""
    judged = rows()
    sys.stdout.write(table(judged))
    return 0 if right(judged) else 1


if __name__ == "__main__":
    raise SystemExit(main())
