"""No two threads import a package that imports modules of its own: one of them would see half a module."""

import ast
import subprocess
import sys
from pathlib import Path

from core.api.loading import PACKAGES

TOP = Path(__file__).parents[3]

TWO_THREADS = """
import sys, threading, time
from importlib import _bootstrap
from importlib.machinery import PathFinder, SourceFileLoader
from core.api.loading import load_packages

first, second = "core.migration.checks", "core.migration.checks.state"
within = threading.Event()
if {loaded}:
    load_packages()
    within.set()

class Between(SourceFileLoader):
    # runs the package, which is locked meanwhile, once the other thread has locked the module
    def exec_module(self, loaded):
        within.set()
        while second not in _bootstrap._module_locks:
            time.sleep(0.001)
        super().exec_module(loaded)

class Finder:
    def find_spec(self, name, path=None, target=None):
        found = PathFinder.find_spec(name, path) if name == first else None
        if found is not None:
            found.loader = Between(name, found.origin)
        return found

def load_second():
    within.wait()
    __import__(second)

threading.excepthook = lambda failed: print(failed.exc_type.__name__)
sys.meta_path.insert(0, Finder())
threads = [threading.Thread(target=__import__, args=(first,)), threading.Thread(target=load_second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def printed(*, loaded: bool) -> str:
    """What the two threads print, of which one imports the package, and the other its first module."""
    code = TWO_THREADS.format(loaded=loaded)
    words = [sys.executable, "-c", code]
    ended = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=False, timeout=60)
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


def test_without_that_one_thread_fails() -> None:
    assert printed(loaded=False) != ""
