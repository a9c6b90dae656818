"""Output within its bound."""

import re

from core.servers.remote_process import BoundedOutput


def test_what_fits_is_kept_whole() -> None:
    kept = BoundedOutput(limit=10)
    kept.add(b"12345")
    kept.add(b"67890")
    assert (kept.text(), kept.dropped) == ("1234567890", 0)


def test_what_does_not_fit_is_counted() -> None:
    kept = BoundedOutput(limit=4)
    for part in (b"123", b"456", b"7"):
        kept.add(part)
    assert (bytes(kept.data), kept.dropped) == (b"1234", 3)
    assert re.fullmatch(r"1234\n\[3 [^\]]+\]", kept.text())


def test_what_is_no_utf8_never_breaks_a_reader() -> None:
    kept = BoundedOutput()
    kept.add(b"a\xff\xc3")
    kept.add(b"\xb6")  # the second half of an ö
    assert kept.text() == "a\ufffdö"


def test_a_prompt_can_be_taken_out() -> None:
    kept = BoundedOutput()
    kept.add(b"lecture\n[prompt]rest")
    kept.remove(b"[prompt]")
    kept.remove(b"absent")
    assert kept.text() == "lecture\nrest"
