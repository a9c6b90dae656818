"""Examples of amcheck in a dress rehearsal. psql is played; tests/live/test_dress_amcheck.py has a damaged index."""

from tests.resources.sh.examples import Example

_BROKEN = 'ERROR:  XX002: item order invariant violated for index "i"'
_STATEMENT = (
    "STATEMENT:  select case when clock_timestamp() < to_timestamp(9) then 'sound' || x.bt_index_check(7)::text -- "
)


def _psql(found: str, *said: str) -> dict[str, str]:
    """One that answers which databases there are, whether amcheck is there, and what it says of the indexes."""
    lines = "\n".join(said)
    return {
        "psql": f"""said=$(cat); case $said in
*gexec*) cat <<'END'
{lines}
END
;;
*lacks*) echo '{found}' ;;
*datistemplate*) echo '1 shop' ;;
esac"""
    }


_COPY = ("@path@", "/tmp", "5433", "15")
_SECONDS = {"amcheck_seconds": "60"}

EXAMPLES = [
    Example("with_amcheck", ("60", "count_records", "list"), arrange="printf 'a\\0' >list", prints="1\n"),
    Example(
        "amcheck_copy",
        _COPY,
        settings=_SECONDS,
        programs=_psql("asked 2 1", "59999", "sound", "59000", "sound"),
        prints="database shop: 2 B-tree indexes were verified by amcheck\n"
        "warning: database shop: 1 indexes were not verified: they are unlogged or invalid, or their operator classes "
        "use functions of users\n",
    ),
    Example(
        "amcheck_copy",
        _COPY,
        settings=_SECONDS,
        programs=_psql("lacks"),
        prints="warning: database shop: its B-tree indexes were not verified: it does not have the extension amcheck\n",
        name="no amcheck",
    ),
    Example(
        "amcheck_copy",
        _COPY,
        settings=_SECONDS,
        programs=_psql("asked 2 0", "sound", _BROKEN, "LOCATION:  x, y.c:7", f"{_STATEMENT}public.i"),
        status=1,
        complains="amcheck found damage in the copy: database shop: public.i: item order invariant violated",
        name="a damaged index",
    ),
    Example(
        "amcheck_words",
        ("shop",),
        stdin=f"asked 5 0\nsound\nERROR:  57014: canceling\n{_STATEMENT}public.i\nlate\n"
        f"FEHLER:  42501: nicht erlaubt\n{_STATEMENT}public.j\nsound\n",
        prints="database shop: 2 B-tree indexes were verified by amcheck\n"
        "warning: database shop: 2 indexes were not verified: the time limit for amcheck was reached\n"
        "warning: database shop: 1 indexes were not verified: public.j: nicht erlaubt\n",
    ),
    Example(
        "amcheck_words",
        ("shop",),
        stdin="asked 3 0\nsound\n",
        prints="database shop: 1 B-tree indexes were verified by amcheck\n"
        "wrong database shop: the server ended while its indexes were verified\n",
        name="the server ends",
    ),
    Example(
        "amcheck_database",
        ("shop",),
        settings={"connect_end": "9999999999", "slots_all": "", "amcheck_end": "9999999999"},
        programs=_psql("asked 1 0", "sound"),
        prints="asked 1 0\nsound\n",
    ),
]
