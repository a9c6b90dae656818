"""Examples of the probes of storage."""

from hashlib import sha256

from tests.resources.sh.examples import Example

_MIB = 1024**2
_SUM = sha256(bytes(_MIB)).hexdigest()
_FILLED = "head -c 20000000 /dev/zero >folder/large; head -c 9000 /dev/zero >folder/small"
_LARGE = f"mkdir folder && {_FILLED}; mkdir folder/lost+found folder/empty"
_SMALL = 'mkdir folder && for each in 1 2 3; do head -c 10000 /dev/zero >"folder/$each "; done'
_CLOCK = """echo >>read
looks=0
while read -r _; do looks=$((looks + 1)); done <read
case $looks in
  1) echo 1000000000 ;; 2) echo 1700000000 ;; 3) echo 2000000000 ;; 4) echo 2100000000 ;;
  5) echo 3000000000 ;; *) echo 3900000000 ;;
esac"""
"""A first piece for which the program is loaded, a second that takes 0.1 s, and what follows: almost a second."""
_NO_DIRECT = {
    "dd": """case " $* " in *iflag=direct*) echo "dd: failed to open: Invalid argument" >&2; exit 1 ;; esac
exec /usr/bin/dd "$@\""""
}

EXAMPLES = [
    Example(
        "read_probe",
        ("folder", str(256 * _MIB), "3"),
        arrange=_LARGE,
        matches=r"nanoseconds \d+\nbytes 20000000\ndirect (yes|no)\n",
    ),
    Example(
        "read_probe",
        ("folder", str(256 * _MIB), "3"),
        arrange=_LARGE,
        programs=_NO_DIRECT,
        matches=r"nanoseconds \d+\nbytes 20000000\ndirect no\n",
        name="a file system without O_DIRECT",
    ),
    Example(
        "read_probe",
        ("folder", str(256 * _MIB), "3"),
        arrange=_SMALL,
        matches=r"nanoseconds \d+\nbytes 30000\ndirect no\n",
        name="small files",
    ),
    Example(
        "read_probe",
        ("folder", str(8 * _MIB), "3"),
        arrange=f"{_LARGE}; head -c 30000000 /dev/zero >folder/larger",
        matches=r"nanoseconds \d+\nbytes 30000000\ndirect (yes|no)\n",
        name="no more than it was told",
    ),
    Example(
        "read_probe",
        ("folder", str(256 * _MIB), "3"),
        arrange="mkdir folder && : >folder/empty",
        status=1,
        complains="or there are none",
        name="no files",
    ),
    Example(
        "largest_files",
        (str(256 * _MIB),),
        arrange=f"{_LARGE}; mv folder/* .; touch pgsql_tmp1.0 'a\nb'",
        prints="large\n20000000 large\n9000 small\n",
    ),
    Example(
        "largest_files",
        ("15000",),
        arrange=f"{_SMALL}; mv folder/* .",
        prints="small\n10000 3 \n10000 2 \n",
        name="small",
    ),
    Example("uncache", ("file",), arrange="echo >file"),
    Example("uncache", ("file",), name="a file that vanished", tolerates={"dd": "there is no such file"}),
    Example("uncache_all", arrange="echo >file", stdin="1 file\n"),
    Example(
        "read_large",
        (str(256 * _MIB), "3", "nocache"),
        arrange="head -c 40000000 /dev/zero >large",
        stdin="90000000 gone\n80000000 large\n9000 small\n",
        matches=r"nanoseconds \d+\nbytes 40000000\ndirect no\n",
        name="one vanished, one shrank",
    ),
    Example(
        "read_large",
        (str(256 * _MIB), "3", "direct"),
        programs=_NO_DIRECT,
        arrange="head -c 10000000 /dev/zero >large",
        stdin="10000000 large\n",
        status=75,
        complains=": dd: failed to open: Invalid argument",
        name="without O_DIRECT",
    ),
    Example(
        "read_large",
        (str(256 * _MIB), "3", "nocache"),
        stdin="90000000 gone\n",
        status=1,
        complains="nothing below",
        name="all vanished",
    ),
    Example(
        "read_small",
        ("3",),
        arrange=_SMALL,
        stdin="10000 folder/1 \n",
        matches=r"nanoseconds \d+\nbytes 10000\ndirect no\n",
    ),
    Example(
        "read_small",
        ("3",),
        arrange=_SMALL,
        stdin="10000 folder/1 \n10000 folder/gone\n",
        matches=r"nanoseconds \d+\nbytes 10000\ndirect no\n",
        name="one vanished",
    ),
    Example(
        "read_small",
        ("3",),
        arrange=_SMALL,
        stdin="10000 folder/1 \n10000 folder\n",
        status=1,
        complains="folder: Is a directory",
        name="one cannot be read",
    ),
    Example(
        "read_small",
        ("1",),
        arrange="mkfifo endless",
        stdin="10000 endless\n",
        matches=r"nanoseconds 1\d{9}\nbytes 0\ndirect no\n",
        name="the time is up",
        tolerates={"cat": "its time is up before it ends"},
    ),
    Example("only_vanished", ("cat: a: No such file or directory\n",)),
    Example(
        "only_vanished",
        ("cat: a: No such file or directory\ncat: b: Input/output error\n",),
        status=1,
        complains="cat: b: Input/output error",
        name="another reason",
    ),
    Example("only_vanished", ("",), status=1, complains="cannot be read", name="no reason"),
    Example(
        "write_probe",
        ("@folder@", str(32 * _MIB), "3"),
        matches=rf"nanoseconds \d+\nbytes {32 * _MIB}\nread back \d+\n",
        after='[ -z "$(ls)" ]',
    ),
    Example("write_probe", ("none", "1", "3"), status=1, complains="none cannot be entered", name="no folder"),
    Example(
        "write_probe",
        ("@folder@", str(32 * _MIB), "3"),
        programs={
            "dd": """case $* in *fsync*) echo "dd: fsync failed: Input/output error" >&2; exit 1 ;; esac
exec /usr/bin/dd "$@\""""
        },
        status=1,
        complains=": dd: fsync failed: Input/output error",
        after='[ -z "$(ls)" ]',
        name="a flush that fails",
    ),
    Example("write_pieces", ("3",), arrange="echo a >block", after='[ "$(stat -c %s written)" = 67108866 ]'),
    Example("timed_read_back", arrange="head -c 4096 /dev/zero >written", matches=r"\d+\n"),
    Example("timed_read_back", status=1, complains="written cannot be read", name="no file"),
    Example(
        "timed_read_back",
        arrange="head -c 5000 /dev/zero >written",
        programs=_NO_DIRECT,
        matches=r"\d+\n",
        name="a file system without O_DIRECT",
    ),
    Example("timed_write", ("1",), arrange="echo a >block; echo old >written", matches=r"\d+\n"),
    Example(
        "checksum_probe",
        ("openssl", "3", str(_MIB), _SUM, "0"),
        matches=rf"nanoseconds \d+\nbytes {3 * _MIB}\n",
        name="no time for more than the first piece",
    ),
    Example(
        "checksum_probe",
        ("sha256sum", "1", "4096", sha256(bytes(4096)).hexdigest(), "60"),
        matches=rf"nanoseconds \d+\nbytes {256 * 4096}\n",
        name="no more than 256 pieces",
    ),
    Example(
        "checksum_probe",
        ("sha256sum", "2", str(_MIB), _SUM, "1"),
        programs={"date": _CLOCK},
        tolerates={"full disk": "the clock of this example cannot count then"},
        prints=f"nanoseconds 900000000\nbytes {2 * 9 * _MIB}\n",
        name="as many pieces as the time is enough for",
    ),
    Example(
        "checksum_probe",
        ("sha256sum", "2", "1", _SUM, "1"),
        status=1,
        complains="not every process",
        name="another sum",
    ),
    Example("timed_checksums", ("openssl", "3", str(_MIB), _SUM), matches=r"\d+\n", name="by openssl"),
    Example("timed_checksums", ("sha256sum", "2", str(_MIB), ""), matches=r"\d+\n"),
    Example(
        "timed_checksums",
        ("openssl", "2", str(_MIB), _SUM),
        read_only=True,
        matches=r"\d+\n",
        name="through a pipe, where /dev/shm cannot be written to",
    ),
    Example(
        "timed_checksums",
        ("sha256sum", "2", str(_MIB), ""),
        programs={"sha256sum": "exec /usr/bin/sha256sum --tag"},
        status=1,
        complains="not every process",
        name="no sums",
    ),
    Example(
        "timed_checksums",
        ("sha256sum", "4", str(_MIB), ""),
        programs={"sha256sum": 'cat >/dev/null; echo "$$ x" | /usr/bin/sha256sum'},
        status=1,
        complains="not every process",
        name="sums that differ",
    ),
    Example(
        "sustained_write",
        ("folder", str(150 * _MIB), "60"),
        arrange="mkdir folder",
        matches=r"(piece \d+\n){2}# whole\n",
        after='[ -z "$(ls -A folder)" ]',
    ),
    Example(
        "sustained_write",
        ("folder", str(9000 * _MIB), "0"),
        arrange="mkdir folder",
        prints="# whole\n",
        after='[ -z "$(ls -A folder)" ]',
        name="no time",
    ),
    Example("sustained_write", ("folder", "1", "1"), status=1, complains="cannot be entered", name="no folder"),
]
