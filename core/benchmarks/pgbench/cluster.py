"""The throwaway cluster that pgbench runs against.

It is made by the server's own programs of the move's series, in a folder of its own inside the benchmark's, as the
database user where root measures. Its socket lies in that folder of mode 0700; it listens on an address only where the
other server drives it, and then takes a random password. It is a background process (core/benchmarks/background.py) and
ends as one; cut off, with the folder, whose processes are all ended. Its shared memory lies in its own folder too, but
for the one segment of System V that every cluster has: where the server was killed, that is removed with the folder.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.benchmarks.folders import UNDO
from core.benchmarks.tool import READY, Background, Machine
from core.servers.shell import Secret, Shell, Word, command, environment, in_folder, script, script_of

SERVE_SECONDS = 120.0
"""To start, or to write the last checkpoint and stop."""
_ROLE = "pghaul"
_DATABASE = "postgres"
_PORT = 5432
"""Of the socket in the cluster's own folder, where nobody else's can be."""

_FOLDER = """\
chmod 711 . && rm -rf -- @name@ && mkdir -m 700 -- @name@ || exit 1
test "$(id -u)" != 0 || chown -- @user@ @name@ || exit 1
printf '%s\\n' @undo@ >@file@ && cd -- @name@ && sh -c @shell@"""

_ENVIRONMENT = """\
PATH=@path@ PGHOST=$(pwd -P) PGPORT=@port@ PGUSER=@role@ PGDATABASE=@database@
export PATH PGHOST PGPORT PGUSER PGDATABASE
umask 077
"""
_INITDB = """\
command -v initdb >/dev/null || { echo "error: there is no initdb to make a cluster with" >&2; exit 1; }
printf '%s\\n' "${PGPASSWORD:-none}" >password
sh -c @initdb@ >log 2>&1 || { cat log >&2; exit 1; }
rm -f password
made=$(cat data/PG_VERSION) wanted=@series@
[ "${wanted:-$made}" = "$made" ] || {
  echo "error: the programs that were found are of PostgreSQL $made, the move's cluster is of $wanted" >&2; exit 1
}
echo 'local all all trust' >data/pg_hba.conf
test -z "$PGPASSWORD" || printf 'host all all %s md5\\n' 0.0.0.0/0 ::/0 >>data/pg_hba.conf
"""
# The trap turns the TERM of a job that was cancelled into an immediate shutdown.
_START = """\
trap 'kill -s QUIT "$server" 2>/dev/null; wait "$server"; exit 143' TERM HUP INT
sh -c @postgres@ >log 2>&1 </dev/null & server=$!
tries=0
until psql -X -q -c 'select 1' >/dev/null 2>&1; do
  kill -s 0 "$server" 2>/dev/null && [ $tries -lt @tries@ ] && { tries=$((tries + 1)); sleep 0.2; continue; }
  tail -n 5 log >&2; kill -s QUIT "$server"; exit 1
done
"""
_SERVE = """\
exec 3<&0
echo @ready@
timeout @seconds@ cat <&3 >/dev/null & reader=$!
wait "$reader"
kill -s INT "$server"; wait "$server"
"""
_FILL = """\
sh -c @pgbench@; status=$?
kill -s INT "$server"; wait "$server"
exit $status
"""
_SEGMENT = (
    "cd @name@/data 2>/dev/null && test -f postmaster.pid || exit 0; set -- $(sed -n '1p;7p' postmaster.pid); "
    "while read -r key id mode size creator rest; do "
    '[ "$id" = "$3" ] && [ "$creator" = "$1" ] && ipcrm -m "$id"; done </proc/sysvipc/shm; exit 0'
)


@dataclass(frozen=True, slots=True)
class Listening:
    """How a throwaway cluster is reached from the other server."""

    address: str
    port: int
    password: Secret


@dataclass(frozen=True, slots=True)
class Target:
    """A database that pgbench runs against.

    Attributes:
        name: of its folder inside the benchmark's, or of what stands for it.
        make: makes and fills it, anew if it is there; runs inside the benchmark's folder.
        background: what serves it; None: it is there anyway.
        client: a pgbench command, connected to it.
        secrets: environment of `make` and of the client.
    """

    name: str
    make: Shell
    background: Background | None
    client: Callable[[Shell], Shell]
    secrets: Mapping[str, Secret] = field(default_factory=dict)


def throwaway(
    machine: Machine,
    name: str,
    fill: Shell,
    settings: Mapping[str, str],
    *,
    serve_seconds: float,
    listening: Listening | None = None,
) -> Target:
    """A throwaway cluster in the folder `name`.

    Args:
        fill: the pgbench command that fills it.
        settings: of postgresql.conf, given on the server's command line.
        serve_seconds: after which the server ends it by itself.
        listening: where the other server drives it; None: by its socket alone.
    """
    serving = _postgres(machine, settings, listening)
    filling = _postgres(machine, settings, None)
    tries = int(SERVE_SECONDS * 5)
    made = script_of(
        _environment(machine, _PORT),
        script(_INITDB, initdb=_initdb(machine), series=machine.series or ""),
        script(_START, postgres=filling, tries=tries),
        script(_FILL, pgbench=fill),
    )
    served = script_of(
        _environment(machine, listening.port if listening else _PORT),
        script(_START, postgres=serving, tries=tries),
        script(_SERVE, ready=READY, seconds=int(serve_seconds)),
    )
    return Target(
        name=name,
        make=script(
            _FOLDER,
            name=name,
            user=machine.database_user,
            undo=as_owner(machine, script(_SEGMENT, name=name)),
            file=f"{UNDO}{name}",
            shell=as_owner(machine, made),
        ),
        background=Background(
            "the throwaway cluster",
            in_folder(name, as_owner(machine, served)),
            SERVE_SECONDS,
        ),
        client=_client(machine, name, listening),
        secrets={} if listening is None else {"PGPASSWORD": listening.password},
    )


def since(series: str | None, first: tuple[int, ...]) -> bool:
    """Whether a series is that one or later; one that is not known counts as new."""
    return series is None or tuple(int(part) for part in series.split(".") if part.isdigit()) >= first


def random_password() -> Secret:
    """A password for one run."""
    return Secret(secrets.token_urlsafe(24))


def _environment(machine: Machine, port: int) -> Shell:
    return script(_ENVIRONMENT, path=machine.programs, port=port, role=_ROLE, database=_DATABASE)


def _client(machine: Machine, name: str, listening: Listening | None) -> Callable[[Shell], Shell]:
    if listening is None:
        where = _environment(machine, _PORT)
        return lambda pgbench: in_folder(name, as_owner(machine, script_of(where, pgbench)))
    there: dict[str, Word] = {
        "PATH": machine.other_programs or "",
        "PGHOST": listening.address,
        "PGPORT": listening.port,
        "PGUSER": _ROLE,
        "PGDATABASE": _DATABASE,
        "PGCONNECT_TIMEOUT": 15,
    }
    return lambda pgbench: environment(there, pgbench)


def as_owner(machine: Machine, shell: Shell, owner: str | None = None) -> Shell:
    """The command as `owner`, else the database user, where root measures; otherwise as whoever measures.

    runuser, told to end, tells its child and kills it two seconds later: what that started must end by its own trap.
    """
    if machine.user != "root":
        return command("sh", "-c", shell)
    return command("runuser", "-u", owner or machine.database_user, "--", "sh", "-c", shell)


def _initdb(machine: Machine) -> Shell:
    without_sync = ["-N"] if since(machine.series, (9, 3)) else []
    return command(
        "initdb",
        "-D",
        "data",
        "-U",
        _ROLE,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "--pwfile=password",
        *without_sync,
    )


def _postgres(machine: Machine, settings: Mapping[str, str], listening: Listening | None) -> Shell:
    """`exec postgres …`, so that the shell's child is the server itself. -k and -p are older than their settings."""
    own = {"listen_addresses": listening.address if listening else "", "ssl": "off"}
    if since(machine.series, (9, 4)):
        # what production has set aside stays its own; shared memory in the folder goes with the folder
        own |= {"huge_pages": "off", "dynamic_shared_memory_type": "mmap"}
    words = [word for name, value in {**own, **settings}.items() for word in ("-c", f"{name}={value}")]
    return command("exec", "postgres", "-D", "data", "-k", "..", "-p", listening.port if listening else _PORT, *words)
