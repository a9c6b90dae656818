"""How a cluster is fenced, proven stopped and started for us alone: calls of `fence.sh` and `cluster.sh`.

The fence is one for every layout: a postmaster that does not find its control file does not start. What stands beside
each call as `native` is what a person would type for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.facts.model import Cluster
from core.migration.model.plan import chained, undone
from core.servers.shell import Shell, Word, call, command, environment
from core.text import code

LOG = "pghaul-start.log"
FENCE = "pghaul-fence"
"""The folder in a data directory where what a start needs is kept away from it."""


@dataclass(frozen=True, slots=True)
class ClusterCommand:
    """A command that starts, stops or fences a cluster.

    Attributes:
        user: who runs it.
        command: the call of the shell function.
        native: what a person would type instead.
        undo: the sentence that says how to undo it.
    """

    user: str
    command: Shell
    native: tuple[str, ...]
    undo: str = ""


def fence(cluster: Cluster, owner: str) -> ClusterCommand:
    """Keep the stopped cluster from being started by whatever starts it."""
    data = cluster.data_directory
    return ClusterCommand(owner, call("fence_cluster", data), _closed(data), undone(owner, "old", *_opened(data)))


def unfence(cluster: Cluster, owner: str) -> ClusterCommand:
    """Let the cluster be started again, byte for byte as before the fence; does nothing where there is none."""
    data = cluster.data_directory
    return ClusterCommand(owner, call("unfence_cluster", data), _opened(data))


def fence_opened(target: str, writer: str) -> ClusterCommand:
    """On the new server, once it was opened and is stopped again: no server starts there from here on."""
    return ClusterCommand(writer, call("fence_cluster", target), _closed(target))


def kept_from_starting(cluster: Cluster) -> str:
    """Why pghaul keeps a fenced cluster from starting, and how that ends."""
    if cluster.copy_of is not None:
        return "It is the copy of a move that has not had its cutover."
    by_hand = code(chained(_opened(cluster.data_directory)))
    return (
        "A move has stopped it, or is about to. To let it start again: pghaul execute MOVE --rollback. If there was no "
        f"cutover, it can also be done by hand, as {cluster.owner or 'its owner'}: {by_hand}"
    )


def _closed(data: str) -> tuple[str, ...]:
    """What a person types to put the fence up."""
    return (command("mkdir", "-p", "--", f"{data}/{FENCE}/global").text, _moved(data, f"{data}/{FENCE}"))


def _opened(data: str) -> tuple[str, ...]:
    """What a person types to take the fence away."""
    return (
        _moved(f"{data}/{FENCE}", data),
        command("rm", "-r", "--", f"{data}/{FENCE}").text,
    )


def _moved(from_: str, to: str) -> str:
    return command("mv", "--", f"{from_}/global/pg_control", f"{to}/global/").text


def prove_stopped(path: str, data_directory: str) -> Shell:
    """No server lives in the data directory and it was shut down cleanly; prints the control file's state and sum."""
    return call("prove_stopped", path, data_directory)


def native_prove_stopped(path: str, data_directory: str, *, fenced: bool) -> tuple[str, ...]:
    """What a person would look at for it, where the control file lies then."""
    folder = f"{data_directory}/{FENCE}" if fenced else data_directory
    control = command(f"{folder}/global/pg_control")
    return (command(program(path, "pg_controldata"), folder).text, f"sha256sum <{control}")


def prove_running(path: str, cluster: Cluster, ports: Sequence[int], unit: str | None, kept: Sequence[str]) -> Shell:
    """A server runs in the data directory and takes connections at one of these ports; none: it is not known.

    It warns of another unit, and where the server was started with settings that it was `kept` by, `NAME=VALUE`.
    """
    wanted = ",".join(map(str, ports)) or "-"
    return call("prove_running", path, cluster.data_directory, wanted, unit or "-", *kept)


def native_prove_running(path: str, data_directory: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (_pg_ctl(program(path, "pg_ctl"), data_directory, "status"),)


def start_locally(
    target: str, port: int, path: str, config_file: str | None, isolation_settings: Sequence[str]
) -> Shell:
    """On the new server: start for us alone, by the options of the old server, which `postmaster.opts` tells, and
    `isolation_settings` behind.

    `isolation_settings`: the settings that hold back what starts work by itself, `NAME=VALUE`.
    """
    return call("start_local_only", path, target, port, config_file or "-", as_options(isolation_settings))


def native_start_locally(
    target: str, port: int, path: str, config_file: str | None, settings: Sequence[str]
) -> tuple[str, ...]:
    """What a person would type for it. `settings`: options of the old server, then those that hold work back."""
    fence = f"{target}/{FENCE}"
    return (
        _moved(fence, target),
        native_start(target, path, config_file, *settings, f"port={port}"),
        command("mv", "--", f"{target}/PG_VERSION", fence).text,
    )


def lift_fence(target: str) -> Shell:
    """On the new server: stop what `start_local_only` started; from then on whoever starts new may."""
    return call("lift_fence", target)


def native_lift_fence(target: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (*native_stop_locally(target), command("mv", "--", f"{target}/{FENCE}/PG_VERSION", target).text)


def unopened(target: str) -> Shell:
    """On the new server: no server has run there since its fence was lifted, if it was."""
    return call("refuse_changed_copy", target)


def native_unopened(target: str) -> tuple[str, ...]:
    """What a person would look at for it."""
    control = command(f"{target}/global/pg_control")
    return (f"sha256sum <{control}", command("cat", f"{target}/{FENCE}/control").text)


def unfence_target(target: str) -> Shell:
    """On the new server, once it is open: nothing of the fence is left."""
    return call("unfence_cluster", target)


def native_unfence_target(target: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (command("rm", "-r", "--", f"{target}/{FENCE}").text,)


def say_opened(data_directory: str) -> Shell:
    """On the old server, once new is open: who takes old's fence away from then on is told what is lost."""
    return call("record_cutover", data_directory)


def native_say_opened(data_directory: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (command("touch", "--", _said_opened(data_directory)).text,)


def never_opened(data_directory: str) -> Shell:
    """On the old server: its fence does not say that new was opened."""
    return call("refuse_after_cutover", data_directory)


def native_never_opened(data_directory: str) -> tuple[str, ...]:
    """What a person would look at for it."""
    return (f"! {command('test', '-e', _said_opened(data_directory))}",)


def _said_opened(data_directory: str) -> str:
    return f"{data_directory}/{FENCE}/new-was-opened"


def give_back(target: str) -> Shell:
    """On new: stop what `start_local_only` started, if it runs, and put the fence up; nothing where no mark is."""
    return call("roll_back_target", target)


def native_stop_locally(target: str) -> tuple[str, ...]:
    """What a person would type to stop it: pg_ctl finds no PG_VERSION there and would do nothing."""
    lock = command(f"{target}/postmaster.pid")
    return (f"kill -INT $(head -n 1 {lock}); while [ -e {lock} ]; do sleep 1; done",)


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


def native_stop(data_directory: str, path: str) -> str:
    """What a person would type to stop a cluster by pg_ctl."""
    return _pg_ctl(program(path, "pg_ctl"), data_directory, "-m", "fast", "-w", "-t", 3600, "stop")


def native_start(target: str, path: str, config_file: str | None, *settings: str) -> str:
    """What a person would type to start new by pg_ctl."""
    if config_file is not None:
        settings = (*settings, f"config_file={config_file}", f"data_directory={target}")
    # -o goes through a shell of pg_ctl's own, so its words are quoted once more
    options = ("-o", as_options(settings)) if settings else ()
    return _logged(_pg_ctl(program(path, "pg_ctl"), target, "-w", "-t", 600, *options, "start"), target)


def as_options(settings: Sequence[str]) -> str:
    """Settings as the server program takes them, each quoted for a shell."""
    return " ".join(f"-c {command(setting)}" for setting in settings)


def _logged(start: str, data_directory: str) -> str:
    return f"{start} </dev/null >{command(f'{data_directory}/{LOG}')} 2>&1"


def _pg_ctl(pg_ctl: str, data_directory: str, *arguments: Word) -> str:
    return environment({"PGDATA": data_directory}, command(pg_ctl, *arguments)).text
