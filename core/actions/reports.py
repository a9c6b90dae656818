"""Hand out what the history holds of a move."""

from pathlib import Path

from core.actions.session import Session
from core.reports.pdf import write_pdf
from core.reports.report import build


def report(session: Session, move: str, path: Path, *, functions: bool = False) -> Path:
    """Everything that the history holds of the move, as a PDF; `functions`: with those that the plan calls."""
    write_pdf(build(session.store, move, functions=functions), path)
    session.store.record_report(move, path)
    return path
