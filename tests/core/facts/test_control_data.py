"""pg_controldata: every recorded output, in English, translated and cut off."""

import json
import re
from pathlib import Path

import pytest

from core.errors import ParseError
from core.facts.control_data import parse_control_data, read_control_data

DATA = Path(__file__).parents[2] / "data" / "pg_controldata"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
TRANSLATED = sorted(path.name for path in DATA.glob("translated-15.18-*.txt"))
WHOLE = "02-greenplum5-8330500-f949805095.txt"


def sample(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fields_of_recorded_outputs(name: str) -> None:
    assert read_control_data(sample(name)) == EXPECTED[name]["fields"]


@pytest.mark.parametrize("name", TRANSLATED)
def test_every_language_says_the_same_as_english(name: str) -> None:
    english = read_control_data(sample("translated-15.18-C.txt"))
    if name.endswith("-uk.txt"):
        # Ukrainian has one word for `shut down` and `shutting down`: it must not be decided.
        del english["state"]
    assert read_control_data(sample(name)) == english


def test_the_languages_are_there() -> None:
    assert len(TRANSLATED) == 16


def test_whole_output_makes_control_data_with_every_label() -> None:
    control = parse_control_data(sample(WHOLE))
    assert control.block_size == 32768
    assert control.float8_by_value is None
    assert control.fields["LC_COLLATE"] == "en_US.utf-8"
    assert control.fields["Latest checkpoint's REDO location"] == "0/4A7CE98"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("14-v9.4-tail-f6849049437.txt", "pg control version"),
        ("05-v9.4-tab-indented-missing-first-line-f11174608058.txt", "pg control version"),
        ("translated-15.18-uk.txt", "state"),
    ],
)
def test_what_is_cut_off_is_no_control_data(name: str, missing: str) -> None:
    with pytest.raises(ParseError, match=missing):
        parse_control_data(sample(name))


@pytest.mark.parametrize("kept", range(0, 50, 3))
def test_a_cut_off_output_never_gains_a_value(kept: int) -> None:
    whole = read_control_data(sample("translated-15.18-ru.txt"))
    lines = sample("translated-15.18-ru.txt").splitlines()[:kept]
    try:
        part = read_control_data("\n".join(lines))
    except ParseError:
        part = {}
    assert part.items() <= whole.items()


@pytest.mark.parametrize(
    "warning",
    [
        "WARNING: Calculated CRC checksum does not match value stored in file.",
        "pg_controldata: WARNING: invalid WAL segment size",
        "ATTENTION : Les sommes de contrôle (CRC) calculées ne correspondent pas",
        "警告: 計算出来的CRC校验值与已保存在文件中的值不匹配.",
        "ПРЕДУПРЕЖДЕНИЕ: Вычисленная контрольная сумма",
    ],
)
def test_a_program_of_another_series_is_not_believed(warning: str) -> None:
    with pytest.raises(ParseError, match=re.escape(warning[:20])):
        read_control_data(f"{warning}\n\n{sample(WHOLE)}")


@pytest.mark.parametrize("text", ["", "\n", "pg_controldata: could not open file", "Database cluster state:", "{}"])
def test_what_is_no_control_data_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(ParseError, match=r"^pg_controldata: "):
        read_control_data(text)


def test_an_unknown_state_and_a_number_that_is_none_are_left_out() -> None:
    text = "Database cluster state: on fire\nDatabase block size: 8 kB\nWAL block size: 8192\n"
    assert read_control_data(text) == {"wal_block_size": 8192}
