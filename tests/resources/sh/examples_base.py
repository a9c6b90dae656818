"""Examples of what every subject uses."""

from tests.resources.sh.examples import Example

_GONE_1 = "\"find: './x': No such file or directory\""
_GONE_2 = '"find: \\`./x\': No such file or directory"'
_CLOSED = "\"find: './y': Permission denied\""
_WHOLE = "printf 'a\\0b\\0'"

EXAMPLES = [
    Example("write_complete", ("list", "printf", "%s\\n", "a"), after='[ "$(cat list)" = a ] && [ ! -e list.part ]'),
    Example(
        "write_complete",
        ("list", "false"),
        status=1,
        complains="list could not be written completely (exit status 1)",
        after="[ ! -e list ] && [ ! -e list.part ]",
        name="a command that fails leaves no list",
    ),
    Example("allow_gone", (".", "--", "printf", "%s\\n", "a"), prints="a\n"),
    *(
        Example(
            "allow_gone",
            (*folders, "--", "walk"),
            programs={"walk": f"echo ./a; printf '%s\\n' {messages} >&2; echo ./b; exit 1"},
            prints="./a\n./b\n",
            tolerates={"walk": "it fails by itself"},
            name=name,
        )
        for folders, messages, name in (
            (("@folder@/data/", "."), "\"find: '$PWD/data/1': No such file or directory\"", "a folder that is gone"),
            ((".",), f"{_GONE_1} {_GONE_2}", "with the message of an old find too"),
            (("/",), "\"find: '/a': No such file or directory\"", "in the root folder"),
        )
    ),
    *(
        Example(
            "write_complete",
            ("list", "allow_gone", folder, "--", "walk"),
            programs={"walk": f"echo ./a; printf '%s\\n' {messages} >&2; exit 1"},
            status=1,
            complains=complains,
            after="[ ! -e list ]",
            name=name,
        )
        for folder, messages, complains, name in (
            (".", f"{_GONE_1} {_CLOSED}", "'./y': Permission denied", "one of two cannot be read"),
            (".", "\"find: 'cp': No such file or directory\"", "'cp': No such file", "a program that is missing"),
            (".", "\"find: '.': No such file or directory\"", "'.': No such file", "the folder itself is gone"),
            ("data", _GONE_1, "'./x': No such file", "something elsewhere is gone"),
        )
    ),
    Example("is_gone", ("find: './x': No such file or directory", ".", "--")),
    Example("count_records", ("list",), arrange=f"{_WHOLE} >list", prints="2\n"),
    Example("count_records", ("list",), arrange=": >list", prints="0\n", name="none"),
    Example("count_records", ("list",), status=1, complains="list cannot be read", name="no file"),
    Example("count_lines", ("list",), arrange="echo a >list", prints="1\n"),
    Example("count_lines", ("list",), arrange=": >list", prints="0\n", name="none"),
    Example("enter_folder", ("there",), arrange="mkdir there"),
    Example("enter_folder", ("there",), status=1, complains="there cannot be entered", name="no folder"),
    Example("read_complete", stdin="a\nb\n# whole\n", prints="a\nb\n"),
    Example("read_complete", stdin="a\nb\n", status=1, complains="the input is incomplete", name="cut off"),
    Example("read_complete", status=1, complains="the input is incomplete", name="empty"),
    Example("make_private_folder", ("mine",), after='[ "$(stat -c %a mine)" = 700 ]'),
    Example(
        "make_private_folder",
        ("mine",),
        arrange="mkdir -m 755 mine && echo kept >mine/list",
        after='[ "$(stat -c %a mine)" = 700 ] && [ -e mine/list ]',
        name="what lies there stays",
    ),
    Example(
        "make_private_folder",
        ("mine",),
        arrange="ln -s /tmp mine",
        status=1,
        complains="something else exists at that path",
        name="link",
    ),
    Example("flush_file_system", (".",)),
    Example(
        "flush_file_system",
        (".",),
        programs={"sync": '[ "$1" = --help ] && echo --file-system || exit 1'},
        status=1,
        complains="was not written to disk",
        name="a write that failed",
    ),
    Example(
        "flush_file_system",
        (".",),
        programs={"sync": '[ "$1" != -f ] || exit 1'},
        name="a sync that knows no file systems",
    ),
    Example("target_is_empty", (".",), arrange="mkdir lost+found pghaul-fence"),
    Example("target_is_empty", ("/nowhere",), status=1, complains="/nowhere cannot be read", name="it is not there"),
    Example("flush_file_systems", (".", "/")),
    Example(
        "flush_file_systems",
        (".", "/nowhere"),
        status=1,
        complains="/nowhere was not written to disk",
        name="one is not there",
    ),
]
