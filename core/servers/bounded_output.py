"""The output of a command up to a limit, so that a command that writes without end does not fill the memory."""

LIMIT = 64 << 20
"""Bytes kept of one output of one command: 64 MiB."""


class BoundedOutput:
    """The first `limit` bytes of an output, and the number of bytes that were dropped after them."""

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
        """Return the output as text. Bytes that are not UTF-8 become U+FFFD."""
        text = self.data.decode("utf-8", errors="replace")
        return f"{text}\n[{self.dropped} more bytes were not kept]" if self.dropped else text
