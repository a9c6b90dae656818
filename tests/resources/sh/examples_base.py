"""Examples of what every subject uses."""

from tests.resources.sh.examples import Example

_WHOLE = "printf 'a\\0b\\0'"

EXAMPLES = [
    Example("whole", ("list", "printf", "%s\\n", "a"), after='[ "$(cat list)" = a ] && [ ! -e list.part ]'),
    Example(
        "whole",
        ("list", "false"),
        status=1,
        complains="false failed with exit status 1: list was not written",
        after="[ ! -e list ] && [ ! -e list.part ]",
        name="a command that fails leaves no list",
    ),
    Example("try_again", ("2", "no", "printf", "%s\\n", "a"), prints="a\n"),
    Example("try_again", ("2", "no", "true"), prints="", name="nothing is an answer"),
    Example(
        "try_again",
        ("2", "it never came", "mkdir", "one"),
        programs={"mkdir": '[ ! -d one ] || exit 0; /bin/mkdir "$@"; exit 1'},
        prints="",
        after="[ -d one ]",
        name="the second time",
    ),
    Example("try_again", ("2", "it never came", "false"), status=1, complains="it never came", name="never"),
    Example("records", ("list",), arrange=f"{_WHOLE} >list", prints="2\n"),
    Example("records", ("list",), arrange=": >list", prints="0\n", name="none"),
    Example("records", ("list",), status=1, complains="list cannot be read", name="no file"),
    Example("lines", ("list",), arrange="echo a >list", prints="1\n"),
    Example("lines", ("list",), arrange=": >list", prints="0\n", name="none"),
    Example("enter", ("there",), arrange="mkdir there"),
    Example("enter", ("there",), status=1, complains="there cannot be entered", name="no folder"),
    Example("take_whole", stdin="a\nb\n# whole\n", prints="a\nb\n"),
    Example("take_whole", stdin="a\nb\n", status=1, complains="cut off", name="cut off"),
    Example("take_whole", status=1, complains="cut off", name="empty"),
    Example("own_folder", ("mine",), after='[ "$(stat -c %a mine)" = 700 ]'),
    Example(
        "own_folder",
        ("mine",),
        arrange="mkdir -m 755 mine && echo kept >mine/list",
        after='[ "$(stat -c %a mine)" = 700 ] && [ -e mine/list ]',
        name="what lies there stays",
    ),
    Example(
        "own_folder", ("mine",), arrange="ln -s /tmp mine", status=1, complains="something else lies there", name="link"
    ),
    Example("flush", (".",)),
    Example(
        "flush",
        (".",),
        programs={"sync": '[ "$1" = --help ] && echo --file-system || exit 1'},
        status=1,
        complains="is not on its disk",
        name="a write that failed",
    ),
    Example("flush", (".",), programs={"sync": '[ "$1" != -f ] || exit 1'}, name="a sync that knows no file systems"),
    Example("bare", (".",), arrange="mkdir lost+found pghaul-fence"),
    Example("bare", ("/nowhere",), status=1, complains="/nowhere cannot be read", name="it is not there"),
    Example("flush_all", (".", "/")),
    Example("flush_all", (".", "/nowhere"), status=1, complains="/nowhere is not on its disk", name="one is not there"),
]
