"""The remote half: POSIX shell functions in `resources/sh`, a subject a file, read by people and by shellcheck.

Python says which function runs, with which words, as whom and where; what it does stands in the functions. A command
takes along the functions that it calls, and those that they call, as text on its standard input: no file is needed.

A function stands at the beginning of a line, `name() {` to `}`, with its comment ahead: its words, what it does, what
it prints, how it fails.

- `call("name", word, …)` of `shell.py` names a function, quotes its words and masks secrets. It is a `Shell`, as is
  `command("lsblk", "-J")`.
- The functions are sent ahead of the call on standard input. Nothing is written on the server.
- A plan stores the text of its functions. `--resume` by another version continues with the functions of the plan.
- Detached work has its functions in a folder of its own user with mode 0700. It runs only if its checksum is that of
  what was sent.
- What the new server runs by itself is in `/var/tmp/MARKER/functions`: the receiver of the key, the keeper of the
  daemon.
- The receiver (resources/sh/receiver.sh) accepts what versions of rsync say in one of our passes. If you give a pass
  another option, add it to `is_copy_command`, and what each version makes of it to tests/data/rsync-server.
- `LC_ALL=C` applies to everything that is parsed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import resources

_FUNCTION = re.compile(
    r"(?P<comment>(?:^#.*\n)*)^(?P<name>[a-z][a-z0-9_]*)\(\) \{\n(?P<body>(?:.*\n)*?)^\}\n", re.MULTILINE
)
_WORD = re.compile(r"(?<![\w./$-])[a-z][a-z0-9_]*(?![\w/=-])")
_VARIABLE = re.compile(r"\$\{?([a-z][a-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the remote half.

    Attributes:
        text: its comment and itself.
        calls: the functions that it names; `reads`: the variables, of which a setting may name further functions.
    """

    name: str
    subject: str
    comment: str
    text: str
    calls: tuple[str, ...]
    reads: tuple[str, ...]


@cache
def functions() -> Mapping[str, Function]:
    """Every function by its name, in the order of the subjects' names and of their texts.

    Raises:
        ValueError: two functions have one name.
    """
    found = [
        (path.name.removesuffix(".sh"), each)
        for path in sorted(files(resources).joinpath("sh").iterdir(), key=lambda path: path.name)
        if path.name.endswith(".sh")
        for each in _FUNCTION.finditer(path.read_text(encoding="utf-8"))
    ]
    names = [each["name"] for _, each in found]
    if len(set(names)) != len(names):
        raise ValueError(f"two functions have one name: {sorted(name for name in names if names.count(name) > 1)}")
    return {each["name"]: _function(subject, each, frozenset(names)) for subject, each in found}


def library(names: Iterable[str], settings: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text of these functions and of all that they call, each once, subject by subject.

    `settings`: variables that the functions read; those that they name by them are taken along too.

    Raises:
        KeyError: there is no function of that name.
    """
    wanted: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in wanted:
            wanted.add(name)
            function = functions()[name]
            ahead += [*function.calls, *named_in(" ".join(settings.get(each, "") for each in function.reads))]
    return "\n".join(each.text for each in functions().values() if each.name in wanted)


def needed(text: str, called: Iterable[str], settings: Mapping[str, str] = MappingProxyType({})) -> str:
    """Of a text's functions those that pieces of shell name, and all that these call, without lines of comments."""
    known = {found["name"]: found for found in _FUNCTION.finditer(text)}
    wanted: set[str] = set()
    ahead = [word for piece in called for word in _WORD.findall(piece)]
    while ahead:
        name = ahead.pop()
        if name in known and name not in wanted:
            wanted.add(name)
            code = _code(known[name]["body"])
            ahead += _WORD.findall(" ".join([code, *(settings.get(each, "") for each in variables_in(code))]))
    return "\n".join(bare(found[0]) for name, found in known.items() if name in wanted)


def variables_in(text: str) -> tuple[str, ...]:
    """The variables that a piece of shell reads."""
    return tuple(dict.fromkeys(_VARIABLE.findall(text)))


def bare(text: str) -> str:
    """A text of functions without lines of comments."""
    return re.sub(r"^ *#(?! shellcheck ).*\n", "", text, flags=re.MULTILINE)


def named_in(text: str) -> tuple[str, ...]:
    """The functions that a piece of shell names."""
    return tuple(dict.fromkeys(word for word in _WORD.findall(text) if word in functions()))


def _function(subject: str, found: re.Match[str], names: frozenset[str]) -> Function:
    code = _code(found["body"])
    calls = dict.fromkeys(word for word in _WORD.findall(code) if word in names and word != found["name"])
    comment = "\n".join(line.removeprefix("#").strip() for line in found["comment"].splitlines())
    return Function(found["name"], subject, comment, found[0], tuple(calls), variables_in(code))


def _code(body: str) -> str:
    """A function's body without its comments."""
    return re.sub(r"^\s*#.*$", "", body, flags=re.MULTILINE)
