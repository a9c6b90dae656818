"""Which report is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core import api
from core.migration.model.standing import Condition, Mark, Milestone

if TYPE_CHECKING:
    from core.api.session import Session
    from core.jobs import Job


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The report that is asked for; `kind`, `shape` and `paper` are words of the command line.

    `move` None: all moves. `logo`: the path of its file, empty for none.
    """

    move: str | None
    kind: str
    shape: str = "pdf"
    language: str = "en"
    paper: str = "a4"
    masked: bool = False
    appendices: bool = False
    company: str = ""
    logo: str = ""

    def write(self, path: Path, binary: bool, session: "Session", job: "Job") -> Path:
        """Write the report, and return its path; `binary`: sizes in GiB, else in GB."""
        job.check()
        options = api.reports.Options(
            language=self.language,
            paper=api.reports.Paper(self.paper),
            binary=binary,
            masked=self.masked,
            company=self.company,
            logo=api.reports.read_logo(Path(self.logo)) if self.logo else None,
            raw=self.appendices,
            functions=self.appendices,
        )
        kind, shape = api.reports.Kind(self.kind), api.reports.Format(self.shape)
        words = [] if self.move is None else [self.move]
        return api.reports.write_report(session, kind, words, path, shape, options, replacing=True)


def kind_for(marks: Sequence[Mark]) -> str:
    """Return the kind of report that fits the furthest milestone of a move."""
    reached = {mark.milestone for mark in marks if mark.condition is not Condition.OPEN}
    if Milestone.MOVE in reached:
        return "execution"
    if reached & {Milestone.ESTIMATE, Milestone.PLAN} or Milestone.MEASURE not in reached:
        return "plan"
    return "storage"
