from pathlib import Path

from core.migration.checks import CHECKS
from core.migration.checks.page import checks_page

PAGE = Path(__file__).parents[4] / "docs" / "checks.md"


def test_the_page_is_what_the_catalogue_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == checks_page(), (
        "run: python -m core.migration.checks.page >docs/checks.md"
    )


def test_every_check_has_a_row_of_its_own() -> None:
    rows = [line for line in checks_page().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [check.id for check in CHECKS]
    assert len({check.id for check in CHECKS}) == len(CHECKS)
