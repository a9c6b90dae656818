"""What every subcommand gets: the job, and the history and the session over it, opened when first needed."""

import argparse
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Self

from core import documents
from core.cli.terminal import TerminalAsker
from core.errors import InputError
from core.files import REPLACE
from core.jobs import Job, Note
from core.servers.shell import quoted
from core.text import json_printable

if TYPE_CHECKING:
    from core.api.session import Session
    from core.history.store import Store

LARGEST_LIMIT = 1_000_000


class Context:
    """What one subcommand needs. Parts that it does not use are not loaded: `pghaul parse` opens no history."""

    def __init__(self, job: Job, options: argparse.Namespace) -> None:
        self.job = job
        self._trusted = frozenset(getattr(options, "host_key", None) or ())
        self._opened = ExitStack()

    @cached_property
    def store(self) -> "Store":
        from core.history.store import Store

        store = self._opened.enter_context(Store.open())
        for remark in store.remarks:
            self.job.report(Note(remark, "warning"))
        return store

    @cached_property
    def session(self) -> "Session":
        from core.api.session import Session

        return self._opened.enter_context(Session(self.store, TerminalAsker(self._trusted)))

    def refuse_server(self, word: str) -> None:
        """Raise InputError if a word in place of a move or a volume is the name of a server, and of no move."""
        if any(each.name == word for each in self.store.moves()):
            return
        if any(each.name == word for each in self.store.profiles()):
            volume = quoted(f"{word}:/PATH")
            raise InputError(
                f"{word!r} is a server, neither a move nor a volume",
                f"name a volume of the server as {volume}, or a move",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


class Choices(Container[str]):
    """What argparse lets through, asked for when a word has to be held against it: to know it may take long to load."""

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self._names = names

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())


def parse_limit(text: str) -> int:
    """Return how many entries are shown at most. Raises ArgumentTypeError if it is no such number."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if not 0 < number <= LARGEST_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {LARGEST_LIMIT}")
    return number


def add_common(parser: argparse.ArgumentParser, *, server: bool = False) -> None:
    """The options that every subcommand has; with `server`, those of subcommands that connect."""
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document on standard output")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-v", "--verbose", action="store_true", help="show every command in full")
    group.add_argument("-q", "--quiet", action="store_true", help="show only warnings on standard error")
    if server:
        parser.add_argument(
            "--host-key",
            action="append",
            metavar="SHA256:…",
            help="trust an unknown host key with this fingerprint without asking; may be repeated",
        )


def add_replace(parser: argparse.ArgumentParser) -> None:
    """The option of subcommands that write a file of a given name."""
    parser.add_argument(REPLACE, action="store_true", help="replace an existing file or folder of that name")


def add_former_name(parser: argparse.ArgumentParser, former: str, option: argparse.Action) -> None:
    """Accept an option by its former name too, for one release; help, manual pages and completion do not show it."""
    parser.add_argument(
        former, dest=option.dest, action=type(option), default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )


def print_document(value: object) -> None:
    """One JSON document on stdout."""
    print(json_printable(documents.dump(value, indent=2)))
