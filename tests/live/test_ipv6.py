"""Servers that are reached by IPv6 alone: every connection of a move, from here and between the two, takes it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.lab import network
from tests.lab.fixtures import LabAsker
from tests.lab.lab import Lab
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA

pytestmark = pytest.mark.lab


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """The hosts, which have addresses of IPv6 alone."""
    with network.ipv6_alone(lab.subnet, {host.name: host.pid for host in (lab.old, lab.new)}) as addresses:
        old, new = (replace(host, address=addresses[host.name]) for host in (lab.old, lab.new))
        with site.running(CommandLine(replace(lab, old=old, new=new), asker, capsys)) as made:
            yield made


@pytest.mark.long
def test_a_move_by_ipv6(cli: CommandLine) -> None:
    for words in (("server", "test", "old"), ("server", "test", "new"), ("check", "m"), ("probe", "m"), ("plan", "m")):
        code, out, err = cli.connecting(*words)
        assert code == 0, out + err
    code, out, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
    assert code == 0, out + err
    assert "0 differences" in out + err
