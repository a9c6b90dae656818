"""The bill of materials names what the package holds, with hashes, and the checksum file what was built."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from installer.bill import ICONS, bill_of_materials, checksums, fonts, system_libraries
from installer.tree import contents

TOP = Path(__file__).parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MOMENT = 1_700_000_000

needs_uv = pytest.mark.skipif(
    not (TOP / ".venv-tools").exists() and shutil.which("uv") is None, reason="uv is not installed"
)


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return bill_of_materials(TOP, tmp_path_factory.mktemp("frozen"), PROJECT, MOMENT)


@needs_uv
def test_it_is_cyclonedx_of_this_version(bill: dict[str, Any]) -> None:
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    about = bill["metadata"]["component"]
    assert (about["name"], about["version"], about["type"]) == ("pghaul", PROJECT["version"], "application")
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    references = [each["bom-ref"] for each in bill["components"]]
    assert len(references) == len(set(references))


@needs_uv
def test_every_package_that_the_program_needs_is_in_it_with_hashes(bill: dict[str, Any]) -> None:
    packages = {each["name"]: each for each in bill["components"] if each.get("purl", "").startswith("pkg:pypi/")}
    assert {re.split(r"[\[<>=]", requirement)[0] for requirement in PROJECT["dependencies"]} <= set(packages)
    assert {"bcrypt", "mako", "psycopg-binary", "shiboken6"} <= set(packages)
    assert not {"pytest", "mypy", "pyinstaller", "hatchling"} & set(packages)
    for each in packages.values():
        hashes = [found["content"] for file in each["externalReferences"] for found in file["hashes"]]
        assert hashes
        assert all(len(found) == 64 for found in hashes)


@needs_uv
def test_the_same_commit_makes_the_same_bill(bill: dict[str, Any], tmp_path: Path) -> None:
    assert bill_of_materials(TOP, tmp_path, PROJECT, MOMENT) == bill


def test_every_font_has_its_licence() -> None:
    made = fonts(TOP / "resources" / "fonts")
    assert {each["name"] for each in made} == {path.name for path in (TOP / "resources" / "fonts").glob("*.ttf")}
    assert all(each["licenses"][0]["license"]["name"] for each in made)


def test_the_icons_have_the_licences_that_ship_with_them() -> None:
    text = (TOP / "resources" / "icons" / "lucide" / "LICENSE").read_text(encoding="utf-8")
    named = [each["license"]["id"] for each in ICONS["licenses"]]
    assert named == ["ISC", "MIT"]
    assert all(f"{name} License" in text for name in named)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="this is no Debian")
def test_libraries_of_debian_are_named_by_their_packages(tmp_path: Path) -> None:
    inside = tmp_path / "pghaul" / "_internal"
    (inside / "PySide6").mkdir(parents=True)
    for name in ("libz.so.1", "libQt6Core-abc.so.6", "PySide6/libssl.so.3"):
        (inside / name).touch()
    (found,) = system_libraries(tmp_path)
    assert found["name"] == "zlib1g"
    assert found["purl"].startswith("pkg:deb/debian/zlib1g@1%3A1.2")


def test_the_checksum_file_is_what_sha256sum_reads(tmp_path: Path) -> None:
    files = [tmp_path / "pghaul.deb", tmp_path / "it's.json"]
    for path in files:
        path.write_text(path.name)
    (tmp_path / "SHA256SUMS").write_text(checksums(files))
    check = ["sha256sum", "-c", "SHA256SUMS"]
    checked = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.stdout == "pghaul.deb: OK\nit's.json: OK\n"
    files[0].write_text("another")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_the_package_carries_it() -> None:
    carried = contents(TOP, Path("build"), Path("dist"), "1.2")
    assert carried["/usr/share/doc/pghaul/bill-of-materials.cdx.json"] == Path("dist/pghaul_1.2.cdx.json")
    assert carried["/usr/share/doc/pghaul/SECURITY.md"] == TOP / "SECURITY.md"
