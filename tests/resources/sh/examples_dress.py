"""Examples of a dress rehearsal. psql and the server are played; tests/live/test_dress.py starts a real copy."""

from tests.resources.sh.examples import Example
from tests.resources.sh.examples_copy import SETTINGS

_COPY = SETTINGS | {"copy_data": "@folder@/old", "copy_path": "@path@"}
_FIRST, _LAST = "000000010000000000000002", "000000010000000000000003"
_LABEL = rf"START WAL LOCATION: 0/2000028 (file {_FIRST})\nLABEL: pghaul\n"
_SQL = rf"""while read -r line; do case $line in
  *'(select count'*) echo '1 postgres' ;;
  *pg_backup_start* | *pg_start_backup*) echo 'began 0/2000028' ;;
  *'slot asked'*) echo 'slot asked' ;;
  *pg_backup_stop* | *pg_stop_backup*) printf '%s\n' 'label {_LAST} {_LABEL}' ;;
  *"'at '"*) echo 'at 4096' ;;
  *"'kept '"*) echo 'kept 4096' ;;
  *"'calm '"*) calm=$((${{calm:-0}} + 1)); echo "calm ${{calm}}000 ${{calm}}00 1" ;;
  *"'last '"*) echo 'last 12000 800 3' ;;
  *has_table_privilege*) echo t ;;
  *pg_settings*) echo "work_mem = '8192'" ;;
esac; done"""
_READS = {"psql": _SQL, "pg_controldata": "echo 'Database cluster state:               in production'"}
_OLD = (
    "umask 022; mkdir -p lists new old/base old/global old/pg_wal && echo one >old/base/1 && "
    "echo control >old/global/pg_control && "
    f"touch old/pg_wal/{_FIRST} old/pg_wal/{_LAST} old/pg_wal/000000010000000000000001 old/pg_wal/00000002.history && "
    "touch -d '1 hour ago' old/base/1"
)
_COPIED = (
    "mkdir -p data/global data/pg_wal data/pg_replslot/one data/pg_tblspc data/pghaul-fence/global "
    "data/pghaul-fence/dress there && echo 15 >data/PG_VERSION && "
    "touch data/pghaul-fence/mark data/backup_label && "
    "echo control >data/pghaul-fence/global/pg_control && "
    f"echo {_FIRST} {_LAST} 0/2000028 >data/pghaul-fence/dress/wal && "
    f"echo >data/pg_wal/{_FIRST} && ln -s /srv/here data/pg_tblspc/7 && "
    "ln -s /srv/here data/pg_tblspc/8 && echo pg_tblspc/7 >data/pghaul-fence/dress/links"
)
# in perl: what a shell begins beside ignores QUIT, as PostgreSQL's own handler does not
_SERVER = r"""printf '%s\n' $$ "$PGDATA" 1700000000 5433 /tmp '' '' 'ready   ' >"$PGDATA/postmaster.pid" || exit
cp "$(command -v perl)" "$PGDATA/postgres" && cd "$PGDATA" && exec ./postgres -e '$SIG{QUIT} = sub { exit }; sleep 8'"""
_NEW = {
    "postgres": _SERVER,
    "pg_waldump": "exit 0",
    "psql": "while read -r line; do case $line in *pg_db_role_setting*) echo 0 ;; *recovery*) echo t ;; "
    "*'(select count'*) echo '1 shop' ;; *pg_class*) printf '%s\\n' 3 2 1 0 0 ;; *) ;; esac; done",
}
_ROOT = ("data", "@folder@/old", "@folder@/new", "pg_wal")
_NOT_WATCHED = {
    "head": "it tells why there is no slot, where none is",
    "sleep": "it is the watch beside, which then looks no more",
    "date": "it is the watch beside, which then looks no more",
}

EXAMPLES = [
    Example(
        "dress_pass",
        ("@path@", "/tmp", "5432", "15", "4", "1000000", "2", *_ROOT),
        arrange=_OLD,
        settings=_COPY,
        programs=_READS,
        tolerates={"ls": "whoever cannot tell makes the whole pass", **_NOT_WATCHED},
        matches=r"(.|\n)*4096 bytes of WAL were kept for it\nbefore it 200 transactions ended in 2.0 seconds, and 1.00 "
        r"sessions waited for disks\nduring it 500 transactions ended in 9.0 seconds, and \d.\d\d sessions waited for "
        r"disks\n",
        after=f"cd new && [ -e base/1 ] && [ -e pg_wal/{_FIRST} ] && [ -e pg_wal/{_LAST} ] && "
        "[ -e pg_wal/00000002.history ] && [ -e standby.signal ] && [ -e postgresql.auto.conf ] && "
        f"grep -qx '{_FIRST} {_LAST} 0/2000028' pghaul-fence/dress/wal && "
        "grep -qx \"work_mem = '8192'\" pghaul-fence/dress/postgresql.conf && "
        "[ -e pghaul-fence/global/pg_control ] && [ ! -e global/pg_control ] && "
        "grep -q '^LABEL: pghaul$' backup_label && [ ! -e ../lists/dress ] && [ ! -e ../lists/dress-in ]",
    ),
    Example(
        "dress_pass",
        ("@path@", "/tmp", "5432", "15", "9", "4095", "0", *_ROOT),
        arrange=_OLD,
        settings=_COPY,
        programs=_READS | {"rsync": "exec sleep 60"},
        status=1,
        complains="the old server has written 4096 bytes of WAL during the backup, more than the limit of 4095 bytes",
        after="[ ! -e lists/dress-in ]",
        name="too much is written meanwhile",
    ),
    Example(
        "dress_pass",
        ("@path@", "/tmp", "5432", "15", "4", "1000000", "2", *_ROOT),
        arrange=f"{_OLD} && mkdir job && touch -d '6 minutes ago' job/looked",
        settings=_COPY | {"pghaul_job": "@folder@/job"},
        programs=_READS | {"rsync": "exec sleep 60"},
        status=1,
        complains="no pghaul has followed this job for five minutes",
        after="[ ! -e lists/dress-in ]",
        name="nobody follows",
    ),
    Example(
        "dress_pass",
        ("@path@", "/tmp", "5432", "15", "4", "1000000", "2", *_ROOT),
        arrange=_OLD,
        settings=_COPY,
        programs=_READS
        | {
            "psql": "read -r line; case $line in *select\\ name*) ;; *calm*) ;; *) echo '1 postgres'; exit ;; esac; "
            "echo 'FEHLER:  42501: nur Superuser' >&2; echo 'ORT:  x, y.c:7' >&2; exit 3"
        },
        status=1,
        complains="the session of the backup has ended: nur Superuser",
        name="the backup does not begin",
    ),
    Example(
        "dress_pass",
        ("@path@", "/tmp", "5432", "15", "4", "1000000", "2", *_ROOT),
        arrange=f"{_OLD} && rm old/pg_wal/{_FIRST}",
        settings=_COPY,
        programs=_READS,
        status=1,
        complains="the old server has removed WAL that the backup needs",
        name="no slot kept the WAL",
    ),
    Example(
        "dress_pass",
        ("@path@", "/tmp", "5432", "11", "4", "-", "0", *_ROOT),
        arrange=_OLD,
        settings=_COPY,
        programs=_READS,
        tolerates={"ls": "whoever cannot tell makes the whole pass", **_NOT_WATCHED},
        matches=r"(.|\n)*4096 bytes of WAL were kept for it\nduring it (.|\n)*",
        after="cd new && [ ! -e standby.signal ] && grep -qx \"standby_mode = 'on'\" recovery.conf",
        name="before 12",
    ),
    Example(
        "dress_print_activity",
        settings={"copy_folder": "@folder@"},
        arrange="printf '%s\\n' 'calm 1000 100 -' 'calm 3000 90 -' 'load 4000 100 -' 'last 5000 120 -' >dress-said",
        prints="during it 30 transactions ended in 2.0 seconds, and - sessions waited for disks\n",
        name="statistics that were reset, of an account that sees no other",
    ),
    Example(
        "dress_run_copy",
        ("@path@", "@folder@/data", "5433", "-c 'a=b'", "15", "60", "pg_tblspc/7", "@folder@/there"),
        arrange=_COPIED,
        programs=_NEW,
        tolerates=dict.fromkeys(("cp", "perl"), "it plays the server"),
        matches=r"the copy was ready after \d+ seconds, for connections of this account alone\ndatabase shop: 3 "
        r"relations, 2 libraries, 1 dictionaries\n",
        after='[ "$(readlink data/pg_tblspc/7)" = "$PWD/there" ] && [ ! -L data/pg_tblspc/8 ] && cd data && '
        "[ ! -e pghaul-fence/dressed ] && [ ! -e backup_label ] && [ ! -e postmaster.pid ] && [ ! -e pg_replslot/one ] "
        "&& [ ! -e global/pg_control ] && [ -e pghaul-fence/global/pg_control ] && [ -e PG_VERSION ]",
    ),
    Example(
        "dress_run_copy",
        ("@path@", "@folder@/data", "5433", "", "15", "60", "pg_tblspc/7", "@folder@/there"),
        arrange=_COPIED,
        programs=_NEW | {"postgres": "echo 'FATAL:  no such thing' >&2; exit 1"},
        status=1,
        complains="the copy did not start: FATAL:  no such thing",
        after="[ ! -e data/pghaul-fence/dressed ] && [ -e data/pghaul-fence/global/pg_control ]",
        name="it does not start",
    ),
    Example(
        "dress_run_copy",
        ("@path@", "@folder@/data", "5433", "", "15", "60"),
        arrange=_COPIED,
        programs=_NEW,
        status=1,
        complains="the tablespace pg_tblspc/7 was created after the plan",
        name="a tablespace made since",
    ),
    Example(
        "dress_run_copy",
        ("@path@", "@folder@/data", "5433", "", "15", "60", "pg_tblspc/7", "@folder@/there"),
        arrange=_COPIED,
        programs=_NEW | {"pg_waldump": "echo 'rmgr: Tablespace desc: CREATE 16400 \"/srv/x\"'"},
        status=1,
        complains="a tablespace was created on the old server during the backup",
        name="a tablespace made during the backup",
    ),
    Example(
        "dress_run_copy",
        ("@path@", "@folder@/data", "5433", "", "15", "60", "pg_tblspc/7", "@folder@/there"),
        arrange=_COPIED,
        programs=_NEW | {"psql": _NEW["psql"].replace("echo t", "echo f")},
        status=1,
        complains="the copy has ended its recovery",
        after="[ ! -e data/pghaul-fence/dressed ]",
        name="it was promoted",
    ),
    Example(
        "dress_run_copy",
        ("@path@", "@folder@/data", "5433", "", "15", "60"),
        arrange="mkdir data",
        status=1,
        complains="does not contain a backup to start",
        name="no backup",
    ),
    Example(
        "dress_stop_copy",
        ("@folder@/data",),
        arrange=f"{_COPIED} && touch data/backup_label.old data/pghaul-fence/dressed",
        prints="",
        after="cd data && [ ! -e backup_label.old ] && [ ! -e pghaul-fence/dressed ] && [ ! -e pghaul-fence/dress ]",
    ),
    Example("dress_stop_copy", ("@folder@",), prints="", name="nothing was started"),
    Example(
        "dress_stop_copy",
        ("@folder@/data",),
        arrange=f'{_COPIED} && : >data/pghaul-fence/dressed && cp "$(command -v perl)" data/postgres && cd data && '
        "{ ./postgres -e '$SIG{QUIT} = sub { exit }; sleep 60' >/dev/null 2>&1 & } && echo $! >postmaster.pid && "
        "became postgres $!",
        prints="",
        after='[ -z "$(list_servers_in data)" ] && [ ! -e data/postmaster.pid ] && [ ! -e data/pghaul-fence/dressed ]',
        tolerates={"sleep": "it waits a shorter time", "sed": "of the lock: the mark tells it as well"},
        name="one that was broken off runs",
    ),
    Example(
        "dress_check_programs",
        ("@path@", "a", "$libdir:/usr", "postgres", "pgbench"),
        programs={"postgres": ":", "pgbench": ":"},
        prints="",
    ),
    Example(
        "dress_check_programs",
        ("@path@", "", "$libdir:@folder@/open", "postgres"),
        programs={"postgres": ":"},
        arrange="mkdir -m 2775 open",
        status=1,
        complains="open, where other users can write",
        name="a folder in which a group may write",
    ),
    Example(
        "dress_check_programs",
        ("@folder@", "", "", "postgres"),
        status=1,
        complains="postgres is missing among the programs of this major version",
        name="none",
    ),
    Example(
        "dress_examine_database",
        ("a", "a"),
        programs={
            "psql": "while read -r line; do case $line in *pg_class*) printf '%s\\n' 3 2 1 0 0 ;; *) ;; esac; done"
        },
        settings={"connect_end": "9999999999", "slots_all": ""},
        prints="seen database a: 3 relations, 2 libraries, 1 dictionaries\n",
    ),
    Example(
        "dress_examine_database",
        ("a", "b"),
        programs={
            "psql": "while read -r line; do case $line in *pg_class*) printf '%s\\n' 3 2 1 5 4 ;; *load*) "
            "echo 'FEHLER:  58P01: no $libdir/x' >&2 ;; esac; done"
        },
        settings={"connect_end": "9999999999", "slots_all": ""},
        prints="seen database b: 3 relations, 2 libraries, 1 dictionaries\nseen warning: database b: 5 libraries "
        "and their dictionaries were not verified, because they are outside of the library folder of the server\n"
        "seen warning: database b: 4 collations of its indexes have another version on the new server. "
        "Rebuild these indexes\nwrong b: no $libdir/x\n",
        name="a library that is not there",
    ),
    Example(
        "dress_check_preloads",
        ("conf",),
        arrange="""echo "shared_preload_libraries = 'a, \\"b\\"'" >conf
echo "dynamic_library_path = '/usr:\\$libdir'" >>conf""",
        prints="",
    ),
    Example("dress_check_libraries", ("a", "$libdir:/usr:/none"), prints=""),
    Example(
        "dress_check_preloads",
        ("conf",),
        arrange="""mkdir -m 777 open && touch open/x && echo "shared_preload_libraries = 'a,$PWD/open/x'" >conf""",
        status=1,
        complains="open/x: other users than root",
        name="a library that anybody may write",
    ),
    Example(
        "dress_check_preloads",
        ("conf",),
        arrange="""mkdir -m 777 open && echo "dynamic_library_path = '$PWD/open'" >conf""",
        status=1,
        complains="open, where other users can write",
        name="a folder that anybody may write",
    ),
    Example("server_library_condition", matches=r"(?s)\(coalesce\(probin .*\)"),
    Example(
        "count_foreign_preloads",
        programs={"psql": "/bin/cat >/dev/null; echo 3"},
        settings={"connect_end": "9999999999", "slots_all": ""},
        prints="3\n",
    ),
    Example(
        "refuse_foreign_libraries",
        ("shop",),
        programs={"psql": "/bin/cat >/dev/null; echo 0"},
        settings={"connect_end": "9999999999", "slots_all": ""},
        prints="",
    ),
    Example(
        "refuse_foreign_libraries",
        ("shop",),
        programs={"psql": "case $(/bin/cat) in *prolang*) echo 2 ;; *) echo 0 ;; esac"},
        settings={"connect_end": "9999999999", "slots_all": ""},
        status=1,
        complains="2 functions of the database would load libraries from outside",
        name="functions of libraries from elsewhere",
    ),
    Example(
        "refuse_foreign_libraries",
        ("shop",),
        programs={"psql": "/bin/cat >/dev/null; echo 1"},
        settings={"connect_end": "9999999999", "slots_all": ""},
        status=1,
        complains="a setting of a role or a database loads libraries from outside",
        name="sessions that load them",
    ),
    Example(
        "dress_examine",
        ("@path@", "/tmp", "5433", "15", "60"),
        programs={"psql": _NEW["psql"].replace("echo 0", "echo 2")},
        matches=r"warning: 2 libraries or library folders .* not verified.*\ndatabase shop: .*\n",
        name="sessions that load libraries from elsewhere",
    ),
    Example(
        "dress_examine",
        ("@path@", "/tmp", "5433", "15", "60"),
        programs={"psql": _NEW["psql"]},
        prints="database shop: 3 relations, 2 libraries, 1 dictionaries\n",
    ),
]
