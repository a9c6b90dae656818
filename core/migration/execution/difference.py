"""Where two outputs that should be the same part, in words; and which files do, by the lists that the outputs sum up.

A list comes packed, and of very many files it is the beginning alone. It is what `steps.verify` makes: a heading ahead
of each part says what it is and the link of its place, `# manifest pg_wal`. A manifest has lines such as
`owner f 600 8192 1700000000.5 base/1/1259`, sums such as `HASH  ./base/1/1259`; every part is sorted by bytes. Two
lists are gone through side by side, so that none is ever held whole.
"""

import base64
import binascii
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest

from core import units

_NAMED = 5
_MOST = 10_000
"""Differing lines that are looked at: more say nothing new."""

_FIELDS = {
    "f": ("owner", "type", "mode", "size", "time"),
    "d": ("owner", "type", "mode"),
    "l": ("owner", "type"),
}


@dataclass(frozen=True, slots=True, order=True)
class _Line:
    """A line of a list, in the order of both lists: by part, then by bytes."""

    part: int
    text: bytes
    heading: bytes = field(compare=False, default=b"")


def first_difference(expected: str, found: str) -> str:
    """The first line that is not the same, as either side has it; a sum stands under the line that says of what."""
    pairs = list(zip_longest(expected.splitlines(), found.splitlines(), fillvalue="nothing"))
    at = next(number for number, (one, other) in enumerate(pairs) if one != other)
    about = next((one for one, other in reversed(pairs[:at]) if one == other and not one.endswith("  -")), "")
    one, other = pairs[at]
    return f"{about}: {one} there, {other} here" if about else f"{one} there, {other} here"


def differing_files(old: str, new: str) -> str:
    """The first files that differ between two packed lists and how, in words; empty where the lists name none."""
    files: dict[str, dict[str, dict[str, str]]] = {}
    for side, line in _apart(_lines(old), _lines(new)):
        path, fields = _entry(line)
        for name, value in fields.items():
            files.setdefault(path, {}).setdefault(name, {})[side] = value
    named = [f"{path} ({', '.join(_told(fields))})" for path, fields in sorted(files.items())]
    more = len(named) - _NAMED
    return "; ".join(named[:_NAMED]) + (f"; and {units.count(more)} more" if more > 0 else "")


def _told(fields: dict[str, dict[str, str]]) -> list[str]:
    """What of a file differs: of one side alone, there is only that."""
    known = {side for values in fields.values() for side in values}
    if "type" in fields and len(known) == 1:
        return [f"on {known.pop()} alone"]
    said = []
    for name, values in fields.items():
        if name == "content":
            said.append("content")
        elif len(values) == 2 and values["old"] != values["new"]:
            old, new = (_shown(name, values[side]) for side in ("old", "new"))
            said.append(f"{name} {old} on old, {new} on new")
    return said


def _shown(name: str, value: str) -> str:
    if name != "time":
        return value
    seconds, _, fraction = value.partition(".")
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d %H:%M:%S}.{fraction.rstrip('0') or '0'}"


def _entry(line: _Line) -> tuple[str, dict[str, str]]:
    """The path below the data directory, and what the line says of it."""
    text = line.text.decode("utf-8", "replace").replace("\1", "\\n")
    kind, _, link = line.heading.decode("utf-8", "replace").partition(" ")
    if kind == "sums":
        hash_, _, path = text.removeprefix("\\").partition("  ")
        return _below(link, path.removeprefix("./")), {"content": hash_}
    owner, kind, rest = text.split(" ", 2)
    names = _FIELDS.get(kind, _FIELDS["d"])
    *values, path = rest.split(" ", len(names) - 2)
    fields = dict(zip(names, (owner, kind, *values), strict=False))
    if kind == "l":
        path, _, fields["target"] = path.partition(" -> ")
    return _below(link, path), fields


def _below(link: str, path: str) -> str:
    return f"{link}/{path}" if link else path


def _apart(old: Iterator[_Line], new: Iterator[_Line]) -> Iterator[tuple[str, _Line]]:
    """The lines that one side alone has, with that side; ends where a list ends before its end."""
    one, other = next(old, None), next(new, None)
    for _ in range(_MOST):
        while one is not None and one == other:
            one, other = next(old, None), next(new, None)
        if one is None or other is None:
            return
        if one < other:
            yield "old", one
            one = next(old, None)
        else:
            yield "new", other
            other = next(new, None)


_END = _Line(1 << 30, b"")
"""Behind the last line of a whole list."""


def _lines(packed: str) -> Iterator[_Line]:
    """The lines of a packed list and `_END`, but of one that is cut off the whole lines alone."""
    part, heading, rest = 0, b"", b""
    try:
        data = base64.b64decode(packed)
        unpacking = zlib.decompressobj(wbits=31)
        for at in range(0, len(data), 1 << 16):
            *lines, rest = (rest + unpacking.decompress(data[at : at + (1 << 16)])).split(b"\n")
            for line in lines:
                if line.startswith(b"# "):
                    part, heading = part + 1, line[2:]
                else:
                    yield _Line(part, line, heading)
    except (binascii.Error, zlib.error):
        return
    if data and unpacking.eof:
        yield _END
