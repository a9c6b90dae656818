"""Examples of what every subject uses."""

from tests.resources.sh.examples import Example

_WHOLE = "printf 'a\\0b\\0'"

EXAMPLES = [
    Example("write_complete", ("list", "printf", "%s\\n", "a"), after='[ "$(cat list)" = a ] && [ ! -e list.part ]'),
    Example(
        "write_complete",
        ("list", "false"),
        status=1,
        complains="false failed with exit status 1: list was not written",
        after="[ ! -e list ] && [ ! -e list.part ]",
        name="a command that fails leaves no list",
    ),
    Example("retry_command", ("2", "no", "printf", "%s\\n", "a"), prints="a\n"),
    Example("retry_command", ("2", "no", "true"), prints="", name="nothing is an answer"),
    Example(
        "retry_command",
        ("2", "it never came", "mkdir", "one"),
        programs={"mkdir": '[ ! -d one ] || exit 0; /bin/mkdir "$@"; exit 1'},
        prints="",
        after="[ -d one ]",
        name="the second time",
    ),
    Example("retry_command", ("2", "it never came", "false"), status=1, complains="it never came", name="never"),
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
