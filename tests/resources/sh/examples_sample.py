"""Examples of the sample that stands for a cluster."""

from tests.resources.sh.examples import Example

_FILES = """mkdir -p cluster/base/1 cluster/lost+found
for each in 1 2 3 4; do echo "$each" >cluster/base/1/"$each"; done
: >cluster/postmaster.pid; : >cluster/base/pgsql_tmp1.0; truncate -s 40M 'cluster/base/1/large one'"""
_SMALL = "".join(f"2 0 0 0 ./base/1/{each}\n" for each in (1, 2, 3, 4))

EXAMPLES = [
    Example(
        "choose_sample",
        ("@folder@/cluster", "@folder@/list", "100000000", "1000"),
        arrange=_FILES,
        prints="# whole\n",
        after=f'[ "$(sort -k 5 list)" = "{_SMALL}41943040 0 0 0 ./base/1/large one" ]',
        name="all of it",
    ),
    Example(
        "choose_sample",
        ("@folder@/cluster", "@folder@/list", "20000000", "2"),
        arrange=_FILES,
        prints="22020096 ./base/1/large one\n# whole\n",
        after='[ "$(grep -c " 0 0 0 " list)" = 2 ] && grep -q "^19922944 22020096 0 0 " list',
    ),
    Example(
        "choose_sample",
        ("@folder@/cluster", "@folder@/list", "20000000", "1"),
        arrange="mkdir -p cluster && for each in 1 2 3 4 5; do truncate -s 40M cluster/$each; done",
        matches=r"(\d+ ./[1-5]\n){5}# whole\n",
        after="""[ "$(awk '{ sum += $1 } END { print int(sum / 1048576) }' <list)" -ge 18 ]""",
        name="a small one of all large files",
    ),
    Example(
        "choose_sample",
        ("@folder@/cluster", "@folder@/list", "100000000", "2"),
        arrange=f"{_FILES}\nfor each in $(seq 100 199); do : >cluster/base/1/$each; done",
        prints="# whole\n",
        after='[ "$(wc -l <list)" = 3 ] && grep -q "^41943040 0 0 0 ./base/1/large one" list',
        name="however many small files there are",
    ),
    Example(
        "choose_sample",
        ("@folder@/none", "@folder@/list", "20000000", "2"),
        status=1,
        complains="none cannot be entered",
        after="[ ! -e list ]",
        name="no folder",
    ),
    Example(
        "make_sample_holes",
        ("room",),
        arrange="mkdir -p room/old && echo a >room/old/a",
        stdin="25165824 ./base/1/large one\n8388608 ./2\n# whole\n",
        after="[ ! -e room/old ] && [ \"$(stat -c %s 'room/base/1/large one' room/2)\" = '25165824\n8388608' ]",
    ),
    Example(
        "make_sample_holes",
        ("room",),
        arrange="mkdir -p room/old",
        stdin="# whole\n",
        after='[ -z "$(ls room)" ]',
        name="no holes",
    ),
    Example(
        "make_sample_holes",
        ("room",),
        arrange="mkdir -p room/old",
        stdin="25165824 ./base/1/lar",
        status=1,
        complains="the input is incomplete",
        after="[ -e room/old ]",
        name="cut off",
    ),
    Example(
        "make_sample_holes",
        ("room",),
        arrange="mkdir -p room",
        stdin="1 ./a/../../b\n# whole\n",
        status=1,
        complains="./a/../../b ",
        after="[ ! -e b ]",
        name="above the folder",
    ),
    Example(
        "make_sample_holes",
        ("room",),
        arrange="mkdir -p room",
        stdin="1 /tmp/pghaul-example\n# whole\n",
        status=1,
        complains="is outside of the folder",
        after="[ ! -e /tmp/pghaul-example ]",
        name="an absolute name",
    ),
    Example(
        "print_sample_size",
        ("room", "10"),
        arrange="mkdir -p room/in && head -c 30 /dev/zero >room/a && head -c 5 /dev/zero >'room/in/b c'",
        prints="bytes 25\n",
    ),
    Example("print_sample_size", ("room", "0"), arrange="mkdir room", prints="bytes 0\n", name="nothing"),
    Example(
        "print_sample_size",
        ("room", "0"),
        status=1,
        complains="the files that arrived in room cannot be read",
        name="no folder",
    ),
]
