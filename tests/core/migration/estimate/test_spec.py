import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.migration.estimate import load_spec

SPECS = Path(__file__).parents[3] / "data" / "specs"


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.*")), ids=lambda path: path.name)
def test_the_filed_specs_are_read(path: Path) -> None:
    assert load_spec(path.read_text(encoding="utf-8"), path.name).cluster.size_bytes > 0


def test_toml_and_json_say_the_same() -> None:
    toml = load_spec("[cluster]\nsize_bytes = 5\nfiles = 0\n[link]\nbits_per_second = 1e9", "x.toml")
    json = load_spec('{"cluster": {"size_bytes": 5, "files": 0}, "link": {"bits_per_second": 1e9}, "old": {}}', "x")
    assert toml == json
    assert toml.cluster.files == 0


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "cluster.size_bytes"),
        ("[cluster]\nfiles = 3", "cluster.size_bytes"),
        ("{}", "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = 0", "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = -5", "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = nan", "cluster.size_bytes is nan"),
        ("[cluster]\nsize_bytes = inf", "cluster.size_bytes is inf"),
        ('{"cluster": {"size_bytes": NaN}}', "cluster.size_bytes is nan"),
        ('[cluster]\nsize_bytes = "730 GB"', "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = true", "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = [1]", "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = 1e30", "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = 1e-300", "cluster.size_bytes is 1e-300"),
        ("[cluster]\nsize_bytes = 1" + "0" * 400, "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = -1" + "0" * 400, "cluster.size_bytes"),
        ("[cluster]\nsize_bytes = 1" + "0" * 5000, "JSON"),
        ("[cluster]\nsize_bytes = 5\nsize = 5", "cluster.size"),
        ("[cluster]\nsize_bytes = 5\nfiles = 1.5", "cluster.files is 1.5"),
        ("[cluster]\nsize_bytes = 5\nindex_bytes = 6", "cluster.index_bytes"),
        ("[cluster]\nsize_bytes = 5\n[link]\nstreams = 0", "link.streams is 0"),
        ("[cluster]\nsize_bytes = 5\n[copy]\ncompression_ratio = 0.3", "copy.compression_ratio is 0.3"),
        ("[cluster]\nsize_bytes = 5\n[old]\nread_bytes_per_second = 0", "old.read_bytes_per_second is 0"),
        ("[cluster]\nsize_bytes = 5\n[disk]\n", "disk"),
        ("[cluster]\nsize_bytes = 5\n[new]\ncores = 2.5", "new.cores is 2.5"),
        ("[cluster]\nsize_bytes = 5\n[claimed]\nlow_seconds = 9\nhigh_seconds = 3", "claimed.low_seconds"),
        ("cluster = 5", "cluster"),
        ('{"cluster": {"size_bytes": 5', "JSON"),
        ("[" * 100_000, "JSON"),
        ("{" * 100_000, "JSON"),
        ("größe: 5", "JSON"),
        ("\x00", "JSON"),
    ],
)
def test_nonsense_is_refused_by_its_path(text: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        load_spec(text, "some.toml")
    assert "some.toml" in caught.value.message
    assert re.search(rf"(?<![\w.]){re.escape(path)}(?![\w.])", caught.value.message)
    assert "\n" not in caught.value.message


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        load_spec(text, "any")


def test_the_processors_of_new_and_what_was_claimed_are_read() -> None:
    found = load_spec("[cluster]\nsize_bytes = 5\n[new]\ncores = 16\n[claimed]\nhigh_seconds = 7200", "x")
    assert (found.new.cores, found.claimed.high_seconds) == (16, 7200)
