"""The proof ahead of a copy: what its last pass removes from new's folders is nobody else's.

The data directory is known by its system identifier. A tablespace's folder bears none, nor does one of WAL: such a
folder is taken for a copy's where the copy in the data directory has the link for it, no other cluster leads to it, and
it holds no other names than such a folder has.
"""

from typing import LiteralString

from core.migration.findings.data_roots import DataRoot, names_of
from core.migration.plan import cluster_control
from core.migration.plan.site import Site
from core.servers.shell import Shell, command, script, sequence

_EMPTY: LiteralString = '{ [ ! -e @folder@ ] || [ -z "$(ls -A -- @folder@)" ]; }'

_OF_A_PLACE: LiteralString = (
    "folder=$1; data=$2; link=$3; names=$4; shift 4; "
    '[ -n "$(ls -A -- "$folder" 2>/dev/null)" ] || exit 0; '
    'refuse() { echo "$folder $1: empty it if nobody needs what it holds, or name another target" >&2; exit 1; }; '
    '[ -L "$data/$link" ] || refuse "holds files, and no copy in $data leads there"; '
    'strange=$(ls -A -- "$folder" | grep -vxE -e "$names" | head -n 1); '
    '[ -z "$strange" ] || refuse "holds $strange, which no copy of this cluster brings"; '
    "for process in /proc/[0-9]*; do "
    'if grep -qxE "postgres|postmaster" "$process/comm" 2>/dev/null; then set -- "$@" "$process/cwd"; fi; done; '
    'for other do [ ! "$other" -ef "$data" ] || continue; '
    'for to in "$other" "$other/pg_wal" "$other/pg_xlog" "$other"/pg_tblspc/*; do '
    '[ ! "$to" -ef "$folder" ] || refuse "belongs to the cluster in $(readlink -f -- "$other")"; done; done'
)


def empty_or_ours(site: Site) -> Shell:
    """On new, as root: ends well where every folder is empty or absent, or holds an earlier copy of this cluster."""
    data, *outside = site.roots
    return sequence(_data_directory(site, data), *(_root(site, each) for each in outside))


def _data_directory(site: Site, data: DataRoot) -> Shell:
    control = site.cluster.control
    ours = script(
        "[ ! -e @target@/postmaster.pid ] && [ -e @target@/global/pg_control ] && "
        "sh -c @read@ | grep -qx 'Database system identifier: *'@identifier@",
        target=data.target,
        read=cluster_control.control_data(site.new_path, data.target),
        identifier=control.system_identifier if control is not None else "unknown",
    )
    refused = f"{data.target} is neither empty nor a copy of this cluster, or a server runs in it"
    return script(
        "{ sh -c @empty@ || sh -c @ours@ || { echo @refused@ >&2; exit 1; }; }",
        empty=script(_EMPTY, folder=data.target),
        ours=ours,
        refused=refused,
    )


def _root(site: Site, root: DataRoot) -> Shell:
    control, target = site.cluster.control, site.move.target
    names = names_of(root, site.cluster.series, control.catalog_version if control is not None else None)
    others = [each.data_directory for each in site.new_facts.clusters if each.data_directory != target]
    return command("sh", "-c", script(_OF_A_PLACE), "sh", root.target, target, root.link, names, *others)
