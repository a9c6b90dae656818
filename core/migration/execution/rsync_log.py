"""What a pass writes while it runs and at its end: rsync's progress lines, taken out of its log, and its figures.

With --info=progress2 rsync writes the bytes that it is through with and what part of all that is, again and again, each
time after a carriage return: `  1,234,567  12%  10.00MB/s    0:00:09 (xfr#5, to-chk=3/9)`. Source: progress.c.
"""

import re
from contextlib import suppress

from core.errors import ParseError
from core.migration.rsync_output import parse_rsync

_PROGRESS = re.compile(rb"^\s*([\d,.']+)\s+(\d{1,3})%\s+\S+/s\s")
_KEPT = 1 << 20


class RsyncLog:
    """The log of one step as it grows.

    Attributes:
        done: bytes that rsync is through with.
        total: all bytes, where they are known.
    """

    def __init__(self, total: int | None) -> None:
        self.done = 0
        self.total: int | None = total
        self._rest = b""
        self._text = bytearray()

    def add(self, data: bytes) -> bool:
        """Take in what has come; whether the progress changed."""
        *lines, self._rest = re.split(rb"(?<=[\r\n])", self._rest + data)
        before = self.done
        for line in lines:
            self._line(line)
        return self.done != before

    def _line(self, line: bytes) -> None:
        found = _PROGRESS.match(line)
        if found is None:
            self._text += line
            del self._text[:-_KEPT]
            return
        self.done = max(self.done, int(re.sub(rb"\D", b"", found[1])))  # several streams write into one log
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
