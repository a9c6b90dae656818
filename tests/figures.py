"""What tests hold of a sentence, whatever its wording: its figures, and that it differs from another one."""

import re
from collections.abc import Iterable

_UNIT = r" ?(?:%|×|[KMGT]iB|[kMGT]?B(?:/s)?|IOPS|[mµ]?s|min|h|d)(?![\w/])"
_FIGURE = re.compile(rf"(?<![\w.,/-])\d+(?:[.,:]\d+)*(?![\w/-])(?:{_UNIT})?(?: \d\d (?:min|s)\b)*")


def figures(text: str) -> list[str]:
    """Numbers with their units, in their order: `['20 min 00 s', '3']` of `up to 20 min 00 s left, and 3 suites`."""
    return _FIGURE.findall(text)


def without(words: Iterable[str], text: str) -> str:
    """A text without the words that were typed: what two of them say differs where they still differ then."""
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "")
    return text
