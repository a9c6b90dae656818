"""What reads bytes that somebody else has written, by name, with real ones to begin from: the list of what is fuzzed.

A target reads an input or refuses it with one of pghaul's own errors; anything else, more than a second or more than
the memory that `limits.py` gives it is a finding. To add one: a function of bytes, its samples, a line in `targets`.
"""

import ast
import base64
import gzip
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from core.benchmarks.fio.job import sections_of
from core.benchmarks.tools import parsers
from core.benchmarks.traffic import taken_apart
from core.benchmarks.volume_device import parse_situation
from core.facts import clusters, collect, sections
from core.facts.collect import HOST
from core.facts.control_data import read_control_data
from core.facts.discovery import Candidate
from core.facts.model import Facts
from core.facts.versions import parse_version
from core.migration.execution.difference import compare_lists
from core.migration.execution.rsync_log import RsyncLog
from core.migration.findings.binaries import RequiredBinaries
from core.migration.findings.releases import parse_release
from core.migration.probing.iperf3 import parse_iperf3_summary
from core.migration.probing.timing import parse_timing, ratio_of
from core.migration.probing.trial_cluster import parse_binaries
from core.migration.transports.rsync_output import parse_rsync
from core.redaction import without_secrets
from core.servers import certificates
from core.servers.lists.formats import parse_csv, parse_ini, parse_json, read_list
from core.text import printable
from core.user_settings import file
from tests.fuzz import history

DATA = Path(__file__).parents[1] / "data"
_FACTS = Facts("old", datetime(2026, 1, 1, tzinfo=UTC), 0.0, 1)
_MARK, _OWN = "==0123456789abcdef==", "==fedcba9876543210=="


@dataclass(frozen=True)
class Target:
    """`read` may raise pghaul's own errors; `samples` are real inputs."""

    name: str
    read: Callable[[bytes], object]
    samples: tuple[bytes, ...] = ()


def _files(*folders: str) -> tuple[bytes, ...]:
    found = (path for folder in folders for path in sorted((DATA / folder).rglob("*")) if path.is_file())
    return tuple(path.read_bytes() for path in found if path.name != "expected.json" and path.stat().st_size < 100_000)


@cache
def _quoted(path: Path) -> tuple[bytes, ...]:
    """The texts that a test's module holds."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return tuple(text.encode("utf-8", "surrogateescape") for text in texts if len(text) > 8)


@cache
def _tests() -> tuple[tuple[Path, str], ...]:
    """The tests of core, each with its text."""
    return tuple((path, path.read_text()) for path in sorted(DATA.parent.joinpath("core").rglob("test_*.py")))


def _tested(module: str) -> tuple[bytes, ...]:
    """The texts in the tests of a parser's module."""
    return tuple(text for path, said in _tests() if f"from {module} import" in said for text in _quoted(path))


def _text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "surrogateescape"))


def _facts() -> Iterable[Target]:
    """Every section that a server is asked, as it is declared."""
    samples = {
        "arrays": _files("mdstat"),
        "block-devices": _files("lsblk"),
        "processor": _files("lscpu"),
        "mounts": _files("mount"),
        "space": _files("df"),
        "geometry": _files("xfs_info", "tune2fs"),
        "control": _files("pg_controldata"),
    }
    for section in (*HOST, *collect.host_sections("postgres"), clusters.PLACE, *clusters.CLUSTER):
        yield Target(
            f"facts/{section.name}",
            _text(section.parse),
            samples.get(section.name, ()) + _tested(_module(section.parse)),
        )


def _module(parse: Callable[[str], object]) -> str:
    return str(getattr(parse, "func", parse).__module__)


def _decoded(data: bytes) -> object:
    """An answer of a whole round trip: the sections of the host's user, and inside them those of a cluster's owner."""
    answers = sections.parse_answers(_MARK, clusters.section_names([Candidate("/x", ("named",))]), data, "")
    return clusters.read_clusters([Candidate("/x", ("named",))], clusters.parse_owner_answers([_OWN], answers))


_ANSWER = (
    f"\n{_MARK} begin 0/place\nid=1:1\nuid=1500\nowner=postgres\nfolder=2f78\n\n{_MARK} end 0\n"
    f"\n{_MARK} begin 0/inside\n\n{_OWN} begin identity\nseries=15\npid=7\n\n{_OWN} end 0\n"
    f"\n{_OWN} begin size\n4096 3\n\n{_OWN} end 0\n\n{_MARK} end 0\n"
).encode()


_SITUATION = b"""below sda
device /sys/devices/pci0/block/sda
before 1 2 3 4 5 6 7 8 9 10 11
after 2 3 4 5 6 7 8 9 10 11 12
mdstat
md0 : active raid1 sdb1[1] sda1[0]
      1046528 blocks super 1.2 [2/2] [UU]
      [=>...................]  resync =  5.0% (52736/1046528) finish=1.5min speed=10547K/sec
"""
_TRAFFIC = f"""100
{_MARK}
2 3 4 5 6 7 8 9 10 11 12
7.25 9.50
12 (fio a) R 1 12 12 0 -1 4 0 0 0 0 30 40 0 0
/proc/12/io:read_bytes: 4096
/proc/12/cwd
{_MARK}{_MARK}
1 2 3 4 5 6 7 8 9 10 11
6.25 9.50
12 (fio a) R 1 12 12 0 -1 4 0 0 0 0 3 4 0 0
{_MARK}
12
""".encode()


def _different(data: bytes) -> object:
    """A list of files against a real one, as it comes and as it is packed."""
    known = base64.b64encode(gzip.compress(_LIST)).decode()
    compare_lists(known, data.decode("ascii", "replace"))
    return compare_lists(known, base64.b64encode(gzip.compress(data)).decode())


_LIST = b"\2data\2\nbase/1\2owner d 700\nbase/1/1259\2owner f 600 8192 1700000000\0020f343b09\n"


def _logged(data: bytes) -> object:
    log = RsyncLog(None)
    for at in range(0, len(data), 1000):
        log.add(data[at : at + 1000])
    return log.sent


@cache
def targets() -> tuple[Target, ...]:
    """All of them. They are not made when this is loaded: every worker loads it, and few need the samples."""
    return (
        *_facts(),
        *(Target(f"benchmarks/{name}", _text(parse), _files(name)) for name, parse in parsers().items()),
        Target("benchmarks/fio-json", _text(parsers()["fio"]), _files("fio-json")),
        Target("benchmarks/fio-terse", _text(parsers()["fio"]), _files("fio-terse", "fio-sync")),
        Target("benchmarks/situation", _text(lambda text: parse_situation(text, _FACTS)), (_SITUATION,)),
        Target("benchmarks/traffic", _text(lambda text: taken_apart(text, _MARK)), (_TRAFFIC,)),
        Target("benchmarks/job file", _text(sections_of), _tested("core.benchmarks.fio.job")),
        Target("facts/answers", _decoded, (_ANSWER,)),
        Target("facts/control data by place", _text(read_control_data), _files("pg_controldata")),
        Target("facts/version", _text(parse_version), _files("pg_version")),
        Target("migration/rsync", _text(parse_rsync), _files("rsync")),
        Target("migration/rsync log", _logged, _files("rsync")),
        Target("migration/iperf3", _text(parse_iperf3_summary), _files("iperf3")),
        Target(
            "migration/binaries",
            _text(lambda text: parse_binaries(text, RequiredBinaries())),
            _tested("core.migration.probing.trial_cluster"),
        ),
        Target("migration/release", _text(parse_release), _files("pg_version")),
        Target("migration/timing", _text(parse_timing), (b"bytes 5\nnanoseconds 7\n",)),
        Target("migration/compression", _text(ratio_of), _files("rsync")),
        Target("migration/differing files", _different, (_LIST, base64.b64encode(gzip.compress(bytes(30 << 20), 1)))),
        Target("history/file", history.read_file, history.files()),
        Target("history/value", history.read_value, history.values()),
        Target("redaction", _text(without_secrets), _quoted(DATA.parent / "core" / "test_redaction.py")),
        Target("servers/certificate", certificates.parse),
        Target("servers/list", _text(lambda text: read_list("-", text)), _tested("core.servers.lists.formats")),
        Target("servers/list as INI", _text(parse_ini), _tested("core.servers.lists.formats")),
        Target("servers/list as JSON", _text(parse_json), _tested("core.servers.lists.formats")),
        Target("servers/list as CSV", _text(lambda text: list(parse_csv(text))), _tested("core.servers.lists.formats")),
        Target("settings/file", file.check, _quoted(DATA.parent / "core" / "user_settings" / "test_file.py")),
        Target("terminal", _text(printable)),
    )
