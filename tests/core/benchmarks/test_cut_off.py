"""Whatever is left of an output, a parser reads what stands there whole or refuses; no crash, no made-up number.

Every sample is cut at its lines and at many characters; what is still read must be what the whole output says, within
the rounding of what tools print twice: rates of fio beside its counters, bonnie++'s table beside its exact line.
"""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.benchmarks.bonnie import parse_bonnie
from core.benchmarks.fio.output import parse_fio, parse_fio_terse
from core.benchmarks.hammerdb import parse_hammerdb
from core.benchmarks.hdparm import parse_hdparm
from core.benchmarks.ioping import parse_ioping
from core.benchmarks.model import Output, Result
from core.benchmarks.pg_test_fsync import parse_pg_test_fsync
from core.benchmarks.pgbench.output import PROGRESS, parse_pgbench
from core.benchmarks.reading import WithoutResultError
from core.benchmarks.sysbench import parse_sysbench
from core.benchmarks.tools import read_output, readers, recognised
from core.errors import ParseError

DATA = Path(__file__).parents[2] / "data"
Parser = Callable[[str], Output]
PARSERS: dict[str, tuple[Parser, float]] = {
    "fio": (parse_fio, 0.01),
    "fio-terse": (parse_fio, 0.11),  # whole microseconds beside a normal output's nanoseconds
    "bonnie": (parse_bonnie, 0.06),
    "sysbench": (parse_sysbench, 0.0),
    "pgbench": (parse_pgbench, 0.0),
    "hammerdb": (parse_hammerdb, 0.0),
    "hdparm": (parse_hdparm, 0.0),
    "ioping": (parse_ioping, 0.0),
    "pg_test_fsync": (parse_pg_test_fsync, 0.0),
}
STEP = 29
TOOLS = {name: reader.parse for name, reader in readers().items()} | {"fio-terse": parse_fio_terse}


def _samples(folder: str) -> list[tuple[str, str]]:
    """Name and text of each output there."""
    paths = sorted((DATA / folder).iterdir())
    return [(path.name, path.read_bytes().decode()) for path in paths if path.name != "expected.json"]


def _read(parse: Parser, text: str) -> tuple[Result, ...]:
    try:
        return parse(text).results
    except ParseError:
        return ()


def _cuts(text: str) -> list[int]:
    ends = [position + 1 for position, character in enumerate(text) if character == "\n"]
    return sorted({*ends, *(end - 1 for end in ends), *range(0, len(text), STEP)})


def _within(name: str, value: float, whole: float, tolerance: float) -> bool:
    rounded_down = name.endswith("iops") and abs(value - whole) < 1  # fio prints whole numbers of I/Os
    return abs(value - whole) <= tolerance * whole or rounded_down


def _says_the_same(part: Result, whole: Result, tolerance: float) -> bool:
    return part.metrics.keys() <= whole.metrics.keys() and all(
        _within(name, value, whole.metrics[name], tolerance) for name, value in part.metrics.items()
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", PARSERS)
def test_a_cut_off_output_says_nothing_that_the_whole_does_not(folder: str, subtests: pytest.Subtests) -> None:
    parse, tolerance = PARSERS[folder]
    for name, text in _samples(folder):
        with subtests.test(name):
            whole = _read(parse, text)
            for cut in _cuts(text):
                # what was cut off ahead of its report is the mean of fewer lines: test_output.py holds it against them
                for part in (one for one in _read(parse, text[:cut]) if not (one.name == PROGRESS and one.aborted)):
                    # bonnie++'s table shortens a name that the line after it has whole
                    candidates = [result for result in whole if parse is parse_bonnie or result.name == part.name]
                    assert any(_says_the_same(part, result, tolerance) for result in candidates), (cut, part)


@pytest.mark.parametrize("folder", PARSERS)
def test_line_ends_do_not_matter(folder: str) -> None:
    parse, _ = PARSERS[folder]
    plain = {name: text.replace("\r\n", "\n") for name, text in _samples(folder)}
    assert plain
    assert [n for n, text in plain.items() if _read(parse, text.replace("\n", "\r\n")) != _read(parse, text)] == []


@given(data=st.binary(max_size=400))
def test_random_bytes_are_refused(data: bytes) -> None:
    text = data.decode("utf-8", errors="replace")
    assert [tool for tool, parse in TOOLS.items() if _takes(parse, text)] == []


def _takes(parse: Parser, text: str) -> bool:
    try:
        parse(text)
    except ParseError:
        return False
    return True


SAMPLES = [(parse, text) for folder, (parse, _) in PARSERS.items() for _, text in _samples(folder)]
PIECES = st.sampled_from(
    ["\n", " ", ",", ";", "=", "0", "-1", "NaN", "inf", "e999", "²", "٣", "\ufffd", "KiB/s", "msec", "%", "+++++"]
    + ["9" * length for length in (18, 24, 400, 5000)]
)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.sampled_from(SAMPLES), st.data())
def test_damage_never_crashes_and_gives_numbers_alone(sample: tuple[Parser, str], data: st.DataObject) -> None:
    parse, text = sample
    digits = [position for position, character in enumerate(text) if character.isdigit()] or [0]
    start = data.draw(st.sampled_from(digits))
    length = data.draw(st.integers(0, 60))
    damaged = text[:start] + data.draw(PIECES | st.text(max_size=5)) + text[start + length :]
    for result in _read(parse, damaged):
        assert all(math.isfinite(value) and value >= 0 for value in result.metrics.values())


@pytest.mark.parametrize(
    ("tool", "file", "until"),
    [
        ("bonnie", "bonnie/02-v1.03-f56774502647.txt", "Machine"),
        ("dd", "dd/02-gnu-de-partly-translated-f23322789977.txt", "Datensätze aus"),
        ("fio", "fio/08-v3.25-fdatasync-clat-nsec-k8s-homelab.txt", "write: IOPS"),
        ("fio", "fio-json/12-v3.1-randread-fioplot.json", '"iops"'),
        ("hammerdb", "hammerdb/sql-server-timer-f53058609619.txt", "Vuser 1:TEST RESULT"),
        ("hdparm", "hdparm/nbd-f23157517996.txt", "seconds"),
        ("ioping", "ioping/xfs-f18578513604.txt", "requests completed"),
        ("pg_test_fsync", "pg_test_fsync/v15-C.txt", "        open_datasync"),
        (
            "pgbench",
            "pgbench/04-v9.x-transactions-mode-incl-excl-differ-f32113904248.txt",
            "number of transactions actually",
        ),
        ("sysbench", "sysbench/v1.0.20-prepare.txt", "Creating files"),
    ],
)
def test_of_a_known_tool_is_said_that_its_result_is_missing(tool: str, file: str, until: str) -> None:
    """Whether the tool was named or is recognised: the message says where the output ends."""
    whole = (DATA / file).read_text()
    text = whole[: whole.index(until)]
    last = [" ".join(line.split()) for line in text.splitlines() if line.strip()][-1]
    for read in (lambda: read_output(tool, text), lambda: recognised(text)):
        with pytest.raises(WithoutResultError, match="was cut off, or its run has no result") as found:
            read()
        assert found.value.message.startswith(f"{tool}: ")
        assert found.value.message.endswith(f"The last line is: {last[:100]}") or len(last) > 100
        assert len(found.value.message.splitlines()) == 1


@pytest.mark.parametrize("text", ["hello", "", "fio is a tool, and so is pgbench", "2 + 2 is 4"])
def test_what_is_of_no_tool_was_not_cut_off(text: str) -> None:
    for tool in readers():
        with pytest.raises(ParseError) as found:
            read_output(tool, text)
        assert not isinstance(found.value, WithoutResultError)
