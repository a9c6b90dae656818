"""fio's output, in whichever of its formats: JSON, normal or terse."""

import re
from collections.abc import Sequence
from contextlib import suppress

from core.benchmarks.fio.json_output import looks_like_json, parse_fio_json
from core.benchmarks.fio.log_output import parse_fio_log
from core.benchmarks.fio.normal_output import parse_fio_text
from core.benchmarks.fio.terse_output import parse_fio_terse
from core.benchmarks.model import Output, Result
from core.benchmarks.reading import first_line, unreadable
from core.errors import ParseError
from core.mail import plain

_ERROR = re.compile(r"error=([^(),:]+)")


def parse_fio(text: str) -> Output:
    """Return one result per job, from the JSON, normal or terse output of fio, or from a log.

    If the text contains several of them, the most detailed one counts: JSON, then the normal output.

    Raises:
        ParseError: the text holds no result.
    """
    # a text that holds JSON and more (--output-format=normal,json) says most by that
    if looks_like_json(text):
        try:
            return parse_fio_json(text)
        except ParseError as error:
            failure = error
    else:
        text = plain(text)
        failure = unreadable("fio", "JSON, normal or terse output with a job", first_line(text))
    # what JSON could not tell the others may, and if none can, the first complaint is the one to see
    for parse in (parse_fio_text, parse_fio_terse, parse_fio_log):
        with suppress(ParseError):
            return parse(text)
    raise failure


def failure_of(outputs: Sequence[str], result: Result) -> str:
    """Return the error that fio reported although it printed a result; empty if there is none."""
    if result.errors is not None:
        said = _ERROR.search("\n".join(outputs))
        return f"fio ended with error {result.errors}{': ' + said[1].strip() if said else ''}"
    return "fio was interrupted" if result.interrupted else ""
