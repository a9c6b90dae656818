"""The ticks of a phase: how far it is, and what the volume's device moves at this moment.

While a phase runs, the shell function `bench_run_with_ticks` prints a line a tick: a dot, and behind it what the device
has counted by then. They come ahead of all that the command says.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.benchmarks.devices import SECTOR

LOOK_BACK = 5
"""Ticks that a rate is taken over: a second's worth, so that what comes in gusts reads as one figure."""
SHORTEST_SECONDS = 0.2
"""Of arrivals closer together nothing is taken: the line has held them back."""
_TICK = re.compile(rb"\.(?: (\d{1,20}) (\d{1,20}) (\d{1,20}) (\d{1,20}))?")
_TICKS = re.compile(r"(?:\.(?: \d{1,20}){0,4}\n)*")
_NAMES = ("read_iops", "read_bytes_per_second", "write_iops", "write_bytes_per_second")
_FACTORS = (1, SECTOR, 1, SECTOR)


@dataclass(slots=True)
class Ticks:
    """Reads them as they come. `clock` in seconds."""

    clock: Callable[[], float] = time.monotonic
    _rest: bytes = b""
    _seen: deque[tuple[float, tuple[int, ...]]] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))

    def take(self, data: bytes) -> Mapping[str, float] | None:
        """What the device moves a second, as metrics; None where these bytes do not tell."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        # no tick is as long: the command speaks, and its output is nobody's to keep here
        self._rest = self._rest[:100]
        counted = [found for line in lines if (found := _TICK.fullmatch(line)) is not None and found[1] is not None]
        if not counted:
            return None
        self._seen.append((self.clock(), tuple(map(int, counted[-1].groups()))))
        (begun, before), (now, after) = self._seen[0], self._seen[-1]
        if now - begun < SHORTEST_SECONDS:
            return None
        moved = [factor * (late - early) for factor, late, early in zip(_FACTORS, after, before, strict=True)]
        # a device that was renewed counts from zero again
        return (
            None
            if min(moved) < 0
            else {name: number / (now - begun) for name, number in zip(_NAMES, moved, strict=True)}
        )


def without_ticks(output: str) -> str:
    """What the command itself said."""
    return output[found.end() :] if (found := _TICKS.match(output)) is not None else output
