"""Words that several kinds of report share: spans, instants, names, sentences for what is not there yet."""

from collections.abc import Callable, Iterable
from datetime import datetime

from core import units
from core.comparison.model import Verdict
from core.language import marked, tr, tr_counted
from core.migration.model.estimate import Span, bottleneck_title, method_title, stage_heading
from core.migration.model.move import Move
from core.servers import shell

_MONTHS = (
    *(marked("January"), marked("February"), marked("March"), marked("April"), marked("May"), marked("June")),
    *(marked("July"), marked("August"), marked("September"), marked("October"), marked("November"), marked("December")),
)
_VERDICTS = {
    Verdict.OLD: marked("slower"),
    Verdict.NEW: marked("faster"),
    Verdict.NONE: marked("no difference beyond noise"),
    Verdict.ONE_SIDED: marked("measured on one side only"),
    Verdict.UNLIKE: marked("not comparable: cached on one side only"),
}
_SIDES = {"old": marked("Old server"), "new": marked("New server"), "you": marked("Operator")}
_ENDINGS = (
    ("_bytes_per_second", " rate"),
    ("_per_second", " per second"),
    ("_iops", " IOPS"),
    ("_seconds", ""),
    ("_fraction", ""),
)


def method(name: str) -> str:
    """A method's name for people."""
    return tr(method_title(name))


def stage_name(name: str) -> str:
    """A stage's name for people, as it begins a line."""
    return tr(stage_heading(name))


def side_name(side: str) -> str:
    """Return the name of a step's side, as it begins a line."""
    return tr(_SIDES[side])


def bottleneck(name: str) -> str:
    """Return the name of what limits a stage."""
    return tr(bottleneck_title(name))


def verdict(found: Verdict) -> str:
    """How another set stands to the first."""
    return tr(_VERDICTS[found])


def metric_title(name: str) -> str:
    """A metric's name for people: `write_latency_p99_seconds` -> `write latency p99`."""
    for ending, words in _ENDINGS:
        if name.endswith(ending):
            name = name.removesuffix(ending) + words
            break
    words_of = " ".join({"p999": "p99.9", "p9999": "p99.99"}.get(word, word) for word in name.split("_"))
    return tr(words_of)


def about(seconds: float) -> str:
    """An estimated duration, as the window shows it."""
    return units.about(seconds)


def expected(seconds: float | None) -> str:
    """The expected duration of a step: `under 1 s`, else as `about`; a dash where it is not known."""
    if seconds is None:
        return units.ABSENT
    return tr("under 1 s") if seconds < 1 else about(seconds)


def span(seconds: Span) -> str:
    """`3 h 48 min (3 h 12 min to 4 h 54 min)`."""
    return f"{about(seconds.likely)} ({reach(seconds)})"


def reach(seconds: Span) -> str:
    """`3 h 12 min to 4 h 54 min`."""
    return tr("{low} to {high}").format(low=about(seconds.low), high=about(seconds.high))


def instant(at: datetime) -> str:
    """`14 March 2026, 20:00 UTC`, in the zone that the instant carries."""
    return (
        tr("{day} {month} {year}, {time} {zone}")
        .format(day=at.day, month=tr(_MONTHS[at.month - 1]), year=at.year, time=f"{at:%H:%M}", zone=at.tzname() or "")
        .rstrip()
    )


def day(at: datetime) -> str:
    """`2026-03-14`; in German `14.03.2026`."""
    return f"{at:{tr('%Y-%m-%d')}}"


def moment(at: datetime) -> str:
    """`2026-03-14 20:00 UTC`: as short as can be, for a column."""
    return f"{day(at)} {at:%H:%M} {at.tzname() or ''}".rstrip()


def second(at: datetime) -> str:
    """`2026-03-14 20:00:07 UTC`: where several times lie within a minute."""
    return f"{day(at)} {at:%H:%M:%S} {at.tzname() or ''}".rstrip()


def time_words(times: Iterable[datetime]) -> Callable[[datetime], str]:
    """How a column writes its times: as `moment`, or as `second` where several of them lie within a minute."""
    found = set(times)
    return second if len({at.replace(second=0, microsecond=0) for at in found}) < len(found) else moment


def day_of_month(at: datetime) -> str:
    """`03-14`; in German `14.03.`."""
    return f"{at:{tr('%m-%d')}}"


def counted(number: int, one: str, many: str) -> str:
    """`1 blocker`, `2 blockers`: of `{number} blocker` and `{number} blockers`."""
    return tr_counted(one, many, number).format(number=units.count(number))


def listed(words: Iterable[str], most: int = 3) -> str:
    """`a, b and c`; of more than `most` the rest as a number: `a, b, c and 4 more`."""
    found = list(words)
    if len(found) > most:
        found = [*found[:most], tr("{number} more").format(number=len(found) - most)]
    if len(found) < 2:
        return "".join(found)
    return tr("{words} and {last}").format(words=", ".join(found[:-1]), last=found[-1])


def missing(what: str, move: Move, command: str, page: str) -> str:
    """What to do for a section that has nothing to show; `page`: the title of the page that does it in the window."""
    hint = tr("Run {command}, or open the page {page} in the window. Then create this report again.")
    return f"{what} {hint.format(command=shell.command('pghaul', command, move.name), page=tr(page))}"
