"""What was measured, whenever and for whichever move: to be picked, set side by side, and seen over time."""

from collections.abc import Sequence
from datetime import datetime

from core.actions.session import Session
from core.benchmarks.model import Output, Side
from core.benchmarks.recognition import read_output
from core.benchmarks.tools import readers
from core.comparison.compare import compare as compare_runs
from core.comparison.model import Comparison, Sample
from core.comparison.outputs import compare_outputs
from core.comparison.samples import sample_of
from core.comparison.sets import Start
from core.errors import InputError, ParseError

NEWEST = 200
"""Of a workload over time: more than a picture shows apart."""


def starts(session: Session) -> tuple[Start, ...]:
    """What each start of a suite measured on one volume, of all moves, the newest first."""
    return session.store.starts()


def compare_starts(session: Session, move: str, left: Start | Side, right: Start | Side) -> Comparison:
    """Two sets of runs side by side; a side stands for the latest runs of each workload on the move's volume.

    Raises:
        InputError: nothing was measured of either.
    """
    store = session.store
    first, second = (
        store.runs_of_start(one) if isinstance(one, Start) else store.runs(move, side=one, latest_only=True)
        for one in (left, right)
    )
    if not first and not second:
        raise InputError(f"no benchmark of the move {move} has run yet", f"run: pghaul bench {move}")
    places = {(run.volume.server, run.volume.mount_point) for runs in (first, second) for run in runs[-1:]}
    return compare_runs(first, second, dated=len(places) < 2 or isinstance(left, Start) or isinstance(right, Start))


def over_time(
    session: Session, move: str, tool: str, workload: str, metric: str
) -> dict[Side, tuple[tuple[datetime, Sample], ...]]:
    """A metric of a workload in each of its runs that are done, on the volumes of a move, the oldest first."""
    found: dict[Side, tuple[tuple[datetime, Sample], ...]] = {}
    for side in Side:
        runs = session.store.runs_of_workload(move, side, tool, workload, NEWEST)
        samples = ((run.started_at, sample_of(metric, run)) for run in runs)
        found[side] = tuple((at, sample) for at, sample in samples if sample is not None)
    return found


def read_outputs(named: Sequence[tuple[str, str]], tool: str | None = None) -> tuple[str, Comparison]:
    """Outputs that somebody else produced, side by side: each its name and its text; one alone is shown by itself.

    `tool`: whose they are; None: the first that can read them all. Handed back is that tool, with the comparison.

    Raises:
        InputError: there is no output.
        ParseError: no tool, or not this one, can read one of them.
    """
    texts = [(name, text) for name, text in named if text.strip()]
    if not texts:
        raise InputError("there is no output to read", "open a file, or paste the output of a tool")
    tools = [tool] if tool is not None else list(readers())
    refused: ParseError | None = None
    for one in tools:
        try:
            read = [(name, _read(one, name, text)) for name, text in texts]
        except ParseError as error:
            refused = error
            continue
        nothing = [("nothing else", Output(one, None, ()))] if len(read) == 1 else []
        return one, compare_outputs([*read, *nothing])
    if tool is not None and refused is not None:
        raise refused
    raise ParseError(
        f"no known tool has written this output: {', '.join(name for name, _ in texts)}",
        f"pghaul can read {', '.join(tools)}; give the complete output, and outputs of only one tool",
    )


def _read(tool: str, name: str, text: str) -> Output:
    try:
        return read_output(tool, text, name)
    except ParseError as error:
        raise ParseError(f"{name}: {error.message}", error.hint) from error
