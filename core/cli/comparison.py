"""`pghaul compare`: the storage of both servers, runs with each other, or outputs of benchmark tools."""

import argparse
from itertools import takewhile
from pathlib import PurePath

from core import units
from core.cli.context import Choices, Context, add_common, print_document
from core.cli.terminal import show, table
from core.comparison.model import Comparison, Row, Sample, Verdict
from core.comparison.sets import is_place_on_server
from core.errors import InputError, ParseError
from core.inputs import read_input
from core.jobs import Note

_DESCRIPTION = """\
Compare the benchmark results of both servers of a move, of the volumes that you name, or of runs in the history. The
volumes can be those of any servers, without a move: pghaul compare db1:/srv/pg db2:/mnt/a.
Each is compared with the first. If a workload ran several times on a volume, its newest finished run counts. The same
volume at two dates is compared as two sets. Runs that failed or were cancelled or interrupted do not count."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    compare = nouns.add_parser(
        "compare",
        help="compare benchmark results of two servers, of volumes, of runs, or in output files",
        description=_DESCRIPTION,
    )
    compare.add_argument(
        "what",
        nargs="*",
        metavar="MOVE [SIDE:PATH[@DATE]...] | SERVER:/PATH[@DATE]... | RUN RUN...",
        help="a move: compares its two volumes. A move and volumes, such as old:/mnt/a: compares these; "
        "old:/mnt/a@2026-11-01 is the newest result up to that day, elsewhere:/NAME an imported result; a single "
        "volume is compared with its own earlier results. Volumes alone, such as db1:/srv/pg: compares all that was "
        "measured there, whether or not it belongs to a move. Numbers of runs: compares these",
    )
    compare.add_argument(
        "--outputs", nargs="+", metavar="FILE", help="compare these files with outputs of a benchmark tool instead"
    )
    compare.add_argument(
        "--tool", choices=Choices(_tools), metavar="TOOL", help="the tool that wrote the outputs: %(choices)s"
    )
    compare.add_argument(
        "--all", action="store_true", help="show all metrics (default: the main metric of each workload)"
    )
    add_common(compare)
    compare.set_defaults(run=_run)


def _run(context: Context, options: argparse.Namespace) -> int:
    compared, names = _outputs(context, options) if options.outputs else _measured(context, options)
    if options.json:
        print_document(compared)
    else:
        show(text(compared, names, every=options.all, rates=bool(options.outputs)))
    return 0


def _measured(context: Context, options: argparse.Namespace) -> tuple[Comparison, tuple[str, ...]]:
    from core.api import comparison as actions

    match options.what:
        case []:
            raise InputError(
                "nothing to compare is given", "name a move, or two runs; list runs with: pghaul history runs MOVE"
            )
        case words if is_place_on_server(words[0]):
            found = actions.compare_volumes(context.session, words)
            return found, found.names
        case [move]:
            context.refuse_server(move)
            return actions.compare_sides(context.session, move), ("old", "new")
        case [move, *places] if ":" in places[0]:
            found = actions.compare_sets(context.session, move, places)
            return found, found.names
        case words:
            context.refuse_server(words[0])
            old, new, *further = (_number(word) for word in words)
            names = tuple(f"run {number}" for number in (old, new, *further))
            return actions.compare_numbered_runs(context.session, old, new, *further), names


def _outputs(context: Context, options: argparse.Namespace) -> tuple[Comparison, tuple[str, ...]]:
    from core.api.outputs import compare_outputs, incomplete, read_output

    if options.what:
        raise InputError("a move or runs cannot be combined with --outputs", "leave out one of them")
    if options.tool is None:
        raise InputError(
            "--outputs needs the name of the tool that wrote the files", f"add --tool {' | '.join(_tools())}"
        )
    names, named = _short(options.outputs), []
    for name, file in zip(names, options.outputs, strict=True):
        try:
            output = read_output(options.tool, read_input(file), file)
        except ParseError as error:
            raise ParseError(f"{file}: {error.message}", error.hint) from error
        for sentence in incomplete(output):
            context.job.report(Note(f"{file}: {sentence}; it is skipped", "warning"))
        named.append((name, output))
    return compare_outputs(named), names


def _tools() -> list[str]:
    from core.api.outputs import parsers

    return sorted(parsers())


def _short(files: list[str]) -> tuple[str, ...]:
    """The files' names without folder, ending and what they all begin with; whole where they would not differ then."""
    stems = [PurePath(file).stem for file in files]
    common = "".join(letters[0] for letters in takewhile(lambda one: len(set(one)) == 1, zip(*stems, strict=False)))
    whole_words = common[: max(common.rfind(mark) for mark in "-_. ") + 1]
    short = tuple(stem.removeprefix(whole_words) for stem in stems)
    return short if len(set(short)) == len(short) and all(short) else tuple(files)


def _number(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise InputError(
            f"{word!r} is not the number of a run",
            "list the runs with: pghaul history runs MOVE; name a volume of a move as old:/PATH or new:/PATH",
        )
    return int(word)


def text(comparison: Comparison, names: tuple[str, ...], *, every: bool = False, rates: bool = False) -> str:
    """A comparison for people: what was measured, ratios with their intervals, verdicts.

    Args:
        names: short, of each set.
        every: every metric, else each workload's own; with `rates`, also the other metrics that are no latency.
    """
    rows = [row for row in comparison.rows if every or row.headline or (rates and "latency" not in row.metric)]
    first, *others = names
    head = (
        *("workload", "metric"),
        *(name if name == title else f"{name}: {title}" for name, title in zip(names, comparison.names, strict=True)),
        *(f"{name} / {first}" for name in others),
        "verdict",
    )
    numbers = range(2, len(head) - 1)
    shown = table(head, [_cells(row, names) for row in rows], right=numbers)
    note = [comparison.machines_note] if comparison.machines_note else []
    return "\n\n".join([shown, *_notes(rows, names), *note])


def _cells(row: Row, names: tuple[str, ...]) -> tuple[str, ...]:
    return (
        row.workload.title,
        row.metric,
        *(_sample(row.metric, sample) for sample in _samples(row)),
        *(_ratio(*ratio) for ratio in _ratios(row)),
        _verdict(row, names),
    )


def _samples(row: Row) -> tuple[Sample | None, ...]:
    return (row.old, row.new, *(contrast.sample for contrast in row.further))


def _ratios(row: Row) -> tuple[tuple[float | None, float | None, float | None], ...]:
    return (
        (row.ratio, row.ratio_low, row.ratio_high),
        *((contrast.ratio, contrast.ratio_low, contrast.ratio_high) for contrast in row.further),
    )


def _verdict(row: Row, names: tuple[str, ...]) -> str:
    """Of two sets who is faster; of more, how each of the others stands to the first."""
    first, *others = names
    verdicts = (row.verdict, *(contrast.verdict for contrast in row.further))
    if len(others) == 1:
        return {Verdict.OLD: f"{first} faster", Verdict.NEW: f"{others[0]} faster"}.get(row.verdict, row.verdict)
    words = {Verdict.OLD: "slower", Verdict.NEW: "faster", Verdict.NONE: "no difference"}
    return ", ".join(f"{name} {words.get(one, one.value)}" for name, one in zip(others, verdicts, strict=True))


def _sample(metric: str, sample: Sample | None) -> str:
    if sample is None:
        return units.ABSENT
    marks = [
        *(["cached"] if sample.cached else []),
        *(["from memory"] if sample.from_memory else []),
        *(["disturbed"] if sample.disturbed else []),
        *([units.counted(len(sample.left_out), "outlier") + " excluded"] if sample.left_out else []),
    ]
    shown = f"{units.metric(metric, sample.mean)} {units.spread(sample.variation)}".rstrip()
    return f"{shown} ({', '.join(marks)})" if marks else shown


def _ratio(ratio: float | None, low: float | None, high: float | None) -> str:
    if ratio is None:
        return units.ABSENT
    if low is None or high is None:
        return units.ratio(ratio)
    return f"{units.ratio(ratio)} ({units.ratio(low).removesuffix(' ×')}–{units.ratio(high).removesuffix(' ×')})"


def _notes(rows: list[Row], names: tuple[str, ...]) -> list[str]:
    """What was left out with its reason, and what an interval of few values is."""
    left_out = [
        f"excluded from {name}, {row.workload.title}, {row.metric}: "
        + ", ".join(f"{units.metric(row.metric, one.value)} ({one.reason})" for one in sample.left_out)
        for row in rows
        for name, sample in zip(names, _samples(row), strict=True)
        if sample is not None and sample.left_out
    ]
    row_notes = list(dict.fromkeys(row.note for row in rows if row.note))
    return [*(["\n".join(left_out)] if left_out else []), *row_notes]
