"""A plan as a script: run here, by programs that stand in for ssh and sudo, over steps that do no harm."""

import re
import secrets
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.migration.model import step_ids
from core.migration.model.plan import ChannelUse, OperatorTask, Phase, Plan, Step, with_resume_policies
from core.migration.plan import script
from core.servers.functions import functions
from core.servers.profiles import Rights
from core.settings import resource
from core.sides import Side
from tests.core.migration.builders import space
from tests.core.migration.plan.plans import odd_plan, plan
from tests.lab.machine import wait_until
from tests.steps import change_step, make_step

pytestmark = pytest.mark.filling

SHELLS = ("dash", "bash")
RATHER_DASH = ("dash", pytest.param("bash", marks=pytest.mark.long))

SSH = """
case $* in *'-O exit'*) exit ;; esac
for line do :; done
printf '%s\\n' "$line" >>@folder@/asked
exec setsid -w sh -c "$line"
"""
"""Runs here what ssh would run there, in a process group of its own, as sshd does."""

SUDO = """
case $* in *' -S '*) read -r password; printf '%s\\n' "$password" >>@folder@/passwords ;; esac
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""

ID = '[ "$1" != -un ] || exec echo dba; exec /usr/bin/id "$@"'


class Run:
    """A script in a folder of its own, with what stands in for ssh, sudo and the login's name."""

    def __init__(self, made: Plan, folder: Path, shell: str = "dash") -> None:
        self.folder, self.shell = folder, shell
        self.environment = {"PATH": f"{folder}/programs:/usr/bin:/bin:/usr/sbin:/sbin", "TMPDIR": str(folder)}
        self.path = folder / "move.sh"
        logins = [replace(each, ssh=f"ssh -- {each.side}") for each in made.logins]
        token = secrets.token_hex(4)  # what a test that broke off has locked stays locked
        own = replace(
            made, logins=tuple(logins), data_directory=f"{folder}/old-{token}", target=f"{folder}/new-{token}"
        )
        self.path.write_text(script(own), encoding="utf-8")
        (folder / "programs").mkdir()
        for name, body in (("ssh", SSH), ("sudo", SUDO), ("id", ID), ("stty", ":")):
            program = folder / "programs" / name
            program.write_text("#!/bin/sh\n" + body.replace("@folder@", str(folder)))
            program.chmod(0o755)

    def __call__(
        self, *options: str, answers: str = "", path: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.shell, str(path or self.path), *options],
            input=answers,
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    def begun(self) -> "subprocess.Popen[str]":
        """Started, to be answered and signalled."""
        return subprocess.Popen(
            [self.shell, str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.folder,
            text=True,
        )

    def asked(self) -> list[str]:
        """What the servers were asked for by ssh."""
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []

    def log(self) -> str:
        return (self.folder / "move.log").read_text()


def lock_names(run: Run) -> list[Path]:
    """How the locks on old and new begin."""
    return [Path(found) for found in re.findall(r"_lock=(\S+)", run.path.read_text())[:2]]


def locks(run: Run) -> list[Path]:
    """Those that there are."""
    return [lock for name in lock_names(run) for lock in name.parent.glob(f"{name.name}-*")]


def step(call: str = "", side: Side | None = Side.OLD, title: str = "", **more: Any) -> Step:
    """A step that runs this; without a side the operator's own command, without a call a manual step."""
    if side is None or not call:
        more["action"] = OperatorTask(command=call)
    return make_step(more.pop("id", ""), title or call or "yours", side, call, **more)


def toy(*steps: Step, back: tuple[Step, ...] = (), **changes: object) -> Plan:
    """A plan of those steps."""
    numbered = tuple(change_step(each, number=at, id=each.id or f"step-{at}") for at, each in enumerate(steps, 1))
    numbered_back = tuple(change_step(each, number=at, id=f"back-{at}") for at, each in enumerate(back, 1))
    return replace(plan(), steps=with_resume_policies(numbered), way_back=numbered_back, cluster="15/main", **changes)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_steps_run_in_their_order_each_with_what_it_reads(shell: str, tmp_path: Path) -> None:
    made = toy(
        step("printf '%s\\n' 'it'\"'\"'s' '$(touch x)'", id="first", native=("print",)),
        step("cat", side=Side.NEW, reads="first", equals="first"),
        step("echo a; echo b | tr b c", side=Side.NEW),
        step("tail -n 1", reads="first", takes_functions=True),
        step("hello"),
        functions="# hello   say it\nhello() {\n  echo hello\n}\n",
    )
    run = Run(made, tmp_path, shell)
    done = run(answers="yes\n")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    kept = [(tmp_path / "move.kept" / str(number)).read_text() for number in range(1, 6)]
    assert kept == ["it's\n$(touch x)\n", "it's\n$(touch x)\n", "a\nc\n", "# whole\n", "hello\n"]
    assert "     | $(touch x)\n" in done.stdout
    assert "       print\n" in done.stdout
    assert run.log().splitlines()[-1].endswith("Everything is done.")
    assert not locks(run)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked", "move.kept", "move.log", "move.sh", "programs"]


@pytest.mark.slow
def test_what_a_server_prints_steers_no_terminal(tmp_path: Path) -> None:
    hostile = r"printf 'a\033]0;x\007\302\233b\n' | tee /dev/stderr"
    made = toy(step(hostile, id="first"), step(f"{hostile} | tr b c", side=Side.NEW, equals="first"))
    done = Run(made, tmp_path)(answers="yes\n")
    assert done.returncode != 0
    assert done.stdout.count("a^[]0;x^G") >= 4
    assert not {"\x1b", "\x07", "\x9b"} & set(done.stdout + done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--list", "--dry-run"])
def test_what_only_looks_asks_no_server(option: str, tmp_path: Path) -> None:
    run = Run(plan({"running": True}), tmp_path)
    done = run(option)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Stop the applications [downtime]" in done.stdout
    assert "[POINT OF NO RETURN]" in done.stdout
    assert run.asked() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["move.sh", "programs"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "made", [plan({"running": True, "tablespaces": (space("/s"),)}), odd_plan()], ids=["plain", "odd"]
)
def test_every_command_is_shown_as_it_runs(made: Plan, tmp_path: Path) -> None:
    """Whatever the script calls by the name of a variable, or has told of an earlier step."""
    for option, steps in ((), made.steps), (("--back",), made.way_back):
        (folder := tmp_path / "-".join(("run", *option))).mkdir()
        said = Run(made, folder)("--dry-run", *option).stdout.split("\n")
        commands = [line for line in said if line.startswith("     ")]
        told = {f"     {line}" for step in steps if step.by_person for line in (step.reason, *step.table.split("\n"))}
        assert [line for line in commands if line not in told] == [
            line
            for step in steps
            for line in (*(f"       {each}" for each in step.native), *([f"     > {step.call}"] if step.call else []))
        ]


def test_it_takes_along_only_what_its_route_and_streams_use() -> None:
    text = script(plan({"running": True}))
    for used in ("send_by_ssh() {", "use_one_stream() {", "precopy_listed() {", "copy_send=send_by_ssh\n"):
        assert used in text
    for unused in (
        "send_by_nfs",
        "send_locally",
        "read_daemon_port",
        "run_streams",
        "balance_streams",
        "full_single_stream",
        "copy_daemon",
    ):
        assert unused not in text


@pytest.mark.parametrize("options", [("run",), ("--from",), ("--from", "x"), ("--from", "99"), ("--only", "0")])
def test_what_it_does_not_understand_is_said_with_what_it_does(options: tuple[str, ...], tmp_path: Path) -> None:
    run = Run(plan(), tmp_path)
    done = run(*options)
    assert done.returncode == 2
    assert "--from N" in done.stderr
    assert run.asked() == []


@pytest.mark.parametrize("answers", ["", "no\n", "what\nno\n"])
def test_it_asks_before_it_begins(answers: str, tmp_path: Path) -> None:
    run = Run(toy(step("echo a")), tmp_path)
    done = run(answers=answers)
    assert done.returncode == 4
    assert "Steps 1 to 1" in done.stdout
    assert run.asked() == []


def channel(tmp_path: Path, middle: Step) -> Plan:
    """A key that is made, something that needs it, and the key's end."""
    return toy(
        step(f"touch {tmp_path}/prepared", required=True),
        step(f"touch {tmp_path}/key", channel=ChannelUse.OPENS),
        middle,
        step(f"rm -f {tmp_path}/key", channel=ChannelUse.CLOSES),
        step("echo end", downtime=True),
    )


@pytest.mark.slow
@pytest.mark.parametrize("shell", RATHER_DASH)
def test_a_failure_closes_what_was_opened_and_says_how_to_go_on(shell: str, tmp_path: Path) -> None:
    run = Run(channel(tmp_path, step(f"ls {tmp_path}/missing", side=Side.NEW)), tmp_path, shell)
    done = run(answers="yes\n")
    assert done.returncode == 1
    assert "missing" in done.stdout
    assert not (tmp_path / "key").exists()
    assert done.stdout.endswith(f"To go on:     {run.path} --from 3\nThe old cluster runs as before.\n")
    assert "| end" not in done.stdout
    assert "Step 3" in run.log()
    (tmp_path / "missing").touch()
    (tmp_path / "prepared").unlink()
    done = run("--from", "3", answers="yes\n")
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "prepared").exists()
    assert [int(number) for number in re.findall(r"Step (\d+) begins", run.log())] == [1, 2, 3, 2, 3, 4, 5]


@pytest.mark.slow
def test_a_signal_as_a_step_begins_ends_it_at_once(tmp_path: Path) -> None:
    """Also while the line to the server is being opened, which the signal breaks off."""
    run = Run(channel(tmp_path, step("sleep 20")), tmp_path)
    for _ in range(5):
        (tmp_path / "move.log").unlink(missing_ok=True)
        with run.begun() as process:
            assert process.stdin is not None
            process.stdin.write("yes\n")
            process.stdin.flush()
            wait_until(lambda: (tmp_path / "move.log").exists() and "Step 3 begins" in run.log(), "the step begins")
            process.terminate()
            assert process.wait(10) == 4
        assert "Step 3, sleep 20: it was interrupted." in run.log()
        assert not (tmp_path / "key").exists()
        assert not locks(run)


@pytest.mark.slow
def test_the_same_script_run_from_elsewhere_is_anothers(tmp_path: Path) -> None:
    """A colleague has it too, or it lies twice on the workstation: only one of them has the cluster in hand."""
    first = Run(toy(step("sleep 20"), step("echo c")), tmp_path)
    copied = tmp_path / "elsewhere" / "move.sh"
    copied.parent.mkdir()
    copied.write_text(first.path.read_text())
    with first.begun() as process:
        assert process.stdin is not None
        process.stdin.write("yes\n")
        process.stdin.flush()
        wait_until(lambda: len(locks(first)) == 2, "both locked")
        second = first(answers="yes\n", path=copied)
        assert second.returncode == 1
        assert "is held: " in second.stdout
        assert "If its owner no longer exists" in second.stdout
        assert len(locks(first)) == 2
        process.terminate()
        process.wait(10)
    assert not locks(first)


def test_nothing_is_left_out_that_the_rest_stands_on(tmp_path: Path) -> None:
    done = Run(channel(tmp_path, step("echo")), tmp_path)("--from", "3", answers="yes\n")
    assert done.returncode == 1
    assert "has not been done yet, and it must be done before step 3" in done.stdout


@pytest.mark.slow
def test_what_another_export_has_kept_is_of_no_use(tmp_path: Path) -> None:
    made = channel(tmp_path, step("echo"))
    run = Run(made, tmp_path)
    assert run(answers="yes\n").returncode == 0
    text = run.path.read_text()
    run.path.write_text(re.sub(r"token=\w+", "token=0123abcd", text))
    assert "has not been done yet" in run("--from", "3", answers="yes\n").stdout


@pytest.mark.slow
def test_one_step_alone(tmp_path: Path) -> None:
    run = Run(channel(tmp_path, step("echo")), tmp_path)
    refused = run("--only", "2", answers="yes\n")
    assert refused.returncode == 1
    assert "it has not been done yet, and it must be done before step 2" in refused.stdout
    assert run("--only", "1", answers="yes\n").returncode == 0
    (tmp_path / "move.log").unlink()
    assert run("--only", "2", answers="yes\n").returncode == 0
    assert (tmp_path / "key").exists()
    assert re.findall(r"Step (\d+) begins", run.log()) == ["2"]


@pytest.mark.slow
def test_what_does_not_agree_ends_it(tmp_path: Path) -> None:
    made = toy(step("echo a", id="one"), step("echo b", side=Side.NEW, equals="one"), step("echo c"))
    done = Run(made, tmp_path)(answers="yes\n")
    assert done.returncode == 1
    assert "its output differs from that of step 1" in done.stdout
    assert "< a" in done.stdout
    assert "| c" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_what_must_agree_with_an_output_that_is_missing_fails(shell: str, tmp_path: Path) -> None:
    made = toy(step("echo a", id="one"), step("echo b"), step("echo a", side=Side.NEW, equals="one"), step("echo c"))
    run = Run(made, tmp_path, shell)
    assert run("--only", "2", answers="yes\n").returncode == 0
    for options in (("--from", "2"), ("--from", "3"), ("--only", "3")):
        done = run(*options, answers="yes\n")
        assert done.returncode == 1
        assert "the output of step 1 is missing" in done.stdout
        assert f"To go on:     {run.path} --from 1\n" in done.stdout
        assert "| c" not in done.stdout
        assert not (tmp_path / "move.kept" / "3").exists()
    assert run("--from", "1", answers="yes\n").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("lost", ["2", "3", "4", "lifted", "opened"])
def test_a_step_fails_whose_output_or_record_cannot_be_kept(lost: str, shell: str, tmp_path: Path) -> None:
    made = toy(
        step("echo a", id="one"),
        step("echo a", equals="one", downtime=True),
        step("echo b", private=True),
        step("echo ended", id=step_ids.LIFT_FENCE),
        step("echo open", id=step_ids.CUTOVER),
        step("echo c"),
    )
    run = Run(made, tmp_path, shell)
    (tmp_path / "programs" / "mv").write_text(
        f'#!/bin/sh\nfor to do :; done\ncase $to in */move.kept/{lost}) exit 1 ;; esac\nexec /bin/mv "$@"\n'
    )
    (tmp_path / "programs" / "mv").chmod(0o755)
    if not lost.isdecimal():
        (tmp_path / "move.kept").mkdir()
        (tmp_path / "move.kept" / lost).symlink_to(tmp_path / "nowhere" / lost)
    done = run(answers="yes\n15/main\n")
    at = {"lifted": 4, "opened": 5}.get(lost) or int(lost)
    assert done.returncode == 1, done.stdout
    assert f"Step {at}, " in done.stdout
    assert f"{tmp_path}/move.kept/{lost}" in done.stdout
    assert f"To go on:     {run.path} --from {at}\n" in done.stdout
    assert not (tmp_path / "move.kept" / str(at)).exists()
    assert "| c" not in done.stdout


_BACK = (
    step("echo no cutover", only_checks=True),
    step("echo unchanged", side=Side.NEW, title="look at new", only_checks=True),
    step("echo stopped", side=Side.NEW, title="stop new", native=("pg_ctl stop",)),
    step("echo started", native=("systemctl start pg",)),
)


def _without_new(run: Run) -> None:
    ssh = run.folder / "programs" / "ssh"
    ssh.write_text(ssh.read_text().replace("exec setsid", "case $* in *' new '*) exit 255 ;; esac\nexec setsid"))


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_rollback_needs_no_new_server_that_was_never_released(shell: str, tmp_path: Path) -> None:
    made = toy(step("echo copy"), step("false", downtime=True), step("echo lift", id=step_ids.LIFT_FENCE), back=_BACK)
    run = Run(made, tmp_path, shell)
    assert run(answers="yes\n15/main\n").returncode == 1
    _without_new(run)
    done = run("--back", answers="yes\n")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "The new server takes no part in the rollback." in done.stdout
    assert re.findall(r"^     \| (.*)", done.stdout, re.MULTILINE) == ["no cutover", "started"]
    assert done.stdout.count("skipped, because the new server cannot be reached") == 2
    assert len(locks(run)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("known", [True, False], ids=["lifted", "not known"])
def test_a_rollback_needs_the_new_server_that_its_host_may_have_started(
    shell: str, tmp_path: Path, *, known: bool
) -> None:
    steps = (step("echo copy"), step("echo lift", id=step_ids.LIFT_FENCE), step("false", downtime=True))
    run = Run(toy(*steps, back=_BACK), tmp_path, shell)
    assert run(answers="yes\n15/main\n").returncode == 1
    if not known:  # as on another workstation
        (tmp_path / "move.kept").rename(tmp_path / "lost")
    ssh = (tmp_path / "programs" / "ssh").read_text()
    _without_new(run)
    for _ in range(2):
        done = run("--back", answers="yes\n")
        assert done.returncode == 1, done.stdout
        assert "Then roll back by hand:" in done.stdout
        assert done.stdout.index("pg_ctl stop") < done.stdout.index("systemctl start pg")
        assert "     | " not in done.stdout
    (tmp_path / "programs" / "ssh").write_text(ssh)
    done = run("--back", answers="yes\n")
    assert done.returncode == 0, done.stdout
    assert re.findall(r"^     \| (.*)", done.stdout, re.MULTILINE) == ["no cutover", "unchanged", "stopped", "started"]


@pytest.mark.slow
def test_what_differs_is_gone_on_with_from_where_it_is_copied(tmp_path: Path) -> None:
    copied, summed = step("echo pass", phase=Phase.FINAL), step("echo a", id=step_ids.CHECKSUMS_OLD)
    run = Run(toy(step("echo"), copied, summed, step("echo b", side=Side.NEW, equals=step_ids.CHECKSUMS_OLD)), tmp_path)
    assert f"To go on:     {run.path} --from 2\n" in run(answers="yes\n").stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", RATHER_DASH)
def test_an_opening_that_let_nobody_in_leaves_the_way_back(shell: str, tmp_path: Path) -> None:
    opening = step(f"sh -c 'exit $(cat {tmp_path}/status)'", id=step_ids.CUTOVER, downtime=True)
    run = Run(toy(step("echo copy"), opening, back=(step("echo back"),)), tmp_path, shell)
    (tmp_path / "status").write_text("69")
    assert run(answers="yes\n15/main\n").stdout.endswith(f"To roll back: {run.path} --back\n")
    assert run("--back", answers="yes\n").returncode == 0
    for status in ("1", "69"):  # what may have been open once stays so
        (tmp_path / "status").write_text(status)
        assert "To roll back" not in run("--from", "2", answers="yes\n15/main\n").stdout
    assert "Clients were allowed to connect" in run("--back", answers="yes\n").stderr


@pytest.mark.slow
@pytest.mark.parametrize("shell", RATHER_DASH)
def test_a_closed_way_is_taken_on_with_a_reason(shell: str, tmp_path: Path) -> None:
    """What it rests on is looked at again, also where the script begins behind that."""
    looks = step(f"sh -c 'echo looked; exit $(cat {tmp_path}/status)'", reads=step_ids.CHECK_LISTENERS)
    rests_on = change_step(step("echo listens"), id=step_ids.CHECK_LISTENERS)
    run = Run(toy(rests_on, looks, step("echo end")), tmp_path, shell)
    (tmp_path / "status").write_text("68")
    assert run(answers="yes\n\n").returncode == 1
    assert "--from 2" in run.log()
    (tmp_path / "status").write_text("1")
    assert run("--from", "2", answers="yes\nby the pooler\n").returncode == 1
    (tmp_path / "status").write_text("68")
    done = run("--from", "2", answers="yes\nby the pooler\n")
    assert (done.returncode, "| listens" in done.stdout) == (0, True), done.stdout
    assert "by the pooler" in run.log()


def test_no_other_step_is_left_out_with_a_reason(tmp_path: Path) -> None:
    run = Run(toy(step("sh -c 'exit 68'"), step("echo end")), tmp_path)
    done = run(answers="yes\nby the pooler\n")
    assert (done.returncode, "| end" in done.stdout) == (1, False), done.stdout


@pytest.mark.slow
def test_the_stop_asks_for_the_clusters_name(tmp_path: Path) -> None:
    made = toy(
        step("echo warm", precopy_pass=1),
        step(downtime=True, title="stop the applications"),
        step(f"touch {tmp_path}/stopped", id=step_ids.CHECK_STOPPED, downtime=True),
        step("echo end", downtime=True),
    )
    run = Run(made, tmp_path)
    done = run(answers="yes\nmain\n")
    assert done.returncode == 4
    assert "the name of the cluster was not typed" in done.stdout
    assert not (tmp_path / "stopped").exists()
    assert run("--from", "2", answers="yes\n15/main\nyes\n").returncode == 0
    assert (tmp_path / "stopped").exists()
    assert run("--from", "4", answers="yes\n").returncode == 0  # what is stopped is not asked for again


@pytest.mark.slow
def test_the_proof_of_the_stop_is_made_again_and_must_be_the_same(tmp_path: Path) -> None:
    control = tmp_path / "control"
    made = toy(
        step(f"cat {control}", id=step_ids.CHECK_STOPPED, downtime=True),
        step("false", downtime=True),
        step("echo open", downtime=True, id=step_ids.CUTOVER),
    )
    run = Run(made, tmp_path)
    control.write_text("shut down at 1\n")
    assert run(answers="yes\n15/main\n").returncode == 1
    control.write_text("shut down at 2\n")
    done = run("--from", "3", answers="yes\n")
    assert done.returncode == 1
    assert "its output differs from that of step 1" in done.stdout
    assert f"To go on:     {run.path} --from 1\n" in done.stdout
    control.write_text("shut down at 1\n")
    assert run("--from", "3", answers="yes\n").returncode == 0


@pytest.mark.slow
def test_a_further_warm_pass_may_be_left_out(tmp_path: Path) -> None:
    passes = [step(f"echo pass {number}{root}", precopy_pass=number) for number in (1, 2) for root in "ab"]
    for answer, count in (("no", 2), ("yes", 4)):
        (tmp_path / answer).mkdir()
        done = Run(toy(*passes), tmp_path / answer)(answers=f"yes\n{answer}\n")
        assert done.returncode == 0
        assert done.stdout.count("     | pass") == count


@pytest.mark.slow
def test_what_people_do_is_waited_for(tmp_path: Path) -> None:
    made = toy(step(title="decide", table="a table\nof lines"), step("echo end"))
    run = Run(made, tmp_path)
    done = run(answers="yes\nno\n")
    assert done.returncode == 4
    assert "     a table\n     of lines\n" in done.stdout
    assert "decide: it was not done" in done.stdout
    assert run("--from", "1", answers="yes\nyes\n").returncode == 0


def test_a_command_of_the_dbas_own_runs_where_it_belongs(tmp_path: Path) -> None:
    made = toy(step('echo "it\'s $((1 + 1))" | cat', side=None), step("echo 'a b' >&2; exit 0"))
    run = Run(made, tmp_path)
    done = run(answers="yes\n")
    assert done.returncode == 0
    assert "     | it's 2\n" in done.stdout
    assert "a b\n" in done.stdout


@pytest.mark.slow
def test_what_is_private_is_neither_shown_nor_kept(tmp_path: Path) -> None:
    made = toy(step("echo s3cret", id="secret", private=True), step("sha256sum", reads="secret"), step("false"))
    run = Run(made, tmp_path)
    done = run(answers="yes\n")
    assert done.returncode == 1
    assert "     | s3cret" not in done.stdout
    for path in (tmp_path / "move.kept").iterdir():
        assert "s3cret\n" not in path.read_text()
    assert "| s3cret" not in run.log()
    done = run("--from", "2", answers="yes\n")
    assert re.findall(r"Step (\d+) begins", run.log()) == ["1", "2", "3", "1", "2", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_sudos_password_is_asked_once_a_server_and_is_on_no_command_line(shell: str, tmp_path: Path) -> None:
    made = toy(step("echo hello", id="hello"), step("cat", reads="hello", side=Side.NEW))
    asking = tuple(replace(each, rights=Rights.SUDO_PASSWORD) for each in made.logins)
    run = Run(replace(made, logins=asking), tmp_path, shell)
    done = run(answers="yes\nold word\nnew word\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set((tmp_path / "passwords").read_text().splitlines()) == {"old word", "new word"}
    assert "     | hello" in done.stdout
    assert "word" not in "".join(run.asked()) + run.log()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    left = [path for path in files if re.search(rb"(old|new) word", path.read_bytes())]
    assert left == [tmp_path / "passwords"]


def test_a_login_without_rights_is_told(tmp_path: Path) -> None:
    made = toy(step("echo"))
    none = tuple(replace(each, rights=Rights.NONE) for each in made.logins)
    done = Run(replace(made, logins=none), tmp_path)(answers="yes\n")
    assert done.returncode == 1
    assert "On the old server dba may not run commands as postgres" in done.stdout


def test_a_lock_of_another_ends_it(tmp_path: Path) -> None:
    run = Run(toy(step(f"touch {tmp_path}/done")), tmp_path)
    lock = lock_names(run)[1].with_name(f"{lock_names(run)[1].name}-0123abcd")
    lock.symlink_to("0123abcd ada@desk since yesterday")
    try:
        done = run(answers="yes\n")
        assert done.returncode == 1
        assert "The new server cannot be locked: " in done.stdout
        assert "ada@desk since yesterday" in done.stdout
        assert not (tmp_path / "done").exists()
        assert lock.is_symlink()
    finally:
        lock.unlink()


@pytest.mark.slow
def test_nothing_is_copied_over_what_clients_have_written(tmp_path: Path) -> None:
    made = toy(step("echo copy"), step("echo open", id=step_ids.CUTOVER), back=(step("echo back"),))
    run = Run(made, tmp_path)
    assert run(answers="yes\n").returncode == 0
    assert run("--from", "2", answers="yes\n").returncode == 0  # an opening that failed may be tried again
    for options in ((), ("--from", "1"), ("--back",)):
        done = run(*options, answers="yes\n")
        assert done.returncode == 1
        assert "Clients were allowed to connect" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_broken_off_in_the_downtime_it_does_not_begin_anew_and_says_how_to_go_on(shell: str, tmp_path: Path) -> None:
    """What only a running server can tell is not asked for again, also by a script that was killed."""
    made = toy(
        step("echo warm", precopy_pass=1),
        step("echo stock", downtime=True),
        step("echo stop", id=step_ids.STOP_OLD_CLUSTER, downtime=True),
        step("echo stopped", id=step_ids.CHECK_STOPPED, downtime=True),
        step(f"test -e {tmp_path}/mended || kill -s KILL $(cat {tmp_path}/move.kept/running)", downtime=True),
        step("echo open", id=step_ids.CUTOVER, downtime=True),
        step(f"test -e {tmp_path}/mended"),
        back=(step("echo back"),),
    )
    run = Run(made, tmp_path, shell)
    assert run(answers="yes\n15/main\n").returncode < 0
    for _ in range(2):
        again = run(answers="yes\n15/main\n")
        assert (again.returncode, again.stdout) == (1, "")
        assert "interrupted at step 5" in again.stderr
        assert f"To go on:     {run.path} --from 5\nTo roll back: {run.path} --back\n" in again.stderr
    assert run("--from", "5", answers="yes\n").returncode < 0
    (tmp_path / "mended").touch()
    assert run("--from", "5", answers="yes\n").returncode == 0
    assert run(answers="yes\n15/main\n").returncode == 1  # new was opened


@pytest.mark.slow
def test_behind_the_opening_a_script_that_is_begun_anew_says_how_to_go_on(tmp_path: Path) -> None:
    made = toy(step("echo copy"), step("echo open", id=step_ids.CUTOVER), step("false"))
    run = Run(made, tmp_path)
    assert run(answers="yes\n").returncode == 1
    again = run(answers="yes\n")
    assert (again.returncode, f"To go on: {run.path} --from 3\n" in again.stderr) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("failing", [step_ids.STOP_OLD_CLUSTER, step_ids.CHECK_STOPPED])
def test_a_stop_that_failed_is_gone_on_with_at_the_stop(tmp_path: Path, failing: str) -> None:
    made = toy(
        step("echo key", channel=ChannelUse.OPENS),
        step("echo warm", precopy_pass=1),
        step(
            "echo stop" if failing != step_ids.STOP_OLD_CLUSTER else "false",
            id=step_ids.STOP_OLD_CLUSTER,
            downtime=True,
        ),
        step(
            "echo stopped" if failing != step_ids.CHECK_STOPPED else "false", id=step_ids.CHECK_STOPPED, downtime=True
        ),
        step("echo end", channel=ChannelUse.CLOSES),
    )
    run = Run(made, tmp_path)
    at = 3 if failing == step_ids.STOP_OLD_CLUSTER else 4
    assert f"To go on:     {run.path} --from {at}\n" in run(answers="yes\n15/main\n").stdout


@pytest.mark.slow
def test_after_the_way_back_it_begins_anew(tmp_path: Path) -> None:
    made = toy(step("echo copy"), step(f"test -e {tmp_path}/mended", downtime=True), back=(step("echo back"),))
    run = Run(made, tmp_path)
    assert run(answers="yes\n15/main\n").returncode == 1
    assert run(answers="yes\n15/main\n").returncode == 1
    assert "interrupted at step 2" in run(answers="yes\n15/main\n").stderr
    assert run("--back", answers="yes\n").returncode == 0
    (tmp_path / "mended").touch()
    assert run(answers="yes\n15/main\n").returncode == 0


@pytest.mark.slow
def test_the_way_back(tmp_path: Path) -> None:
    made = toy(step("false", downtime=True), back=(step("echo back", side=Side.NEW), step("echo again")))
    run = Run(made, tmp_path)
    done = run(answers="yes\n15/main\n")
    assert done.stdout.endswith(f"To roll back: {run.path} --back\n")
    done = run("--back", answers="yes\n")
    assert (done.returncode, "The rollback will run" in done.stdout) == (0, True)
    assert done.stdout.index("     | back") < done.stdout.index("     | again")


@pytest.mark.slow
def test_what_the_way_back_reads_is_left_out_where_it_was_not_printed(tmp_path: Path) -> None:
    made = toy(step("echo found"), step("false", downtime=True), back=(step("cat"), step("echo again")))
    inventory = change_step(made.steps[0], id=step_ids.TAKE_INVENTORY)
    compare = change_step(made.way_back[0], reads=step_ids.TAKE_INVENTORY)
    run = Run(replace(made, steps=(inventory, made.steps[1]), way_back=(compare, made.way_back[1])), tmp_path)
    done = run("--back", answers="yes\n")
    assert (done.returncode, "skipped, because there is no output of step 1" in done.stdout) == (0, True)
    assert "     | again" in done.stdout
    assert run(answers="yes\n15/main\n").returncode == 1
    assert "     | found" in run("--back", answers="yes\n").stdout


@pytest.mark.slow
def test_a_long_output_is_counted(tmp_path: Path) -> None:
    done = Run(toy(step("seq 100"), step("printf '1%%\\r2%%\\rend\\n'")), tmp_path)(answers="yes\n")
    assert "     | 40\n     | ... 100 lines in all\n" in done.stdout
    assert "     | end\n" in done.stdout


@pytest.mark.slow
def test_a_name_with_a_line_break_stays_in_its_comment(tmp_path: Path) -> None:
    run = Run(odd_plan(), tmp_path)
    done = run("--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The move is called it's $(touch x) # `touch y` and has" in run.path.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["move.sh", "programs"]


def shellcheck(text: str) -> str:
    words = [str(Path(sys.executable).parent / "shellcheck"), "--severity=warning", "-"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
@pytest.mark.parametrize("made", [odd_plan, pytest.param(plan, marks=pytest.mark.long)], ids=["odd", "plain"])
def test_shellcheck_finds_nothing_in_the_script(made: Callable[[], Plan]) -> None:
    assert shellcheck(script(made())) == ""


def test_no_setting_of_the_plan_is_a_variable_of_the_runner() -> None:
    names = re.compile(r"\b([a-z_]+)=")
    own = set(names.findall(resource("script", "runner.sh").read_text(encoding="utf-8")))
    for made in (plan(), plan({"running": True}), odd_plan()):
        assert own & {name for name, _ in made.settings} == set()


def test_no_function_of_the_servers_is_one_of_the_runner() -> None:
    own = re.findall(r"^([a-z_]+)\(\)", resource("script", "runner.sh").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(own) & set(functions()) == set()


def test_the_runner_is_formatted() -> None:
    files = sorted(str(path) for path in resource("script").glob("*.sh"))
    program = str(Path(sys.executable).parent / "shfmt")
    done = subprocess.run([program, "-i", "2", "-ci", "-d", *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
