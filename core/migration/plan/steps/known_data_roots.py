"""The proofs that every data root is known, is the folder that it was, and holds what it held.

Nothing else would notice. Of a tablespace that was made since the facts were read the link comes over, and agrees on
both sides; of one whose disk is not mounted the last pass removes every file on the new server, and agrees too. New
starts, and only whoever reads a table there learns that its files are gone. `data_roots.sh` says how a root is known.
"""

from dataclasses import replace

from core.facts.model import Cluster
from core.migration.findings.data_roots import led_to, version_folder
from core.migration.model.plan import ONLY_LOOKS, Phase, Step
from core.migration.plan.cluster_control import native_prove_stopped
from core.migration.plan.context import PlanContext
from core.servers.shell import Shell, call, command

DATA_ROOTS = "places-"
"""What the names of these steps begin with, as plans in the history have them."""

_BEGAN, _RUNNING = f"{DATA_ROOTS}began", f"{DATA_ROOTS}running"
STOPPED_ROOTS = f"{DATA_ROOTS}stopped"
"""The name of the step that remembers what the stopped old server is."""

_LEAST = 0.9
"""A root that loses more than a tenth of its relations from one proof to the next, in files or in bytes, is told of."""


def remember_data_roots(context: PlanContext) -> Step:
    """Before the first warm pass: what the later proofs are held against."""
    step = _proof(context, "Record the identity of each data root", _BEGAN, print_data_roots(context.cluster))
    return replace(step, timed_as=Phase.PREPARE, rehearsed=True)


def prove_data_roots(context: PlanContext) -> Step:
    """Before the stop, so that it is not made in vain."""
    step = _proof(context, "Check that the plan covers each data root", _RUNNING, compare_data_roots(context.cluster))
    return replace(step, reads=_BEGAN, share=0.01, renewed=True, rehearsed=True)


def prove_data_roots_stopped(context: PlanContext) -> Step:
    """In the stop, when nobody can make a root any more, and before anything is removed from new."""
    running = context.cluster.running
    proof = compare_data_roots(context.cluster) if running else print_data_roots(context.cluster)
    step = _proof(context, "Check again that the plan covers each data root", STOPPED_ROOTS, proof)
    reads = _RUNNING if running else ""
    return replace(step, reads=reads, phase=Phase.STOP, stopped=True, rehearsed=not running)


def prove_still_stopped(context: PlanContext) -> Step:
    """Directly before the opening: of what was copied nothing is outdated."""
    data = context.cluster.data_directory
    proof = call("check_roots_unchanged", context.old_path, *_words(context.cluster))
    step = _proof(context, "Check that the old cluster is unchanged since its stop", "unchanged", proof)
    return replace(
        step,
        reason="The new cluster would lack whatever was written to the old cluster since its stop.",
        native=(*native_prove_stopped(context.old_path, data, fenced=True), *step.native),
        reads=STOPPED_ROOTS,
        phase=Phase.OPEN,
        timed_as=Phase.START,
        share=0.1,
        stopped=True,
    )


def same_roots(before: str, now: str) -> bool:
    """Whether two such looks found the same, but for what a restart of the host renumbers: its boot and its devices."""

    def known(said: str) -> list[str]:
        lines = (line.split(" ", 1) for line in said.splitlines())
        return sorted(rest for first, *rests in lines if first.isdigit() for rest in rests)

    return known(before) == known(now)


def _proof(context: PlanContext, title: str, name: str, proof: Shell) -> Step:
    return Step(
        title,
        "old",
        context.owner,
        str(proof),
        "A tablespace that was created after the facts were read, or whose disk is not mounted, would be missing on "
        "the new server, and nobody would notice.",
        ONLY_LOOKS,
        native_data_roots(context.cluster),
        phase=Phase.WARM,
        skippable=False,
        name=name,
        proves=True,
    )


def print_data_roots(cluster: Cluster) -> Shell:
    """Prints what every data root is; fails where a link leads to a folder that the plan does not know."""
    return call("list_data_roots", *_words(cluster))


def compare_data_roots(cluster: Cluster) -> Shell:
    """The same, held against what it printed before: another folder, or a disk that is missing, fails it."""
    return call("compare_data_roots", str(_LEAST), *_words(cluster))


def _words(cluster: Cluster) -> tuple[str, ...]:
    return (cluster.data_directory, version_folder(cluster), *(word for root in led_to(cluster) for word in root))


def native_data_roots(cluster: Cluster) -> tuple[str, ...]:
    """What a person would look at for it."""
    data = cluster.data_directory
    folders = dict.fromkeys((data, *(folder for _, folder in led_to(cluster))))
    return (command("find", data, "-type", "l", "-printf", "%P -> %l\\n").text, command("df", *folders).text)
