"""What a person notes to an entry of the history. A word behind `#` in a note is a tag."""

import re
from datetime import datetime

from sqlalchemy.orm import Session

from core.errors import InputError
from core.history.details import row_of

LONGEST = 10_000
"""Characters of a note."""
_TAG = re.compile(r"(?<![\w#&/])#(\w[\w-]*)")
"""No part of a link (`page#part`) or of an entity (`&#8364;`)."""


def tags_of(note: str) -> tuple[str, ...]:
    """Return the tags in a note in lower case, each once, in their order."""
    return tuple(dict.fromkeys(word.rstrip("-").lower() for word in _TAG.findall(note)))


def note_of(session: Session, kind: str, reference: int) -> str:
    """What was noted to the entry of that kind and reference; empty: nothing.

    Raises:
        InputError: there is no such entry.
    """
    return row_of(session, kind, reference).note or ""


def set_note(session: Session, kind: str, reference: int, note: str, at: datetime | None = None) -> str:
    """Note that in the stead of what was noted before, which is handed out; an empty one takes it away.

    `at`: the time of the entry, where it has to be the very one that was seen.

    Raises:
        InputError: there is no such entry, or it is another one by now, or the note is too long.
    """
    if len(note) > LONGEST:
        raise InputError(f"the note has {len(note)} characters", f"use at most {LONGEST}")
    row = row_of(session, kind, reference, at)
    before = row.note or ""
    row.note = note.strip() or None
    return before
