"""Checks, by a trial cluster, of the libraries and extensions that the cluster uses."""

from core.facts.catalog import Binaries
from core.facts.model import Cluster
from core.migration.checks import needs as need
from core.migration.checks.declaration import Check, check
from core.migration.checks.needs import Databases
from core.migration.findings.catalogs import age_note, format_list
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, passed, unknown, warning

_INSTALL = (
    "Install the packages that contain them on the new server (Debian: "
    "postgresql-{series}-NAME), in the same versions as on the old server."
)


@check(
    "extension-libraries",
    "Libraries of extensions and functions",
    blocking=True,
    compares="pg_proc.probin of every database of the old cluster, libraries that the new server's binaries load",
    page="xfunc-c",
    needs=(need.CLUSTER, need.DATABASES),
    uses=(need.BINARIES,),
)
def check_extension_libraries(context: CheckContext, cluster: Cluster, databases: Databases) -> Finding:
    """Check that the new server's binaries load every library that a function uses."""
    users: dict[str, list[str]] = {}
    for database, catalogs in databases:
        for library in catalogs.libraries:
            users.setdefault(library.name, []).append(f"{database.name}: {library.example}()")
    old = format_list(sorted(users)) or "only those of PostgreSQL itself"
    asked = need.BINARIES.value_or_finding(context, old)
    if isinstance(asked, Finding):
        return passed(old, NOTHING, f"No function uses a library.{age_note(cluster)}") if not users else asked
    answers = dict(asked.libraries)
    unverified = [(name, why) for name, why in asked.unverified if name in users]
    failing = {name: answers[name] for name in users if answers.get(name)}
    silent = sorted(name for name in users if name not in answers and name not in dict(unverified))
    if failing:
        return blocker(
            "; ".join(f"{name} ({format_list(users[name])})" for name in sorted(failing)),
            "; ".join(failing[name] for name in sorted(failing)),
            f"The new server's binaries cannot load {format_list(sorted(failing))}. Functions that use "
            f"it would fail there.{age_note(cluster)}",
            _INSTALL.format(series=cluster.series),
        )
    if unverified:
        return _unverified_libraries(old, unverified, silent)
    if silent:
        return unknown(
            old, format_list(silent), f"The new server's binaries did not answer for {format_list(silent)}.", _ASK_AGAIN
        )
    return passed(
        old,
        "all can be loaded" if users else NOTHING,
        f"The new server's binaries load every library that a function uses.{age_note(cluster)}",
    )


_ASK_AGAIN = "Run the checks again. If that does not help, run `LOAD 'NAME'` in any cluster of those binaries by hand."


def _unverified_libraries(old: str, unverified: list[tuple[str, str]], silent: list[str]) -> Finding:
    """Return the finding for libraries that were not loaded, because another user could have written them."""
    names = [name for name, _ in unverified]
    return warning(
        old,
        "; ".join([*(f"{name}: {why}" for name, why in unverified), *(f"{name}: no answer" for name in silent)]),
        f"These libraries were not verified: {format_list(names)}. Loading a library runs its code "
        "as the owner of the cluster on the new server. pghaul loads none that another account "
        "may have written.",
        "Give the file and each directory above it to root, without write permission for group "
        "and others (`chown root`, `chmod go-w`), and run the checks again. Or load the library "
        "there by hand: `LOAD 'NAME'`.",
    )


@check(
    "extension-versions",
    "Versions of extensions",
    compares="pg_extension of every database of the old cluster, control files on the new server",
    page="extend-extensions",
    needs=(need.DATABASES,),
    uses=(need.BINARIES,),
)
def check_extension_versions(context: CheckContext, databases: Databases) -> Finding:
    """Check that the new server has each extension in the version that its databases use."""
    used: dict[tuple[str, str], list[str]] = {}
    for database, catalogs in databases:
        for extension in catalogs.extensions:
            used.setdefault((extension.name, extension.version), []).append(database.name)
    old = format_list([f"{name} {version}" for name, version in sorted(used)]) or "none besides plpgsql"
    if not used:
        return passed(old, NOTHING, "No database has an extension besides those that PostgreSQL creates itself.")
    asked = need.BINARIES.value_or_finding(context, old)
    if isinstance(asked, Finding):
        return asked
    if not asked.extensions:
        return unknown(old, NOTHING, "The new server's binaries did not say which extensions they have.", _ASK_AGAIN)
    there = dict(asked.extensions)
    names = sorted({name for name, _ in used})
    shown = format_list([f"{name} {there[name][0]}" if name in there else f"no {name}" for name in names])
    differing = [each for each in sorted(used) if each[0] not in there or each[1] != there[each[0]][0]]
    if differing:
        words = [f"{name} {version} ({format_list(used[name, version])})" for name, version in differing]
        return warning(
            "; ".join(words),
            shown,
            "The databases keep their versions of the extensions. The files on the new server have other versions.",
            "Install the same versions on the new server. Or read the notes of each extension, and "
            "run ALTER EXTENSION … UPDATE there after the move.",
        )
    return passed(old, shown, "The new server has the extensions in the same versions.")


@check(
    "preload-libraries",
    "Libraries loaded by settings",
    blocking=True,
    compares="shared_, session_ and local_preload_libraries of the old cluster, libraries "
    "that the new server's binaries load",
    page="runtime-config-client",
    needs=(need.CLUSTER, need.PRELOADED_LIBRARIES),
    uses=(need.BINARIES,),
)
def check_preload_libraries(
    context: CheckContext, cluster: Cluster, libraries: tuple[tuple[str, ...], tuple[str, ...]]
) -> Finding:
    """Check that the new server's binaries load every library that a setting names."""
    at_start, later = libraries
    old = format_list([*at_start, *later]) or "none"
    if not (at_start or later):
        return passed(old, NOTHING, "No setting loads a library.")
    binaries = need.BINARIES.value_or_finding(context, old)
    if isinstance(binaries, Finding):
        return binaries
    return _preload_finding(binaries, at_start, later, old, cluster.series)


def _preload_finding(
    binaries: Binaries, at_start: tuple[str, ...], later: tuple[str, ...], old: str, major_version: str
) -> Finding:
    """Return the finding for the preloaded libraries.

    Args:
        binaries: the answers of the new server's binaries.
        at_start: the libraries that the server loads when it starts.
        later: the libraries that each session loads.
        old: the evidence of the old server.
        major_version: the cluster's major version.
    """
    answers = {name: dict(binaries.preloads).get(name) for name in at_start}
    answers |= {name: dict(binaries.libraries).get(name) for name in later}
    unverified = [(name, why) for name, why in binaries.unverified if name in answers]
    failing = {name: error for name, error in answers.items() if error}
    if failing:
        return blocker(
            ", ".join(failing),
            "; ".join(failing.values()),
            f"The new server's binaries cannot load {format_list(list(failing))}. The server would not start there.",
            _INSTALL.format(series=major_version) + " Or remove them from the setting for the new server.",
        )
    silent = [name for name, error in answers.items() if error is None and name not in dict(unverified)]
    if unverified:
        return _unverified_libraries(old, unverified, silent)
    if silent:
        return unknown(
            old, format_list(silent), f"The new server's binaries did not answer for {format_list(silent)}.", _ASK_AGAIN
        )
    return passed(old, "all load", "The new server's binaries load every library that a setting names.")


CHECKS: tuple[Check, ...] = (check_extension_libraries, check_extension_versions, check_preload_libraries)
