"""`pghaul server`: who to reach, and how."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core import units
from core.cli.context import Context, add_common, print_document
from core.cli.terminal import say, show, table
from core.errors import InputError
from core.servers.profiles import Profile, Rights
from core.text import printable

if TYPE_CHECKING:
    from core.actions.lists import Taken

_SHOWN = 5


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    server = nouns.add_parser("server", help="describe, list, test and remove servers")
    verbs = server.add_subparsers(dest="verb", metavar="VERB", required=True)

    add = verbs.add_parser("add", help="describe a server, or describe it anew with --replace")
    add.add_argument("name", help="your name for it")
    add.add_argument("address", help="host name, IP address, or an alias of ~/.ssh/config")
    add.add_argument("--user", help="who logs in (default: as ssh would)")
    add.add_argument("--port", type=int, help="ssh port (default: as ssh would)")
    add.add_argument("--identity", metavar="FILE", help="private key (default: as ssh would, and the agent)")
    add.add_argument("--jump", metavar="[USER@]HOST[:PORT],…", help="jump hosts, as ssh -J")
    add.add_argument(
        "--rights",
        choices=[each.value for each in Rights],
        default=Rights.SUDO.value,
        help="how more rights are gained: sudo without a password (the default), sudo-password, which is asked for "
        "once, sudo-postgres to the clusters' owner alone, none",
    )
    add.add_argument("--database-user", default="postgres", help="system user that owns the clusters")
    add.add_argument("--copy-address", metavar="ADDRESS", help="address by which the other server reaches this one")
    add.add_argument("--replace", action="store_true", help="describe a known server anew")
    add_common(add)
    add.set_defaults(run=_add)

    taken = verbs.add_parser(
        "import",
        help="describe the servers of a list, and the moves in it",
        description="Describe the servers of a list, and set up the moves in it. A CSV's first row names its columns: "
        "name, address, user, port, identity_file, jump, rights, database_user, copy_address; where a row has new and "
        "cluster, it is a move too, with target and move, its name, where they differ. An Ansible inventory: its INI "
        "form, or what ansible-inventory --list prints, with pghaul_new, pghaul_cluster and the like among a host's "
        "variables. Or your own ~/.ssh/config. Nobody is reached. Exit code 1 where an entry was not taken.",
    )
    taken.add_argument("list", metavar="LIST", help="a file; - reads standard input")
    taken.add_argument("--replace", action="store_true", help="describe known servers and moves anew")
    add_common(taken)
    taken.set_defaults(run=_import)

    listed = verbs.add_parser("list", help="list the servers")
    add_common(listed)
    listed.set_defaults(run=_list)

    test = verbs.add_parser("test", help="connect, and try the rights; exit code 1 where a promised one does not work")
    test.add_argument("name", metavar="SERVER")
    add_common(test, server=True)
    test.set_defaults(run=_test)

    install = verbs.add_parser("install", help="install tools that a server lacks, as root, by its own packages")
    install.add_argument("name", metavar="SERVER")
    install.add_argument("tool", nargs="+", help="bonnie++, fio, iperf3, lz4, rsync, socat, sysbench or zstd")
    install.add_argument("--show", action="store_true", help="say which are missing and the command, and run nothing")
    add_common(install, server=True)
    install.set_defaults(run=_install)

    remove = verbs.add_parser("remove", help="forget a server that no move uses")
    remove.add_argument("name", metavar="SERVER")
    add_common(remove)
    remove.set_defaults(run=_remove)


def _add(context: Context, options: argparse.Namespace) -> int:
    if options.port is not None and not 0 < options.port < 65536:
        raise InputError(f"{options.port} is no port", "give one from 1 to 65535")
    _refuse_no_address(options.address)
    if options.copy_address is not None:
        _refuse_no_address(options.copy_address)
    if options.identity is not None and not Path(options.identity).expanduser().exists():
        raise InputError(
            f"there is no key file {options.identity}", "name the private key, or leave --identity out: as ssh would"
        )
    if not options.replace and any(known.name == options.name for known in context.store.profiles()):
        raise InputError(
            f"there is a server {options.name!r} already", "choose another name, or describe it anew with --replace"
        )
    profile = Profile(
        name=options.name,
        address=options.address,
        user=options.user,
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
        show(f"{profile.name} is described; try it with: pghaul server test {profile.name}")
    return 0


def _import(context: Context, options: argparse.Namespace) -> int:
    from core.actions import lists as actions
    from core.cli.inputs import read_input
    from core.servers.lists.reading import read_list

    found = read_list(options.list, read_input(options.list))
    taken = actions.import_list(context.session, found, replacing=options.replace)
    if options.json:
        print_document(taken)
    else:
        show(imported_text(taken))
    return 1 if taken.refused else 0


def imported_text(taken: "Taken") -> str:
    """What became of a list, for people."""
    counts = ((taken.added, "new"), (taken.changed, "described anew"), (taken.kept, "known already"))
    said = ", ".join(f"{units.count(len(names))} {words}" for names, words in counts if names)
    lines = [f"servers: {said or 'none'}"]
    if taken.moves:
        lines.append(f"moves: {units.count(len(taken.moves))}, {', '.join(taken.moves[:_SHOWN])}")
        lines[-1] += ", …" if len(taken.moves) > _SHOWN else ""
    if taken.refused:
        rows = [(each.place, each.name, each.reason, each.hint) for each in taken.refused]
        lines += ["", f"not taken: {units.count(len(rows))}", table(("where", "server", "why", "hint"), rows)]
    return "\n".join(lines)


def _refuse_no_address(address: str) -> None:
    """Refuse what ssh would take for an option, or what can be no host."""
    wrong = any(character.isspace() or not character.isprintable() for character in address)
    if not address or address.startswith("-") or wrong:
        raise InputError(f"{address!r} is no address", "give a host name, an IP address or an alias of ~/.ssh/config")


def _list(context: Context, options: argparse.Namespace) -> int:
    profiles = context.store.profiles()
    if options.json:
        print_document({"servers": profiles})
    elif not profiles:
        show("no servers yet; describe one with: pghaul server add NAME ADDRESS")
    else:
        rows = [
            (p.name, p.address, p.user or "(as ssh)", str(p.port or "(as ssh)"), p.jump or "", p.rights)
            for p in profiles
        ]
        show(table(("name", "address", "user", "port", "jump", "rights"), rows))
    return 0


def _test(context: Context, options: argparse.Namespace) -> int:
    from core.actions import servers as actions

    tried = actions.test_server(context.session, options.name, context.job)
    if options.json:
        print_document({"server": options.name, "results": tried.sentences, "missing": tried.missing})
    else:
        show("\n".join(map(printable, tried.sentences)))
    return 1 if tried.missing else 0


def _install(context: Context, options: argparse.Namespace) -> int:
    from core.actions import servers as actions

    wanted = actions.missing_tools(context.session, options.name, options.tool, context.job)
    shown = wanted.shell.shown if wanted.shell is not None else None
    if shown is not None and not options.show:
        say(f"as root on {printable(options.name)}: {printable(shown)}")
        actions.install_tools(context.session, wanted, context.job)
    if options.json:
        done = [] if options.show else wanted.missing
        print_document({"server": options.name, "missing": wanted.missing, "command": shown, "installed": done})
    elif shown is None:
        show(f"{printable(options.name)} has {', '.join(options.tool)} already")
    elif options.show:
        show(f"{printable(options.name)} lacks {', '.join(wanted.missing)}; as root: {printable(shown)}")
    else:
        show(f"installed {', '.join(wanted.missing)} on {printable(options.name)}")
    return 0


def _remove(context: Context, options: argparse.Namespace) -> int:
    context.store.remove_profile(options.name)
    if options.json:
        print_document({"removed": options.name})
    else:
        show(f"{options.name} is forgotten")
    return 0
