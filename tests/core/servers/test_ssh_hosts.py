from pathlib import Path

import pytest

from core.servers.ssh_config import hosts_of, named_hosts


def test_names_alone_and_no_pattern() -> None:
    text = "# Host not\nHost db-old db-new\n  HostName 192.0.2.1\nhost=backup\nHost *.org !gone web?\nMatch host x\n"
    assert hosts_of(text) == ("db-old", "db-new", "backup")
    assert hosts_of("") == ()


def test_included_files_are_read_and_what_is_not_there_offers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    (tmp_path / "more.conf").write_text(f"Host third\nInclude {config}\n")
    config.write_text(f"Include {tmp_path}/*.conf\nHost first\nHost first second\n")
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
    assert set(named_hosts()) == {"first", "second", "third"}
    config.write_text("Include ~nobody-of-that-name/x /\nHost first\n")
    assert named_hosts() == ("first",)
    for other in (str(tmp_path / "missing"), "none"):
        monkeypatch.setenv("PGHAUL_SSH_CONFIG", other)
        assert named_hosts() == ()


def test_files_that_include_each_other_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        (tmp_path / f"{number}.conf").write_text(f"Host h{number}\nInclude {tmp_path}/*.conf\n")
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(tmp_path / "0.conf"))
    assert named_hosts() == tuple(f"h{number}" for number in range(8))
