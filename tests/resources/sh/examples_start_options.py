"""Examples of what is read of a server's start: its options, and why it failed."""

from tests.resources.sh.examples import Example

_DATA = "@folder@/data"
_WORDS = (
    '/pg/bin/postgres "-D" "/srv/x y" "-p" "5599" "-c" "config-file=/x" "-Fi" "-o" "-D" "-DX" "-cdata_directory=q" '
    '"--work_mem=it\'\\\'\'s $(touch x)" "-N" "50" "-c" "max_prepared_transactions=5" ""'
)
_READ = " '-p' '5599' '-Fi' '-o' '-D' '--work_mem=it'\\''s $(touch x)' '-N' '50' '-c' 'max_prepared_transactions=5' ''"


def _opts(text: str) -> str:
    return f"mkdir data && printf '%s\\n' '{text}' >data/postmaster.opts"


def _refused(text: str, name: str) -> Example:
    return _refused_file(f"printf '%s\\n' '{text}'", name)


def _refused_file(command: str, name: str) -> Example:
    arrange, said = f"mkdir data && {command} >data/postmaster.opts", "was started cannot be read from"
    return Example("print_start_options", (_DATA,), arrange=arrange, status=1, complains=said, name=name)


_LOG = (
    'LOG:  starting PostgreSQL 15\\nLOG:  unrecognized configuration parameter "x" in file "y" line 3\\n'
    'FATAL:  configuration file "y" \\033[31mcontains errors\\nDETAIL:  one\\n stopped waiting\\npg_ctl: could not\\n'
)
_MEASURED = "the reason is beside the point: the start has failed, and that is said"

_CSV = (
    "2026-11-29 17:00:00.123 UTC,,,7,,692b.7,3,,2026-11-29 17:00:00 UTC,,0,"
    'FATAL,58P01,"no file ""/x/.s"": ""gone"", it is","a, ""detail""",,,,,,,,"","postmaster",,0'
)
_JSON = r'{"pid":7,"error_severity":"FATAL","state_code":"5","message":"no file \"/x/.s\": \"gone\", it is","a":"b"}'

EXAMPLES = [
    Example("print_start_options", (_DATA,), arrange=_opts(_WORDS), prints=_READ),
    Example("print_start_options", (_DATA,), arrange="mkdir data", prints="", name="nothing said"),
    Example("print_start_files", (_DATA,), arrange=_opts(_WORDS), prints="-D=X\ndata_directory=q\nconfig_file=/x\n"),
    Example(
        "print_start_files",
        (_DATA,),
        arrange=_opts('/pg/bin/postgres "--hba-file=/a b=c" "-c" "IDENT_FILE=/x" "-cident_file=/y" "-o" "-D"'),
        prints="hba_file=/a b=c\nident_file=/y\n",
        name="access",
    ),
    Example("parse_start_options", (_DATA, "files"), arrange=_opts('postgres "-D" "/d"'), prints="-D=/d\n"),
    Example("print_start_options", (_DATA,), arrange=_opts("/pg/bin/postgres"), prints="", name="no options"),
    _refused('postgres "-p', "cut off"),
    _refused('postgres "-c" "a="b"', "a quotation mark"),
    _refused('postgres "-FD" "/x"', "two in one"),
    _refused('postgres "-p" "1\n2"', "two lines"),
    _refused_file('printf \'postgres "-c" "a=b\\0c"\\n\'', "a NUL"),
    _refused_file('printf \'postgres "-c" "a=b"\\0\\n\'', "a NUL at the end"),
    _refused_file("head -c 4096 /dev/zero", "NUL only"),
    _refused_file(":", "empty"),
    _refused_file("echo", "an empty line"),
    _refused_file('printf \'postgres "-c" "a=b"\\r\\n\'', "a line of another system"),
    _refused_file('printf \'postgres "-c" "a=%01048576d"\\n\' 0', "of a megabyte"),
    _refused_file("head -c 4096 /dev/urandom", "anything"),
    Example(
        "print_start_options",
        (_DATA,),
        arrange='mkdir data && printf \'postgres "-c" "a=\\303\\244"\\n\' >data/postmaster.opts',
        prints=" '-c' 'a=ä'",
        name="no ASCII",
    ),
    Example(
        "print_start_options",
        (_DATA,),
        arrange=_opts('postgres "-c" "a=$(touch ran) `touch ran`; touch ran"'),
        prints=" '-c' 'a=$(touch ran) `touch ran`; touch ran'",
        after="[ ! -e ran ]",
        name="commands",
    ),
    _refused('postgres "--single" "-r" "/home/.profile" "$(id)"', "no server"),
    Example(
        "save_options",
        (_DATA,),
        arrange=f"{_opts('postgres')} && mkdir data/pghaul-fence",
        prints="",
        after="cmp data/postmaster.opts data/pghaul-fence/options",
    ),
    Example(
        "restore_options",
        (_DATA,),
        arrange=f"{_opts('ours')} && mkdir data/pghaul-fence && echo kept >data/pghaul-fence/options",
        prints="",
        after='[ "$(cat data/postmaster.opts)" = kept ] && [ ! -e data/pghaul-fence/options ]',
    ),
    Example(
        "save_options",
        (_DATA,),
        arrange="mkdir -p data/pghaul-fence",
        prints="",
        after='[ "$(cat data/pghaul-fence/options)" = none ]',
    ),
    Example(
        "restore_options",
        (_DATA,),
        arrange=f"{_opts('ours')} && mkdir data/pghaul-fence && echo none >data/pghaul-fence/options",
        prints="",
        after="[ ! -e data/postmaster.opts ] && [ ! -e data/pghaul-fence/options ]",
    ),
    Example(
        "explain_failed_start",
        (_DATA, "0", "cat", "said"),
        arrange=f"mkdir data && printf '{_LOG}' >said",
        prints='LOG:  unrecognized configuration parameter "x" in file "y" line 3 | '
        'FATAL:  configuration file "y"  [31mcontains errors | DETAIL:  one',
        tolerates={"cat": _MEASURED, "cat behind": _MEASURED, "sed": _MEASURED, "sed behind": _MEASURED},
    ),
    Example(
        "explain_failed_start",
        (_DATA, "0", "true"),
        arrange="mkdir -p data/log && echo 'stderr log/a.log' >data/current_logfiles && "
        "printf '%s\\n' 'ВАЖНО:  no' >data/log/a.log",
        prints="ВАЖНО:  no",
        tolerates={each: _MEASURED for one in ("sed", "stat", "tail", "true") for each in (one, f"{one} behind")},
        name="its own log",
    ),
    *(
        Example(
            "explain_failed_start",
            (_DATA, "0", "true"),
            arrange=f"mkdir -p data && echo '{kind} own' >data/current_logfiles && cat >data/own <<'END'\n{line}\nEND",
            prints='FATAL:  no file "/x/.s": "gone", it is',
            tolerates={each: _MEASURED for one in ("sed", "stat", "tail", "true") for each in (one, f"{one} behind")},
            name=f"its own {kind}",
        )
        for kind, line in (("csvlog", _CSV), ("jsonlog", _JSON))
    ),
    Example(
        "explain_failed_start",
        (_DATA, "9999999999", "true"),
        arrange="mkdir -p data/log && echo 'stderr log/a.log' >data/current_logfiles && echo FATAL: >data/log/a.log",
        prints="",
        tolerates={each: _MEASURED for one in ("sed", "stat", "true") for each in (one, f"{one} behind")},
        name="an older log",
    ),
    Example(
        "print_journal",
        ("7", "-u", "a.service"),
        programs={"journalctl": 'echo "$*"'},
        prints="--no-pager -q -o cat -n 50 --since @7 -u a.service\n",
    ),
]
