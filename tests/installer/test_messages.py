"""The messages that the reference lists are those that a user reads."""

import re
from collections.abc import Sequence

import pytest

from core.cli.main import main
from installer import site
from installer.hints import LEFT_OUT
from installer.messages import messages


def listed(said: str) -> bool:
    """Whether the message with its hint, as a command ends with it, is in the list."""
    message, _, hint = said.removeprefix("pghaul: ").partition("\n  hint: ")
    texts = [pair for found in messages().values() for pair in found]
    return any(stands_for(text, message) and stands_for(advice, hint.strip()) for text, advice in texts)


def stands_for(text: str, said: str) -> bool:
    return re.fullmatch(re.escape(text).replace(LEFT_OUT, ".*"), said, re.DOTALL) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "spring", "--reason", "x"),
        ("server", "add", "db1", "192.0.2.11", "--identity", "/no/key"),
        ("history", "restore", "/no/backup"),
        ("history", "grants", "read", "carl"),
        ("execute", "spring", "--amcheck-time", "2h"),
        ("bench",),
    ],
    ids=" ".join,
)
def test_a_message_with_a_hint_is_listed(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert listed(said), said
    assert not listed(said.replace(" ", " no "))


def test_each_subject_has_messages_and_the_page_has_each() -> None:
    page = site.reference()["messages.md"]
    found = messages()
    assert [subject for subject, each in found.items() if not each or f"\n## {subject}\n" not in page] == []
    assert page.count("\n| ") == sum(len(each) + 2 for each in found.values())
