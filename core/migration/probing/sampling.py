"""The sample that stands for a cluster, and how it is sent: by the plan's own rsync, end to end.

Small files (under 16 MiB) and large ones each have their share of the cluster's bytes in the sample: of the small ones
every k-th in order of size, a thousand at the most, of the large ones pieces of 8 MiB from their ends, as many as their
bytes are worth. Only the end of a large file is sent: on new lies a hole of the rest's size before, and rsync goes on
behind it by --append. So every sample is of the same bytes, however large the files are. They are dropped from old's
page cache before.
"""

from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call

LABEL = "sample"
SECONDS = 5
"""A transport that takes longer is cut off."""
MOST_BYTES = 256 * 1024**2
LEAST_BYTES = 48 * 1024**2


def choose(channel: CopyChannel, folder: str, budget: int, small_files: int) -> Shell:
    """On old: a list of some `budget` bytes that stand for all of `folder`, of small files so many at the most.

    Prints `SKIP NAME` of each large file.
    """
    return call("choose_sample", folder, _list(channel), budget, small_files)


def skipped(holes: str) -> int:
    """Bytes of the holes, from the `SKIP NAME` lines of `choose`; its last line says that it is whole."""
    return sum(int(line.partition(" ")[0]) for line in holes.splitlines() if not line.startswith("#"))


def make_room(folder: str) -> Shell:
    """On new: the folder emptied, and in it a hole for each `SKIP NAME` of standard input, the output of `choose`."""
    return call("make_sample_holes", folder)


def send(channel: CopyChannel, folder: str) -> Shell:
    """On the old server: the sample by the way's transport, until it is on the new server's disk or the time is up.

    What it takes to connect and to come to terms is measured by a pass over nothing, and what it takes to ask for a
    flush by one that has nothing to do; both are taken off.
    """
    return passes.prepare_call(channel, call("send_sample", folder, dict(channel.targets)[LABEL], SECONDS))


def arrived(folder: str, skipped: int) -> Shell:
    """On the new server: what of the sample is there, without the holes."""
    return call("print_sample_size", folder, skipped)


def _list(channel: CopyChannel) -> str:
    return f"{channel.folder}/sample"
