"""Results of benchmarks in the history: list them, compare them, and show them over time."""

from collections.abc import Sequence
from datetime import datetime

from core.api.session import Session
from core.benchmarks.model import Output, Side
from core.benchmarks.tools import read_output, readers
from core.comparison.compare import compare as compare_runs
from core.comparison.compare import sample_of
from core.comparison.foreign_outputs import compare_outputs
from core.comparison.model import Comparison, Sample
from core.comparison.sets import Start
from core.errors import InputError, ParseError

NEWEST = 200
"""How many runs of a workload are shown over time: a chart cannot show more."""


def list_starts(session: Session) -> tuple[Start, ...]:
    """Return what each start of a suite has measured on one volume, for all moves, the newest first."""
    return session.store.starts()


def compare_starts(session: Session, move: str, left: Start | Side, right: Start | Side) -> Comparison:
    """Return a comparison of two sets of runs.

    Args:
        session: the history and the connections.
        move: the name of the move.
        left: a start of a suite, or a side for the latest runs of each workload on the move's volume.
        right: the other set, likewise.

    Raises:
        InputError: nothing was measured in either set.
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


def metric_over_time(
    session: Session, move: str, tool: str, workload: str, metric: str
) -> dict[Side, tuple[tuple[datetime, Sample], ...]]:
    """Return a metric of a workload in each finished run on the volumes of a move, the oldest first.

    Args:
        session: the history and the connections.
        move: the name of the move.
        tool: the tool of the workload.
        workload: the name of the workload.
        metric: the name of the metric.
    """
    found: dict[Side, tuple[tuple[datetime, Sample], ...]] = {}
    for side in Side:
        runs = session.store.runs_of_workload(move, side, tool, workload, NEWEST)
        samples = ((run.started_at, sample_of(metric, run)) for run in runs)
        found[side] = tuple((at, sample) for at, sample in samples if sample is not None)
    return found


def read_outputs(named: Sequence[tuple[str, str]], tool: str | None = None) -> tuple[str, Comparison]:
    """Return the tool and a comparison of outputs of benchmark tools; a single output is shown alone.

    Args:
        named: the name and the text of each output.
        tool: the tool that wrote them; None for the first tool that can read them all.

    Raises:
        InputError: there is no output.
        ParseError: no tool, or not this one, can read all of them.
    """
    texts = [(name, text) for name, text in named if text.strip()]
    if not texts:
        raise InputError("there is no output to read", "open a file, or paste the output of a tool")
    tools = [tool] if tool is not None else list(readers())
    last_error: ParseError | None = None
    for name_of_tool in tools:
        try:
            read = [(name, _read(name_of_tool, name, text)) for name, text in texts]
        except ParseError as error:
            last_error = error
            continue
        placeholder = [("nothing else", Output(name_of_tool, None, ()))] if len(read) == 1 else []
        return name_of_tool, compare_outputs([*read, *placeholder])
    if tool is not None and last_error is not None:
        raise last_error
    raise ParseError(
        f"no known tool has written this output: {', '.join(name for name, _ in texts)}",
        f"pghaul can read {', '.join(tools)}; give the complete output, and outputs of only one tool",
    )


def _read(tool: str, name: str, text: str) -> Output:
    try:
        return read_output(tool, text, name)
    except ParseError as error:
        raise ParseError(f"{name}: {error.message}", error.hint) from error
