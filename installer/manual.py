"""Manual pages and completion, made from the command line: `python -m installer.manual FOLDER`.

FOLDER gets what a package brings along, as it lies below /usr/share: `man/man1/*.1`,
`bash-completion/completions/pghaul`, `zsh/vendor-completions/_pghaul`, `fish/vendor_completions.d/pghaul.fish`.
"""

import sys
import tomllib
from pathlib import Path

from core.cli.main import parser
from core.cli.manual import completion, roff
from core.cli.manual.outline import outline

TOP = Path(__file__).resolve().parent.parent
COMPLETIONS = {
    "bash": "bash-completion/completions/pghaul",
    "fish": "fish/vendor_completions.d/pghaul.fish",
    "zsh": "zsh/vendor-completions/_pghaul",
}


def write(folder: Path, version: str) -> list[Path]:
    """Write all of it into the folder; the files."""
    program = outline(parser())
    texts = {f"man/man1/{name}": text for name, text in roff.pages(program, version).items()}
    texts |= {name: completion.script(program, shell) for shell, name in COMPLETIONS.items()}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def main() -> int:
    """Write it into the folder that is named."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m installer.manual FOLDER")
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    write(Path(sys.argv[1]), project["version"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
