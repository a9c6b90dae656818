"""What the probes of dump & restore print, and what is no answer of theirs."""

import pytest

from core.migration.model.table_sample import (
    LoadableRows,
    SampledTable,
    copied_rows,
    parse_built_indexes,
    parse_copied_tables,
    parse_loadable_rows,
    parse_loaded_tables,
    parse_size_of_others,
)

COPIED = """table 1 18844287 13540292 80441462
columns 1 1:int4 3:text 4:money
key 1 3 1
table 2 3410541 3105423 7686363
columns 2 1:int4
# whole
"""
MARKS = """"pghaul start 1 1795439061.103985"
"pghaul loaded 1 1795439061.223082 18628608"
"pghaul whole 1 1"
"pghaul indexing 1 1795439061.223648"
"pghaul indexed 1 1795439061.275633 3137536"
"pghaul start 2 1795439061.277495"
"pghaul loaded 2 1795439061.317373 3440640"
"pghaul whole 2 0"
"""


def test_what_copy_put_out_and_what_came_of_it_are_told_apart() -> None:
    out, tables = parse_copied_tables(COPIED), parse_loadable_rows(COPIED)
    assert (out[1].bytes, out[1].text, out[1].seconds) == (18844287, 13540292, 0.080441462)
    assert tables[1] == LoadableRows(((1, "int4"), (3, "text"), (4, "money")), (3, 1))
    assert tables[2].key == ()
    assert parse_loaded_tables(MARKS).keys() == {1}  # of the second no row was taken
    assert parse_loaded_tables(MARKS)[1].seconds == pytest.approx(0.119097)
    assert parse_built_indexes(MARKS)[1].bytes == 3137536


def test_dead_rows_on_old_are_no_rows() -> None:
    old, loaded = parse_copied_tables(COPIED), parse_loaded_tables(MARKS)
    rows = copied_rows(old, loaded)
    assert rows is not None
    weights = {1: 18844287, 2: 3410541}  # of the second no row was loaded
    text = 18844287 * 13540292 / 18628608 + 3105423
    assert rows.per_text_byte == pytest.approx(sum(weights.values()) / text)
    seconds = 0.080441462 * 18844287 / 18628608 + 0.007686363
    assert rows.per_second == pytest.approx(sum(weights.values()) / seconds)
    rows = copied_rows(old, {})
    assert rows is not None
    assert rows.per_text_byte == pytest.approx((18844287 + 3410541) / (13540292 + 3105423))
    assert rows.per_second == pytest.approx((18844287 + 3410541) / (0.080441462 + 0.007686363))
    assert copied_rows({}, loaded) is None


def test_the_largest_table_of_a_sample_stands_for_itself_alone() -> None:
    """100 MB that double as text, and three of 20 MB of which seven more were not sampled: 200 + 150 MB of text."""
    said = "others 140000000\n" + "".join(
        f"table {number} {size // 4} {text // 4} {10**9} {size}\n"
        for number, size, text in ((1, 100_000_000, 200_000_000), *((at, 20_000_000, 15_000_000) for at in (2, 3, 4)))
    )
    rows = copied_rows(parse_copied_tables(said), {}, parse_size_of_others(said))
    assert rows is not None
    assert rows.per_text_byte == pytest.approx(300 / 350)
    # a quarter of each took a second
    assert rows.per_second == pytest.approx(300e6 / (4 + 10 * 4))
    assert parse_size_of_others("others 1e9\nothers -1\n") == parse_size_of_others("") == 0
    # a table of 500 GB that shrinks to a third is not loaded, one of 5 GB is
    kept = {1: SampledTable(10**7, 1.0, 3 * 10**7, 5 * 10**11), 2: SampledTable(10**6, 0.002, 10**6, 5 * 10**9)}
    rows = copied_rows(kept, {2: SampledTable(10**6, 0.1)})
    assert rows is not None
    assert rows.per_text_byte == pytest.approx(1 / 3, rel=0.03)
    assert rows.per_second == pytest.approx(10**7, rel=0.03)
    alone = copied_rows({1: SampledTable(10, 1.0, 20, 100)}, {}, 900)
    assert alone is not None
    assert alone.per_text_byte == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "table 1 0 0 0",
        "table 1 1 1",
        'columns 1 1:int4"; drop',
        "columns 1",
        "key 1 2",
        '"pghaul loaded 1 nan 1"',
        '"pghaul loaded 1 2.5 10"',
        '"pghaul start 1 9.5"\n"pghaul loaded 1 2.5 10"\n"pghaul whole 1 1"',
        f"table {'9' * 4000} 1 1 1",
    ],
)
def test_what_is_no_answer_is_none(text: str) -> None:
    assert (
        parse_copied_tables(text),
        parse_loadable_rows(text),
        parse_loaded_tables(text),
        parse_built_indexes(text),
    ) == ({}, {}, {}, {})


def test_a_key_over_a_column_that_is_not_there_is_no_key() -> None:
    assert parse_loadable_rows("columns 1 1:int4\nkey 1 1 2")[1].key == ()
