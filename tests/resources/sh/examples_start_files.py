"""Examples of the looks at files that a start reads. The server program and psql are played."""

from tests.resources.sh.examples import Example

_TAKES = "echo 5432"
_REFUSES = r"""printf '%s\n' 'LOG:  unrecognized configuration parameter "shared_bufers" in file "/d/a.conf" line 8' \
  'LOG:  syntax error in file "/d/a.conf" line 9, near token "hunter2"' \
  'LOG:  invalid value for parameter "work_mem": "hunter2"' 'HINT:  hunter2' \
  'FATAL:  configuration file "/d/a.conf" contains errors' >&2
exit 1"""
_COMPLAINTS = """unrecognized configuration parameter "shared_bufers" in file "/d/a.conf" line 8
syntax error in file "/d/a.conf" line 9
invalid value for parameter "work_mem"
configuration file "/d/a.conf" contains errors
"""
_AT = "@path@"
_SERVER = "mkdir bin && printf '#!/bin/sh\\n%s\\n' \"$(cat body)\" >bin/postgres && chmod +x bin/postgres"


def _server(body: str) -> str:
    return f"cat >body <<'S'\n{body}\nS\n{_SERVER}"


_IN_FORCE = """case $2 in port) echo 5433 ;; work_mem) echo 8192 ;; max_connections) echo 100 ;;
  ssl_passphrase_command) echo two ;; *) exit 1 ;; esac"""
_PSQL = {
    "psql": r"""read -r line || exit 0
case $line in
  'show config_file;') echo /d/a.conf ;;
  *edited*)
    printf '%s\n' 'port f - 35343332' 'ssl_passphrase_command t - 6f6e65' 'strange f - 61' 'work_mem f kB 38313932' ;;
  *option*) printf '%s\n' 'max_connections f - 313337' 'work_mem f kB 38313932' ;;
  *) while read -r _; do :; done; echo '/d/pg_hba.conf line 3: invalid authentication method' ;;
esac"""
}
_RULES = {"psql": "while read -r _; do :; done"}
_FILE_OF_RULE = {
    "psql": """case $(cat) in
  *file_name*) echo '/d/more.conf line 3: invalid authentication method' ;;
  *hba_file_rules*) echo '/d/pg_hba.conf line 3: invalid authentication method' ;;
esac"""
}
_OF = {"cluster_folder": "@folder@", "cluster_series": "15", "cluster_programs": "@folder@/bin", "section_failed": ""}
_RUNNING = _OF | {
    "cluster_pid": "1",
    "cluster_config": "",
    "cluster_socket": "",
    "cluster_port": "",
    "cluster_queries": "edited 905 9999 edited\noption 902 9999 option\n",
}
_WORDS = ("@folder@/bin:@path@", "/d", "-", "15")
_ASKED = (*_WORDS, "/tmp", "5432", "60")

_IDENTITY = {
    "psql": """read -r line
case $line in *postmaster.pid*) echo '7 /d 1770000000' ;; *) echo 41 ;; esac"""
}
_CONTROL = (
    "mkdir -p bin global && echo >global/pg_control && "
    "printf '#!/bin/sh\necho \"Database system identifier:  %s\"\n' {} >bin/pg_controldata && "
    "chmod +x bin/pg_controldata"
)
_ASKS = _RUNNING | {"sql_client": "psql", "sql_rank": "1500"}
_LOCK = "printf '%s\\n' {} >postmaster.pid"
_UNASKED = {"psql": "then the next question fails", "psql behind": "as above"}

EXAMPLES = [
    Example("sql_identity", settings={"sql_rank": "905"}, prints=""),
    Example("sql_identity", settings={"sql_rank": "906"}, matches="select system_identifier .*\n", name="since 9.6"),
    Example("sql_find_home", settings=_RUNNING | {"sql_rank": "905"}, programs=_RULES, prints="", after=":"),
    Example(
        "sql_find_home",
        settings=_ASKS,
        programs=_IDENTITY,
        arrange=f"{_CONTROL.format(41)} && {_LOCK.format('7 /d 1770000000 5432')}",
        prints="",
        tolerates=_UNASKED,
        name="its own",
    ),
    Example(
        "sql_find_home",
        settings=_ASKS,
        programs=_IDENTITY,
        arrange=_CONTROL.format(43),
        status=1,
        complains="another cluster answers at port 5432 of its usual socket, of system identifier 41",
        name="another cluster",
    ),
    Example(
        "sql_find_home",
        settings=_ASKS,
        programs=_IDENTITY,
        arrange=f"{_CONTROL.format(41)} && {_LOCK.format('7 /other 1770000000 5432')}",
        status=1,
        complains="another cluster answers at port 5432 of its usual socket, whose lock file begins with 7 /d 177",
        name="a clone of it",
    ),
    Example("sql_started", settings={"sql_rank": "900"}, prints=""),
    Example("sql_started", settings={"sql_rank": "901"}, matches="select .*pg_read_file.*;\n", name="since 9.1"),
    Example("join_lines", stdin="a\nb c\n", prints="a; b c\n"),
    Example("print_start_errors", ("@folder@/bin", "15", "/d", "-"), arrange=_server(_TAKES), prints=""),
    Example(
        "print_start_errors",
        ("@folder@/bin", "15", "/d", "/d/a.conf"),
        arrange=_server(_REFUSES),
        prints=_COMPLAINTS,
        name="errors, and nothing of what they quote",
    ),
    Example(
        "print_start_errors",
        ("@folder@/bin", "15", "/d", "-"),
        arrange=_server("exit 7"),
        prints="@folder@/bin/postgres ended with exit status 7\n",
        name="without a word",
    ),
    Example("print_start_errors", ("@folder@/bin", "9.1", "/d", "-"), prints="", name="before -C"),
    Example("check_restartable", _WORDS, arrange=_server(_TAKES), prints="", name="without SQL"),
    Example("check_restartable", _ASKED, arrange=_server(_TAKES), programs=_RULES, prints=""),
    Example(
        "check_restartable",
        ("@folder@/bin:@path@", "@folder@", "-", "15"),
        arrange=f'{_server(_TAKES)}; echo \'/bin/postgres "-c" "search_path="a", b"\' >postmaster.opts',
        status=1,
        complains="/postmaster.opts (a value contains a quotation mark, for example), so no server could be started",
        name="an option that cannot be given again",
    ),
    Example(
        "check_restartable",
        ("@folder@/bin:@path@", "@folder@", "-", "15"),
        arrange=f'{_server(_TAKES)}; echo \'/bin/postgres "-c" "search_path=a, b"\' >postmaster.opts',
        prints="",
        name="options",
    ),
    Example(
        "check_restartable",
        _ASKED,
        arrange=_server(_REFUSES),
        status=1,
        complains='files: unrecognized configuration parameter "shared_bufers" in file "/d/a.conf" line 8; ',
        name="errors",
    ),
    Example(
        "check_restartable",
        _ASKED,
        arrange=_server(_TAKES),
        programs=_PSQL,
        status=1,
        complains="with its configuration files: /d/pg_hba.conf line 3: invalid authentication method. It was",
        name="a rule",
    ),
    *(
        Example(
            "check_restartable",
            ("@folder@/bin:@path@", "/d", "-", series, "/tmp", "5432", "60"),
            arrange=_server(_TAKES),
            programs=_FILE_OF_RULE,
            status=1,
            complains=f"with its configuration files: {file} line 3: invalid authentication method. It was",
            name=f"the file of a rule in {series}",
        )
        for series, file in (("10", "/d/pg_hba.conf"), ("15", "/d/pg_hba.conf"), ("16", "/d/more.conf"))
    ),
    Example(
        "cluster_start_files",
        arrange=f"touch postgresql.conf && {_server(_TAKES)}",
        settings=_OF | {"cluster_pid": "", "cluster_config": ""},
        prints="whole\n",
        name="stopped",
    ),
    Example(
        "cluster_start_files",
        arrange=f"touch postgresql.conf && {_server('exit 7')}",
        settings=_OF | {"cluster_pid": "", "cluster_config": ""},
        matches=r"complaint [0-9a-f]+\nwhole\n",
        name="errors",
    ),
    Example(
        "cluster_start_files",
        arrange=_server(_TAKES),
        settings=_OF | {"cluster_pid": "", "cluster_config": ""},
        status=1,
        complains="the location of the configuration is not known",
        name="no file",
    ),
    Example(
        "print_settings_not_in_force",
        ("edited",),
        settings=_ASKS | {"sql_home": "postgres", "PGOPTIONS": "-c jit=off"},
        programs={"psql": '[ -z "${PGOPTIONS+set}" ] && seq 61'},
        prints="beyond edited\n",
        name="too many",
    ),
    Example(
        "cluster_start_files",
        arrange=_server(_IN_FORCE),
        settings=_RUNNING,
        programs=_PSQL,
        prints="edited port f - 35343332|35343333\nedited ssl_passphrase_command t - |\n"
        "option max_connections f - 313337|313030\nwhole\n",
    ),
]
