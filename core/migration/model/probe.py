"""A short measurement of one link of the copy chain. SI base units."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.migration.model.transport import Transport


class Quantity(StrEnum):
    """What a probe measures."""

    READ = "read"
    WIRE = "wire"
    SSH = "ssh"
    WRITE = "write"
    SUMS = "sums"
    SUSTAINED = "sustained write"
    """What the new server's disk still takes when a cache is full and credits are used up."""
    END_TO_END = "end-to-end"
    CHANGES = "changes"
    """How much the old cluster changes, by a watch: of WAL. No link of the chain."""
    DUMP = "dump"
    LOAD = "load"
    INDEX = "index"
    """Of a dump & restore: what COPY puts out on the old and takes on the new server, in bytes of table, and the index
    that is built there, in its own bytes; each by one process. No links of the chain."""


OF_A_DUMP = frozenset({Quantity.DUMP, Quantity.LOAD, Quantity.INDEX})
"""What tells of a dump & restore alone."""


_CONNECT = re.compile(r"^connect (\d{1,19})$", re.MULTILINE)
_CUT_OFF = re.compile(r"^cut off$", re.MULTILINE)
_READ_BACK = re.compile(r"^read back (\d{1,19})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Probe:
    """A short measurement of one link of the copy chain. A rate in bytes a second; `seconds` and `bytes` measured.

    Of a watch two are recorded: that it was begun, with no seconds and its length as `raw`, and what it saw; where it
    ended before it saw anything that, with no seconds, as a pass (`began_at`) of its own.
    """

    quantity: Quantity
    bytes_per_second: float
    bytes: int
    seconds: float
    method: str
    """How, for people: `dd of 42 relation files, cold`, `iperf3, 1 stream`."""
    command: str
    raw: str
    taken_at: datetime
    transport: Transport | None = None
    """What was tried; None: a link that is the same for every transport."""
    ratio: float | None = None
    """Bytes of files for each byte that crossed the wire; None: not told."""
    began_at: datetime | None = None
    """When the pass of probes began that it belongs to."""

    @property
    def connect_seconds(self) -> float | None:
        """What a pass over nothing took by itself, as `send_sample` printed it; None: not told."""
        found = _CONNECT.search(self.raw)
        return int(found[1]) / 1e9 if found is not None else None

    @property
    def cut_off(self) -> bool:
        """Whether the sample was ended before all of it was sent, as `send_sample` printed it."""
        return _CUT_OFF.search(self.raw) is not None

    @property
    def read_back_bytes_per_second(self) -> float | None:
        """How fast the new server's disk gave back what `write_probe` had written; None: not told."""
        found = _READ_BACK.search(self.raw)
        return self.bytes / (int(found[1]) / 1e9) if found is not None and int(found[1]) else None


class ProbeJournal(Protocol):
    """Who records a probe; implemented by the history."""

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        ...
