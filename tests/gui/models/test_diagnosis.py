"""Findings and marks in the window's words."""

from dataclasses import replace
from datetime import UTC, datetime

from core.comparison.compare import compare
from core.comparison.model import Diagnosis, Finding, LeftOut
from core.history.store import Store
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Transport
from core.sides import Side
from core.text import capital
from gui.models import comparison, transfer
from gui.models.words import moment, quantity_name
from tests.figures import figures

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FINDING = Finding(
    "access-times", "Reads that update access times", ("/srv is mounted with rw",), ("mount it with noatime",)
)


def test_a_diagnosis_in_words() -> None:
    text = comparison.diagnosis_text(
        (Diagnosis("old", "/srv", NOW, 12, (FINDING,)), Diagnosis("new", "/data", NOW, 0, ()))
    )
    head, title, evidence, advice, none = [line for line in text.splitlines() if line]
    assert head.startswith("old:/srv ")
    assert moment(NOW) in head
    assert figures(head.replace(moment(NOW), "")) == ["12"]
    assert (title, evidence) == ("  Reads that update access times", "    /srv is mounted with rw")
    assert advice.startswith("    ")
    assert advice.endswith(" mount it with noatime")
    assert none.startswith("new:/data: ")
    assert moment(NOW) in none
    assert figures(none.replace(moment(NOW), "")) == []  # of what was not measured no number is said


def test_what_does_not_count_is_marked(full_store: Store) -> None:
    made = compare(*(full_store.runs("spring", side=side, latest_only=True) for side in Side))
    row = made.rows[0]
    assert row.old is not None
    old = replace(row.old, left_out=(LeftOut(1.0, "outlier"),), disturbed=True, from_memory=True)
    marked = replace(row, old=old, note="one value on a side cannot show the noise")
    column = next(column for column in comparison.COLUMNS if column.title.startswith("Old"))
    shown, plain = (comparison.ComparedRow(one, ("old", "new")) for one in (marked, row))
    remarks = column.text(shown).removeprefix(column.text(plain))
    assert remarks.count(",") == 2
    assert figures(remarks) == ["1"]
    assert not column.text(plain).endswith(")")
    assert column.tip is not None
    assert "outlier" in column.tip(shown)
    assert "outlier" not in column.tip(plain)
    assert comparison.notes(replace(made, rows=(marked, marked))) == (f"{capital(marked.note)}.",)


def probe(quantity: Quantity, rate: float) -> Probe:
    return Probe(quantity, rate, 1 << 30, (1 << 30) / rate, "dd", "dd if=…", "raw", NOW)


def test_end_to_end_is_no_link() -> None:
    probes = (probe(Quantity.READ, 80e6), probe(Quantity.WIRE, 110e6), probe(Quantity.END_TO_END, 61e6))
    assert figures(transfer.probes_summary(probes)) == ["80.0 MB/s", "61.0 MB/s"]
    assert quantity_name(Quantity.READ) in transfer.probes_summary(probes)
    assert figures(transfer.probes_summary(probes[-1:])) == ["61.0 MB/s"]
    assert transfer.probes_summary(()) == ""
    by_lz4 = replace(probe(Quantity.END_TO_END, 90e6), transport=Transport(compression="lz4"))
    assert by_lz4.transport is not None
    assert figures(transfer.probes_summary((*probes, by_lz4))) == ["80.0 MB/s", "90.0 MB/s"]
    assert by_lz4.transport.name in transfer.probes_summary((*probes, by_lz4))
