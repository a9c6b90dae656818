"""The configuration files of a cluster, from what resources/sh/configuration_files.sh prints."""

import pytest

from core.errors import ParseError
from core.facts.configuration import ConfigurationFile, Mention, parse_configuration_files


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
