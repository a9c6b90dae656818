"""The lab's hosts as virtual machines, for what the kernel of this machine may lack: NFS, client and server.

Each runs Debian's own kernel in software emulation: some twenty times slower than this machine, so for function, never
for speed. Its root is a disk of its own, its programs are this machine's, read over 9p; see initrd.sh and machine.sh.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.lab import network
from tests.lab.hosts import FILESYSTEMS, Host, Kind
from tests.lab.machine import CACHE, LabError, locked, process_identity, run, wait_until

PACKAGES = Path(__file__).with_name("packages-machines.txt")
_TOOLS = ("qemu-system-x86_64", "busybox", "cpio", "depmod", "modprobe", "mke2fs", "ip", "exportfs", "mount.nfs")
_BEFORE_ROOT = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_blk", "ext4")
"""Kernel modules without which a machine does not reach its root."""

_SSHD = """\
HostKey /etc/ssh/ssh_host_ed25519_key
Port 2200
PidFile /run/sshd_lab.pid
PermitRootLogin prohibit-password
AuthorizedKeysFile /etc/ssh/lab_keys
MaxSessions 100
UsePAM no
"""


def machines_unavailable() -> str | None:
    """Why this machine cannot host virtual machines, in one line; None when it can."""
    searched = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [tool for tool in _TOOLS if shutil.which(tool, path=searched) is None]
    if missing:
        return f"virtual machines need {', '.join(missing)}: apt-get install $(grep -v '^#' {PACKAGES.name})"
    return None if Path("/dev/net/tun").exists() else "virtual machines need a network of their own: no /dev/net/tun"


def start(folder: Path, lab: str, subnet: int, name: str, size: str) -> Host:
    """Start the machine whose upper folder is written; returns once its process runs and its cable is laid."""
    own, kernel = folder / f"{name}-machine", _kernel()
    own.mkdir()
    _make_initrd(own / "initrd-tree", own / "initrd", kernel)
    address = network.address(subnet, name)
    about = f"{name} {address} {network.gateway(subnet)} {FILESYSTEMS[name]}\n"
    _write(folder / name / "up", about, folder / "key.pub")
    root, data = own / "root.img", own / "data.img"
    run("truncate", "-s", size, root, data)
    run("mke2fs", "-q", "-t", "ext4", "-d", folder / name, root)
    run(f"mkfs.{FILESYSTEMS[name]}", "-q", data)
    cable = network.attach_machine(subnet, name, lab)
    with (own / "log").open("wb") as log:
        hardware = f"52:54:00:77:{subnet:02x}:{address.rpartition('.')[2]}"
        words = ["setsid", "--fork", *_qemu(own, kernel, cable, hardware)]
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
    file = own / "pid"
    try:
        wait_until(lambda: file.exists() and bool(file.read_text().strip()), f"machine {name} to start")
    except LabError as error:
        raise LabError(f"{error}: {(own / 'log').read_text().strip()}") from error
    pid = int(file.read_text())
    if process_identity(pid) is None:
        raise LabError(f"machine {name} ended: {(own / 'log').read_text().strip()}")
    return Host(name, address, folder / "key", pid, "", None, kind=Kind.MACHINES)


def _write(up: Path, about: str, key: Path) -> None:
    """What a machine's own root has beyond that of a host in namespaces."""
    (up / "etc/lab/machine").write_text(about)
    shutil.copy(Path(__file__).with_name("machine.sh"), up / "etc/lab/machine.sh")
    (up / "etc/ssh/sshd_lab_config").write_text(_SSHD)
    shutil.copy(key, up / "etc/ssh/lab_keys")


def _qemu(own: Path, kernel: Path, cable: str, hardware_address: str) -> list[str]:
    (image,) = (kernel / "boot").glob("vmlinuz-*")
    return [
        *(
            "qemu-system-x86_64",
            "-accel",
            "tcg",
            "-cpu",
            "max",
            "-smp",
            "1",
            "-m",
            "1024",
            "-pidfile",
            str(own / "pid"),
        ),
        *("-display", "none", "-no-reboot", "-serial", f"file:{own}/console"),
        *("-kernel", str(image), "-initrd", str(own / "initrd")),
        *("-append", "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off"),
        *("-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"),
        *("-device", "virtio-9p-pci,fsdev=root,mount_tag=root"),
        *("-drive", f"file={own}/root.img,if=virtio,format=raw,cache=unsafe"),
        *("-drive", f"file={own}/data.img,if=virtio,format=raw,cache=unsafe"),
        *("-netdev", f"tap,id=cable,ifname={cable},script=no,downscript=no"),
        *("-device", f"virtio-net-pci,netdev=cable,mac={hardware_address}"),
    ]


def _kernel() -> Path:
    """Debian's kernel with its modules; fetched at its first use, then kept."""
    package = next(
        line.split()[1] for line in run("apt-cache", "depends", "linux-image-amd64").splitlines() if "Depends:" in line
    )
    made = CACHE / package
    with locked():
        if not made.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                _fetch(Path(scratch), package).rename(made)
    return made


def _fetch(scratch: Path, package: str) -> Path:
    done = subprocess.run(
        ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package],
        cwd=scratch, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise LabError(f"the kernel {package} could not be fetched: {done.stderr.strip()}")
    (archive,) = scratch.glob("*.deb")
    kernel = scratch / "kernel"
    run("dpkg", "-x", archive, kernel)
    run("depmod", "-b", kernel, _version(kernel))
    return kernel


def _version(kernel: Path) -> str:
    (modules,) = (kernel / "lib/modules").iterdir()
    return modules.name


def _make_initrd(tree: Path, initrd: Path, kernel: Path) -> None:
    """A shell and the kernel modules that lead to the root; what else a machine needs lies there."""
    for folder in ("bin", "proc", "sys", "dev", "modules", "lower", "own", "root"):
        (tree / folder).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "/bin/busybox", tree / "bin/busybox")
    needed: dict[str, None] = {}
    for module in _BEFORE_ROOT:
        shown = run("modprobe", "-d", kernel, "-S", _version(kernel), "--show-depends", module)
        needed.update(dict.fromkeys(line.split()[1] for line in shown.splitlines() if line.startswith("insmod ")))
    for number, path in enumerate(needed):
        shutil.copy(path, tree / "modules" / f"{number:03}-{Path(path).name}")
    init = tree / "init"
    init.write_text(Path(__file__).with_name("initrd.sh").read_text().replace("@kernel@", str(kernel)))
    init.chmod(0o755)
    run("sh", "-c", f"cd {tree} && find . | cpio -o -H newc --quiet | gzip -1 >{initrd}")
    shutil.rmtree(tree)
