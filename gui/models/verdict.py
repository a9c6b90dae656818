"""The answer of a page in a sentence, and the numbers behind it."""

from dataclasses import dataclass

from core.tones import Tone


@dataclass(frozen=True, slots=True)
class Counter:
    """How many rows of a kind there are."""

    id: str
    name: str
    number: int
    tone: Tone = Tone.MUTED


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to what a page is asked."""

    text: str
    tone: Tone
