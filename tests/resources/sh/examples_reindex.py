"""Examples of building indexes anew. psql is played; on a real cluster tests/live runs the statements."""

from tests.resources.sh.examples import Example

_PSQL = {
    "psql": r"""asked=
while read -r line; do asked="$asked $line"; done
names=
for word do case $word in names=*) names=$(printf '%s' "$word" | tr '\n' ,) ;; esac; done
case "$asked" in
  *"'reindex index"*'opcname !~'*) echo "reindex $PGDATABASE $names;" ;;
  *"'alter collation"*) echo "collation $names;" ;;
  *"'alter database"*) ;;
  *) echo "done:$asked" ;;
esac"""
}
_WORDS = ("@path@", "-", "5433", "15", "60", "shop", "2", "de-AT", "default", "app", "1", "default")
_IN_TIME = {"connect_end": "9999999999"}
_DONE = "done: reindex {0} names={1};\ndone: collation names={1};\n"

EXAMPLES = [
    Example(
        "rebuild_indexes",
        _WORDS,
        programs=_PSQL,
        prints=_DONE.format("shop", "de-AT,default,") + _DONE.format("app", "default,"),
        tolerates={"tr": "a stand-in's own"},
    ),
    Example(
        "rebuild_indexes",
        (*_WORDS[:3], "9.6", "60", "app", "1", "C"),
        programs=_PSQL,
        prints="done: reindex app names=C,;\n",
        name="before 10",
        tolerates={"tr": "a stand-in's own"},
    ),
    Example(
        "rebuild_indexes",
        _WORDS,
        programs={"psql": "exit 2"},
        status=1,
        complains="the database shop could not be queried",
        name="no server",
    ),
    Example(
        "rebuild_database_indexes",
        ("app", "10", "C\n"),
        settings=_IN_TIME,
        programs=_PSQL,
        prints=_DONE.format("app", "C,"),
        tolerates={"tr": "a stand-in's own"},
    ),
    Example("index_collations_sql", matches=r"(?s).*select indexrelid as id,.*_ops\$'\n"),
    Example(
        "run_generated",
        ("app", "C", "select"),
        settings=_IN_TIME,
        programs={"psql": 'case "$*" in *names*) echo "reindex;" ;; *) exit 3 ;; esac'},
        status=1,
        complains="not all indexes of the database app were rebuilt",
        name="one fails",
    ),
    Example("run_generated", ("app", "C", "select"), settings=_IN_TIME, programs={"psql": ":"}, prints="", name="none"),
]
