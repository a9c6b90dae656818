"""What core and the history word in English, in the language that the window speaks."""

from functools import lru_cache

from core.errors import PghaulError
from core.language import ENGLISH, current, tr


def recorded(text: str) -> str:
    """A sentence of core's; as it is where it is of no known form."""
    return text if current() == ENGLISH else _recorded(text, current())


def compared(text: str) -> str:
    """The same for a value that a check compared, and for a part of a sentence."""
    return text if current() == ENGLISH else _compared(text, current())


# a cell is asked for its text each time that it is painted
@lru_cache(maxsize=8192)
def _recorded(text: str, _language: str) -> str:
    from core.reports.recorded import recorded as said  # needs the forms of every sentence: English does without

    return said(text)


@lru_cache(maxsize=8192)
def _compared(text: str, _language: str) -> str:
    from core.reports.recorded import compared as said  # as above

    return said(text)


def error_text(error: PghaulError) -> str:
    """A user's error: its sentence, and its hint in a line of its own."""
    if not error.hint:
        return recorded(error.message)
    return tr("{message}\nhint: {hint}").format(message=recorded(error.message), hint=recorded(error.hint))
