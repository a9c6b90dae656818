"""The data directory in the pgBackRest configuration on the new server.

`archive-push` fails if the server's data directory differs from `pgN-path` of its stanza. Source: pgBackRest's
configuration reference (`--config`, `--config-include-path`, `--config-path`, sections).
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.text import lines_of

_BASE = "/etc/pgbackrest"
_FORMER_FILE = "/etc/pgbackrest.conf"
"""A former path of the configuration, which pgBackRest still reads."""
_OPTION = re.compile(r"(?P<name>pg[0-9]+)-(?P<what>path|host)\s*=\s*(?P<value>.*)")
UNREADABLE = "unreadable"
"""What a trial cluster answers for a file that the owner may not read."""


@dataclass(frozen=True, slots=True)
class DataPath:
    """A data directory in the configuration of pgBackRest.

    Attributes:
        option: the option that names it.
        path: the data directory.
        place: where the option stands.
    """

    option: str
    path: str
    place: str


def configuration_files(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files, and folders of files, that pgBackRest reads with these options; empty without options."""
    if not options:
        return ()
    base = options.get("config-path", _BASE)
    named, included = options.get("config"), options.get("config-include-path")
    if named is not None:
        return (named,) if included is None else (named, included)
    former = () if "config-path" in options else (_FORMER_FILE,)
    return (f"{base}/pgbackrest.conf", *former, included or f"{base}/conf.d")


def data_paths(options: Mapping[str, str], files: tuple[tuple[str, str], ...]) -> tuple[DataPath, ...]:
    """Return the data directories on the local host; the options of the command line override the files."""
    from_files: dict[str, tuple[int, DataPath]] = {}
    elsewhere = set[str]()
    texts = dict(files)
    if f"{_BASE}/pgbackrest.conf" in texts:
        texts.pop(_FORMER_FILE, None)
    for file, text in texts.items():
        for rank, section, line in _lines(text, options.get("stanza")):
            match = _OPTION.fullmatch(line)
            if match is None:
                continue
            if match["what"] == "host":
                elsewhere.add(match["name"])
            elif match["name"] not in from_files or from_files[match["name"]][0] < rank:
                path = DataPath(f"{match['name']}-path", match["value"].strip(), f"[{section}] in {file}")
                from_files[match["name"]] = rank, path
    local = {f"{name}-path": path for name, (_, path) in from_files.items() if name not in elsewhere}
    from_options = {
        name: DataPath(name, value, "archive_command") for name, value in options.items() if name.startswith("pg")
    }
    return tuple((local | from_options)[name] for name in sorted(local | from_options))


def is_target(path: str, target: str) -> bool:
    """Return whether the path is the target of the move."""
    return posixpath.normpath(path) == posixpath.normpath(target)


def _lines(text: str, stanza: str | None) -> Iterator[tuple[int, str, str]]:
    """Return the lines that apply to archive-push, each with its precedence and its section.

    Without a stanza, the lines of every stanza are returned.
    """
    section = ""
    for each in lines_of(text):
        line = each.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        name, _, command = section.partition(":")
        if name != "global" and stanza is not None and name != stanza:
            continue
        if command in ("", "archive-push"):
            yield (0 if name == "global" else 2) + (1 if command else 0), section, line
