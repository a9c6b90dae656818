"""Sections of one round trip, run by a real shell on this machine."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.reader import NOT_REACHED, Reader, require_success
from core.facts.sections import TOO_LONG, Answer, Section, decode_hexadecimal, new_mark, parse_answers
from tests.core.facts.asking import MARK, asked, script
from tests.lab.machine import wait_until


def ended(pid: int) -> bool:
    """Whether a process is gone, or dead and only waits for process 1 to take notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except (FileNotFoundError, ProcessLookupError):
        return True


def section(name: str, text: str, deadline: int = 5) -> Section[str]:
    return Section(name, name, ("sh", "-c", text), str, deadline)


def test_output_complaint_and_status_of_each_are_kept_apart() -> None:
    found = asked(
        section("one", "echo out; echo 'no such disk' >&2; exit 7"),
        section("two", "printf 'no line end'"),
        section("three", "true"),
    )
    assert found["one"] == Answer("one", b"out\n", "no such disk\n", 7)
    assert found["two"] == Answer("two", b"no line end", "", 0)
    assert found["three"] == Answer("three", b"", "", 0)


@pytest.mark.slow
def test_a_section_that_hangs_is_ended_with_its_children_and_the_next_one_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hanging = section("hangs", f"echo first; sleep 600 & echo $! >{pid}; wait", deadline=1)
    found = asked(hanging, section("next", "echo on"))
    assert found["hangs"].text == "first\n"
    assert found["hangs"].reason == TOO_LONG
    assert found["next"].text == "on\n"
    child = int(pid.read_text())
    wait_until(lambda: ended(child), "the section's child to end", seconds=10)


def test_ending_the_script_ends_the_section_that_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    one = section("hangs", f"sleep 600 & echo $! >{pid}; wait", deadline=60)
    running = subprocess.Popen(
        ["sh", "-c", script(one)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    child = int(pid.read_text())
    os.killpg(running.pid, signal.SIGTERM)
    running.communicate(timeout=20)
    wait_until(lambda: ended(child), "the section's child to end", seconds=10)


def test_nothing_is_read_from_standard_input_and_the_locale_is_c() -> None:
    found = asked(section("input", "cat; echo $LC_ALL $LANGUAGE $PGDATA; pwd"))
    assert found["input"].text == "C\n/\n"


def test_any_byte_survives() -> None:
    found = asked(section("bytes", "printf 'a\\377\\000b\\n'"))
    assert found["bytes"].output == b"a\xff\x00b\n"
    assert found["bytes"].text == "a\udcff\x00b\n"


def test_output_that_imitates_a_mark_is_no_mark() -> None:
    found = asked(section("one", "echo; echo '==feed== end 0'; echo '==feed== begin two'"))
    assert set(found) == {"one"}
    assert "begin two" in found["one"].text


def test_marks_differ() -> None:
    assert new_mark() != new_mark()


def test_a_trip_that_was_cut_off() -> None:
    whole = f"\n{MARK} begin a\ntext\n\n{MARK} end 0\n\n{MARK} begin b\nhalf a li".encode()
    found = parse_answers(MARK, ("a", "b"), whole, "")
    assert found["a"].text == "text\n"
    assert found["b"].status is None
    assert found["b"].output == b"half a li"
    for length in range(len(whole)):
        for answer in parse_answers(MARK, ("a", "b"), whole[:length], "").values():
            assert answer.status in (0, None)


def test_the_reason_is_the_last_complaint() -> None:
    assert Answer("x", b"", "one\n two \n\n", 1).reason == "two"
    assert Answer("x", b"", "", 5).reason.endswith(" 5")
    assert "ended before" in Answer("x", b"", "", None).reason


def test_the_reason_of_a_function_is_its_sentence_with_what_its_tool_said() -> None:
    assert Answer("x", b"", "pghaul: it is empty\n", 4).reason == "it is empty"
    assert Answer("x", b"", "a\npsql: no server\npghaul: psql failed\n", 1).reason == "psql failed (psql: no server)"


def test_what_cannot_be_read_is_a_gap_and_never_a_value() -> None:
    reader = Reader({"bad": Answer("bad", b"5", "broken pipe\n", 1), "odd": Answer("odd", b"five", "", 0)}, of="/srv")

    def number(text: str) -> int:
        if not text.isdigit():
            raise ParseError(f"no number: {text}")
        return int(text)

    for name in ("bad", "odd", "absent"):
        assert reader.read(Section(name, "count", ("true",), number)) is None
    assert [(gap.subject, gap.reason) for gap in reader.gaps] == [
        ("count of /srv", "broken pipe"),
        ("count of /srv", "no number: five"),
        ("count of /srv", NOT_REACHED),
    ]


def test_whole_lines_of_a_section_that_was_cut_off_are_used_beside_the_gap() -> None:
    reader = Reader({"list": Answer("list", b"a\nb\nhal", "", 124)})
    assert reader.read(Section("list", "list", ("true",), str.split, partly=True)) == ["a", "b"]
    assert reader.gaps[0].reason == TOO_LONG


def test_expect_raises_the_reason() -> None:
    with pytest.raises(ParseError, match=TOO_LONG):
        require_success(Answer("x", b"", "", 124))


def test_hexadecimal_paths() -> None:
    assert decode_hexadecimal(" 2f 73\n72 76 ff ") == "/srv\udcff"
    with pytest.raises(ValueError, match="fromhex"):
        decode_hexadecimal("2g")
