"""Whether an empty cluster with the configuration of the old one starts on the new server, before the downtime."""

from core.migration.checks.configuration import start_errors
from core.migration.checks.declaration import Check, Declaration
from core.migration.findings.finding import NOTHING, CheckContext, Finding, blocker, no_cluster_finding, passed, warning
from core.migration.findings.services import service_of_target
from core.servers.shell import for_hint


def check_trial_start(context: CheckContext) -> Finding:
    """Check that an empty cluster with the old cluster's configuration has started on the new server."""
    cluster, trial = context.cluster, context.new.trial_start
    if cluster is None:
        return no_cluster_finding(context)
    file = cluster.config_file or NOTHING
    rerun = for_hint("pghaul", "check", context.move.name)
    meant = context.move.cluster, context.move.target, context.move.edited or ""
    if trial is None or (trial.cluster, trial.target, trial.edited) != meant:
        return warning(
            file,
            NOTHING,
            "The trial start was not made yet. It starts an empty cluster with the old cluster's "
            "configuration on the new server.",
            f"Run the checks, which make the trial start: `{rerun}`.",
        )
    if trial.of != context.old.taken_at.isoformat():
        return warning(
            file,
            NOTHING,
            "The facts of the old server were read again after the trial start. It is not known "
            "whether an empty cluster with its configuration would still start on the new server.",
            f"Run the checks, which make the trial start again: `{rerun}`.",
        )
    service = service_of_target(context.move.target, cluster, context.new)
    by_unit = service.unit if service is not None else NOTHING
    hindered = (
        f" {'; '.join(trial.hindering)} may keep {by_unit} from starting the new cluster." if trial.hindering else ""
    )
    if trial.unjudged:
        unjudged = "; ".join(trial.unjudged)
        hindered += f" It was not judged whether these conditions of {by_unit} will be met: {unjudged}."
    if trial.unmet and trial.hook and not trial.failed:
        return warning(
            file,
            trial.target,
            f"systemd would not start {by_unit} on the new server now, because of what is not met there: "
            f"{'; '.join(trial.unmet)}. Your command for {trial.hook}, which runs before the old cluster is stopped, "
            f"may change that.{hindered}",
            "Check that the command does so. If a condition is still not met after it, the move ends before it stops "
            "the old cluster.",
        )
    if trial.unmet and not trial.failed:
        return blocker(
            file,
            trial.target,
            f"systemd would not start {by_unit} on the new server, because these conditions are not "
            f"met: {'; '.join(trial.unmet)}.",
            "Meet the conditions, or remove the lines from the unit (`systemctl edit --full "
            f"{by_unit}`). Then run the checks again: `{rerun}`.",
        )
    if trial.not_tried:
        return warning(
            file,
            NOTHING,
            f"The trial start on the new server was not made, because {trial.not_tried}.{hindered}",
            f"Remove the obstacle and run the checks again: `{rerun}`. Otherwise only the start in "
            "the downtime shows whether the new cluster starts.",
        )
    if trial.failed and start_errors(
        cluster
    ):  # the message of PostgreSQL quotes these lines, which may contain secrets
        return blocker(
            file,
            trial.target,
            "An empty cluster with the old cluster's configuration does not start on the new server. The check "
            "`start-files` says which lines of the configuration are wrong.",
            f"Correct these lines. Then run the checks again: `{rerun}`.",
        )
    if trial.failed:
        return blocker(
            file,
            trial.target,
            f"An empty cluster with the old cluster's configuration does not start on the new server: {trial.failed}",
            "Correct what PostgreSQL names, on the new server or in the old cluster's configuration. "
            f"Otherwise the start in the downtime fails too. Then run the checks again: `{rerun}`.",
        )
    addresses = ", ".join(trial.listened) or NOTHING
    remark = f" It did not listen on {', '.join(trial.lacking)}, which the new server lacks." if trial.lacking else ""
    summary = f"An empty cluster with the old cluster's configuration started on the new server.{remark}"
    if service is not None:
        unit = for_hint("systemctl", "cat", service.unit)
        return warning(
            file,
            addresses,
            f"{summary} pg_ctl started it. {service.unit}, which starts the new cluster after the "
            f"move, was not tried.{hindered}",
            f"Check whether the unit would start it (User=, sandboxing, limits, conditions): `{unit}`.",
        )
    return passed(file, addresses, summary)


CHECKS: tuple[Check, ...] = (
    (
        Declaration(
            "trial-start",
            "Trial start on the new server",
            True,
            "old cluster's configuration, answer of an empty cluster on the new server",
            "server-start",
        ),
        check_trial_start,
    ),
)
