"""The declaration of a check; a module of checks lists each with the function that compares."""

from collections.abc import Callable
from dataclasses import dataclass

from core.migration.findings.finding import CheckContext, Finding


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a check is, apart from any move.

    Attributes:
        blocking: it can stop a real execution; an unknown then counts as a blocker.
        compares: what it compares on both servers, for people.
        page: the page of PostgreSQL's documentation that says why.
    """

    id: str
    title: str
    blocking: bool
    compares: str
    page: str

    @property
    def severity(self) -> str:
        """`blocker` where it can stop a real execution, else `warning`."""
        return "blocker" if self.blocking else "warning"


Check = tuple[Declaration, Callable[[CheckContext], Finding]]
