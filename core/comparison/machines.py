"""Which machine each run was measured on: a server's name may have been that of another machine before.

Results of two machines are never taken for those of one. Whoever picks, compares, plots or diagnoses runs asks here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.benchmarks.model import Outcome, Run
from core.comparison.model import MeasuredVolume


@dataclass(frozen=True, slots=True)
class Machines:
    """What the history knows of the machines of some servers.

    Attributes:
        of_runs: by the number of a run, what its machine is known by; empty where nothing tells.
        began: by the name of a server and what a machine is known by, when the first run on it began.
        now: by the name of a server, what the machine is known by that has this name now.
        removed: the servers that have been removed from pghaul since.
    """

    of_runs: Mapping[int, str] = field(default_factory=dict)
    began: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    now: Mapping[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()

    def of(self, run: Run) -> str:
        """Return what the machine of a run is known by; empty where nothing tells."""
        return "" if run.id is None else self.of_runs.get(run.id, "")

    def volume_of(self, run: Run) -> MeasuredVolume:
        """Return the volume of a run, as that of its machine."""
        return self.volume(run.volume.server, self.of(run), run.volume.mount_point)

    def volume(self, server: str, machine: str, mount_point: str) -> MeasuredVolume:
        """Return a volume of a machine that has or had the name of a server."""
        known = {name for of, name in self.began if of == server}
        if server in self.now:
            known.add(self.now[server])
        since = self.began.get((server, machine)) if len(known) > 1 else None
        return MeasuredVolume(server, mount_point, removed=server in self.removed, since=since)

    def on(self, runs: Iterable[Run], server: str, machine: str) -> tuple[Run, ...]:
        """Return the runs on a machine that has or had the name of a server."""
        return tuple(run for run in runs if (run.volume.server, self.of(run)) == (server, machine))

    def current(self, runs: Iterable[Run]) -> tuple[Run, ...]:
        """Return the runs on the machines that have the names of their servers now."""
        return tuple(run for run in runs if self.of(run) == self.now.get(run.volume.server, ""))

    def newest(self, runs: Iterable[Run]) -> tuple[Run, ...]:
        """Return the runs on the machine that was measured last: where the newest run is that is done, if one is."""
        found = tuple(runs)
        if not found:
            return ()
        last = max(found, key=lambda run: (run.outcome is Outcome.DONE, run.started_at, run.id or 0))
        return self.on(found, last.volume.server, self.of(last))


NO_MACHINES = Machines()
"""For runs of which no history tells: each name is that of one machine."""
