"""What a program with several threads imports before they start.

`import package.module` locks the module and then the package. A package that imports modules of its own is locked
first. So if two threads do one of these each, they would wait for each other, and Python lets one of them go on with
half a module (https://docs.python.org/3/reference/import.html). pydantic is such a package, too.
"""

from importlib import import_module

from core import documents

PACKAGES = (
    "core.comparison.diagnosis",
    "core.migration.checks",
    "core.migration.estimate",
    "core.migration.plan",
)
"""The packages of pghaul that import modules of their own."""


def load_packages() -> None:
    """Import them, and pydantic. This takes a third of a second, most of which the first document would take later."""
    documents.load(list[int], "[]")
    for name in PACKAGES:
        import_module(name)
