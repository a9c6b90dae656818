"""No two threads import a package that imports modules of its own: one of them would see half a module."""

import ast
import subprocess
import sys
from pathlib import Path

from core.api.loading import PACKAGES

TOP = Path(__file__).parents[3]

TWO_THREADS = """
import sys, threading, time
from core.api.loading import load_packages
if {loaded}:
    load_packages()

class Slow:
    # where Python looks for modules: it gives the other thread time to take its lock
    def find_spec(self, name, path=None, target=None):
        if name.startswith("core.migration.checks"):
            time.sleep(0.3)

def attempt(name):
    try:
        __import__(name)
    except (ImportError, AttributeError, KeyError) as error:
        print(type(error).__name__)

sys.meta_path.insert(0, Slow())
threads = [threading.Thread(target=attempt, args=(name,)) for name in ("core.migration.checks", "{module}")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def printed(*, loaded: bool) -> str:
    """What the two threads print, of which one imports the package, and the other its first module."""
    code = TWO_THREADS.format(loaded=loaded, module="core.migration.checks.state")
    ended = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_each_package_that_imports_modules_of_its_own_is_listed() -> None:
    found = set()
    for path in sorted((*TOP.glob("core/**/__init__.py"), *TOP.glob("gui/**/__init__.py"))):
        package = ".".join(path.parent.relative_to(TOP).parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:  # what runs as the package is imported
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or package] if isinstance(node, ast.ImportFrom) else []
            if any(name == package or name.startswith(f"{package}.") for name in names):
                found.add(package)
    assert found == set(PACKAGES)


def test_loaded_beforehand_they_are_whole_for_every_thread() -> None:
    assert printed(loaded=True) == ""
