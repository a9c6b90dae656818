"""The texts of reports and window: `python -m installer.texts` gathers them into the catalogue of each language.

Texts stand in calls of `tr` and its like; what is translated through a name (a stage, a check, a metric) is listed
here, from where it is declared as far as it is declared anywhere. What is new comes without a translation, what is gone
goes.
"""

import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from core.benchmarks.model import MarkKind, Outcome
from core.benchmarks.pgbench.tool import HEADLINES
from core.benchmarks.suites import load_suite, suites
from core.comparison import diagnosis
from core.comparison.compare import DISTURBED, OUTLIER
from core.comparison.model import Verdict
from core.documents import OTHER_PROBLEM, PROBLEMS
from core.migration.checks import CHECKS
from core.migration.model.checks import Status
from core.migration.model.execution import COPY_REHEARSAL, DRESS_REHEARSAL
from core.migration.model.probe import Quantity
from core.migration.model.standing import Condition
from core.reports.recorded import templates
from core.reports.words import metric_title
from gui.models.words import metric_name
from installer.sentences import sentences

TOP = Path(__file__).resolve().parent.parent
LANGUAGES = TOP / "resources" / "languages"
RECORDED = LANGUAGES / "recorded"
"""Sentences that the history has recorded, see `installer/sentences.py`."""
_CALLS = {
    **dict.fromkeys(("tr", "marked", "Column"), slice(0, 1)),
    "tr_counted": slice(0, 2),
    "counted": slice(1, 3),
}
"""Which words of a call are texts."""
_WIDTH = 120
_HEAD = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: {language}\\n"
"Plural-Forms: {plural}\\n"

"""

BOUNDS = (
    *(
        "cpu",
        "files",
        "limit",
        "new cpu",
        "new disk",
        "objects",
        "observed rate",
        "old cpu",
        "old disk",
        "round trips",
        "wire",
    ),
)
"""What bounds a stage of an estimate."""
_LATENCIES = tuple(
    f"{side}latency_{part}_seconds"
    for side in ("", "read_", "write_")
    for part in ("mean", "stddev", "p50", "p90", "p95", "p99", "p999", "p9999", "max")
)
METRICS = (
    *("read_iops", "write_iops", "seeks_per_second", "fsyncs_per_second", "requests_per_second"),
    *("read_bytes_per_second", "write_bytes_per_second", "rewrite_bytes_per_second", "bytes_per_second"),
    *("read_char_bytes_per_second", "write_char_bytes_per_second", "transactions_per_second", "new_orders_per_second"),
    *("rewrite_latency_max_seconds", "seeks_latency_max_seconds", *_LATENCIES, *HEADLINES),
    *(f"{phase}_latency_{part}_seconds" for phase in ("initial", "tpcb", "final") for part in ("mean", "stddev")),
    *(f"{each}_fsyncs_per_second" for each in ("open_datasync", "fdatasync", "fsync", "open_sync")),
)
"""Those of which more or less is better."""


HISTORY_KINDS = (*("move", "facts", "run", "probe", "checks", "estimate", "plan", "execution", "waiver", "report"),)
"""Of the entries of a history."""


def named() -> tuple[str, ...]:
    """The texts that no call holds as they are."""
    found = [
        *(metric_title(name) for name in METRICS),
        *(workload.title for suite in suites() for workload in load_suite(suite).workloads),
        *(check.title for check in CHECKS),
        *(declaration.title for declaration in diagnosis.CATALOGUE),
        *(each.value for names in (Status, Quantity) for each in names),
        *("old", "new", OUTLIER, DISTURBED),
        *(each.value for names in (Condition, Outcome, MarkKind, Verdict) for each in names),
        *(metric_name(name) for name in METRICS),
        *HISTORY_KINDS,
        *(COPY_REHEARSAL, DRESS_REHEARSAL),
        *(suite.title for suite in map(load_suite, suites())),
        *(*PROBLEMS.values(), OTHER_PROBLEM),
        *BOUNDS,
    ]
    return tuple(dict.fromkeys(found))


def gathered() -> Catalog:
    """Every text of reports and window, without a translation."""
    found = Catalog(charset="utf-8")
    for path in sorted(path for package in ("core", "gui") for path in (TOP / package).rglob("*.py")):
        for texts in found_in(path):
            found.add(texts if len(texts) > 1 else texts[0], locations=[(path.relative_to(TOP).as_posix(), 0)])
    for text in named():
        found.add(text, locations=[] if text in found else [("installer/texts.py", 0)])
    return found


def of_history() -> Catalog:
    """Every sentence of core's that is recorded or shown, and is not listed as a template, without a translation."""
    found, known = Catalog(charset="utf-8"), set(templates())
    for text in sentences():
        if text not in known:
            found.add(text)
    return found


def found_in(path: Path) -> Iterator[tuple[str, ...]]:
    """Each text of a file, with its other form where it counts."""
    # babel's own extraction does not look into f-strings before Python 3.12
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
            where = _CALLS[node.func.id]
            words = [word.value for word in node.args[where] if isinstance(word, ast.Constant)]
            if len(words) == where.stop - where.start and all(isinstance(word, str) for word in words):
                yield tuple(map(str, words))


def updated(path: Path, texts: Catalog) -> bytes:
    """The catalogue of a language, with what is new and without what is gone."""
    with path.open("rb") as file:
        known = read_po(file, locale=path.stem)
    known.update(texts, no_fuzzy_matching=True, update_header_comment=False)
    known.obsolete.clear()
    made = io.BytesIO()
    write_po(made, known, width=_WIDTH, sort_output=True, include_lineno=False, ignore_obsolete=True, omit_header=True)
    # babel's own head tells the time, so that it would differ each time
    head = _HEAD.format(language=path.stem, plural=known.plural_forms)
    return head.encode() + made.getvalue()


def lacking(path: Path) -> list[str]:
    """The texts of a catalogue that have no translation, or not in each of their forms."""
    with path.open("rb") as file:
        known = read_po(file, locale=path.stem)
    return [_first(message.id) for message in known if message.id and not all(_forms(message.string))]


def main() -> None:
    """Write each catalogue anew, and say what it lacks."""
    known = [(LANGUAGES, gathered()), (RECORDED, of_history())]
    for path, texts in ((path, texts) for folder, texts in known for path in sorted(folder.glob("*.po"))):
        path.write_bytes(updated(path, texts))
        lacks = lacking(path)
        sys.stdout.write(f"{path.relative_to(TOP)}: {len(lacks)} texts without a translation\n")
        sys.stdout.writelines(f"  {text}\n" for text in lacks)


def _forms(text: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [text or ""] if text is None or isinstance(text, str) else list(text)


def _first(text: str | tuple[str, ...] | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


if __name__ == "__main__":
    main()
