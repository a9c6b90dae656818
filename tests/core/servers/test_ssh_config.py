"""What ssh would do with a name, by ssh itself and by paramiko's reading."""

import re
import shutil
from dataclasses import replace
from pathlib import Path, PureWindowsPath

import pytest

from core import this_workstation
from core.errors import InputError
from core.servers import ssh_config
from core.servers.profiles import Profile
from core.servers.ssh_config import Destination, destination, hops, hosts_of, named_hosts, resolve, split_words

needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="OpenSSH's client is not installed")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config"
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return path


@needs_ssh
def test_alias_include_and_match_are_honoured(config: Path, tmp_path: Path) -> None:
    (tmp_path / "more").write_text(
        "Host db-*\n  HostName %h.example.org\n  Port 2222\n  User alice\n  ProxyJump gate:2200,inner\n"
        f"  IdentityFile {tmp_path}/id_%r\n  CertificateFile {tmp_path}/cert.pub\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {tmp_path}/a {tmp_path}/b\n  IdentityAgent none\n  HashKnownHosts yes\n"
        "  StrictHostKeyChecking yes\n"
    )
    config.write_text(f"Include {tmp_path}/more\nMatch user bob\n  Port 2023\n")
    found = resolve("db-old")
    assert (found.host, found.port, found.user, found.jumps) == ("db-old.example.org", 2222, "alice", "gate:2200,inner")
    assert found.identity_files == (tmp_path / "id_alice",)
    assert found.certificate_files == (tmp_path / "cert.pub",)
    assert found.known_hosts[:2] == (tmp_path / "a", tmp_path / "b")
    assert (found.identities_only, found.identity_agent, found.hash_known_hosts) == (True, "", True)
    assert not found.ask_unknown
    assert found.known_as == "[db-old.example.org]:2222"
    assert resolve("elsewhere", user="bob").port == 2023


@needs_ssh
def test_the_profile_wins(config: Path) -> None:
    config.write_text("Host *\n  User alice\n  Port 2222\n  ProxyCommand nc %h %p\n")
    profile = Profile("old", "10.0.0.1", user="bob", port=22, identity_file="~/key", jump="gate")
    found = destination(profile)
    assert (found.user, found.port, found.jumps, found.proxy_command) == ("bob", 22, "gate", None)
    assert found.identity_files == (Path("~/key").expanduser(),)
    assert found.identities_only
    assert destination(Profile("old", "10.0.0.1")).proxy_command == "nc 10.0.0.1 2222"


@needs_ssh
def test_a_broken_configuration_is_named(config: Path) -> None:
    config.write_text("Nonsense yes\n")
    with pytest.raises(InputError, match=r"\bold\b.*nonsense") as caught:
        resolve("old")
    assert "config" in caught.value.hint


@pytest.mark.parametrize("name", ["", "-oX", "two words", "a\nb", "a\0b", "a;b", "$(id)", "`id`", "a|b"])
def test_what_is_no_host_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(repr(name))):
        resolve(name)


@pytest.mark.parametrize("user", ["-oX", "a;touch x", "`id`", "a -oX", "a\\", "a\nb"])
def test_nor_is_every_word_a_user(user: str) -> None:
    with pytest.raises(InputError, match=re.escape(repr(user))):
        resolve("db", user=user)


@needs_ssh
def test_what_the_configuration_says_of_trust_is_taken_over(config: Path, tmp_path: Path) -> None:
    config.write_text(
        "Host db\n  RevokedHostKeys ~/revoked\n  KnownHostsCommand /usr/bin/keys %H %%\n  Ciphers aes256-ctr\n"
        "  HostKeyAlgorithms ssh-ed25519,rsa-sha2-512\n  CASignatureAlgorithms ssh-ed25519\n"
        "  PasswordAuthentication no\n  PreferredAuthentications publickey,password\n"
        f"  IdentityFile {tmp_path}/%C-%i-%k-%L-%l-%n-%%\n"
    )
    found = resolve("db")
    assert found.revoked_host_keys == (tmp_path / "revoked",)
    assert found.known_hosts_command == "/usr/bin/keys %H %%"
    assert found.algorithms["hostkeyalgorithms"] == ("ssh-ed25519", "rsa-sha2-512")
    assert found.algorithms["ciphers"] == ("aes256-ctr",)
    assert found.algorithms["casignaturealgorithms"] == ("ssh-ed25519",)
    assert found.methods == frozenset({"publickey"})
    assert found.identity_files[0].name.endswith("-db-%")
    assert resolve("other").methods == frozenset({"publickey", "password", "keyboard-interactive"})


@needs_ssh
def test_match_exec_is_run_as_ssh_runs_it(config: Path, tmp_path: Path) -> None:
    config.write_text(f'Match exec "test %n-%r = db-bob && touch {tmp_path}/ran"\n  HostName matched.example\n')
    assert resolve("db", user="bob").host == "matched.example"
    assert (tmp_path / "ran").exists()
    assert resolve("db", user="eve").host == "db"


@needs_ssh
@pytest.mark.parametrize(
    "line", ["IdentityFile /k/%q", "ProxyCommand nc %i", "IdentityFile ${NOT_THERE}/k", "UserKnownHostsFile /k%"]
)
def test_a_token_without_a_meaning_stops(config: Path, line: str) -> None:
    config.write_text(f"Host db\n  {line}\n")
    with pytest.raises(InputError):
        resolve("db")


@needs_ssh
def test_a_proxy_command_keeps_its_escapes_and_its_shells_variables(config: Path) -> None:
    config.write_text("Host db\n  ProxyCommand proxy --to %h:%p as %r of %n 100%% ${HOME}\n  HostName db.example\n")
    assert resolve("db", user="bob").proxy_command == "proxy --to db.example:22 as bob of db 100% ${HOME}"


def test_the_home_of_nobody_is_no_end_of_it() -> None:
    profile = Profile("old", "192.0.2.1", identity_file="~no-such-user/key")
    assert destination(profile).identity_files == (Path("~no-such-user/key"),)
    home = replace(profile, identity_file="~/key")
    assert destination(home).identity_files == (Path.home() / "key",)


def test_hops_are_read_as_ssh_writes_them() -> None:
    assert hops("a,bob@b:2222,ssh://c@[::1]:22") == (("a", None, None), ("b", "bob", 2222), ("::1", "c", 22))
    assert hops("none") == ()
    for wrong, part in (("-oX", "-oX"), ("a,b:c", "b:c"), ("a,,b", ""), ("", "")):
        with pytest.raises(InputError, match=f"^{part!r} "):
            hops(wrong)


def test_known_as_has_the_port_only_where_it_is_unusual() -> None:
    assert Destination("Old", "OLD.example", 22, "dba").known_as == "old.example"
    assert Destination("old", "old.example", 2222, "dba", host_key_alias="alias").known_as == "alias"


# Without OpenSSH: what is honoured, and a stop at what is not.


@pytest.fixture
def fallback_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / ".ssh" / "config"
    path.parent.mkdir()
    monkeypatch.delenv("PGHAUL_SSH_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ssh_config, "system_folder", lambda: tmp_path)
    return path


def test_what_paramiko_reads_is_honoured(fallback_config: Path) -> None:
    fallback_config.write_text(
        "# mine\n\nHost db\n  HostName db.example.org\n  Port=2222\n  User alice\n  ProxyJump gate\n  ForwardAgent no\n"
        "Match originalhost db,db2\n  RevokedHostKeys ~/revoked\n  HostKeyAlgorithms ssh-ed25519\n"
        "Include ~/none/*.conf\n"
    )
    found = resolve("db")
    assert (found.host, found.port, found.user, found.jumps) == ("db.example.org", 2222, "alice", "gate")
    assert found.known_hosts[0] == Path.home() / ".ssh" / "known_hosts"
    assert found.revoked_host_keys == (Path.home() / "revoked",)
    assert found.algorithms == {"hostkeyalgorithms": ("ssh-ed25519",)}


@pytest.mark.parametrize(("place", "stops"), [(".ssh", True), ("named", False)])
def test_another_file_includes_from_the_users_folder_too(
    fallback_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, stops: bool
) -> None:
    """As `ssh -F`: what lies beside that file is not meant."""
    named = tmp_path / "named" / "config"
    named.parent.mkdir()
    named.write_text("Include trust\nHost db\n  Port 2222\n")
    (tmp_path / place / "trust").write_text("Host *\n  StrictHostKeyChecking yes\n")
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(named))
    if stops:
        with pytest.raises(InputError, match="'Include trust'"):
            resolve("db")
    else:
        assert resolve("db").port == 2222
    assert not fallback_config.exists()


def test_how_long_an_rsa_key_must_be_is_honoured(fallback_config: Path) -> None:
    fallback_config.write_text("Host db\n  RequiredRSASize 3072\n")
    assert resolve("db").required_rsa_bits == 3072
    assert resolve("other").required_rsa_bits == 1024


def test_the_systems_file_counts_behind_the_users(fallback_config: Path, tmp_path: Path) -> None:
    fallback_config.write_text("Host db\n  Port 2222\n")
    (tmp_path / "ssh_config").write_text("Host *\n  Port 22\n  HostKeyAlias all\n")
    found = resolve("db")
    assert (found.port, found.host_key_alias) == (2222, "all")


@pytest.mark.parametrize(
    "line",
    [
        'Match exec "touch {home}/ran"',
        "Match user alice",
        "Match final",
        "Include {home}/.ssh/more",
        "Include more-*",
        "HostKeyAlgorithms +ssh-rsa",
        "Ciphers ^aes256-ctr",
        "CanonicalizeHostname yes",
        "PKCS11Provider /lib/token.so",
        "VerifyHostKeyDNS yes%%\n  RequiredRSASize long",
        "Port ssh",
        "ProxyCommand nc %%h %p",
        "ProxyUseFdpass yes",
        "SecurityKeyProvider none",
        "Unheard of",
    ],
)
@pytest.mark.parametrize("place", [".ssh/config", "ssh_config"])
def test_what_is_not_stops_with_the_line(fallback_config: Path, tmp_path: Path, line: str, place: str) -> None:
    for folder in (fallback_config.parent, tmp_path):
        (folder / "more").write_text("Host *\n")
        (folder / "more-of-it").write_text("Host *\n")
    (tmp_path / place).write_text(f"Host *\n  {line.format(home=tmp_path)}\n")
    with pytest.raises(InputError, match=r":[23]: .*\bOpenSSH\b") as stopped:
        resolve("db")
    assert str(tmp_path / place) in stopped.value.message
    assert "OpenSSH" in stopped.value.hint
    assert not (tmp_path / "ran").exists()


# On Windows: the OpenSSH of the system, and how it names files.

OF_WINDOWS = r"""
hostname 192.0.2.1
port 22
stricthostkeychecking ask
identityfile C:\Users\Jane Doe\.ssh\id_ed25519
identityagent \\.\pipe\another-agent
globalknownhostsfile __PROGRAMDATA__\ssh/ssh_known_hosts __PROGRAMDATA__\ssh/ssh_known_hosts2
userknownhostsfile C:\Users\Jane Doe/.ssh/known_hosts C:\Users\Jane Doe/.ssh/known_hosts2
"""
"""The lines of `ssh -G` that concern files, as the OpenSSH of Windows prints them."""


@pytest.fixture
def on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The rules of Windows, with a folder for the programs of OpenSSH; nothing of it is on PATH."""
    monkeypatch.setattr(this_workstation, "on_windows", lambda: True)
    monkeypatch.setenv("SYSTEMROOT", str(tmp_path / "Windows"))
    monkeypatch.setenv("PROGRAMDATA", r"C:\ProgramData")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PGHAUL_SSH_CONFIG")
    folder = tmp_path / "Windows" / "System32" / "OpenSSH"
    folder.mkdir(parents=True)
    return folder


def install(path: Path, prints: str) -> None:
    path.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{prints}END\n")
    path.chmod(0o755)


def test_on_windows_the_ssh_of_the_system_is_asked_and_its_files_are_found(on_windows: Path, tmp_path: Path) -> None:
    install(on_windows / "ssh.exe", OF_WINDOWS)
    install(tmp_path / "ssh", "hostname of-git\n")
    found = resolve("db")
    assert found.host == "192.0.2.1"
    assert [PureWindowsPath(path) for path in found.known_hosts] == [
        PureWindowsPath(r"C:\Users\Jane Doe\.ssh\known_hosts"),
        PureWindowsPath(r"C:\Users\Jane Doe\.ssh\known_hosts2"),
        PureWindowsPath(r"C:\ProgramData\ssh\ssh_known_hosts"),
        PureWindowsPath(r"C:\ProgramData\ssh\ssh_known_hosts2"),
    ]
    assert [PureWindowsPath(path) for path in found.identity_files] == [
        PureWindowsPath(r"C:\Users\Jane Doe\.ssh\id_ed25519")
    ]
    assert found.identity_agent == r"\\.\pipe\another-agent"


def test_on_windows_without_an_ssh_of_the_system_the_one_on_path_is_asked(on_windows: Path, tmp_path: Path) -> None:
    install(tmp_path / "ssh", "hostname of-git\nuserknownhostsfile ~/.ssh/known_hosts ~/.ssh/known_hosts2\n")
    found = resolve("db")
    assert not (on_windows / "ssh.exe").exists()
    assert found.host == "of-git"
    assert [path.name for path in found.known_hosts[:2]] == ["known_hosts", "known_hosts2"]


def test_on_windows_without_any_ssh_the_systems_file_is_that_of_windows(
    on_windows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROGRAMDATA", str(tmp_path / "Program Data"))
    (tmp_path / "Program Data" / "ssh").mkdir(parents=True)
    (tmp_path / "Program Data" / "ssh" / "ssh_config").write_text("Host *\n  HostKeyAlias all\n")
    monkeypatch.setenv("HOME", str(on_windows))
    found = resolve("db")
    assert found.host_key_alias == "all"
    assert found.known_hosts == (
        *(on_windows / ".ssh" / name for name in ("known_hosts", "known_hosts2")),
        *(tmp_path / "Program Data" / "ssh" / name for name in ("ssh_known_hosts", "ssh_known_hosts2")),
    )


@pytest.mark.usefixtures("on_windows")
def test_on_windows_a_backslash_separates_folders() -> None:
    assert split_words(r'C:\tools\keys.exe "a b" %H') == [r"C:\tools\keys.exe", "a b", "%H"]


def test_elsewhere_a_backslash_escapes() -> None:
    assert split_words(r"/usr/bin/keys a\ b") == ["/usr/bin/keys", "a b"]


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
