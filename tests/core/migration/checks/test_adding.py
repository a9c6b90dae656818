"""A check is declared in one object and listed in one place: a toy shows that nothing else has to know of it."""

import json

import pytest

from core.cli.main import main
from core.cli.migration import checks_text
from core.facts.model import Memory
from core.migration import checks
from core.migration.checks.declaration import check
from core.migration.checks.needs import NEW_MEMORY
from core.migration.checks.page import checks_page
from core.migration.findings.finding import CheckContext, Finding, warning
from core.migration.model.checks import Status
from gui.models.migration import CHECK_COLUMNS, check_text
from tests.core.migration.builders import move, new, old


@check("toy", "a ball on both servers", compares="balls of both servers", page="upgrading", needs=(NEW_MEMORY,))
def toy(context: CheckContext, _memory: Memory) -> Finding:
    """A toy."""
    return warning("a ball", "none", f"{context.new.server} has no ball", "buy one")


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECKS", (*checks.CHECKS, toy))


def test_it_is_listed_and_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--list"]) == 0
    assert "a ball on both servers" in capsys.readouterr().out
    assert main(["check", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["checks"][-1]["id"] == "toy"
    assert "| `toy` | a ball on both servers | no | balls of both servers | memory on the new server " in checks_page()


def test_it_is_looked_at_and_shown() -> None:
    (result,) = (each for each in checks.run_checks(move(), old(), new()) if each.id == "toy")
    assert result.status is Status.WARNING
    assert "WARNING  a ball on both servers [toy]: new has no ball" in checks_text((result,))
    assert [column.text(result) for column in CHECK_COLUMNS][1:4] == ["a ball on both servers", "a ball", "none"]
    assert "What to do: buy one" in check_text(result)
