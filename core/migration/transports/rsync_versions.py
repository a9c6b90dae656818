"""What rsync can do, by the older version of both servers; source: rsync's own NEWS.

| since | feature | without it |
| --- | --- | --- |
| 3.1.0 | progress of a whole pass (--info=progress2) | no progress is shown |
| 3.1.0 | a listed file that vanished is no error | one stream, and each pre-copy pass compares everything |
| 3.2.0 | lz4, zstd | zlib at its lightest level |

Times are compared in whole seconds: older versions transfer no more, and some file systems store no more, so that every
file would seem changed with --modify-window=-1 (3.1.3). No pass relies on times: changed files are listed, and verified
by their checksums.

--mkpath (3.2.3) is not needed: a step creates the target folders with their owner. Nor is --fsync (3.2.4): the receiver
flushes files while more arrive, whatever its version, and a step flushes everything at the end.
"""

import re

from core.facts.model import Facts

Version = tuple[int, int, int]
UNKNOWN: Version = (0, 0, 0)
"""An unknown version, of which no feature is expected."""

VANISHING: Version = (3, 1, 0)
MODERN_COMPRESSION: Version = (3, 2, 0)

_NUMBER = re.compile(r"(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?")


def parse_rsync_version(text: str | None) -> Version:
    """Return `3.2.7`, `3.1.3pre1` or `2.6.9` as numbers; UNKNOWN if there are none."""
    found = _NUMBER.match(text or "")
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found is not None else UNKNOWN


def oldest_version(*both: Facts) -> Version:
    """Return the oldest version of rsync on these servers."""
    tools = [facts.tool("rsync") for facts in both]
    return min((parse_rsync_version(tool.version if tool is not None else None) for tool in tools), default=UNKNOWN)


def can_stream(version: Version) -> bool:
    """Return whether the files of a running server can be listed before, which several streams need."""
    return version >= VANISHING


def can_compress(version: Version, compression: str) -> bool:
    """Return whether the version has this compression; whether it was compiled in shows only when it runs."""
    return compression.partition(":")[0] in {"", "zlib"} or version >= MODERN_COMPRESSION


def progress_options(version: Version) -> tuple[str, ...]:
    """Return the options of a pass whose progress is shown: it prints the bytes that are done."""
    return ("--info=progress2",) if version >= VANISHING else ()


def listed_options(version: Version) -> tuple[str, ...]:
    """Return the options of a pass over listed files of a running server."""
    return ("--ignore-missing-args",) if version >= VANISHING else ()


def compression_options(version: Version, compression: str) -> tuple[str, ...]:
    """Return rsync's options for `lz4`, `zstd:3` or `zlib:1`; none without compression.

    Before 3.2 zlib was the only compression, and it had no option for its name.
    """
    method, _, level = compression.partition(":")
    if not method:
        return ()
    choice = (f"--compress-choice={method}",) if version >= MODERN_COMPRESSION else ()
    return ("--compress", *choice, *((f"--compress-level={level}",) if level else ()))
