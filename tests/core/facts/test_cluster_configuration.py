"""The files of a configuration, and the settings of a command line."""

import pytest

from core.errors import ParseError
from core.facts.cluster_configuration import ConfigurationFile, Mention, Options, options_of, parse_configuration_files
from core.facts.discovery import split_words


def digits(path: str) -> str:
    return path.encode().hex()


MAIN, MORE, RULES, LIST = "/srv/pg/postgresql.conf", "/srv/conf/é a.conf", "/srv/pg/pg_hba.conf", "/srv/pg/dbas"
SAID = f"""file 1 settings required file absolute 0 {digits(MAIN)}
mention 1 7 hba_file
mention 1 9 archive_command
file 2 rules required file absolute 0 {digits(RULES)}
file 3 settings optional missing absolute 1 {digits(MORE)}
file 4 list required unreadable relative 2 {digits(LIST)}
file 5 settings required file relative 1 {digits(MAIN)}
whole
"""


def test_files_are_told_with_what_names_them_and_each_once() -> None:
    assert parse_configuration_files(SAID) == (
        ConfigurationFile(
            MAIN, "settings", "required", "file", mentions=(Mention(7, "hba_file"), Mention(9, "archive_command"))
        ),
        ConfigurationFile(RULES, "rules", "required", "file"),
        ConfigurationFile(MORE, "settings", "optional", "missing", MAIN),
        ConfigurationFile(LIST, "list", "required", "unreadable", RULES, absolute=False),
    )


def test_a_relative_name_that_leads_up_is_the_path_that_postgresql_reads() -> None:
    up = f"file 1 settings required file absolute 0 {digits(MAIN)}\nfile 2 settings required file relative 1 "
    found = parse_configuration_files(f"{up}{digits('/srv/pg/../conf/./a.conf')}\nwhole\n")
    assert found[1] == ConfigurationFile("/srv/conf/a.conf", "settings", "required", "file", MAIN, absolute=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        SAID.removesuffix("whole\n"),
        SAID.replace("rules", "laws"),
        SAID.replace("absolute 1", "absolute 8"),
        SAID.replace("mention 1 7", "mention 6 7"),
        SAID.replace("mention 1 7", "mention 1 seven"),
        SAID.replace(digits(LIST), "xyz"),
        "file 1\nwhole\n",
    ],
)
def test_what_is_cut_off_or_none_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_configuration_files(text)


# The settings that a command line gives, read from the words of a unit's ExecStart.


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
