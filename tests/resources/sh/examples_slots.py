"""Examples of the sessions that are left to clients. The server and its program are played."""

from tests.resources.sh.examples import Example

EXAMPLES = [
    Example("watch_slots", ("@folder@", "5432"), prints="", after='watch_slots "$PWD" 5432; [ -z "$slots_all" ]'),
    *(
        Example(
            "watch_slots",
            ("@folder@", "5432"),
            arrange=lock,
            after="test ! -e ran",
            programs={"timeout": "touch ran; echo 20"},
            prints="",
            tolerates=dict.fromkeys(("tr", "timeout", "xargs"), "nothing is counted then"),
            seconds=5.0,
            as_root=True,
            name=name,
        )
        for name, lock in {
            "laid there by somebody else": "echo 1 >.s.PGSQL.5432.lock && chown 65534 .s.PGSQL.5432.lock",
            "of a server that crashed": "echo 1 >.s.PGSQL.5432.lock",
            "through which nothing comes": "mkfifo .s.PGSQL.5432.lock",
        }.items()
    ),
    Example(
        "slots_setting",
        ("max_connections",),
        settings={"slots_server": "1"},
        programs={"timeout": 'shift; exec "$@"', "xargs": "echo 20"},
        prints="20\n",
        tolerates=dict.fromkeys(("timeout", "xargs"), "its caller counts nothing then"),
    ),
    Example("require_free_slot", settings={"slots_all": ""}, prints=""),
    Example(
        "require_free_slot",
        settings={"slots_all": "1000000", "slots_left": "2", "slots_server": "1"},
        prints="",
        tolerates={"cat": "nothing is counted then"},
        name="with room",
    ),
    Example(
        "require_free_slot",
        settings={"slots_all": "2", "slots_left": "2", "slots_server": "1"},
        programs={"cat": "echo", "sleep": ""},
        status=1,
        complains="of 2 sessions that the server allows its clients, 2 are free, and pghaul leaves 2",
        name="without room",
    ),
    Example(
        "require_free_slot",
        settings={"slots_all": "2", "slots_left": "1", "slots_server": "1"},
        programs={"cat": "echo", "sleep": ""},
        prints="",
        tolerates={"cat": "nothing is counted then"},
        name="of very few all are free",
    ),
    Example(
        "count_client_sessions",
        settings={"slots_server": "1"},
        programs={"cat": "echo"},
        prints="0\n",
        tolerates={"cat": "its caller counts nothing then"},
    ),
    *(
        Example("is_client_title", (title,), prints="", name=title)
        for title in ("postgres: alice shop [local] idle", "postgres: main: checkpointer shop [local] idle", "")
    ),
    *(
        Example(
            "count_client_sessions",
            settings={"slots_server": "1"},
            programs={"cat": "echo"},
            after=f"! is_client_title '{title}'",
            tolerates={"cat": "its caller counts nothing then"},
            name=title,
        )
        for title in ("postgres: checkpointer ", "postgres: main: walwriter", "postgres: wal writer process   ")
    ),
]
