"""Completion for bash, zsh and fish: scripts that know the whole command line, and ask pghaul for names alone."""

from collections.abc import Callable, Iterable, Mapping

from core.cli.manual.outline import Argument, Command

_BASH = """\
# Completion of pghaul for bash, made by: pghaul completion bash
_pghaul_words() { mapfile -t COMPREPLY < <(compgen -W "$*" -- "$current"); }
_pghaul_names() { mapfile -t COMPREPLY < <(compgen -W "$(pghaul completion "$1" 2>/dev/null)" -- "$current"); }
_pghaul_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); }

_pghaul() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' place=0 skip='' word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $skip ]]; then
      skip=''
      continue
    fi
    case "${command:+$command }$word" in
@COMMANDS@) command="${command:+$command }$word" ;;
@VALUED@) skip=1 ;;
-* | *' -'*) ;;
*) place=$((place + 1)) ;;
    esac
  done
  case "${command:+$command }$previous" in
@VALUES@
  esac
  if [[ $current == -* ]]; then
    case "$command" in
@OPTIONS@
    esac
    return
  fi
  case "$command|$place" in
@PLACES@
  esac
}
complete -F _pghaul pghaul
"""

_ZSH = """\
#compdef pghaul
# Completion of pghaul for zsh, made by: pghaul completion zsh
@NAMES@
@FUNCTIONS@
if [[ $funcstack[1] == _pghaul ]]; then
  _pghaul "$@"
else
  compdef _pghaul pghaul
fi
"""

_ZSH_NAMES = """\
_pghaul_@OF@() {
  local -a names=(${(f)"$(pghaul completion @OF@ 2>/dev/null)"})
  compadd "$@" -a names
}"""

_FISH = """\
# Completion of pghaul for fish, made by: pghaul completion fish
function __pghaul_at --description 'Whether the words so far name this command, and none below it'
    set -l known @COMMANDS@
    set -l command
    for word in (commandline -opc)[2..]
        contains -- (string join -- ' ' $command $word) $known; and set -a command $word
    end
    test "$command" = "$argv"
end
complete -c pghaul -f
@LINES@
"""


def script(program: Command, shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`."""
    return SHELLS[shell](program)


def _bash(program: Command) -> str:
    commands = program.all()
    valued = [_spelt(command, name) for command in commands for each in _valued(command) for name in each.options]
    values = [
        f"{'|'.join(_spelt(command, name) for name in each.options)}) {_bash_values(each)}return ;;"
        for command in commands
        for each in _valued(command)
    ]
    options = [f"'{' '.join(each.words)}') _pghaul_words {_names(each.options)} ;;" for each in commands]
    places = [line for command in commands for line in _bash_places(command)]
    filled = {
        "@COMMANDS@": "|".join(f"'{' '.join(each.words)}'" for each in commands if each.words),
        "@VALUED@": "|".join(valued),
        "@VALUES@": "\n".join(values),
        "@OPTIONS@": "\n".join(options),
        "@PLACES@": "\n".join(places),
    }
    return _filled(_BASH, filled)


def _spelt(command: Command, word: str) -> str:
    return f"'{' '.join((*command.words, word))}'"


def _valued(command: Command) -> list[Argument]:
    return [each for each in command.options if each.value]


def _names(options: Iterable[Argument]) -> str:
    return " ".join(name for each in options for name in each.options)


def _bash_places(command: Command) -> list[str]:
    """What may stand at each place behind the command's words."""
    at = " ".join(command.words)
    if command.verbs:
        return [f"'{at}|0') _pghaul_words {' '.join(verb.words[-1] for verb in command.verbs)} ;;"]
    lines, place = [], 0
    for each in command.positionals:
        known = _bash_values(each)
        if known:
            lines.append(f"'{at}|'{'*' if each.places is None else place}) {known};;")
        place += each.places or 0
    return lines


def _bash_values(argument: Argument) -> str:
    if argument.choices:
        return f"_pghaul_words {' '.join(argument.choices)}; "
    return {"files": "_pghaul_files; ", "": ""}.get(argument.of, f"_pghaul_names {argument.of}; ")


def _zsh(program: Command) -> str:
    named = {argument.of for command in program.all() for argument in command.arguments} - {"files", ""}
    filled = {
        "@NAMES@": "\n".join(_filled(_ZSH_NAMES, {"@OF@": of}) for of in sorted(named)),
        "@FUNCTIONS@": "\n".join(_zsh_function(command) for command in program.all()),
    }
    return _filled(_ZSH, filled)


def _zsh_function(command: Command) -> str:
    name = _zsh_name(command)
    lines = [_zsh_option(each) for each in command.options]
    if not command.verbs:
        lines += [f"'{_zsh_place(each)}'" for each in command.positionals]
        return f"{name}() {{\n  _arguments -s \\\n    " + " \\\n    ".join(lines) + "\n}"
    listed = "\n".join(f"      '{verb.words[-1]}:{_zsh_text(verb.help)}'" for verb in command.verbs)
    below = "\n".join(f"      {verb.words[-1]}) {_zsh_name(verb)} ;;" for verb in command.verbs)
    lines += ["'1: :->word'", "'*:: :->rest'"]
    return (
        f"{name}() {{\n  local curcontext=$curcontext state line\n  local -a words_known\n  _arguments -C \\\n    "
        + " \\\n    ".join(lines)
        + f"\n  case $state in\n  word)\n    words_known=(\n{listed}\n    )\n"
        + "    _describe 'command' words_known\n    ;;\n"
        + f"  rest)\n    case $words[1] in\n{below}\n    esac\n    ;;\n  esac\n}}"
    )


def _zsh_name(command: Command) -> str:
    return "_" + "_".join(("pghaul", *command.words)).replace("-", "_")


def _zsh_option(option: Argument) -> str:
    names = option.options
    others = "*" if option.repeats else f"({' '.join(names)})" if len(names) > 1 else ""
    value = f":{_zsh_text(option.value)}:{_zsh_values(option)}" if option.value else ""
    specification = f"'[{_zsh_text(option.help)}]{value}'"
    return (
        f"'{others}'{{{','.join(names)}}}{specification}" if len(names) > 1 else f"'{others}{names[0]}'{specification}"
    )


def _zsh_place(argument: Argument) -> str:
    place = "*" if argument.places is None else ""
    return f"{place}:{_zsh_text(argument.value)}:{_zsh_values(argument)}"


def _zsh_values(argument: Argument) -> str:
    if argument.choices:
        return f"({' '.join(argument.choices)})"
    return {"files": "_files", "": " "}.get(argument.of, f"_pghaul_{argument.of}")


def _zsh_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]")
    return escaped.replace("'", "'\\''")


def _fish(program: Command) -> str:
    lines = [line for command in program.all() for line in _fish_lines(command)]
    commands = " ".join(f"'{' '.join(each.words)}'" for each in program.all() if each.words)
    return _filled(_FISH, {"@COMMANDS@": commands, "@LINES@": "\n".join(lines)})


def _fish_lines(command: Command) -> list[str]:
    at = f"complete -c pghaul -n '__pghaul_at {' '.join(command.words)}'"
    verbs = [f"{at} -a {verb.words[-1]} -d {_fish_text(verb.help)}" for verb in command.verbs]
    options = [f"{at} {_fish_option(each)}" for each in command.options]
    places = [f"{at} {_fish_values(each)}" for each in command.positionals if _fish_values(each)]
    return [*verbs, *options, *places]


def _fish_option(option: Argument) -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.options]
    values = ["-r", _fish_values(option)] if option.value else []
    return " ".join([*names, *(each for each in values if each), "-d", _fish_text(option.help)])


def _fish_values(argument: Argument) -> str:
    if argument.choices:
        return f"-a '{' '.join(argument.choices)}'"
    return {"files": "-F", "": ""}.get(argument.of, f"-a '(pghaul completion {argument.of} 2>/dev/null)'")


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _filled(template: str, parts: Mapping[str, str]) -> str:
    for name, text in parts.items():
        template = template.replace(name, text)
    return template


SHELLS: Mapping[str, Callable[[Command], str]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
