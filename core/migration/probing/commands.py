"""The probes as calls of shell functions, with limits in bytes and seconds. They print `bytes` and `nanoseconds`.

The times are taken on the server that does the work, so that the connection of the workstation does not count.
"""

from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call, command

MOST_BYTES = 256 * 1024**2
SUMMED_BYTES = 192 * 1024**2
"""The bytes for each process. They take a fraction of a second on a processor with instructions for checksums, and one
or two seconds on others."""

_SUM = "46b23b74b0d431993099b9ccef75ac4e30dc48305089aa236b6ff1de97fed713"
"""The SHA-256 checksum of that many zeros."""


def read(folder: str, seconds: int) -> Shell:
    """Return the command that times reading the largest files below `folder` from disk. It runs on the old server."""
    return call("read_probe", folder, MOST_BYTES, seconds)


def write(folder: str, seconds: int) -> Shell:
    """Return the command that times writing random bytes to disk in `folder`. It runs on the new server."""
    return call("write_probe", folder, MOST_BYTES, seconds)


def sums(program: str, processes: int) -> Shell:
    """Return the command that times the checksums of zeros by several processes. It runs on both servers."""
    return call("checksum_probe", program, processes, SUMMED_BYTES, _SUM)


def ciphers() -> Shell:
    """Return the command that prints the ciphers of ssh on the old server, one per line."""
    return command("ssh", "-Q", "cipher")


def cipher(channel: CopyChannel, seconds: int) -> Shell:
    """Return the command that times zeros through ssh from the old to the new server, which discards them.

    The time for the connection itself is subtracted.
    """
    return call("cipher_probe", channel.folder, channel.transport.cipher or "-", 2 * MOST_BYTES, seconds)


def make_scratch(target: str, name: str, user: str) -> Shell:
    """Return the command that creates the folder `name` for `user` on the file system of `target`, and prints its path.

    It runs on the new server.
    """
    return call("make_scratch", target, name, user)


def remove_scratch(target: str, name: str) -> Shell:
    """Return the command that removes the folder `name` on the new server, after ending a receiver that works in it."""
    return call("remove_scratch", target, name)
