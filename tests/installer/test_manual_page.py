"""What a package brings along for the command line."""

from pathlib import Path

from core.cli.main import parser
from installer.manual import TOP, write
from installer.tree import contents


def test_there_is_a_page_for_each_noun_and_a_script_for_each_shell(tmp_path: Path) -> None:
    files = {str(path.relative_to(tmp_path)) for path in write(tmp_path, "1.2")}
    nouns = {action.dest: action.choices for action in parser()._actions}["noun"]  # noqa: SLF001  nowhere else
    pages = {"man/man1/pghaul.1", *(f"man/man1/pghaul-{noun}.1" for noun in nouns or ())}
    assert {name for name in files if name.startswith("man/")} == pages
    assert len(files - pages) == 3
    assert '"pghaul 1.2"' in (tmp_path / "man/man1/pghaul-bench.1").read_text(encoding="utf-8")


def test_the_package_carries_them(tmp_path: Path) -> None:
    files = write(tmp_path / "share", "1.2")
    carried = contents(TOP, tmp_path, Path("dist"), "1.2")
    assert {f"/usr/share/{path.relative_to(tmp_path / 'share')}": path for path in files}.items() <= carried.items()
