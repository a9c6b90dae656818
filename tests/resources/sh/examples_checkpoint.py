"""Examples of a checkpoint while old runs. psql is played by a stand-in, which prints what it was asked."""

from tests.resources.sh.examples import Example

_WORDS = ("@folder@/data", "@path@", "/tmp", "5433", "15", "60")
_PSQL = {"psql": 'echo "$PGDATABASE $PGHOST $PGPORT"; cat'}

EXAMPLES = [
    Example(
        "write_checkpoint",
        _WORDS,
        arrange="mkdir data && echo 1 >data/postmaster.pid",
        programs=_PSQL,
        prints="postgres /tmp 5433\ncheckpoint;\n",
    ),
    Example("write_checkpoint", _WORDS, arrange="mkdir data", programs=_PSQL, prints="", name="stopped"),
    Example(
        "write_checkpoint",
        _WORDS,
        arrange="mkdir data && echo 1 >data/postmaster.pid",
        programs={"psql": "exit 2"},
        status=1,
        complains="the database postgres could not be queried",
        name="no server",
    ),
]
