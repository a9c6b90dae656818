"""What a diagnosis looks at: a volume with what lies below it, and the figures that were measured on it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core import units
from core.benchmarks.model import Run, Workload
from core.benchmarks.tools import TOOLS
from core.comparison.compare import newest_done, sample_of
from core.comparison.model import Sample
from core.facts.block_devices import device_of, disks_of, stack_of
from core.facts.model import Array, BlockDevice, Facts, FileSystem


@dataclass(frozen=True, slots=True)
class Figure:
    """The mean of one metric over the repetitions of one workload on the volume that count, as a comparison has it."""

    workload: Workload
    metric: str
    value: float
    run_ids: tuple[int, ...]

    @property
    def text(self) -> str:
        """`57.4 MB/s (sequential read, bonnie++)`."""
        return f"{units.metric(self.metric, self.value)} ({self.workload.title})"

    @property
    def pattern(self) -> str | None:
        """`read` or `write` of one long file, `randread`…; None where the workload does not tell."""
        if _of_one_file(self.workload):
            return {"read_bytes_per_second": "read", "write_bytes_per_second": "write"}.get(self.metric)
        return str(self.workload.parameters["pattern"]) if "pattern" in self.workload.parameters else None

    @property
    def direct(self) -> bool:
        """Whether it passed the caches by."""
        return self.workload.parameters.get("direct") is True


@dataclass(frozen=True)
class Storage:
    """A volume of a server: its facts, and the runs on it.

    Attributes:
        mount_point: the volume; facts without such a file system tell nothing of what lies below.
    """

    facts: Facts
    mount_point: str
    runs: tuple[Run, ...] = ()

    @cached_property
    def system(self) -> FileSystem | None:
        """The file system of the volume."""
        return self.facts.file_system_of(self.mount_point)

    @cached_property
    def device(self) -> BlockDevice | None:
        """What the file system lies on."""
        return device_of(self.facts, self.system)

    @cached_property
    def devices(self) -> tuple[BlockDevice, ...]:
        """That device and all below it, the upper before the lower, each once."""
        return stack_of(self.facts, self.system)

    @cached_property
    def disks(self) -> tuple[BlockDevice, ...]:
        """The lowest of them."""
        return disks_of(self.facts, self.system)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """The md arrays among them, the upper first."""
        known = {array.name: array for array in self.facts.arrays}
        return tuple(known[device.name] for device in self.devices if device.name in known)

    @cached_property
    def array(self) -> Array | None:
        """The md array that the file system lies on directly; None where something stands between, or there is none."""
        return self.arrays[0] if self.arrays and self.device and self.arrays[0].name == self.device.name else None

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Everything that was measured on the volume."""
        return tuple(_figures([run for run in self.runs if run.volume.mount_point == self.mount_point]))

    def measured(self, metric: str) -> tuple[Figure, ...]:
        """The figures of that metric."""
        return tuple(figure for figure in self.figures if figure.metric == metric)

    def sequential(self, pattern: str) -> tuple[Figure, ...]:
        """The rates of reading or writing long files in one go."""
        return tuple(
            figure
            for figure in self.measured(f"{pattern}_bytes_per_second")
            # a log writes in one go too, but waits for each block
            if figure.pattern == pattern and figure.workload.parameters.get("sync", "none") == "none"
        )

    def alike(self) -> Iterator[tuple[Figure, Figure]]:
        """Pairs of sequential reads and writes that were measured in the same way."""
        for read in self.sequential("read"):
            for write in self.sequential("write"):
                if _way(read.workload) == _way(write.workload):
                    yield read, write


def _of_one_file(workload: Workload) -> bool:
    tool = TOOLS.get(workload.tool)  # the history may know a tool that is no more
    return tool is not None and tool.one_file


def _way(workload: Workload) -> tuple[object, ...]:
    """What must be the same of two workloads so that their figures differ by the direction alone."""
    if _of_one_file(workload):
        return (workload.tool, workload.name, *sorted(workload.parameters.items()))
    return (workload.tool, *(workload.parameters.get(name) for name in ("direct", "block_bytes", "jobs", "depth")))


def _figures(runs: Sequence[Run]) -> Iterator[Figure]:
    """The figures that are the disks' own: nobody disturbed them, and memory did not answer for the disks."""
    of_workload: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        workload = run.workload
        of_workload.setdefault((workload.tool, workload.name, *sorted(workload.parameters.items())), []).append(run)
    for run in filter(None, map(newest_done, of_workload.values())):
        for metric in dict.fromkeys(name for repetition in run.repetitions for name in repetition.metrics):
            sample = sample_of(metric, run)
            if sample is not None and not sample.disturbed and not _from_memory(run.workload, metric, sample):
                yield Figure(run.workload, metric, sample.mean, sample.run_ids)


def _from_memory(workload: Workload, metric: str, sample: Sample) -> bool:
    # direct requests pass by whatever the caches held
    warm = sample.cached and metric.startswith("read") and workload.parameters.get("direct") is not True
    return warm or sample.from_memory


# What one look at a storage saw, before it is joined with its declaration.


@dataclass(frozen=True, slots=True)
class Observation:
    """Evidence with the very values, what to try, and the figures that it rests on (facts alone: none)."""

    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    figures: tuple[Figure, ...] = ()


def observed(evidence: Iterable[str], advice: Iterable[str], *figures: Figure) -> Observation:
    """An observation; empty sentences, of facts that are not known, are left out."""
    return Observation(tuple(text for text in evidence if text), tuple(text for text in advice if text), figures)
