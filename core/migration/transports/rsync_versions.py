"""What rsync can do, by the older of the two versions that talk to each other; source: rsync's own NEWS.

| since | what | without it |
| --- | --- | --- |
| 3.1.0 | progress of a whole pass (--info=progress2) | none is shown |
| 3.1.0 | a listed file that vanished is no error | one stream, and each warm pass compares everything |
| 3.2.0 | lz4, zstd | zlib at its lightest |

Times are compared in whole seconds: older ones carry no more, nor do some file systems, where every file would seem to
have changed by --modify-window=-1 (3.1.3). No pass stands on them: what changed is listed, and proven by its sum.

--mkpath (3.2.3) is not needed: the target folders are made by a step that names their owner. Nor is --fsync (3.2.4):
the receiver flushes while more arrives, whatever its version, and a step flushes at the end.
"""

import re

from core.facts.model import Facts

Version = tuple[int, int, int]
UNKNOWN: Version = (0, 0, 0)
"""As old as can be: nothing is asked of it."""

VANISHING: Version = (3, 1, 0)
MODERN_COMPRESSION: Version = (3, 2, 0)

_NUMBER = re.compile(r"(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?")


def version_of(text: str | None) -> Version:
    """`3.2.7`, `3.1.3pre1`, `2.6.9` -> numbers; UNKNOWN where there are none."""
    found = _NUMBER.match(text or "")
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found is not None else UNKNOWN


def common_version(*both: Facts) -> Version:
    """The oldest rsync of these servers."""
    tools = [facts.tool("rsync") for facts in both]
    return min((version_of(tool.version if tool is not None else None) for tool in tools), default=UNKNOWN)


def can_stream(version: Version) -> bool:
    """Whether the files of a running server can be listed ahead, as several streams need it."""
    return version >= VANISHING


def can_compress(version: Version, compression: str) -> bool:
    """Whether both sides know that compression by their version; whether they were built with it shows when it runs."""
    return compression.partition(":")[0] in {"", "zlib"} or version >= MODERN_COMPRESSION


def progress_options(version: Version) -> tuple[str, ...]:
    """What is asked of a pass that is followed: the bytes that it is through with."""
    return ("--info=progress2",) if version >= VANISHING else ()


def listed_options(version: Version) -> tuple[str, ...]:
    """What is asked of a pass over listed files of a running server."""
    return ("--ignore-missing-args",) if version >= VANISHING else ()


def compression_options(version: Version, compression: str) -> tuple[str, ...]:
    """rsync's options for `lz4`, `zstd:3`, `zlib:1`; nothing for the empty compression.

    Before 3.2 there was zlib alone, and no word for it.
    """
    method, _, level = compression.partition(":")
    if not method:
        return ()
    choice = (f"--compress-choice={method}",) if version >= MODERN_COMPRESSION else ()
    return ("--compress", *choice, *((f"--compress-level={level}",) if level else ()))
