"""The sample that represents a cluster, and how it is sent: end to end, with the rsync commands of a plan.

Small files (below 16 MiB) and large files have the same share of the bytes in the sample as in the cluster. Of the
small files, every k-th in the order of their size is chosen, at most a thousand. Of the large files, pieces of 8 MiB
from their ends are chosen, smaller ones if the sample is small, so that there are at least sixteen. Only the end of a
large file is sent: on the new server there is a sparse file of the size of the rest, and rsync continues after it with
--append. So every sample has the same number of bytes, however large the files are. The files are dropped from the page
cache of the old server first.
"""

from core.migration.probing.timing import Timing
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call
from core.text import lines_of

LABEL = "sample"
MOST_SECONDS = 5
"""A transport that takes longer is ended after this time, or earlier if less is left for all samples."""
MOST_BYTES = 256 * 1024**2
LEAST_BYTES = 8 * 1024**2
"""Less tells no rate: of the time of a sample, that of connecting is subtracted, which varies."""


def choose(channel: CopyChannel, folder: str, budget: int, small_files: int) -> Shell:
    """Return the command that chooses a sample on the old server, and prints `SKIP NAME` for each large file.

    Args:
        channel: the copy channel, whose folder contains the list.
        folder: the folder that the sample represents.
        budget: the approximate size of the sample in bytes.
        small_files: the largest number of small files in it.
    """
    return call("choose_sample", folder, _list(channel), budget, small_files)


def skipped(holes: str) -> int:
    """Return the sum of the skipped bytes in the lines `SKIP NAME` that `choose` prints.

    Its last line is the end mark.
    """
    return sum(int(line.partition(" ")[0]) for line in lines_of(holes) if not line.startswith("#"))


def make_room(folder: str) -> Shell:
    """Return the command that empties `folder` on the new server and creates the sparse files in it.

    Its standard input is the output of `choose`, with a line `SKIP NAME` for each file.
    """
    return call("make_sample_holes", folder)


def send(channel: CopyChannel, folder: str, seconds: int, earlier: Timing | None = None) -> Shell:
    """Return the command that sends the sample from the old server by the transport of the channel.

    It ends when the sample is on the disk of the new server, or when the time is over. The time for connecting is
    measured by a pass without files, and the time for requesting a flush by a flush without data. Both are subtracted.

    Args:
        channel: the channel with the transport.
        folder: the folder that the sample represents.
        seconds: the passes are ended after this time.
        earlier: an earlier sample by the same route, whose times for connecting and for a flush are used again.
    """
    known = (earlier.connect_nanoseconds, earlier.flush_nanoseconds) if earlier is not None else ()
    return passes.prepare_call(channel, call("send_sample", folder, dict(channel.targets)[LABEL], seconds, *known))


def arrived(folder: str, skipped: int) -> Shell:
    """Return the command that prints the bytes of the sample on the new server, without the skipped bytes."""
    return call("print_sample_size", folder, skipped)


def _list(channel: CopyChannel) -> str:
    return f"{channel.folder}/sample"
