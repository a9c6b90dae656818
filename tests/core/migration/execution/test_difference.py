import base64
import gzip
import random
import re

import pytest

from core.migration.execution.difference import compare_lists, describe_first_difference

SUMS = "data: 3 files, 9 bytes, aaaa\n16384: 2 files, 7 bytes, cccc\ncontrol\neeee  -\n# whole"


@pytest.mark.parametrize(
    ("found", "there", "here"),
    [
        (SUMS.replace("3 files", "2 files"), "data: 3 files, 9 bytes, aaaa", "data: 2 files, 9 bytes, aaaa"),
        (SUMS.replace("eeee", "0000"), "eeee  -", "0000  -"),
        ("", "data: 3 files, 9 bytes, aaaa", "nothing"),
        (SUMS + "\nmore", "nothing", "more"),
    ],
)
def test_the_first_line_that_differs_is_said(found: str, there: str, here: str) -> None:
    assert describe_first_difference(SUMS, found) == f"{there} there, {here} here"


def test_where_only_the_line_endings_differ_no_line_is_named() -> None:
    said = describe_first_difference(SUMS, SUMS.replace("\n", "\r\n"))
    assert said
    assert not any(line in said for line in SUMS.splitlines())


def alone(said: str) -> list[tuple[str, str]]:
    """The files that stand on one server alone, and which that is."""
    return re.findall(r"(?:^|; )([^;]+) \(on the (old|new)\b[^,;)]*\)", said)


ZERO, ONE = "0" * 8, "1" * 8
OLD = """
|data|
base/1|owner d 700|
base/1/1259|owner f 600 9 1700000000|00000000
PG_VERSION|owner f 600 8192 1700000000|00000000
a b/it's  so|owner f 600 8192 1700000000|00000000
# no heading|owner f 600 1 1700000000|00000000
gone|owner l -> /nowhere|
|16401|pg_tblspc/16401
PG_15/5/16402|owner f 600 8192 1700000000|00000000
"""


def packed(text: str) -> str:
    """As a step prints it: every data root in order; `|` for byte 2."""
    parts: list[list[str]] = []
    for line in text.strip("\n").replace("|", "\2").split("\n"):
        parts += [[]] if line.startswith("\2") else []
        parts[-1].append(line)
    ordered = [[head, *sorted(lines)] for head, *lines in parts]
    whole = "".join(f"{line}\n" for part in ordered for line in part)
    return base64.encodebytes(gzip.compress(whole.encode("utf-8", "surrogateescape"))).decode()


@pytest.mark.parametrize(
    ("there", "here", "said", "file"),
    [
        (f"9 1700000000|{ZERO}", f"9 1700000000|{ONE}", "base/1/1259 (content)", ("data", "base/1/1259")),
        (
            "9 1700000000",
            "8 1700000001",
            (
                "base/1/1259 (size 9 on the old server, 8 on the new server, time 2023-11-14 22:13:20 on the old "
                "server, 2023-11-14 22:13:21 on the new server)"
            ),
            ("data", "base/1/1259"),
        ),
        (
            "owner d 700",
            "1001 d 755",
            (
                "base/1 (owner owner on the old server, 1001 on the new server, mode 700 on the old server, 755 on the "
                "new server)"
            ),
            ("data", "base/1"),
        ),
        (
            "-> /nowhere",
            "-> /else where",
            "gone (target /nowhere on the old server, /else where on the new server)",
            ("data", "gone"),
        ),
        (
            f"a b/it's  so|owner f 600 8192 1700000000|{ZERO}\n",
            "",
            ("a b/it's  so", "old"),
            ("data", "a b/it's  so"),
        ),
        ("gone|", f"later|owner f 600 1 1700000000|{ZERO}\ngone|", ("later", "new"), ("data", "later")),
        (
            f"PG_15/5/16402|owner f 600 8192 1700000000|{ZERO}",
            "PG_15/5/16402|owner d 700|",
            (
                "pg_tblspc/16401/PG_15/5/16402 (type f on the old server, d on the new server, mode 600 on the old "
                "server, 700 on the new server)"
            ),
            ("16401", "PG_15/5/16402"),
        ),
        ("gone|", f"\udcff|owner f 600 1 1|{ZERO}\ngone|", ("?", "new"), ("data", "\udcff")),
    ],
)
def test_files_that_differ_are_named_with_what_differs(
    there: str, here: str, said: str | tuple[str, str], file: tuple[str, str]
) -> None:
    new = OLD.replace(there, here)
    assert new != OLD
    found = compare_lists(packed(OLD), packed(new))
    assert (found.description if isinstance(said, str) else alone(found.description)) == (
        said if isinstance(said, str) else [said]
    )
    assert (found.files, found.all) == ((file,), True)


def test_a_line_break_in_a_name_is_shown_as_one() -> None:
    found = compare_lists(packed(OLD), packed(OLD.replace("PG_VERSION", "PG\1VERSION")))
    assert alone(found.description) == [("PG\\nVERSION", "new"), ("PG_VERSION", "old")]
    assert found.files == (("data", "PG\1VERSION"), ("data", "PG_VERSION"))


def test_lists_that_are_the_same_or_cannot_be_read_name_nothing() -> None:
    for new in (packed(OLD), "", "no base64 at all!", base64.encodebytes(b"not packed").decode()):
        assert compare_lists(packed(OLD), new).description == ""
    assert compare_lists(packed(OLD), packed(OLD)).all
    assert not compare_lists(packed(OLD), "").all


@pytest.mark.slow
def test_of_a_list_that_is_cut_off_what_is_behind_the_cut_is_not_missing() -> None:
    made = random.Random(1)
    lines = [f"base/{number:06}|owner f 600 {made.getrandbits(40)} 1700000000|0" for number in range(20_000)]
    old = packed("|data|\n" + "\n".join(lines) + "\n")
    cut = old[: len(old) // 2 // 77 * 77]
    assert compare_lists(old, cut).description == ""
    changed = packed("|data|\n" + "\n".join([*lines, "aaa|owner f 600 1 1|0"]) + "\n")
    found = compare_lists(cut, changed)
    assert (alone(found.description), found.all) == ([("aaa", "new")], False)


def test_of_many_the_first_are_named_and_the_rest_counted() -> None:
    lines = "\n".join(f"base/{number:02}|owner f 600 1 1|0" for number in range(40))
    found = compare_lists(packed("|data|\n"), packed(f"|data|\n{lines}\n"))
    assert alone(found.description) == [(f"base/{number:02}", "new") for number in range(5)]
    assert re.search(r"\b35\b", found.description)
    assert len(found.files) == 40
