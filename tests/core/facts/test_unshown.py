"""Which settings are not shown: those that may hold a secret, wherever settings are read."""

import re

import pytest

from core.facts.queries import UNSHOWN
from core.settings import resource


@pytest.mark.parametrize(
    "name",
    [
        *("primary_conninfo", "archive_command", "restore_command", "recovery_end_command", "ssl_passphrase_command"),
        *("ldap_password", "pg_cron.host", "shop.api_key", "auth.token"),
    ],
)
def test_what_may_hold_a_secret_is_not_shown(name: str) -> None:
    assert re.search(UNSHOWN, name)


def test_the_comparison_of_old_and_new_knows_the_same() -> None:
    assert f"'{UNSHOWN}'" in resource("sh", "inventory.sh").read_text(encoding="utf-8")
