"""The report as a PDF: typst with the fonts that ship, PDF/A-2a and PDF/UA-1, the same bytes for the same report."""

import contextlib
import json
import os
import tempfile
from pathlib import Path

import typst

from core import settings
from core.errors import InputError
from core.reports.document import document
from core.reports.report import Report


def write_pdf(report: Report, path: Path) -> None:
    """Write the report to `path`, an existing file replaced in one go; on failure the old one stays.

    Raises:
        InputError: the folder is not there, is no folder or may not be written, `path` is a folder, the disk is full.
    """
    path = path.expanduser().absolute()
    if path.is_dir():
        raise InputError(f"{path} is a folder", "name a file in it, such as report.pdf")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} for the report", "make it first, or choose another one")
    content = render(report)
    try:
        _replace(path, content)
    except OSError as error:
        raise InputError(
            f"the report {path} cannot be written: {(error.strerror or str(error)).lower()}",
            "choose a folder that you may write to and that has room",
        ) from error


def render(report: Report) -> bytes:
    """The PDF's bytes."""
    try:
        return _compiled(report, plain=False)
    except typst.TypstError as error:
        # a letter of one font between accents of others: no font can shape the three together
        if "could not be displayed" not in error.message:
            raise
        return _compiled(report, plain=True)


def compiler(report: Report, *, plain: bool = False) -> typst.Compiler:
    """Typst with the template, the report and the fonts that ship, and no others."""
    folder = settings.resource("report")
    loaded = typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[settings.resource("fonts")]
    )
    if not loaded.families():
        # typst would leave every text out and say nothing
        raise FileNotFoundError(f"no fonts in {settings.resource('fonts')}")
    return typst.Compiler(
        input=folder / "report.typ",
        root=folder,
        font_paths=loaded,
        sys_inputs={"report": json.dumps(document(report, plain=plain), ensure_ascii=False)},
    )


def _compiled(report: Report, *, plain: bool) -> bytes:
    made_at = int(report.made_at.timestamp())
    content = compiler(report, plain=plain).compile(format="pdf", pdf_standards=["a-2a", "ua-1"], timestamp=made_at)
    if not isinstance(content, bytes):
        raise TypeError("typst gave no single file")
    return content


def _replace(path: Path, content: bytes) -> None:
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(made).unlink()
        raise
