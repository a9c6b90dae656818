"""The documentation page of the checks: `python -m core.migration.checks.page >docs/checks.md`."""

import sys

from core.migration import checks
from core.migration.checks.declaration import Check

_HEAD = """\
# Checks

`pghaul check MOVE` makes these checks, in this order. A blocker prevents the move. So does a check that can block and
whose facts could not be read (`unknown`). After a survey, a check that needs a temporary cluster is still to run. Until
then it is no blocker, but no move begins without it. A warning can be waived: `pghaul check MOVE --waive ID --reason
TEXT`. The waiver holds while the check finds the same evidence. A check compares nothing if what it needs could not be
read. What it uses in some cases only is in brackets. `python -m core.migration.checks.page` generates this page.

| id | title | can block | compares | needs | PostgreSQL's documentation |
| --- | --- | --- | --- | --- | --- |
"""


def checks_page() -> str:
    """Return the page as Markdown, with a table row for each check."""
    rows = [
        f"| `{each.id}` | {each.title} | {'yes' if each.blocking else 'no'} | {each.compares} | {_needs(each)} "
        f"| [{each.page}]({checks.documentation(each.page, None)}) |\n"
        for each in checks.CHECKS
    ]
    return _HEAD + "".join(rows)


def _needs(check: Check) -> str:
    """Return what a check needs, and in brackets what it asks for in some cases only."""
    always, sometimes = (", ".join(need.title for need in needs) for needs in (check.needs, check.uses))
    return " ".join(part for part in (always, f"({sometimes})" if sometimes else "") if part) or "–"


if __name__ == "__main__":
    sys.stdout.write(checks_page())
