"""From the answers of a round trip to facts: what cannot be read becomes a gap with its reason, and never a value."""

from collections.abc import Mapping
from typing import TypeVar

from core.errors import ParseError
from core.facts.model import Gap
from core.facts.sections import Answer, Section

T = TypeVar("T")

NOT_REACHED = "it was not reached"
"""Why there is no result where the reading broke off before its section."""


def require_success(answer: Answer | None) -> Answer:
    """Return the answer if it came and its command succeeded."""
    if answer is None:
        raise ParseError(NOT_REACHED)
    if answer.status != 0:
        raise ParseError(answer.reason)
    return answer


class Reader:
    """Reads the answers of one server or of one cluster.

    Attributes:
        gaps: what could not be read so far, and why.
    """

    def __init__(self, answers: Mapping[str, Answer], of: str = "") -> None:
        self._answers = answers
        self._of = of
        self.gaps: list[Gap] = []

    def read(self, section: Section[T]) -> T | None:
        """Return the parsed value of the section, or None and record a gap if it cannot be read."""
        answer = self._answers.get(section.name)
        if answer is not None and len(answer.output) > section.most:
            self._missing(section, f"it is longer than {section.most >> 20} MiB")
            return None
        # Most sections are all or nothing: the first half of a list looks like a short list. Only where each line
        # counts by itself, the whole lines before a failure are kept, beside the gap.
        if section.partly and answer is not None and answer.status != 0:
            self._missing(section, answer.reason)
            try:
                # the last line may be half of one
                return section.parse(answer.text[: answer.text.rfind("\n") + 1])
            except ParseError:
                return None
        try:
            return section.parse(require_success(answer).text)
        except ParseError as error:
            self._missing(section, error.message)
            return None

    def _missing(self, section: Section[T], reason: str) -> None:
        answer = self._answers.get(section.name)
        absent = answer is not None and answer.absent
        begun = answer is not None and answer.copy_begun
        in_words = f"{section.title} of {self._of}" if self._of else section.title
        self.gaps.append(Gap(section.name, in_words, reason, self._of, absent=absent, copy_begun=begun))
