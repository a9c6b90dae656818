"""What the kernel can do for a copy: mount NFS, serve it, speak it over UDP.

With 5.6 UDP went from the kernel's NFS client by default (CONFIG_NFS_DISABLE_UDP_SUPPORT), and from its server.
"""

import re

from core.facts.host_environment import Kernel
from core.facts.sections import Section
from core.facts.text import first_line, unreadable_error


def parse_kernel(text: str) -> Kernel:
    """The abilities, from /proc/filesystems, `modprobe -n` and the kernel's configuration.

    Raises:
        ParseError: /proc/filesystems is not there.
    """
    lines = text.splitlines()
    systems = {line.split()[-1] for line in lines if line.startswith(": ") and line.strip(": \t")}
    if not systems:
        raise unreadable_error("/proc/filesystems", "a file system", first_line(text))
    modules = {line.partition(" ")[2] for line in lines if line.startswith("module ")}
    config = next((line for line in lines if line.startswith("config ")), None)
    release = next(
        (re.match(r"release ([0-9]+)\.([0-9]+)", line) for line in lines if line.startswith("release ")), None
    )
    without = False if "modprobe" in lines else None  # what a module would bring is not known then
    udp: bool | None = None
    if config is not None:
        udp = "=y" not in config
    elif release is not None and (int(release[1]), int(release[2])) < (5, 6):
        udp = True
    return Kernel(
        nfs=bool({"nfs", "nfs4"} & systems) or "nfs" in modules or without,
        nfsd="nfsd" in systems or "nfsd" in modules or without,
        nfs_udp=udp,
    )


SECTION = Section("kernel", "kernel features", ("kernel_facts",), parse_kernel)
