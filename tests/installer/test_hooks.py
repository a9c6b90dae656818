"""The git hooks are local ones that do what `make check` does."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]
CONFIGURATION = TOP / ".pre-commit-config.yaml"


def test_pre_commit_reads_the_configuration() -> None:
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", str(CONFIGURATION)], check=True)


def test_the_hooks_run_what_make_check_runs() -> None:
    hooks = set(
        re.findall(r"entry: \.venv/bin/([\w-]+(?: (?:check|format))?)", CONFIGURATION.read_text(encoding="utf-8"))
    )
    recipe = (TOP / "Makefile").read_text(encoding="utf-8").split("\ncheck: setup\n")[1].split("\n\n")[0]
    assert hooks == set(re.findall(r"\$\(BIN\)/([\w-]+(?: (?:check|format))?)", recipe))
    assert len(hooks) == 6
