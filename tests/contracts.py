"""Every document that a command prints in any test is held against its schema: no test has to ask for it."""

import json
import sys
from functools import cache
from typing import Any

import pytest

from core.cli.context import Context
from core.text import json_printable


def closed(schema: Any) -> Any:
    """The schema without room for fields that it does not name: published ones leave it, for versions to come."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(each) for name, each in schema.items()}
    return made | ({"additionalProperties": False} if "properties" in schema else {})


@cache
def validator(words: str) -> Any:
    """Of the document of a command."""
    from jsonschema import Draft202012Validator

    from core.cli.schemas import schemas

    found = schemas()
    assert words in found, f"pghaul {words} --json has no schema: name its document in core/cli/outputs.py"
    return Draft202012Validator(closed(found[words]))


def hold(words: str, document: str) -> None:
    """Fail where a document is not what its schema says."""
    from jsonschema.exceptions import best_match

    wrong = best_match(validator(words).iter_errors(json.loads(document)))
    said = "" if wrong is None else f": {wrong.json_path}: {wrong.message[-300:]}"
    assert wrong is None, f"pghaul {words} --json prints what core/cli/outputs.py does not say{said}"


@pytest.fixture(autouse=True)
def _documents_keep_their_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    if "core.cli.main" not in sys.modules:  # no command can run here
        return
    began: list[str] = []

    class Witnessed(Context):
        def __init__(self, job: Any, options: Any) -> None:
            super().__init__(job, options)
            began.append(" ".join(word for word in (options.noun, getattr(options, "verb", None)) if word))

    def printable(document: str) -> str:
        hold(began[-1], document)
        return json_printable(document)

    monkeypatch.setattr("core.cli.main.Context", Witnessed)
    monkeypatch.setattr("core.cli.context.json_printable", printable)
