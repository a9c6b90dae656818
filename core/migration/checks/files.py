"""Checks of owners, modes and kinds of files."""

from core import units
from core.facts.host_environment import Account, IrregularFiles
from core.facts.model import Cluster
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.findings.data_roots import private_key_path, source_data_roots
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, unknown, warning
from core.servers.shell import for_hint

_COMPRESSING = ("zfs", "btrfs")
"""File systems on which files need less space than their size without having holes."""


@check(
    "owner",
    "Owner account on the new server",
    blocking=True,
    compares="owner on the old server, users of the new server",
    page="postgres-user",
    needs=(need.CLUSTER,),
    uses=(need.NEW_ACCOUNTS,),
)
def check_owner(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the owner of the old cluster exists on the new server, by name."""
    if cluster.owner is None:
        number = NOTHING if cluster.owner_uid is None else f"uid {cluster.owner_uid}"
        return blocker(
            number,
            NOTHING,
            f"The owner of {cluster.data_directory} has no user name on the server {context.old.server}.",
            "Give that user ID a name on the old server (`useradd`), or give the files to postgres.",
        )
    accounts = need.NEW_ACCOUNTS.value_or_finding(context, cluster.owner)
    if isinstance(accounts, Finding):
        return accounts
    there = _account(accounts, cluster.owner)
    if there is None:
        return blocker(
            cluster.owner,
            "no such user",
            f"The server {context.new.server} has no user {cluster.owner}. This user must own the files and run "
            "PostgreSQL.",
            "Install PostgreSQL's packages on the new server, which create the user, or run "
            f"`{for_hint('useradd', '--system', cluster.owner)}`.",
        )
    return passed(
        cluster.owner, f"{there.name}, uid {there.uid}", f"The user {cluster.owner} exists on the new server."
    )


@check(
    "owner-number",
    "User ID of the owner",
    compares="user ID of the owner on both servers",
    page="postgres-user",
    needs=(need.OWNER, need.NEW_ACCOUNTS),
)
def check_owner_id(_context: CheckContext, owner: tuple[str, int], accounts: tuple[Account, ...]) -> Finding:
    """Check that the owner has the same user ID on both servers, which archives and NFS mounts go by."""
    name, number = owner
    there = _account(accounts, name)
    here = f"{name}, uid {number}"
    if there is None:
        return unknown(
            here,
            "no such user",
            f"There is nothing to compare, because {name} does not exist on the new server.",
            "See the check `owner`.",
        )
    if there.uid == number:
        return passed(here, f"{there.name}, uid {there.uid}", "The user has the same ID on both servers.")
    stranger = next((each.name for each in accounts if each.uid == number), None)
    whose = f"; {number} belongs to {stranger} on the new server" if stranger is not None else ""
    return passed(
        here,
        f"{there.name}, uid {there.uid}{whose}",
        f"{name} has another user ID on the new server. pghaul sets the owner by name, also over NFS, so the "
        "move needs no action.",
    )


@check(
    "unreadable-files",
    "Unreadable files",
    blocking=True,
    compares="modes of the old cluster's files",
    page="backup-file",
    needs=(need.IRREGULAR_FILES,),
)
def check_unreadable_files(_context: CheckContext, odd: IrregularFiles) -> Finding:
    """Check that the owner, who copies the files, can read all of them."""
    if odd.unreadable == 0:
        return passed("none", NOTHING, "The owner can read every file.")
    return blocker(
        _count_with_examples(odd.unreadable, odd, "unreadable"),
        NOTHING,
        f"The owner cannot read {_count_files(odd.unreadable)}. The copy would fail.",
        "Find out why, then correct the owner and the mode of these files (`chown`, `chmod u+rwX`).",
    )


@check(
    "foreign-files",
    "Files of other owners",
    blocking=True,
    compares="owners of the old cluster's files",
    page="creating-cluster",
    needs=(need.CLUSTER, need.IRREGULAR_FILES),
)
def check_foreign_files(_context: CheckContext, cluster: Cluster, odd: IrregularFiles) -> Finding:
    """Check that all files belong to the owner of the data directory."""
    if odd.foreign == 0:
        return passed("none", NOTHING, "All files belong to the owner of the data directory.")
    shown = _count_with_examples(odd.foreign, odd, "foreign")
    key = private_key_path(cluster)
    # The server accepts a private key with group access only if root owns it (PostgreSQL's manual, chapter Secure
    # TCP/IP Connections with SSL). The copy belongs to the owner of the cluster, so the same mode would keep the new
    # cluster from starting.
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


@check(
    "special-files",
    "FIFOs and devices",
    compares="kinds of the old cluster's files",
    page="creating-cluster",
    needs=(need.IRREGULAR_FILES,),
)
def check_special_files(_context: CheckContext, odd: IrregularFiles) -> Finding:
    """Check for FIFOs and devices, which are not copied."""
    if odd.special == 0:
        return passed(
            "none", NOTHING, "The data directory and the tablespaces contain only files, directories and links."
        )
    return warning(
        _count_with_examples(odd.special, odd, "special"),
        NOTHING,
        f"The data directory or a tablespace contains FIFOs or devices ({units.count(odd.special)}). They are not "
        "copied. PostgreSQL itself uses none.",
        "Find out which program uses them. If it needs them, create them again on the new server (`mkfifo`, `mknod`).",
    )


@check(
    "folder-mode",
    "Mode of the data directory",
    compares="mode on the old server",
    page="creating-cluster",
    needs=(need.CLUSTER, need.MODE),
)
def check_folder_mode(_context: CheckContext, cluster: Cluster, mode: str) -> Finding:
    """Check that the mode of the data directory is 0700 or 0750, without which no server starts."""
    # Group access (0750) exists since 11: initdb --allow-group-access. Earlier servers refuse to start if the group has
    # any access.
    allowed = {"700"} | ({"750"} if float(cluster.series) >= 11 else set())
    if mode in allowed:
        return passed(mode, NOTHING, "The data directory has a mode that PostgreSQL accepts.")
    return warning(
        mode,
        " or ".join(sorted(allowed)),
        f"The data directory has mode {mode}. PostgreSQL {cluster.series} refuses to start with it.",
        f"The copy keeps the mode. Correct it on the old server: `{for_hint('chmod', '700', cluster.data_directory)}`.",
    )


@check(
    "hard-links",
    "Hard links",
    compares="number of links of the old cluster's files",
    page="backup-file",
    needs=(need.IRREGULAR_FILES,),
)
def check_hard_links(_context: CheckContext, odd: IrregularFiles) -> Finding:
    """Check for hard links, each of which becomes a separate file on the new server."""
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


@check(
    "sparse-files",
    "Sparse files",
    compares="sizes of the old cluster's files",
    page="backup-file",
    needs=(need.CLUSTER, need.IRREGULAR_FILES),
)
def check_sparse_files(context: CheckContext, cluster: Cluster, odd: IrregularFiles) -> Finding:
    """Check for files with large holes, which a copy fills."""
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


def _account(accounts: tuple[Account, ...], name: str) -> Account | None:
    return next((account for account in accounts if account.name == name), None)


def _count_files(number: int) -> str:
    return "1 file" if number == 1 else f"{units.count(number)} files"


def _count_with_examples(number: int, odd: IrregularFiles, kind: str) -> str:
    examples = odd.examples.get(kind, ())
    more = number - len(examples)
    return ", ".join(examples) + (f" and {units.count(more)} more" if more > 0 else "") if examples else str(number)


CHECKS: tuple[Check, ...] = (
    check_owner,
    check_owner_id,
    check_unreadable_files,
    check_foreign_files,
    check_special_files,
    check_folder_mode,
    check_hard_links,
    check_sparse_files,
)
