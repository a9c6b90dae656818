"""From the answers of a round trip to facts: what cannot be read becomes a gap with its reason, and never a value."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from core.errors import ParseError
from core.facts.model import Gap
from core.facts.sections import Answer

T = TypeVar("T")


def expect(answer: Answer | None) -> Answer:
    """The answer, if it came and its command succeeded.

    Raises:
        ParseError: it did not; the message is the reason.
    """
    if answer is None:
        raise ParseError("it was not reached")
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

    def read(self, name: str, subject: str, parse: Callable[[str], T]) -> T | None:
        """What `parse` makes of the section's text; None, and a gap, where there is none or it cannot be read."""
        try:
            return parse(expect(self._answers.get(name)).text)
        except ParseError as error:
            self._missing(name, subject, error.message)
            return None

    def read_partly(self, name: str, subject: str, parse: Callable[[str], T]) -> T | None:
        """As `read`, but whole lines of a section that was cut off or failed are used, beside the gap."""
        answer = self._answers.get(name)
        if answer is None or answer.status == 0:
            return self.read(name, subject, parse)
        self._missing(name, subject, answer.reason)
        try:
            return parse(answer.text[: answer.text.rfind("\n") + 1])
        except ParseError:
            return None

    def _missing(self, name: str, subject: str, reason: str) -> None:
        answer = self._answers.get(name)
        absent = answer is not None and answer.absent
        in_words = f"{subject} of {self._of}" if self._of else subject
        self.gaps.append(Gap(name, in_words, reason, self._of, absent=absent))
