"""Where pghaul keeps and finds things: the history's folder, its user's own files, the data that ships with it."""

import os
from pathlib import Path

import resources

PROGRAM = "pghaul"


def program_version() -> str:
    """The version of this program, as pyproject.toml states it."""
    from importlib.metadata import PackageNotFoundError, version  # as slow as all else that a short command loads

    try:
        return version(PROGRAM)
    except PackageNotFoundError:  # run from a tree that was never installed
        return "0.0.0"


def data_folder() -> Path:
    """The platform's folder for this program's data; PGHAUL_DATA overrides it. Not created here."""
    chosen = os.environ.get("PGHAUL_DATA")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_data_dir(PROGRAM, appauthor=False))


def config_folder() -> Path:
    """The platform's folder for what its user writes for this program; PGHAUL_CONFIG overrides it. Not created here."""
    chosen = os.environ.get("PGHAUL_CONFIG")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_config_dir(PROGRAM, appauthor=False))


def resource(*parts: str) -> Path:
    """A file or folder under resources/, also in the frozen program."""
    return Path(resources.__file__).parent.joinpath(*parts)
