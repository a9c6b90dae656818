"""Text from outside: what bytes of a file or of stdin say, whichever tool or shell wrote them.

A byte order mark decides; PowerShell's `>` writes UTF-16 with one. Without a mark it is UTF-16 where every other byte
is zero, else UTF-8. Bytes that are no UTF-8, and zero bytes, which a crash leaves in a file, become U+FFFD: nothing
stands for them, so that no number is read across the gap.
"""

import codecs
import sys
from pathlib import Path

from core.errors import InputError
from core.system_errors import reason

_UNREADABLE = "\ufffd"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 4096
_MOST = 16 * 2**20
"""Bytes of an input: the inventory of ten thousand servers, with all that is known of each, is shorter."""


def decode(data: bytes) -> str:
    """The text of the bytes; never fails."""
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", _unmarked(data)))
    return data[len(mark) :].decode(encoding, errors="replace").replace("\0", _UNREADABLE)


def _unmarked(data: bytes) -> str:
    sample = data[:_LOOKED_AT]
    half = len(sample) // 2
    if half > 1 and sample[1::2].count(0) > 0.9 * half and sample[::2].count(0) == 0:
        return "utf-16-le"
    if half > 1 and sample[::2].count(0) > 0.9 * half and sample[1::2].count(0) == 0:
        return "utf-16-be"
    return "utf-8"


def read_input(name: str) -> str:
    """The text of a file, or of stdin for `-`; raises InputError that names it, also where it is too long."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MOST + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_MOST + 1)
    except OSError as error:
        raise InputError(
            f"cannot read {name}: {reason(error)}", "check the path and the permissions of the file"
        ) from error
    if len(data) > _MOST:
        raise InputError(
            f"cannot read {name}: it is larger than {_MOST // 2**20} MiB",
            "split the file and read its parts one by one",
        )
    return decode(data)
