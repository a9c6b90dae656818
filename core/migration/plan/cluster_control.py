"""How a cluster is stopped and started, by the layout that it was installed in, and how it is fenced: calls of shell.

The fence is one for every layout: a postmaster that does not find its control file does not start.

Three layouts: Debian's (`pg_ctlcluster`, named `15/main`), a systemd unit, and a data directory by itself (`pg_ctl`).
pg_ctl is always told the folder by PGDATA: with -D it puts the name into a shell between double quotes, where a name
that holds `$(…)` would be run (pg_ctl.c, start_postmaster).

What stands beside each call as `native` is what a person would type for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.facts.model import Cluster
from core.migration.findings.layout import config_file_outside, debian
from core.migration.model.plan import ROOT_USER
from core.servers.shell import Shell, Word, call, command, environment

LOG = "pghaul-start.log"
FENCE = "pghaul-fence"
"""The folder in a data directory where what a start needs is kept away from it."""


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
    configured = config_file_outside(cluster) or "-"
    starting = call("start_cluster", layout.word, layout.name, cluster.data_directory, configured)
    return Control(layout.user, starting, layout.start)


def fence(cluster: Cluster, owner: str) -> Control:
    """Keep the stopped cluster from being started by whatever starts it."""
    data = cluster.data_directory
    closed = (command("mkdir", "-p", "--", f"{data}/{FENCE}/global").text, _moved(data, f"{data}/{FENCE}"))
    return Control(owner, call("fence_cluster", data), closed, f"as {owner}: {'; '.join(_opened(data))}")


def unfence(cluster: Cluster, owner: str) -> Control:
    """Let the cluster be started again, byte for byte as before the fence; does nothing where there is none."""
    data = cluster.data_directory
    return Control(owner, call("unfence_cluster", data), _opened(data))


def _opened(data: str) -> tuple[str, ...]:
    """What a person types to take the fence away."""
    return (
        _moved(f"{data}/{FENCE}", data),
        command("rmdir", "--", f"{data}/{FENCE}/global", f"{data}/{FENCE}").text,
    )


def _moved(from_: str, to: str) -> str:
    return command("mv", "--", f"{from_}/global/pg_control", f"{to}/global/").text


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a cluster was installed, as `cluster.sh` takes it, and what a person types there.

    Attributes:
        name: what the cluster goes by there: `15/main`, the unit, its pg_ctl.
        user: who controls it.
    """

    word: str
    name: str
    user: str
    stop: tuple[str, ...]
    start: tuple[str, ...]


def _layout(cluster: Cluster, owner: str) -> _Layout:
    named = debian(cluster)
    if named is not None:
        return _debian(*named)
    return _unit(cluster.unit) if cluster.unit is not None else _folder(cluster, owner)


def _debian(series: str, name: str) -> _Layout:
    return _Layout(
        "debian",
        f"{series}/{name}",
        ROOT_USER,
        (command("pg_ctlcluster", series, name, "stop", "-m", "fast").text,),
        (command("pg_ctlcluster", series, name, "start").text,),
    )


def _unit(unit: str) -> _Layout:
    return _Layout(
        "unit",
        unit,
        ROOT_USER,
        (command("systemctl", "stop", unit).text,),
        (command("systemctl", "start", unit).text,),
    )


def _folder(cluster: Cluster, owner: str) -> _Layout:
    data = cluster.data_directory
    pg_ctl = f"{cluster.bin_directory}/pg_ctl" if cluster.bin_directory is not None else "pg_ctl"
    return _Layout(
        "folder",
        pg_ctl,
        owner,
        (_pg_ctl(pg_ctl, data, "-m", "fast", "-w", "-t", 3600, "stop"),),
        (_native_start(data, pg_ctl, config_file_outside(cluster)),),
    )


def prove_stopped(path: str, data_directory: str) -> Shell:
    """No server lives in the data directory and it was shut down cleanly; prints the control file's state and sum."""
    return call("prove_stopped", path, data_directory)


def native_prove_stopped(path: str, data_directory: str, *, fenced: bool) -> tuple[str, ...]:
    """What a person would look at for it, where the control file lies then."""
    folder = f"{data_directory}/{FENCE}" if fenced else data_directory
    control = command(f"{folder}/global/pg_control")
    return (command(program(path, "pg_controldata"), folder).text, f"sha256sum <{control}")


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
    fence = f"{target}/{FENCE}"
    return (
        _moved(fence, target),
        _native_start(target, program(path, "pg_ctl"), config_file, *held, f"port={port}"),
        command("mv", "--", f"{target}/PG_VERSION", fence).text,
    )


def open_for_clients(target: str, path: str, config_file: str | None) -> Shell:
    """On new: stop what `start_locally` started, and start it with its own configuration."""
    return call("open_for_clients", path, target, config_file or "-")


def native_open_for_clients(target: str, path: str, config_file: str | None) -> tuple[str, ...]:
    """What a person would type for it."""
    fence = f"{target}/{FENCE}"
    back = command("mv", "--", f"{fence}/PG_VERSION", target).text
    return (
        *native_stop_locally(target),
        back,
        command("rm", "-r", "--", fence).text,
        _native_start(target, program(path, "pg_ctl"), config_file),
    )


def give_back(target: str) -> Shell:
    """On new: stop what `start_locally` started, if it runs, and put the fence up; nothing where no mark is."""
    return call("give_back", target)


def native_stop_locally(target: str) -> tuple[str, ...]:
    """What a person would type to stop it: pg_ctl finds no PG_VERSION there and would do nothing."""
    return (f"kill -INT $(head -n 1 {command(f'{target}/postmaster.pid')})",)


def native_give_back(target: str) -> tuple[str, ...]:
    """What a person would type for it."""
    fence = f"{target}/{FENCE}"
    return (
        *native_stop_locally(target),
        _moved(target, fence),
        command("mv", "--", f"{fence}/PG_VERSION", target).text,
    )


def fence_target(target: str, mark: Sequence[str]) -> Shell:
    """On new, ahead of all else: no server starts in the target, which bears the mark of the copy, a line each word."""
    return call("fence_target", target, *mark)


def native_fence_target(target: str) -> tuple[str, ...]:
    """What a person would type for it."""
    fence = f"{target}/{FENCE}"
    return (command("mkdir", "-p", "--", f"{fence}/global").text, f"cat >{command(f'{fence}/mark')}")


def program(path: str, name: str) -> str:
    """A program of the cluster's where a person finds it: in the first folder of its PATH."""
    return f"{path.partition(':')[0]}/{name}"


def _native_start(data: str, pg_ctl: str, config_file: str | None, *settings: str) -> str:
    if config_file is not None:
        settings = (*settings, f"config_file={config_file}", f"data_directory={data}")
    # -o goes through a shell of pg_ctl's own, so its words are quoted once more
    options = ("-o", _options(settings)) if settings else ()
    return _logged(_pg_ctl(pg_ctl, data, "-w", "-t", 600, *options, "start"), data)


def _options(settings: Sequence[str]) -> str:
    """Settings as the server program takes them, each quoted for a shell."""
    return " ".join(f"-c {command(setting)}" for setting in settings)


def _logged(start: str, data_directory: str) -> str:
    return f"{start} </dev/null >{command(f'{data_directory}/{LOG}')} 2>&1"


def _pg_ctl(pg_ctl: str, data_directory: str, *arguments: Word) -> str:
    return environment({"PGDATA": data_directory}, command(pg_ctl, *arguments)).text
