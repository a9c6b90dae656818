"""What a mail, a forum, a terminal or a log does to an output is undone; an output that nobody touched stays as it is.

Each recorded output is wrapped in each way, and must still give the same results, whatever tool has printed it.
"""

import quopri
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.api.outputs import (
    parse_arrays,
    parse_iperf3_summary,
    parse_rsync,
    parse_version,
    read_control_data,
    read_output,
)
from core.errors import ParseError
from core.inputs import decode
from core.pasted import plain

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("> > tps = 1\n>> x\n", "tps = 1\nx\n"),
        ("tps =3D 12.5 (exclu=\nding)\n", "tps = 12.5 (excluding)\n"),
        ("caf=C3=A9 =3D\n", "café =\n"),
        ("caf=C3=A9\n", "café\n"),
        ("active=20\nx\n", "active \nx\n"),
        ("type: &lt;builtin: TPC-B (sort of)&gt;\n", "type: <builtin: TPC-B (sort of)>\n"),
        ("[B]md3 : active[/B]\n", "md3 : active\n"),
        ("a\u00a0b\u200b\n", "a b\n"),
        ("cpu : usr=39.93%, sys=41.20%, ctx=12\n", "cpu : usr=39.93%, sys=41.20%, ctx=12\n"),
        ("x=3D y=07\n", "x= y=07\n"),
        ("usr=40%, name=a\n" + "x" * 70 + "=\nend\n", "usr=40%, name=a\n" + "x" * 70 + "=\nend\n"),
        ("\x1b[1;32mtps\x1b[0m = 1\x1b[K\n\x1b]0;title\x07x\n", "tps = 1\nx\n"),
        ("a\r\r\nb\r\n", "a\nb\n"),
        ("a\n\nb\n\nc\n\n", "a\nb\nc\n"),
        ("a\n\nb\nc\n", "a\n\nb\nc\n"),
        ("  a\n\n    b\n", "a\n\n  b\n"),
        ("# a\n#  b\n# c\n", "a\n b\nc\n"),
        ("# a\nb\nc\nd\n", "# a\nb\nc\nd\n"),
        ("2024-05-01T10:00:00.1234567Z a\n2024-05-01T10:00:01Z  b\n2024-05-01T10:00:02Z c\n", "a\n b\nc\n"),
        ("May  1 10:00:00 db1 pgbench[12]: a\nMay  1 10:00:00 db1 pgbench[12]:  b\n", "a\n b\n"),
        ("20:22:23 DEBUG| [stdout] a\n20:22:23 DEBUG| [stdout]   b\n", "a\n  b\n"),
        ("fio-1  | a\nfio-1  |   b\nfio-1  | c\n", "a\n  b\nc\n"),
    ],
)
def test_what_was_done_to_it_is_undone(text: str, meant: str) -> None:
    assert plain(text) == meant


def test_soft_line_breaks_alone_show_the_encoding_and_bars_do_not() -> None:
    broken = "x" * 70 + "=\n" + "y" * 70 + "=\nend\n"
    assert plain(broken) == "x" * 70 + "y" * 70 + "end\n"
    bars = ("1 . 3 |" + "=" * 63 + "\n") * 3
    assert plain(bars) == bars


@pytest.mark.parametrize("folder", ["sysbench", "pg_test_fsync", "bonnie"])
def test_an_output_that_was_not_sent_stays_as_it_is(folder: str) -> None:
    for path in sorted((DATA / folder).glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        untouched = not any(mark in text for mark in (">", "\u00a0")) and not text.startswith(" ")
        if "mail" not in path.name and untouched:
            assert plain(text) == text


TOOLS = {
    **{name: name for name in ("bonnie", "dd", "hammerdb", "hdparm", "ioping", "pg_test_fsync")},
    **{name: name for name in ("pgbench", "phoronix", "sysbench")},
    **dict.fromkeys(("fio", "fio-json", "fio-terse", "fio-log"), "fio"),
    "pgbench-log": "pgbench",
}
OTHERS: dict[str, Callable[[str], Any]] = {
    "iperf3": parse_iperf3_summary,
    "mdstat": parse_arrays,
    "pg_controldata": read_control_data,
    "pg_version": parse_version,
    "rsync": parse_rsync,
}
SENT = ("mail", "quoted", "watch-80-columns")
"""Names of outputs that were sent or cut to a width already: to wrap them once more would be another output."""


def _before_each(prefix: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True))


def _coloured(text: str) -> str:
    return "".join(f"\x1b[32m{line.rstrip()}\x1b[0m\x1b[K\n" for line in text.splitlines())


def _encoded(text: str) -> str:
    return quopri.encodestring(text.encode()).decode()


WRAPPED: dict[str, Callable[[str], str]] = {
    "quoted": _before_each("> "),
    "quoted three times": _before_each(">> > "),
    "quoted-printable": _encoded,
    "quoted and quoted-printable": lambda text: _encoded(_before_each("> ")(text)),
    "coloured": _coloured,
    "CRLF": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "CRCRLF": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\r\n"),
    "indented": _before_each("    "),
    "a tab": _before_each("\t"),
    "a comment": _before_each("# "),
    "a comment of SQL": _before_each("-- "),
    "a table": _before_each("| "),
    "a log": _before_each("2024-05-01T10:00:00.1234567Z "),
    "a container's log": _before_each("bench_1  | "),
    "the journal": _before_each("May 01 10:00:00 db1 bench[1234]: "),
    "no-break spaces": lambda text: text.replace("  ", "\u00a0 "),
    "blanks at the ends": lambda text: "".join(f"{line.rstrip()}  \n" for line in text.splitlines()),
    "UTF-16": lambda text: decode(text.encode("utf-16")),
    "a byte order mark": lambda text: decode(b"\xef\xbb\xbf" + text.encode()),
    "escaped for HTML": lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    "double-spaced": lambda text: text.replace("\r\n", "\n").replace("\n", "\n\n"),
}


def _read(folder: str, path: Path, text: str) -> Any:
    try:
        if folder in OTHERS:
            return OTHERS[folder](plain(text))
        output = read_output(TOOLS[folder], text, path.name)
    except ParseError:
        return None
    return output


@pytest.mark.slow
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_what_stands_around_an_output_does_not_matter(wrapped: str, subtests: pytest.Subtests) -> None:
    for folder in (*TOOLS, *OTHERS):
        for path in sorted((DATA / folder).iterdir()):
            text = decode(path.read_bytes())
            whole = _read(folder, path, text)
            if path.name == "expected.json" or whole is None or any(word in path.name for word in SENT):
                continue
            with subtests.test(f"{folder}/{path.name}"):
                assert _read(folder, path, WRAPPED[wrapped](text)) == whole
