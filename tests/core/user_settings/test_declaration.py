"""Each setting is declared once: what the program knows elsewhere agrees, and the page is of the code."""

from pathlib import Path

import pytest

from core.api.survey import AT_ONCE, MOST_AT_ONCE
from core.benchmarks.suites import suites
from core.language import languages
from core.migration.model.move import Move, Verify
from core.servers.profiles import Profile, Rights
from core.user_settings.declaration import SECTIONS, Setting, Settings, declared
from core.user_settings.kinds import Choice, Number
from core.user_settings.page import page

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def words(key: str) -> list[str]:
    kind = declared()[key].kind
    assert isinstance(kind, Choice)
    return list(kind.titles())


@pytest.mark.parametrize("setting", declared().values(), ids=lambda each: each.key)
def test_a_default_is_allowed_and_the_meaning_is_a_sentence(setting: Setting) -> None:
    if setting.default is None:
        assert setting.declaration.absent
    else:
        assert setting.kind.problem(setting.default) == ""
    assert setting.declaration.text.endswith(".")
    assert setting.declaration.title
    assert setting.section in SECTIONS


def test_words_are_those_of_what_uses_them() -> None:
    assert sorted(words("server.rights")) == sorted(each.value for each in Rights)
    assert words("move.verify") == [each.value for each in Verify]
    assert words("report.language")[1:] == words("window.language")[1:] == list(languages())


def test_defaults_are_those_of_what_uses_them() -> None:
    usual, profile = Settings(), Profile("db1", "192.0.2.1")
    assert usual.survey.jobs == AT_ONCE
    assert declared()["survey.jobs"].kind == Number(1, MOST_AT_ONCE)
    assert usual.benchmark.suite in suites()
    assert (usual.server.user or None, usual.server.rights, usual.server.database_user) == (
        profile.user,
        profile.rights,
        profile.database_user,
    )
    assert usual.move.precopy_limit is Move("m", "a", "b", "/a", "/b", "/", "/").precopy_limit


def test_the_page_is_of_this_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m core.user_settings.page >docs/settings.md"
