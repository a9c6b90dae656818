"""Where this workstation has its history: in the data folder, or on a server that its user has named instead.

A file among what its user writes for this program says so, for each data folder; not one in the folder itself, which
may be a history that somebody gave.
"""

import json
from pathlib import Path

from core import settings
from core.errors import HistoryError
from core.files import write_whole
from core.system_errors import reason

FILE = "histories.json"
LOCAL = "local"


def chosen() -> Path | str:
    """The data folder, or the URL of the server that is used instead.

    Raises:
        HistoryError: what says so cannot be read.
    """
    folder = settings.data_folder().absolute()
    return _read().get(str(folder), folder)


def folder() -> Path:
    """The data folder, where its file is what this workstation uses; raises HistoryError where a server is instead."""
    place = chosen()
    if isinstance(place, str):
        raise no_file("that is in use")  # not by its URL, which nobody has looked at yet
    return place


def no_file(name: str) -> HistoryError:
    """That the history of that name is none."""
    return HistoryError(
        f"the history {name} is on a server, not in a file",
        "use pg_dump, pg_restore and pg_amcheck there, all with --schema=pghaul; this workstation's own is used by: "
        "pghaul history use local",
    )


def choose(place: str) -> None:
    """Use the history at that URL from now on, or that of the data folder: LOCAL.

    Raises:
        HistoryError: it cannot be kept.
    """
    places = {name: url for name, url in _read().items() if name != str(settings.data_folder().absolute())}
    if place != LOCAL:
        places[str(settings.data_folder().absolute())] = place
    path = _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, json.dumps(places, indent=1).encode(), replacing=True)
    except OSError as error:
        raise HistoryError(f"{path} cannot be written: {reason(error)}") from error


def _path() -> Path:
    return settings.config_folder() / FILE


def _read() -> dict[str, str]:
    path = _path()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(path) from error
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise _unreadable(path)
    return found


def _unreadable(path: Path) -> HistoryError:
    return HistoryError(
        f"{path}, which says where the history is stored, cannot be read",
        "remove this file to use the history on this workstation",
    )
