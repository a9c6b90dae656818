"""Examples of work beside a server that serves: its priority, and the room that its lists leave."""

from tests.resources.sh.examples import Example

_KEPT = dict.fromkeys(("renice", "ionice"), "the priority stays as it is then")
_FILLED = {"stat": 'echo >>calls; if [ "$(wc -l <calls)" -gt 2 ]; then echo 1 1024; else echo 999999 1024; fi'}
_CLOCK = {"sleep": "it only watches", "sleep behind": "the same"}
_WORK = {"nice": "it is what runs", "nice behind": "the same"}

EXAMPLES = [
    Example("run_beside_server", ("9", "@folder@", "nice"), prints="10\n", tolerates=_KEPT | _CLOCK | _WORK),
    Example("run_at_low_priority", ("nice",), prints="10\n", tolerates=_KEPT | _WORK),
    Example("run_within_free_space", ("9", "@folder@", "nice"), prints="0\n", tolerates=_CLOCK | _WORK),
    Example("lower_priority", prints="", tolerates=_KEPT),
    Example(
        "run_within_free_space", ("9", "@folder@", "refuse", "9", "no"), status=9, complains="no", name="its status"
    ),
    Example(
        "run_within_free_space",
        ("9", "@folder@", "sleep", "60"),
        programs=_FILLED,
        status=1,
        complains="got full: this work was ended before the server on it ran out of space",
        name="full meanwhile",
    ),
    Example(
        "run_within_free_space",
        ("999000", "@folder@", "echo", "a"),
        programs={"stat": "echo 999999 1024"},
        status=1,
        complains=" 975 MB",
        name="too full",
    ),
    Example("space_to_keep_free", ("9", "@folder@"), programs={"stat": "echo 999999 1024"}, prints="49999\n"),
    Example("space_to_keep_free", ("9", "@folder@"), programs={"stat": "echo 60 1024"}, prints="3\n", name="small"),
    Example("free_space", ("@folder@",), matches=r"\d+\n"),
    Example("watch_free_space", ("@folder@", "1", "999999999"), prints="", name="what it watches has ended"),
    Example("list_process_tree", ("1",), matches=r"(?: \d+)+ \n"),
]
