"""`pghaul history use | grants | copy`: where the history lies, on this workstation or with a team on a server."""

import argparse
import getpass
import sys
from pathlib import Path

from core import settings, units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import show, table
from core.errors import InputError
from core.history import places
from core.servers.shell import quoted

_PLACE = "a URL such as postgresql+psycopg://USER@HOST/DATABASE, or local for the file on this workstation"


def register(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verbs."""
    use = verbs.add_parser(
        "use",
        help="choose where the history is stored",
        description="From now on, use the history at this URL, or the file on this workstation. If there is no history "
        "at the URL, pghaul creates one. A history of an older pghaul is upgraded for the whole team: back it up with "
        "pg_dump first. Nothing is copied between the histories; pghaul history copy does that.",
    )
    use.add_argument("place", metavar="PLACE", help=_PLACE)
    use.add_argument("--password", action="store_true", help="ask for the password and store it in the keyring")
    add_common(use)
    use.set_defaults(run=_use)

    copy = verbs.add_parser("copy", help="copy an entire history into an empty one")
    copy.add_argument("source", metavar="FROM", help=_PLACE)
    copy.add_argument("target", metavar="TO", help="the empty history: a URL, or local")
    add_common(copy)
    copy.set_defaults(run=_copy)

    grants = verbs.add_parser(
        "grants",
        help="print the SQL statements that allow a role to use the team's history",
        description="Print statements for the administrator of the history to run with psql. They allow the role to "
        "read the history that is in use, to read and write it, or to administer it: to upgrade it and to grant "
        "rights.",
    )
    grants.add_argument("right", choices=("read", "write", "administer"), help="what the role may do: %(choices)s")
    grants.add_argument("role", metavar="ROLE", help="a role on the server of the history")
    add_common(grants)
    grants.set_defaults(run=_grants)


def _use(_: Context, options: argparse.Namespace) -> int:
    from core.history.database import FILE_NAME

    if options.place != places.LOCAL:
        from core.history.address import url_of
        from core.history.server import ServerDatabase, prepare

        if options.password:
            _keep_password(options.place)
        prepare(options.place)
        ServerDatabase.open(options.place).close()
        options.place = url_of(options.place).render_as_string()
    places.choose(options.place)
    place = places.chosen()
    name = place if isinstance(place, str) else str(place / FILE_NAME)
    if options.json:
        print_document({"history": name})
    else:
        show(f"pghaul now uses the history {name}")
    return 0


def _keep_password(place: str) -> None:
    from core.history.address import key_of, url_of
    from core.servers.secrets import remember

    key = key_of(url_of(place))
    if not sys.stdin.isatty():
        raise InputError("there is no terminal to ask for the password", "omit --password, and use ~/.pgpass")
    if not remember(key, getpass.getpass(f"Password for {place}: ")):
        raise InputError("there is no keyring to store the password in", "omit --password, and use ~/.pgpass")


def _copy(_: Context, options: argparse.Namespace) -> int:
    from core.history.transfer import transfer

    rows = transfer(_place(options.source), _place(options.target))
    if options.json:
        print_document({"source": options.source, "target": options.target, "rows": rows})
    else:
        lines = [(name.replace("_", " "), units.count(number)) for name, number in rows.items() if number]
        show(table(("table", "rows"), lines, right=(1,)))
        show(
            f"copied {options.source} to {options.target}; to use the copy: pghaul history use {quoted(options.target)}"
        )
    return 0


def _place(typed: str) -> Path | str:
    return settings.data_folder().absolute() if typed == places.LOCAL else typed


def _grants(_: Context, options: argparse.Namespace) -> int:
    from core.history.server import grants

    place = places.chosen()
    if not isinstance(place, str):
        raise InputError(
            f"the history {place} is a file on this workstation, which has no roles",
            "use the history of a team first: pghaul history use URL",
        )
    sql = grants(place, options.right, options.role)
    if options.json:
        print_document({"sql": sql})
    else:
        show("\n".join(sql))
    return 0
