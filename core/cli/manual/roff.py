"""Manual pages: one for the program, one for each noun. Macros: https://man7.org/linux/man-pages/man7/man.7.html"""

import re
from collections.abc import Iterable, Mapping

from core.cli.manual.outline import Argument, Command
from core.cli.manual.surroundings import EXIT_CODES, FILES, SECRETS, VARIABLES, Entry

_SPELT = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha", "…": "..."})
"""Characters that roff would read, or set as others."""
_SEE_ALSO = ("ssh", "rsync", "fio", "pg_controldata")


def pages(program: Command, version: str) -> Mapping[str, str]:
    """The text of each page by its file's name: `pghaul.1`, `pghaul-server.1`…"""
    made = {"pghaul.1": _main(program, version)}
    return made | {f"pghaul-{noun.words[0]}.1": _noun(noun, version) for noun in program.verbs}


def _main(program: Command, version: str) -> str:
    summary, _, rest = program.description.partition("\n")
    nouns = [
        line
        for noun in program.verbs
        for line in (".TP", f".BR pghaul\\-{_text(noun.words[0])} (1)", _text(_sentence(noun.help)))
    ]
    parts = [
        _head("pghaul", version, summary),
        [".SH SYNOPSIS", r"\fBpghaul\fR", ".br", r"\fBpghaul\fR \fICOMMAND\fR [\fIARGUMENTS\fR]"],
        [".SH DESCRIPTION", _text(summary), _text(rest), "With a command, it runs that command in the terminal."],
        [".SH COMMANDS", *nouns],
        [".SH OPTIONS", *_items(program.options)],
        [".SH EXIT STATUS", *_entries(EXIT_CODES)],
        [".SH ENVIRONMENT", *_entries(VARIABLES)],
        [".SH FILES", *_entries(FILES), ".PP", _text(SECRETS)],
        [".SH EXAMPLES", *_as_it_is(program.epilog)],
        _see_also(_SEE_ALSO),
    ]
    return _joined(parts)


def _noun(noun: Command, version: str) -> str:
    commands = [each for each in noun.all() if not each.verbs]
    common = {each.options: each for command in noun.all() for each in command.options if each.common}
    parts = [
        _head(noun.name.replace(" ", "-"), version, noun.help),
        [".SH SYNOPSIS", *(line for command in commands for line in _synopsis(command))],
        [".SH DESCRIPTION", _text(noun.description or _sentence(noun.help))],
        *(_command(command) for command in commands),
        [".SH COMMON OPTIONS", *_items(common.values())],
        [".SH EXIT STATUS", "See", r".BR pghaul (1)."],
        *([[".SH EXAMPLES", *_as_it_is(noun.epilog)]] if noun.epilog else []),
        _see_also(["pghaul"]),
    ]
    return _joined(parts)


def _command(command: Command) -> list[str]:
    own = [each for each in (*command.positionals, *command.options) if not each.common]
    if len(command.words) == 1:
        return [".SH OPTIONS", *_items(own)] if own else []
    description = command.description or _sentence(command.help)
    return [f".SH {_text(command.name).upper()}", _text(description), *_items(own)]


def _head(name: str, version: str, summary: str) -> list[str]:
    title = f'.TH {_text(name.upper())} 1 "" "pghaul {version}" "User Commands"'
    return [title, ".SH NAME", f"{_text(name)} \\- {_text(summary[:1].lower() + summary[1:].rstrip('.'))}"]


def _synopsis(command: Command) -> list[str]:
    arguments = command.usage.removeprefix(command.name).strip()
    return [".PP", f"\\fB{_text(command.name)}\\fR {_text(arguments)}"]


def _items(arguments: Iterable[Argument]) -> list[str]:
    lines = []
    for each in arguments:
        value = f"\\fI{_text(each.value)}\\fR"
        named = ", ".join(f"\\fB{_text(name)}\\fR" for name in each.options)
        lines += [".TP", f"{named} {value}" if named and each.value else named or value, _text(each.help)]
    return lines


def _entries(entries: Iterable[Entry]) -> list[str]:
    return [line for each in entries for line in (".TP", f"\\fB{_text(each.name)}\\fR", _text(each.meaning))]


def _as_it_is(text: str) -> list[str]:
    return [".EX", *(_text(line) for line in text.splitlines()), ".EE"]


def _see_also(names: Iterable[str]) -> list[str]:
    return [".SH SEE ALSO", *(f".BR {_text(name)} (1)" for name in names)]


def _sentence(text: str) -> str:
    """As argparse has it (`list the servers`), as a page has it."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _text(text: str) -> str:
    """Words that roff shows as they are: a line that begins with a point or an apostrophe would be a request."""
    shown = text.translate(_SPELT)
    return re.sub(r"^(?=\.)", r"\\&", shown, flags=re.MULTILINE)


def _joined(parts: Iterable[Iterable[str]]) -> str:
    return "\n".join(line for part in parts for line in part) + "\n"
