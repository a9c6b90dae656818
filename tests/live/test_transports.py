"""The passes of each transport between the two real hosts: what arrives is what was there, whatever it is called."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from core.errors import CommandError
from core.facts.collect import collect
from core.jobs import Job
from core.migration.findings.data_roots import DataRoot
from core.migration.model.move import Move
from core.migration.model.plan import Step, alone, functions_file, functions_of
from core.migration.model.transport import Route, Transport
from core.migration.transports import copy_channel, passes
from core.migration.transports.copy_channel import CopyChannel, make_copy_channel
from core.migration.transports.routes import route_steps
from core.servers.connection import Server
from core.servers.shell import Shell, call, command
from tests.lab.hosts import Host
from tests.lab.lab import Lab

pytestmark = pytest.mark.lab

SOURCE = '/srv/pg/from it\'s $(touch x) "ö"'
TARGET = '/srv/pg/to it\'s $(touch x) "ö"'
PLACE = DataRoot("data", "", SOURCE, TARGET, None, None)
TRANSPORTS = [
    Transport(),
    Transport("aes128-ctr", "zstd:1", 3),
    Transport(compression="lz4"),
    Transport(route=Route.DAEMON),
    Transport(compression="lz4", streams=3, route=Route.DAEMON),
    Transport(route=Route.LOCAL),
    Transport(streams=3, route=Route.LOCAL),
]

_FILL = """
mkdir -p base/1 pg_tblspc empty && ln -s /srv/pg pg_tblspc/1 && ln base/../PG_VERSION again 2>/dev/null
for each in 1 2 3 4 5 6 7; do head -c $((each * 300000)) /dev/urandom >base/1/$each; done
echo 15 >PG_VERSION; echo 1 >'a b'; echo 2 >"it's"; echo 3 >'$(touch x)'; echo 4 >'#first'; echo 5 >'; second'
printf 6 >'line
break'; printf 7 >"$(printf 'not utf-8 \\377')"; : >nothing; echo pid >postmaster.pid
find . '(' -type f -o -type l ')' -exec touch -h -d '2020-01-01 00:00:00.1' {} +
"""
_LIST = "find . ! -path ./postmaster.pid -printf '%y %m %s %T@ %l %P\\0' | sort -z | tr '\\0' '\\n' | cat -v"
_SUMS = "find . -type f ! -path ./postmaster.pid -print0 | sort -z | xargs -0 sha256sum | cat -v"


@pytest.fixture
def source(lab: Lab, clean_hosts: None) -> Iterator[Host]:  # noqa: ARG001  looks last
    """A folder on old with everything that a file can be called."""
    for host, folder in ((lab.old, SOURCE), (lab.old, TARGET), (lab.new, TARGET)):
        host.exec("install", "-d", "-o", "postgres", "-g", "postgres", "-m", "700", "--", folder)
    inside(lab.old, SOURCE, _FILL)
    yield lab.old
    lab.old.exec("rm", "-rf", "--", SOURCE, TARGET)
    lab.new.exec("rm", "-rf", "--", TARGET)


def inside(host: Host, folder: str, text: str) -> str:
    return host.exec("sh", "-c", f'cd -- "$0" && {{ {text}\n}}', folder, user="postgres").stdout


def content(host: Host, folder: str) -> str:
    """Names, types, modes, sizes, times and sums of all that lies there, but for the folder's own time."""
    lines = inside(host, folder, _LIST).splitlines()
    return "\n".join([*(line for line in lines if not line.startswith("d ")), inside(host, folder, _SUMS)])


def run(server: Server, shell: Shell) -> str:
    return server.run(shell, Job(), user="postgres", deadline=60).stdout


@contextmanager
def opened(old: Server, new: Server, transport: Transport) -> Iterator[CopyChannel]:
    move = Move('it\'s "ö"', "old", "new", SOURCE, TARGET, "/srv/pg", "/srv/pg")
    facts, address, login = collect(old, Job()), new.address, new.profile.user
    targets = [("data", TARGET)]
    channel = make_copy_channel(
        move, new.profile, facts, targets, purpose="probe", address=address, login=login, seed="0123"
    )
    channel = replace(channel, transport=transport, rsync=(3, 2, 7))
    route = route_steps(channel)

    def carry_out(step: Step, stdin: str = "") -> str:
        server = old if step.side == "old" else new
        kept = functions_file(functions_of([step])) if step.remote is not None and step.remote.takes_functions else ""
        return server.run(alone(step), Job(), user=step.user, stdin=(stdin + kept).encode()).stdout

    try:
        said: dict[str, str] = {}
        for step in route.opening_steps(channel, "postgres"):
            said[step.id] = carry_out(step, said.get(step.reads, ""))
        yield channel
    finally:
        for step in route.closing_steps(channel, "postgres"):
            carry_out(step)


@pytest.mark.parametrize(
    "transport",
    [pytest.param(each, marks=[pytest.mark.long] if each.streams == 1 else []) for each in TRANSPORTS],
    ids=lambda each: each.name,
)
def test_a_cold_pass_makes_both_the_same(
    lab: Lab, source: Host, old_server: Server, new_server: Server, transport: Transport
) -> None:
    new = lab.old if transport.route is Route.LOCAL else lab.new
    inside(new, TARGET, "mkdir base && echo stale >base/gone && echo other >PG_VERSION")
    with opened(old_server, new_server, transport) as channel:
        gone = run(old_server, passes.prepare_call(channel, passes.list_deletions(PLACE)))
        run(old_server, passes.prepare_call(channel, passes.full_pass(PLACE)))
    assert gone.splitlines() == ["base/gone", "# 1 entries"]
    assert content(new, TARGET) == content(source, SOURCE)
    assert inside(new, TARGET, "ls postmaster.pid x || true") == ""


LIMIT = 2_000_000
"""Bytes/s."""


@pytest.mark.long
@pytest.mark.parametrize(
    "transport", [each for each in TRANSPORTS if each.route is Route.DAEMON], ids=lambda each: each.name
)
def test_a_limited_pre_copy_pass_through_the_daemon_is_slow_and_the_final_pass_is_not(
    lab: Lab, source: Host, old_server: Server, new_server: Server, transport: Transport
) -> None:
    """What it sends is random, so that compression does not help."""
    size = int(inside(source, SOURCE, "cat base/1/* | wc -c"))
    with opened(old_server, new_server, transport) as channel:
        limited = replace(channel, precopy_limit=LIMIT)
        pre_copy = passes.limited_pre_copy_pass(PLACE, 20, channel.folder)
        assert seconds_of(old_server, passes.prepare_call(limited, pre_copy)) > 0.7 * size / LIMIT
        assert content(lab.new, TARGET) == content(source, SOURCE)
        inside(source, SOURCE, 'for each in base/1/*; do head -c 3000000 /dev/urandom >"$each"; done')
        size = int(inside(source, SOURCE, "cat base/1/* | wc -c"))
        final = passes.changed_pass(PLACE), passes.rest_pass(PLACE)
        assert sum(seconds_of(old_server, passes.prepare_call(limited, each)) for each in final) < size / LIMIT
    assert content(lab.new, TARGET) == content(source, SOURCE)


def seconds_of(server: Server, shell: Shell) -> float:
    began = time.monotonic()
    run(server, shell)
    return time.monotonic() - began


@pytest.mark.long
@pytest.mark.parametrize("transport", TRANSPORTS, ids=lambda each: each.name)
def test_of_a_tablespace_the_parts_are_brought_and_what_lies_beside_them_stays(
    lab: Lab, source: Host, old_server: Server, new_server: Server, transport: Transport
) -> None:
    root, own, wal = replace(PLACE, parts=("PG_15_7", "it's [ö] *\\ wal")), f"{SOURCE}/PG_15_7", "/it's [ö] *\\ wal"
    new = lab.old if transport.route is Route.LOCAL else lab.new
    fill = 'mkdir -p PG_15_7/5/PG_13_1 PG_15_70 PG_13_1 "it\'s [ö] *\\ wal/5"; touch PG_15_70/1 PG_13_1/1'
    inside(source, SOURCE, f'{fill}; echo a >PG_15_7/5/1; echo b >"it\'s [ö] *\\ wal/5/1"')
    inside(new, TARGET, f'{fill}; echo z | tee PG_15_7/5/1 PG_15_7/5/gone "it\'s [ö] *\\ wal/gone" >mine')
    with opened(old_server, new_server, transport) as channel:
        run(old_server, passes.prepare_call(channel, passes.pre_copy_pass(root)))
        gone = run(old_server, passes.prepare_call(channel, passes.list_deletions(root)))
        run(old_server, passes.prepare_call(channel, passes.full_pass(root)))
        assert len(gone.splitlines()) == 3, gone
        for part in ("/PG_15_7", wal):
            assert content(new, f"{TARGET}{part}") == content(source, f"{SOURCE}{part}")
        inside(source, own, "echo c >5/1; echo d >5/2")
        run(old_server, passes.prepare_call(channel, passes.changed_pass(root)))
        run(old_server, passes.prepare_call(channel, passes.rest_pass(root)))
    assert content(new, f"{TARGET}/PG_15_7") == content(source, own)
    assert inside(new, TARGET, "ls | wc -l; ls PG_13_1 PG_15_70 mine | wc -l").split() == ["5", "7"]


@pytest.mark.parametrize(
    "transport",
    [TRANSPORTS[0], pytest.param(TRANSPORTS[1], marks=pytest.mark.long)],
    ids=lambda each: each.name,
)
def test_the_final_pass_carries_a_page_that_changed_within_the_second(
    lab: Lab, source: Host, old_server: Server, new_server: Server, transport: Transport
) -> None:
    """Same size, mtime put back to the very same nanosecond: rsync's own quick check would skip it."""
    with opened(old_server, new_server, transport) as channel:
        run(old_server, passes.prepare_call(channel, passes.pre_copy_pass(PLACE)))
        assert content(lab.new, TARGET) == content(source, SOURCE)
        change = "touch -r base/1/7 kept && printf changed | dd of=base/1/7 bs=1 seek=8192 conv=notrunc 2>/dev/null"
        inside(source, SOURCE, f"{change} && touch -r kept base/1/7 && rm kept 'a b' && mkdir later && echo 1 >later/1")
        changed = content(source, SOURCE)
        run(old_server, passes.prepare_call(channel, passes.rest_pass(PLACE)))
        assert content(lab.new, TARGET) != changed
        run(old_server, passes.prepare_call(channel, passes.changed_pass(PLACE)))
        run(old_server, passes.prepare_call(channel, passes.rest_pass(PLACE)))
    assert content(lab.new, TARGET) == changed


def test_a_second_warm_pass_sends_what_changed_alone(source: Host, old_server: Server, new_server: Server) -> None:
    with opened(old_server, new_server, Transport(streams=2)) as channel:
        run(old_server, passes.prepare_call(channel, passes.pre_copy_pass(PLACE)))
        inside(source, SOURCE, "sleep 2.1")  # what was written just before a pass is carried again
        run(old_server, passes.prepare_call(channel, passes.pre_copy_pass(PLACE)))
        inside(source, SOURCE, "printf changed | dd of=base/1/3 bs=1 seek=5 conv=notrunc 2>/dev/null")
        run(old_server, passes.prepare_call(channel, passes.pre_copy_pass(PLACE)))
        listed = source.exec("sh", "-c", 'cat "$0"/files-data-*.names | tr "\\0" "\\n"', channel.folder).stdout
    assert listed.split() == ["./base/1/3"]


def test_the_key_does_this_copy_alone_and_opens_nothing_when_it_has_expired(
    source: Host, old_server: Server, new_server: Server
) -> None:
    with opened(old_server, new_server, Transport()) as channel:
        assert over_ssh(old_server, channel, "pghaul-receive discard") == ""
        for asked in (
            "id",
            "pghaul-receive data --server --daemon --config=sent . .",
            "pghaul-receive data --server . /",
        ):
            with pytest.raises(CommandError, match="this key allows one copy only"):
                over_ssh(old_server, channel, asked)
        public = source.exec("cat", f"{channel.folder}/key.pub").stdout
        gone_by = call("allow_key", channel.marker, -1, copy_channel.key_options(channel))
        new_server.run(gone_by, Job(), user=channel.login, stdin=public.encode())
        with pytest.raises(CommandError, match="Permission denied"):
            over_ssh(old_server, channel, "pghaul-receive discard")


def test_rsync_reaches_the_target_alone_on_new(lab: Lab, source: Host, old_server: Server, new_server: Server) -> None:  # noqa: ARG001
    with opened(old_server, new_server, Transport()) as channel:
        seen = 'sh "$0"/functions enclose sh -c "pwd; ls / /home /tmp; cat /proc/mounts /etc/shadow"'
        found = lab.new.exec(
            "sh", "-c", f'cd -- "$1" && {seen}', channel.functions_folder, TARGET, user="postgres", check=False
        )
    assert found.stdout.splitlines()[0] == TARGET
    assert not {"home", "var", "root", "run"} & set(found.stdout.split())


def over_ssh(old: Server, channel: CopyChannel, asked: str) -> str:
    """What new answers to that behind the key."""
    return run(old, command("ssh", "-F", f"{channel.folder}/ssh_config", "new", asked))
