"""What is drawn for a round, by its seed alone, and what a DBA types next: pure, so that a round can be had again."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.migration.model import step_ids

RESUME, ROLLBACK, ANEW = "--resume", "--rollback", "--start-over"
DRESS, CANCEL = "--dress-rehearsal", "--cancel"
TRIES = 7
"""How often a person goes on with one move before the product counts as stuck."""

_OUTAGES = (1.0, 4.0, 12.0, 40.0)
"""Seconds that a cable is out or a host without power: within every patience of the product, and beyond."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round.

    Attributes:
        fault: its name.
        at: the moment, as a part of the plan's steps; the first of them stands for all that runs ahead of step 1.
        later: seconds behind the beginning of that step.
        outage: seconds until what mends by itself, or a host without power, is back.
        patient: whether a person removes the fault before they go on, or only after one more try.
        ways: what they type each time, where there is a choice.
        restarts: whether both hosts restart in the end.
        dressed: whether a dress rehearsal goes ahead of the move, and meets the fault where its moment comes so early.
        within: seconds, of which `at` is a part: then no step counts for the moment.
    """

    fault: str
    at: float
    later: float
    outage: float
    patient: bool
    ways: tuple[str, ...]
    restarts: bool
    dressed: bool
    within: float | None = None

    def step(self, steps: int) -> int:
        """The step at whose beginning the moment is counted, of a plan of so many; 0: before the first."""
        return int(self.at * (steps + 1))


def draw(seed: int, number: int, faults: Sequence[str]) -> Drawn:
    """The round of that number: the same for the same seed and faults, whatever rounds went before."""
    chance = random.Random(f"{seed}/{number}")
    at = chance.random()
    return Drawn(
        fault=chance.choice(faults),
        at=at,
        later=chance.expovariate(2.0),  # most steps take less than a second
        outage=chance.choice(_OUTAGES),
        patient=chance.random() < 0.5,
        ways=tuple(chance.choice((RESUME, ROLLBACK)) for _ in range(TRIES)),
        restarts=chance.random() < 0.3,
        dressed=chance.random() < 0.3,
    )


def of_the_move(latest: dict[str, Any] | None) -> dict[str, Any] | None:
    """The latest execution, where it is one of the move itself; None where it is the rehearsal before it."""
    return latest if latest is not None and latest["kind"] == "real" else None


def ended(execution: dict[str, Any] | None) -> bool:
    """Whether nothing is left to do: moved, or taken back."""
    return execution is not None and execution["state"] in {"done", "rolled back"}


def opened_at(execution: dict[str, Any] | None) -> str | None:
    """When new was first about to be opened, after which no way leads back; None before."""
    if execution is None:
        return None
    opening = {n for n, step in enumerate(execution["plan"]["steps"], start=1) if step["id"] == step_ids.CUTOVER}
    began = [run["started_at"] for run in execution["steps"] if run["number"] in opening and not run["back"]]
    return min(began, default=None)


def choose_option(execution: dict[str, Any] | None, drawn: str) -> str:
    """Return the option that a DBA gives `pghaul execute` next, by the options that `--status --json` offers.

    Args:
        execution: the latest execution of the move, with its `next_options`; None if the move never began.
        drawn: the option to take where there is a choice.

    Returns:
        The option; empty to begin the move.
    """
    if execution is None:
        return ""
    offered = [f"--{option}" for option in execution["next_options"]]
    if offered and RESUME not in offered:
        return offered[0]
    return RESUME if opened_at(execution) is not None else drawn
