"""A trial start on the new server: an empty cluster with the old configuration, before anything is stopped."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread, Timer

import pytest

from core.errors import Cancelled
from core.facts.collect import collect
from core.facts.model import TrialStart
from core.jobs import CommandStarted, Event, Job
from core.migration.probing.trial_start import with_trial_start
from core.servers.connection import Server
from core.servers.shell import split
from tests.lab.fixtures import LabAsker
from tests.lab.footprint import Footprint, differences, footprint
from tests.lab.hosts import Host
from tests.lab.lab import Lab
from tests.lab.machine import wait_until
from tests.live import moving as site
from tests.live.command_line import CommandLine
from tests.live.moving import DATA, NEW_BIN, PORT, ROOT, TARGET, pg_ctl, sql

pytestmark = pytest.mark.lab

_CONF = f"{DATA}/postgresql.conf"
_OWN = f"{ROOT}/conf"
"""A folder of the owner's on both hosts, outside of the data directory."""
_VICTIMS = ("unshare", "timeout", "shell")
_ABOVE_BOTH = "ps -o ppid= -p $(ps -o ppid= -p $(pgrep -x unshare))"


@pytest.fixture
def cli(lab: Lab, asker: LabAsker, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    site.create(lab.old)
    site.clear(lab)
    append(lab.old, _CONF, "listen_addresses = '*'")
    site.start(lab.old)
    made = CommandLine(lab, asker, capsys)
    site.describe(made)
    yield made
    for host in (lab.old, lab.new):
        pg_ctl(host, "-m", "immediate", "stop", check=False)
    site.remove(lab)


def nothing_left(host: Host, before: Footprint) -> None:
    """The server of a connection that was just closed ends a moment later."""
    wait_until(lambda: not differences(before, footprint(host)), "nothing is left", seconds=30)


def append(host: Host, file: str, lines: str) -> None:
    host.exec(
        "sh", "-c", f"mkdir -p '{file.rpartition('/')[0]}' && cat >>'{file}'", user="postgres", input=f"{lines}\n"
    )


def restart(old: Host) -> None:
    pg_ctl(old, "-l", "/dev/null", "restart")


def connected(cli: CommandLine) -> None:
    """Have on the new server what comes with the first connection; a trial start adds nothing to that."""
    code, _, err = cli.connecting("facts", "new")
    assert code == 0, err


def checked(cli: CommandLine, *words: str) -> dict[str, str]:
    """The result of the check, with facts that are read anew, unless the words say otherwise."""
    _, out, err = cli.connecting("check", "m", "--json", *words)
    found = [each for each in json.loads(out)["checks"] if each["id"] == "trial-start"]
    assert found, (out, err)
    return dict(found[0])


def test_it_starts_with_all_of_the_configuration_and_leaves_nothing(cli: CommandLine) -> None:
    """Files beside the new server's own at the same paths, folders that are not there yet, and a log of its own."""
    old, new = cli.lab.old, cli.lab.new
    append(old, f"{_OWN}/more.d/a.conf", "# nothing is set here")
    append(old, f"{_OWN}/one.conf", "work_mem = '5MB'")
    append(old, _CONF, f"include_dir = '{_OWN}/more.d'\ninclude '{_OWN}/one.conf'\narchive_mode = on")
    append(old, _CONF, "archive_command = 'touch /srv/pg/archived'\nlogging_collector = on")
    append(old, _CONF, f"log_directory = '{_OWN}/log'\nexternal_pid_file = '{_OWN}/pid'")
    restart(old)
    append(new, f"{_OWN}/one.conf", "no = 'setting'")
    connected(cli)
    before = footprint(new)
    result = checked(cli)
    assert result["status"] == "pass", result["message"]
    assert f"tcp 0.0.0.0 {PORT}" in result["new"]
    assert f"unix /tmp/.s.PGSQL.{PORT}" in result["new"]
    nothing_left(new, before)
    assert new.exec("cat", f"{_OWN}/one.conf").stdout == "no = 'setting'\n"


@pytest.mark.long
def test_what_lies_in_the_target_is_not_touched(cli: CommandLine) -> None:
    """As what a rehearsal has brought: the trial has another folder at that path, which nobody else sees."""
    new = cli.lab.new
    new.exec("install", "-d", "-o", "postgres", "-m", "700", TARGET, f"{TARGET}/base")
    append(new, f"{TARGET}/postgresql.conf", "no = 'setting'")
    checked(cli)
    look = f"cd '{TARGET}' && find . -printf '%p %i %T@ %m %u\\n' | sort"
    before, whole = new.exec("sh", "-c", look).stdout, footprint(new)
    result = checked(cli)
    assert f"tcp 0.0.0.0 {PORT}" in result["new"], result
    assert new.exec("sh", "-c", look).stdout == before
    nothing_left(new, whole)


@pytest.mark.long
@pytest.mark.parametrize(
    ("lines", "arrange", "says"),
    [
        ("unix_socket_directories = '/srv/sock'", "install -d -m 755 /srv/sock", "could not create lock file"),
        ("log_directory = '/srv/log'\nlogging_collector = on", "install -d -m 755 /srv/log", "could not open log file"),
    ],
    ids=["socket", "log"],
)
def test_a_folder_that_the_owner_cannot_write_is_a_blocker(
    cli: CommandLine, lines: str, arrange: str, says: str
) -> None:
    old, new = cli.lab.old, cli.lab.new
    try:
        old.exec("install", "-d", "-o", "postgres", "/srv/sock", "/srv/log")
        append(old, _CONF, lines)
        restart(old)
        new.exec("sh", "-c", arrange)
        assert_refused(cli, says)
    finally:
        for host in (old, new):
            host.exec("rm", "-rf", "/srv/sock", "/srv/log")


@pytest.mark.long
def test_a_library_that_the_new_server_lacks_is_a_blocker(cli: CommandLine) -> None:
    old = cli.lab.old
    append(old, _CONF, "shared_preload_libraries = 'none_of_new'")  # edited, and not in force
    assert_refused(cli, "none_of_new")


@pytest.mark.long
def test_a_certificate_that_the_new_openssl_refuses_is_a_blocker(cli: CommandLine) -> None:
    old = cli.lab.old
    old.exec(
        *("openssl", "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-days", "9", "-subj", "/CN=old"),
        *("-keyout", f"{DATA}/server.key", "-out", f"{DATA}/server.crt"),
        user="postgres",
    )
    append(old, _CONF, "ssl = on")
    assert_refused(cli, 'could not load server certificate file "server.crt": ee key too small')


@pytest.mark.long
def test_a_port_that_is_taken_is_a_blocker(cli: CommandLine) -> None:
    new = cli.lab.new
    serve = f"python3 -m http.server --bind 127.0.0.1 {PORT} >/dev/null 2>&1 & echo $!"
    server = new.exec("sh", "-c", serve).stdout.strip()
    try:
        taken = f":{PORT:04X} "
        wait_until(lambda: taken in new.exec("cat", "/proc/net/tcp").stdout, "the port is taken")
        assert_refused(cli, "Address already in use")
    finally:
        new.exec("kill", server)


def assert_refused(cli: CommandLine, says: str) -> None:
    """PostgreSQL's own words stand in a blocker, and nothing is left on the new server."""
    checked(cli)  # what comes with the first connection is there
    before = footprint(cli.lab.new)
    result = checked(cli)
    assert (result["status"], says in result["message"]) == ("blocker", True), result["message"]
    nothing_left(cli.lab.new, before)


@pytest.mark.long
def test_a_link_in_the_place_of_the_target_is_not_followed(cli: CommandLine) -> None:
    new = cli.lab.new
    new.exec("ln", "-s", "/etc/ssl", TARGET, user="postgres")
    result = checked(cli)
    assert (result["status"], "leads to /etc/ssl" in result["message"]) == ("warning", True), result
    new.exec("rm", TARGET)


@pytest.mark.long
def test_a_file_of_the_old_server_is_never_run(cli: CommandLine) -> None:
    """It may be called a list of roles, and be loaded as a library."""
    old, new = cli.lab.old, cli.lab.new
    library = new.exec("base64", f"{NEW_BIN}/../lib/auto_explain.so").stdout
    old.exec("sh", "-c", f"base64 -d >{DATA}/list", user="postgres", input=library)
    append(old, f"{DATA}/pg_hba.conf", "local all @list trust")
    append(old, _CONF, f"shared_preload_libraries = '{TARGET}/list'")
    result = checked(cli)
    assert (result["status"], "failed to map segment" in result["message"]) == ("warning", True), result["message"]


@contextmanager
def another_server(new: Host, data: str, socket: str) -> Iterator[None]:
    """A server of the new host's own, at the port of the old cluster."""
    made = f"""
set -e
mkdir -p {ROOT} && chown postgres {ROOT} && cd /
runuser -u postgres -- {NEW_BIN}/initdb -N -A trust -U postgres -D {data} </dev/null >/dev/null
cat >>{data}/postgresql.conf
runuser -u postgres -- {NEW_BIN}/pg_ctl -s -w -l /dev/null -D {data} start
"""
    settings = f"port = {PORT}\nlisten_addresses = ''\nunix_socket_directories = '\"{socket}\"'\n"
    new.exec("sh", "-c", made, input=settings)
    try:
        yield
    finally:
        stop = f"cd / && {NEW_BIN}/pg_ctl -m immediate -D {data} stop"
        new.exec("sh", "-c", stop, user="postgres", check=False)  # a test may have killed it


def test_a_server_with_the_same_socket_is_not_disturbed(cli: CommandLine) -> None:
    """The trial does not see its process, and would take its lock file for a stale one: it looks what listens."""
    new = cli.lab.new
    with another_server(new, f"{ROOT}/other", "/tmp"):
        connected(cli)
        look = ("stat", "-c", "%i %z", f"/tmp/.s.PGSQL.{PORT}", f"/tmp/.s.PGSQL.{PORT}.lock")
        before, whole = new.exec(*look).stdout, footprint(new)
        result = checked(cli)
        assert (result["status"], f"/tmp/.s.PGSQL.{PORT}" in result["message"]) == ("blocker", True), result
        assert new.exec(*look).stdout == before
        assert site.sql(new, "select 1", "postgres") == "1"
        nothing_left(new, whole)


def tried(cli: CommandLine, old_server: Server, new_server: Server) -> TrialStart:
    """What comes of a trial start, behind which nothing is left on the new server."""
    facts = collect(old_server, Job(), folders=[DATA]), collect(new_server, Job())
    before = footprint(cli.lab.new)
    made = with_trial_start(old_server, new_server, *facts, site.MOVE, Job()).trial_start
    nothing_left(cli.lab.new, before)
    assert made is not None
    return made


@pytest.mark.long
@pytest.mark.parametrize("target", ["missing", "there"])
@pytest.mark.parametrize(
    "line",
    [
        "logging_collector = on\nlog_directory = '../log'",
        "unix_socket_directories = '/tmp,../sock'",
        f"unix_socket_directories = '/tmp , \"{ROOT}/so, ck\"'",
        "ssl = on\nssl_cert_file = '../tls/server.crt'\nssl_key_file = '../tls/server.key'",
    ],
    ids=["log", "socket", "quoted", "key"],
)
def test_folders_by_relative_and_quoted_names_are_the_host_s_and_stay_as_they_are(
    cli: CommandLine, old_server: Server, new_server: Server, line: str, target: str
) -> None:
    for host in (cli.lab.old, cli.lab.new):
        host.exec(
            "install", "-d", "-o", "postgres", ROOT, *(f"{ROOT}/{each}" for each in ("log", "sock", "so, ck", "tls"))
        )
        host.exec(
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9", "-subj", "/CN=x"),
            *("-keyout", f"{ROOT}/tls/server.key", "-out", f"{ROOT}/tls/server.crt"),
            user="postgres",
        )
    if target == "there":
        cli.lab.new.exec("install", "-d", "-o", "postgres", "-m", "700", TARGET)
    append(cli.lab.old, _CONF, line)
    restart(cli.lab.old)
    made = tried(cli, old_server, new_server)
    assert f"unix /tmp/.s.PGSQL.{PORT}" in made.listened, made


@pytest.mark.long
@pytest.mark.parametrize(
    ("folder", "says"),
    [(f"{ROOT}/sock", "../sock"), (f"{ROOT}/so ck", f'"{ROOT}/so ck"')],
    ids=["relative", "quoted"],
)
def test_a_server_on_a_socket_that_is_named_otherwise_is_not_disturbed(
    cli: CommandLine, old_server: Server, new_server: Server, folder: str, says: str
) -> None:
    cli.lab.old.exec("install", "-d", "-o", "postgres", folder)
    append(cli.lab.old, _CONF, f"unix_socket_directories = '/tmp,{says}'")
    restart(cli.lab.old)
    cli.lab.new.exec("install", "-d", "-o", "postgres", "-m", "700", ROOT, folder, TARGET)
    with another_server(cli.lab.new, f"{ROOT}/other", folder):
        assert f"{says.strip(chr(34))}/.s.PGSQL.{PORT}" in tried(cli, old_server, new_server).failed
        ask = f"psql -X -A -t -h '{folder}' -p {PORT} -c 'select 1' postgres"
        assert cli.lab.new.exec("sh", "-c", ask, user="postgres").stdout.strip() == "1"


@pytest.mark.long
@pytest.mark.parametrize("options", ["-r {}", "--single -r {}", "-C port -r {}", "-o '-r {}'", "--boot -r {}"])
def test_options_of_the_old_server_write_no_file_of_the_new_one(
    cli: CommandLine, old_server: Server, new_server: Server, options: str
) -> None:
    """postmaster.opts is a file of the old server's, in which anything may stand."""
    new = cli.lab.new
    new.exec(
        "sh", "-c", f"install -d -o postgres {ROOT} && echo '# own' >{ROOT}/profile && chown postgres {ROOT}/profile"
    )
    words = " ".join(f'"{each}"' for each in split(options.format(f"{ROOT}/profile")))
    cli.lab.old.exec("sh", "-c", f"cat >{DATA}/postmaster.opts", user="postgres", input=f"/opt/bin/postgres {words}\n")
    tried(cli, old_server, new_server)
    assert new.exec("cat", f"{ROOT}/profile").stdout == "# own\n"


@pytest.mark.long
@pytest.mark.parametrize("addresses", ["{0}", "db-vip", "db-vip, 127.0.0.1", "no-such-name"])
def test_an_address_that_may_come_over_with_the_cluster_is_named_and_no_blocker(
    cli: CommandLine, old_server: Server, new_server: Server, addresses: str
) -> None:
    hosts = (cli.lab.old, cli.lab.new)
    address = cli.lab.old.address
    for host in hosts:
        host.exec("sh", "-c", "cp /etc/hosts /tmp/hosts && cat >>/etc/hosts", input=f"{address} db-vip no-such-name\n")
    try:
        append(cli.lab.old, _CONF, f"listen_addresses = '{addresses.format(address)}'")
        restart(cli.lab.old)
        if addresses == "no-such-name":
            cli.lab.new.exec("sh", "-c", "sed -i s/no-such-name// /etc/hosts")
        made = tried(cli, old_server, new_server)
    finally:
        for host in hosts:
            host.exec("sh", "-c", "cat /tmp/hosts >/etc/hosts && rm /tmp/hosts")
    assert made.lacking == (addresses.format(address).split(",")[0],), made
    assert f"tcp 127.0.0.1 {PORT}" in made.listened


@pytest.mark.long
def test_a_name_that_no_command_can_hold_is_a_trial_not_made(
    cli: CommandLine, old_server: Server, new_server: Server
) -> None:
    append(cli.lab.old, f"{_OWN}/a\nb.conf", "work_mem = '5MB'")
    append(cli.lab.old, _CONF, f"include '{_OWN}/a\\nb.conf'")
    restart(cli.lab.old)
    made = tried(cli, old_server, new_server)
    assert (made.listened, made.failed) == ((), "")
    assert made.not_tried


@pytest.mark.long
def test_of_two_at_once_one_gives_way(cli: CommandLine, old_server: Server, new_server: Server) -> None:
    facts = collect(old_server, Job(), folders=[DATA]), collect(new_server, Job())
    before = footprint(cli.lab.new)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(with_trial_start, old_server, new_server, *facts, site.MOVE, Job()) for _ in range(2)]
    made = [each.result().trial_start for each in both]
    said = [bool(each.listened) or "another trial start" in each.not_tried for each in made if each is not None]
    assert said == [True, True], made
    assert any(each.listened for each in made if each is not None)
    nothing_left(cli.lab.new, before)


@pytest.mark.long
def test_no_library_is_loaded_but_from_the_folders_of_the_system(
    cli: CommandLine, old_server: Server, new_server: Server
) -> None:
    """A file of a tablespace that a rehearsal has brought, or of anybody's, may be one."""
    new, file = cli.lab.new, "/srv/pg/space/PG_15_202209061/5/16384"
    library = f"{NEW_BIN}/../lib/auto_explain.so"
    new.exec("sh", "-c", f"mkdir -p {file.rpartition('/')[0]} && cp {library} {file} && chown -R nobody /srv/pg/space")
    try:
        append(cli.lab.old, _CONF, f"shared_preload_libraries = '{file}'")
        made = tried(cli, old_server, new_server)
    finally:
        new.exec("rm", "-rf", "/srv/pg/space")
    assert "failed to map segment" in made.not_tried, made


@pytest.mark.long
@pytest.mark.parametrize(
    "line", ["logging_collector = on\nlog_directory = '{}/log'", "unix_socket_directories = '/tmp,{}'"]
)
def test_nothing_leads_out_by_what_shows_the_processes_of_the_host(
    cli: CommandLine, old_server: Server, new_server: Server, line: str
) -> None:
    """As in a folder for chroot: /proc/PID/root of a process of the database user's."""
    new = cli.lab.new
    new.exec("sh", "-c", "mkdir -p /srv/pg/jail/proc /srv/pg/prey && mount -t proc proc /srv/pg/jail/proc")
    new.exec("install", "-d", "-o", "postgres", "/srv/pg/prey/log", "/srv/pg/prey/way")
    process = new.exec("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!", user="postgres").stdout.strip()
    try:
        append(cli.lab.old, _CONF, line.format(f"/srv/pg/jail/proc/{process}/root/srv/pg/prey"))
        made = tried(cli, old_server, new_server)
        assert new.exec("find", "/srv/pg/prey", "-type", "f").stdout == ""
    finally:
        new.exec("kill", process)
        new.exec("sh", "-c", "umount /srv/pg/jail/proc && rm -rf /srv/pg/jail /srv/pg/prey")
    assert not made.listened


@pytest.mark.long
def test_mounts_that_others_hide_are_no_hindrance(cli: CommandLine, old_server: Server, new_server: Server) -> None:
    new = cli.lab.new
    hide = "mkdir -p /srv/hid/sub && mount -t tmpfs x /srv/hid/sub && mount -t tmpfs y /srv/hid && mkdir /srv/hid/sub"
    new.exec("sh", "-c", f"{hide} && mount -t tmpfs z /proc/sys/fs/binfmt_misc")
    try:
        assert tried(cli, old_server, new_server).listened
    finally:
        new.exec("sh", "-c", "umount /proc/sys/fs/binfmt_misc; umount /srv/hid; umount /srv/hid/sub; rm -r /srv/hid")


@pytest.mark.long
@pytest.mark.parametrize("lives", [True, False])
def test_the_lock_file_of_a_socket_counts_as_it_does_for_a_server(
    cli: CommandLine, old_server: Server, new_server: Server, *, lives: bool
) -> None:
    """Of a live server whose socket was cleaned away; of one that was killed, in a folder like /tmp."""
    new = cli.lab.new
    with another_server(new, f"{ROOT}/other", "/tmp"):
        if lives:
            new.exec("rm", f"/tmp/.s.PGSQL.{PORT}")
            assert f"/tmp/.s.PGSQL.{PORT}.lock" in tried(cli, old_server, new_server).failed
        else:
            new.exec("sh", "-c", f"kill -9 $(head -n 1 {ROOT}/other/postmaster.pid)")
    if not lives:
        assert tried(cli, old_server, new_server).listened
        new.exec("sh", "-c", f"rm -f /tmp/.s.PGSQL.{PORT}*")


@pytest.mark.long
@pytest.mark.parametrize("target", ["missing", "there"])
def test_links_that_lead_up_lead_where_they_do(
    cli: CommandLine, old_server: Server, new_server: Server, target: str
) -> None:
    certificates = "/srv/pg/certificates"
    for host in (cli.lab.old, cli.lab.new):
        host.exec("install", "-d", "-o", "postgres", ROOT, f"{ROOT}/tls", certificates)
        host.exec(
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9", "-subj", "/CN=x"),
            *("-keyout", f"{certificates}/server.key", "-out", f"{certificates}/server.crt"),
            user="postgres",
        )
        link = f"cd {ROOT}/tls && ln -s ../../certificates/server.key ../../certificates/server.crt ."
        host.exec("sh", "-c", link, user="postgres")
    if target == "there":
        cli.lab.new.exec("install", "-d", "-o", "postgres", "-m", "700", TARGET)
    names = f"ssl_cert_file = '{ROOT}/tls/server.crt'\nssl_key_file = '{ROOT}/tls/server.key'"
    append(cli.lab.old, _CONF, f"ssl = on\n{names}")
    restart(cli.lab.old)
    try:
        assert tried(cli, old_server, new_server).listened
    finally:
        for host in (cli.lab.old, cli.lab.new):
            host.exec("rm", "-rf", certificates)


@pytest.mark.long
@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("wal_level = minimal\narchive_mode = on\nmax_wal_senders = 0", "WAL archival cannot be enabled"),
        ("wal_level = minimal\nmax_wal_senders = 5", "WAL streaming"),
        (
            f"logging_collector = on\nlog_directory = '{_OWN}/log'\nlog_filename = 'sub/a.log'",
            "could not open log file",
        ),
    ],
)
def test_what_the_first_local_start_holds_back_is_tried_where_a_start_depends_on_it(
    cli: CommandLine, old_server: Server, new_server: Server, lines: str, says: str
) -> None:
    append(cli.lab.old, _CONF, lines)
    cli.lab.new.exec("install", "-d", "-o", "postgres", ROOT, _OWN, f"{_OWN}/log")
    assert says in tried(cli, old_server, new_server).failed


def test_a_plan_says_what_the_checks_have_found_until_what_they_stand_on_has_changed(cli: CommandLine) -> None:
    """What reads the facts again meanwhile makes no trial start, such as the probes."""

    def planned() -> dict[str, str]:
        warnings = json.loads(cli.connecting("plan", "m", "--json")[1])["warnings"]
        return {each["check"]: each["message"] for each in warnings if each["check"]}

    assert checked(cli)["status"] == "pass"
    before = planned()
    assert "trial-start" not in before
    for host in ("old", "new"):
        cli.connecting("facts", host)
    assert planned().keys() == before.keys()
    append(cli.lab.old, _CONF, "work_mem = '7MB'")
    pg_ctl(cli.lab.old, "reload")
    cli.connecting("facts", "old")
    assert "Since the trial start" in planned()["trial-start"]


@pytest.mark.long
def test_a_configuration_file_that_is_a_link_out_of_the_data_directory_goes_along(
    cli: CommandLine, old_server: Server, new_server: Server
) -> None:
    cli.lab.old.exec(
        "sh", "-c", f"mkdir -p {_OWN} && mv {_CONF} {_OWN}/ && ln -s {_OWN}/postgresql.conf {_CONF}", user="postgres"
    )
    restart(cli.lab.old)
    assert tried(cli, old_server, new_server).listened
    append(cli.lab.old, f"{_OWN}/postgresql.conf", "shared_preload_libraries = 'none_of_new'")
    assert "none_of_new" in tried(cli, old_server, new_server).failed


@pytest.mark.long
def test_a_cancelled_trial_leaves_nothing(cli: CommandLine, old_server: Server, new_server: Server) -> None:
    new = cli.lab.new
    facts = collect(old_server, Job(), folders=[DATA]), collect(new_server, Job())
    before = footprint(new)
    job: Job

    def cancel_soon(event: Event) -> None:
        if isinstance(event, CommandStarted) and "Start an empty cluster" in event.title:
            Timer(0.7, job.cancel).start()

    job = Job(cancel_soon)
    with pytest.raises(Cancelled):
        with_trial_start(old_server, new_server, *facts, site.MOVE, job)
    nothing_left(new, before)


@pytest.mark.long
@pytest.mark.parametrize("victim", _VICTIMS)
def test_a_trial_that_is_killed_leaves_nothing(
    cli: CommandLine, old_server: Server, new_server: Server, victim: str
) -> None:
    """KILL to what holds the namespaces, to what bounds them in time, and to the shell above them."""
    new = cli.lab.new
    old_facts, new_facts = collect(old_server, Job(), folders=[DATA]), collect(new_server, Job())
    before = footprint(new)
    chosen = ("pgrep -x unshare", "ps -o ppid= -p $(pgrep -x unshare)", _ABOVE_BOTH)[_VICTIMS.index(victim)]
    kill = f"until pgrep -x initdb >/dev/null; do sleep 0.02; done; kill -s KILL $({chosen})"
    killer = Thread(target=new.exec, args=("timeout", "30", "sh", "-c", kill))
    killer.start()
    made = with_trial_start(old_server, new_server, old_facts, new_facts, site.MOVE, Job()).trial_start
    killer.join()
    assert made is not None
    assert (made.failed, made.listened) == ("", ()), made
    assert made.not_tried
    nothing_left(new, before)


_TAKEN = f"setsid python3 -m http.server --bind 127.0.0.1 {PORT} >/dev/null 2>&1 </dev/null & echo $! >{ROOT}/taken"


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "mend", "says"),
    [
        (_TAKEN, f"kill $(cat {ROOT}/taken)", f"127.0.0.1 port {PORT} (by python3"),
        ("chown root /srv/sock", "chown postgres /srv/sock", "cannot create a file in the folder /srv/sock"),
    ],
    ids=["port", "owner"],
)
def test_what_goes_wrong_on_the_new_server_after_the_checks_is_found_before_the_stop(
    cli: CommandLine, spoil: str, mend: str, says: str
) -> None:
    """When the applications are stopped already: every check and every other look lies behind."""
    old, new = cli.lab.old, cli.lab.new
    for host in (old, new):
        host.exec("install", "-d", "-o", "postgres", ROOT, "/srv/sock")
    append(old, _CONF, "unix_socket_directories = '/tmp,/srv/sock'")
    restart(old)
    began = sql(old, "select pg_postmaster_start_time()")
    once = f"[ -e {ROOT}/spoiled ] || {{ touch {ROOT}/spoiled; {spoil}; }}"
    cli("move", "hook", "m", "stop-applications", "--side", "new", "--as", "root", "--command", once)
    try:
        code, _, err = cli.connecting("execute", "m", "--confirm", DATA, "--manual-steps-done")
        assert (code, says in err) == (1, True), err
        assert sql(old, "select pg_postmaster_start_time()") == began
        new.exec("sh", "-c", mend)
        code, _, err = cli.connecting("execute", "m", "--resume", "--confirm", DATA, "--manual-steps-done")
        assert code == 0, err
        assert "not tried again before the stop" not in err
        assert sql(new, "select 1") == "1"
    finally:
        for host in (old, new):
            host.exec("rm", "-rf", "/srv/sock", f"{ROOT}/spoiled", f"{ROOT}/taken")
