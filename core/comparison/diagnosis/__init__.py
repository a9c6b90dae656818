"""Diagnosis: what a poor result looks like. Declared data beside pure functions over a volume's facts and figures.

After Smith ("Testing your disks for PostgreSQL", 2007), Hoeppner and Chinner (linux-xfs, 2014), a DBA's fio of ext3,
ext4 and XFS (2011) and Lentfer ("HAMMER and PostgreSQL Performance", 2010). Nothing is claimed without a value: where
a figure was not measured or a fact could not be read, there is no finding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.benchmarks.model import Outcome, Run
from core.comparison.diagnosis import disks, mounting, results
from core.comparison.diagnosis.observation import Observation, Storage
from core.comparison.machines import NO_MACHINES, Machines
from core.comparison.model import Diagnosis, Finding
from core.facts.model import Facts


@dataclass(frozen=True, slots=True)
class Declaration:
    """A finding apart from any volume, and who looks for it."""

    name: str
    title: str
    look: Callable[[Storage], Observation | None]


CATALOGUE: tuple[Declaration, ...] = (
    Declaration("writes-far-under-reads", "Writes much slower than reads", disks.writes_far_under_reads),
    Declaration("mirror-reads-like-one", "RAID-1 reads no faster than one disk", disks.mirror_reads_like_one_disk),
    Declaration("write-thread", "Saturated write thread of a RAID array", disks.write_thread_saturated),
    Declaration("stripes", "Stripe geometry unknown to the file system", disks.misaligned_stripes),
    Declaration("data-journal", "Data written twice (data=journal)", mounting.journaled_data),
    Declaration("access-times", "Reads that update access times", mounting.access_times),
    Declaration("barriers", "Flushes that do not reach the disks", mounting.barriers_off),
    Declaration("scheduler", "Unsuitable I/O scheduler", disks.wrong_scheduler),
    Declaration("read-ahead", "Small read-ahead", disks.small_read_ahead),
    Declaration("partition", "Misaligned partition", disks.misaligned_partition),
    Declaration("layout", "Slow layout of files", mounting.slow_layout),
    Declaration("ageing", "File system that becomes slower", results.ageing_file_system),
    Declaration("processor", "Result limited by the processor", results.processor_bound),
    Declaration("link", "Slow network link", results.slow_link),
)
"""Every finding, what costs most first. Names are for ever."""


def diagnose(
    facts: Facts,
    mount_point: str,
    runs: Sequence[Run] = (),
    machines: Machines = NO_MACHINES,
    machine: str | None = None,
) -> Diagnosis:
    """What explains, or will make, poor results of a volume.

    Args:
        facts: of the machine that the volume hangs on.
        mount_point: the volume.
        runs: what was measured; runs on other volumes and on other machines are left aside.
        machines: whose runs they are.
        machine: what the machine of the facts is known by; None: the one that has the server's name now.
    """
    machine = machines.now.get(facts.server, "") if machine is None else machine
    here = [run for run in runs if (run.volume.server, run.volume.mount_point) == (facts.server, mount_point)]
    own = machines.on(here, facts.server, machine)
    storage = Storage(facts, mount_point, own)
    # each looks for itself: none rests on what another found
    seen = [(declaration, declaration.look(storage)) for declaration in CATALOGUE]
    return Diagnosis(
        server=facts.server,
        volume=mount_point,
        facts_taken_at=facts.taken_at,
        figures=len(storage.figures),
        findings=tuple(_finding(declaration, found) for declaration, found in seen if found is not None),
        since=machines.volume(facts.server, machine, mount_point).since if own else None,
        unused=sum(run.outcome is Outcome.DONE and run not in own for run in here),
    )


def _finding(declaration: Declaration, found: Observation) -> Finding:
    return Finding(
        name=declaration.name,
        title=declaration.title,
        evidence=found.evidence,
        advice=found.advice,
        run_ids=tuple(dict.fromkeys(number for figure in found.figures for number in figure.run_ids)),
    )
