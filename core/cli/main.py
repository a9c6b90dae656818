"""The command line: `pghaul NOUN …`. Each noun's module registers its subcommand; here they are run and ended.

Exit codes: 0 success, 1 success, but blockers were found or a verification failed, 2 wrong usage or input, 3 a server
could not be reached or refused, 4 cancelled, 70 a bug.
"""

import argparse
import errno
import io
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from functools import cache, partial

from core import this_workstation
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
    own_settings,
    parse,
    reports,
    servers,
    storage,
    survey,
)
from core.cli.bugs import record_bug
from core.cli.context import Context
from core.cli.signals import cancelling
from core.cli.terminal import Listener, failure, say, show
from core.errors import PghaulError
from core.jobs import Job
from core.settings import program_version
from core.system_errors import reason

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
    own_settings,
    completion,
)

DESCRIPTION = """\
Move a PostgreSQL cluster to a new server by copying its files, and estimate beforehand how long this takes.
Without arguments, pghaul opens its window."""

EPILOG = """\
A move from start to end:
  pghaul server add db1 192.0.2.11 --user dba      describe the old server
  pghaul server add db2 192.0.2.12 --user dba      describe the new server
  pghaul facts db1                                 read hardware, system and clusters of a server
  pghaul move add spring --old db1 --new db2 --cluster /srv/pg/data --target /srv/pg/data
  pghaul bench spring                              benchmark the storage of both servers
  pghaul compare spring                            compare the results
  pghaul diagnose spring                           explain poor results
  pghaul check spring                              find problems before the move
  pghaul probe spring                              measure the links between the servers
  pghaul estimate spring                           estimate duration and downtime
  pghaul plan spring --runbook move.md             write down every step and command
  pghaul execute spring --rehearsal                copy while the old cluster is running
  pghaul execute spring --dress-rehearsal          also start the copy on the new server and examine it
  pghaul execute spring                            carry out the move
  pghaul report spring -o spring.pdf               write a report"""


@cache
def parser() -> argparse.ArgumentParser:
    """The whole command line, made once a process."""
    made = argparse.ArgumentParser(
        prog="pghaul", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--version", action=_Version, nargs=0, help="show the version of pghaul and exit")
    made.set_defaults(whole=made)  # completion is made of it
    nouns = made.add_subparsers(dest="noun", metavar="COMMAND", required=True)
    for noun in NOUNS:
        noun.register(nouns)
    _describe(made)
    return made


def _describe(parser: argparse.ArgumentParser) -> None:
    """Let the help of each command begin with what the list of commands says about it, where it says no more itself."""
    for action in parser._actions:  # noqa: SLF001  argparse lists them nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  argparse has no public name for it
            for listed in action._choices_actions:  # noqa: SLF001  nowhere else
                below, summary = action.choices[listed.dest], listed.help or ""
                below.description = below.description or f"{summary[:1].upper()}{summary[1:]}."
                _describe(below)


class _Version(argparse.Action):
    """argparse's own would look the version up for every command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        show(f"pghaul {program_version()}")
        parser.exit()


def main(arguments: Sequence[str]) -> int:
    """Run one subcommand; the exit code. This is one of the program's two outer edges: everything raised ends here."""
    listener = Listener()
    hook, threading.excepthook = threading.excepthook, partial(_tell_bug_of_thread, arguments)
    try:
        _write_utf_8()
        options = _parsed(arguments)
        listener.verbose, listener.quiet = (getattr(options, name, False) for name in ("verbose", "quiet"))
        job = Job(listener)
        with cancelling(job):
            own_settings.apply(options)
            with Context(job, options) as context:
                code: int = options.run(context, options)
                sys.stdout.flush()
                return code
    except SystemExit as end:  # argparse has printed help, the version or what is wrong
        return end.code if isinstance(end.code, int) else 2
    except PghaulError as error:
        listener.close()
        say(failure(error))
        return error.exit_code
    except OSError as error:
        if (error.errno not in UNWRITABLE and not _is_unread(error)) or error.filename is not None:
            return _bug(listener, arguments)
        listener.close()
        return _unwritten(error)
    except KeyboardInterrupt:
        say("pghaul: cancelled")
        return 4
    except Exception:  # noqa: BLE001  the program's end: a bug is shown whole, to be copied
        return _bug(listener, arguments)
    finally:
        threading.excepthook = hook
        listener.close()


def _write_utf_8() -> None:
    """Let stdout take every character, as it does by itself from Python 3.15 on (PEP 686).

    On Windows, and with the locale of a language, a file or a pipe would take the characters of that language alone.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return parser().parse_args(arguments)
    except SystemExit:
        sys.stdout.flush()  # help that cannot be written is found out here, not when the interpreter ends
        raise


def _unwritten(error: OSError) -> int:
    """End without output; the exit code. A reader who has seen enough is no failure: `pghaul history list | head`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would fail again at the end
    if _is_unread(error):
        return 0
    say(f"pghaul: cannot write the output: {reason(error)}")
    return 2


def _is_unread(error: OSError) -> bool:
    """Return whether the reader of the output has gone. Windows calls it an invalid argument (Python's issue 35754)."""
    return isinstance(error, BrokenPipeError) or (this_workstation.on_windows() and error.errno == errno.EINVAL)


def _bug(listener: Listener, arguments: Sequence[str]) -> int:
    listener.close()
    _tell_bug(arguments, traceback.format_exc())
    return BUG


def _tell_bug_of_thread(arguments: Sequence[str], found: threading.ExceptHookArgs) -> None:
    """Tell of a bug that does not end the command: a survey, for example, goes on with the other servers."""
    if found.exc_value is not None:
        _tell_bug(arguments, "".join(traceback.format_exception(found.exc_value)))


def _tell_bug(arguments: Sequence[str], report: str) -> None:
    log = record_bug(arguments, report)
    also = f", which are also at the end of {log}" if log is not None else ""
    say(
        f"pghaul: this is a bug in pghaul. Please report it together with the following lines{also}:\n\n{report}",
        end="",
    )
