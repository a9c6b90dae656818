"""Examples of the configuration that lies outside of the data directory, packed and put in its place."""

import base64
import getpass
import io
import tarfile

from tests.resources.sh.examples import Example

_ME = getpass.getuser()
_HERE = "mkdir -p etc/15 && echo 'port = 1' >etc/15/postgresql.conf && echo root >etc/passwd"
_KEPT = "@folder@/var/kept.tar"
_UNPACK = ("@folder@", _KEPT, _ME, "@folder@/data", "etc/15", "etc/pg.conf")
_RESTORE = ("@folder@", _KEPT, _ME, "etc/15", "etc/pg.conf")
_ASIDE = (
    f"{_HERE} && mkdir var && tar -cf var/kept.tar etc/15 && echo 'port = 5432' >etc/15/postgresql.conf && "
    "touch etc/pg.conf etc/15/more"
)


def packed(*, link: str = "", device: str = "", above: str = "") -> str:
    """An archive as GNU tar and base64 make it, with what an old that lies may add."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in ("etc/15/postgresql.conf", "etc/pg.conf", "etc/passwd", *([above] if above else [])):
            file = tarfile.TarInfo(name)
            file.size, file.mode, file.uid, file.uname = 12, 0o4640, 1, "daemon"
            archive.addfile(file, io.BytesIO(b"port = 5432\n"))
        for name, kind in ((link, tarfile.SYMTYPE), (device, tarfile.BLKTYPE)):
            if name:
                other = tarfile.TarInfo(name)
                other.type, other.linkname = kind, "/etc"
                archive.addfile(other)
    return base64.encodebytes(made.getvalue()).decode() + "# whole\n"


_KEY = "-rw-r----- root/root 1 2026-01-01 10:00 etc/tls.key\n-rw-r----- postgres/x 1 2026-01-01 10:00 etc/pg_hba.conf"

_OTHERS = (
    f"{_HERE} && mkdir -p etc/15/conf.d data other/pghaul-fence && touch data/PG_VERSION other/PG_VERSION "
    "etc/15/conf.d/1.conf"
)


def _names(folder: str, file: str) -> str:
    """A line of settings in the file, as people write one."""
    return f"echo \"  DATA_directory '$PWD/{folder}' # there\" >>{file}"


EXAMPLES = [
    Example(
        "restrict_keys",
        (_ME, _KEY, "etc"),
        arrange="mkdir etc && touch etc/tls.key etc/pg_hba.conf && chmod 640 etc/*",
        prints="",
        after='[ "$(stat -c %a etc/*)" = "640\n600" ]',
    ),
    Example("check_packable", ("etc",), arrange=_HERE, prints=""),
    Example(
        "check_packable",
        ("etc",),
        programs={"find": "echo etc/15/pg_hba.conf.bak"},
        status=1,
        complains=f"{_ME} cannot read etc/15/pg_hba.conf.bak. Give",
        name="a file of root's",
    ),
    Example("check_packable", ("etc",), status=1, complains="the configuration cannot be read: etc", name="none"),
    Example("pack_configuration", ("@folder@", "etc"), arrange=_HERE, matches=r"[A-Za-z0-9+/=\n]+\n# whole\n"),
    Example(
        "pack_configuration",
        ("@folder@", "etc", "own.conf"),
        arrange=f"{_HERE} && echo x >'etc/a \\ b' && ln -s 15/postgresql.conf etc/pg.conf && ln -s / etc/log && "
        "ln -s etc/15/postgresql.conf own.conf && (pack_configuration . etc own.conf) >packed",
        matches=r"[A-Za-z0-9+/=\n]+\n# whole\n",
        after="head -n -1 packed | base64 -d >it && ! tar -tvf it | grep -v '^[d-]' && "
        "[ \"$(tar -xOf it own.conf etc/pg.conf 'etc/a \\ b' | sort -u)\" = 'port = 1\nx' ] && ! tar -tf it | grep log",
        name="of links the files they lead to",
    ),
    Example(
        "pack_configuration", ("@folder@", "etc"), status=1, complains="the configuration cannot be read", name="none"
    ),
    Example(
        "unpack_configuration",
        _UNPACK,
        stdin=packed(),
        after=f'[ "$(cat etc/15/* etc/pg.conf; stat -c "%a %U" etc/15/*; tar -tf var/kept.tar; ls etc)" = '
        f'"port = 5432\nport = 5432\n640 {_ME}\n15\npg.conf" ]',
    ),
    Example(
        "unpack_configuration",
        _UNPACK,
        arrange=_HERE,
        stdin=packed(),
        after='[ "$(cat etc/15/* etc/passwd && ls etc)" = "port = 5432\nroot\n15\npasswd\npg.conf" ] && '
        '[ "$(tar -xOf var/kept.tar)" = "port = 1" ] && [ "$(stat -c %a var/kept.tar)" = 600 ]',
        name="what lies there is kept, and of the archive nothing else is taken",
    ),
    Example(
        "unpack_configuration",
        _UNPACK,
        arrange=f"{_HERE} && mkdir var && echo theirs >var/kept.tar",
        stdin=packed(),
        after='[ "$(cat var/kept.tar)" = theirs ]',
        name="again",
    ),
    *(
        Example(
            "unpack_configuration",
            _UNPACK,
            arrange=_HERE,
            stdin=stdin,
            status=1,
            complains="the input is incomplete: nothing was changed",
            after='[ "$(cat etc/15/*)" = "port = 1" ] && [ ! -e var ]',
            name=name,
        )
        for name, stdin in (
            ("nothing came", ""),
            ("cut off", packed()[:200]),
            ("no end mark", packed().partition("#")[0]),
            ("cut off in the mark", packed()[:-2]),
        )
    ),
    Example(
        "unpack_configuration",
        _UNPACK,
        stdin="?\n# whole\n",
        status=1,
        complains="the configuration did not arrive as an archive",
        name="no archive",
    ),
    *(
        Example(
            "unpack_configuration",
            _UNPACK,
            arrange=_HERE,
            stdin=packed(**made),
            status=1,
            complains="the configuration of the old server contains something that is neither a file nor a folder",
            after='[ "$(cat etc/15/*)" = "port = 1" ] && [ ! -e var ]',
            name=f"a {kind}",
        )
        for kind, made in (("link", {"link": "etc/15/log"}), ("device", {"device": "etc/15/disk"}))
    ),
    Example(
        "unpack_configuration",
        _UNPACK,
        stdin=packed(above="etc/15/../../out"),
        status=1,
        complains="could not be unpacked",
        after="[ ! -e out ]",
        name="a name that leads above",
    ),
    Example(
        "unpack_configuration",
        ("@folder@", _KEPT, "nobody", "@folder@/data", "etc/15", "etc/pg.conf"),
        arrange=_HERE,
        stdin=packed(),
        status=1,
        complains="nobody cannot write to etc on the new server. Make nobody its owner",
        after='[ "$(cat etc/15/*)" = "port = 1" ] && [ ! -e var ]',
        as_root=True,
        name="what new has there is another's",
    ),
    Example("check_replaceable", (_ME, "data", "etc/15", "etc/none"), arrange=_HERE, prints=""),
    Example(
        "check_replaceable",
        ("nobody", "data", "etc/15"),
        arrange=f"{_HERE} && chown -R nobody etc/15",
        status=1,
        complains="nobody cannot write to etc on the new server. Make nobody its owner",
        as_root=True,
        name="its folder is another's",
    ),
    *(
        Example(
            function,
            (*words, "@folder@/data", *paths),
            arrange=f"{_OTHERS} && {more}",
            stdin=stdin,
            status=1,
            complains=f"{file} on the new server configures another cluster, in ",
            after="[ -e etc/15/conf.d/1.conf ] && [ ! -e var ]",
            name=f"another cluster's, {name}",
        )
        for function, words, paths, stdin in (
            ("refuse_others_settings", (), ("etc/none", "etc/15", "etc/own"), ""),
            ("check_replaceable", (_ME,), ("etc/none", "etc/15", "etc/own"), ""),
            ("unpack_configuration", ("@folder@", _KEPT, _ME), ("etc/15", "etc/own"), packed()),
        )
        for name, more, file in (
            ("in a folder", _names("other", "etc/15/conf.d/1.conf"), "etc/15/conf.d/1.conf"),
            ("by its whole path", _names("other", "etc/own"), "etc/own"),
            (
                "that an earlier move left",
                f"mv other/PG_VERSION other/pghaul-fence && {_names('other', 'etc/own')}",
                "etc/own",
            ),
        )
    ),
    *(
        Example(
            "refuse_others_settings", ("@folder@/data", "etc/15"), arrange=f"{_OTHERS} && {more}", prints="", name=name
        )
        for name, more in (
            ("of the target", _names("data", "etc/15/conf.d/1.conf")),
            ("of the target behind a link", f"ln -s data link && {_names('link', 'etc/15/conf.d/1.conf')}"),
            ("whose data is gone", f"rm other/PG_VERSION && {_names('other', 'etc/15/conf.d/1.conf')}"),
        )
    ),
    Example(
        "unpack_configuration",
        _UNPACK,
        arrange=f"{_OTHERS} && mkdir var && echo theirs >var/kept.tar && {_names('other', 'etc/15/conf.d/1.conf')}",
        stdin=packed(),
        after='[ "$(cat var/kept.tar; ls etc/15)" = "theirs\npostgresql.conf" ]',
        name="again, where the archive names a cluster of new",
    ),
    Example("check_readable_files", ("etc/passwd",), arrange=_HERE, prints=""),
    Example(
        "check_readable_files",
        ("@folder@/etc/passwd", "@folder@/etc/15"),
        arrange=_HERE,
        status=1,
        complains="/etc/15 on the new server. Copy the file",
        name="a folder",
    ),
    Example(
        "archive_paths",
        ("@folder@/var/kept.tar", _ME, "etc/15", "none"),
        arrange=_HERE,
        after='[ "$(tar -xOf var/kept.tar)" = "port = 1" ]',
    ),
    Example(
        "restore_configuration",
        _RESTORE,
        arrange=_ASIDE,
        after='[ "$(cat etc/15/* && ls . etc)" = "port = 1\n.:\netc\n\netc:\n15\npasswd" ]',
    ),
    Example(
        "restore_configuration",
        _RESTORE,
        arrange="mkdir -p var etc/15 && tar -cf var/kept.tar -T /dev/null",
        after='[ -z "$(ls)" ]',
        name="there was none",
    ),
    Example(
        "restore_configuration", _RESTORE, arrange=_HERE, after="[ -e etc/15/postgresql.conf ]", name="not put aside"
    ),
]
