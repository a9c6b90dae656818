"""Commands of pghaul in messages: a name in them is quoted, so that they can be copied whatever the name contains."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli.main import parser
from core.cli.manual.outline import outline

CORE = Path(__file__).parents[3] / "core"
COMMANDS = "|".join(sorted((command.name for command in outline(parser()).all() if command.words), reverse=True))
VALUE = re.compile(rf"({COMMANDS})((?: (?:--?[a-z-]+|…|[A-Z]+))*) \x01([^\x02]*)\x02")
QUOTED = re.compile(r"quoted\(|old$|new$|\w+\.[A-Z]+$")
"""Also the numbers of two runs, and constants."""


def values_in_commands(code: str) -> Iterator[tuple[int, str]]:
    """Each value that stands as the first word of a command in a text: line and expression."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                f"\x01{ast.unparse(part.value)}\x02" if isinstance(part, ast.FormattedValue) else ast.literal_eval(part)
                for part in node.values
            )
            yield from ((node.lineno, found.group(3)) for found in VALUE.finditer(text))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (
                (node.lineno, found.group(2)) for found in re.finditer(rf"({COMMANDS}) \{{(\w+)\}}", node.value)
            )


def test_a_value_that_is_not_quoted_is_found() -> None:
    assert [value for _, value in values_in_commands('f"run: pghaul bench {move.name} --side old"')] == ["move.name"]
    assert [value for _, value in values_in_commands('f"run: pghaul probe {quoted(move)}"')] == ["quoted(move)"]
    assert [value for _, value in values_in_commands('HINT = "run `pghaul facts {server}`"')] == ["server"]


@pytest.mark.slow
def test_names_in_commands_of_messages_are_quoted() -> None:
    paths = [path for path in sorted(CORE.rglob("*.py")) if "manual" not in path.parts]
    found = [
        f"{path.relative_to(CORE)}:{line}: {value}"
        for path in paths
        for line, value in values_in_commands(path.read_text(encoding="utf-8"))
        if not QUOTED.match(value)
    ]
    assert found == []
