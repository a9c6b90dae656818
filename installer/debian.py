"""The .deb of a laid tree, by dpkg-deb. https://www.debian.org/doc/debian-policy/ch-controlfields.html"""

import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from installer.older_glibc import GLIBC
from installer.tree import MAINTAINER, TEXT, Package, copied, regular

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def names(path: Path) -> list[str]:
    """The package names of a list, one a line; '#' starts a comment."""
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def control(package: Package, depends: Iterable[str], kibibytes: int) -> str:
    """The control file; `kibibytes`: what it takes once it is installed."""
    fields = {
        "Package": "pghaul",
        "Version": package.version,
        "Architecture": ARCHITECTURES[package.machine],
        "Maintainer": MAINTAINER,
        "Installed-Size": kibibytes,
        "Depends": ", ".join([f"libc6 (>= {GLIBC})", *depends]),
        "Recommends": "openssh-client",
        "Suggests": "gnome-keyring | kwalletmanager",
        "Section": "database",
        "Priority": "optional",
        "Description": "\n ".join([package.summary, *TEXT.splitlines()]),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def pack(root: Path, package: Package, depends: Iterable[str], folder: Path) -> Path:
    """Pack the tree at `root` into `folder`; the same tree makes the same bytes."""
    target = folder / f"pghaul_{package.version}_{ARCHITECTURES[package.machine]}.deb"
    files = regular(root)
    kibibytes = sum((root / name).stat().st_size for name in files) // 1024
    sums = "".join(f"{hashlib.md5((root / name).read_bytes()).hexdigest()}  {name}\n" for name in files)  # noqa: S324  what dpkg --verify reads
    with copied(root) as laid:
        about = laid / "DEBIAN"
        about.mkdir()
        (about / "md5sums").write_text(sums, encoding="utf-8")
        (about / "control").write_text(control(package, depends, kibibytes), encoding="utf-8")
        for path in (about / "md5sums", about / "control", about, laid):
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (package.moment, package.moment))
        words = ["dpkg-deb", "--root-owner-group", "--uniform-compression", "-Zxz", "-z9", "-Sextreme"]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(package.moment)}
        words += ["--threads-max=1", "--build", str(laid), str(target)]
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
    return target
