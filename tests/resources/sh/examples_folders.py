"""Examples of folders that root makes for a database user, where that user might lead it astray."""

import getpass

from tests.resources.sh.examples import Example

_ME = getpass.getuser()
_ENDS_AS_IT = {"runuser": "it ends as the command does", "runuser behind": "as above"}
_OF_ROOTS = '[ "$(stat -c %U roots)" = root ] && [ ! -e roots/main ]'

EXAMPLES = [
    Example("run_as", (_ME, "echo", "done"), prints="done\n", tolerates={"full disk": "it writes nothing"}),
    Example("run_as", ("nobody", "id", "-un"), prints="nobody\n", tolerates=_ENDS_AS_IT, as_root=True, name="another"),
    Example("nearest_folder", ("@folder@/a b/c/d",), arrange="mkdir 'a b'", prints="@folder@/a b\n"),
    Example("nearest_folder", ("/nowhere/at/all",), prints="/\n", name="the root"),
    Example("make_folder_for", (_ME, "@folder@/a/b c"), after='[ "$(stat -c %a a "a/b c")" = "700\n700" ]', prints=""),
    Example(
        "make_folder_for",
        (_ME, "@folder@/a"),
        arrange="mkdir -m 755 a && touch a/file",
        after='[ "$(stat -c %a a)" = 700 ] && [ -e a/file ]',
        name="again",
    ),
    *(
        Example(
            "make_folder_for",
            (_ME, "@folder@/a/b", "kept"),
            arrange=f"mkdir a && mkdir -m 750 a/b && {more}",
            after=f'[ "$(stat -c %a a/b)" = {mode} ]',
            name=f"of a tablespace, {name}",
        )
        for name, more, mode in (
            ("which holds something", "touch a/b/file", 750),
            ("which holds nothing", "mkdir a/b/lost+found", 700),
            ("which is not there", "rmdir a/b", 700),
        )
    ),
    Example(
        "make_folder_for",
        ("nobody", "@folder@/roots/main"),
        arrange="mkdir -m 755 roots",
        programs={"runuser": 'shift 3; "$@"'},  # nobody cannot come as far as this example's folder
        after='[ "$(stat -c "%U %a" roots roots/main)" = "root 755\nnobody 700" ]',
        as_root=True,
        name="in root's",
    ),
    *(
        Example(
            "make_folder_for",
            ("nobody", f"@folder@/{path}"),
            arrange="mkdir -m 755 roots disk && ln -s disk roots/link && rmdir disk && mkdir -m 755 roots/disk",
            programs={"runuser": 'shift 3; "$@"'},  # as above
            tolerates={"readlink": "what is not known to be root's alone is made by the user"},
            after=f'[ "$(stat -c "%U %a" {made})" = "nobody 700" ]',
            as_root=True,
            name=name,
        )
        for path, made, name in (
            ("roots/link/main", "roots/disk/main", "behind a link of root's"),
            ("roots/link", "roots/disk", "a link of root's to an empty disk"),
        )
    ),
    Example("make_folder_here", (_ME, "a"), after='[ "$(stat -c %a a)" = 700 ]'),
    Example(
        "make_folder_here",
        ("nobody", "a"),
        arrange="mkdir a && touch a/file",
        after='[ "$(stat -c %U a)" = root ]',
        as_root=True,
        name="it holds something",
    ),
    *(
        Example(
            "make_folder_for",
            ("nobody", f"@folder@/{path}"),
            arrange=f"mkdir -m 755 roots theirs && ln -s ../roots theirs/link && ln -s . theirs/main && {more}",
            status=1,
            complains=said,
            after=f'{_OF_ROOTS} && [ "$(stat -c %U theirs/main)" = root ]',
            as_root=True,
            name=name,
        )
        for name, path, more, said in (
            ("a link leads to root's", "theirs/link/main", "chown nobody theirs", "nobody cannot create "),
            ("a link above leads to root's", "theirs/link/more/main", "chown nobody theirs", "nobody cannot create "),
            ("others may write above", "theirs/folder", "chmod 777 theirs", "nobody cannot create "),
            ("as in /tmp", "theirs/folder", "chmod 1777 theirs", "nobody cannot create "),
            ("it is a link", "theirs/main", ":", "does not belong to nobody. Make nobody its owner"),
        )
    ),
    Example(
        "make_folder_for",
        ("nobody", "@folder@/roots"),
        arrange="mkdir roots && touch roots/file",
        status=1,
        complains="roots does not belong to nobody. Make nobody its owner",
        after=_OF_ROOTS,
        as_root=True,
        name="it holds something",
    ),
]
