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

_PLACE = "a URL such as postgresql+psycopg://USER@HOST/DATABASE, or local: the file of this workstation"


def register(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verbs."""
    use = verbs.add_parser(
        "use",
        help="say where the history lies",
        description="Use the history at that URL from now on, or this workstation's own. Where there is none at the "
        "URL yet it is made, and an older one is brought up for the whole team: copy it by pg_dump before. Neither "
        "history is changed otherwise; pghaul history copy takes one over.",
    )
    use.add_argument("place", metavar="PLACE", help=_PLACE)
    use.add_argument("--password", action="store_true", help="ask for its password, and keep that in the keyring")
    add_common(use)
    use.set_defaults(run=_use)

    copy = verbs.add_parser("copy", help="copy a whole history into an empty one elsewhere")
    copy.add_argument("source", metavar="FROM", help=_PLACE)
    copy.add_argument("target", metavar="TO", help="the same; it holds nothing yet")
    add_common(copy)
    copy.set_defaults(run=_copy)

    grants = verbs.add_parser(
        "grants",
        help="print the SQL by which a role may use the team's history",
        description="Print the statements that its administrator runs with psql, so that the role may read the history "
        "that is in use, write it too, or administer it: bring it up, and grant.",
    )
    grants.add_argument("right", choices=("read", "write", "administer"), help="what it may do: %(choices)s")
    grants.add_argument("role", metavar="ROLE", help="a role of that server, such as a person's")
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
        show(f"the history is {name}")
    return 0


def _keep_password(place: str) -> None:
    from core.history.address import key_of, url_of
    from core.servers.secrets import remember

    key = key_of(url_of(place))
    if not sys.stdin.isatty():
        raise InputError("there is no terminal to ask on for the password", "leave --password out, and use ~/.pgpass")
    if not remember(key, getpass.getpass(f"password for {place}: ")):
        raise InputError("there is no keyring here to keep the password in", "leave --password out, and use ~/.pgpass")


def _copy(_: Context, options: argparse.Namespace) -> int:
    from core.history.transfer import transfer

    rows = transfer(_place(options.source), _place(options.target))
    if options.json:
        print_document({"source": options.source, "target": options.target, "rows": rows})
    else:
        lines = [(name.replace("_", " "), units.count(number)) for name, number in rows.items() if number]
        show(table(("", "rows"), lines, right=(1,)))
        show(f"{options.target} holds what {options.source} does; to use it: pghaul history use {options.target}")
    return 0


def _place(typed: str) -> Path | str:
    return settings.data_folder().absolute() if typed == places.LOCAL else typed


def _grants(_: Context, options: argparse.Namespace) -> int:
    from core.history.rights import grants

    place = places.chosen()
    if not isinstance(place, str):
        raise InputError(
            f"the history {place} is this workstation's own", "it has no roles; use a team's: pghaul history use URL"
        )
    sql = grants(place, options.right, options.role)
    if options.json:
        print_document({"sql": sql})
    else:
        show("\n".join(sql))
    return 0
