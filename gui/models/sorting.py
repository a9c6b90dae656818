"""The order of cells: numbers by their values, words alphabetically."""

import re

from core import units

_UNITS = {
    "d": 86400.0,
    "h": 3600.0,
    "min": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "µs": 1e-6,
    "ns": 1e-9,
    **{f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGTPE", 1)},
    **{f"{prefix}B/s": 1000.0**power for power, prefix in enumerate(("", "k", "M", "G", "T"))},
    **{f"{prefix}bit/s": 1000.0**power for power, prefix in enumerate(("", "k", "M", "G", "T"))},
}
_PART = re.compile(r"(-?\d[\d.]*)\s*([^\W\d_]+(?:/s)?)?")
"""A number and its unit, if it has one."""


def figure(text: str) -> float:
    """Return the value of a cell that `core.units` has written, such as `4 h 05 min`; no value comes first."""
    if text in {"", units.ABSENT}:
        return float("-inf")
    joined = text.replace("\u202f", "").split(" ± ")[0]
    parts = _PART.findall(joined)
    return sum(float(number) * _UNITS.get(unit, 1.0) for number, unit in parts) if parts else float("-inf")
