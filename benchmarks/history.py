"""What the history takes to be opened, listed, filtered and paged by its size: prints it for 100,000 runs.

In a file, and where a PostgreSQL is installed, on a server of it that is begun for this.

    python benchmarks/history.py [RUNS]

The runs are of a hundred moves, with three repetitions of five metrics each and their raw outputs.

    open the history                                at most 300 ms
    a page of whatever, or one run                  at most 50 ms
    the starts of suites, summed up of all runs     at most 250 ms
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sqlalchemy import create_engine, insert, text

from core import units
from core.history.models import MetricRow, RepetitionRow, RunRow
from core.history.server import prepare
from core.history.store import Store
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE
from tests.postgresql import begun, newest, short_folder

RUNS = 100_000
MOVES = 100
PAGE = 50
OPENING, A_PAGE, STARTS = 0.300, 0.050, 0.250
TURNS = 5


def main() -> int:
    """Print the figures; 1 where a bound is missed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as name:
        good = measured(Path(name), runs)
    programs = newest()
    if programs is None:
        say("            no PostgreSQL is installed here")
        return 0 if good else 1
    with short_folder() as folder:
        server = begun(folder, programs)
        try:
            with server.connect() as connection:
                say(f"            on a server, {connection.execute('SHOW server_version').fetchone()}:")
            place = server.create("history")
            prepare(place)
            good = measured(place, runs) and good
        finally:
            server.stop()
    return 0 if good else 1


def measured(place: Path | str, runs: int) -> bool:
    """Whether all is within its bounds, said."""
    seconds = timed(lambda: fill(place, runs), turns=1)
    size = sum(path.stat().st_size for path in place.glob("*")) if isinstance(place, Path) else None
    words = "" if size is None else f", {units.size(size)}"
    say(f"{units.seconds(seconds):>10}  {runs} runs of {MOVES} moves recorded{words}")
    good = judged("open the history", timed(lambda: Store.open(place).close()), OPENING)
    with Store.open(place) as store:
        for title, page in pages(store, runs):
            good = judged(title, timed(page), A_PAGE) and good
        return judged(f"the newest {PAGE} starts of suites", timed(lambda: store.starts(PAGE)), STARTS) and good


def fill(place: Path | str, runs: int) -> None:
    """A history of so many runs. They are put in by the thousand: to record them one by one takes a night."""
    with Store.open(place) as store:
        samples.set_up(store)
        for number in range(1, MOVES):
            store.add_move(replace(MOVE, name=f"move {number}"))
        name = store.name
    templates = [run for side in Side for run in samples.runs(side)]
    engine = create_engine(name if isinstance(place, str) else f"sqlite:///{name}")
    with engine.begin() as connection:
        if isinstance(place, str):
            connection.execute(text("SET search_path = pghaul"))
        for first in range(0, runs, 1000):
            rows, repetitions, metrics = [], [], []
            for number in range(first + 1, min(first + 1000, runs) + 1):
                run = templates[number % len(templates)]
                at = run.started_at + timedelta(minutes=number)
                rows.append(
                    {
                        "id": number, "move_id": number % MOVES + 1, "side": run.volume.side.value,
                        "server": run.volume.server, "mount_point": run.volume.mount_point,
                        "folder": f"/srv/pghaul-bench-{number // 10}", "workload": run.workload.name,
                        "title": run.workload.title, "tool": run.workload.tool, "headline": run.workload.headline,
                        "parameters": "{}", "started_at": at, "ended_at": at, "outcome": "done", "stopped": "",
                    }
                )  # fmt: skip
                for each in range(3):
                    one = run.repetitions[0]
                    of = number * 3 + each
                    repetitions.append(
                        {
                            "id": of, "run_id": number, "number": each, "started_at": at, "seconds": 10.0,
                            "outcome": "done", "command": one.command, "cached": False, "message": "",
                            "marks": "[]", "raw": one.raw,
                        }
                    )  # fmt: skip
                    metrics += [{"repetition_id": of, "name": f"metric {n}", "value": 1.0 * n} for n in range(5)]
            connection.execute(insert(RunRow), rows)
            connection.execute(insert(RepetitionRow), repetitions)
            connection.execute(insert(MetricRow), metrics)
        if isinstance(place, str):
            connection.execute(text("ANALYZE"))  # as autovacuum does within a minute
    engine.dispose()


def pages(store: Store, runs: int) -> tuple[tuple[str, Callable[[], object]], ...]:
    """What is shown a page at a time."""
    return (
        (f"the newest {PAGE} entries of all moves", lambda: store.entries(PAGE)),
        (f"the newest {PAGE} entries of one move", lambda: store.entries(PAGE, MOVE.name)),
        (f"the newest {PAGE} runs of one move, with raw outputs", lambda: store.runs(MOVE.name, newest=PAGE)),
        ("the latest run of each workload of one move", lambda: store.runs(MOVE.name, latest_only=True)),
        ("one run with its raw output", lambda: store.run(runs // 2)),
    )


def timed(work: Callable[[], object], turns: int = TURNS) -> float:
    """The median of its seconds over so many turns."""
    found = []
    for _ in range(turns):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def judged(what: str, found: float, most: float) -> bool:
    """Whether it is within its bound, said."""
    said = "at most" if found <= most else "MISSED:"
    say(f"{found * 1000:8.1f} ms  {what}, {said} {most * 1000:.0f} ms")
    return found <= most


def say(line: str) -> None:
    """A line of figures."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
