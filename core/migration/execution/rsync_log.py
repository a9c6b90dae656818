"""What a pass writes while it runs and at its end: rsync's progress lines, taken out of its log, and its figures.

With --info=progress2 rsync writes the bytes that it is through with and what part of all that is, again and again, each
time after a carriage return: `  1,234,567  12%  10.00MB/s    0:00:09 (xfr#5, to-chk=3/9)`. Source: progress.c. Several
streams are told apart by the name of their log (see `stream_logs`); how much lies ahead, the list of files has said
(see `file_lists`). pg_checksums --progress writes lines of its own: `  12/345 MB (3%) computed`.
"""

import re
from contextlib import suppress

from core.errors import ParseError
from core.migration.transports.rsync_output import parse_rsync

_PROGRESS = re.compile(rb"^\s*([\d,.']{1,30})\s+(\d{1,3})%\s+\S+/s\s")
_CHECKED = re.compile(rb"^ *(\d{1,18})/(\d{1,18}) MB \(\d{1,3}%\) computed$")
_STREAM = re.compile(rb"^==> (.*)<==$")
_AHEAD = re.compile(rb"^(\d{1,18}) bytes in \d{1,18} files to send$")
_THROUGH = re.compile(rb"^Total transferred file size: ([\d,.']{1,30}) bytes")
_CHANGED = re.compile(r"(?m)^(\d{1,18}) bytes in \d{1,18} files changed meanwhile$")
_KEPT = 1 << 20
_LONGEST = 1 << 16
"""Bytes of a line: what goes on without an end is a line by then."""


class RsyncLog:
    """The log of one step as it grows.

    Attributes:
        done: bytes that the rsyncs of the step are through with.
        total: all bytes, where they are known: as the step expects, until its list of files says it.
    """

    def __init__(self, total: int | None) -> None:
        self.done = 0
        self.total: int | None = total
        self._ended = 0
        self._running: dict[bytes, int] = {}
        self._stream = b""
        self._rest = b""
        self._text = bytearray()

    def add(self, data: bytes) -> bool:
        """Take in what has come; whether the progress changed."""
        *lines, self._rest = re.split(rb"(?<=[\r\n])", self._rest + data)
        if len(self._rest) > _LONGEST:
            lines, self._rest = [*lines, self._rest], b""
        before = self.done, self.total
        for line in lines:
            self._line(line)
        return (self.done, self.total) != before

    def _line(self, line: bytes) -> None:
        if (found := _STREAM.match(line.rstrip())) is not None:
            self._stream = found[1]
        elif (found := _PROGRESS.match(line)) is not None:
            self._through(_number(found[1]))
        elif (found := _CHECKED.match(line)) is not None:
            self.done, self.total = (int(part) << 20 for part in found.groups())
        elif not self._stream:  # of a stream's own log this is but the end: all of it comes later
            self._said(line)

    def _through(self, number: int) -> None:
        """So far is the rsync that speaks; of a name's end the first line may be cut off, and says less."""
        self._running[self._stream] = max(number, self._running.get(self._stream, 0))
        self._count()

    def _said(self, line: bytes) -> None:
        if (found := _AHEAD.match(line)) is not None:
            self.total = self._ended + int(found[1])
            return
        if (found := _THROUGH.match(line)) is not None:
            self._running.clear()
            self._ended += _number(found[1])
            self._count()
        self._text += line
        del self._text[:-_KEPT]

    def _count(self) -> None:
        """Never back: several rsyncs that ran at once say one after the other that they have ended."""
        self.done = max(self.done, self._ended + sum(self._running.values()))
        if self.total is not None:
            self.total = max(self.total, self.done)

    def text(self) -> str:
        """The end of the log without its progress lines."""
        return (bytes(self._text) + self._rest).decode("utf-8", "replace").lstrip("\r\n")

    @property
    def sent(self) -> int | None:
        """The bytes of files that were sent, of all rsyncs of the step; None where none says it."""
        sizes = []
        for block in re.split(r"(?m)^(?=Number of files:)", self.text())[1:]:
            with suppress(ParseError):
                sizes.append(parse_rsync(block).literal_bytes)
        known = [size for size in sizes if size is not None]
        return sum(known) if known else None


def changed_meanwhile(text: str) -> int | None:
    """Bytes of the files that changed while a warm pass went on, by the last line of what it printed (lists.sh,
    print_changed); None where it did not say."""
    found = _CHANGED.findall(text)
    return int(found[-1]) if found else None


def _number(text: bytes) -> int:
    return int(re.sub(rb"\D", b"", text))
