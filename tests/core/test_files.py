"""Files that are handed out: whole or not at all, and none in the place of another unless it was asked for."""

import contextlib
import errno
import os
import time
from pathlib import Path

import pytest

from core import this_workstation
from core.cli.main import main
from core.errors import InputError
from core.files import check_free, write_text, write_whole
from core.history.store import Store
from tests.core.history import samples


@pytest.mark.parametrize("name", [".", "/", "missing/folder/plan.sh"])
def test_what_is_no_file_cannot_be_written(name: str) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_text(Path(name), "text")


@pytest.mark.parametrize("replacing", [False, True])
def test_a_file_is_replaced_when_asked_for(tmp_path: Path, *, replacing: bool) -> None:
    path = tmp_path / "plan.sh"
    path.write_text("mine")
    if not replacing:
        with pytest.raises(InputError, match="exists already") as refused:
            write_text(path, "new")
        assert refused.value.hint.endswith("--replace")
    else:
        write_text(path, "new", replacing=True, executable=True)
        assert os.access(path, os.X_OK)
    assert path.read_text() == ("new" if replacing else "mine")
    assert [each.name for each in tmp_path.iterdir()] == ["plan.sh"]


def test_a_link_that_leads_nowhere_is_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "missing")
    with pytest.raises(InputError, match="exists already"):
        check_free(tmp_path / "link")


def test_what_cannot_be_flushed_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "kept").write_text("mine")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "kept", b"new", replacing=True)
    assert (tmp_path / "kept").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("report", samples.MOVE.name, "-o"),
        ("report", samples.MOVE.name, "--format", "json", "-o"),
        ("plan", samples.MOVE.name, "--script"),
        ("plan", samples.MOVE.name, "--runbook"),
        ("history", "backup", "-o"),
        ("history", "export", samples.MOVE.name, "-o"),
        ("storage", "prepare", "/srv/pg", "/dev/sdb", "-o"),
    ],
)
def test_no_command_replaces_a_file_unasked(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open() as store:
        samples.fill(store)
    path = tmp_path / "mine.pdf"
    path.write_text("mine")
    assert main([*words, str(path)]) == 2
    said = capsys.readouterr().err
    assert f"pghaul: {path} exists already" in said
    assert "--replace" in said
    assert path.read_text() == "mine"
    assert main([*words, str(path), "--replace"]) == 0
    assert path.read_bytes() != b"mine"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask to speak of")
def test_the_umask_holds(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_text(tmp_path / "plan.sh", "text", executable=True)
    finally:
        os.umask(before)
    assert (tmp_path / "plan.sh").stat().st_mode & 0o777 == 0o700


def test_a_pipe_is_replaced_without_waiting_for_who_writes_into_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    write_text(tmp_path / "pipe", "text", replacing=True)
    assert (tmp_path / "pipe").read_text() == "text"


ALL = [("history", "backup"), ("history", "export", samples.MOVE.name), ("report", samples.MOVE.name, "--format", "md")]


@pytest.mark.slow
@pytest.mark.parametrize("words", ALL)
@pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal"])
def test_the_history_itself_is_never_replaced(
    words: tuple[str, ...], beside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open() as store:
        samples.fill(store)
        path = store.path
    assert main([*words, "-o", f"{path}{beside}", "--replace"]) == 2
    said = capsys.readouterr().err
    assert f"{path} is the history itself" in said or f"{path}{beside} is a history of pghaul, or belongs" in said
    with Store.open() as store:
        assert store.move(samples.MOVE.name) == samples.MOVE


@pytest.mark.slow
@pytest.mark.parametrize("words", ALL)
@pytest.mark.parametrize("name", ["/", "x" * 300])
def test_a_name_that_cannot_be_is_said(words: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open() as store:
        samples.fill(store)
    assert main([*words, "-o", name, "--replace"]) in {1, 2, 3}
    assert "pghaul: " in capsys.readouterr().err


@pytest.mark.parametrize(("windows", "in_vain", "tries"), [(True, 2, 3), (True, 99, 21), (False, 99, 1)])
def test_on_windows_a_file_that_another_program_has_open_is_replaced_soon(
    windows: bool,
    in_vain: int,
    tries: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, asked, waited = tmp_path / "settings.toml", list[Path](), list[float]()
    path.write_text("before")
    replace = Path.replace

    def shared(self: Path, to: Path) -> Path:
        """As Windows does with a file that was opened without FILE_SHARE_DELETE."""
        asked.append(to)
        if len(asked) <= in_vain:
            raise PermissionError(errno.EACCES, "Access is denied")
        return replace(self, to)

    monkeypatch.setattr(this_workstation, "on_windows", lambda: windows)
    monkeypatch.setattr(Path, "replace", shared)
    monkeypatch.setattr(time, "sleep", waited.append)
    with contextlib.nullcontext() if in_vain < tries else pytest.raises(PermissionError):
        write_whole(path, b"after", replacing=True)
    assert (asked, len(waited)) == ([path] * tries, tries - 1)
    assert path.read_text() == ("after" if in_vain < tries else "before")
    assert [*tmp_path.iterdir()] == [path]
