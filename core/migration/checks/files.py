"""Whose the files are, and those that a copy may not bring over as they are."""

from core import units
from core.facts.accounts import SECTION as ACCOUNTS
from core.facts.host_environment import Account, IrregularFiles
from core.facts.irregular_files import SECTION as IRREGULAR_FILES
from core.facts.model import Facts
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.data_roots import private_key, roots_of
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    passed,
    reason,
    unknown,
    warning,
)
from core.servers.shell import for_hint

_COMPRESSING = ("zfs", "btrfs")
"""Their files take less than they hold without having holes."""


def owner(case: Case) -> Finding:
    """The user who owns the cluster on old is there on new, by name."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if cluster.owner is None:
        number = NOTHING if cluster.owner_uid is None else f"uid {cluster.owner_uid}"
        return blocker(
            number,
            NOTHING,
            f"the owner of {cluster.data_directory} has no name on {case.old.server}",
            "give that number a name on old (useradd), or have the files given to postgres",
        )
    accounts = case.new.host_environment.accounts
    if accounts is None:
        return _users_unread(case, cluster.owner)
    there = _account(accounts, cluster.owner)
    if there is None:
        return blocker(
            cluster.owner,
            "no such user",
            f"{case.new.server} has no user {cluster.owner}, who is to own the files and run the server",
            "install PostgreSQL's packages on new, which make the user, or: useradd --system " + cluster.owner,
        )
    return passed(cluster.owner, f"{there.name}, uid {there.uid}", f"{cluster.owner} is there on new")


def owner_number(case: Case) -> Finding:
    """The owner has the same number on both: the copy goes by name, an archive or a mount of one's own by number."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    accounts = case.new.host_environment.accounts
    if accounts is None or cluster.owner is None or cluster.owner_uid is None:
        return _users_unread(case, cluster.owner or NOTHING)
    there = _account(accounts, cluster.owner)
    here = f"{cluster.owner}, uid {cluster.owner_uid}"
    if there is None:
        return unknown(here, "no such user", f"{cluster.owner} is not on new: nothing to compare", "see: owner on new")
    if there.uid == cluster.owner_uid:
        return passed(here, f"{there.name}, uid {there.uid}", "the same number on both")
    stranger = next((each.name for each in accounts if each.uid == cluster.owner_uid), None)
    whose = f"; {cluster.owner_uid} is {stranger}'s on new" if stranger is not None else ""
    return warning(
        here,
        f"{there.name}, uid {there.uid}{whose}",
        f"{cluster.owner} has another number on new: the copy goes by name, but archives and NFS mounts by number",
        "nothing to do for pghaul's own copy, over NFS too; map the users for what you copy by other means",
    )


def unreadable_files(case: Case) -> Finding:
    """Everything in the data directory may be read by its owner, who copies it."""
    odd = _odd(case)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.unreadable == 0:
        return passed("none", NOTHING, "the owner may read every file")
    return blocker(
        _shown(odd.unreadable, odd, "unreadable"),
        NOTHING,
        f"{_counted(odd.unreadable)} cannot be read by the owner: the copy would end with an error",
        "find out why it is so, then set the owner and the modes of what is named right: chown, chmod u+rwX",
    )


def foreign_files(case: Case) -> Finding:
    """All files belong to the owner of the data directory."""
    odd = _odd(case)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.foreign == 0:
        return passed("none", NOTHING, "all files belong to the owner of the data directory")
    shown = _shown(odd.foreign, odd, "foreign")
    key = None if case.cluster is None else private_key(case.cluster)
    if key is not None and key in odd.examples.get("foreign", ()):
        return blocker(
            shown,
            NOTHING,
            f"the private key {key} belongs to another user: its copy will belong to the owner of the new cluster, and "
            "PostgreSQL refuses a key of its own that a group may read",
            f"give it to the owner of the cluster on the old server (chown), and: {for_hint('chmod', '600', key)}",
        )
    return passed(
        shown,
        NOTHING,
        f"{_counted(odd.foreign)} of somebody else: on the new server the owner of the cluster owns them; before the "
        "stop pghaul looks whether the server's private key is one of them",
    )


def special_files(case: Case) -> Finding:
    """No FIFO and no device lies in the data roots: a copy brings files, folders and links alone."""
    odd = _odd(case)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.special == 0:
        return passed("none", NOTHING, "files, folders and links alone lie in the data roots")
    return warning(
        _shown(odd.special, odd, "special"),
        NOTHING,
        f"FIFOs or devices lie in the data roots, {units.count(odd.special)} of them: they are not copied, and "
        "PostgreSQL itself uses none",
        "look which program uses them; where it needs them, make them anew on the new server (mkfifo, mknod)",
    )


def folder_mode(case: Case) -> Finding:
    """The data directory is its owner's alone (0700), or readable by the group (0750): no server starts otherwise."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    mode = cluster.mode
    if mode is None:
        return _unread(case, "the mode of the data directory")
    allowed = {"700"} | ({"750"} if float(cluster.series) >= 11 else set())
    if mode in allowed:
        return passed(mode, NOTHING, "the mode that PostgreSQL asks for")
    return warning(
        mode,
        " or ".join(sorted(allowed)),
        f"the data directory has mode {mode}: PostgreSQL {cluster.series} refuses to start in such a one",
        f"the copy takes the mode along; set it right on old: {for_hint('chmod', '700', cluster.data_directory)}",
    )


def hard_links(case: Case) -> Finding:
    """No file has a second name: each name becomes a file of its own on new."""
    odd = _odd(case)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.hard_links == 0:
        return passed("none", NOTHING, "every file has one name")
    return warning(
        _shown(odd.hard_links, odd, "hard-link"),
        NOTHING,
        f"{_counted(odd.hard_links)} with several names: a copy makes a file of each and takes more room",
        "an upgrade with --link leaves such files: delete the cluster of before when it is not needed any more",
    )


def sparse_files(case: Case) -> Finding:
    """No file has large holes, which a copy fills."""
    odd, cluster = _odd(case), case.cluster
    if not isinstance(odd, IrregularFiles) or cluster is None:
        return odd if not isinstance(odd, IrregularFiles) else no_cluster(case)
    systems = [case.old.file_system_of(root.source) for root in roots_of(cluster)]
    kinds = {system.kind for system in systems if system is not None}
    if odd.sparse == 0:
        return passed("none", NOTHING, "no file has holes")
    if kinds & set(_COMPRESSING):
        shown = f"on {', '.join(sorted(kinds))}"
        return passed(shown, NOTHING, "files take less than they hold because the file system compresses them")
    holes = f"{units.size(odd.sparse_bytes)} in holes"
    return warning(
        f"{_shown(odd.sparse, odd, 'sparse')}; {holes}",
        NOTHING,
        f"{_counted(odd.sparse)} with holes: on new they take {units.size(odd.sparse_bytes)} more",
        "the room that is checked counts them whole; nothing to do where there is enough",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration("owner", "owner on new", True, "owner on old, users of new", "postgres-user"),
        owner,
    ),
    (
        Declaration("owner-number", "uid of the owner", False, "uid of the owner on both", "postgres-user"),
        owner_number,
    ),
    (
        Declaration("unreadable-files", "unreadable files", True, "modes of old's files", "backup-file"),
        unreadable_files,
    ),
    (
        Declaration("foreign-files", "files of other owners", True, "owners of old's files", "creating-cluster"),
        foreign_files,
    ),
    (
        Declaration("special-files", "FIFOs and devices", False, "kinds of old's files", "creating-cluster"),
        special_files,
    ),
    (
        Declaration("folder-mode", "mode of the data directory", False, "its mode on old", "creating-cluster"),
        folder_mode,
    ),
    (
        Declaration("hard-links", "hard links", False, "names of old's files", "backup-file"),
        hard_links,
    ),
    (
        Declaration("sparse-files", "sparse files", False, "sizes of old's files", "backup-file"),
        sparse_files,
    ),
)


def _odd(case: Case) -> IrregularFiles | Finding:
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    return cluster.irregular_files or _unread(case, "what kinds of files lie in the data directory")


def _unread(case: Case, what: str) -> Finding:
    return unknown(
        NOTHING,
        NOTHING,
        f"{what} could not be read: {reason(case.old, IRREGULAR_FILES.name, of=case.move.cluster)}",
        f"read the facts again: pghaul facts {case.old.server}",
    )


def _users_unread(case: Case, here: str) -> Finding:
    facts: Facts = case.new if case.new.host_environment.accounts is None else case.old
    return unknown(
        here,
        NOTHING,
        f"the users of {facts.server} could not be compared: {reason(facts, ACCOUNTS.name)}",
        "compare `id` of the owner on both hosts",
    )


def _account(accounts: tuple[Account, ...], name: str) -> Account | None:
    return next((account for account in accounts if account.name == name), None)


def _counted(number: int) -> str:
    return "1 file" if number == 1 else f"{units.count(number)} files"


def _shown(number: int, odd: IrregularFiles, kind: str) -> str:
    examples = odd.examples.get(kind, ())
    more = number - len(examples)
    return ", ".join(examples) + (f" and {units.count(more)} more" if more > 0 else "") if examples else str(number)
