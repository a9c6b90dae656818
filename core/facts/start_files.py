"""Whether a server could be started with its files as they stand, and what of them is not in force.

`postgres -C` reads the files as a start does, and starts nothing. pg_file_settings alone does not tell: it has the same
words for a value that no server takes and for one that waits for a restart.
"""

from dataclasses import dataclass

from core.facts.catalog import Edited
from core.facts.sections import Section, decode_hexadecimal
from core.facts.text import first_line, unreadable_error


@dataclass(frozen=True, slots=True)
class StartFiles:
    """What the server program says of the files.

    Attributes:
        complaints: a line each.
        edited: settings that were edited, and are not in force; None: too many may be.
        options: settings that the running server's command line gives, and the files alone would not; None likewise.
    """

    complaints: tuple[str, ...]
    edited: tuple[Edited, ...] | None
    options: tuple[Edited, ...] | None = ()


def parse_start_files(text: str) -> StartFiles:
    """The complaints and the settings.

    Raises:
        ParseError: a line is none of ours, or the last one is not there.
    """
    lines = text.splitlines()
    if not lines or lines[-1] != "whole":
        raise unreadable_error("postgres -C", "a last line 'whole'", first_line(text))
    complaints = list[str]()
    found: dict[str, list[Edited]] = {"edited": [], "option": []}
    for line in lines[:-1]:
        kind, _, rest = line.partition(" ")
        try:
            if kind == "complaint":
                complaints.append(decode_hexadecimal(rest))
                continue
            if kind == "beyond":
                del found[rest]
                continue
            name, hidden, values = rest.split(" ")
            in_force, in_file = map(decode_hexadecimal, values.split("|"))
        except (KeyError, ValueError) as error:
            raise unreadable_error("postgres -C", "a complaint, or a setting with two values", line) from error
        if kind not in found:
            raise unreadable_error("postgres -C", "a complaint, or a setting with two values", line)
        known = hidden != "t"
        found[kind].append(Edited(name, in_force if known else None, in_file if known else None))
    edited, options = (None if each is None else tuple(each) for each in map(found.get, ("edited", "option")))
    return StartFiles(tuple(complaints), edited, options)


SECTION = Section("start-files", "startup configuration", ("cluster_start_files",), parse_start_files, deadline=30)
