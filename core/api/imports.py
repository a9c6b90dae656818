"""Import outputs of benchmark tools into the history, as runs on a volume of no server (`elsewhere`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from core.api.session import Session
from core.benchmarks.model import ELSEWHERE, Outcome, Output, Repetition, Run, Volume
from core.benchmarks.tools import read_output, recognised
from core.comparison.foreign_outputs import Differing, find_differing, runs_of
from core.errors import InputError, ParseError
from core.history.recorded_profiles import checked_name
from core.sides import Side

__all__ = [
    "LARGEST_REPEATED",
    "MOST_RESULTS",
    "Imported",
    "Unread",
    "import_outputs",
]

MOST_RESULTS = 1000
"""The maximum number of results in one file."""
_ENDINGS = {".txt", ".log", ".out", ".json", ".csv", ".xml", ".md"}
_LONGEST_NAME = 100
LARGEST_REPEATED = 64 * 1024
"""A text with more characters is stored only with the first of its results."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file from which nothing was imported, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    Attributes:
        move: the name of the move; None: the runs belong to none.
        runs: the imported runs.
        unread: files of a folder that contain no output of a known tool.
    """

    move: str | None
    runs: tuple[Run, ...]
    unread: tuple[Unread, ...]


def import_outputs(
    session: Session,
    move: str | None,
    files: Sequence[tuple[str, str]],
    name: str | None = None,
    tool: str | None = None,
) -> Imported:
    """Import outputs into the history, all or none; each file becomes a volume with the name of the file.

    Args:
        session: the history and the connections.
        move: the name of the move; None: the runs belong to none.
        files: the name of each file, which may contain folders, and its text.
        name: the name of one volume for all files; equal results in several files then count as repetitions.
        tool: the tool that wrote the files; None to recognise it.

    Raises:
        InputError: there is no such move, a server has the reserved name, or the name of a volume is not allowed.
        ParseError: none of the files can be read.
    """
    store = session.store
    known_move = None if move is None else store.move(move).name
    side = None if move is None else Side.OLD  # which of the two says nothing
    if any(profile.name == ELSEWHERE for profile in store.profiles()):
        raise InputError(
            f"a server is called {ELSEWHERE}; this name is reserved for imported results",
            "give the server another name",
        )
    now = datetime.now(UTC)
    shared_volume = None if name is None else _imported_volume(side, name, now)
    read: list[tuple[str, str, Volume, tuple[Output, ...]]] = []
    unread: list[Unread] = []
    hints: list[str] = []
    for file, text in files:
        try:
            outputs = _read_outputs(text, file, tool)
            volume = shared_volume or _imported_volume(side, _strip_ending(file)[-_LONGEST_NAME:], now)
        except InputError as error:
            unread.append(Unread(file, error.message))
            hints.append(error.hint)
            continue
        read.append((file, text, volume, tuple(_named_after_file(output, file) for output in outputs)))
    differing = _differing(read)
    runs: list[Run] = []
    for file, text, volume, outputs in read:
        made = (_imported_runs(each, known_move, file, volume, now, differing) for each in outputs)
        runs += _attach_text([run for of_output in made for run in of_output], text)
    if not runs:
        why = "; ".join(f"{one.file}: {one.why}" for one in unread[:3])
        raise ParseError(why or "there is no output to import", next(filter(None, hints), ""))
    numbers = store.add_runs(tuple(_merge_repetitions(runs)))
    return Imported(known_move, tuple(replace(store.run(number), repetitions=()) for number in numbers), tuple(unread))


def _read_outputs(text: str, file: str, tool: str | None) -> tuple[Output, ...]:
    outputs = recognised(text, file) if tool is None else (read_output(tool, text, file),)
    results = sum(len(output.results) for output in outputs)
    if results > MOST_RESULTS:
        raise ParseError(f"it contains {results} results; the limit is {MOST_RESULTS} per file", "split the file")
    return outputs


def _strip_ending(file: str) -> str:
    """Return the file name without an ending that only says that it is text: `bench-9.6` has none."""
    path = PurePath(file)
    return str(path.with_suffix("")) if path.suffix.lower() in _ENDINGS else file


def _imported_volume(side: Side | None, name: str, at: datetime) -> Volume:
    """Return a volume on no server; its folder distinguishes one import from another."""
    place = f"/{checked_name('volume', name.strip('/'))}"
    return Volume(side, ELSEWHERE, place, f"{place} {at:%Y-%m-%d %H:%M:%S.%f}")


def _named_after_file(output: Output, file: str) -> Output:
    stem = PurePath(_strip_ending(file)).name
    return replace(output, results=tuple(replace(one, name=one.name or stem) for one in output.results))


_DifferingOnVolumes = dict[tuple[str, str], frozenset[Differing]]
"""By which conditions results differ, for each volume and tool."""


def _differing(read: Sequence[tuple[str, str, Volume, tuple[Output, ...]]]) -> _DifferingOnVolumes:
    """Several files of one volume are looked at together, because their equal results become repetitions."""
    together: dict[tuple[str, str], list[Output]] = {}
    for _, _, volume, outputs in read:
        for output in outputs:
            together.setdefault((volume.mount_point, output.tool), []).append(output)
    return {place: find_differing(outputs) for place, outputs in together.items()}


def _imported_runs(
    output: Output, move: str | None, file: str, volume: Volume, at: datetime, differing: _DifferingOnVolumes
) -> Iterator[Run]:
    for run in runs_of(volume.mount_point, output, differing[volume.mount_point, output.tool]):
        repetitions = tuple(replace(one, started_at=at) for one in run.repetitions)
        yield replace(
            run,
            move=move,
            volume=volume,
            started_at=at,
            ended_at=at,
            outcome=_outcome(repetitions),
            repetitions=repetitions,
            stopped=f"it was imported from {file}",
        )


def _outcome(repetitions: Sequence[Repetition]) -> Outcome:
    return Outcome.DONE if any(one.outcome is Outcome.DONE for one in repetitions) else Outcome.FAILED


def _attach_text(runs: Sequence[Run], text: str) -> Iterator[Run]:
    """Yield the runs with the text from which they were read, in their first repetition; a long text only once."""
    for number, run in enumerate(runs):
        first, *others = run.repetitions
        raw = text if number == 0 or len(text) <= LARGEST_REPEATED else ""
        yield replace(run, repetitions=(replace(first, raw=raw), *others))


def _merge_repetitions(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield the runs of one workload on one volume as the repetitions of one run."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.volume.mount_point, run.workload.tool, run.workload.name), []).append(run)
    for group in groups.values():
        repetitions = [one for run in group for one in run.repetitions]
        numbered = tuple(replace(one, number=number) for number, one in enumerate(repetitions, 1))
        remarks = "; ".join(dict.fromkeys(run.stopped for run in group))
        yield replace(group[0], repetitions=numbered, outcome=_outcome(numbered), stopped=remarks)
