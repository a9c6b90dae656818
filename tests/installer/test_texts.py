"""Every text of the reports is in every catalogue, translated."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.comparison.compare import lower_is_better
from core.language import languages
from core.migration.estimate import estimate, load_spec
from core.migration.model.estimate import stage_heading
from core.migration.model.move import Verify
from core.reports.words import metric_title
from installer import texts

OTHERS = languages()[1:]
DATA = texts.TOP / "tests" / "data"
SPECS = sorted((DATA / "specs").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_a_catalogue_is_as_the_code_says_and_lacks_nothing(code: str) -> None:
    path = texts.LANGUAGES / f"{code}.po"
    assert texts.updated(path, texts.gathered()) == path.read_bytes(), "run: make texts"
    assert texts.lacking(path) == []


def test_texts_within_a_formatted_string_are_found(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text('f"{tr(\'one\')} {x}"\ncounted(n, "a file", "files")\ncounted(n, "job")\ntr(name)\nmarked("two")\n')
    assert sorted(texts.found_in(path)) == [("a file", "files"), ("one",), ("two",)]


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_stages_and_bounds_of_estimates_are_named(spec: Path) -> None:
    known = load_spec(spec.read_text(), spec.name)
    stages = [stage for way in Verify for one in estimate(known, way).methods for stage in one.stages]
    assert not any(stage_heading(each.name) == each.name for each in stages if each.name != "pg_upgrade")
    assert {each.bound_by for each in stages} <= set(texts.named())


def _metrics(read: Any) -> Iterator[str]:
    """The names of metrics anywhere in a JSON document."""
    if isinstance(read, dict):
        metrics = read.get("metrics")
        yield from metrics if isinstance(metrics, dict) else ()
        for value in read.values():
            yield from _metrics(value)
    elif isinstance(read, list):
        for value in read:
            yield from _metrics(value)


def test_metrics_of_every_tool_are_named() -> None:
    expected = [json.loads(path.read_text()) for path in DATA.rglob("expected.json")]
    names = {name for name in _metrics(expected) if lower_is_better(name) is not None}
    assert len(names) > 20
    assert {metric_title(name) for name in names} <= set(texts.named())
