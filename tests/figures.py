"""The figures of a sentence: its numbers with their units, in their order, whatever words stand around them."""

import re

_UNIT = r" ?(?:%|×|[KMGT]iB|[kMGT]?B(?:/s)?|IOPS|[mµ]?s|min|h|d)(?![\w/])"
_FIGURE = re.compile(rf"(?<![\w.,/-])\d+(?:[.,:]\d+)*(?![\w/-])(?:{_UNIT})?(?: \d\d (?:min|s)\b)*")


def figures(text: str) -> list[str]:
    """`['20 min 00 s', '3']` of `up to 20 min 00 s left, and 3 suites`."""
    return _FIGURE.findall(text)
