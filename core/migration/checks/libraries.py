"""Whether new's binaries have the libraries and extensions that the cluster uses; a trial cluster answered it."""

from core.facts.catalog import Binaries
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.binaries import preloads
from core.migration.findings.catalogs import age, binaries, databases, listed
from core.migration.findings.finding import (
    NOTHING,
    Case,
    Finding,
    blocker,
    no_cluster,
    no_settings,
    passed,
    unknown,
    warning,
)

_INSTALL = (
    "install the packages that hold them on new (Debian: postgresql-{series}-NAME), of the same versions as on old"
)


def extension_libraries(case: Case) -> Finding:
    """Every library that a function of a database leads to can be loaded by new's binaries."""
    found = databases(case)
    cluster = case.cluster
    if isinstance(found, Finding) or cluster is None:
        return found if isinstance(found, Finding) else no_cluster(case)
    users: dict[str, list[str]] = {}
    for database, catalogs in found:
        for library in catalogs.libraries:
            users.setdefault(library.name, []).append(f"{database.name}: {library.example}()")
    old = listed(sorted(users)) or "none"
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return passed(old, NOTHING, "no function leads to a library" + age(cluster)) if not users else asked
    answers = dict(asked.libraries)
    unverified = [(name, why) for name, why in asked.unverified if name in users]
    failing = {name: answers[name] for name in users if answers.get(name)}
    silent = sorted(name for name in users if name not in answers and name not in dict(unverified))
    if failing:
        return blocker(
            "; ".join(f"{name} ({listed(users[name])})" for name in sorted(failing)),
            "; ".join(failing[name] for name in sorted(failing)),
            f"new's binaries cannot load {listed(sorted(failing))}: what uses them would fail there" + age(cluster),
            _INSTALL.format(series=cluster.series),
        )
    if unverified:
        return _not_loaded(old, unverified, silent)
    if silent:
        return unknown(old, listed(silent), f"new's binaries did not answer for {listed(silent)}", _ASK_AGAIN)
    return passed(old, f"{len(users)} of {len(users)} load", "new's binaries load every library" + age(cluster))


_ASK_AGAIN = "run the checks again; if that does not help, run LOAD 'NAME' in any cluster of those binaries by hand"


def _not_loaded(old: str, unverified: list[tuple[str, str]], silent: list[str]) -> Finding:
    """What somebody else could have written was not loaded, and what it is good for is not known."""
    names = [name for name, _ in unverified]
    return warning(
        old,
        "; ".join([*(f"{name}: {why}" for name, why in unverified), *(f"{name}: no answer" for name in silent)]),
        f"not verified: {listed(names)}. Loading a library runs its code as the owner of the cluster on the new "
        "server, and pghaul loads none that another account may have written",
        "give the file and each folder above it to root, with no right to write for group and others (chown root, "
        "chmod go-w), and run the checks again; or load it there by hand: LOAD 'NAME'",
    )


def extension_versions(case: Case) -> Finding:
    """New has each extension, in the version that its databases have it."""
    found = databases(case)
    if isinstance(found, Finding):
        return found
    used: dict[tuple[str, str], list[str]] = {}
    for database, catalogs in found:
        for extension in catalogs.extensions:
            used.setdefault((extension.name, extension.version), []).append(database.name)
    old = listed([f"{name} {version}" for name, version in sorted(used)]) or "none"
    if not used:
        return passed(old, NOTHING, "no database has an extension besides those of a new one")
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return asked
    if not asked.extensions:
        return unknown(old, NOTHING, "new's binaries did not say which extensions they have", _ASK_AGAIN)
    there = dict(asked.extensions)
    names = sorted({name for name, _ in used})
    shown = listed([f"{name} {there[name][0]}" if name in there else f"no {name}" for name in names])
    differing = [each for each in sorted(used) if each[0] not in there or each[1] != there[each[0]][0]]
    if differing:
        words = [f"{name} {version} ({listed(used[name, version])})" for name, version in differing]
        return warning(
            "; ".join(words),
            shown,
            "the extensions come over in the version that their databases have; new's files are of another one",
            "install the same version on new, or read the extension's notes and run ALTER EXTENSION … UPDATE there",
        )
    return passed(old, shown, "new has the same versions")


def preload_libraries(case: Case) -> Finding:
    """Every library that the server or its sessions load by a setting can be loaded by new's binaries."""
    cluster = case.cluster
    if cluster is None:
        return no_cluster(case)
    if cluster.wide is None and "shared_preload_libraries" not in cluster.settings:
        return unknown(
            NOTHING,
            NOTHING,
            f"what the server loads when it starts is not known: {no_settings(case)}",
            "read shared_preload_libraries in postgresql.conf, and look for each library on new",
        )
    at_start, later = preloads(cluster)
    old = listed([*at_start, *later]) or "none"
    if not (at_start or later):
        return passed(old, NOTHING, "no setting loads a library")
    asked = binaries(case, old)
    if isinstance(asked, Finding):
        return asked
    return _loaded(asked, at_start, later, old, cluster.series)


def _loaded(asked: Binaries, at_start: tuple[str, ...], later: tuple[str, ...], old: str, series: str) -> Finding:
    answers = {name: dict(asked.preloads).get(name) for name in at_start}
    answers |= {name: dict(asked.libraries).get(name) for name in later}
    unverified = [(name, why) for name, why in asked.unverified if name in answers]
    failing = {name: said for name, said in answers.items() if said}
    if failing:
        return blocker(
            ", ".join(failing),
            "; ".join(failing.values()),
            f"new's binaries cannot load {listed(list(failing))}: the server would not start there",
            _INSTALL.format(series=series) + "; or take it out of the setting for new",
        )
    silent = [name for name, said in answers.items() if said is None and name not in dict(unverified)]
    if unverified:
        return _not_loaded(old, unverified, silent)
    if silent:
        return unknown(old, listed(silent), f"new's binaries did not answer for {listed(silent)}", _ASK_AGAIN)
    return passed(old, "all load", "new's binaries load each of them")


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "extension-libraries",
            "libraries of functions",
            True,
            "pg_proc.probin of every database on old, what new's binaries load",
            "xfunc-c",
        ),
        extension_libraries,
    ),
    (
        Declaration(
            "extension-versions",
            "versions of extensions",
            False,
            "pg_extension of every database on old, control files on new",
            "extend-extensions",
        ),
        extension_versions,
    ),
    (
        Declaration(
            "preload-libraries",
            "libraries loaded by settings",
            True,
            "shared_, session_ and local_preload_libraries of old, what new's binaries load",
            "runtime-config-client",
        ),
        preload_libraries,
    ),
)
