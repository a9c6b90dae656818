"""Examples of text that comes through whole, and of sections."""

from core.facts.queries import escaped_name
from core.servers.functions import library
from tests.resources.sh.examples import Example

_PROGRAM = {"program": library(["print_first"]) + '\n"$@"\n'}
_ENDED = {
    "timeout": "the section ends with its exit status, and that is told",
    "cat": "the same",
    "timeout behind": "the same",
    "cat behind": "the same",
}

_CUT = dict.fromkeys(("sed", "head", "sed behind", "head behind"), "what is missing is seen by its marks")
_LOOKED_AT = dict.fromkeys(("nice", "ionice"), "its caller looks at the exit status")
_BEGUN = {"timeout": "then nothing limits the sections"} | dict.fromkeys(
    ("renice", "ionice"), "the priority stays then"
)

EXAMPLES = [
    Example("hex", ("a b\n$(x)",), prints="6120620a24287829"),
    Example("hex", ("",), prints="", name="nothing"),
    Example(
        "hex", ("/srv/pg 15/a-b_c.d,e:f=@%+",), prints=b"/srv/pg 15/a-b_c.d,e:f=@%+".hex(), name="usual characters"
    ),
    Example("hex", ("é'\"\\*",), prints="é'\"\\*".encode().hex(), name="other characters"),
    Example("hex", ("a" * 300,), prints="61" * 300, name="a long word"),
    Example("hex_usual", ("a b",), prints="612062"),
    Example("hex_file", ("list", "3"), arrange="printf 'a\\0bc' >list", prints="610062"),
    Example("indent_lines", ("a\nunit b",), prints=": a\n: unit b\n"),
    Example("indent_first_lines", ("2", "a\n\nc"), prints=": a\n: \n"),
    Example("indent_first_lines", ("9", "unit *\n \\b"), prints=": unit *\n:  \\b\n", name="few"),
    Example("first_line", ("a b\nc",), prints="a b\n"),
    Example("last_line", ("a\nb c",), prints="b c\n"),
    Example("escaped_name_sql", ("n",), prints=escaped_name("n")),
    Example(
        "unescape_name",
        (r"a\\n\n",),
        after=r"""unescape_name 'a\\n\n'; [ "$name_whole." = "$(printf 'a%sn\n.' '\')" ]""",
    ),
    Example("escape_name", ("a\\n\n\tb\n",), prints="a\\\\n\\n\tb\\n"),
    Example("print_first", ("none", "list"), arrange="echo a >list", prints="a\n"),
    Example(
        "print_first", ("none", "no"), status=1, complains="none of these files exists: none no", name="none is there"
    ),
    Example("print_if_exists", ("list",), arrange="echo a >list", prints="a\n"),
    Example("print_if_exists", ("list",), prints="", name="none"),
    Example("path_exists", ("list",), arrange="ln -s nowhere list"),
    Example("low_priority", ("echo", "a"), prints="a\n", tolerates=_LOOKED_AT),
    Example("sections_begin", ("MARK",), settings=_PROGRAM, tolerates=_BEGUN),
    Example(
        "run_section",
        ("name", "5", "print_first", "@folder@/list"),
        arrange="echo a >list",
        settings=_PROGRAM | {"section_mark": "MARK", "section_limits": "yes"},
        prints="\nMARK begin name\na\n\nMARK end 0\n",
        tolerates=_ENDED,
    ),
    Example(
        "run_section",
        ("name", "1", "sleep", "9"),
        settings=_PROGRAM | {"section_mark": "MARK", "section_limits": "yes"},
        prints="\nMARK begin name\n\nMARK end 124\n",
        tolerates=_ENDED | {"sleep": "the same"},
        name="it takes too long",
    ),
    Example(
        "run_section",
        ("name", "1", "print_first", "none"),
        settings=_PROGRAM | {"section_mark": "MARK", "section_limits": "no"},
        prints="\nMARK begin name\n\nMARK end 1\n",
        name="it fails",
    ),
    Example(
        "run_isolated",
        ("sh", "-c", "echo a; echo b >&2; sleep 5 & exit 3"),
        prints="a\n\npghaul-apart-end\n",
        tolerates=_CUT | {"sleep": "it is left behind"},
        seconds=4,
    ),
    Example(
        "until_end",
        stdin="a\npghaul-apart-end\nb\n",
        prints="a\npghaul-apart-end\n",
        tolerates=_CUT,
    ),
]
