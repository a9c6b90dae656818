"""A transport of ours, without a server behind it."""

import socket
from contextlib import closing

import paramiko

from core.servers.ssh_connector import HostTransport


def test_a_channel_can_be_closed_from_the_moment_on_at_which_its_transport_knows_it() -> None:
    """The thread of a lost connection closes all of them; one that it cannot close ended it, and open_channel hung."""
    here, there = socket.socketpair()
    with closing(there), closing(HostTransport(here)) as transport:
        channel = paramiko.Channel(1)
        transport._channels.put(1, channel)  # noqa: SLF001  as open_channel does, which goes on behind it
        channel._unlink()  # type: ignore[attr-defined]  # noqa: SLF001  as the thread does
        assert channel.closed
        assert transport._channels.values() == []  # noqa: SLF001
    here.close()
