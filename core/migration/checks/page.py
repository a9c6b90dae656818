"""The checks as a page for people: `python -m core.migration.checks.page >docs/checks.md`."""

import sys

from core.migration import checks

_HEAD = """\
# Checks

What `pghaul check MOVE` looks at, in its order. A blocker stops the move; so does one that could not be read
(`unknown`). A warning can be waived: `pghaul check MOVE --waive ID --reason TEXT`; that holds as long as the check
comes out with the same evidence. This page is made by `python -m core.migration.checks.page`.

| id | title | can stop a move | compares | PostgreSQL's documentation |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Markdown, a row a check."""
    rows = [
        f"| `{each.id}` | {each.title} | {'yes' if each.blocking else 'no'} | {each.compares} "
        f"| [{each.page}]({checks.documentation(each.page, None)}) |\n"
        for each, _ in checks.CHECKS
    ]
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(page())
