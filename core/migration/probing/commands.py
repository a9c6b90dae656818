"""The probes as calls of the remote half: bounded in bytes and in seconds, `bytes` and `nanoseconds` for answer.

Times are taken on the server that works, so that the workstation's way to it does not count.
"""

from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, call, command

MOST_BYTES = 256 * 1024**2
SUMMED_BYTES = 192 * 1024**2
"""By each process: a fraction of a second on a processor that has instructions for it, a second or two on others."""

_SUM = "46b23b74b0d431993099b9ccef75ac4e30dc48305089aa236b6ff1de97fed713"
"""Of so many zeros."""


def read(folder: str, seconds: int) -> Shell:
    """On old: the largest files below `folder`, from the disk."""
    return call("read_probe", folder, MOST_BYTES, seconds)


def write(folder: str, seconds: int) -> Shell:
    """On the new server: random bytes into one file, until they are on the disk; the file is removed."""
    return call("write_probe", folder, MOST_BYTES, seconds)


def sums(program: str, processes: int) -> Shell:
    """On either: zeros summed up by so many processes, as the files of a copy are."""
    return call("checksum_probe", program, processes, SUMMED_BYTES, _SUM)


def ciphers() -> Shell:
    """On the old server: the ciphers that its ssh knows, one a line."""
    return command("ssh", "-Q", "cipher")


def cipher(channel: CopyChannel, seconds: int) -> Shell:
    """On old: zeros through ssh to new, where they are thrown away; the time of the connection itself is taken off."""
    return call("cipher_probe", channel.folder, channel.transport.cipher or "-", 2 * MOST_BYTES, seconds)


def make_scratch(target: str, name: str, user: str) -> Shell:
    """On the new server: a folder of that name on the file system of `target`, for `user`; prints it."""
    return call("make_scratch", target, name, user)


def remove_scratch(target: str, name: str) -> Shell:
    """On the new server: the folder of that name, gone; a receiver that still works in it is ended first."""
    return call("remove_scratch", target, name)
