"""The history that ships as an example: one move between two hosts, measured, rehearsed and carried out.

Its figures were measured (tests/lab/example.py makes it anew); names, addresses and people are masked. It bears no seal
of its user's, so it is shown, and nothing in it is ever run.
"""

import gzip
import os
from pathlib import Path

from core.errors import InputError
from core.history.database import FILE_NAME
from core.settings import resource
from core.system_errors import reason

MOVE = "example"
"""The name of its one move."""


def packed() -> Path:
    """The file that ships."""
    return resource("example", f"{FILE_NAME}.gz")


def lay(folder: Path) -> Path:
    """Put the example into `folder`, made with mode 0700 where it is missing; the path of the history.

    Raises:
        InputError: there is a history already, or the folder cannot be written.
    """
    path = folder / FILE_NAME
    history = gzip.decompress(packed().read_bytes())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        raise InputError(f"{error.filename} exists already", "name a folder that does not contain a history") from error
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(history)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    return path


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"the example cannot be written to {path}: {reason(error)}",
        "name a folder that you may write to",
    )
