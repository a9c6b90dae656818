"""What fuzzing has found stays mended, every target bears a few inputs, and a target that does not is found out."""

import base64
import gzip
import mmap
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import ParseError
from tests.fuzz import limits, run
from tests.fuzz.targets import Target, targets

PARTS = ("benchmarks", "facts", "history", "migration", "redaction", "servers", "settings", "terminal")
_BLANKS, _DIGITS = b" " * 20_000, b"9" * 5000
FOUND: tuple[tuple[str, bytes], ...] = (
    ("facts/arrays", b"md0 : active " + b"a" * 20_000),
    ("facts/geometry", b"geometry of x\nBlock size: 4096" + _BLANKS + b"y"),
    ("facts/geometry", b"geometry of x\n" + b"data=bsize=1 \n" * 2000),
    ("facts/autostart", b"script " + b"/" * 20_000),
    ("facts/system", b"facts_hostname=x\nfacts_kernel=1\nfacts_architecture=x\nfacts_libc=a" + _DIGITS * 4 + b"!"),
    ("facts/space", b"Filesystem\n" + b"a" + _BLANKS),
    ("facts/debian-clusters", b"15 main 5432 online postgres /" + _BLANKS + b"x" + _BLANKS),
    ("facts/firewall", b"listed\n: " + b"-A INPUT " * 2000),
    ("facts/block-devices", b"A" * 20_000),
    ("benchmarks/situation", b"device /x\nbefore " + _DIGITS + b"\nafter 1\n"),
    (
        "migration/rsync log",
        b"Total transferred file size: " + _DIGITS + b" bytes\n" + _DIGITS + b"/1 MB (1%) computed\n",
    ),
    ("migration/release", _DIGITS * 2 + b"=" * 20_000),
    ("migration/differing files", "²".encode()),
    ("migration/differing files", b"\2data\2\nbase/1/1\2owner\n"),
    ("migration/differing files", b"\2data\2\nbase/1/1\2ow\2ner l x\n"),
    ("migration/differing files", b"\2data\2\nbase/1/1259\2owner f 600 9 " + _DIGITS + b"\2aa\n"),
    ("servers/list", b"Host a\n" + b"\n" * 50 + b"x\n"),
    ("servers/list", b"[" + _BLANKS + b"]x\n"),
    ("servers/list", b"name,address,jump\na,b,c:" + _DIGITS + b"\n"),
)


def test_what_was_found_is_read_or_refused_in_time(subtests: pytest.Subtests) -> None:
    read = {target.name: target.read for target in targets()}
    bomb = ("migration/differing files", base64.b64encode(gzip.compress(bytes(300 << 20), 1)))
    for number, (name, data) in enumerate((*FOUND, bomb)):
        with subtests.test(name, number=number):
            limits.read_or_refuse(read[name], data)


def test_every_target_has_a_name_of_its_own_in_one_of_the_parts() -> None:
    names = [target.name for target in targets()]
    assert len(names) == len(set(names))
    assert {name.partition("/")[0] for name in names} == set(PARTS)


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_target_bears_its_samples(part: str, subtests: pytest.Subtests) -> None:
    for target in targets():
        if target.name.partition("/")[0] != part:
            continue
        for number, sample in enumerate((b"", *target.samples[:8])):
            with subtests.test(target.name, number=number):
                limits.read_or_refuse(target.read, sample)


def _crash(data: bytes) -> None:
    if b"9" in data:
        raise ValueError(data)


def _hang(_: bytes) -> None:
    while True:
        pass


def _pile_up(_: bytes) -> None:
    # of its own pages: what the tests before left free in the heap would be no growth
    with mmap.mmap(-1, 40 << 20) as piled:
        piled[:] = bytes(len(piled))


def _refuse(_: bytes) -> None:
    raise ParseError("no")


def test_what_another_target_took_hides_nothing_and_is_nobodys_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GROWTH", 20 << 20)
    bytearray(80 << 20)
    limits.read_or_refuse(_refuse, b"")
    with pytest.raises(limits.TooLargeError):
        limits.read_or_refuse(_pile_up, b"")


def test_a_refusal_is_no_finding() -> None:
    limits.read_or_refuse(_refuse, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "error"), [(_crash, ValueError), (_hang, limits.TooSlowError), (_pile_up, limits.TooLargeError)]
)
def test_a_target_that_fails_is_found_out_and_its_input_kept(
    read: Callable[[bytes], object], error: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run, "FINDINGS", tmp_path)
    monkeypatch.setattr(limits, "SECONDS", 0.1)
    monkeypatch.setattr(limits, "GROWTH", 20 << 20)
    with pytest.raises(error):
        run.hold(Target("toy", read, (b"5 of 9",)), 1)
    (kept,) = tmp_path.iterdir()
    with pytest.raises(error):
        limits.read_or_refuse(read, kept.read_bytes())
