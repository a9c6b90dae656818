"""The frozen program carries what the program finds beside itself, without a build: what the recipe says."""

import re
from pathlib import Path

from core.servers.functions import functions
from core.settings import resource

TOP = Path(__file__).parents[2]
RECIPE = (TOP / "installer" / "pghaul.spec").read_text(encoding="utf-8")


def test_the_recipe_takes_all_of_resources() -> None:
    """Not its Python alone: the remote half and the script's head are files beside it, as fonts and suites are."""
    assert '("../resources", "resources")' in RECIPE
    left_out = re.findall(r"if \"([^\"]+)\" not in data", RECIPE)
    assert left_out == ["__pycache__"]
    assert resource("sh", "base.sh").is_relative_to(TOP / "resources")
    assert resource("script", "runner.sh").is_file()


def test_the_remote_half_is_read_from_there() -> None:
    subjects = {each.subject for each in functions().values()}
    assert subjects == {path.stem for path in resource("sh").glob("*.sh")}
