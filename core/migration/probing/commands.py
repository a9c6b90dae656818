"""The probes as calls of shell functions, with limits in bytes and seconds. They print `bytes` and `nanoseconds`.

The times are taken on the server that does the work, so that the connection of the workstation does not count.
"""

from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call, command

MOST_BYTES = 256 * 1024**2
SUMMED_BYTES = 16 * 1024**2
"""The bytes of the first piece for each process, which shows how many more there is time for."""

_SUM = "080acf35a507ac9849cfcba47dc2ad83e01b75663a516279c8b9d243b719643e"
"""The SHA-256 checksum of that many zeros."""


def read(folder: str, seconds: int) -> Shell:
    """Return the command that times reading the largest files below `folder` from disk. It runs on the old server."""
    return call("read_probe", folder, MOST_BYTES, seconds)


def write(folder: str, seconds: int) -> Shell:
    """Return the command that times writing random bytes to disk in `folder`. It runs on the new server."""
    return call("write_probe", folder, MOST_BYTES, seconds)


def sums(program: str, processes: int, seconds: int) -> Shell:
    """Return the command that times the checksums of zeros by several processes. It runs on both servers."""
    return call("checksum_probe", program, processes, SUMMED_BYTES, _SUM, seconds)


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
