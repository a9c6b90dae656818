"""Opens SSH connections to a destination: socket, jump hosts, proxy command, handshake, host key and login."""

import errno
import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import paramiko
from paramiko.ssh_exception import IncompatiblePeer
from paramiko.transport import ChannelMap

from core.errors import InputError, ServerError, UnreachableError
from core.jobs import Job
from core.servers import authentication, host_keys
from core.servers.host_keys import further_entries
from core.servers.profiles import Asker, Profile
from core.servers.proxy_command import Proxy
from core.servers.ssh_config import Destination, hops, jump_host
from core.system_errors import reason

_JUMPS = 8
_POLL = 0.1
_SHA1_HINT = (
    "the server's OpenSSH is too old: enable a SHA-2 key exchange in its sshd_config (KexAlgorithms "
    "diffie-hellman-group-exchange-sha256, OpenSSH 4.4 and newer), or run a newer sshd beside it on another port"
)

# what goes wrong is told by our own errors; paramiko's log would print it a second time on stderr
logging.getLogger("paramiko").addHandler(logging.NullHandler())

Wire = socket.socket | paramiko.Channel


class _Channels(ChannelMap):
    """A transport's channels, of which each knows its transport as long as it is here.

    paramiko tells it a moment later. Where the connection is lost in that moment, the thread that closes all channels
    dies of one without a transport, and whoever opens that channel waits for an hour.
    """

    def __init__(self, transport: paramiko.Transport) -> None:
        super().__init__()
        self._transport = transport

    def put(self, chanid: int, chan: paramiko.Channel) -> None:
        chan.transport = self._transport
        super().put(chanid, chan)


class HostTransport(paramiko.Transport):
    """paramiko's transport, asking for host key algorithms in our order, certificates among them.

    Attributes:
        allowed: by `ciphers`, `macs` and `kexalgorithms` what the ssh configuration allows; where missing, all.
    """

    wanted: tuple[str, ...] = ()
    allowed: Mapping[str, Sequence[str]] = MappingProxyType({})

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire)
        self._channels = _Channels(self)

    @property
    def preferred_keys(self) -> tuple[str, ...]:
        return self.wanted

    @property
    def preferred_ciphers(self) -> tuple[str, ...]:
        return self._allowed("ciphers", super().preferred_ciphers)

    @property
    def preferred_macs(self) -> tuple[str, ...]:
        return self._allowed("macs", super().preferred_macs)

    @property
    def preferred_kex(self) -> tuple[str, ...]:
        return self._allowed("kexalgorithms", super().preferred_kex)

    def _allowed(self, keyword: str, known: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in known if name in self.allowed.get(keyword, known))

    def check_allowed(self) -> None:
        """Raise InputError where the ssh configuration allows nothing that is known."""
        for keyword, kept in (
            ("ciphers", self.preferred_ciphers),
            ("macs", self.preferred_macs),
            ("kexalgorithms", self.preferred_kex),
        ):
            if not kept:
                raise InputError(
                    f"{keyword} in the ssh configuration allows only {', '.join(self.allowed[keyword])}, and pghaul "
                    "supports none of them",
                    "allow more for this host",
                )


class SshConnector:
    """One attempt to connect to a server, and everything that it has opened.

    Attributes:
        asker: answers questions about host keys and secrets.
        deadline: seconds for each wait for the network.
        opened: the transports of this attempt, jump hosts first.
        proxies: the running proxy commands.
    """

    def __init__(self, profile: Profile, asker: Asker, job: Job, deadline: float) -> None:
        self.server = profile.name
        self.profile = profile
        self.asker = asker
        self.job = job
        self.deadline = deadline
        self.opened: list[paramiko.Transport] = []
        self.proxies: list[Proxy] = []

    def connect(self, destination: Destination, depth: int = 0) -> paramiko.Transport:
        """Return a transport to the destination that is logged in. `depth` counts the jump hosts up to here."""
        transport = self._transport(self._socket(destination, depth), destination)
        self.opened.append(transport)
        self._shake_hands(transport, destination)
        authentication.authenticate(transport, destination, self.server, self.asker, self.job)
        return transport

    def close(self) -> None:
        """Close everything that was opened; the transport to the farthest host comes first."""
        for transport in reversed(self.opened):
            # of a handshake that failed a timer would remain, and hold up the program's end
            transport.packetizer.complete_handshake()
            transport.close()
        for proxy in self.proxies:
            proxy.close()

    def _socket(self, to: Destination, depth: int) -> Wire:
        if depth > _JUMPS:
            raise InputError(f"{self.server}: more than {_JUMPS} jump hosts to {to.alias}")
        chain = hops(to.jumps) if to.jumps else ()
        if chain:
            return self._through(chain, to, depth)
        if to.proxy_command:
            proxy = Proxy(to.proxy_command, self.server)
            self.proxies.append(proxy)
            return proxy.wire
        return self._direct(to)

    def _through(
        self, chain: tuple[tuple[str, str | None, int | None], ...], to: Destination, depth: int
    ) -> paramiko.Channel:
        """Open a channel to `to` through the last host of `chain`; each host is reached through the one before it."""
        before, (host, user, port) = chain[:-1], chain[-1]
        jump = jump_host(self.profile, host, user, port)
        if before:
            jump = replace(jump, jumps=",".join(_format_address(*hop) for hop in before), proxy_command=None)
        transport = self.connect(jump, depth + 1)
        try:
            return transport.open_channel("direct-tcpip", (to.host, to.port), ("127.0.0.1", 0), timeout=self.deadline)
        except paramiko.ChannelException as error:
            raise UnreachableError(
                f"{self.server}: the jump host {jump.shown} cannot reach {to.host} port {to.port}: {error.text}",
                "check address and port as seen from the jump host, and AllowTcpForwarding in its sshd_config",
            ) from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise UnreachableError(f"{self.server}: the jump host {jump.shown} did not answer in time") from error

    def _direct(self, to: Destination) -> socket.socket:
        try:
            found = socket.getaddrinfo(to.host, to.port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            raise UnreachableError(
                f"{self.server}: the host name {to.host} cannot be resolved",
                "check the spelling, or give the IP address",
                # A name server that is reached without the network of the company denies a name that exists there.
                lasting=isinstance(error, UnicodeError),
            ) from error
        problem: OSError = TimeoutError()
        for family, kind, protocol, _, address in found:
            try:
                return self._connected(socket.socket(family, kind, protocol), address)
            except OSError as error:
                problem = error
        raise self._unreachable(to, problem) from problem

    def _connected(self, wire: socket.socket, address: object) -> socket.socket:
        """Connect without blocking, so that a cancelled job does not wait for a dead address."""
        try:
            wire.setblocking(False)
            self._wait_for(wire, wire.connect_ex(address))  # type: ignore[arg-type]  # getaddrinfo's address fits its own family
            wire.setblocking(True)
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each command waits 40 ms for an ACK
        except BaseException:  # a cancel too: a socket that nobody has is closed by nobody
            wire.close()
            raise
        return wire

    def _wait_for(self, wire: socket.socket, begun: int) -> None:
        """Wait until it is connected. `begun`: the code with which the system has begun to connect it."""
        if begun not in {0, errno.EINPROGRESS, errno.EWOULDBLOCK}:  # it has not, and the socket does not tell later
            raise OSError(begun, os.strerror(begun))
        until = time.monotonic() + self.deadline
        with selectors.DefaultSelector() as selector:
            selector.register(wire, selectors.EVENT_WRITE)
            while not selector.select(_POLL):
                self.job.check()
                if time.monotonic() > until:
                    raise TimeoutError
        if code := wire.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(code, os.strerror(code))

    def _unreachable(self, to: Destination, problem: OSError) -> UnreachableError:
        where = f"{to.host} port {to.port}"
        if isinstance(problem, ConnectionRefusedError):
            return UnreachableError(
                f"{self.server}: {where} refuses the connection", "check that sshd runs there, and its port"
            )
        if isinstance(problem, TimeoutError):
            return UnreachableError(
                f"{self.server}: {where} did not answer within {self.deadline:.0f} s",
                "check the address, the network and the firewalls on the way",
            )
        return UnreachableError(
            f"{self.server}: {where} cannot be reached: {reason(problem)}",
            "check the address and the network",
        )

    def _transport(self, wire: Wire, to: Destination) -> paramiko.Transport:
        transport = HostTransport(wire)
        transport.daemon = True
        transport.banner_timeout = transport.auth_timeout = transport.handshake_timeout = self.deadline
        transport.allowed = to.algorithms
        try:
            transport.check_allowed()
            known = (*host_keys.read_known_hosts(to.known_hosts), *further_entries(to))
            transport.wanted = host_keys.wanted_types(known, to.known_as, to.algorithms.get("hostkeyalgorithms", ()))
        except BaseException:  # a cancel too: a socket that nobody has is closed by nobody
            wire.close()
            raise
        return transport

    def _shake_hands(self, transport: paramiko.Transport, to: Destination) -> None:
        done = threading.Event()
        until = time.monotonic() + self.deadline
        transport.start_client(event=done)
        while not done.wait(_POLL):
            self.job.check()
            if time.monotonic() > until:
                raise UnreachableError(
                    f"{self.server}: {to.shown} answers, but no SSH session was established within "
                    f"{self.deadline:.0f} s",
                    "check that an SSH server listens on that port, and that the host is not overloaded",
                )
        if not transport.is_active():
            raise self._no_handshake(transport.get_exception(), to)
        key = transport.get_remote_server_key()
        entries = (*host_keys.read_known_hosts(to.known_hosts), *further_entries(to, key))
        host_keys.verify(key, entries, to, self.server, self.asker)
        self.job.check()

    def _no_handshake(self, problem: Exception | None, to: Destination) -> ServerError:
        if isinstance(problem, IncompatiblePeer):
            return UnreachableError(
                f"{self.server}: {to.shown} supports only outdated SSH algorithms: {problem}",
                _SHA1_HINT,
                lasting=True,
            )
        why = reason(problem) if isinstance(problem, OSError) else str(problem or "")
        if not why or "banner" in why:
            return UnreachableError(
                f"{self.server}: {to.host} port {to.port} is not an SSH server, or it closed the connection",
                "check the port; a busy sshd also drops connections (MaxStartups)",
            )
        return UnreachableError(f"{self.server}: no SSH session with {to.shown}: {why}", "run `ssh -v` for details")


def _format_address(host: str, user: str | None, port: int | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return (f"{user}@" if user else "") + name + (f":{port}" if port else "")
