"""Many small commands in one round trip: each in its own section, with its output, error message and exit status.

The sections run one after the other in one remote shell (resources/sh/sections.sh), between marks of 128 random bits,
so that no output of a server can imitate them. What runs as another user has a mark of its own, which is valid only for
its own answers. A section has a deadline of its own if the server has `timeout`. A section that fails, hangs or prints
nonsense does not affect the others.
"""

import re
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import ParseError
from core.servers.functions import functions
from core.servers.shell import Shell, calls, with_program
from core.text import lines_of

T_co = TypeVar("T_co", covariant=True)

RIGHTS = "rights"
"""Of a gap: a user that the profile names could not be become."""
NO_CLUSTER = "clusters"
"""Of a gap: no data directory was found anywhere."""
LOST = "lost-session"
"""Of a gap: the server ended a session in the middle of a question."""
TRIAL = "trial-cluster"
"""Of a gap: the new server's binaries made no trial cluster."""

_OURS = "pghaul: "
_NOTHING_THERE = 4
"""Exit status of a section that found a folder empty or not there, and said so as its complaint."""
_COPY_BEGUN = 5
"""The same of a folder that holds no more than the mark of a copy that pghaul has begun."""
TOO_LONG = "it took too long"
_STRANGE_DEADLINE = (124, 137)
"""Exit statuses of `timeout`: the command was terminated, or had to be killed."""


@dataclass(frozen=True, slots=True)
class Section(Generic[T_co]):
    """A fact with its declaration: what runs on the server, and how its output is parsed.

    The sections of a host (`collect`, `host`) run with the rights of the profile, those of a cluster
    (`clusters.CLUSTER`) as the owner of its folder.

    Attributes:
        name: plain letters, digits and dashes; a gap names the section by it.
        title: the title for display.
        runs: a function of resources/sh or a plain command, with its arguments.
        parse: converts the output into the value; raises ParseError.
        deadline: the time limit in seconds.
        private: whether the output may contain a secret or a person's name; then it is not stored.
        partly: whether whole lines of an interrupted or failed section are used, besides the gap.
        most: the maximum size of the output in bytes; nothing is read from longer output.
    """

    name: str
    title: str
    runs: tuple[str, ...]
    parse: Callable[[str], T_co]
    deadline: int = 5
    private: bool = False
    partly: bool = False
    most: int = 2 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What one section has printed. `status` is None if it did not come to its end."""

    name: str
    output: bytes
    complaint: str
    status: int | None

    @property
    def text(self) -> str:
        """Return the output as text; bytes that are not UTF-8 become surrogates, so that paths can be passed back."""
        return self.output.decode("utf-8", "surrogateescape")

    @property
    def shown(self) -> str:
        """Return the output for display and for the history."""
        return self.output.decode("utf-8", "replace")

    @property
    def absent(self) -> bool:
        """Return whether the folder of the section is empty or does not exist."""
        return self.status in {_NOTHING_THERE, _COPY_BEGUN}

    @property
    def copy_begun(self) -> bool:
        """Return whether the folder holds no more than the mark of a copy that pghaul has begun."""
        return self.status == _COPY_BEGUN

    @property
    def reason(self) -> str:
        """Why there is no result, in words: a deadline, the complaint, or the bare exit status.

        Of a function of ours the complaint is its sentence, with the last line of what its tools said.
        """
        if self.status is None:
            return "the connection or the time ended before it was read"
        if self.status in _STRANGE_DEADLINE:
            return TOO_LONG
        lines = [line.strip() for line in lines_of(self.complaint) if line.strip()]
        # the last: a helper's complaint may stand ahead of it
        ours = [line.removeprefix(_OURS) for line in lines if line.startswith(_OURS)]
        theirs = [line for line in lines if not line.startswith(_OURS)]
        if ours:
            return f"{ours[-1]} ({theirs[-1]})" if theirs else ours[-1]
        return theirs[-1] if theirs else f"the command ended with exit status {self.status}"


def new_mark() -> str:
    """Return a mark that no output can contain, neither by chance nor on purpose."""
    return f"=={secrets.token_hex(16)}=="


def bundle_sections(mark: str, sections: Sequence[Section[Any]]) -> Shell:
    """Return the shell text that runs the sections in order; it always ends with exit status 0."""
    asked = (("run_section", section.name, str(section.deadline), *section.runs) for section in sections)
    return with_program(functions_of(sections), calls(("sections_begin", mark), *asked))


def functions_of(sections: Sequence[Section[Any]]) -> list[str]:
    """Return the functions of pghaul that the sections run; anything else is a plain command."""
    return [section.runs[0] for section in sections if section.runs[0] in functions()]


def parse_answers(mark: str, asked: Collection[str], output: bytes, complaints: str) -> dict[str, Answer]:
    """Return the answers by the names of their sections.

    A section without an end has status None. A section that never began is missing.

    Args:
        mark: the mark of the round trip.
        asked: the names of the sections.
        output: the standard output.
        complaints: the standard error.
    """
    complaint_of = {name: text for name, text, _ in _split(mark, complaints.encode("utf-8", "surrogateescape"))}
    found: dict[str, Answer] = {}
    for name, text, status in _split(mark, output):
        if name not in asked or name in found:
            raise ParseError(
                f"the answer {name} came {'twice' if name in found else 'unasked'}: nothing here is believed"
            )
        found[name] = Answer(name, text, complaint_of.get(name, b"").decode("utf-8", "replace"), status)
    return found


def _split(mark: str, stream: bytes) -> list[tuple[str, bytes, int | None]]:
    """Return name, text and exit status of each section of a stream; text outside of sections is ignored."""
    begin = re.compile(rb"\n" + re.escape(mark.encode()) + rb" begin ([\w/-]{1,80})\n")
    end = re.compile(rb"\n" + re.escape(mark.encode()) + rb" end ([0-9]{1,3})\n")
    found = []
    opened = begin.search(stream)
    while opened is not None:
        following = begin.search(stream, opened.end())
        # a section that was killed has no end mark: the next one's beginning ends it
        limit = following.start() if following is not None else len(stream)
        # one earlier: an empty output shares its line break with the end mark
        closed = end.search(stream, opened.end() - 1, limit + 1 if following is not None else limit)
        text = stream[opened.end() : closed.start() if closed is not None else limit]
        found.append((opened[1].decode(), text, int(closed[1]) if closed is not None else None))
        opened = following
    return found


def decode_hexadecimal(text: str) -> str:
    """Return a path that a script has printed through `od`, so that every byte of it is preserved."""
    return bytes.fromhex("".join(text.split())).decode("utf-8", "surrogateescape")
