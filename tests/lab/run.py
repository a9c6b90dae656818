"""Two real hosts on this machine, from the command line; as root.

run.py up NAME [--scale N] [--size 8G] [--bare] [--kind K]   put a lab up; --bare: without PostgreSQL clusters,
                                                  K: namespaces, machines for what needs a kernel, or systemd
run.py down NAME                                  take it down
run.py info NAME                                  what is where, as JSON
run.py list                                       the labs that are up
run.py exec NAME HOST [-u USER] COMMAND...        run a command inside old or new, past ssh
run.py net NAME RATE                              shape both cables, such as 1gbit; off lifts it
run.py disk NAME HOST READ_BPS WRITE_BPS READ_IOPS WRITE_IOPS   cap a data disk; 0: no cap
run.py cut NAME HOST | mend NAME HOST             pull and plug a network cable
run.py power NAME HOST cut|boot|restart           of a host with systemd
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.lab import clusters, lab, root
from tests.lab.hosts import Kind
from tests.lab.machine import BASE, LabError, lab_unavailable


def main() -> int:
    options = _parser().parse_args()
    reason = lab_unavailable()
    if reason is not None:
        print(reason, file=sys.stderr)
        return 2
    try:
        _do(options)
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list")
    subparsers = {
        name: actions.add_parser(name) for name in ("up", "down", "info", "exec", "net", "disk", "cut", "mend", "power")
    }
    for each in subparsers.values():
        each.add_argument("name")
    for name in ("exec", "disk", "cut", "mend", "power"):
        subparsers[name].add_argument("host", choices=lab.NAMES)
    subparsers["up"].add_argument("--scale", type=int, default=5)
    subparsers["up"].add_argument("--size", default="8G")
    subparsers["up"].add_argument("--bare", action="store_true")
    subparsers["up"].add_argument("--kind", type=Kind, choices=Kind, default=Kind.NAMESPACES)
    subparsers["power"].add_argument("to", choices=("cut", "boot", "restart"))
    subparsers["exec"].add_argument("words", nargs=argparse.REMAINDER)
    subparsers["net"].add_argument("rate")
    subparsers["disk"].add_argument("limits", nargs=4, type=int)
    return parser


def _do(options: argparse.Namespace) -> None:
    if options.action == "list":
        print("\n".join(sorted(state.parent.name for state in BASE.glob("*/state.json"))))
    elif options.action == "up":
        made = lab.up(
            options.name,
            scale=options.scale,
            size=options.size,
            with_clusters=not options.bare,
            kind=options.kind,
        )
        print(json.dumps(information(made), indent=2))
    elif options.action == "down":
        lab.down(options.name)
    else:
        _with_lab(lab.find(options.name), options)


def _with_lab(found: lab.Lab, options: argparse.Namespace) -> None:
    if options.action == "info":
        print(json.dumps(information(found), indent=2))
    elif options.action == "exec":
        user = options.words[1] if options.words[:1] == ["-u"] else None
        command = found.host(options.host).command(*options.words[2 if user else 0 :], user=user)
        os.execvp(command[0], command)
    elif options.action == "net":
        found.shape(options.rate)
    elif options.action == "disk":
        found.cap_disk(options.host, *options.limits)
    elif options.action == "power":
        {"cut": found.cut_power, "boot": found.boot, "restart": found.restart}[options.to](options.host)
    elif options.action == "cut":
        found.cut(options.host)
    else:
        found.mend(options.host)


def information(found: lab.Lab) -> dict[str, object]:
    """What somebody needs who works with the lab by hand."""
    return {
        "name": found.name,
        "old": {
            "address": found.old.address,
            "device": found.old.device,
            "data_directory": clusters.DATA,
            "tablespace": clusters.SPACE,
            "programs": f"{clusters.PREFIX}/bin",
            "socket_directory": "/tmp",
            "port": 5432,
            "database": clusters.DATABASE,
            "role": clusters.ROLE,
            "role_password": clusters.ROLE_PASSWORD,
        },
        "new": {"address": found.new.address, "device": found.new.device, "data_directory": clusters.NEW_DATA},
        "data_disk": "/srv/pg",
        "key": str(found.key),
        "key_with_passphrase": str(found.key_passphrase),
        "passphrase": lab.PASSPHRASE,
        "user_ca": str(found.user_ca),
        "known_hosts": str(found.known_hosts),
        "password": root.PASSWORD,
        "users": {
            "dba": "sudo without a password",
            "plain": "sudo with the password",
            "pgonly": "sudo to postgres alone, without a password",
            "nosudo": "no sudo",
        },
        "ports": {"22": "keys, certificates, passwords", "2222": "keyboard-interactive alone"},
    }


if __name__ == "__main__":
    sys.exit(main())
