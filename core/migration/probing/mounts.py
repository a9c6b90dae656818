"""Which NFS mounts are worth a sample, and what stands in the way of NFS, or of NFS over UDP."""

from dataclasses import dataclass

from core.facts.model import Facts

MOUNTS = ("vers=4.2", "vers=4.2,nconnect=4", "vers=4.2,rsize=262144,wsize=262144", "vers=3")
"""Without a size both kernels agree on the largest, 1 MiB in most; source: nfs(5), mount options."""
UDP = "vers=3,proto=udp"


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mounts to try, and a sentence on each thing that is left out."""

    variants: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def mounts(old: Facts, new: Facts, *, root_on_old: bool, root_on_new: bool) -> Mounts:
    """The mounts by what both kernels can do; what is not known about them is tried."""
    reason = _obstacle(old, new, root_on_old=root_on_old, root_on_new=root_on_new)
    if reason is not None:
        return Mounts(left_out=(f"rsync over NFS is left out: {reason}",))
    without_udp = next((facts.server for facts in (old, new) if not _speaks_udp(facts)), None)
    if without_udp is None:
        return Mounts((*MOUNTS, UDP))
    return Mounts(MOUNTS, (f"NFS over UDP is left out: the kernel of {without_udp} has none",))


def _obstacle(old: Facts, new: Facts, *, root_on_old: bool, root_on_new: bool) -> str | None:
    mounting, serving = old.host_environment.kernel, new.host_environment.kernel
    if mounting is not None and mounting.nfs is False:
        return f"the kernel of {old.server} cannot mount NFS"
    if serving is not None and serving.nfsd is False:
        return f"the kernel of {new.server} cannot serve NFS"
    for facts, tool, package in ((old, "mount.nfs", "nfs-common"), (new, "exportfs", "nfs-kernel-server")):
        found = facts.tool(tool)
        if found is not None and found.path is None:
            return f"{facts.server} has no {tool} (Debian: {package}, others: nfs-utils)"
    for facts, allowed in ((old, root_on_old), (new, root_on_new)):
        if not allowed:
            return f"it takes root, which pghaul may not become on {facts.server}"
    return None


def _speaks_udp(facts: Facts) -> bool:
    kernel = facts.host_environment.kernel
    return kernel is not None and kernel.nfs_udp is True
