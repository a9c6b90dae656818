"""What figures say beside the disks: a processor that bounds them, a network that is slow, a file system that ages."""

from core import units
from core.benchmarks.model import Workload
from core.comparison.diagnosis.disks import SATURATED
from core.comparison.diagnosis.observation import Observation, Storage, observed
from core.facts.model import FileSystem, NetworkLink
from core.servers.shell import command

SLOW_LINK = 100_000_000
"""Bits a second of a link that negotiated too little, or of a switch of another age."""
AGED = 0.25
"""A decrease that no noise makes: of the six file systems of Lentfer (2010) three lost more, three less."""


def processor_bound(storage: Storage) -> Observation | None:
    """The tool itself kept a core busy: the figure is the processor's, not the disk's."""
    busy = [
        # each job of fio is a process: a core for each is what they can use
        figure
        for figure in storage.measured("cpu_cores")
        if figure.value >= SATURATED * _processes(figure.workload)
    ]
    if not busy:
        return None
    figure = max(busy, key=lambda one: one.value)
    rates = [one for one in storage.figures if one.workload is figure.workload and one.metric == one.workload.headline]
    return observed(
        [
            (f"{figure.workload.tool} kept {units.count(figure.value)} CPU cores busy ({figure.workload.title})."),
            *(f"Measured at that time: {rate.text}." for rate in rates),
        ],
        [
            "The disks may be faster than this result. Measure with larger blocks or with several jobs.",
            "Check whether the volume is encrypted or compressed, because the processor does that work too.",
        ],
        figure,
        *rates,
    )


def _processes(workload: Workload) -> int:
    jobs = workload.parameters.get("jobs", 1)
    return jobs if isinstance(jobs, int) else 1


def slow_link(storage: Storage) -> Observation | None:
    """A network link that is up at 100 Mbit/s or less."""
    slow = [link for link in storage.facts.network_links if _is_slow(link)]
    if not slow:
        return None
    reads = max(storage.sequential("read"), key=lambda figure: figure.value, default=None)
    return observed(
        [
            *(
                (
                    f"{link.name} ({', '.join(link.addresses)}) runs at "
                    f"{units.bits(link.bits_per_second)}, which carries at most "
                    f"{units.rate((link.bits_per_second or 0) / 8)}."
                )
                for link in slow
            ),
            f"The volume reads {reads.text}." if reads is not None else "",
        ],
        [
            (
                "Check the cable and the port of the switch. A gigabit link with a broken wire pair "
                "falls back to 100 Mbit/s."
            ),
            "Use another link for copies, and for pgbench from another host.",
        ],
        *((reads,) if reads is not None else ()),
    )


def _is_slow(link: NetworkLink) -> bool:
    speed = link.bits_per_second
    # a link without an address carries nothing of ours
    return link.state == "up" and bool(link.addresses) and speed is not None and speed <= SLOW_LINK


def ageing_file_system(storage: Storage) -> Observation | None:
    """After some writing, the same reads are slower than on the fresh database."""
    decreases = [figure for figure in storage.measured("decrease_fraction") if figure.value > AGED]
    if not decreases:
        return None
    worst = max(decreases, key=lambda figure: figure.value)
    of_it = {one.metric: one.value for one in storage.figures if one.workload is worst.workload}
    initial, final = of_it.get("initial_transactions_per_second"), of_it.get("final_transactions_per_second")
    return observed(
        [
            f"Reads became slower by {units.percent(worst.value)} ({worst.workload.title}).",
            f"They fell from {units.count(initial)} to {units.count(final)} transactions/s."
            if initial and final
            else "",
        ],
        [
            "Run the same suite on another file system and compare. Copy-on-write file systems slow down most.",
            _how_laid_out(storage.system),
            "Leave the file system more free space."
            if _without_access_times(storage.system)
            else "Leave the file system more free space, and mount it with noatime.",
        ],
        worst,
    )


def _without_access_times(system: FileSystem | None) -> bool:
    return system is not None and (system.kind == "zfs" or "noatime" in system.options)


def _how_laid_out(system: FileSystem | None) -> str:
    """How one looks at the pieces that files, or what is free, lie in."""
    if system is None:
        return "Check how the files are laid out with `filefrag`, on XFS with `xfs_db -r -c frag`."
    if system.kind == "zfs":
        return f"Check how fragmented its free space is: `{command('zpool', 'list', '-v').shown}`."
    means = f"`{command('xfs_db', '-r', '-c', 'frag', system.device).shown}`" if system.kind == "xfs" else "`filefrag`"
    return f"Check how the files on {system.mount_point} are laid out: {means}."
