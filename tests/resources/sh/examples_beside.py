"""Examples of work beside a server that serves: its priority, and the room that its lists leave."""

from tests.resources.sh.examples import Example

_KEPT = dict.fromkeys(("renice", "ionice"), "the priority stays as it is then")
_FILLED = {"stat": 'echo >>calls; if [ "$(wc -l <calls)" -gt 2 ]; then echo 1 1024; else echo 999999 1024; fi'}
_CLOCK = {"sleep": "it only watches", "sleep behind": "the same"}
_WORK = {"nice": "it is what runs", "nice behind": "the same"}

EXAMPLES = [
    Example("beside_server", ("9", "@folder@", "nice"), prints="10\n", tolerates=_KEPT | _CLOCK | _WORK),
    Example("lowered", ("nice",), prints="10\n", tolerates=_KEPT | _WORK),
    Example("within_room", ("9", "@folder@", "nice"), prints="0\n", tolerates=_CLOCK | _WORK),
    Example("lower_priority", prints="", tolerates=_KEPT),
    Example("within_room", ("9", "@folder@", "refuse", "9", "no"), status=9, complains="no", name="its status"),
    Example(
        "within_room",
        ("9", "@folder@", "sleep", "60"),
        programs=_FILLED,
        status=1,
        complains="got full: this was ended before the server on it could not write any more",
        name="full meanwhile",
    ),
    Example(
        "within_room",
        ("999000", "@folder@", "echo", "a"),
        programs={"stat": "echo 999999 1024"},
        status=1,
        complains=" 975 MB",
        name="too full",
    ),
    Example("room_reserve", ("9", "@folder@"), programs={"stat": "echo 999999 1024"}, prints="49999\n"),
    Example("room_reserve", ("9", "@folder@"), programs={"stat": "echo 60 1024"}, prints="3\n", name="small"),
    Example("room_left", ("@folder@",), matches=r"\d+\n"),
    Example("watch_room", ("@folder@", "1", "999999999"), prints="", name="what it watches has ended"),
    Example("started_by", ("1",), matches=r"(?: \d+)+ \n"),
]
