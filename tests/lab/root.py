"""What a host's root has of its own: the upper folder of an overlay over this machine's root."""

import os
import secrets
import shutil
from pathlib import Path

from tests.lab.machine import BASE, run

PASSWORD = "s3cret pass"
USERS = ("dba", "plain", "pgonly", "nosudo")

_SFTP = "Subsystem sftp /usr/lib/openssh/sftp-server\n"
# the key exchange that withstands quantum computers takes 0.15 s of processor time a connection; a move makes dozens
_SSHD = f"""\
KexAlgorithms -sntrup*
HostKey /etc/ssh/ssh_host_ed25519_key
TrustedUserCAKeys /etc/ssh/user_ca.pub
PermitRootLogin no
MaxStartups 100
{_SFTP}"""
_PASSWORDS_AND_KEYS = _SSHD + "PasswordAuthentication yes\nKbdInteractiveAuthentication no\nUsePAM no\n"
# keyboard-interactive is asked by PAM alone, so it has a port of its own
_INTERACTIVE = _SSHD + (
    "Port 2222\nPidFile /run/sshd_interactive.pid\nPasswordAuthentication no\nPubkeyAuthentication no\n"
    "KbdInteractiveAuthentication yes\nUsePAM yes\n"
)
_PAM_SSHD = "auth required pam_unix.so nodelay\naccount required pam_unix.so\nsession required pam_permit.so\n"
_SUDOERS = """\
Defaults timestamp_timeout=0
dba ALL=(ALL) NOPASSWD: ALL
plain ALL=(ALL) ALL
pgonly ALL=(postgres) NOPASSWD: ALL
"""
# Debian keeps uid 101; the source build's owner was made by hand
_PREPARE = {
    "old": """\
groupmod -g 1500 postgres
usermod -u 1500 -d /home/postgres -s /bin/bash postgres 2>/dev/null
rmdir /etc/postgresql
mkdir -p -m 700 /home/postgres
chown postgres: /home/postgres
ldconfig 2>/dev/null
""",
    "new": """\
install -d -m 755 -o postgres -g postgres /var/lib/postgresql
install -d -m 755 -o postgres -g postgres /etc/postgresql
install -d -m 1777 /var/log/postgresql
install -d -m 2775 -o postgres -g postgres /run/postgresql
""",
}


def write(up: Path, host: str, addresses: dict[str, str], lab: Path) -> None:
    """Fill the upper folder of a host: name, keys, sshd, sudo, users, and what of this machine it must not see."""
    etc = up / "etc"
    _identity(etc, host, addresses)
    _file(etc / "pam.d" / "sshd", _PAM_SSHD)
    _file(etc / "lab" / "authorized_keys", (lab / "key.pub").read_text() + (lab / "key_passphrase.pub").read_text())
    _file(etc / "lab" / "passwords", "".join(f"{user}:{PASSWORD}\n" for user in USERS), 0o600)
    _file(etc / "lab" / "prepare.sh", _PREPARE[host])
    _file(etc / "lab" / "host.sh", Path(__file__).with_name("host.sh").read_text())
    _opaque(etc / "ssh")
    _file(etc / "ssh" / "sshd_config", _PASSWORDS_AND_KEYS)
    _file(etc / "ssh" / "sshd_interactive_config", _INTERACTIVE)
    _file(etc / "ssh" / "user_ca.pub", (lab / "user_ca.pub").read_text())
    for private in (
        Path("/home"),
        Path("/usr/local"),
        Path("/etc/postgresql"),
        Path("/var/lib/postgresql"),
        Path("/var/log"),
    ):
        _opaque(up / private.relative_to("/"))
    _opaque(up / "root", 0o700)
    _opaque(up / "var" / "tmp", 0o1777)
    _hide(up, BASE)


def write_on_debian(up: Path, host: str, addresses: dict[str, str], lab: Path) -> None:
    """Fill the upper folder of a host over a Debian of its own (debian.py), which has the users already."""
    _identity(up / "etc", host, addresses)
    _file(up / "etc" / "machine-id", secrets.token_hex(16) + "\n")
    _file(up / "etc/ssh/user_ca.pub", (lab / "user_ca.pub").read_text())
    _file(up / "etc/ssh/sshd_config.d/lab.conf", _SSHD.replace(_SFTP, ""))
    keys = (lab / "key.pub").read_text() + (lab / "key_passphrase.pub").read_text()
    for uid, user in enumerate(USERS, 1000):
        folder = up / "home" / user / ".ssh"
        _file(folder / "authorized_keys", keys, 0o600)
        folder.chmod(0o700)
        for path in (folder.parent, folder, folder / "authorized_keys"):
            os.chown(path, uid, uid)


def _identity(etc: Path, host: str, addresses: dict[str, str]) -> None:
    _file(etc / "hostname", f"{host}\n")
    _file(etc / "hosts", "127.0.0.1 localhost\n" + "".join(f"{ip} {name}\n" for name, ip in addresses.items()))
    _file(etc / "sudoers.d" / "lab", _SUDOERS, 0o440)
    _parents(etc / "ssh" / "key")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", host, "-f", etc / "ssh" / "ssh_host_ed25519_key")


def hide_debian_postgresql(up: Path) -> None:
    """Leave no file of Debian's PostgreSQL packages, and no line about them in dpkg's list: a source build's host."""
    status = Path("/var/lib/dpkg/status").read_text()
    paragraphs = [part for part in status.split("\n\n") if not part.startswith("Package: postgresql")]
    _file(up / "var/lib/dpkg/status", "\n\n".join(paragraphs))
    packages = run("dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n", "postgresql*").splitlines()
    installed = [line.split()[1] for line in packages if line.startswith("ii")]
    ours = ("/usr/bin/", "/usr/sbin/", "/lib/systemd/", "/usr/lib/systemd/", "/etc/init.d/")
    for path in sorted(set(run("dpkg", "-L", *installed).splitlines())):
        if path.startswith(ours) and not Path(path).is_dir():
            _hide(up, Path(path))
    for folder in ("/usr/lib/postgresql", "/etc/postgresql-common"):
        _hide(up, Path(folder))
    for tool in Path("/usr/bin").iterdir():  # programs that alternatives or the client wrapper put there
        if str(tool.readlink() if tool.is_symlink() else "").startswith(
            ("/usr/lib/postgresql", "../share/postgresql-common")
        ):
            _hide(up, tool)


def copy_in(source: Path, up: Path, target: str) -> None:
    """Copy a tree into the host's own root."""
    shutil.copytree(source, up / target.lstrip("/"), symlinks=True, dirs_exist_ok=True)


def _file(path: Path, text: str, mode: int = 0o644) -> None:
    _parents(path)
    path.write_text(text)
    path.chmod(mode)


def _parents(path: Path) -> None:
    """Make the folders above with mode 755, whatever the umask."""
    for parent in reversed(path.parents):
        if not parent.exists():
            parent.mkdir(mode=0o755)
            parent.chmod(0o755)


def _opaque(path: Path, mode: int = 0o755) -> None:
    """An empty folder in place of this machine's."""
    _parents(path)
    path.mkdir(exist_ok=True)
    path.chmod(mode)
    os.setxattr(path, "trusted.overlay.opaque", b"y")


def _hide(up: Path, path: Path) -> None:
    """A whiteout: the overlay shows nothing where this machine has something."""
    resolved = path.parent.resolve() / path.name  # /lib is a link to /usr/lib
    whiteout = up / resolved.relative_to("/")
    if os.path.lexists(resolved) and not os.path.lexists(whiteout):
        _parents(whiteout)
        os.mknod(whiteout, 0o20000, os.makedev(0, 0))
