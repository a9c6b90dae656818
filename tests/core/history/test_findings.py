"""Waivers in the history: who took which warning on, and for which evidence it holds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.errors import InputError
from core.history.store import Store
from core.migration.checks import CHECKS, documentation
from core.migration.checks.waivers import waive
from core.migration.model.checks import MANUAL, CheckResult, Status, Waiver
from core.this_workstation import whoami
from tests.core.history.conftest import on_both
from tests.core.history.samples import MOVE

WARNING = CheckResult(
    "libc", "same C library", Status.WARNING, "2.31", "2.36", "text may sort otherwise", "reindex", False
)
BLOCKER = CheckResult("space", "enough space", Status.BLOCKER, "9 GB", "1 GB", "not enough", "free some")
DOUBT = CheckResult("rsync", "rsync", Status.UNKNOWN, "-", "-", "not read", "look", True)
FINE = CheckResult("ssh", "ssh", Status.PASS, "there", "there", "it is there")


def standing(store: Store, check: str) -> Waiver | None:
    return next(result.waiver for result in store.checks(MOVE.name) or () if result.id == check)


@on_both
@pytest.mark.parametrize(
    "address",
    [
        "file:///srv/move.desktop",
        "file://203.0.113.9/share/move.exe",
        "/srv/move.desktop",
        "smb://203.0.113.9/share",
        "javascript:alert(1)",
        "http://www.postgresql.org/docs/15/app-initdb.html",
        "https://www.postgresql.org.example/docs/15/",
        "https://www.postgresql.org@example.net/docs/",
        " https://www.postgresql.org/docs/15/",
    ],
)
def test_a_recorded_link_leads_to_the_documentation_alone(filled: Store, address: str) -> None:
    filled.save_checks(MOVE.name, (replace(WARNING, documentation=address), replace(FINE, documentation=MANUAL)))
    assert {each.id: each.documentation for each in filled.checks(MOVE.name) or ()} == {"libc": "", "ssh": MANUAL}


def test_every_check_names_a_page_of_the_documentation() -> None:
    assert all(documentation(check.page, version).startswith(MANUAL) for check in CHECKS for version in (None, "15"))


@on_both
def test_a_waiver_holds_for_the_same_evidence_alone(filled: Store) -> None:
    filled.save_checks(MOVE.name, (WARNING, BLOCKER))
    waiver = waive([WARNING, BLOCKER], "libc", "  only C\ncollations ")
    filled.add_waiver(MOVE.name, waiver)
    assert standing(filled, "libc") == waiver
    assert (waiver.reason, waiver.by) == ("only C collations", whoami())
    filled.save_checks(MOVE.name, (replace(WARNING, message="said otherwise"),))
    assert standing(filled, "libc") == waiver
    filled.save_checks(MOVE.name, (replace(WARNING, new="2.39"),))
    assert standing(filled, "libc") is None
    filled.save_checks(MOVE.name, (replace(WARNING, status=Status.BLOCKER),))
    assert standing(filled, "libc") is None
    filled.save_checks(MOVE.name, (WARNING,))
    assert standing(filled, "libc") == waiver


@on_both
def test_a_waiver_is_taken_back_and_stays_in_the_history(filled: Store) -> None:
    filled.save_checks(MOVE.name, (WARNING,))
    filled.add_waiver(MOVE.name, waive([WARNING], "libc", "first"))
    filled.add_waiver(MOVE.name, waive([WARNING], "libc", "second thought"))
    assert [waiver.reason for waiver in filled.waivers(MOVE.name)] == ["second thought"]
    filled.withdraw_waiver(MOVE.name, "libc")
    assert (standing(filled, "libc"), filled.waivers(MOVE.name)) == (None, ())
    with pytest.raises(InputError, match="is not waived"):
        filled.withdraw_waiver(MOVE.name, "libc")
    entries = [entry for entry in filled.entries() if entry.kind == "waiver"]
    assert {"libc: first", "libc: second thought"} <= {entry.title for entry in entries}
    kept = filled.detail("waiver", next(entry.reference for entry in entries if entry.title == "libc: first"))
    assert isinstance(kept, Waiver)
    assert kept.reason == "first"


@on_both
def test_another_move_of_the_same_name_is_not_waived(filled: Store) -> None:
    filled.add_waiver(MOVE.name, replace(waive([WARNING], "libc", "yes"), at=datetime.now(UTC) - timedelta(hours=1)))
    filled.put_move(replace(MOVE, target="/elsewhere/15/main"))
    assert filled.waivers(MOVE.name) == ()


@pytest.mark.parametrize(
    ("check", "reason", "words"),
    [
        ("libc", "  ", "waiver of libc needs a reason"),
        ("libc", "x" * 3000, "3000 characters"),
        ("space", "we hope", "is a blocker"),
        ("rsync", "we hope", "is a blocker"),
        ("ssh", "why not", "nothing to waive"),
        ("nonsense", "x", "There is no check"),
    ],
)
def test_what_cannot_be_waived(check: str, reason: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        waive([WARNING, BLOCKER, DOUBT, FINE], check, reason)
