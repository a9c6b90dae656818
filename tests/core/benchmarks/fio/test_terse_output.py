"""fio's terse output: only whole lines count."""

from pathlib import Path

import pytest

from core.benchmarks.fio.output import parse_fio, parse_fio_terse
from core.errors import ParseError

LINE = (Path(__file__).parents[3] / "data" / "fio-terse" / "02-v3-fio-3.36-f69240322001.txt").read_text()


def test_several_jobs_and_noise() -> None:
    output = parse_fio(
        f"fio: warning\n{LINE}{LINE.replace(';probe;0;0;', ';other;0;5;')}fio: terminating on signal 15\n"
    )
    assert [(result.name, result.errors, result.interrupted) for result in output.results] == [
        ("probe", None, True),
        ("other", 5, True),
    ]


def test_latency_switched_off_is_absent() -> None:
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
