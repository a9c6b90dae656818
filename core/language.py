"""The language of what people read: a catalogue for each, in resources/languages; English is what the code says.

Catalogues are gettext's `.po` files, read as they are (format: GNU gettext manual, chapter `PO Files`), so that nothing
has to be compiled. `tr` translates for whoever has set a language around the call by `spoken`: a report for a manager
may be German while the command line stays English. A QTranslator asks `catalogue(language).gettext(source)`.

Put `tr("…")` around each text that users see. Use `marked("…")` if a text exists before a language is known (a title, a
column, an enum), and `tr` where it is shown. `make texts` copies the texts into each catalogue, and
tests/installer/test_texts.py fails until they are translated. Names that are declared in other places (a stage, a
metric) are listed in `installer/texts.py`. The history stores sentences in English: see `core/reports/recorded.py`.
"""

import ast
import gettext
import io
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from pathlib import Path

from core import settings, units
from core.errors import InputError

ENGLISH = "en"
_ENDING = ".po"
_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)
_LINE = re.compile(r'(?P<word>msgid|msgid_plural|msgstr(?:\[\d\])?)?\s*(?P<text>".*")')


def languages() -> tuple[str, ...]:
    """All that there are, English first."""
    return (ENGLISH, *sorted(path.stem for path in settings.resource("languages").glob(f"*{_ENDING}")))


def current() -> str:
    """The one that `tr` translates into: `en`, `de`."""
    return _spoken.get()


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Within it texts are of that language, and figures are written as it writes them.

    Raises:
        InputError: there is no catalogue of it.
    """
    if language not in languages():
        raise InputError(f"there is no text in {language!r}", f"choose one of: {', '.join(languages())}")
    token = _spoken.set(language)
    try:
        with units.styled(replace(units.current(), point=tr("."))):
            yield
    finally:
        _spoken.reset(token)


def tr(message: str) -> str:
    """The text in the language that is spoken; as it is where the catalogue lacks it."""
    # the entry of the empty text is the catalogue's head
    return catalogue(current()).gettext(message) if message else ""


def marked(message: str) -> str:
    """The text as it is, for whoever gathers texts (`installer/texts.py`): a name that `tr` gets later stands here."""
    return message


def tr_counted(one: str, many: str, number: int) -> str:
    """The form of a text that goes with a number."""
    return catalogue(current()).ngettext(one, many, number)


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """The texts of a language."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    return gettext.GNUTranslations(io.BytesIO(_compiled(entries(settings.resource("languages", language + _ENDING)))))


def catalogue_texts(language: str) -> tuple[str, ...]:
    """All translations into a language, those of what the history recorded among them."""
    ours = entries(settings.resource("languages", language + _ENDING))
    return (*ours.values(), *recorded_sentences(language).values())


@cache
def vocabulary() -> frozenset[str]:
    """Every word of pghaul's own texts, in whatever language, without capitals."""
    texts = [
        text
        for language in languages()
        if language != ENGLISH
        for known in (entries(settings.resource("languages", language + _ENDING)), recorded_sentences(language))
        for pair in known.items()
        for text in pair
    ]
    return frozenset(word.casefold() for text in texts for word in re.findall(r"[^\W\d_]+", text))


@cache
def recorded_sentences(language: str) -> dict[str, str]:
    """Template to translation of what the history has recorded in English, see `core/reports/recorded.py`."""
    return entries(settings.resource("languages", "recorded", language + _ENDING))


def entries(path: Path) -> dict[str, str]:
    """Message to translation; the forms of a plural one are joined by NUL on both sides, as in a `.mo` file.

    Raises:
        ValueError: a line is none of a catalogue's.
    """
    found: dict[str, str] = {}
    entry: dict[str, str] = {}
    word = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = _LINE.fullmatch(line.strip())
        if parts is None:
            raise ValueError(f"{path.name}:{number}: {line!r} is no line of a catalogue")
        if parts["word"] == "msgid":
            _add(found, entry)
            entry = {}
        word = parts["word"] or word
        entry[word] = entry.get(word, "") + str(ast.literal_eval(parts["text"]))
    _add(found, entry)
    return found


def _add(found: dict[str, str], entry: dict[str, str]) -> None:
    texts = [text for word, text in sorted(entry.items()) if word.startswith("msgstr")]
    if all(texts) and texts:  # what is not translated yet is shown in English
        forms = [entry["msgid"], *([entry["msgid_plural"]] if "msgid_plural" in entry else [])]
        found["\0".join(forms)] = "\0".join(texts)


def _compiled(texts: dict[str, str]) -> bytes:
    """A `.mo` file (GNU gettext manual, chapter `MO Files`), which is what Python's gettext reads."""
    pairs = sorted((message.encode(), text.encode()) for message, text in texts.items())
    at = 28 + 16 * len(pairs)
    tables = b""
    for position in (0, 1):
        for pair in pairs:
            tables += struct.pack("<2I", len(pair[position]), at)
            at += len(pair[position]) + 1
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + tables + b"".join(pair[position] + b"\0" for position in (0, 1) for pair in pairs)
