"""The ticks of a phase: its progress, and the current traffic of the volume's device.

While a phase runs, the shell function `bench_run_with_ticks` prints one line per tick: a dot, followed by the counters
of the device. The ticks come before the output of the command.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.benchmarks.devices import SECTOR

LOOK_BACK = 5
"""The number of ticks over which a rate is computed. They cover about a second, so that bursts give one rate."""
SHORTEST_SECONDS = 0.2
"""No rate is computed from ticks that arrive in less time than this, because the connection has delayed them."""
_TICK = re.compile(rb"\.(?: (\d{1,20}) (\d{1,20}) (\d{1,20}) (\d{1,20}))?")
_TICKS = re.compile(r"(?:\.(?: \d{1,20}){0,4}\n)*")
_NAMES = ("read_iops", "read_bytes_per_second", "write_iops", "write_bytes_per_second")
_FACTORS = (1, SECTOR, 1, SECTOR)


@dataclass(slots=True)
class Ticks:
    """Reads the ticks as they arrive. `clock` returns seconds."""

    clock: Callable[[], float] = time.monotonic
    _rest: bytes = b""
    _seen: deque[tuple[float, tuple[int, ...]]] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))

    def take(self, data: bytes) -> Mapping[str, float] | None:
        """Return the traffic of the device per second, as metrics; None if these bytes do not contain enough ticks."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        # No tick is that long, so this is the output of the command, which is not kept here.
        self._rest = self._rest[:100]
        counted = [found for line in lines if (found := _TICK.fullmatch(line)) is not None and found[1] is not None]
        if not counted:
            return None
        self._seen.append((self.clock(), tuple(map(int, counted[-1].groups()))))
        (begun, before), (now, after) = self._seen[0], self._seen[-1]
        if now - begun < SHORTEST_SECONDS:
            return None
        moved = [factor * (late - early) for factor, late, early in zip(_FACTORS, after, before, strict=True)]
        # The counters of a device that was replaced begin at 0 again.
        return (
            None
            if min(moved) < 0
            else {name: number / (now - begun) for name, number in zip(_NAMES, moved, strict=True)}
        )


def without_ticks(output: str) -> str:
    """Return the output of the command without the ticks."""
    return output[found.end() :] if (found := _TICKS.match(output)) is not None else output
