"""Outputs that were pasted: as the program printed them, before they were mailed, quoted, logged or coloured.

What stands around an output is the same for every program: the colours of a terminal, the quote marks and the encoding
of a mail, the escapes of a web page, the marks of a comment, the times of a log. It is undone here, before any parser
reads the text, so that no parser needs to know of it.
"""

import html
import re

_CONTROL = re.compile(
    r"""
    \x1b(?:
        \[[0-?]{0,64}[ -/]{0,8}[@-~]               # CSI: colours, the cursor, clearing a line (ECMA-48)
        | \][^\x07\x1b\r\n]{0,512}(?:\x07|\x1b\\)  # OSC: the title of the window, a link
        | [ -/]{0,8}[0-Z\\^-~]
    )
    """,
    re.VERBOSE,
)
_ENCODED = re.compile(r"=3D|^(?i:Content-Transfer-Encoding):[ \t]*quoted-printable", re.MULTILINE)
# RFC 2045, which has no line longer than 76 characters; a bar of equals signs is no soft line break
_SEEMS_ENCODED = re.compile(
    r"""
    =[C-F][0-9A-F]=[89AB][0-9A-F]     # a character of UTF-8
    | =(?:20|09)\r?$                  # a blank at the end of a line
    | ^[^\n]{60,75}(?<!=)=\r?$        # a soft line break
    """,
    re.VERBOSE | re.MULTILINE,
)
_EQUALS = re.compile(r"=(?![0-9A-F]{2}|[ \t]{0,80}\r?$)", re.MULTILINE)
"""An equals sign that stands for itself. Quoted-printable has none."""
_BYTES = re.compile(r"(?:=[0-9A-F]{2})+")
_QUOTE = re.compile(r"^[ \t]{0,8}>(?:[ \t]?>)*[ \t]?", re.MULTILINE)
_FORUM = re.compile(r"\[/?(?:b|i|code|quote|pre)\]", re.IGNORECASE)
_BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u200b": None, "\ufeff": None})
# Windows writes "\r\r\n" where a program had written "\r\n" itself
_LINE_END = re.compile(r"\r{1,4}\n")

_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DAY, _ZONE = r"\d{4}-\d\d-\d\d", r"(?:Z|[ ]?[+-]\d\d:?\d\d)?"
_PREFIXES = tuple(
    re.compile(rf"^{pattern}", re.MULTILINE)
    for pattern in (
        # a log of GitHub, Kubernetes or a container: 2024-05-01T10:00:00.1234567Z stdout F text
        rf"(?:[^\t\n]{{1,80}}\t[^\t\n]{{1,80}}\t)?\[?{_DAY}[T ]{_TIME}{_ZONE}\]?[ ](?:std(?:out|err)[ ][FP][ ])?",
        # the journal: May 01 10:00:00 db1 pgbench[123]: text
        rf"[A-Z][a-z]{{2}}[ ][ \d]\d[ ]{_TIME}[ ][^\s:]{{1,64}}[ ][^\s:]{{1,64}}:[ ]",
        # avocado: 20:22:23 DEBUG| [stdout] text; others: [10:00:00] text
        rf"\[?{_TIME}\]?[ ](?:[A-Z]{{4,8}}[ ]?\|[ ](?:\[std(?:out|err)\][ ])?)?",
        # docker compose: bench_1  | text
        r"[A-Za-z][\w.-]{0,63}[ ]{1,40}\|[ ]",
        # a comment, a list or a table; fio's percentiles begin with a bar themselves
        r"[ \t]{0,8}(?:\#|//|--|\*|\|(?![ ]+\d+\.\d+th=))[ ]",
    )
)
_FEWEST_PREFIXED = 3
_LARGEST_PART = 2
"""A prefix stands before at least one of so many lines that are not blank; rarer ones belong to the output itself."""

_MOST_LAYERS = 3
"""A mail may quote a log of a container, and somebody may have commented out all of it."""


def plain(text: str) -> str:
    """Return the text without what a terminal, a mail, a web page or a log has put around the lines of an output.

    Quoted-printable (RFC 2045) is undone only where something shows it, as `=12` stands in many an output. Prefixes are
    removed only where most lines have them, and an indentation only where all have it.
    """
    if "\x1b" in text:
        text = _CONTROL.sub("", text)
    if _ENCODED.search(text) or (_SEEMS_ENCODED.search(text) and not _EQUALS.search(text)):
        text = _BYTES.sub(_decoded, re.sub(r"(?<!=)=[ \t]*\r?\n", "", text))
    # a document with tags of its own escapes what is no tag
    if ("&gt;" in text or "&lt;" in text) and "</" not in text:
        text = _unescaped(text)
    text = _LINE_END.sub("\n", text.translate(_BLANKS))
    text = _single_spaced(_FORUM.sub("", text))
    for _ in range(_MOST_LAYERS):
        text, outer = _without_prefix(_without_margin(_QUOTE.sub("", text))), text
        if text == outer:
            break
    return _without_margin(text)


def _decoded(found: re.Match[str]) -> str:
    said = bytes.fromhex(found[0].replace("=", "")).decode("utf-8", errors="replace")
    # a control character is none that anybody encoded: the signs mean themselves
    return said if said.isprintable() or said.isspace() else found[0]


def _unescaped(text: str) -> str:
    # quotes of JSON would end where an escaped one is
    if '"' not in text:
        return html.unescape(text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _single_spaced(text: str) -> str:
    """Return the text without the blank line that a web page has put after each of its lines."""
    lines = text.split("\n")
    every_second = lines[1::2]
    doubled = len(every_second) >= _FEWEST_PREFIXED and not any(map(str.strip, every_second))
    return "\n".join(lines[::2]) if doubled else text


def _without_prefix(text: str) -> str:
    written = sum(map(bool, map(str.strip, text.split("\n"))))
    needed = max(min(_FEWEST_PREFIXED, written), written // _LARGEST_PART)
    for prefix in _PREFIXES:
        if sum(1 for _ in prefix.finditer(text)) >= needed:
            text = prefix.sub("", text)
    return text


def _without_margin(text: str) -> str:
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] if line.strip() else line for line in lines) if margin else text
