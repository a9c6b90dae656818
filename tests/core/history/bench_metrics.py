"""How fast the history takes and gives 100 000 metrics: `python -m tests.core.history.bench_metrics`. No test."""

import dataclasses
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from core.history.store import Store
from core.sides import Side
from tests.core.history import samples

RUNS, REPETITIONS, METRICS = 200, 10, 50


def main() -> None:
    """Write, read back, list; print seconds."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        samples.fill(store)
        run = samples.runs(Side.OLD)[0]
        metrics = {f"metric_{number}_seconds": number * 1.5 for number in range(METRICS)}
        first = run.repetitions[0]
        many = tuple(dataclasses.replace(first, number=n, metrics=metrics) for n in range(1, REPETITIONS + 1))
        begun = time.perf_counter()
        for number in range(RUNS):
            started = run.started_at + timedelta(days=1, minutes=number)
            store.run_started(dataclasses.replace(run, started_at=started, repetitions=many))
        written = time.perf_counter()
        kept = store.runs(samples.MOVE.name)
        read = time.perf_counter()
        store.entries(limit=200)
        listed = time.perf_counter()
    total = sum(len(repetition.metrics) for run in kept for repetition in run.repetitions)
    sys.stdout.write(
        f"{total} metrics: written in {written - begun:.2f} s, read in {read - written:.2f} s, "
        f"200 entries in {1000 * (listed - read):.1f} ms\n"
    )


if __name__ == "__main__":
    main()
