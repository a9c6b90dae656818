"""Faults for every step of a move, made from its plan: programs that fail in the middle, and a workstation that dies.

Both hosts get a program ahead of each one that the plan's functions name, which passes on to it. In a step that is to
fail they count what the step runs. From the chosen call on each of them fails, as on a host that has no memory left, so
that a part of the step's work is done. What fails is mended as soon as the step has failed.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.history.store import Store
from core.jobs import Job
from core.migration.model.execution import StepRun
from core.migration.model.plan import Plan, Step
from core.servers.connection import Completed, Server
from core.servers.shell import Shell
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.live.moving import NEW_BIN, SERVER
from tests.live.test_script import Script

BEFORE, AFTER, DIES = 1, -1, -2
"""Where a step fails, besides at a call of its own: ahead of all its work; behind it; or it is done, and the
workstation loses its power before that is recorded."""
CAUSE = "Cannot allocate memory"
"""What a failing program says."""

_COUNTED = "/usr/local/walk"
_AHEAD = f"""#!/bin/sh
real=$0.built
for folder in /usr/bin /usr/sbin; do [ -x "$real" ] || real=$folder/${{0##*/}}; done
counted={_COUNTED}/${{WALKED%:*}}
if [ -n "$WALKED" ] && [ -e "$counted" ]; then
  echo "${{0##*/}}" >>"$counted"
  if [ "${{WALKED#*:}}" -gt 0 ] && [ "$(/usr/bin/wc -l <"$counted")" -ge "${{WALKED#*:}}" ]; then
    echo "${{0##*/}}: {CAUSE}" >&2
    exit 126
  fi
fi
exec "$real" "$@"
"""
_PUT = f"""
set -eu
install -d -m 777 {_COUNTED}
install -d /usr/local/bin
cat >{_COUNTED}.sh
chmod 755 {_COUNTED}.sh
for name; do
  if [ -x "/usr/bin/$name" ] || [ -x "/usr/sbin/$name" ]; then
    [ -e "/usr/local/bin/$name" ] || cp -p {_COUNTED}.sh "/usr/local/bin/$name"
  fi
  for folder in {SERVER}/bin {NEW_BIN}; do
    if [ -x "$folder/$name" ] && [ ! -e "$folder/$name.built" ]; then
      mv "$folder/$name" "$folder/$name.built"
      cp -p {_COUNTED}.sh "$folder/$name"
    fi
  done
done
"""
_TAKE_AWAY = f"""
for each in /usr/local/bin/*; do if cmp -s "$each" {_COUNTED}.sh; then rm -f "$each"; fi; done
for each in {SERVER}/bin/*.built {NEW_BIN}/*.built; do [ ! -e "$each" ] || mv "$each" "${{each%.built}}"; done
rm -rf {_COUNTED} {_COUNTED}.sh
rmdir /usr/local/bin
true
"""
_LEFT_ALONE = {"sleep", "postgres", "initdb", "sudo", "env", "bash", "timeout"}
"""Nobody knows how often one runs; or another program looks at what it is."""


class Died(BaseException):
    """The workstation has lost its power."""


def key_of(run: StepRun) -> str:
    """A step of the plan, or of its way back."""
    return f"back-{run.number}" if run.back else str(run.number)


def put_programs(host: Host, plan: Plan) -> None:
    """The programs that may fail, ahead of those that the plan's functions may name."""
    names = set(re.findall(r"(?<![\w$/-])[a-z_][a-z0-9_.-]*", plan.functions)) - _LEFT_ALONE
    host.exec("sh", "-c", _PUT, "sh", *sorted({*names, "sh"}), input=_AHEAD)


def begin_counting(host: Host, key: str) -> None:
    host.exec("/bin/sh", "-c", ': >"$0" && chmod 666 "$0"', f"{_COUNTED}/{key}")


def end_counting(host: Host, key: str) -> list[str]:
    """The programs that the step has run; from now on none of them fails."""
    return host.exec("/bin/sh", "-c", 'cat "$0" && rm "$0"', f"{_COUNTED}/{key}").stdout.split()


@dataclass
class Walk:
    """Steps that fail while pghaul carries a plan out in this process.

    Attributes:
        faults: by step, at which call it fails, a try after the other.
        plan: what is carried out, once it has begun.
        looks: what each step runs is kept in `calls`.
        failed: at which calls each step has failed; `hit`: which steps have, in order.
        left_out: the steps that were not needed.
        begins: told of each step that is about to begin.
    """

    lab: Lab
    faults: dict[str, list[int]] = field(default_factory=dict)
    looks: bool = False
    plan: Plan | None = None
    calls: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, list[int]] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    hit: list[str] = field(default_factory=list)
    begins: Callable[[Step], None] = lambda step: None  # noqa: ARG005
    _armed: dict[str, tuple[Step, int]] = field(default_factory=dict)
    _put: bool = False

    def host(self, step: Step) -> Host:
        return self.lab.old if step.side == "old" else self.lab.new

    def mark(self, side: str, title: str, text: str) -> tuple[str, int] | None:
        """The step that this command is of, where it is to fail, and at which call."""
        for key, (step, call) in list(self._armed.items()):
            detached = text.startswith("job_start ") and re.search(rf"\[[0-9a-f]{{8}} {step.number}\]", text)
            if call != DIES and step.side == side and (title == step.title or detached):
                return key, call
        return None

    def step_begins(self, plan: Plan, run: StepRun) -> None:
        self.plan = plan
        key, step = key_of(run), (plan.way_back if run.back else plan.steps)[run.number - 1]
        self.begins(step)
        left = self.faults.get(key, [])
        if not left and not self.looks:
            return
        self._armed[key] = step, left.pop(0) if left else 0
        if step.side is None or self._armed[key][1] < 0:
            return
        if not self._put:
            self._put = True
            for host in (self.lab.old, self.lab.new):
                put_programs(host, plan)
        begin_counting(self.host(step), key)

    def step_ends(self, run: StepRun) -> None:
        """Mend what failed; raises Died where the workstation is to die."""
        key = key_of(run)
        if key not in self._armed:
            return
        step, call = self._armed.pop(key)
        if step.side is not None and call >= 0:
            self.calls[key] = end_counting(self.host(step), key)
        if run.exit_status == 0 and run.message:
            self.left_out.add(key)
        if call == DIES or (call and run.exit_status != 0):
            self.hit.append(key)
            self.failed.setdefault(key, []).append(call)
        if call == DIES:
            raise Died(key)


def faults_of(step: Step, calls: int) -> list[int]:
    """In the middle of its work, behind it, and unseen."""
    if step.side is None:
        return [DIES]
    middle = [max(BEFORE, (calls + 1) // 2)]
    return [*middle, DIES] if step.detached else [*middle, AFTER, DIES]


@contextmanager
def walking(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """A walk through what this process carries out; in the end both hosts have their programs as before."""
    walk = Walk(lab)
    run, started, ended = Server.run, Store.step_started, Store.step_ended

    def walked_run(server: Server, shell: Shell, job: Job, *, title: str = "", **others: Any) -> Completed:
        marked = walk.mark(server.name, title, shell.text)
        if marked is not None:
            key, call = marked
            behind = f"{{ echo 'sh: {CAUSE}' >&2; exit 126; }}" if call == AFTER else "sh -c :"
            text = f"export WALKED='{key}:{call}'\nsh -c : || exit\n{shell.text} && {behind}"
            shell = Shell(text, text, compound=True, functions=shell.functions)
        return run(server, shell, job, title=title, **others)

    def walked_start(store: Store, execution: int, each: StepRun) -> int:
        walk.step_begins(store.execution(execution).plan, each)
        return started(store, execution, each)

    def walked_end(store: Store, each: StepRun) -> None:
        walk.step_ends(each)
        ended(store, each)

    with monkeypatch.context() as patch, without_programs_in_the_end(lab):
        patch.setattr(Server, "run", walked_run)
        patch.setattr(Store, "step_started", walked_start)
        patch.setattr(Store, "step_ended", walked_end)
        yield walk


@contextmanager
def without_programs_in_the_end(lab: Lab) -> Iterator[None]:
    """Both hosts have their own programs again, however this ends."""
    try:
        yield
    finally:
        for host in (lab.old, lab.new):
            host.exec("/bin/sh", "-c", _TAKE_AWAY)


_SSH = """#!/bin/sh
# the call of a step that is to fail has its mark in its environment, behind what makes it another user's
begun=$(awk '/ Begun by / { step = 0 } / Step [0-9]+ begins: / { step = $4 } END { print step }' '@log@' 2>/dev/null)
if [ -s '@fault@' ] && read -r number call <'@fault@' && [ "$number" = "$begun" ] && [ "$call" -gt 0 ]; then
  rm '@fault@'
  left=$#
  for word; do
    shift
    left=$((left - 1))
    if [ "$left" -eq 0 ]; then word="${word%%sh -c *}env WALKED=$number:$call sh -c ${word#*sh -c }"; fi
    set -- "$@" "$word"
  done
fi
exec '@ssh@' "$@"
"""
_MV = f"""#!/bin/sh
# what a step printed is about to be kept: here the workstation dies
for last; do :; done
if [ -s '@fault@' ] && read -r number call <'@fault@' && [ "$call" -eq {DIES} ]; then
  case $last in */"$number")
    rm '@fault@'
    kill -s KILL "$PPID"
    exit 1
    ;;
  esac
fi
exec /bin/mv "$@"
"""


class FailingScript(Script):
    """A plan's script whose steps can be made to fail."""

    def __init__(self, plan: Plan, lab: Lab, folder: Path) -> None:
        super().__init__(plan, lab, folder)
        self.lab, self.fault = lab, folder / "fault"
        ours = folder / "programs"
        (ours / "ssh").rename(ours / "ssh.plain")
        names = {"@fault@": str(self.fault), "@log@": str(folder / "move.log"), "@ssh@": str(ours / "ssh.plain")}
        for name, text in (("ssh", _SSH), ("mv", _MV)):
            (ours / name).write_text(re.sub("@[a-z]+@", lambda found: names[found[0]], text))
            (ours / name).chmod(0o755)
        (folder / "said").touch()
        for host in (lab.old, lab.new):
            put_programs(host, plan)

    def fails_at(self, step: Step, call: int, *options: str) -> int:
        """How it ends when that step fails there; negative where it was killed."""
        self.fault.write_text(f"{step.number} {call}\n")
        host = self.lab.old if step.side == "old" else self.lab.new
        begin_counting(host, str(step.number))
        try:
            return self.answered(*options, answers=self.answers(int(options[1]) if options else 1))
        finally:
            self.fault.unlink(missing_ok=True)
            end_counting(host, str(step.number))

    def way_on(self) -> tuple[str, ...]:
        """What it has said last of how to go on."""
        return tuple(
            re.findall(rf"^To go on: +{re.escape(str(self.path))} (.*)$", self.said(), re.MULTILINE)[-1].split()
        )
