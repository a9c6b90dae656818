"""The settings that a command line gives, read from the words of a unit's ExecStart."""

import pytest

from core.facts.configuration import Options, options_of
from core.facts.discovery import split_words


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("/usr/bin/postgres -D /d", ()),
        ("/usr/bin/postmaster -D/d -c Work_Mem=5MB -N 50", (("max_connections", "50"), ("work_mem", "5MB"))),
        ("/usr/bin/postgres --max-connections=9 -cport=5433 -p 5434 -i -F", (
            ("fsync", "off"), ("listen_addresses", "*"), ("max_connections", "9"), ("port", "5434"),
        )),
        ("-/usr/bin/pg_ctl start -D /d -s -w -l /d/log", ()),
        ("/usr/bin/pg_ctl start -D /d -o \"-p 5433 -c 'log_line_prefix=%%m '\"", (
            ("log_line_prefix", "%m "), ("port", "5433"),
        )),
        ("/usr/bin/pg_ctl -o-N9 --options=-p1 start", (("max_connections", "9"), ("port", "1"))),
        ("/usr/bin/postgres -c archive_command='cp %%p /x'", (("archive_command", None),)),
        ("/usr/bin/postgres -c ssl_key_file=/k -c a.b=1", (("a.b", None), ("ssl_key_file", "/k"))),
    ],
)  # fmt: skip
def test_a_command_line_tells(line: str, options: Options) -> None:
    assert options_of(split_words(line)) == options


@pytest.mark.parametrize(
    "line",
    [
        "",
        "/bin/sh -c 'exec postgres -D /d'",
        "/usr/bin/postgres -D /d $OPTIONS",
        "/usr/bin/postgres -D /d -p ${PGPORT}",
        "/usr/bin/postgres -D /d -p 54%i",
        "/usr/bin/postgres -D /d -c work_mem",
        "/usr/bin/postgres -D /d -d 3",
        "/usr/bin/postgres -D /d -p",
        "/usr/bin/pg_ctl start $MORE",
        '/usr/bin/pg_ctl start -o "-c \'work_mem=1"',
    ],
)
def test_what_does_not_tell_is_not_guessed(line: str) -> None:
    assert options_of(split_words(line)) is None
