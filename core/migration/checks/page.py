"""The documentation page of the checks: `python -m core.migration.checks.page >docs/checks.md`."""

import sys

from core.migration import checks

_HEAD = """\
# Checks

`pghaul check MOVE` makes these checks, in this order. A blocker prevents the move. So does a check that can block and
whose facts could not be read (`unknown`). A warning can be waived: `pghaul check MOVE --waive ID --reason TEXT`. The
waiver holds while the check finds the same evidence. `python -m core.migration.checks.page` generates this page.

| id | title | can block | compares | PostgreSQL's documentation |
| --- | --- | --- | --- | --- |
"""


def checks_page() -> str:
    """Return the page as Markdown, with a table row for each check."""
    rows = [
        f"| `{each.id}` | {each.title} | {'yes' if each.blocking else 'no'} | {each.compares} "
        f"| [{each.page}]({checks.documentation(each.page, None)}) |\n"
        for each, _ in checks.CHECKS
    ]
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(checks_page())
