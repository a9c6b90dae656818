import base64
import gzip
import random

import pytest

from core.migration.execution.difference import differing_files, first_difference

SUMS = "data: 3 files, 9 bytes, aaaa\n16384: 2 files, 7 bytes, cccc\ncontrol\neeee  -\n# whole"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (SUMS.replace("3 files", "2 files"), "data: 3 files, 9 bytes, aaaa there, data: 2 files, 9 bytes, aaaa here"),
        (SUMS.replace("eeee", "0000"), "eeee  - there, 0000  - here"),
        ("", "data: 3 files, 9 bytes, aaaa there, nothing here"),
        (SUMS + "\nmore", "nothing there, more here"),
        (SUMS.replace("\n", "\r\n"), "the lines are the same, their line endings differ"),
    ],
)
def test_the_first_line_that_differs_is_said(found: str, said: str) -> None:
    assert first_difference(SUMS, found) == said


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
            "base/1/1259 (size 9 on old, 8 on new, time 2023-11-14 22:13:20 on old, 2023-11-14 22:13:21 on new)",
            ("data", "base/1/1259"),
        ),
        (
            "owner d 700",
            "1001 d 755",
            "base/1 (owner owner on old, 1001 on new, mode 700 on old, 755 on new)",
            ("data", "base/1"),
        ),
        ("-> /nowhere", "-> /else where", "gone (target /nowhere on old, /else where on new)", ("data", "gone")),
        (
            f"a b/it's  so|owner f 600 8192 1700000000|{ZERO}\n",
            "",
            "a b/it's  so (on old alone)",
            ("data", "a b/it's  so"),
        ),
        ("gone|", f"later|owner f 600 1 1700000000|{ZERO}\ngone|", "later (on new alone)", ("data", "later")),
        (
            f"PG_15/5/16402|owner f 600 8192 1700000000|{ZERO}",
            "PG_15/5/16402|owner d 700|",
            "pg_tblspc/16401/PG_15/5/16402 (type f on old, d on new, mode 600 on old, 700 on new)",
            ("16401", "PG_15/5/16402"),
        ),
        ("gone|", f"\udcff|owner f 600 1 1|{ZERO}\ngone|", "? (on new alone)", ("data", "\udcff")),
    ],
)
def test_files_that_differ_are_named_with_what_differs(there: str, here: str, said: str, file: tuple[str, str]) -> None:
    new = OLD.replace(there, here)
    assert new != OLD
    found = differing_files(packed(OLD), packed(new))
    assert (found.said, found.files, found.all) == (said, (file,), True)


def test_a_line_break_in_a_name_is_shown_as_one() -> None:
    found = differing_files(packed(OLD), packed(OLD.replace("PG_VERSION", "PG\1VERSION")))
    assert found.said == "PG\\nVERSION (on new alone); PG_VERSION (on old alone)"
    assert found.files == (("data", "PG\1VERSION"), ("data", "PG_VERSION"))


def test_lists_that_are_the_same_or_cannot_be_read_name_nothing() -> None:
    for new in (packed(OLD), "", "no base64 at all!", base64.encodebytes(b"not packed").decode()):
        assert differing_files(packed(OLD), new).said == ""
    assert differing_files(packed(OLD), packed(OLD)).all
    assert not differing_files(packed(OLD), "").all


def test_of_a_list_that_is_cut_off_what_is_behind_the_cut_is_not_missing() -> None:
    made = random.Random(1)
    lines = [f"base/{number:06}|owner f 600 {made.getrandbits(40)} 1700000000|0" for number in range(20_000)]
    old = packed("|data|\n" + "\n".join(lines) + "\n")
    cut = old[: len(old) // 2 // 77 * 77]
    assert differing_files(old, cut).said == ""
    changed = packed("|data|\n" + "\n".join([*lines, "aaa|owner f 600 1 1|0"]) + "\n")
    found = differing_files(cut, changed)
    assert (found.said, found.all) == ("aaa (on new alone)", False)


def test_of_many_the_first_are_named_and_the_rest_counted() -> None:
    lines = "\n".join(f"base/{number:02}|owner f 600 1 1|0" for number in range(40))
    found = differing_files(packed("|data|\n"), packed(f"|data|\n{lines}\n"))
    assert found.said.startswith("base/00 (on new alone); base/01 (on new alone)")
    assert found.said.endswith("base/04 (on new alone); and 35 more")
    assert len(found.files) == 40
