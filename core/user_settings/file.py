"""The file of the settings: read and checked as a whole, and changed with its comments kept.

What is wrong with it is an InputError that names file, line and what to do: pghaul never runs with a part of it.
"""

import contextlib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from core import settings, this_workstation
from core.errors import InputError
from core.file_locks import locked
from core.files import check_own, read_small, write_whole
from core.system_errors import reason
from core.user_settings.declaration import Setting, Settings, declared
from core.user_settings.kinds import Value, said

FILE = "settings.toml"
_LOCK = "settings.lock"
"""On Windows, the file whose lock whoever changes the settings holds."""
MOST_BYTES = 64 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD = "# The settings of pghaul. To see all of them: pghaul settings show\n"
_TABLE = re.compile(r"""\s*\[\s*["']?(?P<table>[\w-]+)["']?\s*\]""")
_KEY = re.compile(r"""\s*(?P<key>["']?[\w-]+["']?(?:\s*\.\s*["']?[\w-]+["']?)*)\s*=""")
_PLAIN = re.compile(r"[\w.-]{1,60}")
_AT_LINE = re.compile(r"\s*\(at line (?P<line>\d+), column \d+\)$")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the file says.

    Attributes:
        given: the settings that it names; all others have their defaults.
        content: its bytes; None: there is none.
    """

    settings: Settings = field(default_factory=Settings)
    given: frozenset[str] = frozenset()
    content: bytes | None = None


def path() -> Path:
    """Return where the file is, or would be."""
    return settings.config_folder() / FILE


def find(key: str) -> Setting:
    """Return the setting of that name; raise InputError with the nearest name if there is none."""
    found = declared().get(key)
    if found is None:
        raise InputError(f"there is no setting {key}", _nearest(key))
    return found


def load() -> Loaded:
    """Read and check the file.

    Raises:
        InputError: it cannot be read, is not this user's own, or says what no setting takes.
    """
    place, subject = path(), "it"
    try:
        content = read_small(place, MOST_BYTES, own=True)
        subject = "its folder"  # whoever may write there can put another file of its user's in this place
        check_own(place.parent.stat())
    except FileNotFoundError:
        return Loaded()
    except OSError as error:
        problem = f"it cannot be read: {reason(error)}"
        raise _unusable(problem, "make it readable for you, or remove it") from error
    except InputError as error:
        named = place if subject == "it" else place.parent
        hint = (
            f"if its contents are yours, take away this permission: chmod go-w '{named}'"
            if "other users" in error.message
            else "put a settings file of your own there"
        )
        raise _unusable(f"{subject} {error.message}", hint) from error
    return check(content)


def change(changes: Mapping[str, Value], based_on: Loaded | None = None) -> Loaded:
    """Change settings in the file, which is made if there is none. Return what it says then.

    Args:
        changes: the value of each setting; None removes it from the file.
        based_on: what was shown to whoever made the changes; None: whatever the file says now.

    Raises:
        InputError: a value is not allowed; the file cannot be used or written, or another program has changed it.
    """
    for key, value in changes.items():
        setting = find(key)
        problem = "" if value is None else setting.kind.problem(value)
        if problem:
            raise InputError(f"{key} {problem}", _remedy(setting))
    place = path()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(place.parent):
            before = load()
            if based_on is not None and before.content != based_on.content:
                raise InputError(
                    f"the settings file {place} was changed by another program meanwhile",
                    "look at the settings again, then repeat your change",
                )
            content = _edited(before, changes)
            after = check(content)
            if content != before.content:
                # a link leads to a file of the user's own: `load` has looked at its owner
                write_whole(place.resolve(), content, replacing=True, mode=_mode(place))
    except TimeoutError as error:
        raise InputError(
            f"the settings file {place} is being changed by another program", "try again once that program is done"
        ) from error
    except OSError as error:
        raise InputError(
            f"the settings file {place} cannot be written: {reason(error)}",
            "make its folder writable for you",
        ) from error
    return after


def _edited(before: Loaded, changes: Mapping[str, Value]) -> bytes:
    import tomlkit  # no other command needs it
    from tomlkit.exceptions import TOMLKitError

    known = declared()
    try:
        document = tomlkit.parse((before.content or _HEAD.encode()).decode())
        for key, value in changes.items():
            section, name = known[key].section, known[key].name
            if value is not None:
                document.setdefault(section, tomlkit.table())[name] = value
            elif key in before.given:
                del document[section][name]
        return tomlkit.dumps(document).encode()
    except TOMLKitError as error:
        raise _unusable(
            f"it cannot be changed by pghaul (tomlkit says: {error})", "change it with an editor"
        ) from error


def _mode(place: Path) -> int:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        return 0o600


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Within it no other pghaul changes the settings in that folder. Windows cannot lock a folder, but a file in it."""
    if this_workstation.on_windows():
        handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    else:
        handle = os.open(folder, os.O_RDONLY)
    try:
        with locked(handle):
            yield
    finally:
        os.close(handle)


def check(content: bytes) -> Loaded:
    """Return what the bytes of a settings file say; raise InputError as `load` does."""
    if content.startswith(_BYTE_ORDER_MARK):
        raise _unusable("it begins with a byte order mark", "save it as UTF-8 without this mark", 1)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise _unusable("it is not UTF-8", "save it as UTF-8", content.count(b"\n", 0, error.start) + 1) from error
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        at = _AT_LINE.search(str(error))
        said = _AT_LINE.sub("", str(error))
        problem = f"it is not valid TOML (tomllib says: {said})"
        if isinstance(error, RecursionError):
            problem = "it is not valid TOML: it is nested too deeply"
        raise _unusable(
            problem,
            'write a text as name = "text", and a section as [name]',
            int(at["line"]) if at else None,
        ) from error
    return _read(text, found, content)


def _read(text: str, found: Mapping[str, object], content: bytes) -> Loaded:
    known, made, given = declared(), Settings(), frozenset[str]()
    sections = {each.section for each in known.values()}
    for section, values in found.items():
        if section not in sections:
            raise _unusable(f"there is no section {_named(section)}", _nearest_section(section), _line(text, section))
        if not isinstance(values, dict):
            raise _unusable(f"{section} is a section, not a value", f"write it as [{section}]", _line(text, section))
        for name, value in values.items():
            key = f"{section}.{name}"
            if key not in known:
                raise _unusable(f"there is no setting {_named(key)}", _nearest(key), _line(text, section, name))
            problem = known[key].kind.problem(value)
            if problem:
                raise _unusable(f"{key} {problem}", _remedy(known[key]), _line(text, section, name))
            made, given = made.having(key, value), given | {key}
    return Loaded(made, given, content)


def _named(key: str) -> str:
    """Return a name of the file as a message has it: in quotes if it is no plain word, and not whole if it is long."""
    return key if _PLAIN.fullmatch(key) else said(key)


def _nearest(key: str) -> str:
    """Return the hint that names the setting of the nearest name, one of the same section first."""
    section, _, name = key.rpartition(".")
    known = declared().values()
    for some in ([each for each in known if each.section == section], known):
        near = get_close_matches(name, [each.name for each in some], n=1)
        if near:
            return f"did you mean {next(each.key for each in some if each.name == near[0])}?"
    return "remove it, or correct its name"


def _nearest_section(name: str) -> str:
    sections = tuple(dict.fromkeys(each.section for each in declared().values()))
    found = get_close_matches(name, sections, n=1)
    return f"did you mean {found[0]}?" if found else f"the sections are {', '.join(sections)}"


def _remedy(setting: Setting) -> str:
    if setting.default is None:
        return "correct it, or remove it"
    return f"correct it, or remove it: the default is {said(setting.default)}"


def _line(text: str, section: str, name: str = "") -> int | None:
    """Return the line that names a section, or a setting in it; None if it is not found."""
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        head, key = _TABLE.match(line), _KEY.match(line)
        if head:
            table = head["table"]
        named = re.sub(r"[\s\"']", "", key["key"]) if key else ""
        whole = f"{table}.{named}" if table and named else named or table
        if whole == (f"{section}.{name}" if name else section) or (not name and whole.startswith(f"{section}.")):
            return number
    return None


def _unusable(problem: str, hint: str, line: int | None = None) -> InputError:
    if line is None:
        return InputError(f"the settings file {path()} cannot be used: {problem}", hint)
    return InputError(f"the settings file {path()} cannot be used, line {line}: {problem}", hint)
