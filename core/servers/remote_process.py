"""One command on its own SSH channel: how it is started, fed, drained and told apart from a login shell's chatter.

What runs on the server. sshd starts the login user's shell with one line: `exec sh -c LEADER sh [sudo …] sh -c LOADER
sh … COMMAND`. LEADER makes sure that all this leads a process group of its own (under OpenSSH it does; else `setsid`).
LOADER prints a random marker, so that everything before it (a .bashrc that talks) is known to be chatter, and reads
BODY from the channel's input, which keeps `ps` and sudo's log short: they show the command itself. BODY says the
group's id and when its leader began, then runs the command with LC_ALL=C and the system folders first on PATH, which
nobody else can change. Unless the caller gives the command an input, the channel's own input is a lifeline: when it
ends, because the connection was lost or the workstation died, or when the deadline has passed, the group is ended, so
that nothing stays behind.

A command that holds a secret, several lines or much text travels on the channel's input, never on a command line.
sudo's password is sent only when sudo's prompt, a random word, arrives, and the rest only after that.
"""

import re
import selectors
import threading
import time
from collections.abc import Callable

import paramiko

from core.errors import InputError, ServerError
from core.redaction import MASK
from core.servers.shell import Shell, call, command

# The output of a command up to a limit, so that a command that writes without end does not fill the memory.

LIMIT = 64 << 20
"""Bytes kept of one output of one command: 64 MiB."""


class BoundedOutput:
    """The first `limit` bytes of an output, and the number of bytes that were dropped after them."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.data = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += data[:room]
        self.dropped += max(0, len(data) - room)

    def remove(self, part: bytes) -> None:
        """Take out one occurrence of `part`."""
        start = self.data.find(part)
        if start >= 0:
            del self.data[start : start + len(part)]

    def text(self) -> str:
        """Return the output as text. Bytes that are not UTF-8 become U+FFFD."""
        text = self.data.decode("utf-8", errors="replace")
        return f"{text}\n[{self.dropped} more bytes were not kept]" if self.dropped else text


GRACE = 5
"""Seconds between TERM and KILL."""

# kill's POSIX form: dash's own kill does not take `kill -TERM -- -PGID`
_LEADER = 'read -r a b c d group rest </proc/$$/stat; [ "$group" = $$ ] && exec "$@"; exec setsid "$@"'
_LOADER = 'echo "$1"; eval "$(head -c "$2")"'
_BODY = rb"""
mark=$1 length=$3 lifeline=$4 grace=$5 text=$6
read -r a b c d group rest </proc/$$/stat
read -r since 2>/dev/null </proc/$group/stat || since=
if [ "$length" != 0 ]; then
  text=$(head -c "$length")
  case $text in *"#$mark") ;; *) exit 1 ;; esac
fi
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH LC_ALL=C
export PATH LC_ALL
set -- ${since##*) }
printf '%s %s %s\n' "$mark" "$group" "${20:-0}" || exit
set --
if [ "$lifeline" = 0 ]; then eval "$text"; exit; fi
exec 3<&0 </dev/null
(
  timeout "$lifeline" cat <&3 || [ $? = 124 ] || cat <&3
  trap '' TERM
  kill -s TERM -- "-$group"
  sleep "$grace"
  kill -s KILL -- "-$group"
) >/dev/null 2>&1 &
watcher=$!
( eval "$text" ) 3<&-
status=$?
kill -s TERM "$watcher" 2>/dev/null
exit "$status"
"""
_ARGUMENT_LIMIT = 32_000  # a single argument may have 128 KiB on Linux; sudo's log and older sshds take less
_CHATTER_LIMIT = 1 << 16  # it is searched whole whenever more of it comes, be that a byte
_CHUNK = 1 << 16
_TURN = 0.1


def close_channel(channel: paramiko.Channel) -> None:
    """Close a channel whose `fileno()` was used, while the server may still send something.

    `Channel.fileno()` is a pipe. paramiko's own thread writes a byte into it when something arrives, and `close()` may
    close it at the same moment. The thread would then write to a closed descriptor, which ends the connection, or into
    a file that has got the same number since. So the buffers of the channel are separated from the pipe before.
    """
    for buffer in (channel.in_buffer, channel.in_stderr_buffer):
        buffer.set_event(threading.Event())  # waits for a write in progress
    channel.close()


class Process:
    """A remote command under way; used by one thread.

    Attributes:
        group: the remote process group; None until the command proper has begun.
        since: when its leader began, in the server's ticks: numbers are used again.
        refused_password: sudo asked a second time, so the password was wrong.
    """

    def __init__(
        self,
        channel: paramiko.Channel,
        line: str,
        mark: str,
        *,
        first: bytes,
        stdin: bytes = b"",
        end_input: bool,
        prompt: str = "",
        password: str | None = None,
    ) -> None:
        self.channel = channel
        self.group: int | None = None
        self.since = ""
        self.refused_password = False
        self.stderr = BoundedOutput()
        self._deliver: Callable[[bytes], None] | None = None
        self._early = bytearray()
        self._loading = mark.encode() + b"\n"
        self._mark = re.compile(mark.encode() + rb" ([0-9]{1,10}) ([0-9]{1,20})\n")
        self._chatter = b""
        self._outgoing = memoryview(first + stdin)
        self._spare = len(stdin)  # what it begins without
        self._end_input = end_input
        self._prompt = prompt.encode()
        self._password = password
        self._prompts = 0
        channel.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel.fileno(), selectors.EVENT_READ)
        channel.exec_command(line)

    @property
    def exit_status(self) -> int | None:
        """The exit status; 128 + n for signal n, as sh has it; None while the command runs or if it was cut off."""
        if not self.channel.exit_status_ready():
            return None
        return self.channel.recv_exit_status() if self.channel.exit_status >= 0 else None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come: both outputs have ended, or the channel is closed."""
        if self.channel.recv_ready() or self.channel.recv_stderr_ready():
            return False
        return bool(self.channel.closed or (self.channel.eof_received and self.channel.exit_status_ready()))

    @property
    def chatter(self) -> str:
        """What the login shell wrote before the command began, one line of it."""
        return self._chatter.decode(errors="replace").strip().partition("\n")[0]

    def deliver(self, to: Callable[[bytes], None]) -> None:
        """Hand the command's output to `to` from now on, what has come already included."""
        self._deliver = to
        if self._early:
            to(bytes(self._early))
            self._early.clear()

    def turn(self) -> bool:
        """Wait a moment, then move what there is to move in both directions; whether anything came."""
        self._send()
        # while there is more to send than the window takes, look again soon: its opening wakes no selector
        self._wait(_TURN / 10 if self._outgoing else _TURN)
        return self._receive()

    def beat(self) -> None:
        """Send a line to the command, whose input is open, unless more is still to be sent."""
        self._outgoing = self._outgoing or memoryview(b"\n")

    def wait_unfed(self, until: float) -> bool:
        """Send nothing more; whether the command proper has begun, waiting for it where it needs nothing more to begin.

        Without all of its text, which it reads from its input, it ends by itself when the channel is closed.
        """
        begins = len(self._outgoing) <= self._spare
        self._outgoing, self._end_input = memoryview(b""), False
        while begins and self.group is None and not self.ended and time.monotonic() < until:
            self._wait(_TURN)
            self._receive()
        return self.group is not None

    def take(self, into: Callable[[bytes], None]) -> None:
        """Hand over what has arrived, without waiting."""
        self.deliver(into)
        self._receive()

    def close(self) -> None:
        self._selector.close()
        close_channel(self.channel)

    def _wait(self, seconds: float) -> None:
        """Wait until something comes, for so long at most."""
        if self.channel.eof_received and not (self.channel.recv_ready() or self.channel.recv_stderr_ready()):
            # only the exit status is still to come, and a selector never waits for a channel whose output has ended
            self.channel.status_event.wait(seconds)
        else:
            self._selector.select(seconds)

    def _send(self) -> None:
        if self._prompt and self._loading not in self._chatter and self.group is None:
            return  # what is sent now would be read by sudo
        try:
            while self._outgoing and self.channel.send_ready():
                self._outgoing = self._outgoing[self.channel.send(bytes(self._outgoing[:_CHUNK])) :]
            if not self._outgoing and self._end_input:
                self._end_input = False
                self.channel.shutdown_write()
        except OSError:
            # the command has ended without reading all of its input, or the connection is gone: `ended` tells
            self._outgoing = memoryview(b"")

    def _receive(self) -> bool:
        came = False
        while self.channel.recv_ready():
            self._on_stdout(self.channel.recv(_CHUNK))
            came = True
            if self.channel.recv_stderr_ready():
                break
        while self.channel.recv_stderr_ready():
            self._on_stderr(self.channel.recv_stderr(_CHUNK))
            came = True
            if self.channel.recv_ready():
                break
        return came

    def _on_stdout(self, data: bytes) -> None:
        if self.group is not None:
            self._received(data)
            return
        self._chatter += data
        found = self._mark.search(self._chatter)
        if found is None:
            if len(self._chatter) > _CHATTER_LIMIT:
                raise self._endless()
            return
        self.group, self.since = int(found[1]), found[2].decode()
        rest, self._chatter = self._chatter[found.end() :], b""
        if rest:
            self._received(rest)

    def _endless(self) -> ServerError:
        return ServerError(
            "the login shell writes output without end before it runs a command", "check the .bashrc of the login user"
        )

    def _received(self, data: bytes) -> None:
        if self._deliver is None:
            self._early += data
        else:
            self._deliver(data)

    def _on_stderr(self, data: bytes) -> None:
        self.stderr.add(data)
        if self.group is None and len(self.stderr.data) > _CHATTER_LIMIT:
            raise self._endless()
        if self._prompt and self.group is None and self._prompt in self.stderr.data:
            self.stderr.remove(self._prompt)
            self._prompts += 1
            self._answer_prompt()

    @property
    def took_password(self) -> bool:
        """Whether sudo asked for the password, and did not refuse it. It may have asked for none."""
        return self._prompts > 0 and not self.refused_password

    def _answer_prompt(self) -> None:
        if self._prompts == 1 and self._password is not None:
            self.channel.settimeout(_TURN * 50)
            self.channel.sendall(self._password.encode() + b"\n")
            self.channel.setblocking(False)
        else:
            self.refused_password = True
            self.channel.shutdown_write()  # sudo gives up instead of reading on


def line(words: tuple[str, ...], shell: Shell, mark: str, *, lifeline: float, grace: int = GRACE) -> tuple[str, bytes]:
    """The line for the login shell, and what must be sent first on the channel's input.

    Args:
        words: what stands ahead to become another user.
        lifeline: seconds after which the server itself ends the group; 0: the channel's input is the command's.
    """
    if MASK in shell.text:
        raise InputError("a command whose secret was masked cannot be run", "it is for people to read")
    text = f"{shell.functions}\n{shell.text}" if shell.functions else shell.text
    travels = text != shell.shown or "\n" in text or len(text) > _ARGUMENT_LIMIT
    # the mark at its end proves that it came whole: half of a command must never run
    data = f"{text}\n#{mark}".encode(errors="surrogateescape") if travels else b""
    loader = ("sh", "-c", _LOADER, "sh", mark, len(_BODY), len(data), int(lifeline), grace)
    text = "" if travels else text
    return command("exec", "sh", "-c", _LEADER, "sh", *words, *loader, text).text, _BODY + data


def kill_script(group: int, since: str, *, grace: int = GRACE) -> Shell:
    """End a process group: TERM, then KILL for what is left after the grace period. Succeeds when nothing is left.

    `since`: when its leader began; one that began at another time is another's, and is left alone.
    """
    return call("end_known_group", group, since, grace * 10)


def wait_for_start(process: Process, until: float, check: Callable[[], None]) -> bool:
    """Turn until the command proper has begun; False when it ended, was refused, or `until` passed first."""
    while process.group is None:
        if process.ended or process.refused_password or time.monotonic() > until:
            return False
        process.turn()
        check()
    return True
