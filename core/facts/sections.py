"""Many small commands in one round trip: each in a section of its own, with its output, complaint and exit status.

The sections run one after the other in one remote shell (resources/sh/sections.sh), between marks that hold 128 random
bits, so that nothing a server prints can pass for them; what runs as another user has a mark of its own, which is good
for the answers that were asked of it alone. A section has a deadline of its own where the server has `timeout`; one
that fails, hangs or prints nonsense spoils no other.
"""

import re
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.errors import ParseError
from core.servers.functions import functions
from core.servers.shell import Shell, calls, with_program

T_co = TypeVar("T_co", covariant=True)

RIGHTS = "rights"
"""Of a gap: a user that the profile names could not be become."""
NO_CLUSTER = "clusters"
"""Of a gap: no data directory was found anywhere."""
LOST = "lost-session"
"""Of a gap: the server ended a session in the middle of a question."""
TRIAL = "trial-cluster"
"""Of a gap: new's binaries made no trial cluster."""

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
    """A fact, declared whole: what runs on the server, and how what that prints is read.

    As whom it runs depends on where it is listed: those of a host (`collect`, `host`) with the rights of the profile,
    those of a cluster (`clusters.CLUSTER`) as the owner of its folder.

    Attributes:
        name: plain letters, digits and dashes; the gap of a section that could not be read carries it.
        title: what it is, in words for people.
        runs: a function of resources/sh or a plain command, with its words.
        parse: text to value; raises ParseError.
        deadline: in seconds.
        private: its text may hold a secret or a person's name: it is not kept.
        partly: whole lines of a section that was cut off or failed are used, beside the gap.
        most: bytes that are read of it; of more nothing is.
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
    """What one section printed. `status` None: it did not come to its end."""

    name: str
    output: bytes
    complaint: str
    status: int | None

    @property
    def text(self) -> str:
        """The output; bytes that are no UTF-8 survive as lone surrogates, so that a path can be given back as it is."""
        return self.output.decode("utf-8", "surrogateescape")

    @property
    def shown(self) -> str:
        """The output for people and for the history."""
        return self.output.decode("utf-8", "replace")

    @property
    def absent(self) -> bool:
        """Whether the folder that it was to look into is empty or not there."""
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
        lines = [line.strip() for line in self.complaint.splitlines() if line.strip()]
        # the last: a helper's complaint may stand ahead of it
        ours = [line.removeprefix(_OURS) for line in lines if line.startswith(_OURS)]
        theirs = [line for line in lines if not line.startswith(_OURS)]
        if ours:
            return f"{ours[-1]} ({theirs[-1]})" if theirs else ours[-1]
        return theirs[-1] if theirs else f"the command ended with exit status {self.status}"


def new_mark() -> str:
    """A mark that no output can hold by chance or by malice."""
    return f"=={secrets.token_hex(16)}=="


def bundle(mark: str, sections: Sequence[Section[Any]]) -> Shell:
    """The sections in their order; it always ends with exit status 0."""
    asked = (("run_section", section.name, str(section.deadline), *section.runs) for section in sections)
    return with_program(programs(sections), calls(("sections_begin", mark), *asked))


def programs(sections: Sequence[Section[Any]]) -> list[str]:
    """The functions that sections run; what is none of ours is a plain command."""
    return [section.runs[0] for section in sections if section.runs[0] in functions()]


def answers(mark: str, asked: Collection[str], output: bytes, complaints: str) -> dict[str, Answer]:
    """The answers by section name; a section whose end is missing has status None, one that never began is absent.

    `asked`: the names of the sections that were asked with this mark.

    Raises:
        ParseError: a section came twice, or one that was not asked: somebody answers who was not asked.
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
    """Name, text and exit status of each section of one stream; what stands outside of the sections is dropped."""
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


def hexadecimal(text: str) -> str:
    """A path that a script printed through `od`, so that any byte in it survives; ends of lines between are dropped.

    Raises:
        ValueError: it is no hexadecimal text.
    """
    return bytes.fromhex("".join(text.split())).decode("utf-8", "surrogateescape")
