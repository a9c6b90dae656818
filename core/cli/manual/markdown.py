"""The reference of the command line as Markdown."""

import re
import textwrap
from collections.abc import Iterable

from core.cli.manual.outline import Argument, Command
from core.cli.manual.surroundings import EXIT_CODES, FILES, SECRETS, VARIABLES, Entry

_COLUMNS = 90


def command_line(program: Command) -> str:
    """Every command with its arguments, those that all share once."""
    commands = [each for each in program.all() if not each.verbs]
    common = {each.options: each for command in commands for each in command.options if each.common}
    parts = [
        "# Command line\n",
        f"{prose(program.description)}\n",
        *(_command(command) for command in commands),
        "## Options of every command\n",
        _table(("option", "meaning"), (_row(each) for each in common.values())),
    ]
    return "\n".join(parts)


def exit_codes() -> str:
    """What a script can rely on."""
    return "# Exit codes\n\n" + _entries(("code", "meaning"), EXIT_CODES)


def settings() -> str:
    """Variables of the environment and files."""
    return (
        f"# Variables and files\n\n## Variables of the environment\n\n{_entries(('variable', 'meaning'), VARIABLES)}\n"
        f"## Files\n\n{_entries(('file', 'meaning'), FILES)}\n{SECRETS}\n"
    )


def _command(command: Command) -> str:
    own = [each for each in (*command.positionals, *command.options) if not each.common]
    parts = [
        f"## {command.name}\n",
        f"{prose(command.description or command.help[:1].upper() + command.help[1:])}\n",
        f"```text\n{_folded(command.usage)}\n```\n",
        _table(("argument", "meaning"), (_row(each) for each in own)) if own else "",
        f"```text\n{command.epilog}\n```\n" if command.epilog else "",
    ]
    return "\n".join(part for part in parts if part)


def _folded(usage: str) -> str:
    return textwrap.fill(usage, _COLUMNS, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _row(argument: Argument) -> tuple[str, str]:
    named = ", ".join(f"`{name}`" for name in argument.options)
    value = f"`{argument.value}`" if argument.value else ""
    return f"{named} {value}".strip(), prose(argument.help)


def _entries(head: tuple[str, str], entries: Iterable[Entry]) -> str:
    return _table(head, ((f"`{each.name}`", prose(each.meaning)) for each in entries))


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {_cell(first)} | {_cell(second)} |" for first, second in rows]
    return "\n".join([f"| {head[0]} | {head[1]} |", "| --- | --- |", *lines]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def prose(text: str) -> str:
    """Return words of a terminal as Markdown: commands in backticks stay code, every other mark stands for itself."""
    parts = re.split(r"(`[^`\n]+`)", text)  # every second one is code
    return "".join(part if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    for mark in "\\*_<>[]~`":
        text = text.replace(mark, f"\\{mark}")
    return text
