"""The proof that the plan knows every data root: a tablespace may have been made since the facts were read.

Nothing else would notice. The link comes over with the data directory and agrees on both sides, new starts, and only
whoever reads a table in it learns that its files were never copied.
"""

from core.facts.model import Cluster
from core.migration.findings.data_roots import led_to
from core.migration.model.plan import Phase, Step
from core.migration.plan.site import Site
from core.servers.shell import Shell, call, command

DATA_ROOTS = "places-"
"""What the names of these steps begin with, as plans in the history have them."""


def prove_data_roots(site: Site, *, stopped: bool) -> Step:
    """Before the stop, so that it is not made in vain, and in it, when nobody can make a root any more."""
    return Step(
        f"prove that the plan {'still ' * stopped}knows every data root",
        "old",
        site.owner,
        str(unknown_data_roots(site.cluster)),
        "a tablespace that was made since the facts were read would be missing on new, and nobody would notice",
        "nothing to undo: it only looks",
        native_unknown_data_roots(site.cluster),
        phase=Phase.STOP if stopped else Phase.WARM,
        share=1.0 if stopped else 0.01,
        stopped=stopped,
        skippable=False,
        renewed=not stopped,
        rehearsed=not stopped,
        name=f"{DATA_ROOTS}{'stopped' if stopped else 'running'}",
        proves=True,
    )


def unknown_data_roots(cluster: Cluster) -> Shell:
    """Fails where a link below the data directory leads to a folder that the plan does not know."""
    return call("prove_data_roots", cluster.data_directory, *(word for known in led_to(cluster) for word in known))


def native_unknown_data_roots(cluster: Cluster) -> tuple[str, ...]:
    """What a person would look at for it."""
    return (command("find", cluster.data_directory, "-type", "l", "-printf", "%P -> %l\\n").text,)
