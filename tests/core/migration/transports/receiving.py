"""Passes to a receiver on this machine: what stands in for ssh hands over what sshd would, and notes it."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from core.migration.findings.data_roots import DataRoot
from core.migration.model.plan import functions_file
from core.migration.model.transport import Route, Transport
from core.migration.probing import sampling
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.rsync_versions import MODERN_COMPRESSION, VANISHING, Version, parse_rsync_version
from core.servers.functions import library
from core.servers.shell import Shell
from tests.core.migration.running import program, run

_SSH = """until [ "$1" = new ]; do shift; done
shift
printf '%s\\n' "$*" >>'@folder@/said'
exec sh '@folder@/functions' receive_copy "$*" data '@folder@/new' sample '@folder@/new'"""


def transports(version: Version) -> Iterator[Transport]:
    """Those that differ in what they ask new's rsync for, as far as that version can."""
    yield Transport(compression="zlib:3")
    if version < VANISHING:
        yield Transport()
        return
    yield Transport(streams=2)
    yield Transport(route=Route.DAEMON)
    if version >= MODERN_COMPRESSION:
        yield Transport(compression="zstd:3", streams=2)
        yield Transport(compression="lz4")


def said(
    folder: Path, transport: Transport, version: Version, programs: Path | None = None, limit: int | None = None
) -> list[str]:
    """What is asked of new by all passes and by a sample.

    Args:
        folder: an empty folder.
        transport: how the files are copied.
        version: of the other server's rsync.
        programs: where another rsync lies.
        limit: of the pre-copy passes, in bytes/s.

    Raises:
        AssertionError: a pass failed, or did not bring over what there is, or another than a pre-copy pass is limited.
    """
    old, new, way = (folder / name for name in ("old", "new", "way"))
    for each in (old / "base", new, way, folder / "programs"):
        each.mkdir(parents=True)
    if programs is not None:
        shutil.copy(programs / "rsync", folder / "programs/rsync")
    program(folder / "programs/ssh", _SSH.replace("@folder@", str(folder)))
    (folder / "functions").write_text(functions_file(library(["receive_copy"])))
    for name, size in (("1", 20_000_000), ("2", 1)):
        (old / "base" / name).write_bytes(b"x" * size)
    targets = (("data", str(new)), ("sample", str(new)))
    channel = CopyChannel("key", str(way), "", 22, "", "", (), (), targets, transport, version, precopy_limit=limit)
    unlimited = [0, 0]  # the lines of `said` before the pre-copy pass, and up to its end
    root = DataRoot("data", "", str(old), str(new), None, None)
    if transport.route is not Route.DAEMON:
        _carried(folder, sampling.choose(channel, str(old), 48_000_000, 100))
        _carried(folder, sampling.send(channel, str(old), 5))
        shutil.rmtree(new)
        new.mkdir()
        unlimited[0] = len(_lines(folder))
        _carried(folder, passes.prepare_call(channel, passes.pre_copy_pass(root)))
        unlimited[1] = len(_lines(folder))
        (old / "base/1").write_bytes(b"y" * 20_000_000)
        _carried(folder, passes.prepare_call(channel, passes.changed_pass(root)))
        assert (new / "base/1").read_bytes() == (old / "base/1").read_bytes()
    (new / "gone").write_text("stale")
    _carried(folder, passes.prepare_call(channel, passes.list_deletions(root)))
    _carried(folder, passes.prepare_call(channel, passes.rest_pass(root)))
    assert not (new / "gone").exists()
    _carried(folder, passes.prepare_call(channel, passes.list_deletions(root)))
    if transport.route is not Route.DAEMON:
        _carried(folder, passes.prepare_call(channel, passes.full_pass(root)))
    lines = _lines(folder)
    assert not any("bwlimit" in line for line in (*lines[: unlimited[0]], *lines[unlimited[1] :]))
    return lines


def _lines(folder: Path) -> list[str]:
    return (folder / "said").read_text().splitlines()


def _carried(folder: Path, made: Shell) -> None:
    done = run(made, programs=folder / "programs")
    assert done.returncode == 0, f"{made.text}: {done.stderr}"


def main(version: str, programs: str) -> None:
    """Print what the rsync of that version in a folder asks for, whatever new has."""
    own = parse_rsync_version(version)
    lines: set[str] = set()
    for other in (each for each in ((3, 0, 9), (3, 1, 3), (3, 2, 0)) if each <= own):
        for transport in transports(other):
            with TemporaryDirectory() as folder:
                lines.update(said(Path(folder), transport, other, Path(programs)))
    print("\n".join(sorted({line.split(" ", 2)[2] for line in lines} - {"flush_file_system"})))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
