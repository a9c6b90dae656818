"""What the pages name exists: targets of make, files, modules that are run."""

import re
from pathlib import Path

import pytest

from core.cli import schemas

TOP = Path(__file__).parents[1]
MAKEFILE = (TOP / "Makefile").read_text(encoding="utf-8")
PAGES = [
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "README.md",
    *sorted(path.relative_to(TOP).as_posix() for path in (TOP / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES)
def test_what_it_names_is_there(page: str) -> None:
    text = (TOP / page).read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ([a-z]+(?:-[a-z]+)*)(?=[`\s,:;]|$)", "\n".join(_code(text))))
    assert {target for target in targets if f"\n{target}:" not in MAKEFILE} == set()
    modules = set(re.findall(r"python -m ((?:core|gui|tests|installer)[a-z_.]+)", text))
    assert {name for name in modules if not (TOP / f"{name.replace('.', '/')}.py").is_file()} == set()
    paths = set(re.findall(r"(?<![\w/.])((?:core|gui|tests|resources|installer|docs)/[\w/.-]+)", text))
    named = {path.rstrip(".") for path in paths if not re.search("[A-Z]", path)}  # SUBJECT, NAME: whoever reads chooses
    assert {path for path in named if not (TOP / path).exists()} == set()


def test_the_published_schemas_are_those_of_the_documents() -> None:
    made = {schemas.file_name(words): schemas.written(schema) for words, schema in schemas.schemas().items()}
    published = {path.name: path.read_text(encoding="utf-8") for path in schemas.folder().glob("*.json")}
    assert published == made, "run: python -m core.cli.schemas"


def _code(text: str) -> list[str]:
    return re.findall(r"```sh\n.*?```|`[^`\n]*(?:\n[^`\n]*)?`", text, flags=re.DOTALL)
