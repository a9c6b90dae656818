"""Examples of a data directory looked into. psql and the server's programs are played."""

import os
import pwd

from core.facts.clusters import CLUSTER
from core.facts.sections import functions_of
from core.servers.functions import library
from tests.resources.sh.examples import Example

_NOBODY = pwd.getpwnam("nobody")
_PROGRAM = {
    "program": library(["run_isolated", "run_as_owner", "cluster_inside", "cluster_place", *functions_of(CLUSTER)])
    + '\n"$@"\n',
    "section_mark": "MARK",
    "section_limits": "no",
    "section_failed": " ",
    "cluster_user": "postgres",
    "cluster_seconds": "20",
    "cluster_mark": "OWN",
}
_DATA = "mkdir -m 700 data data/global data/pg_tblspc && echo 15 >data/PG_VERSION"
_OF = {
    "cluster_folder": "@folder@/data",
    "cluster_version_file": "@folder@/data/PG_VERSION",
    "cluster_series": "15",
    "cluster_programs": "@folder@/../programs",
    "cluster_pid": "",
    "cluster_port": "",
    "cluster_socket": "",
    "cluster_version": "postgres (PostgreSQL) 15.5",
    "cluster_tried": "",
    "cluster_config": "",
    "cluster_hba": "",
    "cluster_ident": "",
    "cluster_named": "",
    "cluster_lost": "",
    "section_failed": " ",
    "section_limits": "no",
}
_RUNNING = _OF | {"cluster_pid": "1", "cluster_port": "5433", "cluster_socket": "/tmp"}
_POSTGRES = {
    "postgres": """case $1 in
  --version) echo 'postgres (PostgreSQL) 15.5' ;;
  -C) case $2 in data_directory | port) echo "$2 it is" ;; *) exit 1 ;; esac ;;
esac"""
}
_NO_PRIORITY = "at the usual priority then"
_PLACE = r"id=\d+:\d+\nuid=\d+\nowner=\S+\nfolder=(?:[0-9a-f]{2})+\n"
_INSIDE = r"\nMARK begin 0/inside\n\npghaul-apart-end\n\nMARK end 0\n"
_IDS = "8:5 1500 1500 postgres"
_STAT = {"stat": f"echo '{_IDS}'"}
_OWNED = f"{_DATA}; chown 1500:1500 data" if os.geteuid() == 0 else _DATA
_NONE = dict.fromkeys(("postgres", "readlink"), "programs that do not say their series are none")
_SELF = {"id": "without it nothing is run"}
_QUERIES = """known 0 9999 select setting
databases 0 9999 select connect
wide 0 900 select old
wide 900 9999 select wide
each 0 9999 select each
"""
_SERVER = """cp /bin/sleep sleeper
cd data
../sleeper 60 >/dev/null 2>&1 &
echo $! >pid
became sleeper $!
mv pid postmaster.pid"""
_PSQL = {
    "psql": r"""asked=; while read -r line; do asked="$asked|$line"; done
case $asked in
  '|select setting') printf '%s\n' 'setting|77|31' 'libc C' ;;
  '|select connect') printf '%s\n' 'a b' ;;
  '|select wide') echo "wide|31 $PGHOST $PGPORT" ;;
  '|select each') echo "entered|31"; [ "$PGDATABASE" = 'a b' ] && echo 'whole|31' ;;
  '|select lost') echo "entered|31"; exit 2 ;;
  '|select closed') exit 2 ;;
  *) echo "ERROR: $asked" >&2; exit 1 ;;
esac"""
}

_ASKED = {
    "cluster_queries": _QUERIES,
    "sql_rank": "1500",
    "sql_databases": "a b",
    "sql_client": "psql",
    "slots_all": "",
    "sql_known": "certificate a b.crt\nlibc C",
    "sql_found": "libc C",
}
_LOOKED_AT = dict.fromkeys(("psql", "find", "nice", "ionice"), "its caller looks at the exit status")
_BEGUN = {"timeout": "then nothing limits the sections"} | dict.fromkeys(("renice", "ionice"), "as it is then")

_SPACE = (
    "mkdir -p space/PG_13_7 space/PG_15_7 space/PG_15_8 data/pg_tblspc data/global; "
    "ln -s ../../space data/pg_tblspc/7; "
    "printf '%b' '12345678abcd\\007\\000\\000\\000' >data/global/pg_control"
)

EXAMPLES = [
    Example("clusters_begin", ("MARK",), settings=_PROGRAM, tolerates=_BEGUN),
    Example(
        "examine_cluster",
        ("0", "OWN", "@folder@/data", "", ""),
        arrange=_OWNED,
        settings=_PROGRAM | {"cluster_sections": "", "look_seen": " "},
        matches=rf"\nMARK begin 0/place\n{_PLACE}\nMARK end 0\n{_INSIDE}",
        tolerates={
            "ls": "the section `place` fails, and that is told",
            "stat": "the section `place` fails, and that is told",
            "id": "the sections of the cluster are missing, and that is seen",
            "sed": "the sections of the cluster are missing, and that is seen",
            "head": "the sections of the cluster are missing, and that is seen",
            "od": "the section `place` fails, and that is told",
            "tr": "the section `place` fails, and that is told",
            "timeout": "then nothing limits the sections",
            "setpriv": "the sections of the cluster are missing, and that is seen",
        },
    ),
    Example(
        "run_as_owner",
        ("0", "0", "root", "echo", "done") if os.geteuid() else ("1500", "1500", "UNKNOWN", "echo", "done"),
        settings=_PROGRAM,
        prints="done\n",
        tolerates={"setpriv": "the sections of the cluster are missing, and that is seen"},
    ),
    Example(
        "run_as_owner",
        ("0", "0", "root", "echo", "done"),
        settings=_PROGRAM,
        status=1,
        complains="pghaul does not examine a data directory as root",
        as_root=True,
        name="of root",
    ),
    Example(
        "run_as_owner",
        (str(_NOBODY.pw_uid), "0", "nobody", "id", "-g"),
        settings=_PROGRAM,
        prints=f"{_NOBODY.pw_gid}\n",
        tolerates={
            "setpriv": "the sections of the cluster are missing, and that is seen",
            "id behind": "it prints what id does",
        },
        as_root=True,
        name="in its own group",
    ),
    Example("cluster_place", ("no", ""), status=4, complains="there is no such folder", name="no folder"),
    Example(
        "cluster_place", ("data", ""), arrange="touch data", status=1, complains="it is not a folder", name="a file"
    ),
    Example("cluster_place", ("data", _IDS), arrange=_DATA, settings=_PROGRAM, programs=_STAT, matches=_PLACE),
    *(
        Example(
            "cluster_place",
            ("data", ids),
            arrange=_DATA,
            settings=_PROGRAM,
            programs={"stat": f"echo '{found}'"},
            status=1,
            complains=complains,
            name=complains,
        )
        for ids, found, complains in (
            (_IDS, "8:6 1500 1500 postgres", "it was replaced by another folder"),
            ("8:5 0 0 root", "8:5 0 0 root", "its owner is root"),
            ("8:5 2 2 bin", "8:5 2 2 bin", "its owner is bin, which is a system account"),
        )
    ),
    *(
        Example(
            "cluster_place",
            ("data", "8:5 26 26 postgres"),
            arrange=_DATA,
            settings=_PROGRAM | {"cluster_user": user},
            programs={"stat": "echo '8:5 26 26 postgres'"},
            matches=_PLACE,
            name=f"postgres of Red Hat, where the profile says {user}",
        )
        for user in ("postgres", "app15")
    ),
    Example(
        "cluster_inside",
        ("@folder@/data", "", ""),
        arrange=_DATA,
        settings=_PROGRAM | {"cluster_sections": "size 5 cluster_size", "cluster_postmasters": ""},
        matches=r"\nOWN begin size\n\d+ 1\n\nOWN end 0\n",
        tolerates=_BEGUN | dict.fromkeys(("find", "awk", "timeout", "ionice", "nice", "readlink"), "that is told"),
    ),
    Example(
        "cluster_open",
        ("@folder@/data", "", "@folder@/../programs"),
        arrange=_DATA,
        settings={"cluster_postmasters": "", "section_limits": "no"},
        programs=_POSTGRES,
        tolerates=_NONE,
    ),
    Example(
        "start_access",
        ("hba_file",),
        arrange="mkdir conf && touch conf/pg_hba.conf",
        settings=_OF | {"start_said": "-D=@folder@/conf", "start_beside": "@folder@/conf"},
        programs={"postgres": 'echo "$4/pg_hba.conf"'},
        prints="@folder@/conf/pg_hba.conf\n",
        tolerates={"postgres": "then the folder of the data is looked at", "postgres behind": "as above"},
    ),
    Example("start_path", ("hba_file",), settings={"start_said": "-D=/x\nhba_file=/a b"}, prints="/a b\n"),
    Example(
        "start_file",
        ("hba_file", "@folder@/a b"),
        arrange="touch 'a b'",
        settings=_OF,
        prints="",
        name="there",
    ),
    *(
        Example(
            "cluster_read_start",
            arrange=f"""{_DATA} && mkdir conf && touch conf/postgresql.conf 'a b' && {arrange}
            printf '%s\\n' '/bin/postgres {options}' | sed "s,@,$PWD,g" >data/postmaster.opts""",
            settings=_OF,
            prints="",
            programs={"postgres": "exit 1"},
            tolerates={
                **dict.fromkeys(("awk", "tr", "tr behind"), "what cannot be read names no file, and is told as lost"),
                "postgres": "it names no other file",
            },
            name=name,
        )
        for name, options, arrange in (
            ("its files", '"-c" "config_file=@/a b" "--hba_file=@/gone"', ":"),
            ("a folder of configuration", '"-D" "@/conf"', ":"),
            ("a copy of another cluster", '"-D" "@/conf"', "touch conf/PG_VERSION"),
        )
    ),
    Example(
        "cluster_lock",
        arrange=f"{_DATA}; {_SERVER}",
        settings=_OF | {"cluster_postmasters": ""},
        after='kill "$(head -n 1 data/postmaster.pid)"',
    ),
    Example(
        "cluster_find_programs",
        ("", "@folder@/../programs"),
        settings=_OF,
        programs=_POSTGRES,
        tolerates=_NONE,
    ),
    Example(
        "run_limited",
        ("5", "echo", "a"),
        settings={"section_limits": "yes"},
        prints="a\n",
        tolerates={"timeout": "its caller looks at what came"},
    ),
    Example(
        "cluster_identity",
        arrange=f"{_DATA}; touch data/backup_label",
        settings=_RUNNING,
        matches=r"series=15\npid=1\nport=5433\nversion=postgres \(PostgreSQL\) 15.5\nbin=\w+\nsocket=2f746d70\n"
        r"named=\nlost=\nleftover backup_label\n",
    ),
    Example("cluster_identity", arrange="mkdir data", settings=_OF, status=4, complains="it is empty", name="empty"),
    Example(
        "cluster_identity",
        arrange="mkdir data; touch data/x",
        settings=_OF,
        status=1,
        complains="it contains no PG_VERSION",
        name="no data directory",
    ),
    Example(
        "cluster_identity",
        arrange="mkdir -p data/pghaul-fence; touch data/pghaul-fence/mark",
        settings=_OF,
        status=5,
        complains="pghaul has only begun a copy there",
        name="a copy that has only begun",
    ),
    Example("cluster_fence", arrange=_DATA, settings=_OF, prints="", name="none"),
    Example(
        "cluster_fence",
        arrange="mkdir -p data/pghaul-fence; printf '%s\\n' '# a copy' 'identifier 729' >data/pghaul-fence/mark",
        settings=_OF,
        prints="fenced=yes\ncopy=729\n",
        name="a copy",
    ),
    Example(
        "cluster_fence",
        arrange="mkdir -p data/pghaul-fence; touch data/pghaul-fence/PG_VERSION",
        settings=_OF,
        prints="fenced=yes\n",
    ),
    Example(
        "cluster_leftovers",
        arrange=f"{_DATA}; mkdir data/dbms_pipe",
        settings=_OF,
        prints="fork=EDB Postgres Advanced Server\n",
    ),
    Example(
        "cluster_control",
        arrange=_DATA,
        settings=_OF,
        programs={"pg_controldata": 'echo "pg_controldata $1"'},
        prints="tool=pg_controldata --version\npg_controldata @folder@/data\n",
    ),
    Example(
        "cluster_control",
        arrange=f"{_DATA}; mkdir -p data/pghaul-fence/global; : >data/pghaul-fence/global/pg_control",
        settings=_OF,
        programs={"pg_controldata": 'echo "pg_controldata $1"'},
        prints="tool=pg_controldata --version\npg_controldata @folder@/data/pghaul-fence\n",
        name="fenced",
    ),
    Example(
        "cluster_control",
        arrange=f"{_DATA}; mkdir data/pghaul-fence; touch data/pghaul-fence/mark",
        settings=_OF,
        programs={"pg_controldata": 'echo "pg_controldata $1"'},
        status=4,
        complains="it is an unfinished copy: pghaul copies the control file last",
        name="a copy without one yet",
    ),
    Example(
        "cluster_control",
        settings=_OF | {"cluster_programs": "", "cluster_tried": " /opt/bin"},
        status=1,
        complains=" in /opt/bin",
        name="no programs",
    ),
    Example(
        "cluster_file_settings",
        arrange=_DATA,
        settings=_OF | {"cluster_settings": "port no_such_setting"},
        programs=_POSTGRES,
        matches=r"data_directory=646174615f6469726563746f7279206974206973\nport=706f7274206974206973\n",
    ),
    Example(
        "cluster_file_settings",
        settings=_RUNNING | {"cluster_settings": "port"},
        prints="",
        name="SQL told them",
    ),
    Example(
        "cluster_setting",
        ("port",),
        settings=_OF | {"cluster_config": "/etc/a b.conf"},
        programs={"postgres": 'echo "$*"'},
        prints=None,
        matches=r"port=(?:[0-9a-f]{2})+\n",
        tolerates={"postgres": "its caller looks at the exit status"},
    ),
    Example(
        "cluster_process",
        settings=_RUNNING,
        matches=r"(?s)Limit .*Max open files.*parent=.*\n",
        tolerates={"awk": "what restarts it is not told then"},
    ),
    Example("cluster_process", settings=_OF, prints="", name="stopped"),
    *(
        Example(
            "print_unit_restart",
            ("../@folder@/server",),
            arrange=f"mkdir server && printf '1:cpu:/\\n0::{group}\\n' >server/cgroup",
            programs={"systemctl": f"printf 'Restart=always\\nMainPID={main}\\n'"},
            prints=prints,
            tolerates={"awk": "nothing is told then", "systemctl": "nothing is told then"},
            name=name,
        )
        for name, group, main, prints in (
            ("its server", "/system.slice/system-pg.slice/pg@a.service", "0", "restart=always\n"),
            ("not its main process", "/system.slice/agent.service", "1", ""),
            ("a user's", "/user.slice/user-1.slice/user@1.service/app.slice/pg.service", "0", ""),
            ("none", "/system.slice", "0", ""),
        )
    ),
    Example("folder_size", ("data",), arrange=f"{_DATA}; ln data/PG_VERSION data/x", matches=r"\d+ 1\n"),
    Example("cluster_size", arrange=_DATA, settings=_OF, matches=r"\d+ 1\n"),
    Example("cluster_written", arrange=_DATA, settings=_RUNNING, prints="3\n"),
    Example("cluster_written", arrange=_DATA, settings=_OF, prints="", name="stopped"),
    Example(
        "cluster_links",
        arrange=f"{_DATA}; ln -s ../wal data/pg_wal; mkdir wal; touch data/pgsql_tmp1 'data/.~tmp~'",
        settings=_OF,
        matches=r"(?:leftover =\w+\n|link folder \d+ 0 =70675f77616c =\w+ =2e2e2f77616c\n){3}",
        tolerates={
            "awk": "the size of what a link leads to is not known then",
            "awk behind": "the same",
            "tr behind": "its last line is there",
        },
    ),
    Example(
        "print_link",
        ("@folder@/data/gone",),
        arrange=f"{_DATA}; ln -s /nowhere/x data/gone",
        settings=_OF,
        prints="link dangling - - =676f6e65 =2f6e6f77686572652f78 =2f6e6f77686572652f78\n",
    ),
    Example(
        "print_link",
        ("@folder@/data/server.crt",),
        arrange=f"{_DATA}; ln -s PG_VERSION data/second; ln -s second data/server.crt",
        settings=_OF,
        matches=r"link file - - =7365727665722e637274 =\w+50475f56455253494f4e =7365636f6e64\n",
        tolerates={"readlink behind": "where it leads in the end is not known then"},
        name="to a file",
    ),
    Example(
        "irregular_files",
        arrange=f"{_DATA}; ln data/PG_VERSION data/x; truncate -s 5M data/sparse",
        settings=_OF,
        matches=r"mode 700\n(?:(?:hard-link|sparse) =\w+\n){2}(?:count (?:hard-link|sparse) 1\n){2}holes 5242880\n",
        tolerates=dict.fromkeys(("awk behind", "tr behind"), "its last line is there"),
    ),
    Example(
        "irregular_files",
        arrange=f"{_DATA}; mkdir data/pg_tblspc wal; mkfifo data/pipe; ln -s ../wal data/pg_wal; mkfifo wal/pipe",
        settings=_OF,
        matches=r"mode 700\n(?:special =\w+\n){2}count special 2\nholes 0\n",
        tolerates=dict.fromkeys(("awk behind", "tr behind"), "its last line is there"),
        name="a FIFO and one beside the WAL",
    ),
    Example(
        "target_entries",
        ("1", "@folder@/data", "@folder@/no"),
        arrange="mkdir data; touch data/a data/b",
        matches=r"folder =\w+\nname =61\nfolder =\w+\n",
    ),
    Example("cluster_query", ("known", "0", "9999", "select 1;"), settings={"cluster_queries": ""}),
    Example(
        "cluster_sql",
        settings=_RUNNING | {"cluster_queries": _QUERIES},
        programs=_PSQL | {"locale": ""},
        matches=r"setting\|77\|31\nlibc C\nwide\|31 /tmp 5433\nentered\|31\nwhole\|31\nsorted C \w{64}\n",
        tolerates={
            "locale": "the order is not known then",
            "locale behind": "the same",
            "sha256sum": "the same",
            "sha256sum behind": "the same",
        },
    ),
    Example("cluster_sql", settings=_OF, prints="", name="stopped"),
    Example(
        "cluster_sql",
        settings=_RUNNING | {"cluster_queries": _QUERIES},
        programs={"psql": "echo 'psql: error: no server' >&2; exit 2"},
        status=1,
        complains="pghaul: psql failed",
        name="no server",
    ),
    Example(
        "collation_order",
        ("C", "xx_XX"),
        programs={"locale": '[ "$LC_ALL" = C ] || echo no such locale >&2'},
        matches=r"sorted C \w{64}\nsorted xx_XX missing\n",
    ),
    Example("sql_environment", settings=_RUNNING),
    Example(
        "run_psql",
        ("postgres",),
        settings={"sql_client": "psql"},
        stdin="select setting\n",
        programs=_PSQL,
        tolerates=_LOOKED_AT,
    ),
    Example("sql_questions", ("wide",), settings=_ASKED, prints="select wide\n"),
    Example("sql_questions", ("wide",), settings=_ASKED | {"sql_rank": "803"}, prints="select old\n", name="8.3"),
    Example(
        "sql_ask_each_database", settings=_ASKED, programs=_PSQL, prints="entered|31\nwhole|31\n", tolerates=_LOOKED_AT
    ),
    Example(
        "sql_session",
        ("each", "a b"),
        settings=_ASKED,
        programs=_PSQL,
        prints="entered|31\nwhole|31\n",
        tolerates=_LOOKED_AT,
    ),
    *(
        Example(
            "cluster_sql",
            settings=_RUNNING | {"cluster_queries": _QUERIES.replace("select each", f"select {name}")},
            programs=_PSQL | {"locale": ""},
            matches=rf"setting\|77\|31\nlibc C\nwide\|31 /tmp 5433\n{found}sorted C \w{{64}}\n",
            tolerates=dict.fromkeys(("locale", "locale behind", "sha256sum", "sha256sum behind"), "as above"),
            name=name,
        )
        for name, found in (("lost", r"entered\|31\nlost\n"), ("closed", r"\n?"))
    ),
    Example(
        "sql_print_orders",
        settings=_ASKED,
        programs={"locale": ""},
        matches=r"sorted C \w{64}\n",
    ),
    Example(
        "sql_certificate",
        settings=_OF | _ASKED,
        arrange=_DATA,
        programs={"openssl": 'eval "file=\\$$#"; echo "notAfter of $file"'},
        prints="x509 notAfter of a b.crt\n",
        tolerates={"openssl": "a certificate that cannot be read is not known"},
    ),
    Example("print_links", stdin="whole\n", settings=_OF, prints=""),
    Example(
        "print_links", stdin="", settings=_OF, status=1, complains="not all files in", name="a walk that broke off"
    ),
    Example(
        "irregular_walk",
        ("0",),
        arrange=_DATA,
        settings=_OF,
        matches=r"(?s)(?:[dfUP] \S+ \d+ \d+ \d+ \d+ [^\0]+\0)+",
        tolerates=_LOOKED_AT,
    ),
    Example(
        "irregular_walk",
        ("0",),
        arrange=f"{_DATA}; {_SPACE}; touch space/PG_13_7/theirs space/PG_15_7/ours",
        settings=_OF,
        matches=r"(?s).*/pg_tblspc/7/PG_15_7/ours\0(?!.*theirs)",
        tolerates=_LOOKED_AT,
        name="a tablespace beside another version's",
    ),
    Example(
        "find_version_folder",
        ("@folder@/space",),
        arrange=f"{_DATA}; {_SPACE}",
        settings=_OF,
        matches=".*/space/PG_15_7\n",
    ),
    Example(
        "find_version_folder",
        ("@folder@/space",),
        arrange=f"{_DATA}; {_SPACE}; rm data/global/pg_control",
        settings=_OF,
        matches=".*/space\n",
        name="no control file",
    ),
    Example(
        "find_version_folder",
        ("@folder@/space",),
        arrange=f"{_DATA}; {_SPACE}; rmdir space/PG_15_7",
        settings=_OF,
        matches=".*/space\n",
        name="no folder",
    ),
    Example(
        "run_on_parts",
        ("echo", "@folder@/space"),
        arrange=f"{_DATA}; {_SPACE}",
        settings=_OF
        | {
            "link_leads": "/elsewhere\n@folder@/space/wal\n@folder@/space/PG_15_7/5\n"
            "@folder@/space/wal/1\n@folder@/space"
        },
        matches=r"\S+/space/PG_15_7 \S+/space/wal\n",
    ),
    Example(
        "run_on_parts",
        ("echo", "@folder@/space"),
        arrange=f"{_DATA}; {_SPACE}; rm data/global/pg_control",
        settings=_OF | {"link_leads": "@folder@/space/wal"},
        matches=r"\S+/space\n",
        name="no control file",
    ),
    Example("resolve_link", ("@folder@/link",), arrange="mkdir a; ln -s a link", matches=".*/a\n"),
    Example("resolve_link", ("@folder@/link",), arrange="ln -s a link", prints="", name="dangling"),
    Example("for_each_name", ("echo",), settings={"link_names": "a\nb\x01c\n"}, prints="a\nb\nc\n"),
    Example(
        "cluster_links",
        arrange=f"{_SPACE}; mkdir space/wal; echo theirs >space/PG_13_7/1; echo own >space/wal/1; "
        "ln -s ../space/wal data/pg_wal",
        settings=_OF,
        matches=r"(?s)(?=.*link folder \d+ 1 =70675f7462).*link folder \d+ 1 =70675f77616c .*",
        tolerates=dict.fromkeys(
            ("awk", "awk behind", "find behind", "od", "od behind"), "what it weighs is not known then"
        )
        | {"tr behind": "its last line is there"},
        name="WAL in the folder of a tablespace",
    ),
    Example(
        "print_link",
        ("@folder@/data/pg_tblspc/7",),
        arrange=f"{_DATA}; {_SPACE}; echo more >space/PG_13_7/theirs; echo rows >space/PG_15_7/ours",
        settings=_OF,
        matches=r"link folder \d+ 1 =\w+ =\w+ =\w+\n",
        tolerates=dict.fromkeys(("awk", "find", "nice", "ionice", "od"), "its size is not known then")
        | dict.fromkeys(("awk behind", "find behind", "nice behind", "ionice behind", "od behind"), "the same"),
        name="of a tablespace",
    ),
    Example(
        "irregular_lines",
        stdin="sparse /a b\ncount sparse 1\nholes 9\n",
        settings=_OF,
        prints="sparse =2f612062\ncount sparse 1\nholes 9\n",
    ),
    Example(
        "irregular_lines", stdin="sparse /a\n", settings=_OF, status=1, complains="not all files in", name="broke off"
    ),
    Example("entries_lines", ("1",), stdin="a\nb\n", prints="name =61\n"),
    Example("collation_words", matches=r"(?s)1-1\n11\n.*"),
]
