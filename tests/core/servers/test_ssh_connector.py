"""A transport of ours, without a server behind it."""

import re
import socket
import struct
import threading
from contextlib import closing

import paramiko
import pytest

from core.errors import UnreachableError
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
    assert error.message.endswith(("(ENETUNREACH)", "(EACCES)"))


@pytest.mark.parametrize(
    ("lingering", "said"),
    [
        (False, r"^old: 127\.0\.0\.1 port \d+ is not an SSH server, or it closed the connection$"),
        (True, r"^old: no SSH session with dba@127\.0\.0\.1 port \d+: the other side .* \(ECONNRESET\)$"),
    ],
    ids=["closed", "reset"],
)
def test_a_connection_that_ends_behind_the_first_line_is_told_with_its_reason(lingering: bool, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            wire, _ = server.accept()
            with wire, wire.makefile("rb") as heard:
                wire.sendall(b"SSH-2.0-other\r\n")
                assert heard.readline().startswith(b"SSH-2.0-")
                assert heard.read(100)  # of the key exchange, which begins once the line was read
                if lingering:
                    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close by a reset
                else:
                    wire.shutdown(socket.SHUT_WR)
                    heard.read()

        answering = threading.Thread(target=answer)
        answering.start()
        port = server.getsockname()[1]
        connector = SshConnector(Profile("old", "127.0.0.1"), Nobody(), Job(), deadline=10)
        with closing(connector), pytest.raises(UnreachableError) as caught:
            connector.connect(Destination("old", "127.0.0.1", port, "dba"))
        answering.join()
    assert re.search(said, caught.value.message)


def test_what_is_no_name_stays_unknown() -> None:
    name = "a" * 64
    with pytest.raises(UnreachableError, match="cannot be resolved") as caught:
        SshConnector(Profile("old", name), Nobody(), Job(), deadline=1).connect(Destination("old", name, 22, "dba"))
    assert caught.value.lasting
