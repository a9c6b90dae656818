"""A command finds an empty history of its own: to make one takes longer than most commands do."""

import os
from pathlib import Path

import pytest

from tests.histories import Histories


@pytest.fixture(autouse=True)
def _empty_history(histories: Histories, _isolated: None) -> None:
    histories.copy(Path(os.environ["PGHAUL_DATA"]))
