"""Whose output a text is: of each recorded one its own tool, of others nobody; nothing takes long."""

from pathlib import Path
from typing import Any

import pytest

from core.benchmarks.tools import read_output, readers, recognised
from core.errors import ParseError

DATA = Path(__file__).parents[2] / "data"
LOGS = {"fio-log": "fio", "pgbench-log": "pgbench"}
FOLDERS = {name: name for name in readers()} | {"fio-json": "fio", "fio-terse": "fio"} | LOGS
NOBODYS = ("mdstat", "lsblk", "lscpu", "df", "mount", "iperf3", "rsync", "pg_controldata", "pg_version")


def samples() -> list[Any]:
    return [
        pytest.param(tool, path, id=f"{folder}/{path.name}")
        for folder, tool in FOLDERS.items()
        for path in sorted((DATA / folder).iterdir())
        # sysbench says of its preparations how many bytes it has written, as dd does
        if path.name not in ("expected.json", "v1.0.20-prepare.txt")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "path"), samples())
def test_a_recorded_output_is_recognised(tool: str, path: Path) -> None:
    text = path.read_bytes().decode(errors="replace")
    try:
        read_output(tool, text, path.name)
    except ParseError:
        with pytest.raises(ParseError):
            recognised(text, path.name)
    else:
        assert [output.tool for output in recognised(text, path.name)] == [tool]


def test_what_no_benchmark_tool_has_printed_is_refused() -> None:
    for folder in NOBODYS:
        for path in (DATA / folder).iterdir():
            with pytest.raises(ParseError, match="bonnie, dd, fio"):
                recognised(path.read_text(encoding="utf-8"), path.name)


def test_a_post_that_shows_several_tools_gives_all_of_them() -> None:
    fsync = next(path for path in sorted((DATA / "pg_test_fsync").glob("v15-C*")))
    pgbench = DATA / "pgbench" / "10-v14.1-client-server-12.6-f8297672349.txt"
    text = fsync.read_text(encoding="utf-8") + "\n" + pgbench.read_text(encoding="utf-8")
    assert {output.tool for output in recognised(text)} == {"pg_test_fsync", "pgbench"}


@pytest.mark.parametrize("text", ["\ufffd" * 100, "\x7fELF" + "\ufffd" * 300 + "x" * 3000])
def test_what_is_no_text_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ParseError):
        recognised(text)


HOSTILE = {
    "results that never end": "<PhoronixTestSuite>" + "<Result><Data><Entry>" * 25_000,
    "tags that never end": "<PhoronixTestSuite><Result>" + "<Title>" * 50_000,
    "entities": '<!DOCTYPE x [<!ENTITY a "&b;&b;">]><PhoronixTestSuite>' + "&a;" * 50_000,
    "quotes": "> " * 250_000,
    "quotes in lines": ("> " * 500 + "\n") * 500,
    "encoded": "=3D" * 150_000,
    "soft breaks": ("x" * 70 + "=\n") * 5_000,
    "blanks": " " * 500_000,
    "averages": "Average: 1\n" * 25_000,
    "bars": "MB/s > Higher Is Better\n" + ("a ." * 3_000 + "\n") * 40,
    "numbers": "1 " * 150_000,
    "log": "1, 1, 0, 4096\n" * 25_000 + "x\n",
    "pairs": "1G" + " 1 1" * 100_000,
    "runs": "System achieved 1 NOPM from " * 20_000,
    "reports": "transaction type: x\nscaling factor: 1\n" * 5_000,
    "tps": "tps = " * 50_000,
    "braces": "{\n" * 50_000,
    "one line": "x" * 2_000_000,
    "many lines": "x\n" * 50_000,
    "many numbers": "12\n" * 50_000,
    "zero bytes": "x" * 4_096 + "\ufffd" * 1_000_000,
    "half a JSON document": '{"jobs": [\n' + '{"jobname": "a"},\n' * 50_000,
    "escapes": "\x1b[" * 250_000,
    "titles of a window": "\x1b]0;" * 150_000,
    "carriage returns": "\r" * 100_000,
    "empty lines": "\n" * 100_000,
    "blank lines": "x\n\n" * 50_000,
    "times": ("2024-05-01T10:00:00Z " * 3 + "\n") * 10_000,
    "tabs": ("a" * 79 + "\t" + "b" * 79 + "\t\n") * 5_000,
    "heads": "transaction type: \n<\n" * 25_000,
    "clients": "number of clients: 1\n" * 25_000,
    "groups": "Run status group 0 (all jobs):\n" * 15_000,
    "sums": ("READ: bw=1MiB/s (1MB/s), " + "io=" * 60 + "\n") * 2_000,
    "counters": "1 a tp\n" * 50_000,
    "requests": "1 requests completed in " * 20_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_are_refused(text: str) -> None:
    # what grows with the square of these would take minutes
    with pytest.raises(ParseError):
        recognised(text, "x_bw.1.log")
