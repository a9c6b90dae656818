"""Commands that fence a cluster, check that it is stopped, and start it for local connections only.

They call functions of `fence.sh` and `cluster.sh`. There is one fence for every layout: a server that does not find its
control file does not start. The functions `native_…` return the commands that a person would type instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.facts.model import Cluster
from core.migration.model.plan import chained, undone
from core.servers.shell import Shell, Word, call, command, environment
from core.sides import Side
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


def fence_cluster(cluster: Cluster, owner: str) -> ClusterCommand:
    """Return the command that keeps the stopped cluster from being started."""
    data = cluster.data_directory
    return ClusterCommand(
        owner, call("fence_cluster", data), _native_fence(data), undone(owner, Side.OLD, *_native_unfence(data))
    )


def unfence_cluster(cluster: Cluster, owner: str) -> ClusterCommand:
    """Return the command that removes the fence and restores the files; without a fence it does nothing."""
    data = cluster.data_directory
    return ClusterCommand(owner, call("unfence_cluster", data), _native_unfence(data))


def fence_after_cutover(target: str, writer: str) -> ClusterCommand:
    """Return the command that fences the new cluster again after its cutover and its stop."""
    return ClusterCommand(writer, call("fence_cluster", target), _native_fence(target))


def explain_fence(cluster: Cluster) -> str:
    """Say why pghaul keeps a fenced cluster from starting, and how to let it start again."""
    if cluster.copy_of is not None:
        return "It is the copy of a move that has not had its cutover."
    by_hand = code(chained(_native_unfence(cluster.data_directory)))
    return (
        "A move has stopped it, or is about to. To let it start again: pghaul execute MOVE --rollback. If there was no "
        f"cutover, it can also be done by hand, as {cluster.owner or 'its owner'}: {by_hand}"
    )


def _native_fence(data: str) -> tuple[str, ...]:
    """Return the commands by which a person sets up the fence."""
    return (
        command("mkdir", "-p", "--", f"{data}/{FENCE}/global").text,
        _native_move_control_file(data, f"{data}/{FENCE}"),
    )


def _native_unfence(data: str) -> tuple[str, ...]:
    """Return the commands by which a person removes the fence."""
    return (
        _native_move_control_file(f"{data}/{FENCE}", data),
        command("rm", "-r", "--", f"{data}/{FENCE}").text,
    )


def _native_move_control_file(from_: str, to: str) -> str:
    return command("mv", "--", f"{from_}/global/pg_control", f"{to}/global/").text


def prove_stopped(path: str, data_directory: str) -> Shell:
    """Return the call that checks that no server runs in the data directory and that it was shut down cleanly.

    It prints the state and the checksum of the control file.
    """
    return call("prove_stopped", path, data_directory)


def native_prove_stopped(path: str, data_directory: str, *, fenced: bool) -> tuple[str, ...]:
    """Return the commands for `prove_stopped`; `fenced` says that the control file lies in the fence."""
    folder = f"{data_directory}/{FENCE}" if fenced else data_directory
    control = command(f"{folder}/global/pg_control")
    return (command(program(path, "pg_controldata"), folder).text, f"sha256sum <{control}")


def prove_running(
    path: str, cluster: Cluster, ports: Sequence[int], unit: str | None, unwanted_settings: Sequence[str]
) -> Shell:
    """Return the call that checks that a server runs in the data directory and accepts connections.

    Args:
        path: the PATH of the cluster's programs.
        cluster: the cluster.
        ports: it must accept connections at one of these; empty if the port is not known.
        unit: the systemd unit that should have started it; another one is a warning.
        unwanted_settings: settings, `NAME=VALUE`; a server that was started with them is a warning.
    """
    wanted = ",".join(map(str, ports)) or "-"
    return call("prove_running", path, cluster.data_directory, wanted, unit or "-", *unwanted_settings)


def native_prove_running(path: str, data_directory: str) -> tuple[str, ...]:
    """Return the commands for `prove_running`."""
    return (_pg_ctl(program(path, "pg_ctl"), data_directory, "status"),)


def start_local_only(
    target: str, port: int, path: str, config_file: str | None, settings: Sequence[str], socket: str
) -> Shell:
    """Return the call that starts the new cluster for local connections only.

    The server gets the options of the old server, which `postmaster.opts` contains, and then the settings.

    Args:
        target: the data directory of the new cluster.
        port: the port of the local-only start.
        path: the PATH of the cluster's programs.
        config_file: the configuration file, if a start must name it.
        settings: settings that switch off background work, and name the socket's directory, `NAME=VALUE`.
        socket: the directory of the Unix socket; it is created, and only the owner of the cluster can enter it.
    """
    return call("start_local_only", path, target, port, config_file or "-", as_options(settings), socket)


def native_start_local_only(
    target: str, port: int, path: str, config_file: str | None, settings: Sequence[str], socket: str
) -> tuple[str, ...]:
    """Return the commands for `start_local_only`.

    Args:
        target: the data directory of the new cluster.
        port: the port of the local-only start.
        path: the PATH of the cluster's programs.
        config_file: the configuration file, if a start must name it.
        settings: the options of the old server, then those of `start_local_only`, `NAME=VALUE`.
        socket: the directory of the Unix socket.
    """
    fence = f"{target}/{FENCE}"
    return (
        command("install", "-d", "-m", "0700", "--", socket).text,
        _native_move_control_file(fence, target),
        native_start(target, path, config_file, *settings, f"port={port}"),
        command("mv", "--", f"{target}/PG_VERSION", fence).text,
    )


def lift_fence(target: str) -> Shell:
    """Return the call that ends the local-only start and lets any service start the new cluster."""
    return call("lift_fence", target)


def native_lift_fence(target: str) -> tuple[str, ...]:
    """Return the commands for `lift_fence`."""
    return (*native_stop_local_only(target), command("mv", "--", f"{target}/{FENCE}/PG_VERSION", target).text)


def check_copy_unchanged(target: str) -> Shell:
    """Return the call that checks that no server has run in the target since its fence was lifted."""
    return call("refuse_changed_copy", target)


def native_check_copy_unchanged(target: str) -> tuple[str, ...]:
    """Return the commands for `check_copy_unchanged`."""
    control = command(f"{target}/global/pg_control")
    return (f"sha256sum <{control}", command("cat", f"{target}/{FENCE}/control").text)


def remove_target_fence(target: str) -> Shell:
    """Return the call that removes what is left of the fence after the cutover."""
    return call("unfence_cluster", target)


def native_remove_target_fence(target: str) -> tuple[str, ...]:
    """Return the commands for `remove_target_fence`."""
    return (command("rm", "-r", "--", f"{target}/{FENCE}").text,)


def record_cutover(data_directory: str) -> Shell:
    """Return the call that records the cutover in the fence of the old cluster.

    Whoever removes that fence later is told what would be lost.
    """
    return call("record_cutover", data_directory)


def native_record_cutover(data_directory: str) -> tuple[str, ...]:
    """Return the commands for `record_cutover`."""
    return (command("touch", "--", _cutover_record(data_directory)).text,)


def check_no_cutover(data_directory: str) -> Shell:
    """Return the call that checks that the fence of the old cluster contains no record of a cutover."""
    return call("refuse_after_cutover", data_directory)


def native_check_no_cutover(data_directory: str) -> tuple[str, ...]:
    """Return the commands for `check_no_cutover`."""
    return (f"! {command('test', '-e', _cutover_record(data_directory))}",)


def _cutover_record(data_directory: str) -> str:
    return f"{data_directory}/{FENCE}/new-was-opened"


def stop_and_fence(target: str) -> Shell:
    """Return the call that ends the local-only start, if it runs, and fences the new cluster again.

    It does nothing in a data directory without the mark of a copy.
    """
    return call("roll_back_target", target)


def native_stop_local_only(target: str) -> tuple[str, ...]:
    """Return the commands that end the local-only start: pg_ctl finds no PG_VERSION there and does nothing."""
    return (native_signal(target, "INT", wait=True),)


def native_signal(data_directory: str, signal: str, *, wait: bool = False) -> str:
    """Return the command by which a person sends a signal to the server of a data directory.

    It succeeds if the server has ended meanwhile, and fails if the signal cannot be sent to a running server.

    Args:
        data_directory: the data directory.
        signal: INT asks for a fast shutdown, which does not wait for clients to disconnect, as `pg_ctl stop -m fast`
            does. QUIT asks for an immediate one (PostgreSQL's manual, chapter Shutting Down the Server).
        wait: the command waits until the server has ended.
    """
    # A shutdown removes the lock file. After a crash it is still there, but its process is not. Without a process id,
    # /proc/ itself is looked at, and so a lock file that cannot be read is a failure. So is a folder that cannot be
    # entered, in which no file would be found.
    kill = command("kill", "-s", signal)
    sent = f'pid=$(head -n 1 postmaster.pid) && {kill} "$pid" || [ ! -e postmaster.pid ] || [ ! -e "/proc/$pid" ]'
    there = f"{command('cd', data_directory)} && {{ {sent}; }}"
    if not wait:
        return f"({there})"
    return f'({there} && until [ ! -e postmaster.pid ] || [ ! -e "/proc/$pid" ]; do sleep 1; done)'


def native_stop_and_fence(target: str) -> tuple[str, ...]:
    """Return the commands for `stop_and_fence`."""
    fence = f"{target}/{FENCE}"
    return (
        *native_stop_local_only(target),
        _native_move_control_file(target, fence),
        command("mv", "--", f"{fence}/PG_VERSION", target).text,
    )


def fence_target(target: str, mark: Sequence[str]) -> Shell:
    """Return the call that fences the target before the copy; `mark` holds the lines of the mark of the copy."""
    return call("fence_target", target, *mark)


def native_fence_target(target: str) -> tuple[str, ...]:
    """Return the commands for `fence_target`."""
    fence = f"{target}/{FENCE}"
    return (command("mkdir", "-p", "--", f"{fence}/global").text, f"cat >{command(f'{fence}/mark')}")


def program(path: str, name: str) -> str:
    """Return the path of one of the cluster's programs, in the first folder of its PATH."""
    return f"{path.partition(':')[0]}/{name}"


def native_stop(data_directory: str, path: str) -> str:
    """Return the command by which a person stops a cluster with pg_ctl."""
    return _pg_ctl(program(path, "pg_ctl"), data_directory, "-m", "fast", "-w", "-t", 3600, "stop")


def native_start(target: str, path: str, config_file: str | None, *settings: str) -> str:
    """Return the command by which a person starts a cluster with pg_ctl.

    Args:
        target: the data directory.
        path: the PATH of the cluster's programs.
        config_file: the configuration file, if a start must name it.
        settings: options of the server, `NAME=VALUE`.
    """
    if config_file is not None:
        settings = (*settings, f"config_file={config_file}", f"data_directory={target}")
    # pg_ctl passes the value of -o to a shell, so its words are quoted once more
    options = ("-o", as_options(settings)) if settings else ()
    return _with_log(_pg_ctl(program(path, "pg_ctl"), target, "-w", "-t", 600, *options, "start"), target)


def as_options(settings: Sequence[str]) -> str:
    """Return settings as options of the server program, each quoted for a shell."""
    return " ".join(f"-c {command(setting)}" for setting in settings)


def _with_log(start: str, data_directory: str) -> str:
    return f"{start} </dev/null >{command(f'{data_directory}/{LOG}')} 2>&1"


def _pg_ctl(pg_ctl: str, data_directory: str, *arguments: Word) -> str:
    return environment({"PGDATA": data_directory}, command(pg_ctl, *arguments)).text
