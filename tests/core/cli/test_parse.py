"""`pghaul parse`: real outputs of every tool through the command line, their encodings, and what holds no result."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from core.benchmarks.tools import readers
from core.cli.main import main
from core.errors import InputError
from core.inputs import decode, read_input

DATA = Path(__file__).parents[2] / "data"
FOLDERS = {
    "bonnie": "bonnie",
    "dd": "dd",
    "fio": "fio",
    "fio-json": "fio",
    "fio-log": "fio",
    "fio-terse": "fio",
    "hammerdb": "hammerdb",
    "hdparm": "hdparm",
    "ioping": "ioping",
    "iperf3": "iperf3",
    "mdstat": "mdstat",
    "pg_controldata": "controldata",
    "pg_test_fsync": "pg_test_fsync",
    "pg_version": "version",
    "pgbench": "pgbench",
    "pgbench-log": "pgbench",
    "phoronix": "phoronix",
    "rsync": "rsync",
    "sysbench": "sysbench",
}
TOOLS = sorted(set(FOLDERS.values()))
CLOSE = 0.006
MARKS = ("interrupted", "aborted", "errors")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(("parse", *arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def _near(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: pytest.approx(value, rel=CLOSE)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else value
        for name, value in values.items()
    }


def _picked(values: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    return {name: values.get(name, "missing") for name in names}


def test_every_benchmark_tool_has_real_outputs() -> None:
    assert set(readers()) - set(FOLDERS.values()) == set()


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_real_outputs_give_the_values_read_by_hand(
    folder: str, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    expected = json.loads((DATA / folder / "expected.json").read_text())
    assert expected
    for name, expect in expected.items():
        with subtests.test(name):
            _hold(capsys, FOLDERS[folder], str(DATA / folder / name), expect)


def _hold(capsys: pytest.CaptureFixture[str], tool: str, path: str, expect: dict[str, Any]) -> None:
    """What a program is given of an output is what was read by hand; and people are given something of it too."""
    code, out, err = run(capsys, tool, path, "--json")
    for_people = run(capsys, tool, path)
    if expect.get("error"):
        assert (code, out, for_people[:2]) == (2, "", (2, ""))
        assert [line[:8] for line in err.splitlines()] == ["pghaul: ", "  hint: "]
        return
    assert (code, err, for_people[0]) == (0, "", 0)
    assert for_people[1]
    document = json.loads(out)
    if "fields" in expect:
        assert set(document) == {"fields"}
        assert _picked(document["fields"], expect["fields"]) == _near(expect["fields"])
    elif "arrays" in expect:
        assert document == expect
    else:
        assert (document["tool"], document["version"]) == (tool, expect.get("version"))
        assert [result["name"] for result in document["results"]] == [result["name"] for result in expect["results"]]
        at_the_top = {name: expect[name] for name in MARKS if name in expect}
        assert {name: document[name] for name in MARKS if name in document} == at_the_top
        for result, wanted in zip(document["results"], expect["results"], strict=True):
            assert _picked(result["metrics"], wanted["metrics"]) == _near(wanted["metrics"])
            own = {name: wanted[name] for name in MARKS if name in wanted}
            found = {name: value for name, value in result.items() if name not in ("name", "metrics")}
            # where results differ, each has its own; else what stands at the top holds for all
            assert found == (own if any(mark in one for one in expect["results"] for mark in MARKS) else at_the_top)


@pytest.mark.parametrize(
    ("name", "version", "job", "ended"),
    [
        ("14-v2.2.8-err28-enospc-f31502750131.txt", "2.2.8", "seqwrite", "28"),
        ("20-v2.1.10-sigint-two-jobs-snipped-f30227283165.txt", "2.1.10", "job1", "interrupted"),
    ],
)
def test_a_title_says_how_a_job_ended(
    capsys: pytest.CaptureFixture[str], name: str, version: str, job: str, ended: str
) -> None:
    _, out, _ = run(capsys, "fio", str(DATA / "fio" / name))
    assert any(all(word in line for word in ("fio", version, job, ended)) for line in out.splitlines())


NO_RESULT = {
    "empty": b"",
    "blank": b"\n \n",
    "message": b"bash: command not found\n",
    "binary": b"\x7fELF\x02\x01\x00\x00\xff\xfe\xfd",
    "braces": b"{" * 2000,
    "list": b"[]",
    "zeros": b"\0" * 99,
}


@pytest.mark.parametrize("tool", TOOLS)
def test_no_result_ends_with_2_one_line_and_a_hint(
    tool: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    file = tmp_path / "output"
    for kind, data in NO_RESULT.items():
        file.write_bytes(data)
        with subtests.test(kind):
            code, out, err = run(capsys, tool, str(file), "--json")
            assert (code, out) == (2, "")
            message, hint = err.splitlines()
            assert message.startswith("pghaul: ")
            assert f"{tool}: " in message
            assert hint.startswith("  hint: ")
            assert ("bash: command not found" in err) == (kind == "message")


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_ends_with_2_and_a_hint(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "fio", str(tmp_path / name))
    assert (code, out) == (2, "")
    assert err.splitlines()[1:] == ["  hint: check the path and the permissions of the file"]


def test_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"1000000 bytes transferred in 2.0 secs (500000 bytes/sec)\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, out, _ = run(capsys, "dd", "--json")
    assert code == 0
    assert json.loads(out)["results"][0]["metrics"]["bytes_per_second"] == 500000


def test_every_encoding_that_shells_write(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    text = (DATA / "pgbench" / "10-v14.1-client-server-12.6-f8297672349.txt").read_text()
    file = tmp_path / "output"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        file.write_bytes(text.replace("\n", "\r\n").encode(encoding))
        with subtests.test(encoding):
            code, out, _ = run(capsys, "pgbench", str(file), "--json")
            assert code == 0
            assert json.loads(out)["results"][0]["metrics"]["transactions"] == 6624


def test_no_number_is_read_across_lost_bytes() -> None:
    assert decode(b"processed: 66\0\0" + b"24\n" * 20).startswith("processed: 66\ufffd\ufffd24")
    assert decode(b"\xff12\n") == "\ufffd12\n"


def test_an_input_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"/dev/zero\b.* 16 MiB"):
        read_input("/dev/zero")
    with (tmp_path / "long").open("wb") as file:
        file.truncate(16 * 2**20 + 1)
    monkeypatch.setattr(sys, "stdin", (tmp_path / "long").open(encoding="utf-8"))
    with sys.stdin, pytest.raises(InputError, match=r" -:.* 16 MiB"):
        read_input("-")
