"""Catalogues: what is read of them, and that each holds every text of the reports."""

import re
from pathlib import Path

import pytest

from core import language, settings
from core.errors import InputError
from core.language import entries, languages, spoken, tr, tr_counted

OTHERS = languages()[1:]
UNSAID = {"{verb}"}
"""What a disk is assumed to do, which its name says already: another language may leave it out."""
PLACEHOLDER = re.compile(r"\{\w*\}|%[a-zA-Z]")
ITSELF_SAID = re.compile(r":(recorded|listed|sentences?)(?=\})")
"""That a value is said in that language too: `core/reports/recorded.py`."""


def test_english_is_what_the_code_says() -> None:
    assert tr("Contents") == "Contents"
    assert tr_counted("{number} warning", "{number} warnings", 1) == "{number} warning"
    assert tr("") == ""


def test_a_language_holds_within_its_block() -> None:
    with spoken("de"):
        assert language.current() == "de"
        assert tr("Contents") == "Inhalt"
        assert tr_counted("{number} warning", "{number} warnings", 2) == "{number} Warnungen"
        assert tr("a text that no catalogue has") == "a text that no catalogue has"
        assert tr("") == ""
    assert tr("Contents") == "Contents"


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no text in 'tlh'") as refused, spoken("tlh"):
        pass
    assert "de" in refused.value.hint


def test_what_is_not_translated_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "xx.po"
    path.write_text(
        '# said by nobody\nmsgid ""\nmsgstr "Language: xx\\n"\n\nmsgid "a"\n"b"\nmsgstr "A"\n"\\"B"\n\n'
        'msgid "c"\nmsgstr ""\n\nmsgid "one"\nmsgid_plural "many"\nmsgstr[0] "Ein"\nmsgstr[1] ""\n'
    )
    assert entries(path) == {"": "Language: xx\n", "ab": 'A"B'}


def test_a_line_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "xx.po"
    path.write_text('msgid "a"\nmsgstr A\n')
    with pytest.raises(ValueError, match=re.escape("xx.po:2: 'msgstr A'")):
        entries(path)


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_has_the_places_and_the_edges_of_its_text(code: str) -> None:
    """A figure that is left out, or a space between two parts of a sentence, is seen by no reader of the code."""
    for message, text in entries(settings.resource("languages", f"{code}.po")).items():
        if not message:
            continue
        wanted = message.split("\0")[-1]
        for form in ITSELF_SAID.sub("", text).split("\0"):
            said = [each for each in PLACEHOLDER.findall(wanted) if each not in UNSAID or each in form]
            assert sorted(PLACEHOLDER.findall(form)) == sorted(said), message
            assert form[:1].isspace() == wanted[:1].isspace(), message
            assert form[-1:].isspace() == wanted[-1:].isspace(), message
