"""What is asked of rsync by the older of both versions, as it stands in the commands of a pass."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.facts.model import Tool
from core.migration.findings.data_roots import DataRoot
from core.migration.model.transport import Route, Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.rsync_versions import UNKNOWN, Version, oldest_version, parse_rsync_version
from core.servers.shell import Shell
from tests.core.migration.builders import new, old
from tests.core.migration.running import asked_of_rsync


@pytest.fixture
def channel(tmp_path: Path) -> CopyChannel:
    (tmp_path / "way").mkdir()
    targets = (("data", "/new"),)
    return CopyChannel(
        "key", str(tmp_path / "way"), "10.0.0.2", 22, "dba", "postgres", (), ("10.0.0.1",), targets, rsync=(3, 2, 7)
    )


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    (tmp_path / "old").mkdir()
    return DataRoot("data", "", str(tmp_path / "old"), "/new", None, None)


def asked(channel: CopyChannel, made: Shell) -> list[str]:
    """The command lines of rsync in a pass."""
    return [
        " ".join(words) for words in asked_of_rsync(passes.prepare_call(channel, made), Path(channel.folder).parent)
    ]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("3.2.7", (3, 2, 7)),
        ("3.1.3pre1", (3, 1, 3)),
        ("3.4", (3, 4, 0)),
        ("2.6.9", (2, 6, 9)),
        ("", UNKNOWN),
        (None, UNKNOWN),
        ("protocol", UNKNOWN),
    ],
)
def test_versions(text: str | None, version: Version) -> None:
    assert parse_rsync_version(text) == version


def test_the_older_of_both_counts() -> None:
    def with_rsync(version: str | None) -> tuple[Tool, ...]:
        return (Tool("rsync", "/usr/bin/rsync", version),)

    assert oldest_version(old(tools=with_rsync("3.1.2")), new(tools=with_rsync("3.2.7"))) == (3, 1, 2)
    assert oldest_version(old(tools=with_rsync("3.2.7")), new(tools=with_rsync(None))) == UNKNOWN
    assert oldest_version(old(tools=()), new()) == UNKNOWN


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "compression", "there", "not_there"),
    [
        ((3, 2, 7), "lz4", ["--ignore-missing-args", "--compress-choice=lz4"], []),
        ((3, 2, 0), "zstd:3", ["--compress-choice=zstd", "--compress-level=3"], []),
        ((3, 1, 3), "zlib:1", ["--compress --compress-level=1"], ["--compress-choice", "--modify-window"]),
        ((3, 1, 2), "", ["--ignore-missing-args"], ["--modify-window", "--compress"]),
        ((3, 0, 9), "", [], ["--modify-window", "--ignore-missing-args", "--compress", "--files-from"]),
        (UNKNOWN, "", [], ["--modify-window", "--ignore-missing-args", "--compress", "--files-from"]),
    ],
)
def test_a_warm_pass_asks_for_what_both_know(
    version: Version, compression: str, there: list[str], not_there: list[str], channel: CopyChannel, root: DataRoot
) -> None:
    channel = replace(channel, rsync=version, transport=Transport(compression=compression))
    text = "\n".join(asked(channel, passes.pre_copy_pass(root)))
    for words in there:
        assert words in text
    for words in not_there:
        assert words not in text
    assert "--ignore-times" in text


def test_streams_and_cipher_stand_in_the_commands(channel: CopyChannel, root: DataRoot) -> None:
    channel = replace(channel, transport=Transport("aes128-ctr", "lz4", 3))
    Path(channel.folder, "removed-data").write_text("7\n")
    text = "\n".join(asked(channel, passes.full_pass(root)))
    assert text.count("--files-from=") == 6
    assert text.count("-c aes128-ctr") == 7
    assert text.count("--delete --max-delete=7") == text.count("--delete") == 1
    assert "--delete" not in "\n".join(asked(channel, passes.pre_copy_pass(root)))


@pytest.mark.parametrize("streams", [1, 2])
def test_what_is_missing_on_new_is_never_written_in_place(channel: CopyChannel, root: DataRoot, streams: int) -> None:
    """XFS waits for its disk at the end of each new file that is."""
    channel = replace(channel, transport=Transport("", "lz4", streams))
    for made in (passes.pre_copy_pass(root), passes.full_pass(root)):
        copies = asked(channel, made)
        assert sum("--ignore-existing" in each for each in copies) >= streams
        assert all(("--existing" in each) == ("--inplace" in each) for each in copies)
        assert not any("--ignore-existing" in each and "--inplace" in each for each in copies)


def test_from_folder_to_folder_needs_no_ssh(channel: CopyChannel, root: DataRoot) -> None:
    channel = replace(channel, transport=Transport(compression="lz4", route=Route.LOCAL))
    for line in asked(channel, passes.full_pass(root)):
        assert "ssh" not in line
        assert "compress" not in line
        assert line.endswith(f"{root.source}/ /new/")


def test_into_a_mount_goes_the_copy_over_nfs(channel: CopyChannel, root: DataRoot) -> None:
    channel = replace(channel, transport=Transport(compression="lz4", streams=2, route=Route.NFS, mount="vers=4.2"))
    for made in (
        passes.pre_copy_pass(root),
        passes.full_pass(root),
        passes.rest_pass(root),
        passes.list_deletions(root),
    ):
        for line in asked(channel, made):
            assert "--rsync-path" not in line
            assert "compress" not in line
            assert line.endswith("/ /run/key/data/")
