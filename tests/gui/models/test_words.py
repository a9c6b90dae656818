"""What the window says in its own words."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.language import spoken, tr
from core.migration.model.checks import CheckResult, Status, Waiver
from core.migration.model.probe import Probe, Quantity
from core.migration.model.transport import Route, Transport
from core.reports.words import missing
from core.sides import Side
from core.tones import Tone
from gui.models.execution import BUTTONS, Doing
from gui.models.transfer import probes_summary
from gui.models.words import quantity_name, shortened, side_head, side_names, status_tone, use_window_terms
from gui.pages.execution import MovePage
from gui.pages.kinds import PAGES
from tests.core.migration.builders import move
from tests.figures import figures
from tests.gui import samples

RESUME, BACK, END = (BUTTONS[doing].replace("&", "") for doing in (Doing.RESUME, Doing.BACK, Doing.END))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("go on with --resume when it is", f"go on with {RESUME} when it is"),
        ("go on: pghaul execute spring --resume; or: --rollback", f"go on: {RESUME}; or: {BACK}"),
        ("or end it: --cancel", f"or end it: {END}"),
        ("begin a new one: pghaul execute spring --dress-rehearsal --start-over", "begin a new one: Dress rehearsal"),
        ("begin a new one: pghaul execute spring --rehearsal --start-over", "begin a new one: Copy rehearsal"),
        ("nothing to type here", "nothing to type here"),
    ],
)
def test_a_command_line_is_named_by_its_button(said: str, shown: str) -> None:
    assert use_window_terms(said) == shown


def test_the_tone_of_a_check_tells_whether_an_action_is_needed() -> None:
    check = CheckResult("space", "Space", Status.UNKNOWN, "", "", "", blocking=False)
    waiver = Waiver("space", "why", "dba@desk", samples.MORNING, Status.WARNING, "", "")
    warning = replace(check, status=Status.WARNING)
    tones = [
        status_tone(each) for each in (check, replace(check, blocking=True), warning, replace(warning, waiver=waiver))
    ]
    assert tones == [Tone.MUTED, Tone.BAD, Tone.WARNING, None]


def test_a_server_is_called_by_its_name_and_its_side() -> None:
    assert side_names(replace(move(), old="db1", new="db2")) == ("db1 (old)", "db2 (new)")
    assert side_names(None) == ("old server", "new server")
    assert (side_head(Side.OLD, ""), side_head(Side.OLD, "db1")) == ("Old server", "db1 (old)")
    with spoken("de"):
        assert side_names(replace(move(), old="db1", new="db2")) == ("db1 (alt)", "db2 (neu)")


def test_where_a_command_line_shows_an_execution_the_window_has_a_page() -> None:
    shown = use_window_terms("see it with: pghaul execute spring --status")
    assert shown.startswith("see it with: ")
    assert shown.endswith(f" {MovePage.title}")


def test_a_cipher_that_is_not_in_use_is_not_the_slowest_link() -> None:
    def probe(quantity: Quantity, rate: float, transport: Transport | None = None) -> Probe:
        return Probe(quantity, rate, 1 << 30, 5.0, "how", "", "", samples.MORNING, transport)

    slow, used = Transport(cipher="3des-cbc"), Transport(cipher="aes128-ctr")
    links = (
        probe(Quantity.WIRE, 300e6),
        probe(Quantity.SSH, 40e6, slow),
        probe(Quantity.SSH, 240e6, used),
        probe(Quantity.WRITE, 250e6),
    )
    by_ssh = probe(Quantity.END_TO_END, 200e6, replace(used, compression="lz4"))
    by_nfs = probe(Quantity.END_TO_END, 220e6, Transport(route=Route.NFS))
    for samples_taken, slowest, rate in (
        ((by_ssh,), Quantity.SSH, "240 MB/s"),
        ((by_ssh, by_nfs), Quantity.WRITE, "250 MB/s"),
    ):
        said = probes_summary((*links, *samples_taken))
        assert figures(said)[0] == rate
        assert f" {quantity_name(slowest)}, " in said


@pytest.mark.parametrize(
    ("name", "shown"), [("db1", "db1"), ("x" * 40, "x" * 40), ("a" * 60 + "b" * 38, "a" * 19 + "…" + "b" * 19)]
)
def test_a_very_long_name_keeps_its_beginning_and_its_end(name: str, shown: str) -> None:
    assert shortened(name) == shown


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_a_report_says_of_a_gap_names_a_page_that_there_is_and_no_report(language: str) -> None:
    """Each caller of `missing` in core/reports names its page by the title that the page has."""
    folder = Path(missing.__code__.co_filename).parent
    calls = [
        node
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "missing"
    ]
    named = {ast.literal_eval(call.args[-1]) for call in calls}
    assert len(calls) > 5
    assert named <= {kind.title for kind in PAGES}
    with spoken(language):
        for page in named:
            said = use_window_terms(missing("Gap.", samples.MOVE, "check", page))
            assert tr(page) in said
            assert not re.search(r"pghaul|report|Bericht|window|Fenster", said)
