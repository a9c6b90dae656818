"""The lock holds a wheel of everything that the program runs with, for each Python on each system that pghaul names."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
from packaging.markers import Marker, default_environment
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

from installer.uv import TOP, locked_requirements

PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ((3, 11), (3, 12), (3, 13))
SYSTEMS = {
    "Linux, glibc 2.34": ("linux", [*(f"manylinux_2_{minor}_x86_64" for minor in range(34, 4, -1)), "linux_x86_64"]),
    "Windows": ("win32", ["win_amd64"]),
    "macOS 13": ("darwin", list(mac_platforms((13, 0), "arm64"))),
}
"""sys.platform, and what wheels such a system takes, the best first. Red Hat's 9 and what is newer have glibc 2.34.

No Mac with an Intel processor: cryptography has no wheels for these since 50."""
MARKED = {
    "linux": {"os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
    "win32": {"os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"},
    "darwin": {"os_name": "posix", "platform_system": "Darwin", "platform_machine": "arm64"},
}
"""What markers may ask of each of them (PEP 508); they must not be answered by the machine that runs the tests."""
LINUX_ALONE = {"jeepney", "secretstorage"}
"""The way to the Secret Service, by which keyring reaches a desktop's keys."""


@cache
def requirements() -> tuple[tuple[str, str, str], ...]:
    """Name, version, marker of what the program runs with, as the lock has it."""
    lines = re.findall(r"^([\w.-]+)==([^\s;]+)(?: ; (.*?))? \\$", locked_requirements(), re.MULTILINE)
    return tuple(lines)


@cache
def wheels() -> dict[str, frozenset[Tag]]:
    """What the locked wheels of each package are for."""
    packages = tomllib.loads((TOP / "uv.lock").read_text(encoding="utf-8"))["package"]
    return {each["name"]: frozenset(_tags(each)) for each in packages}


def _tags(package: dict[str, Any]) -> Iterator[Tag]:
    for wheel in package.get("wheels", ()):
        yield from parse_wheel_filename(wheel["url"].rsplit("/", 1)[1])[3]


def chosen(python: tuple[int, int], platform: str) -> set[str]:
    """The packages that such an environment gets."""
    version = ".".join(map(str, python))
    environment = {
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "python_full_version": f"{version}.9",
        "python_version": version,
        "sys_platform": platform,
        "implementation_version": f"{version}.9",
        "platform_release": "",
        "platform_version": "",
        **MARKED[platform],
    }
    assert {*environment} | {"extra"} >= {*default_environment()}
    return {name for name, _, marker in requirements() if not marker or Marker(marker).evaluate(environment)}


@pytest.mark.parametrize(("python", "system"), list(product(PYTHONS, SYSTEMS)), ids=str)
def test_nothing_has_to_be_compiled(python: tuple[int, int], system: str) -> None:
    platform, platforms = SYSTEMS[system]
    taken = {*cpython_tags(python, platforms=platforms), *compatible_tags(python, platforms=platforms)}
    names = chosen(python, platform)
    assert {"paramiko", "pyside6-essentials", "typst", "numpy"} <= names
    assert {name for name in names if not wheels()[name] & taken} == set()


def test_the_versions_of_python_are_those_that_pghaul_asks_for() -> None:
    assert PROJECT["requires-python"] == f">=3.{PYTHONS[0][1]},<3.{PYTHONS[-1][1] + 1}"


def test_what_only_linux_has_is_chosen_by_markers() -> None:
    linux, windows, macos = (chosen((3, 13), platform) for platform in ("linux", "win32", "darwin"))
    assert linux - macos == LINUX_ALONE
    assert macos - linux == set()
    assert windows - linux == {"pywin32-ctypes", "tzdata"}
