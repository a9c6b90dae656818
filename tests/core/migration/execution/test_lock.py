"""The list of the locks of a server, read back."""

import pytest

from core.errors import ParseError
from core.migration.execution.lock import Holder, parse_locks

ONE, OTHER = "/var/tmp/pghaul-lock-0123456789ab", "/var/tmp/pghaul-lock-ba9876543210"


def test_each_lock_has_its_token_and_whose_it_is() -> None:
    text = f"{ONE} token dba@here since 2026-11-22 08:00 UTC\n{OTHER} strange\n# 2 locks\n"
    assert parse_locks(text) == (
        Holder(ONE, "token", "dba@here since 2026-11-22 08:00 UTC"),
        Holder(OTHER, "strange", "strange"),
    )


def test_none_is_said() -> None:
    assert parse_locks("# 0 locks\n") == ()


@pytest.mark.parametrize("text", ["", f"{ONE} token dba\n", f"{ONE} token dba\n# 2 locks\n", "# 0 locks\n# who"])
def test_a_list_that_is_not_whole_is_never_taken_for_none(text: str) -> None:
    with pytest.raises(ParseError):
        parse_locks(text)
