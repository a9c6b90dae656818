"""The hints of the checks, as the reference shows them."""

from core.migration.checks import CHECKS
from installer.hints import LEFT_OUT, hints


def test_a_hint_is_found_where_a_check_hands_it_out_and_where_what_it_calls_does() -> None:
    found = {check.id: hints(check) for check in CHECKS}
    install = "Install them with the system's packages (Debian: `apt-get install rsync openssh-client`)."
    assert ("blocker", install) in found["rsync"]
    assert any(severity == "unknown" and LEFT_OUT in hint for severity, hint in found["rsync"])


def test_every_check_that_can_stop_a_move_says_what_to_do() -> None:
    assert [check.id for check in CHECKS if check.blocking and not hints(check)] == []
