"""Many small commands in one round trip: each in a section of its own, with its output, complaint and exit status.

The sections run one after the other in one remote shell. Before and after each a mark is written to standard output and
to standard error alike; it holds 128 random bits, so that nothing a server prints can pass for it, and no file is
needed on the server. A section has a deadline of its own where the server has `timeout`; one that fails, hangs or
prints nonsense spoils no other.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from core.servers.shell import Shell, command, script, sequence

RIGHTS = "rights"
"""Of a gap: a user that the profile names could not be become."""
NO_CLUSTER = "clusters"
"""Of a gap: no data directory was found anywhere."""
TRIAL = "trial-cluster"
"""Of a gap: new's binaries made no trial cluster."""

_NOTHING_THERE = 4
"""Exit status of a section that found a folder empty or not there, and said so as its complaint."""
_STRANGE_DEADLINE = (124, 137)
"""Exit statuses of `timeout`: the command was terminated, or had to be killed."""


@dataclass(frozen=True, slots=True)
class Section:
    """One command of a round trip. `name` is plain letters, digits and dashes; `deadline` is in seconds."""

    name: str
    shell: Shell
    deadline: int = 5


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
        return self.status == _NOTHING_THERE

    @property
    def reason(self) -> str:
        """Why there is no result, in words: the last line of the complaint, a deadline, or the bare exit status."""
        if self.status is None:
            return "the connection or the time ended before it was read"
        if self.status in _STRANGE_DEADLINE:
            return "it took too long"
        lines = [line.strip() for line in self.complaint.splitlines() if line.strip()]
        return lines[-1] if lines else f"the command ended with exit status {self.status}"


def new_mark() -> str:
    """A mark that no output can hold by chance or by malice."""
    return f"=={secrets.token_hex(16)}=="


def bundle(mark: str, sections: Sequence[Section]) -> Shell:
    """One script that runs the sections in their order and always ends with exit status 0."""
    return sequence(
        prelude(mark),
        *(command("section", section.name, section.deadline, section.shell) for section in sections),
    )


def prelude(mark: str) -> Shell:
    """What must stand ahead of sections: the shell function `section NAME SECONDS BODY`, which leaves its `$status`.

    A section's body runs as `sh -c` in a process group of its own (`timeout` makes one); the trap ends it when the
    script itself is told to end. `$prefix`, where set, goes in front of the section's name.
    """
    return script(
        """mark=@mark@
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C LANGUAGE= HOME=/
export PATH LC_ALL LANGUAGE HOME
cd /
unset PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGDATA PGOPTIONS ENV BASH_ENV
running=
trap 'test -z "$running" || kill "$!" 2>/dev/null; exit 143' HUP INT TERM
if timeout -k 1 1 true >/dev/null 2>&1; then limits=yes; else limits=no; fi
section() {
  printf '\\n%s begin %s\\n' "$mark" "$prefix$1"
  printf '\\n%s begin %s\\n' "$mark" "$prefix$1" >&2
  running=yes
  if test "$limits" = yes; then timeout -k 2 "$2" sh -c "$3" </dev/null & else sh -c "$3" </dev/null & fi
  wait "$!"
  status=$?
  running=
  printf '\\n%s end %s\\n' "$mark" "$status"
  printf '\\n%s end %s\\n' "$mark" "$status" >&2
}""",
        mark=mark,
    )


def answers(mark: str, output: bytes, complaints: str) -> dict[str, Answer]:
    """The answers by section name; a section whose end is missing has status None, one that never began is absent."""
    complaint_of = {name: text for name, text, _ in _split(mark, complaints.encode("utf-8", "surrogateescape"))}
    return {
        name: Answer(name, text, complaint_of.get(name, b"").decode("utf-8", "replace"), status)
        for name, text, status in _split(mark, output)
    }


def _split(mark: str, stream: bytes) -> list[tuple[str, bytes, int | None]]:
    """Name, text and exit status of each section of one stream; what stands outside of the sections is dropped."""
    begin = re.compile(rb"\n" + re.escape(mark.encode()) + rb" begin ([\w/-]+)\n")
    end = re.compile(rb"\n" + re.escape(mark.encode()) + rb" end (\d+)\n")
    found = []
    opened = begin.search(stream)
    while opened is not None:
        following = begin.search(stream, opened.end())
        limit = following.start() if following is not None else len(stream)
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
