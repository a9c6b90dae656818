"""`pghaul server`: describe servers and how to connect to them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.own_settings import add_from_setting
from core.cli.terminal import say, show, table
from core.errors import InputError
from core.servers.profiles import Profile, Rights
from core.servers.shell import quoted
from core.text import printable

if TYPE_CHECKING:
    from core.api.survey import Taken

_SHOWN = 5


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    server = nouns.add_parser("server", help="add, list, test and remove servers")
    verbs = server.add_subparsers(dest="verb", metavar="VERB", required=True)

    add = verbs.add_parser("add", help="add a server, or change it with --replace")
    add.add_argument("name", metavar="NAME", help="a name of your choice for the server")
    add.add_argument("address", metavar="ADDRESS", help="host name, IP address, or an alias from ~/.ssh/config")
    add_from_setting(add, "server.user", "--user", metavar="USER", help="user to log in as", default="as ssh does")
    add.add_argument("--port", type=int, metavar="PORT", help="ssh port (default: as ssh does)")
    add.add_argument(
        "--identity", metavar="FILE", help="private key file (default: the agent, and the keys that ssh uses)"
    )
    add.add_argument("--jump", metavar="[USER@]HOST[:PORT],…", help="jump hosts, as for ssh -J")
    add_from_setting(
        add,
        "server.rights",
        "--rights",
        choices=[each.value for each in Rights],
        help="how the login user runs commands as other users: sudo without a password, sudo-password (asks for the "
        "password once), sudo-postgres (only as the owner of the clusters), or none",
    )
    add_from_setting(
        add,
        "server.database_user",
        "--database-user",
        metavar="USER",
        help="system user that owns the clusters",
    )
    add.add_argument(
        "--copy-address",
        metavar="ADDRESS",
        help="address at which the other server reaches this one (default: ADDRESS)",
    )
    add.add_argument("--replace", action="store_true", help="change an existing server of that name")
    add_common(add)
    add.set_defaults(run=_add)

    taken = verbs.add_parser(
        "import",
        help="add servers and moves from a list",
        description="Add the servers of a list, and set up the moves in it. The list is one of these: a CSV file whose "
        "first row names the columns name, address, user, port, identity_file, jump, rights, database_user and "
        "copy_address, in any order. A row that also has the columns new and cluster sets up a move; target is its "
        "data directory on the new server and move its name. An Ansible inventory in INI form, or the output of "
        "ansible-inventory --list; the variables pghaul_new, pghaul_cluster and so on of a host set up a move. Your "
        "own ~/.ssh/config. pghaul connects to no server. The exit code is 1 if an entry was refused.",
    )
    taken.add_argument("list", metavar="LIST", help="file with the list; - reads standard input")
    taken.add_argument("--replace", action="store_true", help="change existing servers and moves of the same names")
    add_common(taken)
    taken.set_defaults(run=_import)

    listed = verbs.add_parser("list", help="list the servers")
    add_common(listed)
    listed.set_defaults(run=_list)

    test = verbs.add_parser(
        "test", help="connect and try commands as other users; the exit code is 1 if one fails that --rights promises"
    )
    test.add_argument("name", metavar="SERVER", help="name of the server")
    add_common(test, server=True)
    test.set_defaults(run=_test)

    install = verbs.add_parser(
        "install", help="install missing tools on a server, as root, from its own package repositories"
    )
    install.add_argument("name", metavar="SERVER", help="name of the server")
    install.add_argument(
        "tool",
        nargs="+",
        metavar="TOOL",
        help="tool to install: bonnie++, fio, iperf3, lz4, rsync, socat, sysbench or zstd",
    )
    install.add_argument(
        "--show",
        action="store_true",
        help="show which tools are missing and the command that installs them, without running it",
    )
    add_common(install, server=True)
    install.set_defaults(run=_install)

    remove = verbs.add_parser("remove", help="remove a server that no move uses")
    remove.add_argument("name", metavar="SERVER", help="name of the server")
    add_common(remove)
    remove.set_defaults(run=_remove)


def _add(context: Context, options: argparse.Namespace) -> int:
    if options.port is not None and not 0 < options.port < 65536:
        raise InputError(f"{options.port} is not a port number", "give a number from 1 to 65535")
    _refuse_no_address(options.address)
    if options.copy_address is not None:
        _refuse_no_address(options.copy_address)
    if options.identity is not None and not Path(options.identity).expanduser().exists():
        raise InputError(
            f"the key file {options.identity} does not exist",
            "name the private key file, or omit --identity to use the keys that ssh uses",
        )
    if not options.replace and any(known.name == options.name for known in context.store.profiles()):
        raise InputError(
            f"the server {options.name!r} exists already",
            "choose another name, or change the existing server with --replace",
        )
    profile = Profile(
        name=options.name,
        address=options.address,
        user=options.user or None,
        port=options.port,
        identity_file=options.identity,
        jump=options.jump,
        rights=Rights(options.rights),
        database_user=options.database_user,
        copy_address=options.copy_address,
    )
    (context.store.put_profile if options.replace else context.store.add_profile)(profile)
    if options.json:
        print_document(profile)
    else:
        show(f"added the server {profile.name}; test it with: pghaul server test {quoted(profile.name)}")
    return 0


def _import(context: Context, options: argparse.Namespace) -> int:
    from core.api import survey as actions
    from core.inputs import read_input
    from core.servers.lists.formats import read_list

    found = read_list(options.list, read_input(options.list))
    taken = actions.import_list(context.session, found, replacing=options.replace)
    if options.json:
        print_document(taken)
    else:
        show(imported_text(taken))
    return 1 if taken.refused else 0


def imported_text(taken: "Taken") -> str:
    """Return the result of importing a list for display."""
    counts = ((taken.added, "added"), (taken.changed, "changed"), (taken.kept, "unchanged"))
    summary = ", ".join(f"{units.count(len(names))} {words}" for names, words in counts if names)
    lines = [f"servers: {summary or 'none'}"]
    if taken.moves:
        lines.append(f"moves: {units.count(len(taken.moves))}, {', '.join(taken.moves[:_SHOWN])}")
        lines[-1] += ", …" if len(taken.moves) > _SHOWN else ""
    if taken.refused:
        rows = [(each.place, each.name, each.reason, each.hint) for each in taken.refused]
        lines += ["", f"refused: {units.count(len(rows))}", table(("place", "server", "reason", "hint"), rows)]
    return "\n".join(lines)


def _refuse_no_address(address: str) -> None:
    """Refuse what ssh would take for an option, or what can be no host."""
    wrong = any(character.isspace() or not character.isprintable() for character in address)
    if not address or address.startswith("-") or wrong:
        raise InputError(
            f"{address!r} is not an address", "give a host name, an IP address or an alias of ~/.ssh/config"
        )


def _list(context: Context, options: argparse.Namespace) -> int:
    profiles = context.store.profiles()
    if options.json:
        print_document({"servers": profiles})
    elif not profiles:
        show("there are no servers yet; add one with: pghaul server add NAME ADDRESS")
    else:
        rows = [
            (p.name, p.address, p.user or "(as ssh)", str(p.port or "(as ssh)"), p.jump or "", p.rights)
            for p in profiles
        ]
        show(table(("name", "address", "user", "port", "jump", "rights"), rows))
    return 0


def _test(context: Context, options: argparse.Namespace) -> int:
    from core.api import servers as actions

    tried = actions.test_server(context.session, options.name, context.job)
    if options.json:
        print_document({"server": options.name, "results": tried.sentences, "missing": tried.missing})
    else:
        show("\n".join(map(printable, tried.sentences)))
    return 1 if tried.missing else 0


def _install(context: Context, options: argparse.Namespace) -> int:
    from core.api import benchmarks as actions

    wanted = actions.find_missing_tools(context.session, options.name, options.tool, context.job)
    shown = wanted.shell.shown if wanted.shell is not None else None
    if shown is not None and not options.show:
        say(f"as root on {printable(options.name)}: {printable(shown)}")
        actions.install_tools(context.session, wanted, context.job)
    if options.json:
        done = [] if options.show else wanted.missing
        print_document({"server": options.name, "missing": wanted.missing, "command": shown, "installed": done})
    elif shown is None:
        show(f"{printable(options.name)} already has {', '.join(options.tool)}")
    elif options.show:
        show(
            f"missing on {printable(options.name)}: {', '.join(wanted.missing)}; to install as root: {printable(shown)}"
        )
    else:
        show(f"installed {', '.join(wanted.missing)} on {printable(options.name)}")
    return 0


def _remove(context: Context, options: argparse.Namespace) -> int:
    context.store.remove_profile(options.name)
    if options.json:
        print_document({"removed": options.name})
    else:
        show(f"removed the server {options.name}")
    return 0
