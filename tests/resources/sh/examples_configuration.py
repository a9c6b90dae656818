"""Examples of the configuration that lies outside of the data directory, packed and put in its place."""

import base64
import getpass
import io
import tarfile

from tests.resources.sh.examples import Example

_ME = getpass.getuser()
_HERE = "mkdir etc && echo 'port = 1' >etc/postgresql.conf"


def _packed() -> str:
    """An archive as GNU tar and base64 make it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        file = tarfile.TarInfo("./postgresql.conf")
        file.size, file.mode = 12, 0o640
        archive.addfile(file, io.BytesIO(b"port = 5432\n"))
    return base64.encodebytes(made.getvalue()).decode() + "# whole\n"


EXAMPLES = [
    Example("pack_configuration", ("etc",), arrange=_HERE, matches=r"[A-Za-z0-9+/=\n]+\n# whole\n"),
    Example("pack_configuration", ("etc",), status=1, complains="etc could not be packed", prints="", name="none"),
    Example(
        "unpack_configuration",
        ("etc", _ME),
        stdin=_packed(),
        after=f'[ "$(cat etc/*; stat -c "%a %U" etc/*; ls)" = "port = 5432\n640 {_ME}\netc" ]',
    ),
    Example(
        "unpack_configuration",
        ("etc", _ME),
        arrange=_HERE,
        stdin=_packed(),
        after='[ "$(cat etc/* etc.before-pghaul/*)" = "port = 5432\nport = 1" ]',
        name="what lies there is kept",
    ),
    *(
        Example(
            "unpack_configuration",
            ("etc", _ME),
            arrange=_HERE,
            stdin=stdin,
            status=1,
            complains="the input is cut off: nothing was changed",
            after='[ "$(cat etc/*)" = "port = 1" ] && [ ! -e etc.before-pghaul ]',
            name=name,
        )
        for name, stdin in (
            ("nothing came", ""),
            ("cut off", _packed()[:200]),
            ("no end mark", _packed().partition("#")[0]),
            ("cut off in the mark", _packed()[:-2]),
        )
    ),
    Example(
        "unpack_configuration",
        ("etc", _ME),
        stdin="?\n# whole\n",
        status=1,
        complains="could not be unpacked",
        name="no archive",
    ),
]
