"""Files of a data directory that a copy may not bring over as they are: hard links, holes, strangers' and leftovers.

One walk over names and inodes at low priority, as the data directory's owner, who is the one that will copy.
"""

import re

from core.facts.host_environment import IrregularFiles
from core.facts.sections import Section, decode_hexadecimal
from core.facts.sizes import DEADLINE
from core.facts.text import first_line, unreadable_error

_KINDS = ("hard-link", "sparse", "foreign", "unreadable", "partial", "special")


def parse_irregular_files(text: str) -> tuple[str, IrregularFiles]:
    """The data directory's mode in octal, and the odd files.

    Raises:
        ParseError: a line is none of ours, or the walk did not come to its end.
    """
    mode, holes = None, None
    counts, examples = dict.fromkeys((*_KINDS, "empty"), 0), dict[str, list[str]]()
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        kind, _, number = rest.partition(" ")
        if word == "mode" and re.fullmatch("[0-7]{3,4}", rest):
            mode = rest
        elif word == "holes" and re.fullmatch("[0-9]{1,20}", rest):
            holes = int(rest)
        elif word == "count" and kind in counts and re.fullmatch("[0-9]{1,18}", number):
            counts[kind] = int(number)
        elif word in _KINDS and rest.startswith("="):
            examples.setdefault(word, []).append(_path(rest[1:], line))
        else:
            raise unreadable_error("find", "a kind of file and its path", line)
    # `holes` is the walk's last line: without it no count is of all files
    if mode is None or holes is None:
        raise unreadable_error("find", "the mode of the data directory and a count", first_line(text))
    return mode, IrregularFiles(
        hard_links=counts["hard-link"],
        sparse=counts["sparse"],
        sparse_bytes=holes,
        foreign=counts["foreign"],
        unreadable=counts["unreadable"],
        partial=counts["partial"],
        examples={kind: tuple(paths) for kind, paths in examples.items()},
        empty=counts["empty"],
        special=counts["special"],
    )


def _path(digits: str, line: str) -> str:
    try:
        # the walk turned line breaks of names into byte 1, as lines end its records
        return decode_hexadecimal(digits).replace("\x01", "\n")
    except ValueError as error:
        raise unreadable_error("find", "hexadecimal digits", line) from error


SECTION = Section("irregular-files", "file kinds", ("irregular_files",), parse_irregular_files, deadline=DEADLINE)
