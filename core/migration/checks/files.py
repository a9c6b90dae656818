"""Checks of owners, modes and kinds of files."""

from core import units
from core.facts.accounts import SECTION as ACCOUNTS
from core.facts.host_environment import Account, IrregularFiles
from core.facts.irregular_files import SECTION as IRREGULAR_FILES
from core.facts.model import Facts
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.data_roots import private_key_path, source_data_roots
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    no_cluster_finding,
    passed,
    unknown,
    warning,
)
from core.servers.shell import for_hint

_COMPRESSING = ("zfs", "btrfs")
"""File systems on which files need less space than their size without having holes."""


def check_owner(context: CheckContext) -> Finding:
    """Check that the owner of the old cluster exists on the new server, by name."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    if cluster.owner is None:
        number = NOTHING if cluster.owner_uid is None else f"uid {cluster.owner_uid}"
        return blocker(
            number,
            NOTHING,
            f"The owner of {cluster.data_directory} has no user name on {context.old.server}.",
            "Give that user ID a name on the old server (`useradd`), or give the files to postgres.",
        )
    accounts = context.new.host_environment.accounts
    if accounts is None:
        return _unread_users(context, cluster.owner)
    there = _account(accounts, cluster.owner)
    if there is None:
        return blocker(
            cluster.owner,
            "no such user",
            f"{context.new.server} has no user {cluster.owner}. This user must own the files and run the server.",
            "Install PostgreSQL's packages on the new server, which create the user, or run "
            f"`{for_hint('useradd', '--system', cluster.owner)}`.",
        )
    return passed(
        cluster.owner, f"{there.name}, uid {there.uid}", f"The user {cluster.owner} exists on the new server."
    )


def check_owner_id(context: CheckContext) -> Finding:
    """Check that the owner has the same user ID on both servers, which archives and NFS mounts go by."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    accounts = context.new.host_environment.accounts
    if accounts is None or cluster.owner is None or cluster.owner_uid is None:
        return _unread_users(context, cluster.owner or NOTHING)
    there = _account(accounts, cluster.owner)
    here = f"{cluster.owner}, uid {cluster.owner_uid}"
    if there is None:
        return unknown(
            here,
            "no such user",
            f"There is nothing to compare, because {cluster.owner} does not exist on the new server.",
            "See the check `owner`.",
        )
    if there.uid == cluster.owner_uid:
        return passed(here, f"{there.name}, uid {there.uid}", "The user has the same ID on both servers.")
    stranger = next((each.name for each in accounts if each.uid == cluster.owner_uid), None)
    whose = f"; {cluster.owner_uid} belongs to {stranger} on the new server" if stranger is not None else ""
    return passed(
        here,
        f"{there.name}, uid {there.uid}{whose}",
        f"{cluster.owner} has another user ID on the new server. pghaul copies by name, also over NFS, so its copy "
        "needs no action. Archives and NFS mounts of your own go by ID: map the IDs there.",
    )


def check_unreadable_files(context: CheckContext) -> Finding:
    """Check that the owner, who copies the files, can read all of them."""
    odd = _irregular_files(context)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.unreadable == 0:
        return passed("none", NOTHING, "The owner can read every file.")
    return blocker(
        _count_with_examples(odd.unreadable, odd, "unreadable"),
        NOTHING,
        f"The owner cannot read {_count_files(odd.unreadable)}. The copy would fail.",
        "Find out why, then correct the owner and the mode of these files (`chown`, `chmod u+rwX`).",
    )


def check_foreign_files(context: CheckContext) -> Finding:
    """Check that all files belong to the owner of the data directory."""
    odd = _irregular_files(context)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.foreign == 0:
        return passed("none", NOTHING, "All files belong to the owner of the data directory.")
    shown = _count_with_examples(odd.foreign, odd, "foreign")
    key = None if context.cluster is None else private_key_path(context.cluster)
    if key is not None and key in odd.examples.get("foreign", ()):
        return blocker(
            shown,
            NOTHING,
            f"The private key {key} belongs to another user. Its copy will belong to the owner of "
            "the new cluster. PostgreSQL refuses a key of its own that a group may read.",
            "Give it to the owner of the cluster on the old server (`chown`), and run "
            f"`{for_hint('chmod', '600', key)}`.",
        )
    return passed(
        shown,
        NOTHING,
        f"{_count_files(odd.foreign)} of other owners will belong to the owner of the cluster on "
        "the new server. Before the old cluster is stopped, pghaul checks whether the server's "
        "private key is one of them.",
    )


def check_special_files(context: CheckContext) -> Finding:
    """Check for FIFOs and devices, which are not copied."""
    odd = _irregular_files(context)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.special == 0:
        return passed("none", NOTHING, "The data roots contain only files, directories and links.")
    return warning(
        _count_with_examples(odd.special, odd, "special"),
        NOTHING,
        f"The data roots contain FIFOs or devices ({units.count(odd.special)}). They are not "
        "copied. PostgreSQL itself uses none.",
        "Find out which program uses them. If it needs them, create them again on the new server (`mkfifo`, `mknod`).",
    )


def check_folder_mode(context: CheckContext) -> Finding:
    """Check that the mode of the data directory is 0700 or 0750, without which no server starts."""
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    mode = cluster.mode
    if mode is None:
        return _unread_files(context, "The mode of the data directory")
    allowed = {"700"} | ({"750"} if float(cluster.series) >= 11 else set())
    if mode in allowed:
        return passed(mode, NOTHING, "The data directory has a mode that PostgreSQL accepts.")
    return warning(
        mode,
        " or ".join(sorted(allowed)),
        f"The data directory has mode {mode}. PostgreSQL {cluster.series} refuses to start with it.",
        f"The copy keeps the mode. Correct it on the old server: `{for_hint('chmod', '700', cluster.data_directory)}`.",
    )


def check_hard_links(context: CheckContext) -> Finding:
    """Check for hard links, each of which becomes a separate file on the new server."""
    odd = _irregular_files(context)
    if not isinstance(odd, IrregularFiles):
        return odd
    if odd.hard_links == 0:
        return passed("none", NOTHING, "No file has a second hard link.")
    return warning(
        _count_with_examples(odd.hard_links, odd, "hard-link"),
        NOTHING,
        f"Several hard links lead to {_count_files(odd.hard_links)}. The copy makes a separate file "
        "of each and takes more space.",
        "pg_upgrade --link leaves such files. Delete the cluster of the previous major version "
        "when it is no longer needed.",
    )


def check_sparse_files(context: CheckContext) -> Finding:
    """Check for files with large holes, which a copy fills."""
    odd, cluster = _irregular_files(context), context.cluster
    if not isinstance(odd, IrregularFiles) or cluster is None:
        return odd if not isinstance(odd, IrregularFiles) else no_cluster_finding(context)
    systems = [context.old.file_system_of(root.source) for root in source_data_roots(cluster)]
    kinds = {system.kind for system in systems if system is not None}
    if odd.sparse == 0:
        return passed("none", NOTHING, "No file has holes.")
    if kinds & set(_COMPRESSING):
        shown = f"on {', '.join(sorted(kinds))}"
        return passed(shown, NOTHING, "Files take less space than their size because the file system compresses them.")
    holes = f"{units.size(odd.sparse_bytes)} in holes"
    return warning(
        f"{_count_with_examples(odd.sparse, odd, 'sparse')}; {holes}",
        NOTHING,
        f"The copy fills the holes of {_count_files(odd.sparse)}. This takes "
        f"{units.size(odd.sparse_bytes)} more on the new server.",
        "The check `space` counts them at their full size. If it passes, nothing needs to be done.",
    )


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "owner",
            "Owner account on the new server",
            True,
            "owner on the old server, users of the new server",
            "postgres-user",
        ),
        check_owner,
    ),
    (
        Declaration(
            "owner-number", "User ID of the owner", False, "user ID of the owner on both servers", "postgres-user"
        ),
        check_owner_id,
    ),
    (
        Declaration("unreadable-files", "Unreadable files", True, "modes of the old cluster's files", "backup-file"),
        check_unreadable_files,
    ),
    (
        Declaration(
            "foreign-files", "Files of other owners", True, "owners of the old cluster's files", "creating-cluster"
        ),
        check_foreign_files,
    ),
    (
        Declaration(
            "special-files", "FIFOs and devices", False, "kinds of the old cluster's files", "creating-cluster"
        ),
        check_special_files,
    ),
    (
        Declaration("folder-mode", "Mode of the data directory", False, "mode on the old server", "creating-cluster"),
        check_folder_mode,
    ),
    (
        Declaration("hard-links", "Hard links", False, "number of links of the old cluster's files", "backup-file"),
        check_hard_links,
    ),
    (
        Declaration("sparse-files", "Sparse files", False, "sizes of the old cluster's files", "backup-file"),
        check_sparse_files,
    ),
)


def _irregular_files(context: CheckContext) -> IrregularFiles | Finding:
    cluster = context.cluster
    if cluster is None:
        return no_cluster_finding(context)
    return cluster.irregular_files or _unread_files(context, "The list of file kinds in the data directory")


def _unread_files(context: CheckContext, what: str) -> Finding:
    return unknown(
        NOTHING,
        NOTHING,
        f"{what} could not be read ({explain_gap(context.old, IRREGULAR_FILES.name, of=context.move.cluster)}).",
        f"Read the facts again: `pghaul facts {context.old.server}`.",
    )


def _unread_users(context: CheckContext, here: str) -> Finding:
    facts: Facts = context.new if context.new.host_environment.accounts is None else context.old
    return unknown(
        here,
        NOTHING,
        f"The users of {facts.server} could not be compared ({explain_gap(facts, ACCOUNTS.name)}).",
        "Compare `id` of the owner on both servers.",
    )


def _account(accounts: tuple[Account, ...], name: str) -> Account | None:
    return next((account for account in accounts if account.name == name), None)


def _count_files(number: int) -> str:
    return "1 file" if number == 1 else f"{units.count(number)} files"


def _count_with_examples(number: int, odd: IrregularFiles, kind: str) -> str:
    examples = odd.examples.get(kind, ())
    more = number - len(examples)
    return ", ".join(examples) + (f" and {units.count(more)} more" if more > 0 else "") if examples else str(number)
