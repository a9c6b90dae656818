"""The packers on a small tree: the same bytes each time, and in each format the files, rights and words it needs."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from installer import debian, rpm, tarball
from installer.tree import TEXT, Package, contents, copied, lay, needed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="packages for Linux are built there")

MOMENT = 1_700_000_000
PACKAGE = Package("1.2", "Move a cluster", "MIT", "x86_64", MOMENT)
PACKERS: dict[str, tuple[str, Callable[[Path, Path], Path]]] = {
    "deb": ("dpkg-deb", lambda root, folder: debian.pack(root, PACKAGE, ["libegl1"], folder)),
    "rpm": ("rpmbuild", lambda root, folder: rpm.pack(root, PACKAGE, ["libEGL.so.1", "libc.so.6(GLIBC_2.34)"], folder)),
    "tar": ("tar", lambda root, folder: tarball.pack(root, PACKAGE, folder)),
}


@pytest.fixture(params=PACKERS)
def packer(request: pytest.FixtureRequest) -> Callable[[Path, Path], Path]:
    program, pack = PACKERS[request.param]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return pack


def make(folder: Path, program: str = "/bin/true") -> Path:
    """A small tree, laid under `folder` as the packages' own is."""
    frozen = folder / "frozen"
    (frozen / "_internal" / "a folder").mkdir(parents=True)
    shutil.copy(program, frozen / "pghaul")
    (frozen / "_internal" / "a folder" / "data [1] é").write_text("data")
    (frozen / "_internal" / "link").symlink_to("a folder/data [1] é")
    (folder / "page").write_text("a page")
    lay(folder / "root", frozen, {"/usr/share/man/man1/pghaul.1.gz": folder / "page"}, MOMENT)
    return folder / "root"


def test_the_same_tree_makes_the_same_bytes(packer: Callable[[Path, Path], Path], tmp_path: Path) -> None:
    made = []
    for name, umask in (("one", 0o022), ("two", 0o077)):
        folder = tmp_path / name
        folder.mkdir()
        before = os.umask(umask)
        try:
            made.append(packer(make(folder), folder).read_bytes())
        finally:
            os.umask(before)
    assert made[0] == made[1]


def states(root: Path) -> dict[str, tuple[int, int, int]]:
    """Inode, links and last change of each file, by which tar notices that a file was changed while it was read."""
    found = {str(path.relative_to(root)): path.lstat() for path in root.rglob("*")}
    return {name: (stat.st_ino, stat.st_nlink, stat.st_ctime_ns) for name, stat in found.items()}


def test_a_packer_leaves_the_tree_alone_that_others_pack_at_the_same_time(
    packer: Callable[[Path, Path], Path], tmp_path: Path
) -> None:
    root = make(tmp_path)
    before = states(root)
    packer(root, tmp_path)
    assert states(root) == before


def test_a_copy_of_the_tree_has_its_rights_times_and_links(tmp_path: Path) -> None:
    root = make(tmp_path)
    with copied(root) as copy:
        for path in (root, *root.rglob("*")):
            one, other = path.lstat(), (copy / path.relative_to(root)).lstat()
            assert (one.st_mode, one.st_mtime) == (other.st_mode, other.st_mtime)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed")
def test_the_deb_says_what_it_is(tmp_path: Path) -> None:
    made = str(PACKERS["deb"][1](make(tmp_path), tmp_path))
    listed = subprocess.run(["dpkg-deb", "--contents", made], check=True, capture_output=True, text=True).stdout
    assert "-rwxr-xr-x root/root" in next(
        line for line in listed.splitlines() if line.endswith("/usr/lib/pghaul/pghaul")
    )
    assert "./usr/bin/pghaul -> ../lib/pghaul/pghaul" in listed
    fields = subprocess.run(["dpkg-deb", "--field", made], check=True, capture_output=True, text=True).stdout
    assert "Depends: libc6 (>= 2.34), libegl1\n" in fields
    assert "\n ".join(TEXT.splitlines()) in fields
    said = subprocess.run(["dpkg-deb", "--info", made], check=True, capture_output=True, text=True).stdout
    assert "md5sums" in said


@pytest.mark.skipif(shutil.which("rpmbuild") is None, reason="rpmbuild is not installed")
def test_the_rpm_says_what_it_is_and_needs_no_more_than_it_is_told(tmp_path: Path) -> None:
    made = str(PACKERS["rpm"][1](make(tmp_path), tmp_path))

    def asked(*words: str) -> list[str]:
        ended = subprocess.run(["rpm", "-qp", *words, made], check=True, capture_output=True, text=True)
        return ended.stdout.splitlines()

    assert asked() == ["pghaul-1.2-1.x86_64"]
    needs = [each for each in asked("--requires") if not each.startswith("rpmlib(")]
    assert needs == ["libEGL.so.1()(64bit)", "libc.so.6(GLIBC_2.34)(64bit)"]
    assert asked("--list") == [
        "/usr/bin/pghaul",
        *("/usr/lib/pghaul", "/usr/lib/pghaul/_internal", "/usr/lib/pghaul/_internal/a folder"),
        *("/usr/lib/pghaul/_internal/a folder/data [1] é", "/usr/lib/pghaul/_internal/link", "/usr/lib/pghaul/pghaul"),
        "/usr/share/man/man1/pghaul.1.gz",
    ]
    assert set(asked("--queryformat", "[%{FILEUSERNAME}:%{FILEMTIMES}\n]")) == {f"root:{MOMENT}"}


def test_what_the_tar_unpacks_runs_wherever_it_lies(tmp_path: Path) -> None:
    made = PACKERS["tar"][1](make(tmp_path), tmp_path)
    subprocess.run(["tar", "-xf", str(made), "-C", str(tmp_path)], check=True)
    folder = tmp_path / made.name.removesuffix(".tar.xz")
    moved = folder.rename(tmp_path / "moved to")
    subprocess.run([str(moved / "pghaul")], check=True)
    assert (moved / "_internal" / "link").read_text() == "data"
    assert (moved / "share" / "man" / "man1" / "pghaul.1.gz").read_text() == "a page"
    with tarfile.open(made) as tar:
        assert {entry.name.split("/")[0] for entry in tar} == {folder.name}


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_what_a_tree_needs_of_the_system_is_read_from_its_programs(tmp_path: Path) -> None:
    found = needed(make(tmp_path))
    assert "libc.so.6" in found
    (version,) = (name for name in found if name.startswith("libc.so.6(GLIBC_2."))
    assert version.endswith(")")
    assert not {name for name in found if name.startswith("ld-linux")}


def test_every_file_beside_the_program_has_its_place(tmp_path: Path) -> None:
    places = contents(Path("top"), tmp_path, Path("dist"), "1.2")
    assert {"/usr/share/applications/pghaul.desktop", "/usr/share/doc/pghaul/copyright"} <= set(places)
    assert all(place.startswith("/usr/share/") for place in places)
