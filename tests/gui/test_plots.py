"""What the plots show, apart from how it looks."""

from core.migration.model.estimate import Method, Span
from gui.widgets.plots import shown_until


def method(likely: float, high: float) -> Method:
    span = Span(likely / 2, likely, high)
    return Method("cold-copy", span, span, ())


def test_one_method_that_may_take_very_long_leaves_the_others_room() -> None:
    assert shown_until([method(10, 30), method(40, 312)]) == 80
    assert shown_until([method(10, 30), method(40, 60)]) == 60
    assert shown_until([method(0, 5)]) == 5
