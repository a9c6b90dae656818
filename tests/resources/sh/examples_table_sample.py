"""Examples of the probes of dump & restore. psql and the server program are played by stand-ins."""

from tests.resources.sh.examples import Example
from tests.resources.sh.examples_copy import SETTINGS

_LINE = '2000000 100 1:int4,2:text 1 public."the first"'
_SLOW = "turn=0; while [ $turn -lt 60000 ]; do turn=$((turn + 1)); done"
_PSQL = f"""read -r asked
read -r more
case $asked$more in
  *'select case when busy'*) printf '%s\\n' 'locked public.busy' '{_LINE}' '8000000 400 1:int4 - public.locked' ;;
  *locked*) echo 'ERROR:  canceling statement due to lock timeout' >&2; exit 3 ;;
  *'system (0.0000000)'* | *'limit 0)'*) ;;
  *) {_SLOW}; printf %05000d 0 ;;
esac"""
_PROGRAMS = {"psql": _PSQL}
_ASKED = ("@path@", "/tmp", "5433", "15")
_SESSION = {
    "connect_end": "99999999999",
    "sample_folder": "@folder@",
    "sample_bytes": "1000000",
    "sample_seconds": "99999",
    "sample_database": "app",
    "sample_series": "15",
    "sample_shares": "1250000 10000000",
    "sample_name": 'public."the first"',
    "sample_row_count": "100",
    "table_part": "0.1",
}
_OLDER = {**_SESSION, "sample_series": "9.4"}
_SAYS = {"psql": 'read -r asked; echo "$asked"'}
_LEFT_OUT = dict.fromkeys(
    ("psql", "psql behind", "timeout", "timeout behind", "awk", "awk behind", "date", "date behind", "wc", "wc behind"),
    "a table that cannot be sampled says why, and costs no other",
)
_LEFT_OUT |= {"head": _LEFT_OUT["wc"], "head behind": _LEFT_OUT["wc"], "rm": _LEFT_OUT["wc"], "tr": _LEFT_OUT["wc"]}
_LEFT_OUT |= {"tr behind": _LEFT_OUT["wc"], "rm behind": _LEFT_OUT["wc"], "full disk": _LEFT_OUT["wc"]}
_YIELDS = {"renice": "a host without it gives no way"}

_SERVER = """case $1 in
  --version) echo 'postgres (PostgreSQL) 15.18' ;;
  --single)
    echo "$*" >"$HOME/options"
    while read -r statement; do
      case $statement in
        *start*) echo 'backend> 	 1: ?column? = "pghaul start 1 1795438910.884811"	(typeid = 25)' ;;
        *loaded*) echo '	 1: ?column? = "pghaul loaded 1 1795438911.5 18628608"	(typeid = 25)' ;;
        copy*) echo 'ERROR:  invalid input syntax for type integer: "somebody'"'"'s row"' ;;
      esac
    done ;;
esac"""
_CLUSTER = {"postgres": _SERVER, "initdb": 'mkdir -p "$HOME/scratch/cluster/data"'}
_SAYS_WHY = {"full disk": "it is the stand-in that writes here"}

EXAMPLES = [
    Example(
        "copy_probe",
        ("@folder@", "1000000", "99999", "app", *_ASKED),
        arrange="mkdir rows && echo left >rows/9",
        programs=_PROGRAMS,
        matches=r"locked public.busy\nothers 0\ntable 1 200000 5000 \d+ 2000000\ncolumns 1 1:int4 2:text\nkey 1 1\n"
        r"# whole\n",
        complains="pghaul: public.locked could not be read",
        after="[ -s rows/1 ] && [ ! -e rows/2 ] && [ ! -e rows/9 ]",
        tolerates={**_LEFT_OUT, **_YIELDS},
        seconds=60,
    ),
    Example(
        "copy_probe",
        ("@folder@", "1000000", "99999", "app", *_ASKED),
        programs={"psql": "exit 0"},
        status=1,
        complains="the database app has no table that is large enough for a sample",
        name="no tables",
    ),
    Example(
        "copy_probe",
        ("@folder@", "1000000", "99999", "app", *_ASKED),
        programs={"psql": "echo locked public.busy"},
        status=1,
        prints="locked public.busy\n",
        complains="every table of app that is large enough for a sample is locked",
        name="all are locked",
    ),
    Example("sample_session", settings=_SESSION, tolerates=_YIELDS),
    Example(
        "largest_tables",
        ("app",),
        settings=_SESSION,
        programs=_PROGRAMS,
        matches=r"locked public.busy\n2000000 100 1:int4,2:text 1 public.*\n8000000 .*\n",
    ),
    Example(
        "sample_table",
        ("1", _LINE),
        settings={**_SESSION, "sample_name": ""},
        programs=_PROGRAMS,
        matches=r"table 1 200000 5000 \d+ 2000000\ncolumns 1 1:int4 2:text\nkey 1 1\n",
        after="[ -s 1 ]",
        seconds=60,
    ),
    Example(
        "sample_table",
        ("1", _LINE),
        settings={**_SESSION, "sample_shares": "10000000 100000000"},
        programs=_PROGRAMS,
        matches=r"table 1 100000 5000 \d+ 2000000\ncolumns 1 1:int4 2:text\nkey 1 1\n",
        seconds=60,
        name="a small table gets more than its size would give it",
    ),
    Example(
        "sample_table",
        ("1", _LINE),
        settings={**_SESSION, "sample_seconds": "0"},
        programs=_PROGRAMS,
        matches=r"table 1 12500 5000 \d+ 2000000\ncolumns 1 1:int4 2:text\nkey 1 1\n",
        seconds=60,
        name="no more than its first piece where there is no time",
    ),
    Example(
        "sample_table",
        ("1", "2000000 100 1:bytea - public.wide"),
        settings={**_SESSION, "sample_shares": "0 2000000000"},
        programs={"psql": f"read -r asked; case $asked in *'(0.0000000)'*) ;; *) {_SLOW}; printf %090000d 0 ;; esac"},
        matches=r"table 1 1000 90000 \d+ 2000000\n",
        after="[ ! -e 1 ]",
        seconds=60,
        name="rows that would fill the disk are not kept",
    ),
    Example(
        "print_rows",
        ("0.00025",),
        settings=_SESSION,
        programs=_SAYS,
        prints='copy (select * from only public."the first" tablesample pg_catalog.system (0.0250000) repeatable (1)) '
        "to stdout;\n",
    ),
    Example(
        "print_rows",
        ("0.25",),
        settings=_OLDER,
        programs=_SAYS,
        prints='copy (select * from only public."the first" limit 25) to stdout;\n',
        name="before TABLESAMPLE",
    ),
    Example("time_rows", ("0.1",), settings=_SESSION, programs=_PROGRAMS, matches=r"5000 [1-9]\d+\n"),
    Example(
        "time_rows",
        ("0.1",),
        settings=_SESSION,
        programs={"psql": "echo half; exit 3"},
        status=1,
        complains='public."the first" could not be read',
        name="cut off",
    ),
    Example(
        "keep_rows",
        ("@folder@/kept", "6000"),
        settings=_SESSION,
        programs=_PROGRAMS,
        after="[ $(wc -c <kept) -eq 5000 ]",
        tolerates={**_LEFT_OUT},
    ),
    Example(
        "keep_rows",
        ("@folder@/kept", "4000"),
        settings=_SESSION,
        programs=_PROGRAMS,
        after="[ ! -e kept ]",
        tolerates={**_LEFT_OUT},
        name="more than may be kept",
    ),
    Example(
        "send_rows",
        ("@folder@/new", "5"),
        arrange="mkdir -p lists/rows new && echo row >lists/rows/1",
        settings=SETTINGS,
        after="diff lists/rows/1 new/1",
        tolerates=dict.fromkeys(
            ("rsync", "rsync behind", "timeout", "timeout behind", "full disk"), "run_tolerating says so"
        ),
    ),
    Example(
        "load_probe",
        ("@folder@/scratch", "@path@", "1024kB", "select start", "copy t1", "select loaded"),
        arrange="mkdir scratch",
        programs=_CLUSTER,
        prints='"pghaul start 1 1795438910.884811"\n"pghaul loaded 1 1795438911.5 18628608"\n',
        after="[ ! -e scratch/cluster ] && grep -q maintenance_work_mem=1024kB options",
        tolerates=_SAYS_WHY,
        name="a row in a complaint stays where it is",
    ),
    Example(
        "load_probe",
        ("@folder@/scratch", "@path@", "1024kB", "copy t1"),
        arrange="mkdir scratch",
        programs=_CLUSTER,
        status=1,
        complains="the server program loaded none of the rows",
        after="[ ! -e scratch/cluster ]",
        name="nothing is taken",
    ),
    Example(
        "load_probe",
        ("@folder@/scratch", "/none:/usr/bin:/bin", "1024kB"),
        arrange="mkdir scratch",
        status=1,
        complains="no server program",
        name="no binaries",
    ),
    Example(
        "small_tables",
        ("1",),
        matches=r"(create table s(\d+) \(c1 int4\)\ninsert into s\2 values \(1\)\ncreate index k\2 on s\2 \(c1\)\n){20}"
        r"select 'pghaul creating 0 ' \|\| extract\(epoch from clock_timestamp\(\)\)::text \|\| ' 1'\n"
        r"create table s21 \(c1 int4\)\ninsert into s21 values \(1\)\n"
        r"select 'pghaul created 0 .*\nselect 'pghaul keying 0 .*\n"
        r"create index k21 on s21 \(c1\)\nselect 'pghaul keyed 0 .* ' 1'\n",
    ),
]
