"""Sentences of checks, estimates and probes in a German report: by their templates, with values as they are."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.language import entries, recorded_sentences, spoken
from core.migration.estimate import estimate, load_spec
from core.migration.estimate.planning import answered
from core.migration.model.asked import Asked
from core.migration.model.checks import Status
from core.migration.model.move import Verify
from core.migration.model.probe import Quantity
from core.migration.model.transport import PLAIN, Transport
from core.migration.transports.choice import choose_transport
from core.redaction import without_secrets
from core.reports.recorded import compared, is_known, recorded, templates
from core.reports.report import Report
from installer import texts
from installer.sentences import makers_in, sentences, sentences_in, shown_in
from tests.core.migration.builders import NOW, probe

SPECS = sorted((texts.TOP / "tests" / "data" / "specs").iterdir())


@pytest.mark.slow
def test_every_sentence_of_a_check_is_german() -> None:
    told = recorded_sentences("de") | entries(texts.LANGUAGES / "de.po")
    assert [each for each in sentences() if not told.get(each)] == []
    path = texts.RECORDED / "de.po"
    assert texts.updated(path, texts.of_history()) == path.read_bytes(), "run: make texts"


def test_no_sentence_within_another_one_is_taken_for_what_a_sentence_is_made_of() -> None:
    """With ` to ` in it, for a range `{low} to {high}`."""
    with spoken("de"):
        assert [each for each in recorded_sentences("de") if compared(each) != recorded(each)] == []
        assert compared("1 GiB to 2 GiB") == "1 GiB bis 2 GiB"
        assert compared("line 2") == "Zeile 2"


def test_no_sentence_of_pghauls_own_looks_like_a_secret() -> None:
    """An error masks what it quotes of others: `password: pghaul …` would be masked, too."""
    assert [each for each in (*sentences(), *templates()) if without_secrets(each) != each] == []


def test_a_new_sentence_of_a_check_is_found() -> None:
    code = (
        'def check(case):\n    """A text."""\n    more = f"{case.name} does what nobody has seen"\n'
        '    return warning("a", "b c", f"{size(room)} is {\'too\' if few else \'not\'} little", hint or "ask them")\n'
    )
    assert set(sentences_in(code)) == {
        "{name} does what nobody has seen",
        "{room} is too little",
        "{room} is not little",
    }


def test_what_an_error_says_is_found_wherever_it_stands() -> None:
    code = (
        '_ASK = "ask whoever administers this server"\n'
        '_WAYS = {1: ("the file {path} is gone for good", f"look for it elsewhere; {_ASK}")}\n'
        '_OF_NOBODY = "a text that no error of the file names"\n'
        "def _foreign(source: Path, why: str) -> InputError:\n"
        '    return InputError(f"{source} is foreign: {why}", hint="export it")\n'
        "def read(path):\n"
        '    raise _foreign(path, "no head")\n'
        "def write(path):\n"
        "    raise HistoryError(*_WAYS[1])\n"
        "def count(rows):\n"
        '    return _OF_NOBODY, f"{rows} rows"\n'
    )
    assert set(shown_in(code, frozenset(makers_in(code)))) == {
        "ask whoever administers this server",
        "the file {path} is gone for good",
        "look for it elsewhere; {ask}",
        "{source} is foreign: {why}",
        "export it",
        "no head",
    }


def test_all_of_core_is_read_but_what_says_nothing_to_the_user() -> None:
    told = set(sentences())
    assert "the history {path} is damaged (SQLite says: {said})" in told  # a constant of core/history/database.py
    assert "the suite {name} has no workload" in told
    assert "The check {check} has passed, so there is nothing to waive." in told


@pytest.mark.slow
def test_every_sentence_is_known_where_it_is_shown() -> None:
    with spoken("de"):
        assert [each for each in sentences() if not is_known(re.sub(r"\{\w+\}", "7", each))] == []


@pytest.mark.slow
def test_a_sentence_is_known_without_the_remarks_that_it_may_have() -> None:
    """`… of the configuration files{unread_settings}. Settings of extensions are not compared.{age_note}`"""
    optional = re.compile(r"\{\w+\}(?=[.,;:)]|$)")
    texts_without = {each: re.sub(r"\{\w+\}", "7", optional.sub("", each)) for each in sentences()}
    with spoken("de"):
        assert [each for each, text in texts_without.items() if len(text) > 30 and not is_known(text)] == []


def test_every_check_of_the_example_is_german_with_what_it_compares(shipped: Report) -> None:
    english = re.compile(r"\b(and|besides|for|from|missing|none|of|rules|same|the|unknown|with)\b")
    checks = shipped.checks or ()
    assert len(checks) > 50
    with spoken("de"):
        assert [each.message for each in checks if not is_known(each.message)] == []
        values = {compared(value) for each in checks for value in (each.old, each.new)}
    assert [value for value in values if english.search(value)] == []


def test_what_the_example_shows_is_german(shipped: Report) -> None:
    open_ones = [each for each in shipped.checks or () if each.status is not Status.PASS]
    found = [text for each in open_ones for text in (each.message, each.hint)]
    found += [each.method for each in shipped.probes]
    assert shipped.estimate is not None
    found += [text for one in shipped.estimate.methods for text in (*one.assumptions, *one.warnings)]
    found += [each.change for each in shipped.estimate.helps]
    found += [shipped.plan.why] if shipped.plan is not None else []
    with spoken("de"):
        assert [text for text in found if not is_known(text)] == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_what_an_estimate_assumes_is_german(spec: Path) -> None:
    known = load_spec(spec.read_text(), spec.name)
    found = [made for way in Verify for made in (estimate(known, way),)]
    said = {text for made in found for one in made.methods for text in (*one.assumptions, *one.warnings, one.ruled_out)}
    said |= {each.change for made in found for each in made.helps}
    with spoken("de"):
        assert [text for text in sorted(said) if not is_known(text)] == []


def test_why_a_transport_was_chosen_is_german() -> None:
    links = [probe(quantity, 250e6) for quantity in (Quantity.READ, Quantity.WIRE, Quantity.SSH, Quantity.SUMS)]
    slow = [probe(Quantity.READ, 600e6), probe(Quantity.SSH, 60e6)]
    alone = [replace(probe(Quantity.END_TO_END, 110e6), transport=PLAIN, began_at=NOW)]
    lz4 = [replace(alone[0], bytes_per_second=240e6, transport=Transport("", "zstd:1", 2), ratio=3.0)]
    for probes in ([], links, slow, alone, [*alone, *lz4], [*links, *alone, *lz4]):
        why = choose_transport(probes).why
        with spoken("de"):
            assert is_known(why), why
            assert not re.search(r"\b(the|of|is|with|rates|no)\b", recorded(why)), recorded(why)


def test_values_are_carried_over_as_they_are() -> None:
    with spoken("de"):
        hostile = "The clocks of both servers agree."
        assert recorded(f"The clock of the server {hostile} could not be read ({{x}}).") == (
            f"Die Uhr des Servers {hostile} war nicht lesbar ({{x}})."
        )
        assert recorded("The user {why:recorded} exists on the new server.") == (
            "Den Benutzer {why:recorded} gibt es auf dem neuen Server."
        )
        assert compared("old disk") == "alter Datenträger"
        assert recorded("as an older version said it") == "as an older version said it"
        assert not is_known("as an older version said it")
    assert recorded("The clocks of both servers agree.") == "The clocks of both servers agree."


def test_a_text_of_many_beginnings_is_read_at_once() -> None:
    # backtracking over this would outlast the test's own deadline
    with spoken("de"):
        text = "The health of the disks of " + " could not be read (" * 50_000
        assert recorded(text) == text


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_condition_for_a_downtime_is_german(path: Path) -> None:
    known = load_spec(path.read_text(), path.name)
    with spoken("de"):
        for seconds in (1.0, 600.0, 14_400.0):
            made = answered(known, estimate(known), Asked(downtime_seconds=seconds))
            assert [each.must_hold for each in made.fits if not is_known(each.must_hold)] == []
