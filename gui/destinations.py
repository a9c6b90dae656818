"""Where the window can lead: its pages, and what an empty state or Next begins. Each has an id and is shown by its
title, so that a title can change or be translated freely.
"""

from enum import StrEnum

from core.language import marked, tr
from core.migration.model.standing import Milestone
from gui.design.icons import Icon


class PageId(StrEnum):
    """A page of the window. The page of a milestone has the milestone's id."""

    MOVES = "moves"
    OVERVIEW = "overview"
    SERVERS = "servers"
    FACTS = Milestone.FACTS.value
    MEASURE = Milestone.MEASURE.value
    COMPARE = Milestone.COMPARE.value
    CHECK = Milestone.CHECK.value
    PROBE = Milestone.PROBE.value
    ESTIMATE = Milestone.ESTIMATE.value
    PLAN = Milestone.PLAN.value
    REHEARSE = Milestone.REHEARSE.value
    MOVE = Milestone.MOVE.value
    AFTER = Milestone.AFTER.value
    SURVEY = "survey"
    HISTORY = "history"


class Offer(StrEnum):
    """What an empty state, a menu or Next begins, beside leading to a page."""

    NEW_MOVE = "new-move"
    NEW_SERVER = "new-server"
    FIRST_STEPS = "first-steps"
    READ_OUTPUTS = "read-outputs"
    SURVEY = "new-survey"


FIRST = (Offer.FIRST_STEPS, Offer.NEW_MOVE)
"""What comes next as long as there is no move."""
TITLES = {
    PageId.MOVES: marked("Moves"),
    PageId.OVERVIEW: marked("Overview"),
    PageId.SERVERS: marked("Servers"),
    PageId.FACTS: marked("Facts"),
    PageId.MEASURE: marked("Benchmarks"),
    PageId.COMPARE: marked("Comparison"),
    PageId.CHECK: marked("Checks"),
    PageId.PROBE: marked("Transfer test"),
    PageId.ESTIMATE: marked("Estimate"),
    PageId.PLAN: marked("Plan"),
    PageId.REHEARSE: marked("Rehearsal"),
    PageId.MOVE: marked("Move"),
    PageId.AFTER: marked("Follow-up"),
    PageId.SURVEY: marked("Survey"),
    PageId.HISTORY: marked("History"),
}
ICONS = {
    PageId.MOVES: Icon.MOVES,
    PageId.OVERVIEW: Icon.OVERVIEW,
    PageId.SERVERS: Icon.SERVERS,
    PageId.FACTS: Icon.FACTS,
    PageId.MEASURE: Icon.BENCHMARKS,
    PageId.COMPARE: Icon.COMPARISON,
    PageId.CHECK: Icon.CHECKS,
    PageId.PROBE: Icon.TRANSFER_TEST,
    PageId.ESTIMATE: Icon.ESTIMATE,
    PageId.PLAN: Icon.PLAN,
    PageId.REHEARSE: Icon.REHEARSAL,
    PageId.MOVE: Icon.MOVE,
    PageId.AFTER: Icon.FOLLOW_UP,
    PageId.SURVEY: Icon.SURVEY,
    PageId.HISTORY: Icon.HISTORY,
}


def icon_of(page_id: str) -> Icon:
    """Return the icon of a page."""
    return next((icon for page, icon in ICONS.items() if page == page_id), Icon.NOTHING)


def page_of(milestone: Milestone) -> PageId:
    """Return the page on which a milestone is worked on."""
    return PageId(milestone.value)


def milestone_title(milestone: Milestone) -> str:
    """Return the name of a milestone in the window's language: the title of its page."""
    return tr(TITLES[page_of(milestone)])
