"""Outputs that somebody else produced, taken into the history as runs of a volume `elsewhere`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from core.actions.session import Session
from core.benchmarks.model import ELSEWHERE, Outcome, Output, Repetition, Run, Side, Volume
from core.benchmarks.recognition import read_output, recognised
from core.comparison.outputs import runs_of
from core.errors import InputError, ParseError
from core.history.names import checked_name

MOST_RESULTS = 1000
"""Of one file: more than anybody sets side by side."""
_ENDINGS = {".txt", ".log", ".out", ".json", ".csv", ".xml", ".md"}
_LONGEST_NAME = 100
LARGEST_REPEATED = 64 * 1024
"""Characters of a text that is kept with each of its results; a longer one with the first alone."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of which nothing was taken, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What was taken over. `unread`: files of a folder that hold no tool's output."""

    move: str
    runs: tuple[Run, ...]
    unread: tuple[Unread, ...]


def import_outputs(
    session: Session, move: str, files: Sequence[tuple[str, str]], name: str | None = None, tool: str | None = None
) -> Imported:
    """Take outputs into the history, all in one or none; each file is a volume of its own, called by its name.

    Args:
        files: the name of each, which may have folders, and its text.
        name: of one volume for all of them: then results of one name in several files are repetitions.
        tool: whose they are; None: whoever's each of them is.

    Raises:
        InputError: there is no such move, a server is called as these volumes are, or a name cannot be one.
        ParseError: not one of them can be read.
    """
    store = session.store
    found = store.move(move)
    if any(profile.name == ELSEWHERE for profile in store.profiles()):
        raise InputError(
            f"a server is called {ELSEWHERE}; this name is reserved for imported results",
            "give the server another name",
        )
    at = datetime.now(UTC)
    common = None if name is None else _volume(name, at)
    runs: list[Run] = []
    unread: list[Unread] = []
    for file, text in files:
        try:
            outputs = _read(text, file, tool)
            volume = common or _volume(_stem(file)[-_LONGEST_NAME:], at)
        except InputError as error:
            unread.append(Unread(file, error.message))
            continue
        runs += _with_text([run for output in outputs for run in _runs(output, found.name, file, volume, at)], text)
    if not runs:
        raise ParseError("; ".join(f"{one.file}: {one.why}" for one in unread[:3]) or "there is no output to import")
    numbers = store.add_runs(tuple(_joined(runs)))
    return Imported(found.name, tuple(replace(store.run(number), repetitions=()) for number in numbers), tuple(unread))


def _read(text: str, file: str, tool: str | None) -> tuple[Output, ...]:
    outputs = recognised(text, file) if tool is None else (read_output(tool, text, file),)
    results = sum(len(output.results) for output in outputs)
    if results > MOST_RESULTS:
        raise ParseError(f"it contains {results} results; the limit is {MOST_RESULTS} per file", "split the file")
    return outputs


def _stem(file: str) -> str:
    """Its name without what only says that it is a text: `bench-9.6` has no ending."""
    path = PurePath(file)
    return str(path.with_suffix("")) if path.suffix.lower() in _ENDINGS else file


def _volume(name: str, at: datetime) -> Volume:
    """The path of a volume on no server; the folder tells one import from another."""
    place = f"/{checked_name('volume', name.strip('/'))}"
    return Volume(Side.OLD, ELSEWHERE, place, f"{place} {at:%Y-%m-%d %H:%M:%S.%f}")


def _runs(output: Output, move: str, file: str, volume: Volume, at: datetime) -> Iterator[Run]:
    stem = PurePath(_stem(file)).name
    named = replace(output, results=tuple(replace(one, name=one.name or stem) for one in output.results))
    for run in runs_of(volume.mount_point, named):
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


def _with_text(runs: Sequence[Run], text: str) -> Iterator[Run]:
    """With the text that they were read from in the first repetition of each, or of the first alone."""
    for number, run in enumerate(runs):
        first, *others = run.repetitions
        kept = text if number == 0 or len(text) <= LARGEST_REPEATED else ""
        yield replace(run, repetitions=(replace(first, raw=kept), *others))


def _joined(runs: Sequence[Run]) -> Iterator[Run]:
    """Runs of one workload on one volume as the repetitions of one run."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.volume.mount_point, run.workload.tool, run.workload.name), []).append(run)
    for group in groups.values():
        repetitions = [one for run in group for one in run.repetitions]
        numbered = tuple(replace(one, number=number) for number, one in enumerate(repetitions, 1))
        said = "; ".join(dict.fromkeys(run.stopped for run in group))
        yield replace(group[0], repetitions=numbered, outcome=_outcome(numbered), stopped=said)
