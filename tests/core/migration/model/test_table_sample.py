"""What the probes of dump & restore print, and what is no answer of theirs."""

import pytest

from core.migration.model.table_sample import (
    LoadableRows,
    parse_built_indexes,
    parse_copied_tables,
    parse_loadable_rows,
    parse_loaded_tables,
    table_bytes_per_text_byte,
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
    assert table_bytes_per_text_byte(parse_copied_tables(COPIED), parse_loaded_tables(MARKS)) == 18628608 / 13540292
    assert table_bytes_per_text_byte(parse_copied_tables(COPIED), {}) == (18844287 + 3410541) / (13540292 + 3105423)
    assert table_bytes_per_text_byte({}, parse_loaded_tables(MARKS)) is None


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
