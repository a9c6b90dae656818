"""Linux software RAID, as /proc/mdstat shows it.

A kernel without md has no such file and no arrays. The format is that of `md_seq_show` in the kernel's
drivers/md/md.c: a line `NAME : STATE LEVEL MEMBERS`, then lines that belong to it until the next such line. While it is
reshaped an array has the level, layout and members that it is to have; `(F)` and `_` say who takes no part in it.
"""

import re

from core.facts.model import Array
from core.facts.sections import Section
from core.facts.text import first_line, unreadable_error
from core.mail import plain

# the name may be a link's of /dev/md that a DBA chose; the states are those of md.c, old spellings too
_HEAD = re.compile(r"^\s*(?P<name>md\S*|\w+) : (?P<state>active|inactive|broken|read-only|readonly)\b(?P<rest>.*)$")
_MEMBER = re.compile(r"(?P<device>[^\s\[\]]{1,64})\[[0-9]{1,6}\](?P<flags>(?:\([A-Z]\))*)")
_LEVEL = re.compile(r"\b(?:raid[0-9]+|linear|multipath|faulty|container)\b|\bexternal:\S+")
# `[3/2]`: made for three, two of them at work
_COUNTS = re.compile(r"\[([0-9]{1,6})/([0-9]{1,6})\]")
_CHUNK = re.compile(r"\b([0-9]{1,9})[kK] chunks?\b")
_LAYOUT = re.compile(r"\b[0-9]+ (?:near|far|offset)-copies\b|\balgorithm [0-9]+\b")
_ACTION = re.compile(r"\b(recovery|resync|reshape|check|repair)\s*=\s*(?:([0-9]{1,3}(?:\.[0-9]{1,6})?)%|[A-Z]+)")
_FINISH = re.compile(r"\bfinish=([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?min")
# whoever pasted it lost the end of the line before
_GLUED = re.compile(r"(?<=\])[ \t]*(?=md\w{1,20} : (?:in)?active )")
# lines of the file around its arrays: with these alone the host has md, and no array
_FRAME = re.compile(r"^\s*(Personalities\s*:|unused devices\s*:|read_ahead\b|Event:)")


def parse_arrays(text: str) -> tuple[Array, ...]:
    """The arrays of /proc/mdstat; none where it lists none, or where the text is empty.

    Raises:
        ParseError: the text is not empty and nothing in it is from /proc/mdstat.
    """
    blocks: list[list[str]] = []
    framed = False
    for line in _GLUED.sub("\n", plain(text)).splitlines():
        if _HEAD.match(line):
            blocks.append([line])
        elif _FRAME.match(line):
            # an empty file of a kernel without arrays still has its frame
            framed = True
        elif blocks:
            blocks[-1].append(line)
    if not blocks and not framed and text.strip():
        raise unreadable_error(
            "mdstat", "a line Personalities or an array such as 'md0 : active raid1'", first_line(text)
        )
    return tuple(_array(block) for block in blocks)


def _array(lines: list[str]) -> Array:
    """One array from its lines, joined, as a mail or a terminal may have wrapped them."""
    head = _HEAD.match(lines[0])
    if head is None:
        raise unreadable_error("mdstat", "an array", lines[0])
    joined = " ".join([head["rest"], *lines[1:]])
    members = [(found["device"], found["flags"]) for found in _MEMBER.finditer(joined)]
    # a member's name may hold the word of a level: it is looked for ahead of them alone
    before_members = joined[: found.start()] if (found := _MEMBER.search(joined)) else joined
    level, counts = _LEVEL.search(before_members), _COUNTS.search(joined)
    action, finish = _ACTION.search(joined), _FINISH.search(joined)
    described = joined[: counts.end() if counts else None].partition("bitmap:")[0]  # a bitmap has a chunk of its own
    chunk, layout = _CHUNK.search(described), _LAYOUT.search(described)
    # `[UU_]`: the third is missing, whatever the counts say while it is rebuilt
    running = "_" in "".join(re.findall(r"\[([U_]+)\]", joined))
    return Array(
        name=head["name"],
        level=level[0] if level else None,
        state=head["state"],
        devices=tuple(device for device, _ in members),
        degraded=running
        or (counts is not None and int(counts[2]) < int(counts[1]))
        or any("(F)" in flags for _, flags in members),
        action=action[1] if action else None,
        progress=round(float(action[2]) / 100, 6) if action and action[2] else None,
        finish_seconds=round(float(finish[1]) * 60, 3) if finish else None,
        chunk_bytes=int(chunk[1]) * 1024 if chunk else None,
        layout=layout[0] if layout else None,
        # raid0 has no counts: none of it may be missing
        raid_devices=int(counts[1]) if counts else (len(members) if level and level[0] == "raid0" else None),
    )


SECTION = Section("arrays", "md arrays", ("print_if_exists", "/proc/mdstat"), parse_arrays)
