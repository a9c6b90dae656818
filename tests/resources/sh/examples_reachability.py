"""Examples of where a server listens, and of reaching it. A sleeping process is the server; sockets are real."""

from tests.resources.sh.examples import Example

SERVES = r"""mkdir -p data && cat >listen.py <<'P'
import os, socket, sys, time
os.chdir("data")
first = socket.create_server(("127.0.0.1", 0))
second = socket.socket(socket.AF_UNIX)
second.bind(os.path.realpath(".s.PGSQL.9"))
second.listen()
for each in ("postmaster.pid", ".s.PGSQL.9.lock"):
    open(each, "w").write(f"{os.getpid()}\n")
open("../port", "w").write(f"{first.getsockname()[1]}\n")
time.sleep(60)
P
{ /usr/bin/env python3 listen.py >/dev/null 2>&1 & }
while [ ! -s port ]; do sleep 0.02; done"""
"""For `arrange`: a server in the folder data, which listens on the loopback and on a socket; `SERVED` ends it."""
_HOLDS = r"""cat >hold.py <<'P'
import os, socket, time
own = socket.socket(socket.AF_UNIX)
own.bind(os.path.realpath("other/.s.PGSQL.9"))
own.listen()
open("other/pid", "w").write(str(os.getpid()))
time.sleep(60)
P
{ /usr/bin/env python3 hold.py >/dev/null 2>&1 & }
while [ ! -s other/pid ]; do sleep 0.02; done"""
SERVED = 'status=$?; kill "$(cat data/postmaster.pid)"; [ $status -eq 0 ]'
_CONTROL = {"pg_controldata": "echo 'Database system identifier:           7290'"}
_OLD = "identifier 7290\ntcp 0.0.0.0 5432\ntcp 127.0.0.1 5432\nunix /tmp/.s.PGSQL.5432\n"
_NOW = "tcp 0.0.0.0 5432\ntcp :: 5432\nunix /tmp/.s.PGSQL.5432\n"
_HERE = {"listens_own": "7290", "listens_address": "10.0.0.2", "listens_six": "", "listens_addresses": " 10.0.0.2 "}
_HERE |= {"listens_now": _NOW}
_ELSEWHERE = "tcp 127.0.0.1 5433\nunix /tmp/.s.PGSQL.5433"
_TO = "identifier 7290\nreach 5432 10.0.0.2\n# whole\n"
_NO_LOGIN = "echo 'psql: error: FATAL:  no pg_hba.conf entry' >&2; exit 2"
_ASKED_OTHERWISE = {"psql": "pg_isready tells then", "timeout": "pg_isready tells then"}
_SAID_BY_PSQL = {"pg_isready": "what psql says tells then"}
BY_LOCK_FILE = dict.fromkeys(
    ("find", "grep", "od", "sed", "stat", "find behind", "sed behind", "stat behind"), "its lock file tells then"
)
_NAME_STAYS = dict.fromkeys(("getent", "getent behind"), "a name that cannot be resolved is shown as it is")
_NOBODY = {"pg_isready": "exit 2", "sleep": ":"}
_CLOSED = {"psql": "echo Connection refused >&2; exit 2"} | _NOBODY
_PREDICATE = {"pg_isready": "whoever asks says what that means"}

EXAMPLES = [
    Example("find_postmaster", ("data",), arrange=SERVES, matches=r"\d+\n", after=SERVED),
    Example(
        "find_postmaster",
        ("data",),
        arrange="mkdir data",
        status=1,
        complains="no PostgreSQL server is running in data",
        name="none",
    ),
    Example(
        "find_postmaster",
        ("data",),
        arrange="mkdir data && echo 1 >data/postmaster.pid",
        status=1,
        complains="no PostgreSQL server is running in data",
        name="another's number",
    ),
    Example(
        "list_listeners",
        ("data",),
        arrange=SERVES,
        matches=r"tcp 127.0.0.1 \d+\nunix @folder@/data/.s.PGSQL.9\n",
        after=SERVED,
    ),
    Example(
        "filter_listeners",
        ("tcp", "1"),
        stdin="   0: 0200000A:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000 104 0 77 1 0 100 0 0 10 0\n"
        "   1: 00000000:1539 00000000:0000 0A 00000000:00000000 00:00000000 00000000 104 0 7 1 0 100 0 0 10 0\n",
        settings={"listen_sockets": " socket:[77] socket:[9] "},
        prints="tcp 10.0.0.2 5432\n",
    ),
    Example(
        "filter_listeners",
        ("unix", "1"),
        arrange="mkdir 'a b' && echo 1 >'a b/.s.PGSQL.5432.lock' && echo 1 >made-up.lock && chown 65534 made-up.lock",
        stdin="0000000000000000: 00000002 00000000 00010000 0001 01 77 @folder@/a b/.s.PGSQL.5432\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 77 @folder@/made-up\n",
        settings={"listen_sockets": " socket:[77] ", "listen_process": "1", "listen_of": "/proc/self"},
        prints="unix @folder@/a b/.s.PGSQL.5432\n",
        as_root=True,
        name="a socket whose folder has a blank, and a name with a line break",
    ),
    Example(
        "filter_listeners",
        ("unix", "1"),
        stdin="0000000000000000: 00000002 00000000 00010000 0001 01 77 @made-up\n",
        settings={"listen_sockets": " socket:[77] ", "listen_process": "1", "listen_of": "/proc/self"},
        matches="note: A Unix socket in the abstract namespace may belong .*\n",
        name="a name without a file",
    ),
    Example("byte_order", matches=r"(1|256)\n"),
    Example("address_text", ("0100007F", "1"), prints="127.0.0.1\n"),
    Example("address_text", ("7F000001", "256"), prints="127.0.0.1\n", name="of a machine that stores it otherwise"),
    Example("address_text", ("0" * 32, "1"), prints="::\n", name="every address of IPv6"),
    Example("address_text", ("B80D0120000000000000000001000000", "1"), prints="2001:db8:0:0:0:0:0:1\n", name="IPv6"),
    Example(
        "address_text",
        ("20010DB8000000000000000000000001", "256"),
        prints="2001:db8:0:0:0:0:0:1\n",
        name="IPv6 of a machine that stores it otherwise",
    ),
    Example(
        "print_listeners_by_settings",
        ("db, ::, fe80::A%eth0,10.0.0.1", "5433"),
        programs={"getent": "printf '10.0.0.2 STREAM db\\n10.0.0.2 DGRAM\\n2001:db8::1 STREAM\\n'"},
        prints="tcp 10.0.0.2 5433\ntcp 2001:db8:0:0:0:0:0:1 5433\ntcp :: 5433\ntcp fe80:0:0:0:0:0:0:a 5433\n"
        "tcp 10.0.0.1 5433\n",
        tolerates=_NAME_STAYS,
    ),
    Example(
        "print_listeners_by_settings",
        ("localhost, db", "5433"),
        programs={"getent": "exit 2"},
        prints="tcp 127.0.0.1 5433\ntcp db 5433\n",
        tolerates=_NAME_STAYS,
        name="names that nobody knows",
    ),
    Example("expand_address", ("::ffff:10.0.0.1",), prints="0:0:0:0:0:ffff:a00:1\n", name="IPv4 in IPv6"),
    Example("expand_address", ("2001:0db8:0:0::",), prints="2001:db8:0:0:0:0:0:0\n", name="nothing behind"),
    Example("expand_address", ("::1",), prints="0:0:0:0:0:0:0:1\n", name="nothing ahead"),
    *(Example("expand_address", (all_of,), prints="::\n", name=all_of) for all_of in ("::", "::0", "0:0:0:0:0:0:0:0")),
    Example("expand_address", ("10.0.0.1",), prints="10.0.0.1\n", name="IPv4"),
    Example(
        "print_listeners",
        ("data",),
        arrange=SERVES,
        matches=r"tcp 127.0.0.1 \d+\nunix @folder@/data/.s.PGSQL.9\n",
        after=SERVED,
        tolerates=BY_LOCK_FILE,
    ),
    Example(
        "print_listeners",
        ("@folder@",),
        arrange="printf '0\\n/\\n1\\n5433\\n/a b\\n10.0.0.1\\n' >postmaster.pid",
        programs={"psql": "echo '10.0.0.1, *'"},
        prints="note: The sockets of the server in @folder@ cannot be examined: no PostgreSQL server is running "
        "in @folder@. Its addresses are taken from its settings in force.\n"
        "tcp 10.0.0.1 5433\ntcp 0.0.0.0 5433\ntcp :: 5433\nunix /a b/.s.PGSQL.5433\n",
        tolerates=_ASKED_OTHERWISE | {"psql": "the lock file tells then", "timeout": "the same"},
        name="by SQL",
    ),
    Example(
        "print_listeners",
        ("@folder@",),
        arrange="printf '0\\n/\\n1\\n5433\\n\\nlocalhost\\n' >postmaster.pid",
        programs={"psql": "exit 2"},
        matches="note: .* taken from the first address in its lock file.\n"
        "tcp 127.0.0.1 5433\n(tcp 0:0:0:0:0:0:0:1 5433\n)?",
        tolerates={
            "psql": "the lock file tells",
            "timeout": "the same",
            "getent": "localhost is 127.0.0.1 alone then",
            "getent behind": "the same",
        },
        name="by its lock file",
    ),
    Example(
        "print_listeners",
        ("@folder@",),
        matches="note: The addresses on which the server in @folder@ listens are not known: .* by hand.\n",
        name="not known",
    ),
    Example(
        "record_listeners",
        ("@path@", "data"),
        arrange=f"{SERVES}; mkdir data/global; touch data/global/pg_control",
        programs=_CONTROL,
        matches=r"identifier 7290\ntcp 127.0.0.1 \d+\nunix \S+\n# whole\n",
        after=SERVED,
        tolerates=BY_LOCK_FILE,
    ),
    Example(
        "print_configured_listeners",
        ("@path@", "@folder@", "-", "-"),
        arrange="mkdir global && touch global/pg_control",
        programs=_CONTROL
        | {
            "postgres": "case $* in *'-C port') echo 5433 ;; *) echo 'localhost, ::1, 10.0.0.1,db' ;; esac",
            "getent": "exit 2",
        },
        tolerates=_NAME_STAYS,
        prints="identifier 7290\ntcp 127.0.0.1 5433\ntcp 0:0:0:0:0:0:0:1 5433\n"
        "tcp 10.0.0.1 5433\ntcp db 5433\n# whole\n",
    ),
    Example(
        "print_configured_listeners",
        ("@path@", "@folder@", "/c", "-"),
        arrange="mkdir global && touch global/pg_control",
        programs=_CONTROL | {"postgres": "case $* in *'-c config_file=/c -C port') echo 5433 ;; *) echo '*' ;; esac"},
        prints="identifier 7290\ntcp 0.0.0.0 5433\ntcp :: 5433\n# whole\n",
        name="everywhere",
    ),
    Example(
        "print_configured_listeners",
        ("@path@", "@folder@", "-", "started"),
        arrange="mkdir global && touch global/pg_control && "
        'echo \'/opt/bin/postgres "-D" "/old" "-p" "5499"\' >postmaster.opts',
        programs=_CONTROL
        | {"postgres": "case $* in *'-p 5499 -C port') echo 5499 ;; *'-C port') echo 5433 ;; *) echo 10.0.0.1 ;; esac"},
        prints="identifier 7290\ntcp 10.0.0.1 5499\n# whole\n",
        name="with the options of its start",
    ),
    Example(
        "print_configured",
        ("work_mem", "@folder@/it's", "-"),
        settings={"would_options": " '-c' 'a=b c'"},
        programs={"postgres": 'printf "<%s>" "$@"'},
        prints="<-D><@folder@/it's><-c><a=b c><-C><work_mem>",
    ),
    Example(
        "compare_listeners",
        ("@path@", "data", "10.0.0.2", "10.0.0.2"),
        arrange=f"{SERVES}; mkdir data/global; touch data/global/pg_control",
        stdin="identifier 7290\nunix @folder@/data/.s.PGSQL.9\n# whole\n",
        programs=_CONTROL,
        prints="identifier 7290\n\n# whole\n",
        after=SERVED,
    ),
    Example(
        "compare_listeners",
        ("@path@", "data", "10.0.0.2", "10.0.0.2"),
        arrange=f"{SERVES}; mkdir data/global; touch data/global/pg_control",
        stdin="identifier 7290\ntcp 0.0.0.0 5432\n# whole\n",
        programs=_CONTROL,
        status=1,
        complains="the old server listened on 0.0.0.0 port 5432. The new cluster in data listens on 127.0.0.1 port ",
        after='kill "$(cat data/postmaster.pid)"',
        name="elsewhere",
    ),
    Example(
        "compare_listeners",
        ("@path@", "data", "10.0.0.2", "10.0.0.2"),
        arrange=f"{SERVES}; mkdir data/global other; touch data/global/pg_control; {_HOLDS}",
        stdin="identifier 7290\nunix @folder@/other/.s.PGSQL.9\n# whole\n",
        programs=_CONTROL,
        status=1,
        complains="could not, because another program listens there: ",
        after='kill "$(cat data/postmaster.pid)" "$(cat other/pid)"',
        name="another program has its socket",
    ),
    Example("compare_each_listener", stdin=_OLD, settings=_HERE, prints="reach 5432 10.0.0.2\n"),
    Example(
        "compare_each_listener",
        stdin=_OLD,
        settings=_HERE | {"listens_now": _ELSEWHERE},
        prints="lacks 0.0.0.0 port 5432\nlacks 127.0.0.1 port 5432\nlacks the Unix socket /tmp/.s.PGSQL.5432\n",
        name="on another port",
    ),
    Example(
        "compare_each_listener",
        stdin="identifier 7290\ntcp 10.0.0.1 5432\ntcp 10.0.0.9 5432\n",
        settings=_HERE | {"listens_addresses": " 10.0.0.2 10.0.0.9 ", "listens_now": "tcp 10.0.0.2 5432\n"},
        prints="reach 5432 10.0.0.2\nlacks 10.0.0.9 port 5432\n",
        name="an address of the old server alone, and one of both",
    ),
    Example(
        "compare_each_listener",
        stdin="note: words\ntcp :: 5432\ntcp fd00:0:0:0:0:0:0:1 5432\n",
        settings=_HERE | {"listens_six": "fd00:0:0:0:0:0:0:2 "},
        prints="reach 5432 fd00:0:0:0:0:0:0:2 \nreach 5432 fd00:0:0:0:0:0:0:2\n",
        name="IPv6",
    ),
    Example(
        "compare_each_listener",
        stdin="tcp :: 5432\n",
        settings=_HERE,
        matches="note: Port 5432 was not tested over IPv6: .*\n",
        name="no IPv6",
    ),
    Example(
        "compare_each_listener",
        stdin="tcp :: 5432\n",
        settings=_HERE,
        matches="note: .*\n",
        after="has_ipv6() { :; }; listens_now='tcp 0.0.0.0 5432'; "
        """[ "$(printf 'tcp %s 5432\\n' :: 0:0:0:0:0:0:0:1 | compare_each_listener | grep -c lacks)" = 2 ]""",
        name="IPv4 alone where old had both",
    ),
    Example(
        "compare_each_listener",
        stdin="identifier 7\n",
        settings=_HERE,
        status=1,
        complains="another cluster",
        name="not the same",
    ),
    Example("listens_on_socket", ("/tmp/.s.PGSQL.5432",), settings=_HERE, prints=""),
    Example(
        "listens_on_socket",
        ("@folder@/link/socket",),
        arrange="mkdir real && ln -s real link && touch real/socket",
        settings={"listens_now": "unix @folder@/real/socket"},
        prints="",
        name="by another path",
    ),
    Example("has_listener_for", ("10.0.0.2", "5432"), settings=_HERE, prints=""),
    Example(
        "has_listener_for",
        ("db.example", "5432"),
        settings=_HERE | {"listens_now": "tcp 10.0.0.2 5432"},
        prints="",
        name="a name",
    ),
    Example(
        "has_listener_for",
        ("10.0.0.2", "5432"),
        settings=_HERE | {"listens_now": "tcp cafe 5432"},
        prints="",
        name="behind a name that nobody knows",
    ),
    *(
        Example(
            "has_listener_for",
            ("10.0.0.2", "5432"),
            settings=_HERE | {"listens_now": "tcp cafe 5432"},
            prints="",
            after=f"! has_listener_for {local} 5432",
            name=f"{local} behind a name that nobody knows",
        )
        for local in ("127.0.0.1", "0:0:0:0:0:0:0:1", "::")
    ),
    Example(
        "check_reachability",
        ("@path@",),
        stdin=_TO,
        programs={"psql": "echo 7290", "pg_isready": ":"},
        prints="10.0.0.2 port 5432: the cluster answers with its system identifier 7290 after a login\n",
        tolerates=_ASKED_OTHERWISE,
    ),
    Example(
        "check_reachability",
        ("@path@",),
        stdin=_TO,
        programs={"psql": _NO_LOGIN, "pg_isready": ":"},
        matches=r"10.0.0.2 port 5432: a server answers.* no login was possible to read its system identifier\n",
        tolerates=_ASKED_OTHERWISE,
        name="no login",
    ),
    Example(
        "check_reachability",
        ("@path@",),
        stdin=_TO,
        programs={"psql": "echo 7291"},
        status=1,
        complains="another cluster answers at 10.0.0.2 port 5432: its system identifier is 7291, and that of the moved",
        name="another cluster",
    ),
    Example(
        "check_reachability",
        ("@path@",),
        stdin=_TO,
        programs=_CLOSED,
        status=68,
        complains=" 10.0.0.2 port 5432 (",
        name="closed",
    ),
    Example(
        "check_addresses",
        ("7290", "5432", "10.0.0.2", "10.0.0.3"),
        programs={"psql": 'case $3 in 10.0.0.3) echo 7290 ;; *) echo "timeout expired" >&2; exit 2 ;; esac'} | _NOBODY,
        prints="10.0.0.3 port 5432: the cluster answers with its system identifier 7290 after a login\n",
        tolerates=_ASKED_OTHERWISE | _SAID_BY_PSQL,
        name="the second",
    ),
    Example(
        "check_addresses",
        ("7290", "5432", "fd00::2"),
        programs={"psql": "echo Network is unreachable >&2; exit 2"} | _NOBODY,
        matches="note: The old server has no IPv6 route to the new server.*: fd00::2\n",
        tolerates=_ASKED_OTHERWISE | _SAID_BY_PSQL,
        name="no route",
    ),
    Example("explain_refusal", ("x: No route to host",), prints="the network refuses the connection\n"),
    Example("explain_refusal", ("FATAL: starting up",), prints="", name="an answer"),
    Example(
        "query_identifier",
        ("10.0.0.2", "5432"),
        programs={"psql": "echo 7290"},
        prints="7290\n",
        tolerates=_ASKED_OTHERWISE,
    ),
    Example(
        "check_cluster_answers",
        ("10.0.0.2", "5432", "7290", "2"),
        programs={"psql": "echo 'WARNING:  a version' >&2; echo 7291"},
        status=1,
        complains="another cluster answers at 10.0.0.2 port 5432: its system identifier is 7291, and that of the moved",
        name="another, with a warning",
    ),
    Example(
        "check_cluster_answers",
        ("10.0.0.2", "5432", "7290", "2"),
        programs=_CLOSED | {"pg_isready": "exit 1"},
        status=1,
        complains="the program that answers at 10.0.0.2 port 5432, where clients expect the new cluster, accepts no",
        name="one that says it is closed",
    ),
    Example(
        "report_unreachable",
        ("10.0.0.2", "5432"),
        settings={"takes_status": "2"},
        programs=_CLOSED,
        prints="closed 10.0.0.2 port 5432 (the connection was refused)\n",
        tolerates=_ASKED_OTHERWISE,
    ),
    Example(
        "report_unreachable",
        ("10.0.0.2", "5432"),
        settings={"takes_status": "2"},
        programs={"psql": "echo received invalid response to SSL negotiation: H >&2; exit 2"},
        status=1,
        complains="the program that answers at 10.0.0.2 port 5432, where clients expect the new cluster, accepts no",
        name="something else",
    ),
    Example(
        "check_cluster_answers",
        ("10.0.0.2", "5432", "7290", "2"),
        programs={"psql": "echo 7290", "pg_isready": ":"},
        prints="10.0.0.2 port 5432: the cluster answers with its system identifier 7290 after a login\n",
        tolerates=_ASKED_OTHERWISE,
    ),
    Example(
        "check_cluster_answers",
        ("10.0.0.2", "5432", "7290", "2"),
        programs=_CLOSED,
        prints="closed 10.0.0.2 port 5432 (the connection was refused)\n",
        tolerates=_ASKED_OTHERWISE | _SAID_BY_PSQL,
        name="nobody",
    ),
    Example(
        "accepts_connections",
        ("10.0.0.2", "5432"),
        programs={"pg_isready": ":"},
        settings={"answers_said": ""},
        tolerates=_PREDICATE,
    ),
]
