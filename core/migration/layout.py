"""How a cluster is stopped, started and fenced, by the layout that it was installed in; and where its programs lie.

Three layouts: Debian's (`pg_ctlcluster`, named `15/main`), a systemd unit, and a data directory by itself (`pg_ctl`).
pg_ctl is always told the folder by PGDATA: with -D it puts the name into a shell between double quotes, where a name
that holds `$(…)` would be run (pg_ctl.c, start_postmaster).
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from core.facts.model import Cluster, Facts
from core.servers.shell import Shell, Word, command, environment, redirect, script

ROOT = "root"
LOG = "pghaul-start.log"
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Control:
    """A command that controls a cluster, as whom, and what undoes it."""

    user: str
    command: Shell
    undo: str


def debian(cluster: Cluster) -> tuple[str, str] | None:
    """Series and name of a cluster of Debian's layout, None for another."""
    if cluster.name is None or "pg_lsclusters" not in cluster.found_by:
        return None
    series, _, name = cluster.name.partition("/")
    return (series, name) if name else None


def stop(cluster: Cluster, owner: str) -> Control:
    """Stop with a fast shutdown: clients are disconnected, a checkpoint is written, nothing needs recovery."""
    start_again = start(cluster, owner)
    undo = f"as {start_again.user}: {start_again.command}"
    named = debian(cluster)
    if named is not None:
        return Control(ROOT, command("pg_ctlcluster", *named, "stop", "-m", "fast"), undo)
    if cluster.unit is not None:
        return Control(ROOT, command("systemctl", "stop", cluster.unit), undo)
    return Control(owner, _pg_ctl(cluster, "-m", "fast", "-w", "-t", 3600, "stop"), undo)


def start(cluster: Cluster, owner: str) -> Control:
    """Start as this host always starts it."""
    named = debian(cluster)
    if named is not None:
        return Control(ROOT, command("pg_ctlcluster", *named, "start"), "")
    if cluster.unit is not None:
        return Control(ROOT, command("systemctl", "start", cluster.unit), "")
    log = f"{cluster.data_directory}/{LOG}"
    return Control(
        owner, redirect(_pg_ctl(cluster, "-w", "start"), stdin="/dev/null", stdout=log, stderr_to_stdout=True), ""
    )


def fence(cluster: Cluster) -> Control | None:
    """Keep the stopped cluster from coming up by itself; None where nothing would start it."""
    named = debian(cluster)
    if named is not None:
        file = f"/etc/postgresql/{named[0]}/{named[1]}/start.conf"
        kept = f"{file}.before-pghaul"
        disable = script("{ [ -e @kept@ ] || cp -p -- @file@ @kept@; } && echo disabled > @file@", file=file, kept=kept)
        return Control(ROOT, disable, f"as root: {command('mv', '--', kept, file)}")
    if cluster.unit is not None:
        return Control(
            ROOT, command("systemctl", "mask", cluster.unit), f"as root: {command('systemctl', 'unmask', cluster.unit)}"
        )
    return None


def start_locally(target: str, port: int, path: str, config_file: str | None) -> Shell:
    """On new: start for local connections alone, archiving off, so that nothing outside takes it for the real one."""
    settings = ["-c", "listen_addresses=localhost", "-c", "archive_mode=off", "-c", f"port={port}"]
    if config_file is not None:
        settings += ["-c", f"config_file={config_file}", "-c", f"data_directory={target}"]
    # -o goes through a shell of pg_ctl's own, so its words are quoted once more
    start_it = command("pg_ctl", "-w", "-t", 600, "-o", words(*settings), "start")
    prepared = environment({"PATH": path, "PGDATA": target}, start_it)
    return redirect(prepared, stdin="/dev/null", stdout=f"{target}/{LOG}", stderr_to_stdout=True)


def stop_locally(target: str, path: str) -> Shell:
    """On new: stop what `start_locally` started."""
    return environment({"PATH": path, "PGDATA": target}, command("pg_ctl", "-m", "fast", "-w", "stop"))


def program_path(facts: Facts, series: str) -> str:
    """The PATH that finds the programs of a series on a server: of its clusters first, Debian's place, the system's."""
    known = [cluster.bin_directory for cluster in facts.clusters if cluster.series == series and cluster.bin_directory]
    places = [*known, f"/usr/lib/postgresql/{series}/bin", f"/usr/pgsql-{series}/bin", *_SYSTEM_PATH.split(":")]
    return ":".join(dict.fromkeys(places))


def control_data(path: str, data_directory: str) -> Shell:
    """pg_controldata of a data directory, in English."""
    return environment({"PATH": path, "LC_ALL": "C"}, command("pg_controldata", data_directory))


def configuration_folder(cluster: Cluster) -> str | None:
    """The folder of postgresql.conf where it lies outside the data directory, None where it travels with it."""
    if cluster.config_file is None:
        return None
    folder = PurePosixPath(cluster.config_file).parent
    return None if folder.is_relative_to(cluster.data_directory) else str(folder)


def words(first: str, *rest: str) -> str:
    """Words for a shell that a program makes itself, as pg_ctl does of -o: quoted once more, as one text."""
    return command(first, *rest).text


def _pg_ctl(cluster: Cluster, *arguments: Word) -> Shell:
    program = f"{cluster.bin_directory}/pg_ctl" if cluster.bin_directory is not None else "pg_ctl"
    return environment({"PGDATA": cluster.data_directory}, command(program, *arguments))
