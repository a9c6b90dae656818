"""`pghaul report`: the records of a move, as a document."""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.context import Choices, Context, add_common, add_replace, print_document
from core.cli.own_settings import add_from_setting
from core.cli.terminal import show
from core.errors import InputError

if TYPE_CHECKING:
    from core.reports.options import Options

_UNITS = ("binary", "decimal")
_PAPERS = {"a4": "A4", "letter": "LETTER"}
_SHAPES = ("pdf", "html", "md", "json", "csv", "svg")
KINDS = ("storage", "plan", "execution", "capacity", "fleet")


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    report = nouns.add_parser(
        "report",
        help="write a report as PDF, HTML, Markdown or data: on storage, plan, execution, capacity or many moves",
    )
    report.add_argument(
        "what",
        nargs="+",
        metavar="WHAT",
        help="[KIND] MOVE, storage SET…, or fleet [MOVE…]. KIND is storage, plan, execution or capacity (default: "
        "execution if the move has one, else plan). storage also accepts two or more sets: numbers of runs such as "
        "12,13, or SERVER:/PATH[@DATE]. fleet accepts moves (default: all)",
    )
    report.add_argument(
        "-o", "--output", required=True, type=Path, metavar="FILE", help="file to write; with csv and svg a folder"
    )
    report.add_argument(
        "--format", choices=_SHAPES, help="format of the report: %(choices)s (default: by the ending of FILE)"
    )
    add_from_setting(
        report,
        "report.language",
        "--language",
        choices=Choices(_languages),
        help="language of the report: %(choices)s",
        default="en",
        convert=_language,
    )
    add_from_setting(report, "report.paper", "--paper", choices=sorted(_PAPERS), help="paper size of a PDF")
    add_from_setting(
        report, "display.units", "--units", choices=_UNITS, help="units of sizes: binary (GiB) or decimal (GB)"
    )
    report.add_argument(
        "--decimal", dest="units", action="store_const", const="decimal", help="the same as --units decimal"
    )
    add_from_setting(
        report,
        "report.mask",
        "--mask",
        action=argparse.BooleanOptionalAction,
        help="replace the names of servers and people, and addresses, by neutral ones",
        default="--no-mask",
    )
    add_from_setting(
        report,
        "report.company",
        "--company",
        metavar="NAME",
        help="company name at the top of the first page",
        default="none",
    )
    add_from_setting(
        report,
        "report.logo",
        "--logo",
        metavar="FILE",
        help="logo beside the company name: a PNG or JPEG file; '' for none",
        default="none",
    )
    report.add_argument("--raw", action="store_true", help="append the raw values and the output of the tools")
    report.add_argument(
        "--functions", action="store_true", help="append the commands of each step and the shell functions"
    )
    report.add_argument(
        "--at", metavar="TIME", help="date of the report in UTC, for example 2026-11-23T10:00 (default: now)"
    )
    add_replace(report)
    add_common(report)
    report.set_defaults(run=_run)


def _language(chosen: str) -> str:
    """Return the language that a setting stands for here: the command line speaks English."""
    return "en" if chosen == "auto" else chosen


def _languages() -> list[str]:
    from core.language import languages

    return list(languages())


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.api import reports as actions
    from core.reports.make import Format, Kind

    shape = Format(_shape(options))
    wanted = _options(options)
    first, *rest = options.what
    if first in KINDS and (rest or first == Kind.FLEET):
        kind, words = Kind(first), rest
    elif rest:
        raise InputError(f"there is no kind of report {first!r}", f"choose one of: {', '.join(KINDS)}")
    else:
        words = [first]
        kind = Kind.EXECUTION if context.session.store.executions(first) else Kind.PLAN
    path = actions.write_report(context.session, kind, words, options.output, shape, wanted, replacing=options.replace)
    if options.json:
        print_document({"report": path, "kind": kind.value})
    else:
        show(str(path))
    return 0


def _shape(options: argparse.Namespace) -> str:
    ending: str = options.output.suffix.lower().removeprefix(".")
    ending = {"markdown": "md", "htm": "html"}.get(ending, ending)
    if options.format is not None:
        return str(options.format)
    if ending not in _SHAPES:
        raise InputError(
            f"the name {options.output} does not tell the format of the report",
            f"use an ending such as .pdf, or give the format: --format {' | '.join(_SHAPES)}",
        )
    return ending


def _options(options: argparse.Namespace) -> "Options":
    from core.reports.model import Paper
    from core.reports.options import Options, read_logo

    return Options(
        language=options.language,
        paper=Paper[_PAPERS[options.paper]],
        binary=options.units == "binary",
        masked=options.mask,
        company=options.company,
        logo=read_logo(Path(options.logo)) if options.logo else None,
        raw=options.raw,
        functions=options.functions,
        at=None if options.at is None else _instant(options.at),
    )


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--at: {text!r} is not a time", "write it as 2026-11-23T10:00") from error
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
