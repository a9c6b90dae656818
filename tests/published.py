"""Moves that others published with their times, `tests/data/published`, and how far the estimate is off for each.

A file is a spec of `pghaul estimate --spec` with a table `[published]` more:

    move        what was moved, by what
    source      where it was read
    method      the estimate's method that comes nearest, `clocked` the names of its stages that were timed, added up;
                or `whole`, or `downtime`
    seconds     what the clock said of these; two where a range was published
    confidence  high: clocked, or exact figures; medium: a sentence with figures; low: rounded, or much assumed
    figures     as published
    assumed     what in the spec nobody published
    untold      what a better estimate would have asked for
    untellable  why no estimate can be made of what was published; absent where one can
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.migration.estimate import estimate, load_spec
from core.migration.model.estimate import Method

FOLDER = Path(__file__).parent / "data" / "published"

METHODS = frozenset(
    {
        "cold-copy",
        "warm-copy",
        "streaming-replica",
        "dump-restore",
        "parallel-dump-restore",
        "pg-upgrade-copy",
        "pg-upgrade-clone",
        "pg-upgrade-link",
    }
)
"""What a published move may have been done by."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published move. `low` and `high` are the ends of what was clocked, in seconds; `spec` is a TOML document."""

    name: str
    move: str
    source: str
    method: str
    clocked: tuple[str, ...]
    low: float
    high: float
    confidence: str
    figures: tuple[str, ...]
    assumed: tuple[str, ...]
    untold: tuple[str, ...]
    untellable: str
    spec: str


def published() -> list[Published]:
    """All of them, by name."""
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]


def read(path: Path) -> Published:
    """One file."""
    text = path.read_text(encoding="utf-8")
    head = tomllib.loads(text)["published"]
    seconds = head["seconds"] if isinstance(head["seconds"], list) else [head["seconds"]]
    return Published(
        name=path.stem,
        move=head["move"],
        source=head["source"],
        method=head["method"],
        clocked=tuple(head["clocked"]),
        low=float(seconds[0]),
        high=float(seconds[-1]),
        confidence=head["confidence"],
        figures=tuple(head["figures"]),
        assumed=tuple(head["assumed"]),
        untold=tuple(head["untold"]),
        untellable=head.get("untellable", ""),
        spec=_spec(tomllib.loads(text)),
    )


def _spec(document: Mapping[str, Any]) -> str:
    """The tables of the spec alone, as TOML."""
    lines = []
    for table, figures in document.items():
        if table != "published":
            lines += [f"[{table}]", *(f"{name} = {value}" for name, value in figures.items())]
    return "\n".join(lines)


def likely(each: Published) -> float | None:
    """The estimate's likely seconds of what was clocked; None where the estimate has no such method or stage."""
    method = estimate(load_spec(each.spec, each.name)).method(each.method)
    if method is None:
        return None
    spans = _spans(method)
    if any(name not in spans for name in each.clocked):
        return None
    return sum(spans[name] for name in each.clocked)


def _spans(method: Method) -> dict[str, float]:
    whole = {"whole": method.duration_seconds.likely, "downtime": method.downtime_seconds.likely}
    return whole | {stage.name: stage.seconds.likely for stage in method.stages}


def factor(each: Published, seconds: float) -> float:
    """How many times too long or too short the estimate is; 1 inside a published range."""
    return max(each.low / seconds, seconds / each.high, 1.0)
