"""The command line as data, read from its parser: what manual pages, completion and the reference are made of."""

import argparse
from dataclasses import dataclass

from core.cli.context import add_common

_WIDE = 10_000
"""Columns: a usage line is broken by whoever shows it."""
_KINDS = {"MOVE": "moves", "SERVER": "servers", "SUITE": "suites", "WHAT": "reports", "FILE": "files"}
_NAMED = {"MOVE": "name of the move", "SERVER": "name of the server"}
"""The help of a placeholder for which the parser has none."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument or an option.

    Attributes:
        options: as it is typed, the short one first; empty for a positional argument.
        value: the placeholder of its value; empty where it takes none.
        choices: all values that it takes; empty where nobody can list them.
        places: how many words of the command line are its values; None: any number.
        common: every subcommand has it.
    """

    options: tuple[str, ...]
    value: str
    help: str
    choices: tuple[str, ...]
    places: int | None
    repeats: bool
    common: bool

    @property
    def of(self) -> str:
        """What names it takes, as `pghaul completion` calls them; `files`: those of files; empty: something else."""
        return _KINDS.get(self.value.split()[0].partition(".")[0], "") if self.value else ""


@dataclass(frozen=True, slots=True)
class Command:
    """The program, a noun or a verb.

    Attributes:
        words: as typed behind the program's name; none for the program itself.
        usage: one line.
        description, epilog: as the parser has them; the latter is set as it is.
        verbs: the commands below it.
    """

    words: tuple[str, ...]
    usage: str
    help: str
    description: str
    epilog: str
    arguments: tuple[Argument, ...]
    verbs: "tuple[Command, ...]"

    @property
    def name(self) -> str:
        """All that is typed: `pghaul server add`."""
        return " ".join(("pghaul", *self.words))

    @property
    def positionals(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.arguments if not each.options)

    @property
    def options(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.arguments if each.options)

    def all(self) -> "tuple[Command, ...]":
        """This one and those below it."""
        return (self, *(below for verb in self.verbs for below in verb.all()))


def outline(parser: argparse.ArgumentParser, words: tuple[str, ...] = (), summary: str = "") -> Command:
    """Return the outline of a parser.

    Args:
        parser: the parser of the program, a noun or a verb.
        words: the words that are typed for it.
        summary: what the list of commands says about it.
    """
    verbs: list[Command] = []
    arguments = []
    for action in _actions(parser):
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  argparse has no public name for it
            helps = {each.dest: each.help or "" for each in action._choices_actions}  # noqa: SLF001  nowhere else
            verbs += [outline(made, (*words, name), helps.get(name, "")) for name, made in action.choices.items()]
        elif action.help != argparse.SUPPRESS:  # a former name
            arguments.append(_argument(action))
    return Command(
        words=words,
        usage=_usage(parser),
        help=summary,
        description=parser.description or "",
        epilog=parser.epilog or "",
        arguments=tuple(arguments),
        verbs=tuple(verbs),
    )


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001  argparse lists them nowhere else


def _argument(action: argparse.Action) -> Argument:
    choices = tuple(str(each) for each in action.choices or ())
    known = {**vars(action), "choices": ", ".join(choices)}
    value = _value(action, choices)
    return Argument(
        options=tuple(action.option_strings),
        value=value,
        help=(action.help or _NAMED.get(value, "")) % known,
        choices=choices,
        places=_places(action),
        repeats=isinstance(action, argparse._AppendAction),  # noqa: SLF001  argparse has no public name for it
        common=bool(_COMMON & set(action.option_strings)),
    )


def _value(action: argparse.Action, choices: tuple[str, ...]) -> str:
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    return "|".join(choices) if choices else action.dest.replace("_", "-").upper()


def _places(action: argparse.Action) -> int | None:
    if isinstance(action.nargs, int):
        return action.nargs
    return None if action.nargs in {"*", "+"} else 1


def _usage(parser: argparse.ArgumentParser) -> str:
    formatter = argparse.HelpFormatter(parser.prog, width=_WIDE)
    groups = parser._mutually_exclusive_groups  # noqa: SLF001  argparse lists them nowhere else
    formatter.add_usage(parser.usage, _actions(parser), groups, prefix="")
    return formatter.format_help().strip()


def _common() -> frozenset[str]:
    blank = argparse.ArgumentParser()
    add_common(blank, server=True)
    return frozenset(name for action in _actions(blank) for name in action.option_strings)


_COMMON = _common()
