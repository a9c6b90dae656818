"""What was recorded in English, in a German report: of a fixed set it is German, the rest is as it was recorded."""

import ast
import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core import units
from core.errors import PghaulError
from core.facts.catalog import ClusterWide, Edited, Receiver, Slot
from core.facts.host_environment import Scheduled
from core.facts.model import Facts
from core.facts.starters import Service
from core.history import example
from core.history.archive import read
from core.history.store import Store
from core.language import spoken
from core.migration.estimate import estimate, spec_of
from core.migration.execution.outcome import outcome_of
from core.migration.execution.timeline import ExecutionStatus, describe_position
from core.migration.model.dress import Queries, RehearsalOptions, Script
from core.migration.model.execution import Kind as ExecutionKind
from core.migration.model.execution import State
from core.migration.model.move import EditedSettings, Hook, HookCommand, Verify
from core.migration.model.plan import Plan, PlanWarning
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.plan import make_plan
from core.reports.make import Kind, of_move
from core.reports.model import Cell, Document, Items, Table, Text, blocks_of
from core.reports.options import Options
from core.reports.recorded import compared, is_known, recorded
from core.reports.report import Report
from core.servers.shell import command
from tests.core.history import samples
from tests.core.migration.builders import (
    DATA,
    LOCALE,
    NOW,
    TARGET,
    cluster,
    control,
    host_environment,
    move,
    new,
    old,
    probe,
    profile,
    space,
)
from tests.core.migration.plan.plans import plan
from tests.german import english_in_text
from tests.histories import Histories

TOP = Path(__file__).resolve().parents[3]
ENGLISH = re.compile(r"\b(the|of|is|were|are|with|and|which|that|from|until)\b")


def test_steps_sources_and_what_is_left_are_german(shipped: Report) -> None:
    done = next(each for each in shipped.executions if each.kind is ExecutionKind.REAL)
    assert shipped.estimate is not None
    texts = [step.title for step in (*done.plan.steps, *done.plan.way_back)]
    texts += [*map(str, done.plan.remains), *map(str, done.plan.advice)]
    texts += [stage.evidence for one in shipped.estimate.methods for stage in one.stages if stage.evidence]
    with spoken("de"):
        assert [text for text in texts if recorded(text) == text] == []
        assert recorded("Pre-copy pass 1 of 2: copy /srv/pg/a: b") == "Vorabkopie 1 von 2: /srv/pg/a: b kopieren"
        assert recorded("Create an SSH key for this copy") == "Einen SSH-Schlüssel für diese Kopie erzeugen"
        assert recorded("Create {path} of {other} if it is missing") == "{path} of {other} anlegen, falls es fehlt"
        assert recorded("what no pghaul knows") == "what no pghaul knows"
    assert recorded("Stop the old cluster") == "Stop the old cluster"


def _made(old_facts: Facts, new_facts: Facts, probes: Sequence[Probe] = (), hooks: Sequence[HookCommand] = ()) -> Plan:
    undertaking = move(plain_text=True)
    estimated = estimate(spec_of(undertaking, old_facts, probes))
    both = old_facts, new_facts
    return make_plan(undertaking, profile("old"), profile("new"), *both, (), probes, estimated, hooks, seed="0123")


def _of_routes() -> Iterator[Plan]:
    running = old(cluster(running=True))
    for route in (Route.SSH, Route.DAEMON, Route.NFS):
        transport = Transport(route=route, mount="vers=4.2" if route is Route.NFS else "")
        yield _made(running, new(), [replace(probe(Quantity.END_TO_END, 3e8), transport=transport, began_at=NOW)])
    assert running.system is not None
    host = replace(running, system=replace(running.system, boot_id="b", machine_id="m"))
    yield _made(host, replace(host, server="new", clusters=new().clusters))


def _of_layouts() -> Iterator[Plan]:
    file = "/etc/postgresql/15/main/postgresql.conf"
    debian = {"running": True, "name": "15/main", "found_by": ("pg_lsclusters",), "config_file": file}
    unit, spring = "postgresql-15.service", "postgresql@15-spring.service"
    on_old = old(cluster(unit=unit), services=(Service(DATA, "postgresql-15", unit, enabled=True),))
    on_new = Service(TARGET, "15/spring", spring, debian=True, enabled=False)
    yield plan(debian)
    yield plan({**debian, "found_by": ()})  # nobody knows whose folder that is: it is looked for on new
    yield plan({"unit": unit}, old_facts=on_old, new_facts=new(services=(on_new,)))
    yield plan({"fenced": True, "tablespaces": (space("/space"),)}, {"tablespace_targets": {"/space": "/srv/space"}})


def _of_what_hangs_on_old() -> Iterator[Plan]:
    looked = {"running": True, "control": control(data_checksums=1)}
    queries = Queries((Script("it.sql", 1, "select 1"),), "reader", on_old=True)
    yield from (plan(looked, dressed=True), plan(looked, dressed=True, asked=RehearsalOptions(queries=queries)))
    wide = ClusterWide(
        receivers=(Receiver("standby", "10.0.0.9", "streaming"),),
        slots=(Slot("standby", "physical", "", active=True),),
    )
    jobs = host_environment(schedule=(Scheduled("/etc/cron.d/a", "root", "0 1 * * * root vacuumdb -a"),))
    yield from (plan(looked), plan(looked, verify=Verify.ALL))
    yield plan({"running": True, "wide": wide, "settings": {**cluster().settings, "archive_mode": "on"}})
    yield plan(old_facts=old(host_environment=jobs), new_facts=new(collation_order={LOCALE: "f" * 64}))
    for each in EditedSettings:
        yield plan({"running": True, "edited": (Edited("port", "5432", "5433"),)}, {"edited": each})
    yield _made(old(cluster(running=True)), new(), hooks=[HookCommand(each, "workstation", "./it") for each in Hook])


def _whole_titles() -> set[str]:
    """Every title in the code of plans that nothing is put into."""
    found = set()
    for path in (each for part in ("plan", "transports") for each in (TOP / "core/migration" / part).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Step" and node.args:
                title = node.args[0]
                found |= {str(title.value)} if isinstance(title, ast.Constant) else set()
    return found


@pytest.mark.slow
def test_every_title_and_all_that_is_left_of_any_plan_is_german() -> None:
    plans = [*_of_routes(), *_of_layouts(), *_of_what_hangs_on_old()]
    titles = {step.title for each in plans for step in (*each.steps, *each.way_back, *each.back_with_loss, *each.later)}
    assert _whole_titles() - titles == set()
    left = {str(one) for each in plans for one in (*each.remains, *each.advice)}
    with spoken("de"):
        assert [text for text in sorted(titles | left) if recorded(text) == text] == []


def test_where_a_timed_stage_comes_from_is_german() -> None:
    with spoken("de"):
        for times, where in (
            ("1 time", "in a rehearsal of this move"),
            ("1 time", "in a rehearsal or an execution of this move"),
            ("3 times", "in rehearsals and executions of this move"),
            ("1 time", "in other moves between such servers"),
            ("3 times", "in other moves between such servers"),
        ):
            assert recorded(f"timed {times} {where}").startswith(f"{times[0]}-mal in ")
        assert recorded("9 steps: assumed") == "Schritte: 9; angenommen"


def _said(document: Document) -> Iterator[str]:
    """What people read outside of plots, a sentence or a cell each."""
    for answer in document.answers:
        yield from (answer.question, answer.words, *answer.details)
    for block in blocks_of(document.all_sections):
        if isinstance(block, Text):
            yield block.words
        elif isinstance(block, Items):
            yield from (text for one in block.entries for text in (one.title, one.words, one.hint))
        elif isinstance(block, Table):
            yield from block.head
            yield from (cell.text if isinstance(cell, Cell) else cell for row in block.rows for cell in row)
        else:
            yield getattr(block, "title", "")


def _message(warning: PlanWarning | str) -> str:
    return warning.message if isinstance(warning, PlanWarning) else warning


def _own_words(report: Report) -> list[str]:
    """What the history has worded freely: findings of checks, assumptions, how a link was probed, reasons of steps."""
    found = [text for each in report.checks or () for text in (each.message, each.hint, each.old, each.new)]
    found += [probe.method for probe in report.probes]
    plans = [report.plan, *(each.plan for each in report.executions)]
    found += [text for plan in plans if plan is not None for text in (plan.why, *map(_message, plan.warnings))]
    found += [step.reason for plan in plans if plan is not None for step in plan.steps]
    if report.estimate is not None:
        found += [text for one in report.estimate.methods for text in (*one.assumptions, *one.warnings, one.ruled_out)]
        found += [one.change for one in report.estimate.helps]
    found += [text for one in report.diagnoses for each in one.findings for text in (*each.evidence, *each.advice)]
    sides = [facts for facts in (report.old_facts, report.new_facts) if facts is not None]
    found += [text for facts in sides for gap in facts.gaps for text in (gap.reason, gap.subject)]
    return sorted({text for text in found if text}, key=len, reverse=True)


@pytest.mark.parametrize("kind", [Kind.PLAN, Kind.EXECUTION, Kind.CAPACITY])
def test_a_german_report_is_english_in_what_was_recorded_alone(shipped: Report, kind: Kind) -> None:
    own = _own_words(shipped)
    left = []
    for said in _said(of_move(kind, shipped, Options(language="de", functions=False))):
        rest = said
        for text in own:
            rest = rest.replace(text, "").replace(text[:1].upper() + text[1:], "")
        if ENGLISH.search(rest):
            left.append(rest)
    assert left == []


@pytest.mark.parametrize("what", ["The move", "The rehearsal"])
@pytest.mark.parametrize("how", ["was interrupted", "was paused by the operator", "was stopped by the operator"])
def test_the_sentence_on_an_unfinished_execution_is_german_as_a_whole(what: str, how: str) -> None:
    with spoken("de"):
        said = recorded(f"spring: The old cluster is stopped. {what} {how}.")
    assert said.startswith("spring: Der alte Cluster ist angehalten. ")
    assert "The" not in said
    assert "was" not in said


@pytest.mark.parametrize("how", ["paused by the operator", "failed", "cancelled"])
def test_the_state_of_an_ended_milestone_is_german_as_a_whole(how: str) -> None:
    with spoken("de"):
        said = recorded(f"{how}; clients use the old cluster")
    assert said.endswith("; Clients nutzen den alten Cluster")
    assert how not in said


@pytest.mark.parametrize("at", ["", " at step 3 of 4 (Create /srv/pg if it is missing)"])
def test_what_an_ended_execution_has_left_is_german_as_a_whole(at: str) -> None:
    text = (
        f"Rehearsal 7 of spring was paused{at}. The old cluster runs as before. It has sent nothing to the new server."
    )
    with spoken("de"):
        said = recorded(text)
    assert not {"was", "paused", "step", "nothing", "Create", "The"} & set(said.replace("(", "").split())


def test_prompts_for_secrets_are_german() -> None:
    with spoken("de"):
        assert recorded("password of root@db") == "Passwort von root@db"
        assert recorded("passphrase of /home/dba/.ssh/id") == "Passphrase von /home/dba/.ssh/id"
        assert recorded("password of root@db, because the server has refused the key a").startswith(
            "Passwort von root@db, "
        )


@pytest.mark.parametrize("extra", [True, False])
@pytest.mark.parametrize("least", [True, False])
def test_where_an_execution_is_is_german_as_a_whole(*, extra: bool, least: bool) -> None:
    stopped = None if extra else 133.0
    found = ExecutionStatus(4, 9, (), stopped, 240.0, left_is_least=least, extra_pass=extra)
    with spoken("de"):
        said = recorded(describe_position(found))
    step, where, left = said.split(", ")
    assert step == "Schritt 4 von 9"
    assert where == ("noch eine Vorabkopie vor dem Anhalten" if extra else "Ausfallzeit 2 min 13 s")
    assert left == ("noch mindestens 4 min 00 s" if least else "noch etwa 4 min 00 s")


def test_why_servers_and_paths_stay_is_german() -> None:
    with spoken("de"):
        said = recorded("The servers and paths of spring cannot be changed. The move was carried out.")
    assert said == "Die Server und Pfade von spring lassen sich nicht ändern. Der Umzug wurde ausgeführt."


def _moves_again(store: Store, _folder: Path) -> None:
    removed = store.remove_move(samples.MOVE.name)
    store.add_move(samples.MOVE)
    store.put_back(removed)


def _entry_again(store: Store, _folder: Path) -> None:
    removed = store.remove_entries([each for each in store.entries() if each.kind == "plan"])
    store.put_back(removed)
    store.put_back(removed)


def _execution_to_a_taken_number(store: Store, _folder: Path) -> None:
    store.execution_changed(1, State.DONE)
    store.execution_changed(store.execution_started(samples.execution()), State.DONE)
    removed = store.remove_entries(
        [each for each in store.entries() if (each.kind, each.reference) == ("execution", 1)]
    )
    store.remove_move(samples.MOVE.name)
    store.add_move(samples.MOVE)
    store.execution_started(samples.execution())
    store.put_back(removed)


def _entry_of_a_move_that_is_gone(store: Store, _folder: Path) -> None:
    removed = store.remove_entries([each for each in store.entries() if each.kind == "plan"])
    store.remove_move(samples.MOVE.name)
    store.put_back(removed)


def _step_of_a_changed_execution(store: Store, _folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(store.path)) as connection, connection:
        assert connection.execute("UPDATE executions SET state = 'cancelled'").rowcount
    store.step_started(1, samples.step_run(3))


def _execution_that_is_here_already(store: Store, folder: Path) -> None:
    store.execution_changed(1, State.STOPPED)
    store.export_move(samples.MOVE.name, folder / "archive")
    store.take_in(read(folder / "archive"), "another")


@pytest.mark.parametrize(
    "attempt",
    [
        _moves_again,
        _entry_again,
        _execution_to_a_taken_number,
        _entry_of_a_move_that_is_gone,
        _step_of_a_changed_execution,
        _execution_that_is_here_already,
    ],
)
def test_why_the_history_refuses_is_german(
    histories: Histories, tmp_path: Path, attempt: Callable[[Store, Path], None]
) -> None:
    with histories.open(tmp_path / "history", samples.fill) as store:
        if attempt is not _step_of_a_changed_execution:
            store.execution_changed(1, State.ROLLED_BACK)
        with pytest.raises(PghaulError) as refused:
            attempt(store, tmp_path)
    with spoken("de"):
        assert [text for text in (refused.value.message, refused.value.hint) if not is_known(text)] == []


def test_what_an_execution_came_to_is_german_to_its_last_word(tmp_path: Path) -> None:
    example.lay(tmp_path)
    with Store.open(tmp_path) as store:
        found, estimate = store.executions(example.MOVE), store.estimate(example.MOVE)
    found += tuple(replace(each, state=State.ROLLED_BACK) for each in found)
    said = [text for each in found for one in outcome_of(each, estimate) for text in (one.title, *one.sentences)]
    assert len(said) > 20
    assert [left for text in said if not text.startswith("  ") and (left := english_in_text(text))] == []


def _is_fraction(part: ast.expr) -> bool:
    if not isinstance(part, ast.FormattedValue) or not isinstance(part.format_spec, ast.JoinedStr):
        return False
    spec = "".join(str(each.value) for each in part.format_spec.values if isinstance(each, ast.Constant))
    return spec.endswith(("f", "g")) and spec != ".0f"


def _with_figures(code: str) -> Iterator[str]:
    """Each text of the code with `1.5` for a number that it writes itself, and `xyz` for any other value."""
    for text in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.JoinedStr)):
        parts = [
            str(part.value) if isinstance(part, ast.Constant) else "1.5" if _is_fraction(part) else "xyz"
            for part in text.values
        ]
        if "1.5" in parts:
            yield "".join(parts)


def test_numbers_without_a_unit_are_too() -> None:
    """But versions, and what is quoted from a file, such as `copy.compression_ratio = 1.5`, keep their points."""
    root = Path(units.__file__).parent
    texts = [text for path in root.rglob("*.py") for text in _with_figures(path.read_text(encoding="utf-8"))]
    with spoken("de"):
        known = [text for text in texts if is_known(text)]
        left = [text for text in known if "1.5" in recorded(text)]
    assert len(known) - len(left) > 5
    assert [text for text in left if not re.search(r"PostgreSQL 1\.5|(= | is |negative: )1\.5", text)] == []


def test_what_is_typed_keeps_its_point() -> None:
    """A move may be called `db 1.5 TB`: with a comma, the command would be one for another move."""
    typed = str(command("pghaul", "execute", "db 1.5 TB"))
    with spoken("de"):
        assert typed in recorded(f"To begin one: {typed}")
        assert recorded(f"To begin one: {typed}") != f"To begin one: {typed}"
        assert compared("`sleep 1.5 s` took 1.5 s of 2.5 s") == "`sleep 1.5 s` took 1,5 s of 2,5 s"


def test_numbers_with_a_unit_are_written_as_the_report_writes_them() -> None:
    """Versions, addresses and names keep their points."""
    with spoken("de"):
        assert recorded("no step ran for 6.5 s").startswith("6,5 s lang")
        names = "/srv/15.5 and 10.0.0.1"
        assert recorded(f"Create {names} if it is missing") == recorded("Create /x if it is missing").replace(
            "/x", names
        )
