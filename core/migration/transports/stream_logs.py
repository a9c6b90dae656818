"""The progress of several rsyncs in one log: each writes to a file of its own, whose end is shown every second.

`tail -v` names the file ahead of its end (`==> /tmp/…/stream-data-2 <==`), so whoever follows the log tells the
streams apart; a line without a name (`==> <==`) ends that. What the rsyncs said besides comes when all have ended.
"""

from collections.abc import Sequence
from typing import LiteralString

from core.migration.transports.copy_channel import CopyChannel
from core.servers.shell import Shell, command, redirect, script

_WATCHED: LiteralString = (
    # the trap takes the pause along; one that was only just begun may escape it, and must not hold the log open
    "( trap 'kill $!; exit' TERM; while :; do sleep 1 >/dev/null & wait $!; "
    "tail -v -c 99 -- @log@-*; echo; echo '==> <=='; done ) 2>/dev/null & watch=$!; "
    'sh -c @streams@; status=$?; kill "$watch"; wait "$watch"; '
    # it may have been ended behind a name
    "echo; echo '==> <=='; "
    # a line of progress ends in a return
    "sed '/\\r/d' @log@-* && rm -f -- @log@-* && exit \"$status\""
)


def own_logs(channel: CopyChannel, label: str, copies: Sequence[Shell]) -> list[Shell]:
    """Each stream with its standard output in a file of its own."""
    return [redirect(copy, stdout=f"{_log(channel, label)}-{number}") for number, copy in enumerate(copies, 1)]


def watched(channel: CopyChannel, label: str, streams: Shell) -> Shell:
    """Streams with logs of their own, run so that one log tells how far they are; ends with their exit status."""
    return command("sh", "-c", script(_WATCHED, log=_log(channel, label), streams=streams))


def _log(channel: CopyChannel, label: str) -> str:
    return f"{channel.folder}/stream-{label}"
