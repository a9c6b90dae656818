"""What is asked of rsync by the older of both versions, as it stands in the commands of a pass."""

from dataclasses import replace

import pytest

from core.facts.model import Tool
from core.migration.findings.data_roots import DataRoot
from core.migration.model.transport import Route, Transport
from core.migration.transports import passes
from core.migration.transports.copy_channel import CopyChannel
from core.migration.transports.rsync_versions import UNKNOWN, Version, common_version, version_of
from tests.core.migration.builders import new, old

WAY = CopyChannel("key", "/tmp/key", "10.0.0.2", 22, "dba", "postgres", (), ("10.0.0.1",), (("data", "/new"),))
PLACE = DataRoot("data", "", "/old", "/new", None, None)


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
    assert version_of(text) == version


def test_the_older_of_both_counts() -> None:
    def with_rsync(version: str | None) -> tuple[Tool, ...]:
        return (Tool("rsync", "/usr/bin/rsync", version),)

    assert common_version(old(tools=with_rsync("3.1.2")), new(tools=with_rsync("3.2.7"))) == (3, 1, 2)
    assert common_version(old(tools=with_rsync("3.2.7")), new(tools=with_rsync(None))) == UNKNOWN
    assert common_version(old(tools=()), new()) == UNKNOWN


@pytest.mark.parametrize(
    ("version", "compression", "there", "not_there"),
    [
        ((3, 2, 7), "lz4", ["--modify-window=-1", "--ignore-missing-args", "--compress-choice=lz4"], []),
        ((3, 2, 0), "zstd:3", ["--compress-choice=zstd", "--compress-level=3"], []),
        ((3, 1, 3), "zlib:1", ["--modify-window=-1", "--compress --compress-level=1"], ["--compress-choice"]),
        ((3, 1, 2), "", ["--ignore-missing-args"], ["--modify-window", "--compress"]),
        ((3, 0, 9), "", [], ["--modify-window", "--ignore-missing-args", "--compress", "--files-from"]),
        (UNKNOWN, "", [], ["--modify-window", "--ignore-missing-args", "--compress", "--files-from"]),
    ],
)
def test_a_warm_pass_asks_for_what_both_know(
    version: Version, compression: str, there: list[str], not_there: list[str]
) -> None:
    channel = replace(WAY, rsync=version, transport=Transport(compression=compression))
    text = passes.warm_pass(channel, PLACE).text
    for words in there:
        assert words in text
    for words in not_there:
        assert words not in text
    assert "--ignore-times" in text


def test_streams_and_cipher_stand_in_the_commands() -> None:
    channel = replace(WAY, rsync=(3, 2, 7), transport=Transport("aes128-ctr", "lz4", 3))
    text = passes.cold_pass(channel, PLACE).text
    assert text.count("--files-from=") == 6
    assert text.count("-c aes128-ctr") == 7
    assert text.count("--delete") == 1
    assert "--delete" not in passes.warm_pass(channel, PLACE).text


def test_what_is_missing_on_new_is_never_written_in_place() -> None:
    """XFS waits for its disk at the end of each new file that is."""
    for streams in (1, 2):
        channel = replace(WAY, rsync=(3, 2, 7), transport=Transport("", "lz4", streams))
        for made in (passes.warm_pass(channel, PLACE), passes.cold_pass(channel, PLACE)):
            copies = [each for each in made.text.split("rsync ") if "--stats" in each]
            assert sum("--ignore-existing" in each for each in copies) >= streams
            assert all(("--existing" in each) == ("--inplace" in each) for each in copies)
            assert not any("--ignore-existing" in each and "--inplace" in each for each in copies)


def test_from_folder_to_folder_needs_no_ssh() -> None:
    channel = replace(WAY, rsync=(3, 2, 7), transport=Transport(compression="lz4", route=Route.LOCAL))
    text = passes.cold_pass(channel, PLACE).text
    assert "ssh" not in text
    assert "compress" not in text
    assert text.endswith("/old/ /new/")
