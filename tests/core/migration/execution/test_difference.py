import base64
import gzip
import random

import pytest

from core.migration.execution.difference import differing_files, first_difference

SUMS = "data\naaaa  -\nbbbb  -\n16384\ncccc  -\ndddd  -\ncontrol\neeee  -"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (SUMS.replace("bbbb", "0000"), "data: bbbb  - there, 0000  - here"),
        (SUMS.replace("cccc", "0000"), "16384: cccc  - there, 0000  - here"),
        (SUMS.replace("eeee", "0000"), "control: eeee  - there, 0000  - here"),
        (SUMS.replace("16384", "16385"), "data: 16384 there, 16385 here"),
        ("", "data there, nothing here"),
        (SUMS + "\nmore", "control: nothing there, more here"),
    ],
)
def test_the_first_line_that_differs_is_said_with_what_it_is_about(found: str, said: str) -> None:
    assert first_difference(SUMS, found) == said


ZERO, ONE = "0" * 64, "1" * 64
OLD = f"""# manifest {""}
owner d 700 base/1
owner f 600 9 1700000000.5000000000 base/1/1259
owner f 600 8192 1700000000.5000000000 PG_VERSION
owner f 600 8192 1700000000.5000000000 a b/it's  so
owner l gone -> /nowhere
# sums {""}
{ZERO}  ./base/1/1259
# manifest pg_tblspc/16401
owner f 600 8192 1700000000.5000000000 PG_15/5/16402
"""


def packed(text: str) -> str:
    """As a step prints it: every part in order."""
    parts = [part.splitlines() for part in text.split("# ")[1:]]
    whole = "".join("\n".join(["# " + head, *sorted(lines)]) + "\n" for head, *lines in parts)
    return base64.encodebytes(gzip.compress(whole.encode())).decode()


@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        (f"{ZERO}  ./base/1/1259", f"{ONE}  ./base/1/1259", "base/1/1259 (content)"),
        (
            "9 1700000000.50",
            "8 1700000001.00",
            "base/1/1259 (size 9 on old, 8 on new, time 2023-11-14 22:13:20.5 on old, 2023-11-14 22:13:21.0 on new)",
        ),
        ("owner d 700", "1001 d 755", "base/1 (owner owner on old, 1001 on new, mode 700 on old, 755 on new)"),
        ("-> /nowhere", "-> /else where", "gone (target /nowhere on old, /else where on new)"),
        ("owner f 600 8192 1700000000.5000000000 a b/it's  so\n", "", "a b/it's  so (on old alone)"),
        ("owner l gone", "owner f 600 1 1700000000.0 later\nowner l gone", "later (on new alone)"),
        (
            "owner f 600 8192 1700000000.5000000000 PG_15/5/16402",
            "owner d 700 PG_15/5/16402",
            "pg_tblspc/16401/PG_15/5/16402 (type f on old, d on new, mode 600 on old, 700 on new)",
        ),
        ("PG_VERSION", "PG\1VERSION", "PG\\nVERSION (on new alone); PG_VERSION (on old alone)"),
    ],
)
def test_files_that_differ_are_named_with_what_differs(there: str, here: str, said: str) -> None:
    new = OLD.replace(there, here)
    assert new != OLD
    assert differing_files(packed(OLD), packed(new)) == said


def test_lists_that_are_the_same_or_cannot_be_read_name_nothing() -> None:
    for new in (packed(OLD), "", "no base64 at all!", base64.encodebytes(b"not packed").decode()):
        assert differing_files(packed(OLD), new) == ""


def test_of_a_list_that_is_cut_off_what_is_behind_the_cut_is_not_missing() -> None:
    made = random.Random(1)
    lines = [f"owner f 600 {made.getrandbits(40)} 1700000000.5 base/{number:06}" for number in range(20_000)]
    old = packed("# manifest \n" + "\n".join(lines) + "\n")
    cut = old[: len(old) // 2 // 77 * 77]
    assert differing_files(old, cut) == ""
    changed = packed("# manifest \n" + "\n".join([*lines, "owner f 600 1 1.0 first"]) + "\n")
    assert differing_files(cut, changed) == "first (on new alone)"


def test_of_many_the_first_are_named_and_the_rest_counted() -> None:
    lines = "\n".join(f"owner f 600 1 1.0 base/{number:02}" for number in range(40))
    said = differing_files(packed("# manifest \n"), packed(f"# manifest \n{lines}\n"))
    assert said.startswith("base/00 (on new alone); base/01 (on new alone)")
    assert said.endswith("base/04 (on new alone); and 35 more")
