"""The command line: `pghaul NOUN …`. Each noun's module registers its subcommand; here they are run and ended.

Exit codes: 0 done, 1 done with blockers or a failed verification, 2 wrong usage or input, 3 a server could not be
reached or refused, 4 cancelled, 70 a bug.
"""

import argparse
import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from types import FrameType

from core.cli import (
    benchmarks,
    comparison,
    completion,
    diagnosis,
    execution,
    facts,
    functions,
    history,
    imports,
    migration,
    moves,
    parse,
    reports,
    servers,
    storage,
    survey,
)
from core.cli.context import Context
from core.cli.terminal import Listener, failure, say, show
from core.errors import PghaulError
from core.jobs import Job
from core.settings import program_version

BUG = 70
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE}
"""What a write to stdout fails with where the disk, the device or the reader behind it takes no more."""

NOUNS = (
    servers,
    moves,
    facts,
    survey,
    benchmarks,
    comparison,
    diagnosis,
    storage,
    migration,
    execution,
    functions,
    history,
    reports,
    parse,
    imports,
    completion,
)

DESCRIPTION = """\
Move a PostgreSQL cluster to its new server as files, and know beforehand how long it takes.
Without arguments the window opens."""

EPILOG = """\
The way through:
  pghaul server add db1 192.0.2.11 --user dba      describe both servers
  pghaul server add db2 192.0.2.12 --user dba
  pghaul facts db1                                 see what they are
  pghaul move add spring --old db1 --new db2 --cluster /srv/pg/data --target /srv/pg/data
  pghaul bench spring                              measure both storages
  pghaul compare spring                            side by side
  pghaul diagnose spring                           what explains poor results
  pghaul check spring                              what would break
  pghaul probe spring                              measure the way between them
  pghaul estimate spring                           how long, and how sure
  pghaul plan spring --runbook move.md             every command
  pghaul execute spring --rehearsal                copy while old runs, stop and start nothing
  pghaul execute spring --dress-rehearsal          and start the copy, for a look at its databases
  pghaul execute spring                            move it
  pghaul report spring -o spring.pdf               for whoever decides"""


@cache
def parser() -> argparse.ArgumentParser:
    """The whole command line, made once a process."""
    made = argparse.ArgumentParser(
        prog="pghaul", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    made.set_defaults(whole=made)  # completion is made of it
    nouns = made.add_subparsers(dest="noun", metavar="NOUN", required=True)
    for noun in NOUNS:
        noun.register(nouns)
    return made


class _Version(argparse.Action):
    """argparse's own would look the version up for every command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        show(f"pghaul {program_version()}")
        parser.exit()


def main(arguments: Sequence[str]) -> int:
    """Run one subcommand; the exit code. This is one of the program's two outer edges: everything raised ends here."""
    try:
        options = _parsed(arguments)
    except SystemExit as end:  # argparse has printed help, the version or what is wrong
        return end.code if isinstance(end.code, int) else 2
    except OSError as error:  # it could not print them
        return _unwritten(error)
    listener = Listener(verbose=getattr(options, "verbose", False), quiet=getattr(options, "quiet", False))
    job = Job(listener)
    restore = _cancel_on_signals(job)
    try:
        with Context(job, options) as context:
            code: int = options.run(context, options)
            sys.stdout.flush()
            return code
    except PghaulError as error:
        listener.close()
        say(failure(error))
        return error.exit_code
    except OSError as error:
        if error.errno not in UNWRITABLE or error.filename is not None:
            return _bug(listener)
        listener.close()
        return _unwritten(error)
    except KeyboardInterrupt:
        say("pghaul: cancelled")
        return 4
    except Exception:  # noqa: BLE001  the program's end: a bug is shown whole, to be copied
        return _bug(listener)
    finally:
        listener.close()
        restore()


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return parser().parse_args(arguments)
    except SystemExit:
        sys.stdout.flush()  # help that cannot be written is found out here, not when the interpreter ends
        raise


def _unwritten(error: OSError) -> int:
    """End without output; the exit code. A reader who has seen enough is no failure: `pghaul history list | head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would fail again at the end
    if isinstance(error, BrokenPipeError):
        return 0
    say(f"pghaul: cannot write the output: {(error.strerror or str(error)).lower()}")
    return 2


def _bug(listener: Listener) -> int:
    listener.close()
    say(f"pghaul: this is a bug in pghaul, please report it with these lines:\n\n{traceback.format_exc()}", end="")
    return BUG


def _cancel_on_signals(job: Job) -> Callable[[], None]:
    """Ctrl-C, TERM and a closed terminal cancel the job; a second one interrupts at once."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        if job.cancelled:
            raise KeyboardInterrupt
        say("\npghaul: cancelling, and cleaning up on the servers (once more to stop at once)")
        job.cancel()

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is unknown to Windows
    numbers = [signal.Signals[name] for name in names if name in signal.Signals.__members__]
    before = {number: signal.signal(number, handle) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return restore
