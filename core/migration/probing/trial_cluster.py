"""A trial cluster on the new server: its binaries create it in a scratch folder; it is examined and removed at once.

How the binaries were built (block sizes, alignment, catalog version) can be read only from a cluster that they have
created. No connection to it is possible. Its binaries are also asked what else the move needs (see binaries). The
result is in `Facts.trials`, so that the checks of these facts need no server. Facts that are read later keep the result
as long as the same minor version is installed (`with_known_trials`).
"""

from dataclasses import replace

from core.errors import Cancelled, CommandError, ParseError, PghaulError
from core.facts.control_data import parse_control_data
from core.facts.model import Cluster, Facts, Gap
from core.facts.programs import program_path
from core.facts.sections import TRIAL
from core.facts.versions import parse_version
from core.jobs import Job
from core.migration.findings.binaries import RequiredBinaries, collect_required_binaries
from core.migration.findings.local_start import list_isolation_settings
from core.migration.probing.binaries import asking, parse_binaries
from core.servers.connection import Server
from core.servers.shell import call
from core.text import complaint

FOUND_BY = "initdb"
_SECONDS = 60.0
_PROGRAMS = ("postgres", "pg_test_fsync", "pgbench")
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
    programs = {tool.version for tool in facts.tools if tool.path is not None and tool.name in _PROGRAMS}
    installed = programs | {cluster.version for cluster in facts.clusters}
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
