"""What an error of the operating system means, in pghaul's own words, in each language."""

import ast
import errno
import importlib.util
import os
from pathlib import Path

import pytest

from core import system_errors
from core.language import ENGLISH, languages, spoken
from core.reports.recorded import compared
from core.system_errors import CAUSES, reason
from tests.german import english_in_text

USUAL = (
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EISDIR, errno.ENOTDIR, errno.EEXIST,
    errno.EIO, errno.ELOOP, errno.ENAMETOOLONG, errno.EMFILE, errno.EBUSY, errno.ECONNREFUSED, errno.ECONNRESET,
    errno.EPIPE, errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL,
)  # fmt: skip
ROOT = Path(system_errors.__file__).parents[1]


@pytest.mark.parametrize("code", USUAL, ids=errno.errorcode.get)
def test_a_usual_error_has_words_of_pghauls_own(code: int) -> None:
    said = reason(OSError(code, os.strerror(code)))
    assert said in CAUSES
    assert said.endswith(f" ({errno.errorcode[code]})")
    assert os.strerror(code).lower() not in said
    for language in languages():
        with spoken(language):
            assert (compared(said) == said) is (language == ENGLISH)
            assert f"({errno.errorcode[code]})" in compared(said)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EXDEV, "Invalid cross-device link"), "Invalid cross-device link"),
        (OSError("the pipe is gone"), "the pipe is gone"),
        (OSError(), "OSError"),
    ],
)
def test_any_other_error_is_quoted_as_what_the_system_says(error: OSError, said: str) -> None:
    assert reason(error) == f"the system says: {said}"
    with spoken("de"):
        assert compared(reason(error)) == f"das System meldet: {said}"


@pytest.mark.parametrize("error", [TimeoutError(), TimeoutError("timed out"), TimeoutError(errno.ETIMEDOUT, "late")])
def test_a_wait_that_was_too_long_is_told_without_a_code_too(error: OSError) -> None:
    assert reason(error) == "there was no answer in time (ETIMEDOUT)"


def test_a_further_code_of_windows_means_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A firewall there answers 10013 (WSAEACCES), which its C library does not know."""
    spec = importlib.util.find_spec("core.system_errors")
    assert spec is not None
    assert spec.loader is not None
    there = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(errno, "WSAEACCES", 10013, raising=False)
    spec.loader.exec_module(there)
    assert there.reason(OSError(10013, "Unknown error")) == "the permissions do not allow it (EACCES)"


@pytest.mark.parametrize(
    "sentence",
    [
        "cannot read x: {}", "cannot write x: {}", "x cannot be read: {}", "x cannot be written: {}",
        "there is no suite 'x': {}", "the report x cannot be written: {}", "the logo x cannot be read: {}",
        "the settings file x cannot be used: it cannot be read: {}", "the settings file x cannot be written: {}",
        "the history x cannot be opened: {}", "the history x could not be copied to y: {}",
        "the history needs locks, but files in x cannot be locked: {}", "the example cannot be written to x: {}",
        "the server of the history does not answer, and x cannot be written: {}", "The script x cannot be read: {}.",
        "the accepted host key of x cannot be written to y: {}", "KnownHostsCommand x cannot be run: {}",
        "RevokedHostKeys x cannot be read: {}", "db1: 192.0.2.1 port 22 cannot be reached: {}",
        "the connection to db1 was lost while starting a command: {}", "db1: no SSH session with dba@192.0.2.1: {}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("code", [errno.ENOENT, errno.EHOSTUNREACH])
def test_a_sentence_with_such_a_cause_is_german_to_its_last_word(sentence: str, code: int) -> None:
    assert english_in_text(sentence.format(reason(OSError(code, os.strerror(code))))) == ""


def test_nobody_else_quotes_the_words_of_the_system() -> None:
    """They are in the language of the C library: `strerror` has one reader, and the connector puts it into an error."""
    readers = {
        path.relative_to(ROOT).as_posix()
        for top in ("core", "gui")
        for path in (ROOT / top).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "strerror"
    }
    assert readers == {"core/system_errors.py", "core/servers/ssh_connector.py", "core/file_locks.py"}
