"""What every reader of a program's output needs: its first line, what it complains of, and how it is shown."""

import json
import re
import unicodedata

from core.errors import ParseError

_ODD, _ODD_IN_LINES = re.compile(r"[^ -~]"), re.compile(r"[^ -~\n\t]")
_FORMULA = re.compile(r"((?:^|[;\t\n])[\" ]*)(?=[=+@\t＝＋－＠-])")
_CODE = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))")
"""A code span, which has equally many backticks on both sides: CommonMark, `Code spans`."""
_NAME = re.compile(r"\S*(?:[\d@_]|\w\w\.\w)")
"""What begins with the name of a file, a unit, a setting or a server: no other word holds one of these signs."""
END_MARK = "# whole"
"""The last line of what a function of the remote half prints, where a part of an answer could be taken for all."""


def lines_of(text: str) -> list[str]:
    """The lines of what a server, or a program there, has written.

    str.splitlines would also split at signs such as a form feed. Any account of the host can have them in its names and
    files, which would then imitate lines of the remote half.
    """
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def first_line(text: str) -> str:
    """The first line that says something, without the blanks around it; empty where there is none."""
    return next((line.strip() for line in lines_of(text) if line.strip()), "")


def own_sentence(text: str) -> str:
    """The sentence by which a function of the remote half ended, `pghaul: WHY`; empty where there is none."""
    own = (line.removeprefix("pghaul: ").strip() for line in lines_of(text) if line.startswith("pghaul: "))
    return next(own, "")


def complaint(text: str) -> str:
    """What a command's standard error says went wrong: the sentence of a function of ours, else its first line."""
    return own_sentence(text) or first_line(text)


def counted(text: str, what: str) -> tuple[str, ...]:
    """The lines of a list whose last line says how many they are, such as `# 3 sessions`.

    Raises:
        ParseError: not all of it came.
    """
    *lines, end = lines_of(text) or [""]
    if end != f"# {len(lines)} {what}":
        raise ParseError(f"the list of {what} is not whole: it ends in {end!r}")
    return tuple(lines)


def code(text: str) -> str:
    """The text as code within a sentence, between backticks as Markdown has them."""
    mark = "`"
    while mark in text:
        mark += "`"
    return f"{mark} {text} {mark}" if "`" in text else f"{mark}{text}{mark}"


def code_spans(text: str) -> list[tuple[str, bool]]:
    """The parts of a sentence, each with whether it is code; code comes without its backticks."""
    parts = _CODE.split(text)
    found = [(_bare(part, parts[at + 1]) if at % 3 == 1 else part, at % 3 == 1) for at, part in enumerate(parts[:-1])]
    return [each for at, each in enumerate([*found, (parts[-1], False)]) if at % 3 != 2 and each[0]]


def _bare(span: str, mark: str) -> str:
    inside = span.removeprefix(mark).removesuffix(mark)
    return inside[1:-1] if inside.startswith(" ") and inside.endswith(" ") and inside.strip() else inside


def capital(text: str) -> str:
    """The text as it begins a sentence: with a capital letter, unless its first word is a name."""
    return text if _NAME.match(text) else f"{text[:1].upper()}{text[1:]}"


def sentence(text: str) -> str:
    """The text as it begins a sentence, with a full stop at its end, where it has none."""
    said = capital(text)
    return said if not said or said.endswith((".", "!", "?", ":", "`")) else f"{said}."


def no_formula(text: str) -> str:
    """For a cell of CSV: no spreadsheet takes it for a formula (OWASP, `CSV Injection`), and no terminal is steered.

    A spreadsheet of another country separates cells by semicolons or tabs. It takes the quotes around a cell for text,
    and so begins a new cell behind such a sign or a line end within the cell.
    """
    return text if text in {"-", "–"} else _FORMULA.sub(r"\1'", printable_lines(text))


def printable(text: str) -> str:
    """Text that a server may have written, for people: what could steer a terminal, break a line or turn the direction
    of writing is shown as its code, `\\x1b` or `\\u202e`; blanks of every width stay.

    Whatever shows text calls it where it shows it: `show` and `say` of the terminal, and the window's widgets.
    """
    return _ODD.sub(_shown, text)


def printable_lines(text: str) -> str:
    """The same for text of several lines: their ends stay, and so do tabs."""
    return _ODD_IN_LINES.sub(_shown, text)


def json_printable(document: str) -> str:
    """The same for a JSON document, which stays one: its strings have codes of their own."""
    return _ODD_IN_LINES.sub(lambda found: found[0] if _harmless(found[0]) else json.dumps(found[0])[1:-1], document)


def _shown(found: re.Match[str]) -> str:
    return found[0] if _harmless(found[0]) else repr(found[0])[1:-1]


def _harmless(sign: str) -> bool:
    return sign.isprintable() or unicodedata.category(sign) == "Zs"
