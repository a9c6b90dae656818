"""The hosts that ~/.ssh/config names, to offer where a server is described. Source: ssh_config(5), Host and Include."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from core.servers.ssh_fallback import CONFIG_VARIABLE


def named_hosts() -> tuple[str, ...]:
    """The names of all Host lines that are no pattern, in their order; none where there is no file to read."""
    used = config_file()
    return () if used is None else tuple(dict.fromkeys(_of_files(used)))


def config_file() -> Path | None:
    """The user's configuration that ssh goes by; None: it goes by none."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    if chosen == "none":
        return None
    return Path(chosen) if chosen else Path.home() / ".ssh" / "config"


def hosts_of(text: str) -> tuple[str, ...]:
    """The names of the Host lines of one file that are no pattern."""
    names = (word for keyword, words in _lines(text) if keyword == "host" for word in words)
    return tuple(name for name in names if not set(name) & set("*?!"))


def _lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Keyword in lower case and words of each line; `Keyword=value` is the same as `Keyword value`."""
    for line in text.splitlines():
        words = line.replace("=", " ", 1).replace('"', " ").split()
        if words and not words[0].startswith("#"):
            yield words[0].lower(), words[1:]


def _of_files(config: Path) -> Iterator[str]:
    """The names in it, then those in what it includes, each file once: files may include each other."""
    ahead, seen = [config], set[Path]()
    while ahead:
        path = ahead.pop(0)
        if path in seen:
            continue
        seen.add(path)
        with suppress(OSError, UnicodeDecodeError):  # what cannot be read offers nothing; ssh itself says why it fails
            text = path.read_text(encoding="utf-8")
            yield from hosts_of(text)
            included = [word for keyword, words in _lines(text) if keyword == "include" for word in words]
            ahead = [*(file for pattern in included for file in _included(pattern)), *ahead]


def _included(pattern: str) -> list[Path]:
    """The files that an Include names; none in the home of somebody whom there is not, or where it names no file."""
    with suppress(OSError, RuntimeError, ValueError):
        whole = Path(pattern).expanduser()
        base = whole if whole.is_absolute() else Path.home() / ".ssh" / pattern
        return sorted(each.resolve() for each in base.parent.glob(base.name))
    return []
