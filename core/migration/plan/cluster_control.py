"""How a cluster is stopped, started and fenced, by the layout that it was installed in: calls of `cluster.sh`.

Three layouts: Debian's (`pg_ctlcluster`, named `15/main`), a systemd unit, and a data directory by itself (`pg_ctl`).
pg_ctl is always told the folder by PGDATA: with -D it puts the name into a shell between double quotes, where a name
that holds `$(…)` would be run (pg_ctl.c, start_postmaster).

What stands beside each call as `native` is what a person would type for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.facts.model import Cluster
from core.migration.findings.layout import debian
from core.migration.model.plan import ROOT_USER
from core.servers.shell import Shell, Word, call, command, environment

LOG = "pghaul-start.log"
KEPT = ".before-pghaul"
"""What the name of something ends in that is put aside to be put back."""


@dataclass(frozen=True, slots=True)
class Control:
    """A call that controls a cluster, as whom, what a person would type for it, and what undoes it."""

    user: str
    command: Shell
    native: tuple[str, ...]
    undo: str = ""


def stop(cluster: Cluster, owner: str) -> Control:
    """Stop with a fast shutdown: clients are disconnected, a checkpoint is written, nothing needs recovery.

    Where it is stopped already, nothing is done.
    """
    layout = _layout(cluster, owner)
    stopping = call("stop_cluster", layout.word, layout.name, cluster.data_directory)
    return Control(layout.user, stopping, layout.stop, f"as {layout.user}: {'; '.join(layout.start)}")


def start(cluster: Cluster, owner: str) -> Control:
    """Start as this host always starts it; where its lock file is there, nothing is done."""
    layout = _layout(cluster, owner)
    starting = call("start_cluster", layout.word, layout.name, cluster.data_directory)
    return Control(layout.user, starting, layout.start)


def fence(cluster: Cluster, owner: str) -> Control:
    """Keep the stopped cluster from being started by whatever starts it."""
    layout = _layout(cluster, owner)
    closing = call("fence_cluster", layout.word, layout.fenced)
    return Control(layout.user, closing, layout.fence, f"as {layout.user}: {'; '.join(layout.unfence)}")


def unfence(cluster: Cluster, owner: str) -> Control:
    """Let the cluster be started again, as before the fence; does nothing where there is none."""
    layout = _layout(cluster, owner)
    return Control(layout.user, call("unfence_cluster", layout.word, layout.fenced), layout.unfence)


def fence_leaves(cluster: Cluster) -> str | None:
    """The file that the fence leaves on old, and what for; None where it leaves none."""
    layout = _layout(cluster, "")
    return {
        "debian": f"{layout.fenced}{KEPT}, by which old is let go again",
        "unit": f"{layout.fenced}, which keeps old from starting",
    }.get(layout.word)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a cluster was installed, as `cluster.sh` takes it, and what a person types there.

    Attributes:
        name: what the cluster goes by there: `15/main`, the unit, its pg_ctl.
        fenced: what its fence changes: start.conf, a drop-in of the unit, the data directory itself.
        user: who controls it.
    """

    word: str
    name: str
    fenced: str
    user: str
    stop: tuple[str, ...]
    start: tuple[str, ...]
    fence: tuple[str, ...]
    unfence: tuple[str, ...]


def _layout(cluster: Cluster, owner: str) -> _Layout:
    named = debian(cluster)
    if named is not None:
        return _debian(*named)
    return _unit(cluster.unit) if cluster.unit is not None else _folder(cluster, owner)


def _debian(series: str, name: str) -> _Layout:
    file = f"/etc/postgresql/{series}/{name}/start.conf"
    kept = f"{file}{KEPT}"
    return _Layout(
        "debian",
        f"{series}/{name}",
        file,
        ROOT_USER,
        (command("pg_ctlcluster", series, name, "stop", "-m", "fast").text,),
        (command("pg_ctlcluster", series, name, "start").text,),
        (command("cp", "-p", "--", file, kept).text, f"echo disabled >{command(file)}"),
        (command("mv", "--", kept, file).text,),
    )


def _unit(unit: str) -> _Layout:
    folder = f"/etc/systemd/system/{unit}.d"
    file = f"{folder}/pghaul-fence.conf"
    lines = command("printf", "%s\\n", "[Unit]", f"AssertPathExists=!{file}")
    return _Layout(
        "unit",
        unit,
        file,
        ROOT_USER,
        (command("systemctl", "stop", unit).text,),
        (command("systemctl", "start", unit).text,),
        (
            command("install", "-d", "-m", "0755", "--", folder).text,
            f"{lines} >{command(file)}",
            "systemctl daemon-reload",
        ),
        (
            command("rm", "-f", "--", file).text,
            "systemctl daemon-reload",
            command("rmdir", "--ignore-fail-on-non-empty", "--", folder).text,
        ),
    )


def _folder(cluster: Cluster, owner: str) -> _Layout:
    data = cluster.data_directory
    pg_ctl = f"{cluster.bin_directory}/pg_ctl" if cluster.bin_directory is not None else "pg_ctl"
    return _Layout(
        "folder",
        pg_ctl,
        data,
        owner,
        (_pg_ctl(pg_ctl, data, "-m", "fast", "-w", "-t", 3600, "stop"),),
        (_logged(_pg_ctl(pg_ctl, data, "-w", "start"), data),),
        (command("chmod", "u-w", "--", data).text,),
        (command("chmod", "u+w", "--", data).text,),
    )


def prove_stopped(path: str, data_directory: str) -> Shell:
    """No server lives in the data directory and it was shut down cleanly; prints the control file's state and sum."""
    return call("prove_stopped", path, data_directory)


def native_prove_stopped(path: str, data_directory: str) -> tuple[str, ...]:
    """What a person would look at for it."""
    control = command(f"{data_directory}/global/pg_control")
    return (command(program(path, "pg_controldata"), data_directory).text, f"sha256sum <{control}")


def prove_running(path: str, data_directory: str) -> Shell:
    """A server runs in the data directory."""
    return call("prove_running", path, data_directory)


def native_prove_running(path: str, data_directory: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (_pg_ctl(program(path, "pg_ctl"), data_directory, "status"),)


def start_locally(target: str, port: int, path: str, config_file: str | None, held: Sequence[str]) -> Shell:
    """On new: start for us alone. `held`: the settings that hold back what starts work by itself, `NAME=VALUE`."""
    return call("start_locally", path, target, port, config_file or "-", _options(held))


def native_start_locally(
    target: str, port: int, path: str, config_file: str | None, held: Sequence[str]
) -> tuple[str, ...]:
    """What a person would type for it."""
    return (_native_start(target, path, config_file, *held, f"port={port}"),)


def open_for_clients(target: str, path: str, config_file: str | None) -> Shell:
    """On new: stop what `start_locally` started, and start it with its own configuration."""
    return call("open_for_clients", path, target, config_file or "-")


def native_open_for_clients(target: str, path: str, config_file: str | None) -> tuple[str, ...]:
    """What a person would type for it."""
    return (*native_stop_locally(target, path), _native_start(target, path, config_file))


def stop_locally(target: str, path: str) -> Shell:
    """On new: stop what `start_locally` started, if it runs."""
    return call("stop_locally", path, target)


def native_stop_locally(target: str, path: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (_pg_ctl(program(path, "pg_ctl"), target, "-m", "fast", "-w", "-t", 600, "stop"),)


def program(path: str, name: str) -> str:
    """A program of the cluster's where a person finds it: in the first folder of its PATH."""
    return f"{path.partition(':')[0]}/{name}"


def _native_start(target: str, path: str, config_file: str | None, *settings: str) -> str:
    if config_file is not None:
        settings = (*settings, f"config_file={config_file}", f"data_directory={target}")
    # -o goes through a shell of pg_ctl's own, so its words are quoted once more
    options = ("-o", _options(settings)) if settings else ()
    return _logged(_pg_ctl(program(path, "pg_ctl"), target, "-w", "-t", 600, *options, "start"), target)


def _options(settings: Sequence[str]) -> str:
    """Settings as the server program takes them, each quoted for a shell."""
    return " ".join(f"-c {command(setting)}" for setting in settings)


def _logged(start: str, data_directory: str) -> str:
    return f"{start} </dev/null >{command(f'{data_directory}/{LOG}')} 2>&1"


def _pg_ctl(pg_ctl: str, data_directory: str, *arguments: Word) -> str:
    return environment({"PGDATA": data_directory}, command(pg_ctl, *arguments)).text
