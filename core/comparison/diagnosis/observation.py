"""What one look at a storage saw, before it is joined with its declaration."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.comparison.diagnosis.storage import Figure


@dataclass(frozen=True, slots=True)
class Observation:
    """Evidence with the very values, what to try, and the figures that it rests on (facts alone: none)."""

    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    figures: tuple[Figure, ...] = ()


def observed(evidence: Iterable[str], advice: Iterable[str], *figures: Figure) -> Observation:
    """An observation; empty sentences, of facts that are not known, are left out."""
    return Observation(tuple(text for text in evidence if text), tuple(text for text in advice if text), figures)
