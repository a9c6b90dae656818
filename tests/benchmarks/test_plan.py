"""The benchmark of what a person reads of a plan: it needs no servers, so that what grows is seen at once."""

import re

import pytest

from benchmarks import plan
from core.migration.plan.script import script


def test_a_plan_takes_no_more_than_it_may(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan.main() == 0
    said = capsys.readouterr().out
    assert "MISSED" not in said
    whole = re.search(r"^all of it +([\d,]+)", said, re.MULTILINE)
    assert whole is not None
    assert int(whole[1].replace(",", "")) == pytest.approx(len(script(plan.demo()).encode()), abs=50)
