"""The data directory in the pgBackRest configuration on the new server.

Its `archive-push` fails where the server's data directory is another one than `pgN-path` of its stanza. Source:
pgBackRest's configuration reference (`--config`, `--config-include-path`, `--config-path`, sections).
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_BASE = "/etc/pgbackrest"
_EARLIER = "/etc/pgbackrest.conf"
"""Where it looks besides, since its configuration once lay there."""
_OPTION = re.compile(r"(?P<name>pg[0-9]+)-(?P<what>path|host)\s*=\s*(?P<value>.*)")
UNREADABLE = "unreadable"
"""What a trial cluster says of a file that the owner may not read."""


@dataclass(frozen=True, slots=True)
class DataPath:
    """A data directory that pgBackRest is told: by which option, and where that stands."""

    option: str
    path: str
    place: str


def configuration_files(options: Mapping[str, str]) -> tuple[str, ...]:
    """The files that it reads with these options of its command line, and folders of them; none where it is not run."""
    if not options:
        return ()
    base = options.get("config-path", _BASE)
    named, included = options.get("config"), options.get("config-include-path")
    if named is not None:
        return (named,) if included is None else (named, included)
    earlier = () if "config-path" in options else (_EARLIER,)
    return (f"{base}/pgbackrest.conf", *earlier, included or f"{base}/conf.d")


def data_paths(options: Mapping[str, str], files: tuple[tuple[str, str], ...]) -> tuple[DataPath, ...]:
    """The data directories on its own host by options and files; the command line holds against the files."""
    found: dict[str, tuple[int, DataPath]] = {}
    elsewhere = set[str]()
    there = dict(files)
    if f"{_BASE}/pgbackrest.conf" in there:
        there.pop(_EARLIER, None)
    for file, text in there.items():
        for rank, section, line in _lines(text, options.get("stanza")):
            match = _OPTION.fullmatch(line)
            if match is None:
                continue
            if match["what"] == "host":
                elsewhere.add(match["name"])
            elif match["name"] not in found or found[match["name"]][0] < rank:
                path = DataPath(f"{match['name']}-path", match["value"].strip(), f"[{section}] in {file}")
                found[match["name"]] = rank, path
    local = {f"{name}-path": path for name, (_, path) in found.items() if name not in elsewhere}
    told = {name: DataPath(name, value, "archive_command") for name, value in options.items() if name.startswith("pg")}
    return tuple((local | told)[name] for name in sorted(local | told))


def same(path: str, target: str) -> bool:
    """Whether it is the move's target."""
    return posixpath.normpath(path) == posixpath.normpath(target)


def _lines(text: str, stanza: str | None) -> Iterator[tuple[int, str, str]]:
    """The lines for archive-push of the stanza: how strong, in which section; of every stanza where none is named."""
    section = ""
    for each in text.splitlines():
        line = each.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        name, _, command = section.partition(":")
        if name != "global" and stanza is not None and name != stanza:
            continue
        if command in ("", "archive-push"):
            yield (0 if name == "global" else 2) + (1 if command else 0), section, line
