"""`pghaul server` and the terminal's answers about host keys: what is refused, and what the refusal tells to do."""

from pathlib import Path

import pytest

from core.api.servers import is_promised
from core.cli.main import main
from core.cli.terminal import TerminalAsker
from core.errors import HostKeyError
from core.servers.profiles import Rights


@pytest.mark.parametrize("address", ["", "a b;c", "-oProxyCommand=touch /tmp/x", "a\nb", "a\x1bb"])
def test_what_is_no_address_is_refused(capsys: pytest.CaptureFixture[str], address: str) -> None:
    assert main(["server", "add", "old", "--", address]) == 2
    assert f"pghaul: {address!r} " in capsys.readouterr().err.replace("\\\\", "\\")
    assert main(["server", "add", "old", "192.0.2.1", f"--copy-address={address}"]) == 2


def test_a_key_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    key = tmp_path / "key"
    arguments = ["server", "add", "old", "2001:db8::1", "--identity", str(key)]
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert f" {key}" in err
    assert "hint: " in err
    key.touch()
    assert main(arguments) == 0


def test_a_taken_name_tells_of_replace(capsys: pytest.CaptureFixture[str]) -> None:
    move = ["move", "add", "spring", "--old", "old", "--new", "new", "--cluster", "/srv/pg"]
    for arguments in (["server", "add", "old", "192.0.2.1"], ["server", "add", "new", "192.0.2.2"], move):
        assert main(arguments) == 0
        assert main(arguments) == 2
        assert "--replace" in capsys.readouterr().err
        assert main([*arguments, "--replace"]) == 0


@pytest.mark.parametrize(("trusted", "said"), [((), "(ssh-ed25519 SHA256:shown)"), (("SHA256:other",), "--host-key")])
def test_an_unknown_key_without_a_terminal_names_its_option(trusted: tuple[str, ...], said: str) -> None:
    asker = TerminalAsker(frozenset(trusted))
    with pytest.raises(HostKeyError) as caught:
        asker.accept_host_key("old", "192.0.2.1", "ssh-ed25519", "SHA256:shown")
    assert said in caught.value.message
    assert "--host-key SHA256:shown" in caught.value.hint
    assert TerminalAsker(frozenset(["SHA256:shown"])).accept_host_key("old", "192.0.2.1", "ssh-ed25519", "SHA256:shown")


def test_the_rights_that_a_profile_promises() -> None:
    found = {rights: [user for user in ("root", "postgres") if is_promised(rights, user)] for rights in Rights}
    assert found == {
        Rights.NONE: [],
        Rights.SUDO: ["root", "postgres"],
        Rights.SUDO_PASSWORD: ["root", "postgres"],
        Rights.SUDO_POSTGRES: ["postgres"],
    }


def test_rights_that_there_are_not_are_answered_by_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "add", "old", "192.0.2.1", "--rights", "foo"]) == 2
    said = capsys.readouterr().err
    assert "invalid choice: 'foo' (choose from " in said
    assert all(each.value in said.rpartition("choose from")[2] for each in Rights)
