"""Output that is kept within a bound, so that a command that writes without end does not fill the memory."""

LIMIT = 64 << 20
"""Bytes kept of one output of one command: 64 MiB."""


class Kept:
    """The first `limit` bytes of an output, and how many more there were."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.data = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += data[:room]
        self.dropped += max(0, len(data) - room)

    def remove(self, part: bytes) -> None:
        """Take out one occurrence of `part`."""
        start = self.data.find(part)
        if start >= 0:
            del self.data[start : start + len(part)]

    def text(self) -> str:
        """As text: UTF-8, with U+FFFD for what is none, so that a parser or a log never meets an undecodable byte."""
        text = self.data.decode("utf-8", errors="replace")
        return f"{text}\n[{self.dropped} more bytes were not kept]" if self.dropped else text
