"""`pghaul report`: what is known, as a document for whoever decides, checks or pays."""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.context import Choices, Context, add_common, add_replace, print_document
from core.cli.terminal import show
from core.errors import InputError

if TYPE_CHECKING:
    from core.reports.options import Options

_PAPERS = {"a4": "A4", "letter": "LETTER"}
_SHAPES = ("pdf", "html", "md", "json", "csv", "svg")
_KINDS = ("storage", "plan", "execution", "capacity", "fleet")


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    report = nouns.add_parser(
        "report",
        help="write what is known as PDF, HTML, Markdown or data: storage, plan, execution, capacity, fleet",
    )
    report.add_argument(
        "what",
        nargs="+",
        metavar="[KIND] MOVE | storage SET... | fleet [MOVE...]",
        help="storage, plan, execution or capacity (default: execution once something was carried out, else plan), and "
        "the move; storage also takes two or more sets: runs by number, 12,13, or SERVER:/PATH[@DATE]; fleet takes "
        "moves, or none for all",
    )
    report.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="of csv and svg a folder")
    report.add_argument("--format", choices=_SHAPES, help="default: by the ending of FILE")
    report.add_argument("--language", choices=Choices(_languages), default="en", help="%(choices)s (default: en)")
    report.add_argument("--paper", choices=sorted(_PAPERS), default="a4", help="of a PDF (default: a4)")
    report.add_argument("--decimal", action="store_true", help="sizes in GB, not in GiB")
    report.add_argument("--mask", action="store_true", help="replace names of servers, addresses and people")
    report.add_argument("--company", default="", metavar="NAME", help="whose report it is, at the top of page one")
    report.add_argument("--logo", type=Path, metavar="FILE", help="a PNG or JPEG beside it")
    report.add_argument("--raw", action="store_true", help="append raw values and what the tools printed")
    report.add_argument("--functions", action="store_true", help="append each step's commands and the functions")
    report.add_argument("--at", metavar="TIME", help="when it was made, 2026-11-23T10:00 say, in UTC (default: now)")
    add_replace(report)
    add_common(report)
    report.set_defaults(run=_run)


def _languages() -> list[str]:
    from core.language import languages

    return list(languages())


def _run(context: Context, options: argparse.Namespace) -> int:
    from core.actions import reports as actions
    from core.reports.make import Format, Kind

    shape = Format(_shape(options))
    wanted = _options(options)
    first, *rest = options.what
    if first in _KINDS and (rest or first == Kind.FLEET):
        kind, words = Kind(first), rest
    elif rest:
        raise InputError(f"there is no kind of report {first!r}", f"choose one of: {', '.join(_KINDS)}")
    else:
        words = [first]
        kind = Kind.EXECUTION if context.session.store.executions(first) else Kind.PLAN
    path = actions.report(context.session, kind, words, options.output, shape, wanted, replacing=options.replace)
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
            f"{options.output} does not say what shape the report shall have",
            f"give it an ending, such as .pdf, or name one of: --format {' | '.join(_SHAPES)}",
        )
    return ending


def _options(options: argparse.Namespace) -> "Options":
    from core.reports.model import Paper
    from core.reports.options import Options, read_logo

    return Options(
        language=options.language,
        paper=Paper[_PAPERS[options.paper]],
        binary=not options.decimal,
        masked=options.mask,
        company=options.company,
        logo=None if options.logo is None else read_logo(options.logo),
        raw=options.raw,
        functions=options.functions,
        at=None if options.at is None else _instant(options.at),
    )


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--at: {text!r} is no time", "write it as 2026-11-23T10:00") from error
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
