"""The seal on what the history holds to be run: this user's own pghaul has recorded it.

The key lies outside of the history, so a history that came from elsewhere bears no seal that holds, whatever it says
of itself. What it has is shown; its commands are never run.
"""

import contextlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from core import settings, this_workstation
from core.documents import storable_text
from core.errors import HistoryError
from core.history.copies import flush_folder
from core.history.models import ExecutionRow, ExecutionStepRow, HookRow, MoveRow, ProfileRow, WaiverRow
from core.system_errors import reason

KEY_FILE = "history.key"
_BYTES = 32


class Seal:
    """Seals with the key of one folder, None: the user's own; it is made when something is first sealed."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @cached_property
    def _path(self) -> Path:
        return (self._folder or settings.config_folder()) / KEY_FILE

    def of(self, *words: str) -> str:
        """The seal of these words, in hexadecimal digits.

        Raises:
            HistoryError: the key cannot be made, or is not this user's alone.
        """
        return _sealed(self._key() or self._made(), words)

    def holds(self, seal: str | None, *words: str) -> bool:
        """Whether it is the seal of these words; raises HistoryError where the key is not this user's alone."""
        key = self._key()
        return key is not None and seal is not None and hmac.compare_digest(_sealed(key, words), seal)

    def vouches_for(self, seal: str | None, *words: str) -> bool:
        """As `holds`, for what is only shown: where the key cannot be used nothing is vouched for."""
        try:
            return self.holds(seal, *words)
        except HistoryError:
            return False

    def trouble(self) -> str:
        """Why the key cannot be used, and what helps; empty where it can, or is still to be made."""
        try:
            self._key()
        except HistoryError as error:
            return f"{error.message}; {error.hint}"
        return ""

    def _key(self) -> bytes | None:
        try:
            handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(handle, "rb") as stream:
                found, key = os.fstat(handle), stream.read(_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self._path, f"cannot be read: {reason(error)}") from error
        if not this_workstation.on_windows() and (found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077):
            raise _unusable(self._path, "can be read or written by other users")
        if len(key) != _BYTES:
            raise _unusable(self._path, "is damaged")
        return key

    def _made(self) -> bytes:
        """Made beside and linked into its place: nobody sees half a key, and of two programs the first one's stays."""
        scratch = self._path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
                    stream.write(secrets.token_bytes(_BYTES))
                    stream.flush()
                    os.fsync(stream.fileno())  # a power cut that loses the key loses what it has sealed
                with contextlib.suppress(FileExistsError):
                    os.link(scratch, self._path)
                flush_folder(self._path.parent)
            finally:
                scratch.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(self._path, f"cannot be made: {reason(error)}") from error
        key = self._key()
        if key is None:
            raise _unusable(self._path, "was removed while it was being created")
        return key


def _sealed(key: bytes, words: tuple[str, ...]) -> str:
    # as JSON, so that no two lists of words are one text
    return hmac.new(key, json.dumps(words).encode(), "sha256").hexdigest()


def _unusable(path: Path, why: str) -> HistoryError:
    return HistoryError(
        f"the key {path}, which signs what you record in the history, {why}",
        "remove it, and pghaul creates a new one; records that the old key signed are then untrusted until you take "
        "them over",
    )


# What a seal is put on: of an execution, a hook and a waiver all that decides what runs, and what is left out.
#
# Whoever has the file without the key can put an older state of a row back as it once was sealed, as with a backup;
# what never was so bears no seal that holds.


def execution_words(row: ExecutionRow) -> tuple[str, ...]:
    """Its number, by which the latest is known, plan, servers and times, how it stands, and how each try came out."""
    steps = ([getattr(step, column.key) for column in STEP_COLUMNS] for step in row.steps)
    return execution_words_of(row, row.plan.encode(), steps)


def execution_words_of(row: ExecutionRow, plan: bytes, steps: Iterable[Sequence[Any]]) -> tuple[str, ...]:
    """The same where plan and steps were read without the row: of many executions this takes half the time.

    Args:
        row: the execution; neither its plan nor its steps are read.
        plan: its plan, as UTF-8.
        steps: the STEP_COLUMNS of its steps, in the order of their ids.
    """
    of = ("execution", str(row.id), str(row.move_id), *machine_words(row.move))
    digest = sha256(plan).hexdigest()  # long, and sealed anew with each step
    times = () if row.schedule is None else (row.schedule,)  # what was signed before there were any has none
    return (*of, row.token, row.kind, digest, row.state, *times, *(word for step in steps for word in _step(step)))


def hook_words(row: HookRow, move: MoveRow) -> tuple[str, ...]:
    """The command, and where and as whom it runs, of the move as it is."""
    return ("hook", *_move(move), row.hook, row.side, storable_text(row.command), row.user or "")


def waiver_words(row: WaiverRow, move: MoveRow) -> tuple[str, ...]:
    """What was taken on, by whom and when, of the move as it was then."""
    words = (row.check, row.reason, row.waived_by, row.status, row.old, row.new)
    return ("waiver", *_move(move), _instant(row.waived_at), *map(storable_text, words))


def machine_words(move: MoveRow) -> tuple[str, ...]:
    """Which machines the servers of a move are."""
    return (*_server(move.old), *_server(move.new))


def _move(row: MoveRow) -> tuple[str, ...]:
    """What is moved, from where to where."""
    return (str(row.id), row.cluster, row.target, *machine_words(row))


def _server(row: ProfileRow) -> tuple[str, ...]:
    """Which machine it is; who logs in and how may change while an execution waits."""
    return (row.address, str(row.port))


STEP_COLUMNS = (
    *(ExecutionStepRow.id, ExecutionStepRow.number, ExecutionStepRow.attempt),
    *(ExecutionStepRow.back, ExecutionStepRow.void, ExecutionStepRow.exit_status),
    *(ExecutionStepRow.started_at, ExecutionStepRow.ended_at),
    *(ExecutionStepRow.title, ExecutionStepRow.output, ExecutionStepRow.message),
)
"""What of a step is sealed."""


def _step(values: Sequence[Any]) -> tuple[str, ...]:
    *numbers, started_at, ended_at, title, output, message = values
    return (*map(str, numbers), _instant(started_at), _instant(ended_at), title, output, message)


def _instant(at: datetime | None) -> str:
    return "" if at is None else at.astimezone(UTC).isoformat()
