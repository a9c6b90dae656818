"""What the probes of a move will take, by its history alone."""

from datetime import UTC, datetime
from pathlib import Path

from core.api.migration import forecast_probes
from core.api.session import Session
from core.history.example import MOVE, lay
from core.history.store import Store
from core.migration.probing.proportion import lately
from core.servers.profiles import Nobody


def test_the_forecast_of_a_move_needs_no_server(tmp_path: Path) -> None:
    lay(tmp_path / "history")
    with Store.open(tmp_path / "history") as store, Session(store, Nobody()) as session:
        coming = forecast_probes(session, MOVE)
        assert coming.seconds == 15
        assert set(coming.again) == set(lately(store.probes(MOVE), datetime.now(UTC)))
        assert 0 < coming.sent_bytes <= coming.written_bytes
        assert forecast_probes(session, MOVE, thorough=True).seconds == 105
