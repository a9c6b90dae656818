"""What a page says about the chosen row, beside its list: a title, a sentence, and paragraphs with a label each."""

import re
from dataclasses import dataclass

from core import units
from core.tones import Tone

_COMMAND = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text with its label; `commands` can be copied one by one."""

    title: str
    text: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """A row in full. `status` stands above the title in its tone; `link` leads to the documentation."""

    title: str
    status: str = ""
    tone: Tone = Tone.MUTED
    lead: str = ""
    paragraphs: tuple[Paragraph, ...] = ()
    link: str = ""


def told(*paragraphs: Paragraph) -> tuple[Paragraph, ...]:
    """Return the paragraphs that say something."""
    return tuple(one for one in paragraphs if one.text not in ("", units.ABSENT))


def commands_in(text: str) -> tuple[str, ...]:
    """Return what stands in backticks in a sentence."""
    return tuple(_COMMAND.findall(text))
