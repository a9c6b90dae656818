"""The reference of the command line as Markdown."""

import re
import textwrap
from collections.abc import Iterable, Mapping

from core.cli.manual.outline import Argument, Command
from core.cli.manual.surroundings import EXIT_CODES, FILES, SECRETS, VARIABLES, Entry

_COLUMNS = 90
"""Of a usage line: as many as the site has room for."""


def command_line(program: Command) -> Mapping[str, str]:
    """Return the pages by their file names: `command-line.md` for the program, `pghaul-server.md`… for each noun."""
    pages = {f"{noun.name.replace(' ', '-')}.md": _noun(noun) for noun in program.verbs}
    rows = (
        (f"[`{noun.name}`]({name})", prose(_sentence(noun.help)))
        for noun, name in zip(program.verbs, pages, strict=True)
    )
    common = {each.options: each for command in program.all() for each in command.options if each.common}
    of_all = set.intersection(*({each.options for each in one.options} for one in program.all() if not one.verbs))
    sections = (
        ("Options of every command", [each for each in common.values() if each.options in of_all]),
        (
            "Options of every command that connects to a server",
            [each for each in common.values() if each.options not in of_all],
        ),
        ("Options without a command", [each for each in program.options if not each.common]),
    )
    parts = [
        "# Command line\n",
        f"{prose(program.description)}\n",
        "\n".join(["```{toctree}", ":hidden:", "", *(name.removesuffix(".md") for name in pages), "```\n"]),
        _table(("command", "purpose"), rows),
        *_epilog(program),
        *(f"## {title}\n\n{_table(('option', 'meaning'), map(_row, options))}" for title, options in sections),
    ]
    return {"command-line.md": "\n".join(parts), **pages}


def exit_codes() -> str:
    """What a script can rely on."""
    return "# Exit codes\n\n" + _entries(("code", "meaning"), EXIT_CODES)


def settings() -> str:
    """Variables of the environment and files."""
    return (
        f"# Variables and files\n\n## Variables of the environment\n\n{_entries(('variable', 'meaning'), VARIABLES)}\n"
        f"## Files\n\n{_entries(('file', 'meaning'), FILES)}\n{SECRETS}\n"
    )


def _noun(noun: Command) -> str:
    head = f"# {noun.name}\n"
    more = "Further options: [options of every command](command-line.md#options-of-every-command).\n"
    if not noun.verbs:
        return "\n".join((head, *_command(noun), more))
    parts = [part for verb in noun.verbs for part in (f"## {verb.name}\n", *_command(verb))]
    said = noun.description or _sentence(noun.help)
    return "\n".join((head, f"{prose(said)}\n", *parts, *_epilog(noun), more))


def _command(command: Command) -> Iterable[str]:
    own = [each for each in (*command.positionals, *command.options) if not each.common]
    yield f"{prose(command.description or _sentence(command.help))}\n"
    yield f"```{{code-block}} text\n:class: usage\n\n{_folded(command.usage)}\n```\n"
    if own:
        yield _table(("argument", "meaning"), (_row(each) for each in own))
    yield from _epilog(command)


def _epilog(command: Command) -> Iterable[str]:
    if command.epilog:
        yield f"```text\n{command.epilog}\n```\n"


def _sentence(text: str) -> str:
    """Return the summary of a command, which argparse has without capital and full stop, as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


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
