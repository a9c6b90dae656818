"""The section on storage: each workload old against new, as bars with their spread and as a table."""

from core import units
from core.comparison.model import Row, Sample
from core.reports.report import Report
from core.reports.summary import headlines
from core.reports.words import Plain, fraction, missing, table

_ENDINGS = (
    ("_bytes_per_second", " rate"),
    ("_per_second", " per second"),
    ("_iops", " IOPS"),
    ("_seconds", ""),
    ("_fraction", ""),
)
_HOW_TO_READ = (
    "Figures are means of the repetitions, outliers left out; whiskers reach from the least to the greatest. Each workload has a scale "
    "of its own. A ratio above 1 speaks for new, for a latency too."
)


def storage(report: Report) -> Plain:
    """Bars and table, or the sentence for neither."""
    if report.comparison is None or not report.comparison.rows:
        text = missing("Nothing was measured yet.", report.move, "bench", "Benchmarks")
        return {"missing": text, "bars": [], "table": None, "alt": "", "notes": []}
    bars = [_bars(row) for row in headlines(report)]
    return {
        "missing": "",
        "bars": bars,
        "alt": "Old against new, each workload on a scale of its own. "
        + " ".join(f"{bar['title']}: old {bar['old']['text']}, new {bar['new']['text']}." for bar in bars),
        "table": table(
            ("Workload", "Metric", "Old", "New", "Ratio", "95 % interval", "Verdict"),
            [_table_row(row) for row in report.comparison.rows],
        ),
        "notes": _notes(report),
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
    return units.metric(metric, None if sample is None else sample.mean)


def _notes(report: Report) -> list[str]:
    rows = () if report.comparison is None else report.comparison.rows
    cached = sorted({row.workload.title for row in rows for side in (row.old, row.new) if side and side.cached})
    notes = [_HOW_TO_READ]
    if cached:
        notes.append(f"The caches could not be dropped before each repetition of: {', '.join(cached)}.")
    return notes
