"""What a person notes to entries: kept with them, found by tag, taken along wherever they go."""

import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.api import archives
from core.benchmarks.model import Run
from core.errors import InputError
from core.history.log import LONGEST_NOTE, tags_of
from core.history.store import KINDS, Entry, Filter, Store
from core.migration.model.execution import Kind, State
from core.migration.model.plan import Phase
from core.migration.model.probe import Probe
from core.redaction import MASK
from core.servers.profiles import Profile
from tests.core.history.conftest import on_both
from tests.core.history.samples import MOVE, execution, plan


def _one_of_each(store: Store) -> dict[str, Entry]:
    return {entry.kind: entry for entry in store.entries(limit=1000)}


def test_each_kind_of_entry_bears_a_note(filled: Store) -> None:
    filled.record_report(MOVE.name, Path("/srv/a.pdf"))
    entries = _one_of_each(filled)
    assert set(entries) == set(KINDS)
    for kind, entry in entries.items():
        assert filled.set_note(kind, entry.reference, f" the {kind} of the #Old array \n") == ""
    noted = _one_of_each(filled)
    assert {kind: (entry.note, entry.tags) for kind, entry in noted.items()} == {
        kind: (f"the {kind} of the #Old array", ("old",)) for kind in KINDS
    }
    assert [
        entry.note
        for entry in filled.entries(limit=1000, which=Filter(move=MOVE.name))
        if entry.kind == "run" and entry.note
    ]
    for kind, entry in entries.items():
        assert filled.set_note(kind, entry.reference, " ") == noted[kind].note
    assert _one_of_each(filled) == entries


def test_entries_are_found_by_their_tag_however_old(filled: Store) -> None:
    entries = filled.entries(limit=1000)
    oldest, newest = entries[-1], entries[0]
    filled.set_note(oldest.kind, oldest.reference, "cable out #incident")
    filled.set_note(newest.kind, newest.reference, "#incidents, all over")
    found = filled.entries(limit=1, which=Filter(tag="#Incident"))
    assert [(each.kind, each.reference, each.note) for each in found] == [
        (oldest.kind, oldest.reference, "cable out #incident")
    ]
    assert [each.kind for each in filled.entries(which=Filter(tag=""))] == [newest.kind, oldest.kind]
    assert filled.entries(which=Filter(tag="nothing")) == ()


@pytest.mark.parametrize(
    ("note", "tags"),
    [
        ("#night, then #Night #raid-10.", ("night", "raid-10")),
        ("(#über) #2026", ("über", "2026")),
        ("see https://example.org/page#part and /#part", ()),
        ("a # b ## c &#8364; C#", ()),
        ("", ()),
    ],
)
def test_a_word_behind_a_number_sign_is_a_tag(note: str, tags: tuple[str, ...]) -> None:
    assert tags_of(note) == tags


def test_what_is_no_entry_bears_no_note(filled: Store) -> None:
    for kind, number, note, said in (
        ("run", 10**6, "x", "has no run"),
        ("command", 1, "x", "has no entries of the kind"),
        ("move", 1, "x" * (LONGEST_NOTE + 1), "has 10001 characters"),
    ):
        with pytest.raises(InputError, match=said):
            filled.set_note(kind, number, note)
    with pytest.raises(InputError, match="has no plan"):
        filled.note("plan", 10**6)


@pytest.mark.slow
def test_a_note_goes_with_its_entry(filled: Store, tmp_path: Path) -> None:
    """Out of the history and back, and to another workstation."""
    run = _one_of_each(filled)["run"]
    filled.set_note(run.kind, run.reference, "fast #cache")
    filled.put_back(filled.remove_entries([run]))
    assert filled.note(run.kind, run.reference) == "fast #cache"
    archives.export_move(filled, MOVE.name, tmp_path / "archive")
    with Store.open(tmp_path / "elsewhere") as other:
        archives.import_move(other, tmp_path / "archive")
        assert [each.title for each in other.entries(limit=1000, which=Filter(tag="cache"))] == [run.title]


@pytest.mark.parametrize(
    ("kind", "phase", "title"),
    [
        (Kind.REAL, Phase.COPY, "move: running"),
        (Kind.REAL, Phase.DRESS, "move: running"),
        (Kind.REHEARSAL, Phase.COPY, "copy rehearsal: running"),
        (Kind.REHEARSAL, Phase.DRESS, "dress rehearsal: running"),
    ],
)
def test_an_execution_is_listed_by_what_it_is(filled: Store, kind: Kind, phase: Phase, title: str) -> None:
    made = plan()
    made = replace(made, steps=tuple(replace(step, phase=phase) for step in made.steps))
    filled.set_note("plan", 1, "#night")
    begun = replace(execution(), kind=kind, plan=made, token=f"{kind}-{phase}")
    number = filled.execution_started(begun)
    filled.set_note("execution", number, "#night")
    for entries in (filled.entries(limit=1000), filled.entries(limit=1000, which=Filter(tag="night"))):
        assert [each.title for each in entries if (each.kind, each.reference) == ("execution", number)] == [title]


def test_an_entry_tells_its_result_and_how_long_it_took(filled: Store) -> None:
    found = _one_of_each(filled)
    run, probe, facts, made = (found[kind] for kind in ("run", "probe", "facts", "execution"))
    recorded_run = filled.detail("run", run.reference)
    assert isinstance(recorded_run, Run)
    assert recorded_run.ended_at is not None
    assert run.seconds == (recorded_run.ended_at - recorded_run.started_at).total_seconds() > 0
    assert (run.subject, run.result, run.server) == (recorded_run.workload.title, "done", recorded_run.volume.server)
    recorded_probe = filled.detail("probe", probe.reference)
    assert isinstance(recorded_probe, Probe)
    assert (probe.subject, probe.seconds) == (recorded_probe.quantity, recorded_probe.seconds)
    assert probe.bytes_per_second == recorded_probe.bytes_per_second
    assert facts.server == facts.title
    assert facts.seconds is not None
    assert (made.subject, made.result) == ("copy rehearsal", "stopped")
    assert made.seconds is not None
    unended = filled.execution_started(replace(execution(), token="new"))
    newest = next(each for each in filled.entries(limit=1000) if (each.kind, each.reference) == ("execution", unended))
    assert newest.seconds is None


def test_a_note_keeps_no_secret(filled: Store) -> None:
    filled.set_note("plan", 1, "PGPASSWORD=geheim123 postgresql://u:s3cr3tpw@h/d")
    assert filled.note("plan", 1) == f"PGPASSWORD={MASK} postgresql://u:{MASK}@h/d"


def test_what_is_noted_to_an_entry_never_goes_to_another(filled: Store) -> None:
    """The number of what was removed is given to the next."""
    filled.record_report(MOVE.name, Path("/srv/a.pdf"))
    seen = _one_of_each(filled)["report"]
    removed = filled.remove_entries([seen])
    filled.record_report(MOVE.name, Path("/srv/b.pdf"))
    newer = _one_of_each(filled)["report"]
    assert newer.reference == seen.reference
    filled.put_back(removed)
    with pytest.raises(InputError, match="has changed since it was shown"):
        filled.set_note("report", seen.reference, "of a", at=seen.at)
    assert filled.entries(which=Filter(tag="")) == ()
    for entry in _one_of_each(filled).values():
        filled.set_note(entry.kind, entry.reference, "of this", at=entry.at)
    assert {entry.note for entry in _one_of_each(filled).values()} == {"of this"}


@pytest.mark.slow
def test_what_is_noted_to_facts_stays_where_other_moves_share_them(filled: Store, tmp_path: Path) -> None:
    facts = _one_of_each(filled)["facts"]
    filled.set_note(facts.kind, facts.reference, "another customer's #array")
    archives.export_move(filled, MOVE.name, tmp_path / "archive")
    with zipfile.ZipFile(tmp_path / "archive") as archive:
        assert not any(b"another customer" in archive.read(name) for name in archive.namelist())
    with Store.open(tmp_path / "elsewhere") as other:
        archives.import_move(other, tmp_path / "archive")
        assert "facts" in _one_of_each(other)
        assert other.entries(which=Filter(tag="")) == ()


@on_both
def test_what_could_not_be_read_is_of_the_machine_that_has_the_name_now(filled: Store) -> None:
    profile = Profile("db7", "192.0.2.7")
    filled.add_profile(profile)
    filled.record_unread(profile, "db7: 192.0.2.7 port 22 could not be reached")
    assert filled.unread().keys() == {"db7"}
    filled.update_profile(replace(profile, user="other"))
    assert filled.unread().keys() == {"db7"}
    filled.update_profile(replace(profile, name="db8"), "db7")
    assert filled.unread().keys() == {"db8"}
    filled.update_profile(replace(profile, name="db8", port=2222))
    assert filled.unread() == {}
    filled.record_unread(profile, "db7: it is recorded under a name that no server has")
    assert filled.unread() == {}
    filled.add_profile(profile)
    assert filled.unread() == {}
    filled.record_unread(profile, "db7: 192.0.2.7 port 22 could not be reached")
    assert filled.unread().keys() == {"db7"}
    filled.remove_profile("db7")
    filled.add_profile(replace(profile, address="192.0.2.8"))
    assert filled.unread() == {}


def test_an_entry_has_no_negative_duration_if_the_clock_was_set_back(filled: Store) -> None:
    later = datetime.now(UTC) + timedelta(days=1)
    number = filled.execution_started(replace(execution(), started_at=later))
    filled.execution_changed(number, State.DONE)
    (entry,) = (each for each in filled.entries() if (each.kind, each.reference) == ("execution", number))
    assert entry.seconds is None
