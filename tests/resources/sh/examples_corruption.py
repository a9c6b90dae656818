"""Examples of the look for corruption. The programs are played; on a real cluster tests/live runs them."""

from tests.resources.sh.examples import Example

_PSQL = r"""asked=
while read -r line; do asked="$asked $line"; done
case "$asked" in
  *pg_available_extensions*) echo "${known-1}" ;;
  *"|| ' ' || "*datname*) printf '2 %s\n' 'it'\''s' postgres ;;
  *pg_extension*) [ "$PGDATABASE" = postgres ] && echo 1 || echo 0 ;;
  *) echo "$PGDATABASE:$asked" >>"$HOME/done" ;;
esac"""
_CHECKED = {"psql": _PSQL, "pg_amcheck": 'echo "amcheck $*"'}
_FOUND = {"psql": _PSQL, "pg_amcheck": "echo broken; case $PGDATABASE in *postgres*) ;; *) exit 2 ;; esac"}
_UNKNOWN = {"psql": f"known=0\n{_PSQL}", "pg_amcheck": "exit 1"}
_WORDS = ("@path@", "/tmp", "5433", "15", "60", "4")
_IN_TIME = {"connect_end": "9999999999"}
_REMOVED = "it's: drop schema if exists pghaul_amcheck cascade;"
_ADDED = "it's: create schema pghaul_amcheck; create extension amcheck schema pghaul_amcheck;"
_FENCED = "mkdir -p data/global data/pghaul-fence/global && touch data/PG_VERSION data/pghaul-fence/global/pg_control"
_STILL = "[ -e data/PG_VERSION ] && [ -e data/pghaul-fence/global/pg_control ]"
_LOOKS = "[ ! -e data/PG_VERSION ] && [ -e data/global/pg_control ] || exit 4; "
_LEFT = f'[ "$(cat done)" = "{_REMOVED}\n{_ADDED}\n{_REMOVED}" ]'

EXAMPLES = [
    Example(
        "check_pages",
        ("@path@", "pg_checksums", "data"),
        arrange=_FENCED,
        programs={"pg_checksums": f'{_LOOKS} echo "$*"'},
        after=_STILL,
        prints="--check --progress -D data\n",
    ),
    Example(
        "check_pages",
        ("@path@", "pg_checksums", "data"),
        arrange="mkdir -p data/global && touch data/PG_VERSION data/global/pg_control",
        programs={"pg_checksums": 'echo "$*"'},
        after="[ ! -e data/pghaul-fence ] && [ -e data/PG_VERSION ] && [ -e data/global/pg_control ]",
        prints="--check --progress -D data\n",
        name="opened",
    ),
    Example("run_page_check", ("pg_checksums", "data"), programs={"pg_checksums": 'echo "$*"'}, matches="--check .*\n"),
    Example(
        "check_pages",
        ("@path@", "pg_verify_checksums", "data"),
        arrange=_FENCED,
        programs={"pg_verify_checksums": 'echo "$*"'},
        prints="-D data\n",
        name="11",
    ),
    Example(
        "check_pages",
        ("@path@", "pg_checksums", "data"),
        arrange=_FENCED,
        programs={"pg_checksums": "exit 1"},
        after=_STILL,
        status=1,
        complains="corruption was found, or not everything could be read",
        name="found",
    ),
    Example(
        "check_relations",
        _WORDS,
        programs=_CHECKED,
        prints="database it's\namcheck -w -j 4\ndatabase postgres\namcheck -w -j 4\n",
        after=_LEFT,
        tolerates={"full disk": "the stand-in's own file"},
    ),
    Example(
        "check_relations",
        _WORDS,
        programs=_FOUND,
        status=2,
        complains="corruption was found, or not everything",
        prints="database it's\nbroken\ndatabase postgres\nbroken\n",
        after=_LEFT,
        name="found",
    ),
    Example(
        "check_relations",
        _WORDS,
        programs=_UNKNOWN,
        prints="warning: The extension amcheck is not available on the new server. "
        "Tables and indexes were not checked.\n",
        name="no extension",
    ),
    Example(
        "check_database",
        ("it's", "2"),
        settings=_IN_TIME,
        programs=_CHECKED,
        prints="database it's\namcheck -w -j 2\n",
        after=_LEFT,
        tolerates={"pg_amcheck": "its own sentences", "full disk": "the stand-in's own file"},
    ),
    Example(
        "check_database",
        ("a=b\\'\n", "2"),
        settings=_IN_TIME,
        programs={"psql": "cat >/dev/null; echo 1", "pg_amcheck": 'printf "<%s>" "$PGDATABASE"'},
        prints="database a=b\\\\'\\n\n<dbname='a=b\\\\\\'\n'>",
        tolerates={"pg_amcheck": "its own sentences", "cat": "a stand-in's own"},
        name="a name that breaks a line",
    ),
    Example(
        "remove_amcheck",
        programs=_CHECKED,
        settings={**_IN_TIME, "check_in": "it's"},
        after=f'[ "$(cat done)" = "{_REMOVED}" ]',
        tolerates={"full disk": "the stand-in's own file"},
    ),
]
