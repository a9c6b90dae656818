"""Text that came through a mail, a forum or a web page: as the program printed it, before it was quoted."""

import html
import re

_ENCODED = re.compile(r"=3D|^Content-Transfer-Encoding:[ \t]*quoted-printable", re.MULTILINE | re.IGNORECASE)
# RFC 2045: no line is longer than 76 characters; a bar of equals signs is no soft line break
_SOFT_BREAK = re.compile(r"^[^\n]{60,75}(?<!=)=\r?$", re.MULTILINE)
_FEWEST_BREAKS = 2
_BYTES = re.compile(r"(?:=[0-9A-F]{2})+")
_QUOTE = re.compile(r"^[ \t]{0,8}>(?:[ \t]?>)*[ \t]?", re.MULTILINE)
_FORUM = re.compile(r"\[/?(?:b|i|code|quote|pre)\]", re.IGNORECASE)
_BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u200b": None, "\ufeff": None})


def plain(text: str) -> str:
    """The text without quoted-printable, quote marks, HTML's escapes, a forum's tags and odd blanks.

    Quoted-printable (RFC 2045) is undone only where something shows it, as `=12` stands in many an output.
    """
    if _ENCODED.search(text) or len(_SOFT_BREAK.findall(text)) >= _FEWEST_BREAKS:
        text = _BYTES.sub(_decoded, re.sub(r"(?<!=)=[ \t]*\r?\n", "", text))
    if "&gt;" in text or "&lt;" in text:
        text = html.unescape(text)
    return _FORUM.sub("", _QUOTE.sub("", text.translate(_BLANKS))) if text else text


def _decoded(found: re.Match[str]) -> str:
    said = bytes.fromhex(found[0].replace("=", "")).decode("utf-8", errors="replace")
    # a control character is none that anybody encoded: the signs mean themselves
    return said if said.isprintable() or said.isspace() else found[0]
