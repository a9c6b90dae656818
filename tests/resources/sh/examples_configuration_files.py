"""Examples of the look at the configuration files of a cluster. psql and the server program are played."""

from tests.resources.sh.examples import Example

_D = "@folder@"
_OF = {
    "cluster_folder": _D,
    "cluster_series": "16",
    "cluster_programs": f"{_D}/bin",
    "cluster_config": "",
    "cluster_pid": "",
    "section_failed": "",
}
_SERVER = "mkdir bin && printf '#!/bin/sh\\necho \"$PWD/$2\"\\n' >bin/postgres && chmod +x bin/postgres"
_SETTINGS = r"""cat >a.conf <<'E'
# include 'none'
include 'b.conf'   # one
Include_If_Exists = 'it''s \\.conf'
include_dir = conf.d
include.dir = 'no setting of ours'
shared_buffers = '@folder@'
 hba_file='@folder@/pg_hba.conf'
log_directory = '@folder@2/log'
archive_command = 'cp %p @folder@/arch/%f'
includes = x
ssl_crl_dir = '/backup@folder@/crl'
ident_file = '@folder@/../led/pg_ident.conf'
restore_command = 'test -e /none && cp @folder@/../led/not\ yet/%f %p'
log_line_prefix = '%m /'
E
ln -s room ../led
"""
_NAMED = """settings required b.conf
settings optional it's \\.conf
settings folder conf.d
mention 6 shared_buffers
mention 7 hba_file
mention 9 archive_command
mention 12 ident_file
mention 13 restore_command
"""
_RULES = r"""cat >pg_hba.conf <<'E'
local all @dbas trust # @none
host "@quoted",@"my list",b all 192.0.2.0/24 md5
include more.conf
host all \
  @behind all md5
include_if_exists "a b"
include_dir d
include three words here
E
"""
_OLDER = "list required dbas\nlist required my list\n"
_DIGITS = r"[0-9a-f]+"

_PATH = "path 1 log_directory /var/log\n"
_LED = {"readlink": "a path that leads round and round leads nowhere"}

EXAMPLES = [
    Example("list_included_settings", ("a.conf",), arrange=_SETTINGS, settings=_OF, prints=_NAMED, tolerates=_LED),
    Example("leads_into", (_D, f"cat {_D}/led/x"), arrange="ln -s . led", prints="", tolerates=_LED),
    Example(
        "parse_settings", ("a.conf",), arrange="echo \"log_directory = '/var/log'\" >a.conf", settings=_OF, prints=_PATH
    ),
    Example(
        "parse_rules",
        ("rules", "pg_hba.conf"),
        arrange=_RULES,
        settings=_OF,
        prints=f"{_OLDER}rules required more.conf\nlist required behind\nrules optional a b\nrules folder d\n",
    ),
    Example(
        "parse_rules",
        ("rules", "pg_hba.conf"),
        arrange=_RULES,
        settings=_OF | {"cluster_series": "15"},
        prints=f"{_OLDER}list required behind\n",
        name="before 16",
    ),
    Example(
        "parse_rules",
        ("list", "pg_hba.conf"),
        arrange="printf 'a, @b\ninclude c\n' >pg_hba.conf",
        settings=_OF,
        prints="list required b\n",
        name="a list",
    ),
    Example(
        "list_included_folder",
        ("settings", "conf.d"),
        arrange="mkdir -p conf.d/d.conf && touch conf.d/b.conf 'conf.d/a c.conf' conf.d/.h.conf conf.d/b.conf~ && "
        "ln -s d.conf conf.d/l.conf && ln -s none conf.d/z.conf",
        prints="settings required a c.conf\nsettings required b.conf\nsettings required z.conf\n",
    ),
    Example("list_named_files", ("settings", "file", "a.conf"), arrange=_SETTINGS, settings=_OF, prints=_NAMED),
    *(
        Example("print_file_state", (mode, path), arrange=arrange, prints=f"{state}\n", name=f"{mode} {state}")
        for mode, path, arrange, state in (
            ("required", "f", "touch f", "file"),
            ("optional", "f", "", "missing"),
            ("folder", "f", "mkdir f", "folder"),
            ("required", "f", "mkdir f", "odd"),
            ("folder", "f", "touch f", "odd"),
            ("required", "f", "mkfifo f", "odd"),
            ("required", "f", "truncate -s 20M f", "odd"),
            ("required", "f", "ln -s none f", "missing"),
        )
    ),
    Example(
        "cluster_configuration",
        arrange=f"{_SERVER} && touch pg_hba.conf hba_file && echo \"include 'b c.conf'\" >postgresql.conf && "
        "echo 'include postgresql.conf' >'b c.conf' && mkfifo ident_file",
        settings=_OF,
        matches=rf"file 1 settings required file absolute 0 {_DIGITS}\n"
        rf"file 2 settings optional missing absolute 0 {_DIGITS}\n"
        rf"file 3 rules required file absolute 0 {_DIGITS}\nfile 4 rules required odd absolute 0 {_DIGITS}\n"
        rf"(file \d+ settings required file relative \d+ {_DIGITS}\n){{10}}whole\n",
        name="stopped, and including itself",
    ),
    Example(
        "cluster_configuration",
        arrange="touch postgresql.conf",
        settings=_OF,
        status=1,
        complains="no server program of PostgreSQL 16 was found",
        name="no program",
    ),
    Example(
        "cluster_configuration",
        arrange="echo \"archive_command = 'x @folder@/y'\" >a.conf && touch h i",
        settings=_OF
        | {
            "cluster_pid": "1",
            "cluster_socket": "",
            "cluster_port": "",
            "cluster_queries": "",
            "cluster_programs": "/",
        },
        programs={"psql": 'while read -r _; do :; done; printf \'%s\\n\' "$PWD/a.conf" "$PWD/h" "$PWD/i"'},
        matches=rf"file 1 settings required file absolute 0 {_DIGITS}\nmention 1 1 archive_command\n"
        rf"file 2 settings optional missing absolute 0 {_DIGITS}\nfile 3 rules required file absolute 0 {_DIGITS}\n"
        rf"file 4 rules required file absolute 0 {_DIGITS}\nwhole\n",
    ),
]
