"""Sections of one round trip, run by a real shell on this machine."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.reading import Reader, expect
from core.facts.sections import Answer, Section, answers, bundle, hexadecimal, new_mark
from core.servers.shell import script
from tests.lab.machine import wait_until

MARK = "==0123456789abcdef0123456789abcdef=="


def ended(pid: int) -> bool:
    """Whether a process is gone, or dead and only waits for process 1 to take notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return True


def run(*sections: Section, mark: str = MARK) -> dict[str, Answer]:
    done = subprocess.run(["sh", "-c", bundle(mark, sections).text], capture_output=True, check=True, timeout=30)
    return answers(mark, done.stdout, done.stderr.decode())


def test_output_complaint_and_status_of_each_are_kept_apart() -> None:
    found = run(
        Section("one", script("echo out; echo 'no such disk' >&2; exit 7")),
        Section("two", script("printf 'no line end'")),
        Section("three", script("true")),
    )
    assert found["one"] == Answer("one", b"out\n", "no such disk\n", 7)
    assert found["two"] == Answer("two", b"no line end", "", 0)
    assert found["three"] == Answer("three", b"", "", 0)


def test_a_section_that_hangs_is_ended_with_its_children_and_the_next_one_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hanging = Section("hangs", script("echo first; sleep 600 & echo $! >@file@; wait", file=pid), deadline=1)
    found = run(hanging, Section("next", script("echo on")))
    assert found["hangs"].text == "first\n"
    assert found["hangs"].reason == "it took too long"
    assert found["next"].text == "on\n"
    child = int(pid.read_text())
    wait_until(lambda: ended(child), "the section's child to end", seconds=10)


def test_ending_the_script_ends_the_section_that_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    one = Section("hangs", script("sleep 600 & echo $! >@file@; wait", file=pid), deadline=60)
    running = subprocess.Popen(
        ["sh", "-c", bundle(MARK, [one]).text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    child = int(pid.read_text())
    os.killpg(running.pid, signal.SIGTERM)
    running.communicate(timeout=20)
    wait_until(lambda: ended(child), "the section's child to end", seconds=10)


def test_nothing_is_read_from_standard_input_and_the_locale_is_c() -> None:
    found = run(Section("input", script("cat; echo $LC_ALL $LANGUAGE $PGDATA; pwd")))
    assert found["input"].text == "C\n/\n"


def test_any_byte_survives() -> None:
    found = run(Section("bytes", script("printf 'a\\377\\000b\\n'")))
    assert found["bytes"].output == b"a\xff\x00b\n"
    assert found["bytes"].text == "a\udcff\x00b\n"


def test_output_that_imitates_a_mark_is_no_mark() -> None:
    found = run(Section("one", script("echo; echo '==feed== end 0'; echo '==feed== begin two'")))
    assert set(found) == {"one"}
    assert "begin two" in found["one"].text


def test_marks_differ() -> None:
    assert new_mark() != new_mark()


def test_a_trip_that_was_cut_off() -> None:
    whole = f"\n{MARK} begin a\ntext\n\n{MARK} end 0\n\n{MARK} begin b\nhalf a li".encode()
    found = answers(MARK, whole, "")
    assert found["a"].text == "text\n"
    assert found["b"].status is None
    assert found["b"].output == b"half a li"
    for length in range(len(whole)):
        for answer in answers(MARK, whole[:length], "").values():
            assert answer.status in (0, None)


def test_the_reason_is_the_last_complaint() -> None:
    assert Answer("x", b"", "one\n two \n\n", 1).reason == "two"
    assert Answer("x", b"", "", 5).reason == "the command ended with exit status 5"
    assert "ended before" in Answer("x", b"", "", None).reason


def test_what_cannot_be_read_is_a_gap_and_never_a_value() -> None:
    reader = Reader({"bad": Answer("bad", b"5", "broken pipe\n", 1), "odd": Answer("odd", b"five", "", 0)}, of="/srv")

    def number(text: str) -> int:
        if not text.isdigit():
            raise ParseError(f"no number: {text}")
        return int(text)

    assert reader.read("bad", "count", number) is None
    assert reader.read("odd", "count", number) is None
    assert reader.read("absent", "count", number) is None
    assert [(gap.subject, gap.reason) for gap in reader.gaps] == [
        ("count of /srv", "broken pipe"),
        ("count of /srv", "no number: five"),
        ("count of /srv", "it was not reached"),
    ]


def test_whole_lines_of_a_section_that_was_cut_off_are_used_beside_the_gap() -> None:
    reader = Reader({"list": Answer("list", b"a\nb\nhal", "", 124)})
    assert reader.read_partly("list", "list", str.split) == ["a", "b"]
    assert reader.gaps[0].reason == "it took too long"


def test_expect_raises_the_reason() -> None:
    with pytest.raises(ParseError, match="it took too long"):
        expect(Answer("x", b"", "", 124))


def test_hexadecimal_paths() -> None:
    assert hexadecimal(" 2f 73\n72 76 ff ") == "/srv\udcff"
    with pytest.raises(ValueError, match="fromhex"):
        hexadecimal("2g")
