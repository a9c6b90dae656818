"""A frozen program's loader sets variables for the program itself. Other programs that it starts, ssh and a browser,
would take its libraries and plugins for their own.
"""

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

_SEARCHED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_QT = ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH")


def give_back(environment: MutableMapping[str, str] = os.environ) -> None:
    """Leave what is started from here on the environment that the user has; nothing where the program is not frozen.

    Called once Qt has found its plugins. The libraries' path was read when the process began (ld.so(8)). Source:
    PyInstaller's manual, "LD_LIBRARY_PATH / LIBPATH considerations".
    """
    if not getattr(sys, "frozen", False):
        return
    own = str(Path(sys.executable).parent)
    for name in _SEARCHED:
        if f"{name}_ORIG" in environment:
            environment[name] = environment.pop(f"{name}_ORIG")
        elif own in environment.get(name, ""):
            del environment[name]
    for name in [*environment]:
        if name in _QT or name.startswith("_PYI_"):
            del environment[name]
