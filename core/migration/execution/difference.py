"""Where two outputs that should be the same part, in words; and which files do, by the lists that the outputs sum up.

A list comes packed, and of very many files it is the beginning alone. `resources/sh/verify.sh` makes it: a heading
ahead of each data root has its label and its link, `^B16401^Bpg_tblspc/16401` where `^B` is byte 2; then a line a name,
sorted by path, `base/1/1259^Bowner f 600 8192 1700000000^B0f343b09`: path, what both sides must have alike, and the
beginning of the sum of a file. Two lists are gone through side by side, so that none is ever held whole.
"""

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest

from core import units
from core.sides import Side
from core.text import lines_of

_NAMED = 5
_SHOWN = 20
"""Lines of an inventory that are shown: of a thousand that differ nobody would read the rest."""
_MOST = 10_000
"""Differing lines that are looked at: more say nothing new."""

_BETWEEN = b"\2"
_REST = re.compile(
    rb"[^ \x02]+ (?:f [^ \x02]+ [0-9]{1,20} -?[0-9]{1,11}|[a-eg-zA-Z](?: [^\x02]*)?)(?:\x02.*)?", re.DOTALL
)
"""What a line says behind its path: owner, type, and of a file mode, size and time."""
_PIECE, _ROOM, _GROWS = 1 << 16, 1 << 20, 50
"""Bytes that are unpacked at a time, that any list may have, and by how much more than it is packed one may be: most of
it are sums, which do not shrink. A server may send what grows by a thousand."""
_FIELDS = {
    "f": ("owner", "type", "mode", "size", "time"),
    "d": ("owner", "type", "mode"),
    "l": ("owner", "type"),
}


@dataclass(frozen=True, slots=True)
class Differences:
    """What two lists differ in.

    Attributes:
        said: the first files and how they differ, in words; empty where the lists name none.
        files: every one: the label of its data root and its path below that, byte 1 for a line break.
        all: the lists were whole, so nothing else differs.
    """

    description: str
    files: tuple[tuple[str, str], ...]
    all: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a list: its data root by its place, label and link; its path and the rest."""

    root: int
    heading: tuple[str, str]
    path: bytes
    rest: bytes = b""

    @property
    def place(self) -> tuple[int, bytes]:
        """Both lists are in the order of it."""
        return self.root, self.path


def describe_first_difference(expected: str, found: str) -> str:
    """The first line that is not the same, as either side has it."""
    pairs = zip_longest(lines_of(expected), lines_of(found), fillvalue="nothing")
    differing = next((pair for pair in pairs if pair[0] != pair[1]), None)
    if differing is None:
        return "the lines are the same, their line endings differ"
    return "{} there, {} here".format(*differing)


def describe_inventory_difference(expected: str, found: str) -> str:
    """Return a sentence that names the first lines that only one of the two inventories has."""
    before, now = lines_of(expected), lines_of(found)
    gone, come = (
        "; ".join([line for line in these if line not in those][:_SHOWN]) or "nothing"
        for these, those in ((before, now), (now, before))
    )
    return (
        f"The inventories differ. Only the old cluster had: {gone}. Only the new cluster has: {come}. Such lines can "
        "come from clients that worked during the first inventory, or from the local-only start. Examine them before "
        "you decide."
    )


def compare_lists(old: str, new: str) -> Differences:
    """What differs between two packed lists."""
    apart, whole = _iterate_unequal_lines(_parse_lines(old), _parse_lines(new))
    files: dict[tuple[str, str], str] = {}
    fields: dict[tuple[str, str], dict[str, dict[Side, str]]] = {}
    for side, line in apart:
        file = line.heading[0], _decode(line.path)
        files[file] = _below(line.heading[1], file[1])
        for name, value in _fields(line).items():
            fields.setdefault(file, {}).setdefault(name, {})[side] = value
    named = sorted(f"{path} ({', '.join(_describe_fields(fields[file]))})" for file, path in files.items())
    more = len(named) - _NAMED
    shown = "; ".join(named[:_NAMED]).replace("\1", "\\n").encode(errors="replace").decode()
    said = shown + (f"; and {units.count(more)} more" if more > 0 else "")
    return Differences(said, tuple(files), whole)


def _describe_fields(fields: dict[str, dict[Side, str]]) -> list[str]:
    """What of a file differs: of one side alone, there is only that."""
    known = {side for values in fields.values() for side in values}
    if len(known) == 1:
        return [f"on the {known.pop()} server only"]
    said = []
    for name, values in fields.items():
        if len(values) == 2 and values[Side.OLD] != values[Side.NEW]:
            old, new = (_format_value(name, values[side]) for side in Side)
            said.append(name if name == "content" else f"{name} {old} on the old server, {new} on the new server")
    return said


def _format_value(name: str, value: str) -> str:
    return f"{datetime.fromtimestamp(int(value), UTC):%Y-%m-%d %H:%M:%S}" if name == "time" else value


def _fields(line: _Line) -> dict[str, str]:
    """What the line says of its name."""
    alike, _, content = _decode(line.rest).partition("\2")
    alike, _, target = alike.partition(" -> ")
    words = alike.split(" ")
    fields = dict(zip(_FIELDS.get(words[1], _FIELDS["d"]), words, strict=False))
    if words[1] == "f":
        fields["content"] = content
    if words[1] == "l":
        fields["target"] = target
    return fields


def _below(link: str, path: str) -> str:
    return f"{link}/{path}" if link else path


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _iterate_unequal_lines(old: Iterator[_Line], new: Iterator[_Line]) -> tuple[list[tuple[Side, _Line]], bool]:
    """The lines that one side alone has, each with that side, up to where a list ends; whether both were whole."""
    found: list[tuple[Side, _Line]] = []
    one, other = next(old, None), next(new, None)
    while one is not None and other is not None and len(found) < _MOST:
        if one == other == _END:
            return found, True
        if one == other:
            one, other = next(old, None), next(new, None)
        elif one.place <= other.place:
            found.append((Side.OLD, one))
            one = next(old, None)
        else:
            found.append((Side.NEW, other))
            other = next(new, None)
    return found, False


_END = _Line(1 << 30, ("", ""), b"")
"""Behind the last line of a whole list."""


def _parse_lines(packed: str) -> Iterator[_Line]:
    """The lines of a packed list and `_END`, but of one that is cut off, or that no list is, the whole lines alone."""
    root, heading = 0, ("", "")
    for line in _decompress_lines(packed):
        if line is None:
            yield _END
            return
        path, _, behind = line.partition(_BETWEEN)
        if path and _REST.fullmatch(behind) is None:
            return
        if path:
            yield _Line(root, heading, path, behind)
        else:
            label, _, link = _decode(behind).partition("\2")
            root, heading = root + 1, (label, link)


def _decompress_lines(packed: str) -> Iterator[bytes | None]:
    """The lines in what is packed, behind the last of all None; of what grows more than a list does no more."""
    try:
        data = base64.b64decode(packed)
        unpacking = zlib.decompressobj(wbits=31)
        rest, room = b"", _ROOM + len(data) * _GROWS
        while data and room > 0 and len(rest) < _ROOM:
            piece = unpacking.decompress(data, _PIECE)
            data, room = unpacking.unconsumed_tail, room - len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
    except (ValueError, zlib.error):  # no base64, or nothing that gzip has packed
        return
    if unpacking.eof:
        yield None
