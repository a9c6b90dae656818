"""JSON Schema of what `--json` prints: `python -m core.cli.schemas` writes resources/schemas/VERSION/COMMAND.json.

https://json-schema.org/draft/2020-12
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from core.cli.outputs import OUTPUTS, SPARSE
from core.settings import resource

VERSION = 1
"""Of the contract: within one, documents gain fields; where one goes or means something else, it is the next."""

Schema = dict[str, Any]


def folder() -> Path:
    """Where the published schemas of this version lie."""
    return resource("schemas", str(VERSION))


@cache
def schemas() -> Mapping[str, Schema]:
    """The schema of each command's document, by the command's words. Made once: it takes half a second."""
    return {words: _schema(words, kind) for words, kind in OUTPUTS.items()}


def file_name(words: str) -> str:
    """`server-list.json`."""
    return f"{words.replace(' ', '-')}.json"


def written(schema: Schema) -> str:
    """The file's text."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def _schema(words: str, kind: Any) -> Schema:
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        ignored_warning_kinds = {"non-serializable-default"}  # noqa: RUF012  as it is declared there

    made = TypeAdapter(kind).json_schema(mode="serialization", schema_generator=Generator)
    sparse = {each.__name__ for each in SPARSE}
    for name, part in ((made.get("title"), made), *made.get("$defs", {}).items()):
        properties = part.get("properties", {})
        if properties and name not in sparse:
            part["required"] = list(properties)
        for each in properties.values():
            for noise in ("title", "default"):  # the name again, and what is printed anyway
                each.pop(noise, None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pghaul:json:{VERSION}:{words.replace(' ', '-')}",
    }
    return {**head, **made, "title": f"pghaul {words} --json"}


def main() -> None:
    """Write all of them, and remove those of commands that are no more."""
    folder().mkdir(parents=True, exist_ok=True)
    made = {file_name(words): written(schema) for words, schema in schemas().items()}
    for name, text in made.items():
        (folder() / name).write_text(text, encoding="utf-8")
    for path in folder().glob("*.json"):
        if path.name not in made:
            path.unlink()


if __name__ == "__main__":
    main()
