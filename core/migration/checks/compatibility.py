"""Whether the binaries of new can read the files of old: product, series, minor, architecture, control data, libc."""

from core.facts.clusters import CONTROL, IDENTITY, PLACE
from core.facts.model import Cluster, ControlData
from core.facts.sections import NO_CLUSTER, TRIAL
from core.facts.system import SECTION as SYSTEM
from core.migration.checks.declaration import Check, Declaration
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
"""Fixed when the binaries were built or the series released. WAL segment size and checksums travel with the cluster."""

_LABELS = (
    "Maximum length of identifiers",
    "Maximum columns in an index",
    "Maximum size of a TOAST chunk",
    "Size of a large-object chunk",
    "Date/time type storage",
    "Default char data signedness",
)
"""Fixed likewise, by pg_controldata's own labels; compared where both sides print the line."""


def product(case: Case) -> Finding:
    """Both are PostgreSQL itself: a fork's files are its own, whatever number it goes by."""
    if case.cluster is None:
        return no_cluster(case)
    old, new = _release(case.cluster), _newest(case)
    shown = _shown(case.cluster), _shown_new(case)
    for side, fork in (("old", _fork(case.cluster, old)), ("new", _fork(None, new))):
        if fork is not None:
            return blocker(
                *shown,
                f"{side} runs {fork}, not PostgreSQL",
                "a copy of files needs the very same product on both sides; use that product's own way",
            )
    control = case.cluster.control
    known = CONTROL_VERSIONS.get(case.cluster.series)
    if control is not None and known is not None and control.pg_control_version != known:
        return blocker(
            f"pg_control {control.pg_control_version}",
            f"pg_control {known} in PostgreSQL {case.cluster.series}",
            f"the control file of old is no PostgreSQL {case.cluster.series}'s: a fork wrote it",
            "a copy of files needs the very same product on both sides",
        )
    if old is None:
        return unknown(*shown, "the binaries of old were not found, so their product is not known", _NAME_BINARIES)
    return passed(*shown, "PostgreSQL on both sides" if new is not None else "PostgreSQL on old")


def series(case: Case) -> Finding:
    """The same release series, and no beta or release candidate on either side."""
    if case.cluster is None:
        return no_cluster(case)
    old, new = _release(case.cluster), _newest(case)
    shown = _shown(case.cluster), _shown_new(case)
    early = next((release for release in (old, new) if release is not None and release.prerelease is not None), None)
    if early is not None and old != new:
        return blocker(
            *shown,
            f"{early.series}{early.prerelease} is a pre-release: its files may not be read by any other release",
            "dump & restore, or install the very same pre-release on both sides",
        )
    if new is None and case.new.gap(TRIAL) is not None:
        # new was asked for binaries of the series and has none: others that it has are all there is
        new = max(_tool_releases(case), key=lambda release: _order(release.series), default=None)
    if new is None:
        return unknown(*shown, _no_binaries(case), _INSTALL.format(series=case.cluster.series))
    if new.series != case.cluster.series:
        return blocker(
            *shown,
            f"old is series {case.cluster.series}, new is series {new.series}: their files differ",
            _ways(case.cluster.series, new.series),
        )
    return passed(*shown, f"both are series {new.series}")


def minor(case: Case) -> Finding:
    """New's minor release is not older than old's."""
    if case.cluster is None:
        return no_cluster(case)
    old, new = _release(case.cluster), _newest(case)
    shown = _shown(case.cluster), _shown_new(case)
    if old is not None and old == new:
        return passed(*shown, f"both are {_number(old)}")
    if old is None or old.minor is None:
        return unknown(*shown, "the minor release of old is not known: its binaries were not found", _NAME_BINARIES)
    if new is None or new.minor is None:
        return unknown(*shown, _no_binaries(case), _INSTALL.format(series=case.cluster.series))
    if new.series != old.series:
        return unknown(*shown, "minor releases of different series cannot be compared", "see the check of the series")
    if new.minor < old.minor:
        return warning(
            *shown,
            f"new is older: {_number(new)} after {_number(old)}: errors that old no longer makes would be back",
            f"install {_number(old)} or later of series {old.series} on new",
        )
    if new.minor > old.minor:
        message = f"new is {_number(new)}, later than {_number(old)}: read the release notes between them"
        return passed(*shown, message)
    return passed(*shown, f"both are {_number(new)}")


def architecture(case: Case) -> Finding:
    """The same machine architecture: alignment, byte order and the sign of char differ otherwise."""
    old, new = case.old.system, case.new.system
    if old is None or new is None:
        missing = case.old if old is None else case.new
        return unknown(
            old.architecture if old is not None else NOTHING,
            new.architecture if new is not None else NOTHING,
            f"the architecture of {missing.server} could not be read: {reason(missing, SYSTEM.name)}",
            f"read the facts again: pghaul facts {missing.server}",
        )
    shown = old.architecture, new.architecture
    if _same(old.architecture) == _same(new.architecture):
        return passed(*shown, "the same architecture")
    return blocker(
        *shown,
        f"old is {old.architecture}, new is {new.architecture}: PostgreSQL's files are not portable between them",
        "use dump & restore or logical replication",
    )


def control_data(case: Case) -> Finding:
    """What was fixed when the binaries were built: pg_controldata of old against a cluster that new's binaries made."""
    if case.cluster is None:
        return no_cluster(case)
    old = case.cluster.control
    if old is None:
        why = reason(case.old, CONTROL.name, of=case.move.cluster)
        return unknown(NOTHING, NOTHING, f"pg_controldata of old could not be read: {why}", _NAME_BINARIES)
    made = next((cluster for cluster in case.siblings if cluster.control is not None), None)
    if made is None or made.control is None:
        return unknown(
            _layout_text(old),
            NOTHING,
            f"no cluster of series {case.cluster.series} that new's binaries made is known: " + reason(case.new, TRIAL),
            f"run the checks: they have new's binaries make one; or {_INSTALL.format(series=case.cluster.series)}",
        )
    differing = _differences(old, made.control)
    if differing:
        return blocker(
            "; ".join(f"{label} {mine}" for label, mine, _ in differing),
            "; ".join(f"{label} {its}" for label, _, its in differing),
            f"the binaries of new were built otherwise: {', '.join(label for label, _, _ in differing)} differ",
            "install binaries on new that were built with the same options, or use dump & restore",
        )
    return passed(_layout_text(old), _layout_text(made.control), f"the same layout as {made.data_directory} on new")


def libc(case: Case) -> Finding:
    """The C library, which sorts text: a different one leaves indexes on text silently out of order."""
    old = case.old.system.libc if case.old.system is not None else None
    new = case.new.system.libc if case.new.system is not None else None
    if old is None or new is None:
        missing = case.old if old is None else case.new
        return unknown(
            old or NOTHING,
            new or NOTHING,
            f"the C library of {missing.server} could not be read: {reason(missing, SYSTEM.name)}",
            "compare `getconf GNU_LIBC_VERSION` of both hosts",
        )
    if old == new:
        return passed(old, new, "the same C library: text sorts the same")
    return warning(
        old,
        new,
        f"text may sort differently under {new} than under {old}: indexes on text would then be wrong without an error",
        "plan a REINDEX of the indexes on text, unless the databases use the collation C, and check with amcheck",
    )


_SERVER_TOOLS = ("pg_test_fsync", "pgbench")
"""Installed with the server's own binaries, of the same release: they tell it where no cluster was made yet."""

_NAME_BINARIES = (
    "run pg_controldata and postgres --version of old's binaries by hand, or put them where facts finds them"
)
_INSTALL = "install PostgreSQL {series} on new (with its first cluster, which shows how its binaries were built)"


def _ways(old: str, new: str) -> str:
    """What remains where the series differ, by what each way can do."""
    ways = [f"install PostgreSQL {old} on new and copy to that"]
    if _order(new) > _order(old):
        if _order(old) >= (8, 4):
            ways[0] += f", then pg_upgrade to {new} there"
        ways.append("dump & restore")
        if _order(old) >= (10,):
            ways.append("logical replication")
    else:
        ways.append("dump & restore, which may need work by hand towards an older series")
    return "; or ".join(ways)


def _order(series: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series.split("."))


def _release(cluster: Cluster | None) -> Release | None:
    return parse_release(cluster.version) if cluster is not None else None


def _fork(cluster: Cluster | None, release: Release | None) -> str | None:
    """The product that is no PostgreSQL, by what its files and programs say of themselves."""
    if cluster is not None and cluster.product not in (None, "PostgreSQL"):
        return cluster.product
    return release.fork if release is not None else None


def _newest(case: Case) -> Release | None:
    """The release that would run the cluster on new: of the same series where there is one, the latest of them."""
    alike = [release for release in _tool_releases(case) if case.cluster and release.series == case.cluster.series]
    known = [release for cluster in (case.siblings or case.new.clusters) if (release := _release(cluster))]
    releases = alike or known if not case.siblings else known
    return max(releases, key=lambda release: release.minor if release.minor is not None else -1, default=None)


def _tool_releases(case: Case) -> list[Release]:
    return [release for name in _SERVER_TOOLS if (release := _tool_release(case, name)) is not None]


def _tool_release(case: Case, name: str) -> Release | None:
    tool = case.new.tool(name)
    return parse_release(tool.version) if tool is not None and tool.path is not None else None


def _shown(cluster: Cluster | None) -> str:
    return (cluster.version or f"series {cluster.series}") if cluster is not None else NOTHING


def _shown_new(case: Case) -> str:
    found = sorted({_shown(cluster) for cluster in (case.siblings or case.new.clusters)})
    if not case.siblings:
        tools = [(name, case.new.tool(name)) for name in _SERVER_TOOLS]
        found += [f"{name} {tool.version}" for name, tool in tools if tool is not None and tool.version is not None]
    return ", ".join(found) if found else NOTHING


def _number(release: Release) -> str:
    return f"{release.series}{release.prerelease or ''}" + (f".{release.minor}" if release.minor is not None else "")


def _no_binaries(case: Case) -> str:
    found = reason(case.new, TRIAL, NO_CLUSTER, PLACE.name, IDENTITY.name)
    return f"no PostgreSQL whose release could be read was found on new: {found}"


def _same(machine: str) -> str:
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
    (
        Declaration("product", "product", True, "product names and control versions", "upgrading"),
        product,
    ),
    (Declaration("series", "release series", True, "series of both binaries", "upgrading"), series),
    (
        Declaration("minor", "minor release", False, "minor releases of both binaries", "upgrading"),
        minor,
    ),
    (Declaration("architecture", "architecture", True, "uname -m of both hosts", "upgrading"), architecture),
    (
        Declaration("control-data", "binary layout", True, "pg_controldata of both sides", "app-pgcontroldata"),
        control_data,
    ),
    (Declaration("libc", "C library", False, "C library versions, which sort text", "collation"), libc),
)
