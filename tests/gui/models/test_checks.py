"""The verdict of the checks, their counters, and a check in full."""

from dataclasses import replace

import pytest

from core import units
from core.migration.model.checks import CheckResult, Status, Waiver
from core.tones import Tone
from gui.models.checks import Group, counters, explained, group_of, verdict
from tests.core.migration.builders import move
from tests.figures import figures
from tests.gui import samples

BLOCKER, UNKNOWN, WARNING, PASS = samples.CHECKS
WAIVED = replace(WARNING, waiver=Waiver(WARNING.id, "tested", "me@here", samples.MORNING, WARNING.status, "", ""))
HARMLESS = replace(UNKNOWN, blocking=False)
PENDING = replace(UNKNOWN, pending=True)


@pytest.mark.parametrize(
    ("results", "tone", "numbers"),
    [
        ((BLOCKER, BLOCKER, UNKNOWN, WARNING, PASS), Tone.BAD, ["2", "1"]),
        ((BLOCKER, PASS), Tone.BAD, ["1"]),
        ((UNKNOWN, PASS), Tone.BAD, ["1"]),
        ((BLOCKER, PENDING, PASS), Tone.BAD, ["1"]),
        ((PENDING, PENDING, WARNING, PASS), Tone.WARNING, ["2"]),
        ((HARMLESS, WARNING, WARNING, PASS), Tone.WARNING, ["2"]),
        ((HARMLESS, WAIVED, PASS), Tone.GOOD, []),
        ((), Tone.GOOD, []),
    ],
)
def test_the_verdict_says_what_stops_the_move(results: tuple[CheckResult, ...], tone: Tone, numbers: list[str]) -> None:
    said = verdict(results)
    assert (said.tone, figures(said.text)) == (tone, numbers)


def test_counters_count_each_check_once() -> None:
    results = (*samples.CHECKS, PENDING, WAIVED, replace(PASS, id="another"))
    found = {one.id: one.number for one in counters(results)}
    ones = dict.fromkeys((Group.BLOCKER, Group.UNKNOWN, Group.PENDING, Group.WARNING, Group.WAIVED), 1)
    assert found == {**ones, Group.PASS: 2}
    assert list(found) == list(Group)  # the worst first
    assert sum(found.values()) == len(results)
    assert [group_of(one) for one in results[-2:]] == [Group.WAIVED, Group.PASS]
    assert not {Group.WAIVED, Group.PENDING} & {one.id for one in counters(samples.CHECKS)}


@pytest.mark.parametrize(("unknown", "tone"), [(UNKNOWN, Tone.BAD), (HARMLESS, Tone.MUTED), (PENDING, Tone.WARNING)])
def test_an_unknown_has_the_tone_of_what_it_does(unknown: CheckResult, tone: Tone) -> None:
    assert {one.id: one.tone for one in counters((unknown,))}[group_of(unknown)] is tone
    assert explained(unknown).tone is tone


def test_a_check_is_explained_with_its_commands_and_without_what_is_empty() -> None:
    check = replace(
        WAIVED, old=units.ABSENT, new="full", hint="Look with `df -h` and `lsblk`.", documentation="https://x"
    )
    told = explained(check, move(old="db1", new="db2"))
    assert (told.title, told.lead, told.link) == (check.title, check.message, "https://x")
    hint, found, waived = told.paragraphs
    assert hint.commands == ("df -h", "lsblk")
    assert (found.title, found.text) == ("db2 (new)", "full")
    assert all(value in waived.text for value in ("tested", "me@here"))
    assert explained(replace(PASS, status=Status.BLOCKER)).tone is Tone.BAD
