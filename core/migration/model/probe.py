"""A short measurement of one link of the copy chain. SI base units."""

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
    END_TO_END = "end-to-end"


@dataclass(frozen=True, slots=True)
class Probe:
    """A short measurement of one link of the copy chain. A rate in bytes a second; `seconds` and `bytes` measured."""

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


class ProbeJournal(Protocol):
    """Who records a probe; implemented by the history."""

    def probe_taken(self, move: str, probe: Probe) -> None:
        """Record one probe of a move."""
        ...
