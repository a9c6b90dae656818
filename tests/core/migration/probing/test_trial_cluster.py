"""What a trial cluster's server program printed in single-user mode, read back."""

import pytest

from core.errors import ParseError
from core.facts.catalog import Binaries
from core.migration.findings.binaries import RequiredBinaries
from core.migration.probing.trial_cluster import asking, parse_binaries

NEEDS = RequiredBinaries(
    libraries=("$libdir/nix", "$libdir/pg_trgm"), preloads=("pg_cron",), settings=("wal_compression=lz4",), icu=("de",)
)


def digits(text: str) -> str:
    return text.encode().hex()


def printed(value: str) -> str:
    """As the backend prints a row to its standard output."""
    about = "(typeid = 25, len = -1, typmod = -1, byval = f)"
    return f'backend> \t 1: ?column?\t{about}\n\t----\n\t 1: ?column? = "{value}"\t{about}\n\t----\n'


def mark(number: int) -> str:
    return printed(f"mark|{digits(str(number))}")


LEAD = "2026-11-21 15:13:21.952 UTC [2048] "
FATAL = f'{LEAD}FATAL:  could not access file "pg_cron": No such file or directory'
ERROR = f'{LEAD}ERROR:  could not access file "$libdir/nix": No such file or directory'
OUTPUT = (
    f"preload|{digits('pg_cron')}|{digits(FATAL)}\n"
    f"library|{digits('$libdir/nix')}|{digits(ERROR)}\n"
    f"library|{digits('$libdir/pg_trgm')}|\n"
    f"unverified|{digits('/tmp/x.so')}|{digits('others can change it')}\n"
    f"setting|{digits('wal_compression=lz4')}|\n"
    f"path|{digits('/var/log/pg')}|{digits('no such file or folder')}\n"
    "PostgreSQL stand-alone backend 15.18 (Debian 15.18-0+deb12u1)\n"
    + mark(0)
    + printed(f"icu|{digits('153.120')}")
    + mark(1)
    + printed(f"available|{digits('pg_trgm')}|{digits('1.5')}|{digits('f')}")
    + printed(f"available|{digits('pg_trgm')}|{digits('1.6')}|{digits('true')}")
    + mark(2)
    + f"backend> {LEAD}LOG:  checkpoint starting: shutdown immediate\n"
)


def test_the_answers() -> None:
    assert parse_binaries(OUTPUT, NEEDS) == Binaries(
        libraries=(
            ("$libdir/nix", 'could not access file "$libdir/nix": No such file or directory'),
            ("$libdir/pg_trgm", ""),
        ),
        preloads=(("pg_cron", 'could not access file "pg_cron": No such file or directory'),),
        settings=(("wal_compression=lz4", ""),),
        paths=(("/var/log/pg", "no such file or folder"),),
        extensions=(("pg_trgm", ("1.6", "1.5")),),
        icu=(("de", "153.120"),),
        unverified=(("/tmp/x.so", "others can change it"),),
    )


def test_what_was_not_answered_is_left_out() -> None:
    """The program ended at the first locale."""
    found = parse_binaries(OUTPUT[: OUTPUT.index(mark(1))], NEEDS)
    assert len(found.libraries) == 2
    assert (found.icu, found.extensions) == ((), ())


def test_without_icu_there_is_a_reason() -> None:
    complaint = f"backend> {LEAD}ERROR:  ICU is not supported in this build\n"
    text = OUTPUT.replace(printed(f"icu|{digits('153.120')}"), complaint)
    assert parse_binaries(text, NEEDS).icu == (("de", "!ICU is not supported in this build"),)


@pytest.mark.parametrize("text", ["", "Segmentation fault\n", "preload|zz\n", "backend> \n" * 3])
def test_nothing_is_no_answer(text: str) -> None:
    assert parse_binaries(text, NEEDS) == Binaries()


def test_a_line_that_is_cut_is_refused() -> None:
    with pytest.raises(ParseError):
        parse_binaries("preload|616|\n", NEEDS)


def test_every_name_is_a_word_of_its_own() -> None:
    words = asking(
        RequiredBinaries(libraries=("$(touch x)",), preloads=("; rm -rf /",), settings=("a=$(b)",), paths=("/a b",))
    )
    assert words[:8] == ("preload", "; rm -rf /", "library", "$(touch x)", "path", "/a b", "setting", "a=$(b)")
    assert words[8] == "sql"
