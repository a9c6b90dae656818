"""The frozen program carries what the program finds beside itself, without a build: what the recipe says."""

import subprocess
from pathlib import Path

from core.servers.functions import functions
from core.settings import resource
from installer.left_out import left_out

TOP = Path(__file__).parents[2]
RECIPE = (TOP / "installer" / "pghaul.spec").read_text(encoding="utf-8")


def kept_under(folder: str) -> list[Path]:
    """The files of a folder that are under version control."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=TOP, check=True, capture_output=True, text=True)
    return [TOP / name for name in listed.stdout.splitlines()]


def test_the_recipe_takes_all_of_resources() -> None:
    """Not its Python alone: the remote half and the script's head are files beside it, as fonts and suites are."""
    assert '("../resources", "resources")' in RECIPE
    assert not any(left_out(f"resources/{path.relative_to(TOP / 'resources')}") for path in kept_under("resources"))
    assert resource("sh", "base.sh").is_relative_to(TOP / "resources")
    assert resource("script", "runner.sh").is_file()


def test_the_remote_half_is_read_from_there() -> None:
    subjects = {each.subject for each in functions().values()}
    assert subjects == {path.stem for path in resource("sh").glob("*.sh")}
