"""A transport of ours, without a server behind it."""

import errno
import os
import socket
from contextlib import closing

import paramiko
import pytest

from core import this_workstation
from core.errors import InputError, UnreachableError
from core.jobs import Job
from core.servers.profiles import Nobody, Profile
from core.servers.ssh_config import Destination
from core.servers.ssh_connector import HostTransport, SshConnector


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


def test_on_windows_a_proxy_command_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    connector = SshConnector(Profile("old", "db1"), Nobody(), Job(), deadline=1)
    with pytest.raises(InputError, match="ProxyCommand is not supported on Windows"):
        connector.connect(Destination("old", "db1", 22, "dba", proxy_command="nc db1 22"))
    assert connector.proxies == []


@pytest.mark.parametrize("answer", [socket.EAI_NONAME, socket.EAI_AGAIN])
def test_a_name_that_is_unknown_without_the_network_of_a_company_may_be_known_later(
    monkeypatch: pytest.MonkeyPatch, answer: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise socket.gaierror(answer, "no")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(UnreachableError, match="db1 cannot be resolved") as caught:
        SshConnector(Profile("old", "db1"), Nobody(), Job(), deadline=1).connect(Destination("old", "db1", 22, "dba"))
    assert not caught.value.lasting


def connection_to(address: str) -> UnreachableError:
    """Return how the connection to an address fails that no packet is sent to."""
    with pytest.raises(UnreachableError) as caught:
        SshConnector(Profile("old", address), Nobody(), Job(), deadline=5).connect(
            Destination("old", address, 22, "dba")
        )
    return caught.value


def test_a_network_that_is_not_there_is_named_without_waiting() -> None:
    error = connection_to("255.255.255.255")
    assert "255.255.255.255 port 22 cannot be reached: " in error.message
    assert error.message.endswith((os.strerror(errno.ENETUNREACH), os.strerror(errno.EACCES)))


def test_on_windows_the_table_of_sockets_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {errno.ENETUNREACH: "The network cannot be reached.", errno.EACCES: "The network cannot be reached."}
    monkeypatch.setattr(socket, "errorTab", table, raising=False)
    assert connection_to("255.255.255.255").message.endswith("cannot be reached: The network cannot be reached.")


def test_what_is_no_name_stays_unknown() -> None:
    name = "a" * 64
    with pytest.raises(UnreachableError, match="cannot be resolved") as caught:
        SshConnector(Profile("old", name), Nobody(), Job(), deadline=1).connect(Destination("old", name, 22, "dba"))
    assert caught.value.lasting
