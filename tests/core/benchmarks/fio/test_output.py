"""fio's JSON: real outputs of 2.17 to 3.39, and texts that hold no result."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.benchmarks.fio.output import parse_fio, parse_fio_terse
from core.errors import ParseError

DATA = Path(__file__).parents[3] / "data"


def _cases(folder: str) -> list[Any]:
    expected = json.loads((DATA / folder / "expected.json").read_text())
    return [pytest.param(DATA / folder / name, expect, id=f"{folder}/{name}") for name, expect in expected.items()]


def _sample(name: str) -> str:
    return (DATA / "fio-json" / name).read_text()


V31 = _sample("12-v3.1-randread-fioplot.json")
V217 = _sample("02-v2.17-group-reporting-perfkitbenchmarker.json")


@pytest.mark.parametrize(("path", "expect"), _cases("fio-json"))
def test_real_output(path: Path, expect: dict[str, Any]) -> None:
    text = path.read_bytes().decode()
    if expect.get("error"):
        with pytest.raises(ParseError, match=r"^fio: "):
            parse_fio(text)
        return
    output = parse_fio(text)
    assert output.version == expect["version"]
    assert [result.name for result in output.results] == [result["name"] for result in expect["results"]]
    for result, wanted in zip(output.results, expect["results"], strict=True):
        held = {name: result.metrics.get(name) for name in wanted["metrics"]}
        assert held == pytest.approx(wanted["metrics"], rel=0.006)
        directions = {name.partition("_")[0] for name in result.metrics}
        assert directions == {name.partition("_")[0] for name in wanted["metrics"]}


def test_text_around_and_interruption() -> None:
    output = parse_fio(f"Jobs: 1 (f=1): [r(1)]\r\nfio: terminating on signal 2\n{V31}\nfio: bye {{ }}\n")
    assert [result.interrupted for result in output.results] == [True]


def test_the_last_of_several_reports_of_one_run_counts() -> None:
    earlier = V31.replace('"iops" : 9738', '"iops" : 1')
    (result,) = parse_fio(earlier + V31).results
    assert result.metrics["read_iops"] == pytest.approx(9738.8, rel=1e-3)


def test_different_runs_in_one_text_all_count() -> None:
    assert len(parse_fio(V31 + "\n" + V217).results) == 3


def test_latency_switched_off_is_absent() -> None:
    document = json.loads(V31)
    document["jobs"][0]["read"]["clat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}
    (result,) = parse_fio(json.dumps(document)).results
    assert sorted(result.metrics) == ["read_bytes_per_second", "read_iops"]


def test_client_server_mode() -> None:
    document = json.loads(V31)
    document["client_stats"] = [{**document.pop("jobs")[0], "hostname": "db1"}]
    (result,) = parse_fio(json.dumps(document)).results
    assert result.name == "iotest"


@pytest.mark.parametrize("value", ["12", True, None, -1, float("nan"), [1]])
def test_a_number_of_the_wrong_kind_is_named(value: object) -> None:
    document = json.loads(V31)
    document["jobs"][0]["read"]["iops"] = value
    with pytest.raises(ParseError, match="'iops'"):
        parse_fio(json.dumps(document))


@pytest.mark.parametrize("text", ["", "\n\n", "{", "{}", '{"jobs": []}', '{"jobs": 3}', "fio: nothing", "[" * 5000])
def test_no_result(text: str) -> None:
    with pytest.raises(ParseError, match=r"^fio: expected "):
        parse_fio(text)


def test_the_error_quotes_the_first_line() -> None:
    with pytest.raises(ParseError, match="bash: fio: command not found"):
        parse_fio("\nbash: fio: command not found\n")


@given(st.integers(min_value=0, max_value=len(V31.rstrip()) - 1))
@example(len(V31.rstrip()) - 1)
def test_cut_off_output_yields_no_number(length: int) -> None:
    with pytest.raises(ParseError):
        parse_fio(V31[:length])


@given(st.text(max_size=300))
def test_any_text_is_an_error_or_a_result(text: str) -> None:
    with pytest.raises(ParseError):
        parse_fio(text)


@given(st.data())
def test_damaged_output_never_crashes(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(V217)))
    length = data.draw(st.integers(0, 200))
    damaged = V217[:start] + data.draw(st.text(max_size=20)) + V217[start + length :]
    try:
        output = parse_fio(damaged)
    except ParseError:
        return
    assert all(value >= 0 for result in output.results for value in result.metrics.values())


# fio's terse output: only whole lines count.

LINE = (Path(__file__).parents[3] / "data" / "fio-terse" / "02-v3-fio-3.36-f69240322001.txt").read_text()


def test_several_jobs_and_noise() -> None:
    output = parse_fio(
        f"fio: warning\n{LINE}{LINE.replace(';probe;0;0;', ';other;0;5;')}fio: terminating on signal 15\n"
    )
    assert [(result.name, result.errors, result.interrupted) for result in output.results] == [
        ("probe", None, True),
        ("other", 5, True),
    ]


def test_terse_latency_switched_off_is_absent() -> None:
    fields = LINE.split(";")
    fields[13:17] = ["0", "0", "0.000000", "0.000000"]
    (result,) = parse_fio_terse(";".join(fields)).results
    assert {name for name in result.metrics if name.startswith("read")} == {"read_bytes_per_second", "read_iops"}


@pytest.mark.parametrize("lost", [5, 8, 17, 60, 100])
def test_a_line_that_lost_a_field_is_refused(lost: int) -> None:
    fields = LINE.split(";")[:121]
    del fields[lost]
    with pytest.raises(ParseError):
        parse_fio_terse(";".join(fields))


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(ParseError):
        parse_fio_terse("6" + LINE[1:])
