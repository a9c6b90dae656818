"""The terminal: questions, progress and tables. Results go to stdout, what the program is doing to stderr."""

import contextlib
import getpass
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core import units
from core.cli.sizes import size
from core.errors import Cancelled, InputError, PghaulError
from core.jobs import CommandEnded, CommandStarted, Event, Note, Progress
from core.text import printable, printable_lines

_LOGGED_SECONDS = 60.0
"""Between two lines about a long work in a log, where no line can be overwritten."""

_TELLING_SECONDS, _TELLING = 3.0, 0.02
"""How long, and how much of the whole, must be done before the pace of it tells when it ends."""


@dataclass
class TerminalAsker:
    """Asks on the terminal. Without one there is no secret, and an unknown key is refused with a hint on the option."""

    trusted: frozenset[str] = frozenset()

    def accept_host_key(self, server: str, address: str, key_type: str, fingerprint: str) -> bool:
        """Ask whether the fingerprint is the server's; yes without asking for one that the user named beforehand.

        Raises:
            HostKeyError: there is no terminal to ask on.
        """
        if fingerprint in self.trusted or not sys.stdin.isatty():
            from core.servers.host_keys import Unattended

            return Unattended(self.trusted).accept_host_key(server, address, key_type, fingerprint)
        mismatch = ", and it does not match any --host-key" if self.trusted else ""
        say(
            f"The host key of {server} ({address}) is not known yet{mismatch}. Its {key_type} fingerprint is\n  "
            f"{fingerprint}"
        )
        return (
            ask("Compare it with the fingerprint on the server itself. Type yes to trust this key: ").strip().lower()
            == "yes"
        )

    def secret(self, server: str, prompt: str, *, kind: str) -> str | None:  # noqa: ARG002  the prompt says the kind
        """Ask without echo."""
        if not sys.stdin.isatty():
            return None
        try:
            return getpass.getpass(printable(f"{server}: {prompt.rstrip(': ')}: "), stream=sys.stderr)
        except (EOFError, KeyboardInterrupt):
            return None


def ask(question: str) -> str:
    """Return the typed line with its end; an empty text at the end of the input."""
    say(question, end="")
    with _interruptible():
        try:
            return sys.stdin.readline()
        except KeyboardInterrupt:
            raise Cancelled from None


def confirm_removal(what: str, text: str) -> None:
    """Ask whether to remove something that cannot be restored.

    Args:
        what: what is removed, as the object of a sentence.
        text: the sentences that say what goes with it.

    Raises:
        InputError: there is no terminal to ask on.
        Cancelled: the answer is not yes.
    """
    if not sys.stdin.isatty():
        raise InputError(
            f"pghaul must ask before it removes {what}, but there is no terminal. {text}",
            "add --yes to remove without asking",
        )
    if ask(f"{text}\nThis cannot be undone. Type yes to remove {what}: ").strip().lower() != "yes":
        raise Cancelled


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C interrupts what is read here, which else goes on reading; signals belong to the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def show(text: str) -> None:
    """Print lines for people to stdout; control characters in them are made harmless."""
    print(printable_lines(text))


def say(text: str, *, end: str = "\n") -> None:
    """Print a message to stderr; if stderr is closed, the work on the servers goes on."""
    _to_stderr(printable_lines(text), end=end)


def _to_stderr(text: str, *, end: str) -> None:
    with contextlib.suppress(OSError):
        print(text, end=end, file=sys.stderr, flush=True)


@dataclass
class Listener:
    """Shows a job's events on stderr: commands as they start, progress on one line where stderr is a terminal; in a log
    a line a minute, of long works alone.

    Attributes:
        verbose: show commands whole, not only their title or first line.
        quiet: show warnings alone.
    """

    verbose: bool = False
    quiet: bool = False
    _shown: str = ""
    _last: float = field(default=0.0)
    _stage: tuple[str, float, float] = ("", 0.0, 0.0)
    """The id of what the progress is about, when it began, and how much was done then."""

    def __call__(self, event: Event) -> None:
        match event:
            case Progress():
                self._progress(event)
            case Note(level="warning"):
                self._line(f"warning: {event.text}")
            case Note() if not self.quiet:
                self._line(event.text)
            case CommandStarted() if not self.quiet:
                self._command(event)
            case CommandEnded(exit_status=status) if self.verbose and status != 0:
                self._line(f"  {event.server}: exit status {status} after {units.duration(event.seconds)}")
            case _:
                pass

    def close(self) -> None:
        """Leave the progress line behind."""
        if self._shown:
            _to_stderr("\r" + " " * len(self._shown) + "\r", end="")
            self._shown = ""

    def _command(self, event: CommandStarted) -> None:
        who = f"{event.user}@{event.server}"
        if event.title:
            self._line(f"{who}: {event.title}")
        if self.verbose or not event.title:
            self._line(f"{who}$ {self._shortened(event.command)}")

    def _shortened(self, command: str) -> str:
        if self.verbose:
            return command
        first, *rest = command.strip().splitlines() or [""]
        width = max(40, shutil.get_terminal_size((120, 24)).columns - 24)
        return f"{first[:width]}…" if rest or len(first) > width else first

    def _line(self, text: str) -> None:
        self.close()
        say(text)

    def _progress(self, event: Progress) -> None:
        now, terminal = time.monotonic(), sys.stderr.isatty()
        pause = 0.1 if terminal else _LOGGED_SECONDS
        if self.quiet or now - self._last < pause or not (terminal or event.whole):
            return
        self._last = now
        if event.id != self._stage[0] or event.done < self._stage[2]:
            self._stage = (event.id, now, event.done)
        description = self._describe_progress(event, now - self._stage[1])
        if not terminal:
            self._line(description)
            return
        text = printable(description)[: shutil.get_terminal_size((120, 24)).columns - 1]
        _to_stderr("\r" + text.ljust(len(self._shown)), end="")
        self._shown = text

    def _describe_progress(self, event: Progress, seconds: float) -> str:
        """Return how far the work is, how fast, and how long it may still take; `seconds` is its duration so far."""
        if event.whole and event.unit == "steps":
            return f"{event.whole} | {event.heading}"
        parts = [progress_text(event)]
        gained = event.done - self._stage[2]
        if event.unit == "bytes" and gained > 0 and seconds >= _TELLING_SECONDS:
            parts.append(units.rate(gained / seconds))
        if event.whole:  # it is long: where the line is cut off, it is the title that is missing
            return f"{event.whole} | {', '.join(parts)} | {event.heading}"
        left = remaining(event, seconds, self._stage[2])
        parts += [f"{units.duration(left)} left"] if left is not None else []
        return f"{event.heading}: {', '.join(parts)}"


def progress_text(event: Progress) -> str:
    """Return the progress for display: `1.2 GiB of 3.0 GiB`, `3 of 8`, `12 s of 60 s`."""
    shown = {"bytes": size, "seconds": units.duration}.get(event.unit, units.count)
    return shown(event.done) if event.total is None else f"{shown(event.done)} of {shown(event.total)}"


def remaining(event: Progress, seconds: float, first: float) -> float | None:
    """Seconds that may still pass, by the pace of the `seconds` since `first` was done; None: it tells too little."""
    gained = event.done - first
    if event.total is None or event.unit == "seconds" or seconds < _TELLING_SECONDS or gained < event.total * _TELLING:
        return None
    return max(0.0, event.total - event.done) * seconds / gained if gained > 0 else None


def failure(error: PghaulError) -> str:
    """Return an error for the terminal: the sentence, then the hint, then what follows from it."""
    lines = ["pghaul: cancelled"] if isinstance(error, Cancelled) else [f"pghaul: {printable(error.message)}"]
    if error.hint and not isinstance(error, Cancelled):
        lines.append(f"  hint: {printable(error.hint)}")
    return "\n".join([*lines, *(f"  {printable(note)}" for note in getattr(error, "__notes__", ()))])


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Return a table as text; `right` contains the columns of numbers. No cell can control the terminal."""
    cells = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
