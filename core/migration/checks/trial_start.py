"""Whether an empty cluster with the configuration of the old one starts on the new server, before the downtime."""

from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.finding import NOTHING, Case, Finding, blocker, no_cluster, passed, warning
from core.migration.findings.services import service_for
from core.servers.shell import for_hint


def trial_start(case: Case) -> Finding:
    """An empty cluster with the configuration of the old one has started on the new server."""
    cluster, made = case.cluster, case.new.trial_start
    if cluster is None:
        return no_cluster(case)
    file = cluster.config_file or NOTHING
    again = for_hint("pghaul", "check", case.move.name)
    meant = case.move.cluster, case.move.target, case.move.edited or ""
    if made is None or (made.cluster, made.target, made.edited) != meant:
        return warning(
            file,
            NOTHING,
            "Whether an empty cluster with the old cluster's configuration starts on the new server was not tried yet",
            f"run the checks, which try it: {again}",
        )
    if made.of != case.old.taken_at.isoformat():
        return warning(
            file,
            NOTHING,
            "The old server was looked at again since an empty cluster with its configuration was started on the new "
            "server, so whether one starts there now is not known",
            f"run the checks, which try it again: {again}",
        )
    service = service_for(case.move.target, cluster, case.new)
    by_unit = service.unit if service is not None else NOTHING
    hindered = f". With {'; '.join(made.hindering)} {by_unit} may not start the new cluster" if made.hindering else ""
    if made.unjudged:
        unjudged = "; ".join(made.unjudged)
        hindered += f". Whether {unjudged} of {by_unit} will be met was not judged"
    if made.unmet and made.hook and not made.failed:
        return warning(
            file,
            made.target,
            f"systemd would not start {by_unit} on the new server now, because of what is not met there: "
            f"{'; '.join(made.unmet)}. Your command for {made.hook}, which runs before the old server is stopped, may "
            f"change that{hindered}",
            "Look whether the command does so. If a condition is still not met after it, the move ends before it "
            "stops the old server",
        )
    if made.unmet and not made.failed:
        return blocker(
            file,
            made.target,
            f"systemd would not start {by_unit} on the new server, because of what is not met there: "
            f"{'; '.join(made.unmet)}",
            f"make it be met, or take the line out of the unit (systemctl edit --full {by_unit}); then run the checks "
            f"again: {again}",
        )
    if made.not_tried:
        return warning(
            file,
            NOTHING,
            "Whether an empty cluster with the old cluster's configuration starts on the new server was not tried, "
            f"because {made.not_tried}{hindered}",
            f"remove what is in the way, and run the checks again: {again}. Otherwise only the start in the downtime "
            "will show it",
        )
    if made.failed:
        return blocker(
            file,
            made.target,
            f"An empty cluster with the old cluster's configuration does not start on the new server: {made.failed}",
            "mend what PostgreSQL names, on the new server or in the old cluster's configuration: otherwise the start "
            f"in the downtime fails too. Then run the checks again: {again}",
        )
    listened = ", ".join(made.listened) or NOTHING
    besides = f". It did not listen on {', '.join(made.lacking)}, which the new server lacks" if made.lacking else ""
    said = f"An empty cluster with the old cluster's configuration started on the new server{besides}"
    if service is not None:
        unit = for_hint("systemctl", "cat", service.unit)
        return warning(
            file,
            listened,
            f"{said}. pg_ctl started it: {service.unit}, which starts the new cluster after the move, was not "
            f"tried{hindered}",
            f"look whether the unit would start it (User=, sandboxing, limits, conditions): {unit}",
        )
    return passed(file, listened, said)


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "trial-start",
            "trial start on the new server",
            True,
            "the old cluster's configuration, what an empty cluster on the new server says of it",
            "server-start",
        ),
        trial_start,
    ),
)
