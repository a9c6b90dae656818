"""Checks whether the new server's binaries can read the old cluster's files."""

from core.facts.clusters import IDENTITY, PLACE
from core.facts.model import Cluster, ControlData, System
from core.facts.programs import SERVER_TOOLS, server_programs
from core.facts.sections import NO_CLUSTER, TRIAL
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.checks.needs import INSTALL
from core.migration.findings.finding import (
    NOTHING,
    CheckContext,
    Finding,
    blocker,
    explain_gap,
    passed,
    unknown,
    warning,
)
from core.migration.findings.releases import CONTROL_VERSIONS, Release, parse_release

_LAYOUT = (
    ("pg_control_version", "pg_control version"),
    ("catalog_version", "catalog version"),
    ("max_alignment", "maximum alignment"),
    ("block_size", "block size"),
    ("relation_segment_blocks", "blocks per relation segment"),
    ("wal_block_size", "WAL block size"),
    ("float8_by_value", "float8 by value"),
)
"""Fields that are fixed when the binaries are built or the major version is released. All others are copied."""

_LABELS = (
    "Maximum length of identifiers",
    "Maximum columns in an index",
    "Maximum size of a TOAST chunk",
    "Size of a large-object chunk",
    "Date/time type storage",
    "Default char data signedness",
)
"""Further such fields by their labels in pg_controldata; compared if both servers print the line."""


@check(
    "product",
    "PostgreSQL or a fork",
    blocking=True,
    compares="product names and versions of the control file",
    page="upgrading",
    needs=(need.CLUSTER,),
)
def check_product(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that both servers run PostgreSQL; a fork has files of its own, whatever its version number."""
    old, new = _release(cluster), _newest(context)
    shown = _describe_cluster(cluster), _describe_new(context)
    for is_old, fork in ((True, _fork(cluster, old)), (False, _fork(None, new))):
        if fork is not None:
            return blocker(
                *shown,
                f"The {'old' if is_old else 'new'} server runs {fork}, not PostgreSQL.",
                "Copying files requires the same product on both servers. Use that product's own migration method.",
            )
    control = cluster.control
    known = CONTROL_VERSIONS.get(cluster.series)
    if control is not None and known is not None and control.pg_control_version != known:
        return blocker(
            f"pg_control {control.pg_control_version}",
            f"pg_control {known} in PostgreSQL {cluster.series}",
            f"The control file of the old cluster is not from PostgreSQL {cluster.series}. A fork has written it.",
            "Copying files requires the same product on both servers.",
        )
    if old is None:
        return unknown(
            *shown, "The binaries of the old server were not found, so its product is not known.", _NAME_BINARIES
        )
    return passed(*shown, "Both servers run PostgreSQL." if new is not None else "The old server runs PostgreSQL.")


@check(
    "series",
    "PostgreSQL major version",
    blocking=True,
    compares="major versions of both servers' binaries",
    page="upgrading",
    needs=(need.CLUSTER,),
    uses=(need.NEW_POSTGRESQL, need.NEW_CONTROL),
)
def check_major_version(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that both have the same major version, and that neither is a beta or release candidate.

    Clusters and programs of another major version may stand beside the binaries that the move needs.
    """
    old, new = _release(cluster), _newest(context)
    shown = _describe_cluster(cluster), _describe_new(context)
    early = next((release for release in (old, new) if release is not None and release.prerelease is not None), None)
    # The catalog version may change between two pre-releases, and up to the release itself, without any upgrade in
    # place.
    if early is not None and new is not None and old != new:
        return blocker(
            *shown,
            f"{early.major_version}{early.prerelease} is a pre-release. "
            "Other releases may not be able to read its files.",
            "Use dump & restore, or install the same pre-release on both servers.",
        )
    if new is not None:
        return passed(*shown, f"Both servers run major version {new.major_version}.")
    other = _latest(context)
    if other is None:
        return unknown(*shown, _no_binaries(context), INSTALL.format(series=cluster.series))
    programs = server_programs(context.new)
    # a program that did not tell its version may be the one
    if (programs is None or not all(programs.values())) and context.new.gap(TRIAL) is None:
        return unknown(
            *shown,
            f"The new server has PostgreSQL {other.major_version}. It is not known whether it also has the binaries of "
            f"PostgreSQL {cluster.series}.",
            need.BINARIES.hint,
        )
    return blocker(
        *shown,
        f"The old server runs major version {cluster.series}, the new server major version {other.major_version}. "
        "Their data files differ.",
        _other_methods(cluster.series, other.major_version),
    )


@check(
    "minor",
    "PostgreSQL minor version",
    compares="minor versions of both servers' binaries",
    page="upgrading",
    needs=(need.CLUSTER,),
)
def check_minor_version(context: CheckContext, cluster: Cluster) -> Finding:
    """Check that the new server's minor version is not older."""
    old, new = _release(cluster), _newest(context)
    shown = _describe_cluster(cluster), _describe_new(context)
    if old is not None and old == new:
        return passed(*shown, f"Both servers run {_format_release(old)}.")
    if old is None or old.minor is None:
        return unknown(
            *shown,
            "The minor version of the old server is not known, because its binaries were not found.",
            _NAME_BINARIES,
        )
    if new is None and _latest(context) is not None:
        return unknown(
            *shown, "Minor versions of different major versions cannot be compared.", "See the check `series`."
        )
    if new is None or new.minor is None:
        return unknown(*shown, _no_binaries(context), INSTALL.format(series=cluster.series))
    # Minor versions share their storage format (PostgreSQL's manual, chapter Upgrading a PostgreSQL Cluster), so an
    # older one is no blocker. It lacks fixes, some of which the old cluster may rely on.
    if new.minor < old.minor:
        return warning(
            *shown,
            f"The new server runs {_format_release(new)}, which is older than {_format_release(old)} on the old "
            "server. Bugs that are fixed on the old server would be back.",
            f"Install {_format_release(old)} or a later minor version of {old.major_version} on the new server.",
        )
    if new.minor > old.minor:
        message = (
            f"The new server runs {_format_release(new)}, which is newer than {_format_release(old)} on the old "
            "server. The release notes say what has changed."
        )
        return passed(*shown, message)
    return passed(*shown, f"Both servers run {_format_release(new)}.")


@check(
    "architecture",
    "CPU architecture",
    blocking=True,
    compares="uname -m of both servers",
    page="upgrading",
    needs=(need.OLD_SYSTEM, need.NEW_SYSTEM),
)
def check_architecture(_context: CheckContext, here: System, there: System) -> Finding:
    """Check the architecture: alignment, byte order and the sign of char depend on it."""
    shown = here.architecture, there.architecture
    if _canonical_architecture(here.architecture) == _canonical_architecture(there.architecture):
        return passed(*shown, "Both servers have the same architecture.")
    return blocker(
        *shown,
        f"The old server is {here.architecture}, the new server is {there.architecture}. "
        "PostgreSQL's data files are not portable between them.",
        "Use dump & restore or logical replication.",
    )


@check(
    "control-data",
    "Binary layout of the data files",
    blocking=True,
    compares="pg_controldata of both servers",
    page="app-pgcontroldata",
    needs=(need.CONTROL, need.NEW_CONTROL),
)
def check_control_data(_context: CheckContext, old: ControlData, made: tuple[str, ControlData]) -> Finding:
    """Compare pg_controldata of the old cluster with that of a cluster made by the new server's binaries."""
    folder, new = made
    differing = _differences(old, new)
    if differing:
        return blocker(
            "; ".join(f"{label} {mine}" for label, mine, _ in differing),
            "; ".join(f"{label} {its}" for label, _, its in differing),
            "The binaries of the new server were built with other options. These values differ: "
            f"{', '.join(label for label, _, _ in differing)}.",
            "Install binaries on the new server that were built with the same options, or use dump & restore.",
        )
    return passed(
        _layout_text(old), _layout_text(new), f"The layout is the same as that of {folder} on the new server."
    )


@check(
    "libc",
    "C library version",
    compares="C library versions, which decide how text sorts",
    page="collation",
    needs=(need.OLD_LIBC, need.NEW_LIBC),
)
def check_libc(_context: CheckContext, old: str, new: str) -> Finding:
    """Check the C library, which sorts text: with another one, indexes on text are silently out of order."""
    if old == new:
        return passed(old, new, "Both servers have the same C library, so text sorts the same.")
    return warning(
        old,
        new,
        f"Text may sort differently with {new} than with {old}. Indexes on text would then "
        "give wrong results without an error message.",
        "Plan a REINDEX of the indexes on text, unless the databases use the collation C. Check them with amcheck.",
    )


_NAME_BINARIES = (
    "Run pg_controldata and `postgres --version` of the old server's binaries by hand, or "
    "put the binaries where pghaul finds them."
)


def _other_methods(old: str, new: str) -> str:
    """Return the migration methods that remain if the major versions differ."""
    ways = [f"install PostgreSQL {old} on the new server and move the cluster there"]
    if _sort_key(new) > _sort_key(old):
        if _sort_key(old) >= (8, 4):
            ways[0] += f", then run pg_upgrade to {new} there"
        ways.append("use dump & restore")
        if _sort_key(old) >= (10,):
            ways.append("use logical replication")
    else:
        ways.append("use dump & restore, which may need manual work towards an older major version")
    return f"Choose one: {'; or '.join(ways)}."


def _sort_key(major_version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in major_version.split("."))


def _release(cluster: Cluster | None) -> Release | None:
    return parse_release(cluster.version) if cluster is not None else None


def _fork(cluster: Cluster | None, release: Release | None) -> str | None:
    """Return the name of a product that is not PostgreSQL, by its files and programs, or None."""
    if cluster is not None and cluster.product not in (None, "PostgreSQL"):
        return cluster.product
    return release.fork if release is not None else None


def _newest(context: CheckContext) -> Release | None:
    """Return the release that would run the new cluster: the latest one of its major version, or None."""
    major_version = context.cluster.series if context.cluster is not None else None
    programs = [release for release in _program_releases(context) if release.major_version == major_version]
    releases = list(filter(None, map(_release, context.siblings))) if context.siblings else programs
    return max(releases, key=lambda release: release.minor if release.minor is not None else -1, default=None)


def _latest(context: CheckContext) -> Release | None:
    """Return the release of the latest major version among all clusters and programs of the new server, or None."""
    releases = (*_program_releases(context), *filter(None, map(_release, context.new.clusters)))
    return max(releases, key=lambda release: _sort_key(release.major_version), default=None)


def _program_releases(context: CheckContext) -> list[Release]:
    """Return the releases of the programs that are installed on the new server, of whatever major version."""
    tools = [release for name in SERVER_TOOLS if (release := _tool_release(context, name)) is not None]
    return [*tools, *filter(None, map(parse_release, (server_programs(context.new) or {}).values()))]


def _tool_release(context: CheckContext, name: str) -> Release | None:
    tool = context.new.tool(name)
    return parse_release(tool.version) if tool is not None and tool.path is not None else None


def _describe_cluster(cluster: Cluster | None) -> str:
    return (cluster.version or f"major version {cluster.series}") if cluster is not None else NOTHING


def _describe_new(context: CheckContext) -> str:
    found = sorted({_describe_cluster(cluster) for cluster in (context.siblings or context.new.clusters)})
    if not context.siblings:
        tools = [(name, context.new.tool(name)) for name in SERVER_TOOLS]
        found += [f"{name} {tool.version}" for name, tool in tools if tool is not None and tool.version is not None]
        # the tool postgres is one of them
        others = {f"postgres {version}" for version in (server_programs(context.new) or {}).values() if version}
        found += sorted(others.difference(found))
    return ", ".join(found) if found else NOTHING


def _format_release(release: Release) -> str:
    return f"{release.major_version}{release.prerelease or ''}" + (
        f".{release.minor}" if release.minor is not None else ""
    )


def _no_binaries(context: CheckContext) -> str:
    found = explain_gap(context.new, TRIAL, NO_CLUSTER, PLACE.name, IDENTITY.name)
    return f"No PostgreSQL whose version could be read was found on the new server ({found})."


def _canonical_architecture(machine: str) -> str:
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine.lower())


def _layout_text(control: ControlData) -> str:
    return (
        f"pg_control {control.pg_control_version}, catalog {control.catalog_version}, "
        f"blocks {control.block_size}, segments {control.relation_segment_blocks}, alignment {control.max_alignment}"
    )


def _differences(old: ControlData, new: ControlData) -> list[tuple[str, str, str]]:
    found = [
        (label, str(getattr(old, name)), str(getattr(new, name)))
        for name, label in _LAYOUT
        if None not in (getattr(old, name), getattr(new, name)) and getattr(old, name) != getattr(new, name)
    ]
    found += [
        (label, old.fields[label], new.fields[label])
        for label in _LABELS
        if label in old.fields and label in new.fields and old.fields[label] != new.fields[label]
    ]
    return found


CHECKS: tuple[Check, ...] = (
    check_product,
    check_major_version,
    check_minor_version,
    check_architecture,
    check_control_data,
    check_libc,
)
