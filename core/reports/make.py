"""From what is known to a document, and from a document to files: the one way for command line and window."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from core import language, units
from core.errors import InputError
from core.files import check_free, is_folder, write_whole
from core.reports.cutting import changed_first
from core.reports.drawing import svg
from core.reports.kinds.capacity import capacity_report
from core.reports.kinds.execution import execution_report
from core.reports.kinds.fleet import FleetReport, fleet_report
from core.reports.kinds.plan import plan_report
from core.reports.kinds.storage import StorageReport, storage_report
from core.reports.masking import Mask, machine_names, people_names, server_names, user_names
from core.reports.model import Document, drawings, reworded
from core.reports.options import Options
from core.reports.report import Report
from core.reports.shapes.html import html
from core.reports.shapes.markdown import markdown
from core.reports.shapes.tables import as_json, csv_files
from core.system_errors import reason


class Kind(StrEnum):
    """What a report is about."""

    STORAGE = "storage"
    PLAN = "plan"
    EXECUTION = "execution"
    CAPACITY = "capacity"
    FLEET = "fleet"


class Format(StrEnum):
    """The shape of a report: csv and svg are folders with a file for each table, each plot."""

    PDF = "pdf"
    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"
    CSV = "csv"
    SVG = "svg"


_FOLDERS = frozenset({Format.CSV, Format.SVG})
_OF_MOVES: dict[Kind, Callable[[Report, Options], Document]] = {
    Kind.PLAN: plan_report,
    Kind.EXECUTION: execution_report,
    Kind.CAPACITY: capacity_report,
}


@contextmanager
def written_as(options: Options) -> Iterator[None]:
    """Within it texts and numbers are those of the options."""
    with language.spoken(options.language), units.styled(replace(units.current(), binary=options.binary)):
        yield


def of_move(kind: Kind, report: Report, options: Options) -> Document:
    """The document of a move; all but storage and fleet."""

    def mask() -> Mask:
        profiles = (report.old, report.new, *report.others)
        owners = [one.owner for one in report.executions]
        owners += [check.waiver.by for check in report.checks or () if check.waiver is not None]
        facts = (report.old_facts, report.new_facts)
        roles = [one.plan.queries.role for one in report.executions if one.plan.queries is not None]
        servers = (*server_names(profiles, facts), *machine_names(report.runs))
        return Mask(servers, people_names(profiles, owners), user_names(profiles, facts, roles))

    return _document(lambda: _OF_MOVES[kind](report, options), mask, options)


def of_storage(report: StorageReport, options: Options) -> Document:
    """The document of a comparison of storages."""

    def mask() -> Mask:
        measured = (run.volume.server for run in report.runs)
        servers = (*measured, *server_names(report.profiles, report.facts), *machine_names(report.runs))
        users = user_names(report.profiles, report.facts)
        return Mask(servers, people_names(report.profiles, ()), users)

    return _document(lambda: storage_report(report, options), mask, options)


def of_fleet(report: FleetReport, options: Options) -> Document:
    """The document of many moves."""

    def mask() -> Mask:
        profiles = [*(each.profile for each in report.servers), *report.others]
        facts = [each.facts for each in report.servers]
        people = people_names(profiles, [one.moved_by for one in report.moves])
        return Mask(server_names(profiles, facts), people, user_names(profiles, facts))

    return _document(lambda: fleet_report(report, options), mask, options)


def _document(made: Callable[[], Document], mask: Callable[[], Mask], options: Options) -> Document:
    with written_as(options):
        if not options.masked:
            return made()
        change = mask().text
        with changed_first(change):
            return reworded(made(), change)


def check_place(shape: Format, path: Path, *, replacing: bool = False) -> None:
    """Before any work is done for it: a report of that shape may be written to `path`, a file or a folder.

    Raises:
        InputError: the folder is not there or is no folder, `path` is a folder, or a file that is not to be replaced.
    """
    path = path.expanduser().absolute()
    folder = shape in _FOLDERS
    if is_folder(path) and not folder:
        raise InputError(f"{path} is a folder", f"name a file in it, such as report.{shape.value}")
    if os.path.lexists(path) and folder and not is_folder(path):
        raise InputError(f"{path} is a file", f"name a folder: {shape.value} writes several files")
    if not is_folder(path.parent):
        raise InputError(f"there is no folder {path.parent} for the report", "create it first, or choose another one")
    if not folder:
        check_free(path, replacing=replacing)


def write(document: Document, options: Options, shape: Format, path: Path, *, replacing: bool = False) -> None:
    """Write the report to `path`, each file in one go; on failure what lay there stays.

    Raises:
        InputError: see `check_place`; a file is there and not to be replaced, the disk is full.
    """
    check_place(shape, path, replacing=replacing)
    path = path.expanduser().absolute()
    folder = shape in _FOLDERS
    files = {path / name if folder else path: made for name, made in content(document, options, shape).items()}
    for each in files:  # before the first is written
        check_free(each, replacing=replacing)
    try:
        if folder:
            path.mkdir(exist_ok=True)
        for each, made in files.items():
            write_whole(each, made, replacing=replacing)
    except OSError as error:
        raise InputError(
            f"the report {path} cannot be written: {reason(error)}",
            "choose a folder that you may write to and that has room",
        ) from error


def content(document: Document, options: Options, shape: Format) -> dict[str, bytes]:
    """File name to bytes; one file without a name where the shape is one."""
    with written_as(options):
        match shape:
            case Format.PDF:
                # typst takes a fifth of a second to load, and no other shape needs it
                from core.reports.shapes.pdf import pdf

                return {"": pdf(document, options)}
            case Format.HTML:
                return {"": html(document, options).encode()}
            case Format.MARKDOWN:
                return {"": markdown(document).encode()}
            case Format.JSON:
                return {"": as_json(document).encode()}
            case Format.CSV:
                return {name: text.encode("utf-8", "replace") for name, text in csv_files(document).items()}
            case Format.SVG:
                return {
                    f"{number:02d}-{one.name}.svg": svg(one).encode()
                    for number, one in enumerate(drawings(document), 1)
                }
