"""Examples of the scratch folder of probes."""

import getpass

from tests.resources.sh.examples import Example

_USER = getpass.getuser()
_WORKS_THERE = """mkdir -p above/scratch/in && {
(cd above/scratch/in && exec sleep 20) >/dev/null 2>&1 &
} && until ls -l /proc/$!/cwd | grep -q /in$; do :; done"""
_NOBODY = "[ -z \"$(list_processes_in '@folder@/above')\" ]"
_LISTED = {"find behind": "some processes are always gone or another's; that its own is the last shows the list whole"}

EXAMPLES = [
    Example(
        "make_scratch",
        ("@folder@/above/target/data", "scratch", _USER),
        arrange="mkdir -p above/scratch/old",
        prints="@folder@/above/scratch",
        after='[ "$(stat -c %a above/scratch)" = 700 ] && [ -z "$(ls above/scratch)" ]',
    ),
    Example(
        "make_scratch",
        ("@folder@/above/target", "scratch", _USER),
        arrange="mkdir -p above/target",
        prints="@folder@/above/scratch",
        name="the target is there already",
    ),
    Example(
        "make_scratch",
        ("/dev/shm", "pghaul-example-scratch", _USER),
        prints="/dev/shm/pghaul-example-scratch",
        after="rmdir /dev/shm/pghaul-example-scratch",
        name="the target is a mount point",
        as_root=True,
    ),
    Example(
        "make_scratch",
        ("@folder@/above/target", "scratch", _USER),
        arrange="mkdir above && echo 15 >above/PG_VERSION",
        status=1,
        complains="above is a data directory",
        after="[ ! -e above/scratch ]",
        name="a data directory",
    ),
    Example(
        "make_scratch",
        ("@folder@/target", "scratch", "nobody-of-that-name"),
        status=1,
        complains="cannot be given to nobody-of-that-name",
        name="no such user",
    ),
    Example(
        "remove_scratch",
        ("@folder@/above/target/data", "scratch"),
        arrange=_WORKS_THERE,
        after=f"[ ! -e above/scratch ] && {_NOBODY}",
        tolerates=_LISTED,
    ),
    Example("remove_scratch", ("@folder@/above/target", "scratch"), arrange="mkdir above", name="none"),
    Example("end_processes_in", ("@folder@/above/scratch",), arrange=_WORKS_THERE, after=_NOBODY, tolerates=_LISTED),
    Example("end_processes_in", ("@folder@/above/scratch",), name="none", tolerates=_LISTED),
    Example(
        "list_processes_in", ("@folder@/above/scratch",), arrange=_WORKS_THERE, matches=r"\d+\n", tolerates=_LISTED
    ),
]
