"""What happens before an execution that was begun earlier goes on.

An earlier process may have ended at any moment, and both servers may have changed since. So its detached steps are
followed to their end, the stop of the old cluster is checked again, and what the resume policies of the plan name is
repeated. The exported script repeats the same steps, by the same policies.
"""

from core.errors import BlockedError
from core.jobs import Note
from core.migration.execution.difference import Differences
from core.migration.execution.step_runner import StepRunner
from core.migration.model import step_ids
from core.migration.model.execution import Execution, StepRun
from core.migration.model.plan import Plan, Step, call_of
from core.migration.plan.steps.known_data_roots import are_same_roots
from core.servers.shell import call, quoted
from core.sides import Side
from core.text import END_MARK

DIFFERS = 65
"""Exit status of a step that ended well and printed something else than it must; as sysexits.h has EX_DATAERR."""


class Resume:
    """Prepares an execution that was begun earlier for its next step.

    Args:
        steps: runs its steps.
    """

    def __init__(self, steps: StepRunner) -> None:
        self.steps = steps

    def prepare(self, *, cleaned: bool) -> None:
        """Follow what still runs, void what no longer holds, and repeat what the rest of the plan needs.

        Args:
            cleaned: whether the copy channel was removed with the lists of what the passes have copied.

        Raises:
            BlockedError: the old cluster or its files changed after the new cluster was started.
            CommandError: a repeated step failed.
            UnreachableError: a server was lost.
            Cancelled: the job was cancelled.
        """
        # In this order. A pass that still runs must end before another one may write to the same files. Whether the old
        # cluster has stayed stopped decides which earlier results still hold, so it is asked before any step is
        # repeated.
        for step in self.steps.execution.steps_taken:
            self.steps.follow_earlier(step)
        self._prove_still_stopped()
        # The final sync reads the files that its lists name, and the lists went with the copy channel. New passes make
        # new lists, but only while the old cluster runs.
        if not is_stop_proven(self.steps.execution) and not self._stop_has_succeeded() and cleaned:
            self._repeat_from_precopy_passes()
        failed = find_failed_comparison(self.steps.execution)
        if self._changed_since_the_stop() or failed is not None:
            self.steps.void_from(self.steps.plan.first_copying)
        for step in steps_to_repeat(self.steps.execution):
            if step.id not in _EXAMINED:
                self.steps.run(step)
        # The marks lie in the folder of the copy channel, which the repeated steps have set up again.
        if failed is not None:
            self._mark_for_resync(failed)

    def _prove_still_stopped(self) -> None:
        """Check that the old cluster is as when its stop was proven. If not, the steps from the passes on run again."""
        execution = self.steps.execution
        proof = execution.plan.step(step_ids.CHECK_STOPPED)
        if proof is None or execution.past_return:
            return
        # a later look, that failed or found something else, must not be what the next one is held against
        known = next((run for run in execution.steps if run.number == proof.number and run.done and not run.back), None)
        if known is None:
            return
        stands = self._prove_stop(proof)
        if stands and self.steps.outputs[proof.number].strip() == known.output.strip():
            return
        # Once the new cluster has started, its files have changed. No pass may write there any more, and what the old
        # cluster has written since cannot be brought over.
        if any(step.id == step_ids.START_LOCALLY and execution.latest(step.number) for step in execution.plan.steps):
            raise BlockedError(
                "The old cluster was started after its stop, and the new cluster was started since. Their contents "
                "differ.",
                f"Roll back to the old server: pghaul execute {quoted(execution.move)} --rollback. Then begin again.",
            )
        if stands and execution.plan.step(step_ids.STOP_OLD_CLUSTER) is not None:
            raise BlockedError(
                "The old cluster was started after its stop, and does not run now.",
                "Start it, and go on with --resume, which stops it and copies it again. Or roll back to it: "
                "--rollback.",
            )
        self.steps.job.report(
            Note("The old cluster was started after its stop. It is stopped and copied again.", "warning")
        )
        self._repeat_from_precopy_passes()

    def _changed_since_the_stop(self) -> bool:
        """Return whether files of the stopped old server were changed after their checksums were computed.

        Then all passes of the downtime and their comparison are made again. Before the checksums, an operator may mend
        files: the data roots are recorded again, and the checksums include the change. From then on only the record
        counts that was made before the checksums, however often somebody looks. That nobody has started the old server
        in the meantime, its control file has told.

        Raises:
            BlockedError: they were changed, and the new cluster was started since, so no pass may write there any more.
        """
        execution = self.steps.execution
        steps = {step.id: step for step in execution.plan.steps}
        remembered = steps.get(step_ids.CHECK_DATA_ROOTS_STOPPED)
        if remembered is None or execution.latest(remembered.number) is None or execution.past_return:
            return False
        before = _find_look_before_checksums(execution, remembered, steps.get(step_ids.CHECKSUMS_OLD))
        if before is None and not execution.done(remembered.number):
            return False
        self.steps.run(remembered)
        if before is None or are_same_roots(before.output, self.steps.outputs[remembered.number]):
            return False
        start = steps.get(step_ids.START_LOCALLY)
        if start is not None and execution.latest(start.number) is not None:
            raise BlockedError(
                "Files of the old cluster were changed after they were compared, and the new cluster was started "
                "since. It lacks these changes.",
                f"Roll back to the old server: pghaul execute {quoted(execution.move)} --rollback. Then begin again.",
            )
        changed = (
            "Files of the old cluster were changed after their checksums were computed. They are copied and compared "
            "again."
        )
        self.steps.job.report(Note(changed, "warning"))
        return True

    def _repeat_from_precopy_passes(self) -> None:
        """Let the pre-copy passes run again, because their lists of copied files were removed."""
        steps = self.steps.plan.steps
        self.steps.void_from(next(step.number for step in steps if step.precopy_pass or step.downtime))

    def _stop_has_succeeded(self) -> bool:
        """Return whether the stop has succeeded, although the step that was to do it or to prove it failed.

        From the warm passes on a stopped server would be asked what only a running one can tell.
        """
        execution = self.steps.execution
        stop, proof = execution.plan.step(step_ids.STOP_OLD_CLUSTER), execution.plan.step(step_ids.CHECK_STOPPED)
        if stop is None or proof is None or execution.latest(stop.number) is None:
            return False
        return self._prove_stop(proof)

    def _prove_stop(self, proof: Step) -> bool:
        """Return whether the old cluster is proven to be stopped; False if its server runs.

        Raises:
            CommandError, BlockedError: it could not be examined, or it ended without a clean shutdown.
        """
        try:
            self.steps.run(proof)
        except BlockedError:
            if self._old_cluster_runs(proof):
                return False
            raise
        return True

    def _old_cluster_runs(self, proof: Step) -> bool:
        """Return whether a server runs in the old data directory."""
        looking = call("list_servers_in", self.steps.plan.data_directory)
        title = "Check whether the old cluster runs"
        return bool(
            self.steps.connect(Side.OLD).run(looking, self.steps.job, user=proof.user, title=title).stdout.strip()
        )

    def _mark_for_resync(self, failed: StepRun) -> None:
        """Tell the old server which files the passes are to copy. If these are not known, they compare all files."""
        compared = find_comparison_step(self.steps.plan)
        if compared is None or not compared.verification.resync or not failed.output:
            self.steps.job.report(Note("It is not known which files differ. All files are compared again."))
            return
        old = self.steps.connect(Side.OLD)
        call = call_of(self.steps.plan, compared.verification.resync)
        given = f"{failed.output}{END_MARK}".encode("utf-8", "surrogateescape")
        user = find_resync_user(self.steps.plan)
        old.run(
            call,
            self.steps.job,
            user=user,
            stdin=given,
            deadline=3600.0,
            title="Mark the files that differ for the next passes",
        )


_EXAMINED = frozenset({step_ids.CHECK_STOPPED, step_ids.CHECK_DATA_ROOTS_STOPPED})
"""Steps that were repeated already, because what they print decides which steps are void."""


def steps_to_repeat(execution: Execution) -> list[Step]:
    """Return the steps that are done and must run again before the execution goes on, in the order of the plan.

    These are the steps with a resume policy that names a later step which is not done yet.
    """
    taken = {step.id: step for step in execution.steps_taken}
    return [
        step
        for step in execution.steps_taken
        if execution.done(step.number)
        and (later := taken.get(step.resume.repeat_until)) is not None
        and not execution.done(later.number)
    ]


def is_stop_proven(execution: Execution) -> bool:
    """Return whether the stop of the old cluster is proven. Then the operator is not asked again."""
    return any(step.id == step_ids.CHECK_STOPPED and execution.done(step.number) for step in execution.plan.steps)


def _find_look_before_checksums(execution: Execution, remembered: Step, sums: Step | None) -> StepRun | None:
    """Return the run that examined the stopped old cluster before its checksums; None if these have not succeeded."""
    made = execution.latest(sums.number) if sums is not None else None
    if made is None or not made.done:
        return None
    looks = [run for run in execution.steps if run.number == remembered.number and run.done and run.id < made.id]
    return looks[-1] if looks else None


def format_differing_files(differences: Differences) -> str:
    """The files that differ, a line each, label and path with byte 2 between them; empty where they may not be all."""
    return "".join(f"{label}\2{path}\n" for label, path in differences.files) if differences.all else ""


def find_failed_comparison(execution: Execution) -> StepRun | None:
    """The comparison of files that failed and that nothing was done about yet."""
    compared = find_comparison_step(execution.plan)
    latest = execution.latest(compared.number) if compared is not None else None
    return latest if latest is not None and latest.exit_status == DIFFERS and not latest.void else None


def find_resync_user(plan: Plan) -> str | None:
    """Return the user of the old server who marks the files: who has computed the checksums; None: who logs in."""
    summed = plan.step(step_ids.CHECKSUMS_OLD)
    return summed.user if summed is not None else None


def find_comparison_step(plan: Plan) -> Step | None:
    """The step that compares the files of the new server with those of the old one."""
    return next((step for step in plan.steps if step.verification.equals == step_ids.CHECKSUMS_OLD), None)
