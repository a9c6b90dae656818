"""The one builder of shell text: every value that reaches a shell is quoted here, and every secret is masked here.

A `Shell` carries the text twice: `text` is what runs, `shown` is what people, logs and the history see. Nothing else in
pghaul joins strings into commands. The dialect is POSIX sh.

What is more than a plain command is a function of the remote half (`core.servers.functions`): `call` names it with its
words, and the functions travel with it, ahead of it, unseen: they are the same for everybody and shown by themselves.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from core.errors import InputError
from core.redaction import MASK, know
from core.servers.functions import bare, library, named_in

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A value that runs but is never shown: a password in an environment variable, say."""

    value: str

    def __post_init__(self) -> None:
        know(self.value)

    def __repr__(self) -> str:
        return "Secret()"


@dataclass(frozen=True, slots=True)
class Shell:
    """A piece of shell: `text` runs, `shown` is for people. `compound`: more than one simple command.

    `functions` is the text of what it calls of the remote half, to stand ahead of it where it runs.
    """

    text: str
    shown: str
    compound: bool = False
    functions: str = ""

    def __str__(self) -> str:
        return self.shown


Word = str | int | float | PurePath | Secret | Shell


def command(program: str, *arguments: Word) -> Shell:
    """A simple command, each word quoted; a Shell among the words is passed as one quoted word (for `sh -c`, `ssh`)."""
    return _join([_quoted(word) for word in (program, *arguments)], " ")


def for_hint(program: str, *words: str) -> str:
    """A command that a hint tells people to type, each word quoted, whatever it holds; it is never run from here."""
    return shlex.join((program, *words))


def call(function: str, *words: str | int | float | PurePath) -> Shell:
    """A function of the remote half with its words, each quoted.

    Raises:
        InputError: a word holds a NUL character or a line break.
        KeyError: there is no function of that name.
    """
    made = _join([Shell(function, function), *(_quoted(word) for word in words)], " ")
    return Shell(made.text, made.shown, compound=True, functions=library([function, *named_in(made.text)]))


def lowered(shell: Shell) -> Shell:
    """A call that lets a server go first that serves beside it, see `lower_priority`."""
    first = call("lower_priority")
    both = _join([first, shell], "\n")
    return replace(both, compound=True, functions="\n".join(filter(None, (shell.functions, first.functions))))


def calls(*lines: Sequence[str | int | float | PurePath]) -> Shell:
    """Functions of the remote half with their words, one after the other, a line each, however each one ends."""
    made = [_join([_quoted(word) for word in line], " ") for line in lines]
    first = dict.fromkeys(str(line[0]) for line in lines)
    return replace(_join(made, "\n"), compound=True, functions=library(first))


def with_program(functions: Iterable[str], shell: Shell) -> Shell:
    """The calls with the text of these functions in `$program`, for the shells that they start themselves.

    Such a shell (`timeout … sh -c "$program" sh FUNCTION WORDS`, or one of another user) knows them and runs one. Each
    parses the whole text, so it has no comments.
    """
    text = bare(library(functions)) + '\n"$@"\n'
    return replace(shell, text=f"program={shlex.quote(text)}\n{shell.text}")


def with_settings(settings: Mapping[str, str], shell: Shell) -> Shell:
    """The call with variables that its functions read, set ahead of it, a line each."""
    assignments = [_assignment(name, value) for name, value in settings.items()]
    return _compound(_join([*assignments, shell], "\n"))


def environment(variables: Mapping[str, Word], shell: Shell) -> Shell:
    """`env NAME=value … command`, so that it also works in front of sudo's command and a compound one."""
    assignments = [_assignment(name, value) for name, value in variables.items()]
    return _join([Shell("env", "env"), *assignments, _simple(shell)], " ")


def with_secrets(variables: Mapping[str, Secret], shell: Shell) -> Shell:
    """The command with secrets in its environment: set by the shell itself, so that they are on no command line."""
    if not variables:
        return shell
    assignments = [_assignment(name, value) for name, value in variables.items()]
    return _compound(_join([*assignments, command("export", *variables), shell], "\n"))


def sudo(shell: Shell, *, user: str = "root", ask: bool = False) -> Shell:
    """The command as another user; `ask` lets sudo ask for the password, else it fails where it needs one (`-n`)."""
    options = [] if ask else ["-n"]
    return _join([command("sudo", *options, "-u", user, "--"), _simple(shell)], " ")


def _assignment(name: str, value: Word) -> Shell:
    if not _VARIABLE.fullmatch(name):
        raise InputError(f"{name!r} is not a valid name for an environment variable")
    word = _quoted(value)
    return Shell(f"{name}={word.text}", f"{name}={word.shown}")


def _simple(shell: Shell) -> Shell:
    """A compound command as one simple command, by `sh -c`."""
    return command("sh", "-c", shell) if shell.compound else shell


def _compound(shell: Shell) -> Shell:
    return replace(shell, compound=True)


def _join(shells: list[Shell], separator: str) -> Shell:
    return Shell(
        separator.join(shell.text for shell in shells),
        separator.join(shell.shown for shell in shells),
        functions="\n".join(dict.fromkeys(shell.functions for shell in shells if shell.functions)),
    )


def _quoted(word: Word) -> Shell:
    if isinstance(word, Secret):
        return Shell(_quote(word.value), MASK)
    if isinstance(word, Shell):
        if word.functions:
            raise InputError(f"{word.shown} calls functions, which another shell within a command does not know")
        return Shell(shlex.quote(word.text), shlex.quote(word.shown))
    text = _quote(str(word))
    return Shell(text, text)


def quoted(text: str) -> str:
    """Any text as one word of the shell, line breaks and all; one that holds an apostrophe stays readable."""
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\\\!') else shlex.quote(text)


def words_of(text: str) -> list[str]:
    """The words of a simple command without expansions, as `command` and `call` write them; none where it is more."""
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    return words if shlex.join(words) == text else []


def split(text: str, *, comments: bool = False, escapes: bool = True) -> list[str]:
    """The words of a line of configuration that quotes as a shell does, `comments` behind a # left out.

    `escapes`: a backslash takes the meaning from what stands behind it; else it is a character like others.

    Raises:
        InputError: a quote has no end.
    """
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split = True
    words.commenters = "#" if comments else ""
    words.escape = "\\" if escapes else ""
    try:
        return list(words)
    except ValueError as error:
        raise InputError(f"{text!r} cannot be split into words: {str(error).lower()}") from error


def _quote(value: str) -> str:
    if "\0" in value or "\n" in value:
        raise InputError(f"{value!r} holds a line break or a NUL character", "rename it, or choose another")
    return shlex.quote(value)
