"""What the history takes to be opened, listed, filtered and paged by its size: prints it for 100,000 runs.

In a file, and where a PostgreSQL is installed, on a server of it that is begun for this.

    python benchmarks/history.py [RUNS [MOVES]]

The runs are of a hundred moves, with three repetitions of five metrics each and their raw outputs. A second history has
10,000 moves between 200 servers. Every tenth of them was executed, with the plan and the steps of the example history.

    open the history                                at most 300 ms
    a page of whatever, or one run                  at most 50 ms
    the starts of suites, summed up of all runs     at most 250 ms
    the page Moves, with where ten of them stand    at most 250 ms
    all moves                                       at most 1 s
    whether all executions of them are signed       at most 5 s
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, create_engine, insert, select, text
from sqlalchemy.orm import Session as Rows

from core import api, units
from core.api.session import Session
from core.history import example
from core.history.models import (
    ExecutionRow,
    ExecutionStepRow,
    MetricRow,
    MoveRow,
    ProfileRow,
    RepetitionRow,
    RunRow,
)
from core.history.seal import Seal, execution_words
from core.history.server import prepare
from core.history.store import Filter, Store
from core.servers.host_keys import Unattended
from core.sides import Side
from tests.core.history import samples
from tests.core.history.samples import MOVE
from tests.postgresql import begun, newest, short_folder

RUNS = 100_000
MOVES = 100
MANY_MOVES, SERVERS, EXECUTED = 10_000, 200, 10
PAGE, CARDS = 50, 10
OPENING, A_PAGE, STARTS, STANDINGS, ALL_MOVES, SIGNATURES = 0.300, 0.050, 0.250, 0.250, 1.0, 5.0
TURNS = 5


def main() -> int:
    """Print the figures; 1 where a bound is missed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    moves = int(sys.argv[2]) if len(sys.argv) > 2 else MANY_MOVES
    with tempfile.TemporaryDirectory() as name:
        os.environ["PGHAUL_CONFIG"] = f"{name}/config"  # with the key that signs the executions
        good = measured(Path(name, "runs"), runs)
        good = moves_measured(Path(name, "moves"), moves) and good
        programs = newest()
        if programs is None:
            say("            no PostgreSQL is installed here")
            return 0 if good else 1
        with short_folder() as folder:
            server = begun(folder, programs)
            try:
                with server.connect() as connection:
                    say(f"            on a server, {connection.execute('SHOW server_version').fetchone()}:")
                places = [server.create(each) for each in ("runs", "moves")]
                for place in places:
                    prepare(place)
                good = measured(places[0], runs) and good
                good = moves_measured(places[1], moves) and good
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
        for title, page in (*pages(store, runs), *filtered(store, runs)):
            good = judged(title, timed(page), A_PAGE) and good
        return judged(f"the newest {PAGE} starts of suites", timed(lambda: store.starts(PAGE)), STARTS) and good


def fill(place: Path | str, runs: int) -> None:
    """A history of so many runs. They are put in by the thousand: to record them one by one takes a night."""
    with Store.open(place) as store:
        samples.set_up(store)
        for number in range(1, MOVES):
            store.add_move(replace(MOVE, name=f"move {number}"))
        name = store.name
    templates = [(side, run) for side in Side for run in samples.runs(side)]
    with writing(name) as connection:
        for first in range(0, runs, 1000):
            rows, repetitions, metrics = [], [], []
            for number in range(first + 1, min(first + 1000, runs) + 1):
                side, run = templates[number % len(templates)]
                at = run.started_at + timedelta(minutes=number)
                rows.append(
                    {
                        "id": number, "move_id": number % MOVES + 1, "side": side.value,
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


@contextmanager
def writing(name: str) -> Iterator[Connection]:
    """Write to a history, past the store."""
    on_a_server = "://" in name
    engine = create_engine(name if on_a_server else f"sqlite:///{name}")
    with engine.begin() as connection:
        if on_a_server:
            connection.execute(text("SET search_path = pghaul"))
        yield connection
    if on_a_server:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM (ANALYZE)"))  # as autovacuum does within a minute
    engine.dispose()


def pages(store: Store, runs: int) -> tuple[tuple[str, Callable[[], object]], ...]:
    """What is shown a page at a time."""
    return (
        (f"the newest {PAGE} entries of all moves", lambda: store.entries(PAGE)),
        (f"the {CARDS} moves that were changed last", lambda: store.moves_newest_first(CARDS)),
        (f"the newest {PAGE} entries of one move", lambda: store.entries(PAGE, Filter(move=MOVE.name))),
        (f"the newest {PAGE} runs of one move, with raw outputs", lambda: store.runs(MOVE.name, newest=PAGE)),
        ("the latest run of each workload of one move", lambda: store.runs(MOVE.name, latest_only=True)),
        ("one run with its raw output", lambda: store.run(runs // 2)),
    )


def filtered(store: Store, runs: int) -> tuple[tuple[str, Callable[[], object]], ...]:
    """Return what is found by a filter, and pages in the middle and at the end of all entries."""
    store.set_note("run", runs // 2, "cable swapped #night")
    middle, last = store.place("run", runs // 2), store.place("run", min(runs, PAGE))
    days = timedelta(days=7)
    server = store.run(runs).volume.server

    def listed(title: str, which: Filter) -> tuple[str, Callable[[], object]]:
        if not store.entries(PAGE, which):
            raise RuntimeError(f"{title}: there are none")
        return title, lambda: store.entries(PAGE, which)

    return (
        listed(f"{PAGE} entries in the middle of all", Filter(below=middle)),
        listed(f"the last {PAGE} entries of all", Filter(below=last)),
        listed("the newest runs", Filter(kind="run")),
        listed("the newest entries of a server", Filter(server=server)),
        listed("entries of a server in the middle of all", Filter(server=server, below=middle)),
        listed("the newest entries of a week", Filter(since=middle.at - days, before=middle.at)),
        listed("the runs of a server and of one move in a week",
               Filter(move=MOVE.name, kind="run", server=server, since=middle.at - days, before=middle.at)),
        listed("the entries with a tag", Filter(tag="night")),
        (f"{PAGE} runs in the middle of one move",
         lambda: store.runs(MOVE.name, newest=PAGE, older_than=runs // 2, raw=False)),
    )  # fmt: skip


def moves_measured(place: Path | str, moves: int) -> bool:
    """Whether listing many moves is within its bounds, said."""
    seconds = timed(lambda: fill_moves(place, moves), turns=1)
    say(f"{units.seconds(seconds):>10}  {moves} moves recorded, every {EXECUTED}th of them was executed")
    good = judged("open the history", timed(lambda: Store.open(place).close()), OPENING)
    with Store.open(place) as store:
        session = Session(store, Unattended())
        middle = moves_of_page(store, None, moves // 2)[-1]
        listed = (
            (f"the first {PAGE} moves by name", lambda: moves_of_page(store, None), A_PAGE),
            (f"{PAGE} moves in the middle", lambda: moves_of_page(store, middle), A_PAGE),
            (f"the {CARDS} moves that were changed last", lambda: store.moves_newest_first(CARDS), A_PAGE),
            (f"where each of these {CARDS} stands", lambda: api.moves.list_standings(session, CARDS), STANDINGS),
            (f"the newest {PAGE} entries of all moves", lambda: store.entries(PAGE), A_PAGE),
            (f"the newest {PAGE} executions", lambda: store.entries(PAGE, Filter(kind="execution")), A_PAGE),
            (f"all {moves} moves by name", store.moves, ALL_MOVES),
            (f"all {moves} moves, the one that was changed last first", store.moves_newest_first, ALL_MOVES),
            ("what is not signed of all these moves", lambda: moves_of_page(store, None, moves), SIGNATURES),
        )
        for title, work, most in listed:
            good = judged(title, timed(work), most) and good
    return good


def moves_of_page(store: Store, after: str | None, limit: int = PAGE) -> list[str]:
    """Return the names of a page of moves, after what `pghaul move list` reads of them."""
    names = [move.name for move in store.moves(limit, after)]
    if any(store.all_from_elsewhere(names).values()):
        raise RuntimeError("an execution is not signed")
    return names


def fill_moves(place: Path | str, moves: int) -> None:
    """A history of so many moves, put in at once as the runs are."""
    with Store.open(place) as store:
        for number in range(SERVERS):
            store.add_profile(replace(samples.OLD, name=f"server {number}", address=f"10.0.0.{number}"))
        name = store.name
    executed, steps = example_execution()
    with writing(name) as connection, Rows(connection) as rows:
        servers = rows.scalars(select(ProfileRow.id).order_by(ProfileRow.id)).all()
        for number in range(moves):
            at = samples.START + timedelta(minutes=number)
            old, new = servers[number % SERVERS], servers[(number + 1) % SERVERS]
            rows.add(
                MoveRow(
                    name=f"move {number:05}", old_id=old, new_id=new, cluster=MOVE.cluster, target=MOVE.target,
                    old_volume=MOVE.old_volume, new_volume=MOVE.new_volume, tablespace_targets="{}", created_at=at,
                )
            )  # fmt: skip
        rows.flush()
        for move in rows.scalars(select(MoveRow).where(MoveRow.id % EXECUTED == 0)):
            of_it = [ExecutionStepRow(**step) for step in steps]
            rows.add(ExecutionRow(**executed, move_id=move.id, steps=of_it))
        rows.flush()
        for row in rows.scalars(select(ExecutionRow)):
            row.seal = Seal().of(*execution_words(row))
        rows.commit()


def example_execution() -> tuple[dict[str, object], list[dict[str, object]]]:
    """Return the columns of the newest execution of the example history, and of its steps, without their numbers."""
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{example.lay(Path(folder, 'example'))}")
        with engine.connect() as connection:
            latest = select(ExecutionRow.__table__).order_by(ExecutionRow.id.desc()).limit(1)
            execution = connection.execute(latest).mappings().one()
            of_it = select(ExecutionStepRow.__table__).where(ExecutionStepRow.execution_id == execution["id"])
            steps = connection.execute(of_it).mappings().all()
        engine.dispose()
    return (
        {name: value for name, value in execution.items() if name not in {"id", "move_id", "seal"}},
        [{name: value for name, value in step.items() if name not in {"id", "execution_id"}} for step in steps],
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
