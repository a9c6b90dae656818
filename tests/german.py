"""What is left of English in a German sentence: nothing but what others have said, and names."""

import re

from core.errors import PghaulError
from core.language import spoken
from core.reports.recorded import is_known, recorded

_ENGLISH = re.compile(r"\b(the|of|is|are|has|have|been|with|and|which|that|from|cannot|it|must|not|or|name|found)\b")
_SAID = re.compile(
    r"\b(SQLite|PostgreSQL|libpq|psycopg|pydantic|tomllib|tomlkit|json|das System) meldet: .*", re.DOTALL
)
"""What another program has said is quoted behind pghaul's own sentence, as it was said."""
_NAMES = re.compile(r"/[\w./-]+|\[name\]|\bname =|'[^']*'|\bint\b|history-\*|PGHAUL_\w+")


def english_in(error: PghaulError, without: str = "") -> list[str]:
    """Return the texts of an error that are not German to their last word in a German window.

    Args:
        error: the error.
        without: a path that is no word.
    """
    found = [text for text in (error.message, error.hint) if text]
    assert found
    return [said for text in found if (said := english_in_text(text, without))]


def english_in_text(text: str, without: str = "") -> str:
    """Return the German of a text if there is English in it, else nothing; a text without a German one is an error."""
    with spoken("de"):
        assert is_known(text), text
        said = recorded(text)
    words = _NAMES.sub("", _SAID.sub("", said.replace(without, "/folder") if without else said))
    return said if _ENGLISH.search(words) else ""
