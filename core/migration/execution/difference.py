"""Where two outputs that should be the same part, in words."""

from itertools import zip_longest


def first_difference(expected: str, found: str) -> str:
    """The first line that is not the same, as either side has it; a sum stands under the line that says of what."""
    pairs = list(zip_longest(expected.splitlines(), found.splitlines(), fillvalue="nothing"))
    at = next(number for number, (one, other) in enumerate(pairs) if one != other)
    about = next((one for one, other in reversed(pairs[:at]) if one == other and not one.endswith("  -")), "")
    one, other = pairs[at]
    return f"{about}: {one} there, {other} here" if about else f"{one} there, {other} here"
