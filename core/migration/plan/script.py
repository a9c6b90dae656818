"""A plan as a POSIX shell script for the workstation: it shows each step, asks, runs it, stops at a failure."""

from core.migration.model.plan import Login, Plan, Step, call_of
from core.servers.profiles import Profile, Rights
from core.servers.shell import Shell, command, sudo

_END = """
echo
if [ -n "$skipped" ]; then
  printf 'the end of the plan is reached, but these steps were skipped:\\n%s' "$skipped"
else
  echo 'the plan is done'
fi
"""


_HEAD = r"""
set -u
if [ "${1-}" != run ]; then
  echo "usage: $0 run" >&2
  echo "Runs the plan step by step and asks before each one; read the steps first. Nothing was done." >&2
  exit 2
fi
outputs=$(mktemp -d) || exit 1
trap 'rm -rf -- "$outputs"' EXIT
trap 'exit 4' INT TERM

skipped=

ask() { # NUMBER TITLE REASON NEEDED
  printf '\n%s. %s\n   %s\n' "$1" "$2" "$3"
  while :; do
    if [ -n "$4" ]; then printf '   [y]es, [q]uit? '; else printf '   [y]es, [s]kip, [q]uit? '; fi
    read -r answer || { echo; exit 4; }
    case $answer in
      y|yes) return 0 ;;
      s|skip)
        if [ -z "$4" ]; then
          skipped="$skipped   $1. $2
"
          return 1
        fi
        echo '   this step cannot be skipped: what follows stands on it' ;;
      q|quit) exit 4 ;;
    esac
  done
}

show() { # FILE
  lines=$(($(wc -l < "$1")))
  head -n 40 -- "$1"
  if [ ! -s "$1" ]; then echo '   it printed nothing'; fi
  if [ "$lines" -gt 40 ]; then
    echo "   $((lines - 40)) more, $lines lines in all: read $1 before you answer, it goes when this script ends"
  fi
}

here() { sh -c "$1"; }

step() { # NUMBER TITLE REASON NEEDED SIDE COMMAND INPUT AGREES PRIVATE
  ask "$1" "$2" "$3" "$4" || return 0
  if [ -n "$7" ]; then input=$outputs/$7; else input=/dev/null; fi
  if [ ! -e "$input" ]; then echo "step $7 did not run: its output is needed here" >&2; exit 1; fi
  "$5" "$6" < "$input" > "$outputs/$1"
  status=$?
  if [ -n "$9" ]; then echo '   what it printed is for a later step alone'; else show "$outputs/$1"; fi
  if [ "$status" -ne 0 ]; then
    echo "step $1 failed with exit status $status; the steps before it and their undo stand above" >&2
    exit 1
  fi
  if [ -n "$8" ] && ! cmp -s -- "$outputs/$8" "$outputs/$1"; then
    echo "step $1 failed: it does not print what step $8 printed" >&2
    diff -- "$outputs/$8" "$outputs/$1" >&2
    exit 1
  fi
}
"""


def login(side: str, profile: Profile) -> Login:
    """How the script reaches a server of that profile; what the profile leaves open is ssh's own business."""
    options: list[str | int] = []
    for flag, value in (("-p", profile.port), ("-i", profile.identity_file), ("-J", profile.jump)):
        if value is not None:
            options += [flag, value]
    destination = profile.address if profile.user is None else f"{profile.user}@{profile.address}"
    ssh = command("ssh", *options, "--", destination)
    return Login(side, profile.name, ssh.text, profile.user, profile.rights.value)


def script(plan: Plan) -> str:
    """The plan as a script; run without its one word `run` it does nothing but say so."""
    logins = {each.side: each for each in plan.logins}
    lines = [
        "#!/bin/sh",
        f"# {_comment(f'The plan of the move {plan.move}: {plan.transport}')}",
        f"# {_comment(plan.why)}",
    ]
    lines += [f"# {_comment(warning)}" for warning in plan.warnings]
    lines.append(_HEAD)
    for each in plan.logins:
        lines += _functions(each)
    for step in plan.steps:
        lines += ["", *_step(step, plan, logins)]
    return "\n".join(lines) + "\n" + _END


def _functions(each: Login) -> list[str]:
    """How a command reaches a server; with a sudo password, asked once, ahead of the command's own input."""
    plain = f'{each.side}() {{ {each.ssh} "$1"; }}'
    if each.rights != Rights.SUDO_PASSWORD:
        return [plain]
    password = f"{each.side}_password"
    prompt = command("printf", "%s", f"sudo password of {_line(each.server)}: ").text
    return [
        plain,
        f"{prompt}; stty -echo; read -r {password}; stty echo; echo",
        f'{each.side}_sudo() {{ {{ printf \'%s\\n\' "${password}"; cat; }} | {each.ssh} "$1"; }}',
    ]


def _step(step: Step, plan: Plan, logins: dict[str, Login]) -> list[str]:
    marks = " [cluster stopped]" * step.stopped + " [POINT OF NO RETURN]" * step.point_of_no_return
    title, reason, undo = _line(step.title + marks), _line(step.reason), _comment(step.undo)
    head = [f"# undo: {undo}"] if step.undo else []
    needed = "" if step.skippable else "needed"
    if step.by_person:
        return [*head, f"{command('ask', step.number, title, reason, needed).text} || :"]
    remote, function = _as_user(step, plan, logins)
    numbers = {each.name: each.number for each in plan.steps}
    source, agrees = numbers.get(step.reads, ""), numbers.get(step.agrees_with, "")
    where = f"{title} (on {_line(step.server)} as {_line(step.user)})"
    private = "private" if step.private else ""
    words = (step.number, where, reason, needed, function, remote, source, agrees, private)
    return [*head, command("step", *words).text]


def _as_user(step: Step, plan: Plan, logins: dict[str, Login]) -> tuple[Shell, str]:
    """The step's command as its user, by the rights of the login; and the function that takes it there."""
    call = call_of(plan, step.call)
    inner = Shell(f"{call.functions}\n{call.text}", call.shown, compound=True)
    if step.side == "you":
        return inner, "here"
    login_ = logins[step.side]
    if step.user == login_.user or login_.rights == Rights.NONE:
        return command("sh", "-c", inner), step.side
    if login_.rights == Rights.SUDO_PASSWORD:
        # -k: always read the password, or it would become the command's input
        words = ("sudo", "-k", "-S", "-p", "", "-u", step.user, "--", "sh", "-c")
        return command(*words, inner), f"{step.side}_sudo"
    return sudo(inner, user=step.user), step.side


def _line(text: str) -> str:
    return " ".join(text.split())


def _comment(text: str) -> str:
    """One line without control characters: nothing breaks out of a comment."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
