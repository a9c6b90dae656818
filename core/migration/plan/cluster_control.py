"""How a cluster is stopped, started and fenced, by the layout that it was installed in.

Three layouts: Debian's (`pg_ctlcluster`, named `15/main`), a systemd unit, and a data directory by itself (`pg_ctl`).
pg_ctl is always told the folder by PGDATA: with -D it puts the name into a shell between double quotes, where a name
that holds `$(…)` would be run (pg_ctl.c, start_postmaster).
"""

from dataclasses import dataclass

from core.facts.model import Cluster
from core.migration.findings.layout import debian
from core.migration.model.plan import ROOT_USER
from core.servers.shell import Shell, Word, command, environment, pipe, redirect, script, sequence

LOG = "pghaul-start.log"
KEPT = ".before-pghaul"
"""What the name of something ends in that is put aside to be put back."""


@dataclass(frozen=True, slots=True)
class Control:
    """A command that controls a cluster, as whom, and what undoes it."""

    user: str
    command: Shell
    undo: str


def stop(cluster: Cluster, owner: str) -> Control:
    """Stop with a fast shutdown: clients are disconnected, a checkpoint is written, nothing needs recovery.

    Where it is stopped already, nothing is done.
    """
    start_again = start(cluster, owner)
    undo = f"as {start_again.user}: {start_again.command}"
    named = debian(cluster)
    if named is not None:
        return Control(ROOT_USER, _if_running(cluster, command("pg_ctlcluster", *named, "stop", "-m", "fast")), undo)
    if cluster.unit is not None:
        return Control(ROOT_USER, command("systemctl", "stop", cluster.unit), undo)
    return Control(owner, _if_running(cluster, _pg_ctl(cluster, "-m", "fast", "-w", "-t", 3600, "stop")), undo)


def _if_running(cluster: Cluster, stopping: Shell) -> Shell:
    lock = f"{cluster.data_directory}/postmaster.pid"
    return sequence(script("{ [ -e @lock@ ] || exit 0; }", lock=lock), stopping)


def start(cluster: Cluster, owner: str) -> Control:
    """Start as this host always starts it."""
    named = debian(cluster)
    if named is not None:
        return Control(ROOT_USER, command("pg_ctlcluster", *named, "start"), "")
    if cluster.unit is not None:
        return Control(ROOT_USER, command("systemctl", "start", cluster.unit), "")
    log = f"{cluster.data_directory}/{LOG}"
    return Control(
        owner, redirect(_pg_ctl(cluster, "-w", "start"), stdin="/dev/null", stdout=log, stderr_to_stdout=True), ""
    )


def fence(cluster: Cluster, owner: str) -> Control:
    """Keep the stopped cluster from being started by whatever starts it.

    A data directory by itself is closed to its own owner's writing: no postmaster starts where it cannot write its lock
    file, whoever calls pg_ctl, while reading goes on.
    """
    named = debian(cluster)
    if named is not None:
        file = _start_conf(named)
        kept = f"{file}{KEPT}"
        disable = script("{ [ -e @kept@ ] || cp -p -- @file@ @kept@; } && echo disabled > @file@", file=file, kept=kept)
        return Control(ROOT_USER, disable, f"as root: {command('mv', '--', kept, file)}")
    if cluster.unit is not None:
        return Control(ROOT_USER, _forbidden(cluster.unit), f"as root: {_allowed(cluster.unit)}")
    closed, opened = (command("chmod", mode, "--", cluster.data_directory) for mode in ("u-w", "u+w"))
    return Control(owner, closed, f"as {owner}: {opened}")


def _forbidden(unit: str) -> Shell:
    """A unit that systemd refuses to start, whoever asks for it, until the drop-in is gone, also after a boot.

    `systemctl mask` refuses a unit whose file lies in /etc/systemd/system, where the DBA's own ones do. Source:
    systemd.unit(5), AssertPathExists=.
    """
    folder, file = drop_in(unit)
    return script(
        "install -d -m 0755 -- @folder@ && printf '%s\\n' '[Unit]' @assertion@ > @file@ && systemctl daemon-reload",
        folder=folder,
        file=file,
        assertion=f"AssertPathExists=!{file.replace('%', '%%')}",
    )


def _allowed(unit: str) -> Shell:
    folder, file = drop_in(unit)
    return script(
        "if [ -e @file@ ]; then rm -f -- @file@ && rmdir --ignore-fail-on-non-empty -- @folder@ && "
        "systemctl daemon-reload; fi",
        folder=folder,
        file=file,
    )


def drop_in(unit: str) -> tuple[str, str]:
    """The folder and the file of the drop-in that fences a unit."""
    folder = f"/etc/systemd/system/{unit}.d"
    return folder, f"{folder}/pghaul-fence.conf"


def unfence(cluster: Cluster, owner: str) -> Control:
    """Let the cluster be started again, as before the fence; does nothing where there is none."""
    named = debian(cluster)
    if named is not None:
        file = _start_conf(named)
        put_back = script("if [ -e @kept@ ]; then mv -- @kept@ @file@; fi", kept=f"{file}{KEPT}", file=file)
        return Control(ROOT_USER, put_back, "")
    if cluster.unit is not None:
        return Control(ROOT_USER, _allowed(cluster.unit), "")
    return Control(owner, command("chmod", "u+w", "--", cluster.data_directory), "")


def fence_leaves(cluster: Cluster) -> str | None:
    """The file that the fence leaves on old, and what for; None where it leaves none."""
    named = debian(cluster)
    if named is not None:
        return f"{_start_conf(named)}{KEPT}, by which old is let go again"
    return f"{drop_in(cluster.unit)[1]}, which keeps old from starting" if cluster.unit is not None else None


def prove_stopped(path: str, data_directory: str) -> Shell:
    """No server lives in the data directory and it was shut down cleanly; prints the control file's state and sum.

    A server may live there without its lock file, if somebody removed that: its working directory tells.
    """
    live = script(
        "find /proc -maxdepth 2 -name cwd -printf '%l|%h\\n' 2>/dev/null | while IFS='|' read -r at process; do "
        'if [ "$at" = @folder@ ] && grep -qxE "postgres|postmaster" "$process/comm" 2>/dev/null; then '
        'echo "a server runs in it: process ${process#/proc/}" >&2; exit 1; fi; done',
        folder=data_directory,
    )
    lock = script(
        "if [ -e @folder@/postmaster.pid ]; then echo 'its lock file postmaster.pid is there' >&2; exit 1; fi",
        folder=data_directory,
    )
    shut_down = script(
        "grep -x 'Database cluster state: *shut down' || { echo 'it was not shut down cleanly' >&2; exit 1; }"
    )
    state = pipe(control_data(path, data_directory), shut_down)
    return sequence(lock, live, state, script("sha256sum < @file@", file=f"{data_directory}/global/pg_control"))


def start_locally(target: str, port: int, path: str, config_file: str | None) -> Shell:
    """On new: start for local connections alone, archiving off, so that nothing outside takes it for the real one."""
    settings = ["-c", "listen_addresses=localhost", "-c", "archive_mode=off", "-c", f"port={port}"]
    if config_file is not None:
        settings += ["-c", f"config_file={config_file}", "-c", f"data_directory={target}"]
    # -o goes through a shell of pg_ctl's own, so its words are quoted once more
    start_it = command("pg_ctl", "-w", "-t", 600, "-o", words(*settings), "start")
    settings_of = {"PATH": path, "PGDATA": target}
    running = redirect(environment(settings_of, command("pg_ctl", "status")), stdout="/dev/null")
    prepared = script("sh -c @running@ || sh -c @start@", running=running, start=environment(settings_of, start_it))
    return redirect(prepared, stdin="/dev/null", stdout=f"{target}/{LOG}", stderr_to_stdout=True)


def stop_locally(target: str, path: str) -> Shell:
    """On new: stop what `start_locally` started, if it runs."""
    stop_it = environment({"PATH": path, "PGDATA": target}, command("pg_ctl", "-m", "fast", "-w", "-t", 600, "stop"))
    return script("if [ -e @lock@ ]; then sh -c @stop@; fi", lock=f"{target}/postmaster.pid", stop=stop_it)


def control_data(path: str, data_directory: str) -> Shell:
    """pg_controldata of a data directory, in English."""
    return environment({"PATH": path, "LC_ALL": "C"}, command("pg_controldata", data_directory))


def words(first: str, *rest: str) -> str:
    """Words for a shell that a program makes itself, as pg_ctl does of -o: quoted once more, as one text."""
    return command(first, *rest).text


def _start_conf(named: tuple[str, str]) -> str:
    series, name = named
    return f"/etc/postgresql/{series}/{name}/start.conf"


def _pg_ctl(cluster: Cluster, *arguments: Word) -> Shell:
    program = f"{cluster.bin_directory}/pg_ctl" if cluster.bin_directory is not None else "pg_ctl"
    return environment({"PGDATA": cluster.data_directory}, command(program, *arguments))
