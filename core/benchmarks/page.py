"""The benchmark tools as a page for people: `python -m core.benchmarks.page >docs/tools.md`."""

import sys

from core.benchmarks.tools import TOOLS

_HEAD = """\
# Benchmark tools

What a workload of a suite may name as its `tool`, with the parameters and the headlines that it may state
(`docs/suites.md` shows how). This page is made by `python -m core.benchmarks.page`.

| tool | program | parameters, with their defaults | headlines |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Markdown, a row a tool."""
    rows = [f"| `{each.name}` | {each.program} | {each.parameters} | {each.headlines} |\n" for each in TOOLS.values()]
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(page())
