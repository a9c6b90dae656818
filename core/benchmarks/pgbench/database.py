"""A database of its own in a cluster that the DBA names, for pgbench to run against instead of a throwaway cluster.

It is called `pghaul_bench_`, the folder's random digits and the workload's scale; it is made at first use and dropped
with the folder, whatever ended the run. The cluster keeps its settings and its shared buffers; its data directory must
lie on the measured volume.
"""

from core.benchmarks.folders import UNDO
from core.benchmarks.pgbench.cluster import Target, as_owner
from core.benchmarks.tool import Machine
from core.errors import InputError
from core.facts.model import Cluster
from core.servers.shell import Shell, script, script_of

_PLACE = """\
[ "$(stat -c %d .)" = "$(stat -c %d @data@)" ] || {
  echo "error: the cluster @data@ does not lie on the volume that is measured" >&2; exit 1
}
printf '%s\\n' @undo@ >@file@ && sh -c @make@"""
# the folder's name ends in its digits, wherever one stands in it
_ENVIRONMENT = """\
database=pghaul_bench_${PWD##*-}_@name@
PATH=@path@ PGHOST=@host@ PGPORT=@port@ PGDATABASE=postgres; export PATH PGHOST PGPORT PGDATABASE"""
_MAKE = """\
psql -X -q -c "DROP DATABASE IF EXISTS $database" 2>/dev/null
psql -X -q -c "CREATE DATABASE $database" && PGDATABASE=$database sh -c @pgbench@"""
_DROP = """\
tries=0
until psql -X -q -c "DROP DATABASE IF EXISTS $database" 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 20 ] || { echo "error: the database $database could not be dropped" >&2; exit 1; }
  sleep 0.5
done"""


def own_database(machine: Machine, data_directory: str, name: str, fill: Shell) -> Target:
    """A database in the running cluster of that data directory.

    Args:
        name: letters, digits and `_`; part of the database's.
        fill: the pgbench command that fills it.

    Raises:
        InputError: there is no such cluster, or it does not run.
    """
    cluster = _running(machine, data_directory)
    where = _environment(machine, cluster, name)
    drop = as_owner(machine, script_of(where, script(_DROP)), cluster.owner)
    make = as_owner(machine, script_of(where, script(_MAKE, pgbench=fill)), cluster.owner)
    return Target(
        name=f"database-{name}",
        make=script(_PLACE, data=data_directory, undo=drop, file=f"{UNDO}database-{name}", make=make),
        background=None,
        client=lambda pgbench: as_owner(
            machine, script_of(where, script("PGDATABASE=$database sh -c @pgbench@", pgbench=pgbench)), cluster.owner
        ),
    )


def _running(machine: Machine, data_directory: str) -> Cluster:
    if machine.clusters is None:  # while a suite is read, before any server is known
        return Cluster(data_directory, "", None, running=True, port=None, owner=None)
    cluster = next((each for each in machine.clusters if each.data_directory == data_directory), None)
    if cluster is not None and cluster.running and cluster.port is not None:
        return cluster
    what = "there is no cluster" if cluster is None else "no server runs on"
    known = ", ".join(each.data_directory for each in machine.clusters if each.running)
    raise InputError(f"{what} {data_directory} there", f"those that run: {known}" if known else "none runs there")


def _environment(machine: Machine, cluster: Cluster, name: str) -> Shell:
    path = f"{cluster.bin_directory}:{machine.programs}" if cluster.bin_directory else machine.programs
    host = cluster.socket_directory or "/tmp"  # noqa: S108  PostgreSQL's own default
    return script(_ENVIRONMENT, name=name, path=path, host=host, port=cluster.port or 5432)
