"""The step that builds indexes anew asks for the same ones as the facts count."""

import subprocess

from core.facts.queries import INDEX_KEYS
from core.servers.functions import library


def test_the_indexes_are_those_that_the_facts_know() -> None:
    text = library(["index_collations_sql"]) + "\nindex_collations_sql"
    done = subprocess.run(["dash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == INDEX_KEYS.split()
