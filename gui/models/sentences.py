"""Sentences of core and of the history, in the language and the terms of the window."""

from functools import lru_cache

from core.errors import PausedError, PghaulError
from core.language import ENGLISH, current, tr
from gui.models.words import use_window_terms


def recorded(text: str) -> str:
    """Translate a sentence of core; an unknown sentence stays in English. Commands to type become buttons."""
    return _recorded(text, current())


def compared(text: str) -> str:
    """Translate a value that a check compared, or a part of a sentence. Commands to type become buttons."""
    return _compared(text, current())


# a cell is asked for its text each time that it is painted
@lru_cache(maxsize=8192)
def _recorded(text: str, language: str) -> str:
    if language == ENGLISH:
        return use_window_terms(text)
    from core.reports.recorded import recorded as said  # needs the forms of every sentence: English does without

    return use_window_terms(said(text))


@lru_cache(maxsize=8192)
def _compared(text: str, language: str) -> str:
    if language == ENGLISH:
        return use_window_terms(text)
    from core.reports.recorded import compared as said  # as above

    return use_window_terms(said(text))


def error_text(error: PghaulError) -> str:
    """Return the message of an error, and its hint on a second line."""
    message = recorded(error.message)
    if isinstance(error, PausedError) and error.stands:
        message = f"{message} {recorded(error.stands)}"
    return tr("{message}\nHint: {hint}").format(message=message, hint=recorded(error.hint)) if error.hint else message
