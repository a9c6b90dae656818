"""Examples of what may be run as whom; `test_trust.py` has those that may not."""

import os

from tests.resources.sh.examples import Example

_ME = str(os.geteuid())
_PROGRAM = "mkdir -m 755 bin; touch bin/tool; chmod 755 bin/tool; ln -s bin/tool link"
_UNKNOWN = {"readlink": "then it is not trusted"}

EXAMPLES = [
    Example("is_trusted", (_ME, "@folder@/bin/tool"), arrange=_PROGRAM, prints="", tolerates=_UNKNOWN),
    Example("is_trusted", (_ME, "@folder@/link"), arrange=_PROGRAM, prints="", tolerates=_UNKNOWN, name="a link"),
    Example(
        "is_trusted",
        (_ME, "@folder@/link", "@folder@/bin/tool", "/bin/sh"),
        arrange=_PROGRAM,
        prints="",
        tolerates=_UNKNOWN,
        name="several",
    ),
    Example(
        "check_library",
        (_ME, "@folder@/bin/tool"),
        arrange=_PROGRAM,
        prints="",
        tolerates=_UNKNOWN,
    ),
]
