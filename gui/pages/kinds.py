"""Which pages there are, in the order of the rail.

Each loads its module when it is first shown: the window is on screen before the pages that nobody has asked for yet.
"""

from collections.abc import Callable
from dataclasses import dataclass

from core.migration.model.standing import Milestone
from gui.destinations import TITLES, PageId, page_of
from gui.pages.page import AnyPage
from gui.pages.start import StartPage


@dataclass(frozen=True, slots=True)
class PageKind:
    """A page by its id, its title, and the milestone whose mark the rail shows beside it, as its class has them."""

    id: str
    title: str
    milestone: Milestone | None
    load: Callable[[], type[AnyPage]]


def _start() -> type[AnyPage]:
    return StartPage


def _overview() -> type[AnyPage]:
    from gui.pages.overview import OverviewPage

    return OverviewPage


def _servers() -> type[AnyPage]:
    from gui.pages.servers import ServersPage

    return ServersPage


def _facts() -> type[AnyPage]:
    from gui.pages.facts import FactsPage

    return FactsPage


def _measure() -> type[AnyPage]:
    from gui.pages.measure import MeasurePage

    return MeasurePage


def _compare() -> type[AnyPage]:
    from gui.pages.compare import ComparePage

    return ComparePage


def _check() -> type[AnyPage]:
    from gui.pages.check import CheckPage

    return CheckPage


def _probe() -> type[AnyPage]:
    from gui.pages.probe import ProbePage

    return ProbePage


def _estimate() -> type[AnyPage]:
    from gui.pages.estimate import EstimatePage

    return EstimatePage


def _plan() -> type[AnyPage]:
    from gui.pages.plan import PlanPage

    return PlanPage


def _rehearse() -> type[AnyPage]:
    from gui.pages.execution import RehearsePage

    return RehearsePage


def _move() -> type[AnyPage]:
    from gui.pages.execution import MovePage

    return MovePage


def _after() -> type[AnyPage]:
    from gui.pages.after import AfterPage

    return AfterPage


def _survey() -> type[AnyPage]:
    from gui.pages.survey import SurveyPage

    return SurveyPage


def _history() -> type[AnyPage]:
    from gui.pages.history import HistoryPage

    return HistoryPage


def _of(milestone: Milestone, load: Callable[[], type[AnyPage]]) -> PageKind:
    return _beside(page_of(milestone), load, milestone)


def _beside(id_: PageId, load: Callable[[], type[AnyPage]], milestone: Milestone | None = None) -> PageKind:
    return PageKind(id_, TITLES[id_], milestone, load)


PAGES = (
    _beside(PageId.MOVES, _start),
    _beside(PageId.OVERVIEW, _overview),
    _beside(PageId.SERVERS, _servers),
    _of(Milestone.FACTS, _facts),
    _of(Milestone.MEASURE, _measure),
    _of(Milestone.COMPARE, _compare),
    _of(Milestone.CHECK, _check),
    _of(Milestone.PROBE, _probe),
    _of(Milestone.ESTIMATE, _estimate),
    _of(Milestone.PLAN, _plan),
    _of(Milestone.REHEARSE, _rehearse),
    _of(Milestone.MOVE, _move),
    _of(Milestone.AFTER, _after),
    _beside(PageId.SURVEY, _survey),
    _beside(PageId.HISTORY, _history),
)


def load_all(_session: object) -> None:
    """Load the modules of all pages on a thread, so that a page opens without delay."""
    for kind in PAGES:
        kind.load()
