"""Sentences of core and of the history, in the language of the window."""

from functools import lru_cache

from core.errors import PghaulError
from core.language import ENGLISH, current, tr


def recorded(text: str) -> str:
    """Translate a sentence of core; an unknown sentence stays in English."""
    return text if current() == ENGLISH else _recorded(text, current())


def compared(text: str) -> str:
    """Translate a value that a check compared, or a part of a sentence."""
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
    """Return the message of an error, and its hint on a second line."""
    if not error.hint:
        return recorded(error.message)
    return tr("{message}\nHint: {hint}").format(message=recorded(error.message), hint=recorded(error.hint))
