"""What says that an answer came whole, and what went wrong."""

import json

import pytest

from core.errors import ParseError
from core.text import (
    capital,
    code,
    code_spans,
    complaint,
    counted,
    first_line,
    json_printable,
    lines_of,
    own_sentence,
    printable,
    printable_lines,
    sentence,
)


def test_a_list_says_how_long_it_is() -> None:
    assert counted("a\nb\n# 2 folders\n", "folders") == ("a", "b")
    assert counted("# 0 folders\n", "folders") == ()


@pytest.mark.parametrize("text", ["", "a\nb\n", "a\n# 2 folders\n", "a\nb\n# 2 fol", "a\n# 1 sessions\n"])
def test_a_list_that_was_cut_off_is_none(text: str) -> None:
    with pytest.raises(ParseError, match="the list of folders is not whole"):
        counted(text, "folders")


SIGNS = [*"\v\f\x1c\x1d\x1e\x85\u2028\u2029\r"]
"""Signs at which str.splitlines begins a line. Within a line of a server's output, they stand in a name."""


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_within_a_line_begins_no_line(sign: str) -> None:
    forged = f"a name{sign}pghaul: forged"
    assert lines_of(f"{forged}\r\n\nb\n") == [forged, "", "b"]
    assert lines_of("") == []
    assert own_sentence(f"{forged}\n") == ""
    assert complaint(f"{forged}\npghaul: no folder can be made\n") == "no folder can be made"
    assert first_line(f"\n{forged}\nb\n") == forged
    assert counted(f"{forged}\n# 1 folders\n", "folders") == (forged,)
    with pytest.raises(ParseError, match="the list of folders is not whole"):
        counted(f"a{sign}# 1 folders\n", "folders")


def test_the_sentence_of_a_function_counts_before_what_its_tools_said() -> None:
    assert complaint("mkdir: no\npghaul: no folder can be made\n") == "no folder can be made"
    assert complaint("\nmkdir: no\n") == "mkdir: no"


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", []),
        ("no code", [("no code", False)]),
        ("look with `df -h`.", [("look with ", False), ("df -h", True), (".", False)]),
        (f"{code('a')} and {code('b`c')}", [("a", True), (" and ", False), ("b`c", True)]),
        ("one ` alone", [("one ` alone", False)]),
        ("``` no end `", [("``` no end `", False)]),
    ],
)
def test_code_is_found_where_backticks_enclose_it(text: str, spans: list[tuple[str, bool]]) -> None:
    assert code_spans(text) == spans


HOSTILE = "a\x1b]0;x\x07b\u202ec\u2066d\u200be\x9bf\u2028g\udcffh\u00a0i\u3000j é"
SHOWN = "a\\x1b]0;x\\x07b\\u202ec\\u2066d\\u200be\\x9bf\\u2028g\\udcffh\u00a0i\u3000j é"


def test_what_steers_or_turns_is_shown_by_its_code() -> None:
    assert printable(HOSTILE) == printable_lines(HOSTILE) == SHOWN
    assert printable(SHOWN) == SHOWN
    assert printable("a\nb\tc\r") == "a\\nb\\tc\\r"
    assert printable_lines("a\nb\tc\r") == "a\nb\tc\\r"


def test_a_json_document_stays_one() -> None:
    document = json.dumps({"a\u202e": HOSTILE, "b": "\U000e0001"}, ensure_ascii=False, indent=2)
    shown = json_printable(document)
    assert json.loads(shown) == json.loads(document)
    assert printable_lines(shown) == shown


@pytest.mark.parametrize(
    ("said", "begun"),
    [
        ("take a backup", "Take a backup."),
        ("read-ahead is small", "Read-ahead is small."),
        ("e.g. this", "E.g. this."),
        ("and/or", "And/or."),
        ("postgresql@15-main.service is not enabled", "postgresql@15-main.service is not enabled."),
        ("pg_hba.conf line 5 allows samenet", "pg_hba.conf line 5 allows samenet."),
        ("db1: no route", "db1: no route."),
        ("postgresql.conf: a typo", "postgresql.conf: a typo."),
        ("8 kB", "8 kB."),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_and_a_name_stays_as_it_is(said: str, begun: str) -> None:
    assert sentence(said) == begun
    assert capital(said) == begun.removesuffix(".")
