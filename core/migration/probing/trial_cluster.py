"""A trial cluster on the new server: its binaries create it in a scratch folder; it is examined and removed at once.

How the binaries were built (block sizes, alignment, catalog version) can be read only from a cluster that they have
created. No connection to it is possible: the server program runs in its single-user mode, reads statements and ends.
The result is in `Facts.trials`, so that the checks of these facts need no server. Facts that are read later keep the
result as long as the same minor version is installed (`with_known_trials`).

The binaries are also asked whether they can load, accept and sort what the old cluster contains (`asking`). Libraries
are loaded as pg_upgrade does it (`src/bin/pg_upgrade/function.c`). Only this tells a missing library from one that
needs another library or another minor version. A library that another account of the new server could have written is
not loaded, because its code would run as the owner of the cluster.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.errors import Cancelled, CommandError, ParseError, PghaulError
from core.facts.catalog import Binaries
from core.facts.control_data import parse_control_data
from core.facts.model import Cluster, Facts, Gap
from core.facts.parsing import unreadable_error
from core.facts.programs import SERVER_TOOLS, program_path, server_programs
from core.facts.queries import Row, as_line, parse_row
from core.facts.sections import TRIAL, decode_hexadecimal
from core.facts.versions import parse_version
from core.jobs import Job
from core.migration.findings.binaries import RequiredBinaries, collect_required_binaries
from core.migration.findings.local_start import list_isolation_settings
from core.servers.connection import Server
from core.servers.shell import call
from core.text import complaint, lines_of

FOUND_BY = "initdb"
_SECONDS = 60.0
_MARK = "pghaul-control-data"
_ASKED = "pghaul-binaries"


def with_trial_cluster(server: Server, facts: Facts, series: str, job: Job, *, of: Cluster | None = None) -> Facts:
    """Return the facts of the new server with a trial cluster, or with a gap that contains the reason why not.

    Args:
        server: the new server.
        facts: its facts.
        series: the major version of the trial cluster.
        job: receives progress, and can be cancelled.
        of: the old cluster; the binaries are asked whether they support what it needs.

    Raises:
        Cancelled: the job was cancelled; the scratch folder is gone.
    """
    try:
        return replace(facts, trials=(_trial(server, facts, series, job, of),))
    except Cancelled:
        raise
    except CommandError as error:
        return _without(facts, complaint(error.stderr) or error.message)
    except PghaulError as error:
        return _without(facts, error.message)


def with_known_trials(facts: Facts, earlier: Facts | None) -> Facts:
    """Return the facts with those earlier trials whose minor version a program or cluster on the server still has."""
    if earlier is None:
        return facts
    programs = {tool.version for tool in facts.tools if tool.path is not None and tool.name in SERVER_TOOLS}
    installed = programs | {cluster.version for cluster in facts.clusters} | {*(server_programs(facts) or {}).values()}
    return replace(facts, trials=tuple(trial for trial in earlier.trials if trial.version in installed))


def _trial(server: Server, facts: Facts, series: str, job: Job, of: Cluster | None) -> Cluster:
    user = server.profile.database_user
    needs = _needs(of) if of is not None else RequiredBinaries()
    shell = call("trial_cluster", program_path(facts, series, user), *asking(needs))
    done = server.run(shell, job, user=user, deadline=_SECONDS, title="Create a trial cluster")
    head, mark, control = done.stdout.partition(f"{_MARK}\n")
    if not mark:
        raise ParseError(f"initdb on {server.name} ended without a cluster: {head.strip()!r}")
    control, _, answers = control.partition(f"{_ASKED}\n")
    version = parse_version(head.strip())
    if version.series != series:
        raise ParseError(f"the binaries found are of series {version.series}")
    return Cluster(
        data_directory=f"a trial cluster of {version.version}",
        series=version.series,
        version=version.version,
        running=False,
        port=None,
        owner=user,
        found_by=(FOUND_BY,),
        control=parse_control_data(control),
        binaries=parse_binaries(answers, needs) if of is not None else None,
    )


def _needs(cluster: Cluster) -> RequiredBinaries:
    """Return what the cluster needs of its binaries, including the isolation settings of its first start."""
    needs = collect_required_binaries(cluster)
    return replace(needs, settings=tuple(dict.fromkeys((*needs.settings, *list_isolation_settings(cluster)))))


def _without(facts: Facts, reason: str) -> Facts:
    return replace(facts, gaps=(*facts.gaps, Gap(TRIAL, "trial cluster", reason)))


_EXTENSIONS = (
    "select "
    + as_line("available", "v.name", "v.version", "v.version = e.default_version")
    + " from pg_available_extension_versions v join pg_available_extensions e on e.name = v.name order by 1"
)


def asking(needs: RequiredBinaries) -> tuple[str, ...]:
    """Return the arguments of the shell function `trial_cluster`. `parse_binaries` reads its output."""
    tried = (
        ("preload", needs.preloads),
        ("library", needs.libraries),
        ("path", needs.paths),
        ("setting", needs.settings),
        ("pgbackrest", needs.pgbackrest),
    )
    words = (word for kind, each in tried for name in each for word in (kind, name))
    statements = (statement for number, each in enumerate(_questions(needs)) for statement in _marked(number, each))
    return (*words, "sql", *statements)


def _marked(number: int, statements: Iterable[str]) -> Iterator[str]:
    yield f"select {as_line('mark', str(number))}"
    yield from statements


def _questions(needs: RequiredBinaries) -> list[tuple[str, ...]]:
    """Return the statements of each question. There is a question for each ICU locale, and one for all extensions."""
    collations = [
        (
            f"create collation pghaul_{number} (provider = icu, locale = '{each}')",
            (
                f"select {as_line('icu', 'pg_collation_actual_version(oid)')} from pg_collation "
                f"where collname = 'pghaul_{number}'"
            ),
        )
        for number, each in enumerate(needs.icu)
    ]
    return [*collations, (_EXTENSIONS,), ()]


_KINDS = {"mark": 1, "icu": 1, "available": 3}
_VALUE = re.compile(r'(?:backend> )*\s*1: .*? = "(?P<value>(?:mark|icu|available)\|[0-9a-f|]*)"\t')
_COMPLAINT = re.compile(r".*?\b(?:ERROR|FATAL|PANIC):  (?P<text>.*)")
_OWN = re.compile(
    r"(?P<kind>preload|library|unverified|setting|path|pgbackrest)\|(?P<name>[0-9a-f]*)\|(?P<said>[0-9a-f]*)"
)


def parse_binaries(text: str, needs: RequiredBinaries) -> Binaries:
    """Return the answers of the trial cluster. Questions that it did not reach are left out.

    Raises:
        ParseError: a line that pghaul itself has printed cannot be parsed.
    """
    kinds = ("preload", "library", "unverified", "setting", "path", "pgbackrest")
    own: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    for match in map(_OWN.fullmatch, lines_of(text)):
        if match is not None:
            own[match["kind"]][_decoded(match["name"])] = _reason(_decoded(match["said"]))
    answers = _answers(text)
    first_extension = len(needs.icu)
    return Binaries(
        libraries=tuple(own["library"].items()),
        preloads=tuple(own["preload"].items()),
        settings=tuple(own["setting"].items()),
        paths=tuple(own["path"].items()),
        extensions=_extensions(answers[first_extension][0]) if first_extension in answers else (),
        icu=tuple((name, _version(*answers[at])) for at, name in enumerate(needs.icu) if at in answers),
        pgbackrest=tuple(own["pgbackrest"].items()),
        unverified=tuple(own["unverified"].items()),
    )


def _answers(text: str) -> dict[int, tuple[list[Row], str]]:
    """Return the rows and the first error message by question number, of each question that another one followed."""
    found: dict[int, tuple[list[Row], str]] = {}
    number, complaint = -1, ""
    rows: list[Row] = []
    for each in lines_of(text):
        value, said = _VALUE.match(each), _COMPLAINT.match(each)
        if value is not None:
            kind, values = parse_row(value["value"], _KINDS)
            if kind == "mark":
                found[number] = rows, complaint
                number, rows, complaint = int(values[0]), [], ""
            else:
                rows.append((kind, values))
        elif said is not None and not complaint:
            complaint = said["text"].strip()
    return found


def _extensions(rows: list[Row]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for _, (name, version, default) in rows:
        versions = found.setdefault(name, [])
        versions.insert(0 if default in ("t", "true") else len(versions), version)
    return tuple((name, tuple(versions)) for name, versions in found.items())


def _version(rows: list[Row], complaint: str) -> str:
    return rows[0][1][0] if rows else f"!{complaint or 'no such collation'}"


def _reason(said: str) -> str:
    """Return the message of the server without its prefix."""
    match = _COMPLAINT.match(said)
    return match["text"].strip() if match is not None else said.strip()


def _decoded(digits: str) -> str:
    try:
        return decode_hexadecimal(digits)
    except ValueError as error:
        raise unreadable_error("trial cluster", "hexadecimal digits", digits) from error
