"""Hand out what the history holds of a move."""

from pathlib import Path

from core.actions.desk import Desk
from core.reports.pdf import write_pdf
from core.reports.report import build


def report(desk: Desk, move: str, path: Path) -> Path:
    """Everything that the history holds of the move, as a PDF."""
    write_pdf(build(desk.store, move), path)
    desk.store.record_report(move, path)
    return path
