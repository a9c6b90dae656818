"""Examples of the proof that the plan knows every folder that a link of the data directory leads to."""

from tests.resources.sh.examples import Example

_DATA = (
    'mkdir -p data/pg_tblspc "space ö" && ln -s "../../space ö" data/pg_tblspc/1 && '
    "ln -s gone data/gone && ln -s /etc/hostname data/file"
)
_KNOWN = ("pg_tblspc/1", "@folder@/space ö")
_SAYS = "not in the plan, made since; begin with a new plan: --anew, and --rollback before it"

EXAMPLES = [
    Example("prove_data_roots", ("data", *_KNOWN, "pg_wal", "/gone"), arrange=_DATA, prints=""),
    Example("prove_data_roots", ("data",), arrange="mkdir data", prints="", name="no links"),
    Example("prove_data_roots", ("data",), status=1, complains="data cannot be entered", name="no folder"),
    Example(
        "prove_data_roots",
        ("data", *_KNOWN),
        arrange=f"{_DATA} && mkdir wal && ln -s ../wal data/-e",
        status=1,
        complains=f"/wal: {_SAYS}",
        name="a link made since",
    ),
    Example(
        "prove_data_roots",
        ("data", *_KNOWN),
        arrange=f'{_DATA} && mkdir wal && ln -s ../wal "data/pg\nwal"',
        status=1,
        complains="is gone, or its name holds a line break",
        name="a line break in a name",
    ),
    Example(
        "prove_data_roots",
        ("data", "pg_tblspc/1", "@folder@/elsewhere"),
        arrange=_DATA,
        status=1,
        complains=_SAYS,
        name="a link that leads elsewhere now",
    ),
    Example(
        "unknown_root", ("data/pg_tblspc/1",), arrange=_DATA, prints="data/pg_tblspc/1 leads to @folder@/space ö; "
    ),
    Example("unknown_root", ("data/gone",), arrange=_DATA, prints="", name="to no folder"),
    Example(
        "unknown_root",
        ("data/no",),
        arrange=_DATA,
        status=1,
        complains="data/no is gone, or its name holds a line break",
        name="no link",
    ),
]
