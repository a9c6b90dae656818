"""`make demo` reads the documents of the commands as these print them now."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from tests.lab import demo


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Of a command, with the history of a move that a demo like this one has carried out."""
    assert main(["history", "example", str(tmp_path / "example")]) == 0
    monkeypatch.setenv("PGHAUL_DATA", str(tmp_path / "example"))

    def printed(*arguments: str) -> Any:
        capsys.readouterr()
        assert main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return printed


def test_the_demo_tells_what_a_move_was(document: Any) -> None:
    downtime, copied, verified = demo.moved(document("execute", "example", "--status"))
    assert re.fullmatch(r"downtime: \d+\.\d s", downtime)
    assert re.fullmatch(r"copied: .*B in \d passes", copied)
    assert re.fullmatch(r"verified: [\d\s]+ files are equal on both servers by their checksums", verified)


def test_the_demo_tells_what_was_compared_and_estimated(document: Any) -> None:
    lines = demo.compared(document("compare", "example"))
    assert len(lines) == 4
    assert [line for line in lines if not re.search(r" → [\d\s]+ (MB/s|IOPS) +\d\.\d\d ×$", line)] == []
    whole, downtime = demo.estimated(document("estimate", "example"))
    assert (whole.partition(":")[0], downtime.partition(":")[0]) == ("whole move", "downtime")
