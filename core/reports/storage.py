"""The section on storage: each workload old against new, as bars with their spread and as a table."""

from collections.abc import Iterable, Sequence

from core import units
from core.benchmarks import statistics
from core.comparison.model import Comparison, Contrast, Row, Sample, Verdict
from core.reports.report import Report
from core.reports.summary import headlines
from core.reports.words import Plain, counted, fraction, instant, missing, table

_ENDINGS = (
    ("_bytes_per_second", " rate"),
    ("_per_second", " per second"),
    ("_iops", " IOPS"),
    ("_seconds", ""),
    ("_fraction", ""),
)
_HOW_TO_READ = (
    "Figures are means of the repetitions that count; whiskers reach from the least of them to the greatest. Each "
    "workload has a scale of its own. A ratio above 1 speaks for new, for a latency too."
)
_INTERVAL = (
    f"The interval is where the ratio lies with {statistics.CONFIDENCE * 100:.0f} % confidence, by bootstrap over the "
    f"repetitions, which takes at least {statistics.FEWEST} on each side."
)
_WORDS = {Verdict.OLD: "slower", Verdict.NEW: "faster", Verdict.NONE: "no difference"}
"""How a volume stands to the first."""


def storage(report: Report) -> Plain:
    """Bars and table, or the sentence for neither."""
    if report.comparison is None or not report.comparison.rows:
        text = missing("Nothing was measured yet.", report.move, "bench", "Measure")
        return {"missing": text, "bars": [], "table": None, "alt": "", "notes": [], **_beside(report)}
    bars = [_bars(row) for row in headlines(report)]
    return {
        "missing": "",
        "bars": bars,
        "alt": "Old against new, each workload on a scale of its own. "
        + " ".join(f"{bar['title']}: old {bar['old']['text']}, new {bar['new']['text']}." for bar in bars),
        "table": table(
            ("Workload", "Metric", "Old", "New", "Ratio", "Interval", "Verdict"),
            [_table_row(row) for row in report.comparison.rows],
        ),
        "notes": _notes(report.comparison.rows),
        **_beside(report),
    }


def metric_title(name: str) -> str:
    """A metric's name for people: `write_latency_p99_seconds` -> `write latency p99`."""
    for ending, words in _ENDINGS:
        if name.endswith(ending):
            name = name.removesuffix(ending) + words
            break
    return name.replace("_", " ").strip()


def _bars(row: Row) -> Plain:
    most = max((sample.high for sample in (row.old, row.new) if sample is not None), default=0.0)
    return {
        "title": row.workload.title,
        "metric": metric_title(row.metric) + (", less is better" if "latency" in row.metric else ""),
        "old": _bar(row.metric, row.old, most),
        "new": _bar(row.metric, row.new, most),
        "ratio": units.ratio(row.ratio),
        "verdict": row.verdict.value,
    }


def _bar(metric: str, sample: Sample | None, most: float) -> Plain:
    if sample is None:
        return {"measured": False, "text": "not measured"}
    return {
        "measured": True,
        "value": fraction(sample.mean, most),
        "low": fraction(sample.low, most),
        "high": fraction(sample.high, most),
        "text": units.metric(metric, sample.mean),
    }


def _table_row(row: Row) -> tuple[str, ...]:
    interval = units.ABSENT
    if row.ratio_low is not None and row.ratio_high is not None:
        interval = f"{units.ratio(row.ratio_low).removesuffix(' ×')} to {units.ratio(row.ratio_high)}"
    return (
        row.workload.title,
        metric_title(row.metric),
        _mean(row.metric, row.old),
        _mean(row.metric, row.new),
        units.ratio(row.ratio),
        interval,
        row.verdict.value,
    )


def _mean(metric: str, sample: Sample | None) -> str:
    if sample is None:
        return units.metric(metric, None)
    marks = [
        *(["disturbed"] if sample.disturbed else []),
        *(["from memory"] if sample.from_memory else []),
        *([f"{len(sample.left_out)} left out"] if sample.left_out else []),
    ]
    shown = units.metric(metric, sample.mean)
    return f"{shown} ({', '.join(marks)})" if marks else shown


def _notes(rows: Sequence[Row]) -> list[str]:
    """How to read the table, and of which workloads something must be known beside."""
    sides = [(row, sample) for row in rows for sample in (row.old, row.new) if sample is not None]
    cached = _titles(row for row, sample in sides if sample.cached)
    memory = _titles(row for row, sample in sides if sample.from_memory)
    disturbed = _titles(row for row, sample in sides if sample.disturbed)
    said = [
        _HOW_TO_READ,
        _INTERVAL,
        *(f"{_titles(row for row in rows if row.note == note)}: {note}." for note in _distinct(rows)),
        f"The caches could not be dropped before each repetition of: {cached}." if cached else "",
        f"Read from memory, or left there, and not the disks' own: {memory}." if memory else "",
        f"Others used the disks meanwhile, and too few repetitions were undisturbed: {disturbed}." if disturbed else "",
        *(_left_out(row, sample) for row, sample in sides if sample.left_out and row.headline),
    ]
    return [sentence for sentence in said if sentence]


def _distinct(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.note for row in rows if row.note))


def _titles(rows: Iterable[Row]) -> str:
    return ", ".join(sorted({row.workload.title for row in rows}))


def _left_out(row: Row, sample: Sample) -> str:
    values = ", ".join(f"{units.metric(row.metric, one.value)} ({one.reason})" for one in sample.left_out)
    return f"Left out of {row.workload.title} on {sample.server}: {values}."


def _beside(report: Report) -> Plain:
    """What stands below the two storages: every volume that was measured, and what explains poor results."""
    return {"volumes": _volumes(report.volumes), "diagnoses": _diagnoses(report)}


def _volumes(compared: Comparison | None) -> Plain | None:
    """A column a volume, each against the first."""
    if compared is None:
        return None
    rows = [
        (row.workload.title, metric_title(row.metric), _mean(row.metric, row.old), *_against_first(row))
        for row in compared.rows
        if row.headline
    ]
    return table(("Workload", "Metric", compared.old, compared.new, *compared.further), rows)


def _against_first(row: Row) -> list[str]:
    second = Contrast(row.new, row.ratio, row.ratio_low, row.ratio_high, row.verdict)
    return [
        _mean(row.metric, one.sample)
        + (f": {units.ratio(one.ratio)}, {_WORDS.get(one.verdict, one.verdict.value)}" if one.ratio is not None else "")
        for one in (second, *row.further)
    ]


def _diagnoses(report: Report) -> list[Plain]:
    """What explains poor results of each volume, and what to try."""
    return [
        {
            "of": f"{one.server}, {one.volume}",
            "looked": f"by the facts of {instant(one.facts_taken_at)} and {counted(one.figures, 'figure')}",
            "findings": [
                {
                    "title": finding.title[:1].upper() + finding.title[1:],
                    "evidence": list(finding.evidence),
                    "advice": list(finding.advice),
                }
                for finding in one.findings
            ],
        }
        for one in report.diagnoses
    ]
