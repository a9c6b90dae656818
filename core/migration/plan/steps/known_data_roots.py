"""The proof that the plan knows every data root: a tablespace may have been made since the facts were read.

Nothing else would notice. The link comes over with the data directory and agrees on both sides, new starts, and only
whoever reads a table in it learns that its files were never copied.
"""

from core.facts.model import Cluster
from core.migration.findings.data_roots import led_to
from core.migration.model.plan import Phase, Step
from core.migration.plan.site import Site
from core.servers.shell import Shell, command, script

DATA_ROOTS = "places-"
"""What the names of these steps begin with."""

_EACH = """for link do
  if [ -d "$link" ]; then printf '%s leads to %s\\n' "${link#./}" "$(readlink -f -- "$link")"; fi
done"""


def prove_data_roots(site: Site, *, stopped: bool) -> Step:
    """Before the stop, so that it is not made in vain, and in it, when nobody can make a root any more."""
    return Step(
        f"prove that the plan {'still ' * stopped}knows every place",
        "old",
        site.owner,
        str(unknown_data_roots(site.cluster)),
        "a tablespace that was made since the facts were read would be missing on new, and nobody would notice",
        "nothing to undo: it only looks",
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
    known = [f"{link} leads to {folder}" for link, folder in led_to(cluster)]
    patterns = [word for line in ("", *known) for word in ("-e", line)]
    return script(
        "found=$(cd -- @data@ && find . -ignore_readdir_race -type l -exec sh -c @each@ sh {} +) && "
        "unknown=$(printf '%s\\n' \"$found\" | sh -c @rest@; :) && "
        'if [ -n "$unknown" ]; then echo "$(printf %s "$unknown" | tr "\\n" ";"): not in the plan, made since; '
        'begin with a new plan: --anew, and --rollback before it where old is stopped" >&2; exit 1; fi',
        data=cluster.data_directory,
        each=script(_EACH),
        rest=command("grep", "-vxF", *patterns),
    )
